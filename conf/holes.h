/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

struct config;

/*!
 * What a configuration leaves open to hosts of the fabric (conf/holes.def). It is said by
 * --check, in the log at the start, and by saguaro doctor.
 */
enum config_hole {
#define HOLE(name, open, what, remedy) CONFIG_HOLE_##name,
#include "conf/holes.def"
	CONFIG_HOLE_COUNT
};

/*! By enum config_hole. */
struct config_hole_text {
	const char *name, *what, *remedy;
};
extern const struct config_hole_text config_holes[CONFIG_HOLE_COUNT];

/*! \brief Is it open? Keys out of files count, also before the files are read. */
bool config_has_hole(const struct config *c, enum config_hole hole);

/*! \brief How many are open. */
unsigned config_count_holes(const struct config *c);

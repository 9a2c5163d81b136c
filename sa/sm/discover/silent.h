/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/hash.h"

/*!
 * When light sweeps ask again behind ports where nobody answers, though the link is up: in the
 * first one, and then after 1, 2, 3, 3 ... others. So a node that answers again is found soon,
 * and one that never answers costs little. Each light sweep asks behind all of them while another subnet
 * manager is missed.
 */
enum { SILENT_GAP_MAX = 3 /* light sweeps */ };

struct silent {
	struct hash_table
		due; /*!< guid_port_key() -> when it is asked again, and the gap */
	struct hash_table next; /*!< the same for the next light sweep */
	uint32_t n_light;       /*!< counts light sweeps */
	bool all;               /*!< ask behind all of them in this one */
};

/*! \brief A light sweep begins. \param all  It asks behind all ports, due or not. */
void silent_begin(struct silent *s, bool all);

/*! \brief Is it to ask behind this port? To be called once for each silent port.
 *  \param port  guid_port_key(). Cost: expected O(1). */
bool silent_is_due(struct silent *s, uint64_t port);

/*! \brief It has asked: ports that were not named are forgotten. */
void silent_end(struct silent *s);

void silent_done(struct silent *s);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/holes.h"

#include <stddef.h>

#include "conf/config.h"

const struct config_hole_text config_holes[CONFIG_HOLE_COUNT] = {
#define HOLE(name, open, what, remedy) { #name, what, remedy },
#include "conf/holes.def"
};

static bool has_m_key(const struct config *c)
{
	return c->m_key != 0 || c->m_key_file != NULL;
}

static bool has_secret_sm_key(const struct config *c)
{
	return c->sm_key > KEY_OF_ALL || c->sm_key_file != NULL;
}

static bool names_managers(const struct config *c)
{
	for (uint32_t i = 0; i < c->allowed_sm_guids.n; i++) {
		if (c->allowed_sm_guids.guid[i] == 0) {
			return false;
		}
	}
	return c->allowed_sm_guids.n != 0;
}

bool config_has_hole(const struct config *c, enum config_hole hole)
{
	switch (hole) {
#define HOLE(name, open, what, remedy)                                                   \
	case CONFIG_HOLE_##name: return open;
#include "conf/holes.def"
	case CONFIG_HOLE_COUNT: break;
	}
	return false;
}

unsigned config_count_holes(const struct config *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CONFIG_HOLE_COUNT; i++) {
		n += config_has_hole(c, i);
	}
	return n;
}

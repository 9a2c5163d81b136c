/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * The two policy files of routing chains besides the port groups, as written. Their names are
 * looked up when all files are read (chains.c).
 */

/*! "topology ... end-topology" of topo_policy_file. */
struct chain_topology {
	uint32_t id;         /*!< from 1; 0 is the whole fabric, and never written */
	const char *sw_grp;  /*!< port group of switches and their ports */
	const char *hca_grp; /*!< port group of CAs and routers */
	unsigned line;
};

struct chain_topologies {
	const char *path;
	const struct chain_topology *topology;
	uint32_t n;
};

/*! "unicast-step ... end-unicast-step" of rch_policy_file. */
struct chain_step {
	uint32_t id;       /*!< order, ascending */
	uint32_t topology; /*!< id; 0: the whole fabric */
	uint32_t fallback_to; /*!< id of the step whose failure starts this one, 0: none */
	uint32_t path_bit; /*!< LID of each range that it routes */
	const char *engine;
	const char *config; /*!< file, NULL: none */
	const char *text;   /*!< what stands in it */
	size_t text_len;
	unsigned line;
};

struct chain_steps {
	const char *path;
	const struct chain_step *step; /*!< [n] by id */
	uint32_t n;
};

/*! \brief Readers of the two files: option_read_f. */
int chain_topologies_read(const char *path, struct arena *a, struct diags *d,
                          const void **ret_value);
int chain_steps_read(const char *path, struct arena *a, struct diags *d,
                     const void **ret_value);

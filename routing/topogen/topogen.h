/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct diags;
struct graph;
struct maker;

/*!
 * Topology generators: `saguaro topo KIND ARGS`. Rows in topogen.c; each row names its
 * arguments, so usage text and completion follow.
 *
 * Ids: switches "<role>-<coordinates>", hosts "h00000"... Switches are described by their
 * id, hosts as "node1"..., with as many digits as the largest needs. GUIDs are a function
 * of the position only. Links are 4x EDR, MTU 4096. The SM is on the first host, or on
 * the first switch when there are no hosts.
 */
struct topogen_kind {
	const char *name; /*!< "ft2", NULL ends the table */
	const char
		*args; /*!< "LEAVES HOSTS SPINES [CABLES]": words, optional ones last */
	const char *help;
	int (*make)(struct maker *m); /*!< see topogen_maker.h */
};

/*! All kinds, in the order of --help. */
extern const struct topogen_kind topogen_kinds[];

struct topogen_opts {
	double fail;   /*!< fraction 0..1 of switch-to-switch cables removed at random */
	uint32_t seed; /*!< of failing and of random kinds; same seed, same fabric; the
	                  fabric stays connected where it can */
	uint32_t spine_hosts; /*!< hosts beside those of the kind, one after the other on the
	                         switches that have none */
	bool aggregation_nodes; /*!< each switch has an aggregation node on its last port */
};

/*!
 * \brief Makes a fabric. \a argv holds the kind's arguments without its name.
 * \retval E_UNKNOWN  No such kind. \retval E_SYNTAX E_RANGE  Bad arguments, in \a d.
 */
int topogen(const char *kind, int argc, char **argv, const struct topogen_opts *o,
            struct arena *a, struct diags *d, struct graph **ret_graph);

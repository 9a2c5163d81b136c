/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/topogen/topogen.h"

struct diags;
struct graph;

/*!
 * What the kinds of topogen share: arguments, sizes, numbered switches and hosts, cables.
 * Private to routing/topogen*.c.
 *
 * A kind reads its arguments with maker_number(), says how large it will be with
 * maker_size() before anything is added, then adds its switches, so that a switch's node
 * index is its number, then hosts and cables.
 */
enum {
	MAKER_MAX_RADIX = 254,
	MAKER_MAX_NODES =
		1 << 20, /*!< of one type: GUIDs are numbered in steps of 1 << 12 */
	MAKER_NAME_SIZE = 48
};

struct maker {
	struct graph *g;
	struct diags *d;
	const struct topogen_kind *kind;
	int argc; /*!< fits kind->args */
	char **argv;
	uint32_t seed;
	unsigned radix;      /*!< ports of every switch */
	uint32_t n_switches; /*!< added so far */
	uint32_t n_hosts;    /*!< added so far */
	int digits;          /*!< of the largest host number */
};

/*!
 * \brief Argument \a i as a number; its name in messages is the i-th word of kind->args.
 * An optional argument that was not given leaves *ret_number as it is.
 * \retval E_SYNTAX  Not a number from \a min to \a max.
 */
int maker_number(struct maker *m, int i, uint32_t min, uint32_t max,
                 uint32_t *ret_number);

/*! \brief Refuses what does not fit. \retval E_RANGE */
int maker_size(struct maker *m, uint64_t radix, uint64_t n_switches, uint64_t n_hosts);

/*! \brief The next switch: its number is its node index. */
int maker_switch(struct maker *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*! \brief The next host, on a port of a switch. */
int maker_host(struct maker *m, uint32_t sw, unsigned port);

/*! \brief \a hosts_each hosts on each of the first \a n_switches switches, on ports from
 * \a first_port up. */
int maker_hosts(struct maker *m, uint32_t n_switches, uint32_t hosts_each,
                unsigned first_port);

/*! \brief The aggregation node of a switch, on a port of it. */
int maker_aggregation_node(struct maker *m, uint32_t sw, unsigned port);

/*! \brief A cable between two switches. */
int maker_link(struct maker *m, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b);

/*! \brief The next of a sequence of random numbers; the state is any number. */
uint64_t topogen_random(uint64_t *state);

/* The kinds: topogen_tree.c, topogen_cube.c, topogen_dragonfly.c, topogen_jellyfish.c. */
int make_ft2(struct maker *m);
int make_ft3(struct maker *m);
int make_tree3(struct maker *m);
int make_director(struct maker *m);
int make_mesh(struct maker *m);
int make_torus(struct maker *m);
int make_hypercube(struct maker *m);
int make_dragonfly(struct maker *m);
int make_jellyfish(struct maker *m);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/option.h"

struct arena;
struct graph;
struct guid_file;
struct why;

/*!
 * Options of spreading that engines share: a member of the engine's option struct, and
 * rows for its table. Such engines have the flag ENGINE_STAGE2, but for dor, which chooses
 * between parallel cables alone. As routes that really
 * pass are balanced, the options mean:
 * - port_prof_ignore_file: routes through such a port of a switch are not counted, so that
 *   it looks empty and takes all it can get; routes to such a port of a host add nothing to
 *   the load of any link, so that all others are balanced as if it were not there.
 * - port_search_ordering_file: of equally loaded ports the search finds them in this
 *   order; it still begins at the position of the destination behind its leaf.
 * - guid_routing_order_file: at each switch the listed ports choose first, in the order
 *   of the file, so they are balanced over the links among themselves.
 * - scatter_ports: of the least loaded ports any, by a number that follows from seed,
 *   switch and LID; so one change of the fabric does not reshuffle all. Base LIDs only.
 * - port_shifting: the search begins one port further on with each round of routes that
 *   the ports carry.
 * - port_profile_switch_nodes: base LIDs of switches choose like those of hosts, after
 *   them, and count the hosts that send through.
 */
struct spread_options {
	const struct guid_file *ignored, *search, *listed;
	uint32_t seed;
	bool no_scatter, shifting, switch_nodes;
};

/* clang-format off */
#define SPREAD_OPTION(set, member, key, kind, field) \
	.name = key, .type = kind, .offset = offsetof(set, member) + offsetof(struct spread_options, field)

/*! Rows for struct \a set, whose \a member is a struct spread_options. */
#define SPREAD_OPTION_ROWS(set, member) \
	{ SPREAD_OPTION(set, member, "port_prof_ignore_file", OPT_GUID_FILE, ignored), \
	  .letter = 'i', .flags_long = "ignore_guids", .arg = "FILE", \
	  .help = "Ports whose routes do not count when load is balanced" }, \
	{ SPREAD_OPTION(set, member, "port_search_ordering_file", OPT_GUID_FILE, search), \
	  .letter = 'O', .flags_long = "port_search_ordering_file", .arg = "FILE", \
	  .help = "Order in which each switch's ports are looked at; for dor, its dimensions" }, \
	{ SPREAD_OPTION(set, member, "dimn_ports_file", OPT_GUID_FILE, search), \
	  .flags_long = "dimn_ports_file", .arg = "FILE", \
	  .help = "Older name of port_search_ordering_file" }, \
	{ SPREAD_OPTION(set, member, "guid_routing_order_file", OPT_GUID_FILE, listed), \
	  .letter = 'X', .flags_long = "guid_routing_order_file", .arg = "FILE", \
	  .help = "Port GUIDs whose routes are placed first, in this order" }, \
	{ SPREAD_OPTION(set, member, "scatter_ports", OPT_UINT, seed), .def = "0", \
	  .flags_long = "scatter-ports", .arg = "SEED", \
	  .help = "Choose at random among ports of equal load, from this seed; 0: the next in order" }, \
	{ SPREAD_OPTION(set, member, "guid_routing_order_no_scatter", OPT_BOOL, no_scatter), \
	  .def = "FALSE", .flags_long = "guid_routing_order_no_scatter", .flags = OPT_NO_ARG, \
	  .help = "No random choice for the ports of guid_routing_order_file" }, \
	{ SPREAD_OPTION(set, member, "port_shifting", OPT_BOOL, shifting), .def = "FALSE", \
	  .flags_long = "port-shifting", .flags = OPT_NO_ARG, \
	  .help = "Begin the search for a port further on with each round of routes" }, \
	{ SPREAD_OPTION(set, member, "port_profile_switch_nodes", OPT_BOOL, switch_nodes), \
	  .def = "FALSE", .help = "Balance and count routes to switches, too" }
/* clang-format on */

/*! The same as found in a fabric. */
struct spread_tune {
	const bool *ignored;    /*!< [graph.n_ports] of switches and hosts, NULL: none */
	const uint8_t *place;   /*!< [n_switches][max_port + 1] place of a port in the order of
	                           search, NULL: by number */
	const uint32_t *listed; /*!< [n_listed] index in graph.hosts, first things first */
	uint32_t n_listed;
	const bool *is_listed; /*!< by index in graph.hosts; NULL: none */
	uint32_t seed;         /*!< 0: no scattering */
	bool no_scatter, shifting, switch_nodes;
};

/*! \brief Is a port of a switch or host left out of the balance? \param t  Or NULL. */
static inline bool spread_is_ignored(const struct spread_tune *t, uint32_t port)
{
	return t && t->ignored && t->ignored[port];
}

/*! \brief Number of a random choice: it follows from the seed, the switch and the LID
 * (SplitMix64). */
static inline uint64_t spread_scatter(const struct spread_tune *t, uint64_t switch_guid,
                                      uint32_t lid)
{
	uint64_t x = (uint64_t)t->seed << 32 ^ lid ^
	             switch_guid * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/*!
 * \brief Reads the lists; what does not fit the fabric is named in \a notes.
 * \param o    NULL: defaults.
 * \retval -ENOMEM
 */
int spread_tune_init(struct spread_tune *t, const struct spread_options *o,
                     const struct graph *g, struct arena *a, struct why *notes);

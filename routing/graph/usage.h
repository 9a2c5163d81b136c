/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct graph;
struct lids;
struct lft;

/*!
 * How forwarding tables use ports, for operators who look for an overloaded port.
 *
 * Routes per directed link are struct load (routing/proof/paths.h). Here are the entries of the
 * tables, used by a route or not, and figures over any set of counts.
 */

/*! Entries of one switch's table that name one of its ports. */
struct port_usage {
	uint32_t total;     /*!< LIDs in use that leave through the port */
	uint32_t host_all;  /*!< of these, LIDs of CA and router ports */
	uint32_t host_base; /*!< of these, base LIDs */
	uint32_t sw;        /*!< LIDs of switches */
};

/*!
 * \brief Counts them.
 * \param ret_usage  [n_switches][max_port + 1] in \a a; port 0 is the switch itself.
 *             Entries that name a port beyond, or none, count nowhere.
 * \retval -ENOMEM
 * Cost: O(S * L), parallel over switches.
 */
int usage_ports(const struct graph *g, const struct lids *lids, const struct lft *lft,
                struct arena *a, struct port_usage **ret_usage);

/*! Figures over a set of counts. */
struct usage_sum {
	uint64_t total, squares;
	uint32_t n, min, max;
};

void usage_add(struct usage_sum *s, uint32_t count);
double usage_average(const struct usage_sum *s);   /*!< 0 for an empty set */
double usage_deviation(const struct usage_sum *s); /*!< of the whole set, not of a sample */

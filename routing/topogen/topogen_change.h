/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct diags;
struct graph;
struct maker;
struct topogen_opts;

/*!
 * \brief Adds what real fabrics have beside the hosts of a kind: hosts on switches that have
 * none (topogen_opts.spine_hosts) and aggregation nodes on all switches. Each switch gets as
 * many ports more as it needs. Private to routing/topogen*.c.
 *
 * \retval E_RANGE  A switch would need more than MAKER_MAX_RADIX ports, or every switch has
 * hosts already. \retval -ENOMEM
 */
int topogen_add_extras(struct maker *m, const struct topogen_opts *o);

/*!
 * \brief Removes o->fail of the switch-to-switch cables of a graph that is not frozen
 * yet.
 *
 * Parts that were connected stay so; when that leaves too few to remove, a warning says
 * how many went. Private to routing/topogen*.c.
 *
 * \retval E_RANGE  o->fail is not a fraction; in \a d. \retval -ENOMEM
 */
int topogen_fail_cables(struct graph *g, const struct topogen_opts *o, struct diags *d);

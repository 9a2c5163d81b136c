/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct diags;
struct graph;
struct topogen_opts;

/*!
 * \brief Removes o->fail of the switch-to-switch cables of a graph that is not frozen
 * yet.
 *
 * Parts that were connected stay so; when that leaves too few to remove, a warning says
 * how many went. Private to routing/topogen*.c.
 *
 * \retval E_RANGE  o->fail is not a fraction; in \a d. \retval -ENOMEM
 */
int topogen_fail(struct graph *g, const struct topogen_opts *o, struct diags *d);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

#include "sa/path/path_query.h"

struct arena;

/*!
 * \brief Explains a path: "why" of its record, and in each of its "hops" the ports of equal
 *        cost, the routes on them, and why this one.
 *
 *   "why": {"engine", "src": {"guid","name","port","state"}, "dst": ...,
 *           "rate_limited": {"by":"cable","from":{},"to":{}}, "mtu_limited": ...}
 *   hop:   "choice", "why", "routes", "vl", "vl_from", "candidates": [{"port","to","rate_gbps",
 *          "routes","taken"}]
 *
 * \param list  path_hops_json() of \a hops; each gets the members of a hop, on failure perhaps
 *              only some.
 * \param ret_json   "why".
 * \retval E_MALFORMED E_STALE -ENOMEM
 * Cost: that of path_hop_why() for each hop.
 */
int path_why_json(struct snap_reader *r, const struct path_record *rec,
                  const struct path_hop *hops, unsigned n, struct arena *a, json_t *list,
                  json_t **ret_json);

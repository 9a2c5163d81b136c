/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct arena;
struct graph;
struct lash_layers;
struct lash_mesh;

/*! \brief Lanes that the ways of lash_ways_mesh() need at most; 0: not known, as
 * something is missing. */
unsigned lash_classes(const struct lash_mesh *m, const struct graph *g);

/*! \brief Puts each pair on the lane of what its way crosses; lash_classes() must not be
 * 0. \retval -ENOMEM  Cost: O(S * S). */
int lash_layer_classes(const struct lash_mesh *m, const struct graph *g, struct arena *a,
                       struct lash_layers *ret);

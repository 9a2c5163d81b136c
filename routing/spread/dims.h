/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct graph;
struct why;

/*!
 * Dimensions of a mesh, torus or hypercube as its cables show them. All cables from one
 * switch to one neighbour are one dimension; dimensions of a switch are ordered by their
 * first port in its search order.
 */
struct dim {
	uint32_t to;    /*!< switch index of the neighbour */
	uint32_t ports; /*!< first of its ports in dims.port */
	uint8_t n;      /*!< parallel cables */
	uint8_t key; /*!< place of the first port in the switch's search order, from 1 */
	uint8_t to_key; /*!< the same at the neighbour's end */
};

struct dims {
	uint32_t n;      /*!< switches */
	uint32_t *first; /*!< [n + 1] into dim */
	struct dim *dim; /*!< by (switch, key) */
	uint8_t *port;   /*!< egress ports, in search order within a dim */
};

/*!
 * \brief Groups the cables of every switch.
 * \param order  [n_switches][max_port + 1] ports in search order from place 1 on, see
 *               portfile_order(); NULL: by number.
 * \retval -ENOMEM
 */
int dims_init(struct dims *d, const struct graph *g, const uint8_t *order,
              struct arena *a);

/*!
 * \brief Adds what the cabling lacks for dimension order to be free of credit loops.
 *
 * Switches whose cables join other ports than the same dimension does elsewhere are
 * named, or, when a quarter of the cables do so, the fabric as a whole. Rings are
 * counted.
 *
 * \retval -ENOMEM
 */
int dims_judge(const struct dims *d, const struct graph *g, struct why *notes);

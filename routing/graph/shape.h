/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;
struct lids;

/*!
 * What routing sees of a fabric, by switch port and LID, so that it outlives the graph and two
 * fabrics with the same switches can be compared.
 *
 * Links are named by the switch and the port that they leave, because indices in graph.adj
 * move when a cable is lost.
 */
struct shape_port {
	uint32_t to; /*!< switch behind the port; GRAPH_NONE: none, or a host */
	uint8_t to_port;
	bool host;      /*!< a CA or router is behind it */
	uint32_t here;  /*!< width, speed, MTU and VLs of the port */
	uint32_t there; /*!< likewise of the port at the other end, 0: none */
};

/*! Where the owner of a LID hangs. */
struct shape_lid {
	uint32_t sw;  /*!< GRAPH_NONE: nobody has the LID */
	uint8_t port; /*!< of that switch; 0: the LID is the switch's own */
	bool to_host; /*!< the owner is a CA or router port */
	bool is_base; /*!< the LID is the first of its range */
};

struct shape {
	uint32_t n;              /*!< switches */
	uint32_t width;          /*!< ports per row: graph.max_port + 1 */
	uint64_t *guid;          /*!< [n] */
	struct shape_port *port; /*!< [n][width] */
	uint32_t *n_hosts;       /*!< [n] hosts on the switch */
	struct shape_lid *lid;   /*!< [top + 1] */
	uint32_t top;
	bool off_switch; /*!< a LID has an owner that hangs on no switch */
};

/*! A direction of a link between switches. */
struct shape_link {
	uint32_t sw;
	uint32_t to; /*!< switch behind it */
	uint8_t port;
};

/*! How a fabric differs from an earlier one. */
struct shape_change {
	const char *doubt; /*!< why they are not compared further; NULL: the rest is valid */
	struct shape_link *lost, *gained; /*!< between switches, both directions */
	uint32_t n_lost, n_gained;
	uint32_t *lid; /*!< [n_lids] whose owner came, went, moved or has another link, ascending */
	uint32_t n_lids;
	uint32_t *sw; /*!< [n_sw] switches with another number of hosts */
	uint32_t n_sw;
};

/*! \brief Shape of a fabric, in \a a. \retval -ENOMEM  Cost: O(ports + LIDs). */
int shape_init(struct shape *s, const struct graph *g, const struct lids *lids,
               struct arena *a);

/*!
 * \brief Compares a fabric with an earlier one. Lists are in \a a.
 *
 * Another set of switches, another highest LID, or a cable between two switches that has another width, speed, MTU or
 * number of VLs, is a doubt.
 *
 * \retval -ENOMEM  Cost: O(ports + LIDs).
 */
int shape_compare(const struct shape *was, const struct shape *now, struct arena *a,
                  struct shape_change *ret_change);

/*! \brief Port of a switch. */
static inline const struct shape_port *shape_at(const struct shape *s, uint32_t sw,
                                                unsigned port)
{
	return &s->port[(uint64_t)sw * s->width + port];
}

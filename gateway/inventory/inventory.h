/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/graph.h"

struct arena;
struct body;
struct cable;
struct problem;
struct load_class;
struct snap_reader;
struct topology;

/*!
 * The fabric of one epoch as arrays, for lists of ports and cables, their load and their
 * map: the graph of the snapshot, and beside it what routing does not need. A thread
 * builds it when it is first asked for and keeps it until a table under it changes.
 *
 * Readers hold a reference, so a stream may go on with the arrays it began with.
 */
struct inventory_port {
	uint32_t routes, base_routes;   /*!< on the way out; INVENTORY_NO_ROUTES: no
	                                 switch-to-switch link of the routing */
	uint8_t rate;                   /*!< of the cable; 0: none */
	uint8_t physical_state;         /*!< PortInfo.PortPhysicalState; 0: not known */
	uint8_t best_width, best_speed; /*!< that both ends of the cable support */
	bool has_best;                  /*!< PortInfo of both ends is known */
	bool degraded;                  /*!< the cable is slower than its best */
	const struct cable *cable;      /*!< what its module says; NULL: not known */
	const char *cable_json;         /*!< the same as JSON */
	uint16_t cable_json_len;
};

enum { INVENTORY_CABLE_MAX = 1500 /*!< bytes of that JSON; a longer one is left out */ };

struct inventory_node {
	const char *json; /*!< name for people as a JSON string, with quotes */
	uint16_t json_len;
	uint32_t lid; /*!< of port 0 or of the first port with a LID, 0: none */
};

enum { INVENTORY_NO_ROUTES = UINT32_MAX };

struct inventory {
	uint64_t epoch, version; /*!< the newest version of the tables under it */
	const struct graph *g;
	struct inventory_node *node; /*!< [g->n_nodes] */
	struct inventory_port *port; /*!< [g->n_ports] */
	uint32_t *link;              /*!< [g->n_links] end a of each cable, as index of a
	                                port; ascending, and below its peer */
	/* set by inventory_shape() */
	struct topology *shape;
	uint32_t *by_load; /*!< [n_loaded] ports with routes, most routes first */
	uint32_t n_loaded;
	struct load_class *load; /*!< [n_load] by (from, to) */
	unsigned n_load;
	struct redundancy *redundancy; /*!< of alarm_consequences(), NULL at first */

	struct arena *arena;
	unsigned references; /*!< atomic */
};

/*! Links from one tier to another, or within one, in one direction. */
struct load_class {
	uint16_t from, to; /*!< TOPOLOGY_NO_TIER: in a part without hosts */
	uint32_t links, max;
	uint64_t sum; /*!< of their routes */
};

/*!
 * \brief Finds tiers and groups, and orders the links by their load, once.
 * \retval -ENOMEM
 * Cost: that of topology_find() and of a sort.
 */
int inventory_shape(struct inventory *v);

/*! \brief Tier of the node of a port: TOPOLOGY_NO_TIER for what is no switch. */
uint16_t inventory_tier(const struct inventory *v, uint32_t port);

/*! \brief Class of the link that leaves by a port with routes. */
const struct load_class *inventory_load_class(const struct inventory *v, uint32_t port);

/*!
 * \brief Builds the inventory of the pinned epoch, or keeps the one that is there for it.
 * \param cache  Of the calling thread, NULL at first; given back by inventory_unref().
 * \retval E_STALE E_MALFORMED -ENOMEM
 * Cost: three searches per port, when a table changed.
 */
int inventory_get(struct inventory **cache, struct snap_reader *r);

struct inventory *inventory_ref(struct inventory *v);
void inventory_unref(struct inventory *v); /*!< NULL is fine */

/*! \brief State of a cable: that of the end that is less far. */
uint8_t inventory_link_state(const struct inventory *v, uint32_t port);

/*! Which ports or cables a reader wants. */
struct inventory_filter {
	const char *name; /*!< pattern for the name or GUID of a node; NULL: any */
	uint64_t guid;    /*!< NodeGUID; 0: any */
	uint8_t type;     /*!< enum node_type; 0: any */
	uint8_t state;    /*!< enum port_state; 0: any */
	int8_t degraded;  /*!< 0 or 1; -1: any */
	int8_t cabled;    /*!< the same */
};

/*! \brief Of a cable one end has to fit the name, and one the GUID. \param port  End a. */
bool inventory_link_fits(const struct inventory *v, uint32_t port,
                         const struct inventory_filter *f);
bool inventory_port_fits(const struct inventory *v, uint32_t port,
                         const struct inventory_filter *f);

/*!
 * \brief Writes one JSON object; nothing is allocated but the text itself.
 * The schemas Link, Port and LinkLoad (gateway/api/schema.c) describe them.
 */
void inventory_write_link(struct body *b, const struct inventory *v, uint32_t port);
void inventory_write_port(struct body *b, const struct inventory *v, uint32_t port);
void inventory_write_load(struct body *b, const struct inventory *v, uint32_t port);

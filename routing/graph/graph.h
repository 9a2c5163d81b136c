/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;
struct guid_file;

/*!
 * The fabric as a graph: nodes, their ports, cables.
 *
 * Built by a reader (topology file, discovery, generator) with graph_add_node() and
 * graph_connect(), then frozen. Freezing sorts nodes by GUID and makes the arrays that
 * engines run over, so every index below is a function of the fabric alone, not of the
 * order in which it was read. After freezing a graph is not changed.
 *
 * Indices are uint32_t into contiguous arrays: a node has ports 0..n_ports at
 * ports[first_port + number]. Port 0 of a switch is its management port; slot 0 of a CA
 * or router is unused. Everything is in host byte order.
 */
#define GRAPH_NONE UINT32_MAX /*!< "no such node, port, switch" */

enum node_type { NODE_CA = 1, NODE_SWITCH = 2, NODE_ROUTER = 3 }; /*!< NodeInfo.NodeType */

/*! PortInfo.PortState. */
enum port_state { PORT_DOWN = 1, PORT_INIT = 2, PORT_ARMED = 3, PORT_ACTIVE = 4 };

/*! Link speed per lane, slowest first; the order is the rank. */
enum link_speed {
	SPEED_SDR, SPEED_DDR, SPEED_QDR, SPEED_FDR10, SPEED_FDR, SPEED_EDR, SPEED_HDR,
	SPEED_NDR, SPEED_XDR, SPEED_COUNT
};

/*! LinkWidthActive codes of the specification. */
enum link_width { WIDTH_1X = 1, WIDTH_4X = 2, WIDTH_8X = 4, WIDTH_12X = 8, WIDTH_2X = 16 };

struct port {
	uint64_t guid;     /*!< PortGUID; all ports of a switch carry that of port 0 */
	uint32_t node;     /*!< index in nodes */
	uint32_t peer;     /*!< index in ports, GRAPH_NONE: no cable */
	uint32_t lid;      /*!< base LID as found (file or fabric), 0: none */
	uint32_t capability_mask; /*!< PortInfo.CapabilityMask of an end port as found, 0: unknown */
	uint8_t lmc;       /*!< as found */
	uint8_t num;       /*!< port number */
	uint8_t state;     /*!< enum port_state; ports with a peer are never PORT_DOWN */
	uint8_t width;     /*!< enum link_width */
	uint8_t speed;     /*!< enum link_speed */
	uint8_t mtu; /*!< MTUCap code 1-5: 256 << (code - 1) ... 4096; of Omni-Path also 6, 7: 8192, 10240 */
	uint8_t vls;       /*!< VLCap code 1-5: 1, 2, 4, 8, 15 data VLs */
	bool may_manage;   /*!< Omni-Path: its neighbour lets it manage the fabric */
};

struct node {
	uint64_t guid;              /*!< NodeGUID */
	uint64_t system_image_guid; /*!< 0: unknown */
	const char *description;    /*!< NodeDescription, "" when unknown; at most 64 bytes */
	const char *name;           /*!< what the operator calls it, NULL: by its description (routing/graph/node_text.h) */
	const char *id;             /*!< its id in the topology file, or NULL */
	uint32_t first_port;        /*!< index in ports of slot 0 */
	uint32_t sw;                /*!< index in switches, GRAPH_NONE for CA and router */
	uint32_t linear_fdb_cap;    /*!< switch: LIDs its LFT holds; 0: unknown, any */
	uint32_t vendor_id;         /*!< 24 bits */
	uint32_t line;              /*!< line in graph.source that names the node, 0: none */
	uint32_t revision;
	uint16_t device_id;
	uint16_t partition_cap;
	uint8_t type;               /*!< enum node_type */
	uint8_t n_ports;            /*!< external ports, 1-254 */
	bool esp0;                  /*!< switch with enhanced port 0 */
	bool aggregation;           /*!< CA that is the aggregation node of a switch (routing/graph/aggregation.h) */
};

/*! A cable from a switch to a switch, seen from one end. */
struct sw_link {
	uint32_t to;     /*!< switch index */
	uint8_t port;    /*!< egress port here */
	uint8_t to_port; /*!< ingress port there */
};

struct graph {
	struct arena *arena;   /*!< borrowed; holds everything below */
	const char *source;    /*!< file name for diagnostics, NULL: discovered or generated */
	struct node *nodes;    /*!< frozen: by GUID */
	uint32_t n_nodes;
	struct port *ports;    /*!< frozen: by (node, number) */
	uint32_t n_ports;
	uint32_t sm_port;      /*!< where the SM runs: end port, or GRAPH_NONE */
	/* set by graph_freeze() */
	uint32_t *switches;    /*!< [n_switches] node index, by GUID */
	uint32_t n_switches;
	uint32_t *adj_first;   /*!< [n_switches + 1] into adj */
	struct sw_link *adj;   /*!< switch-to-switch links, by (switch, port); parallel links kept, loopback cables left out */
	uint32_t n_adj;        /*!< directed links */
	uint32_t *host_first;  /*!< [n_switches + 1] into hosts */
	uint32_t *hosts;       /*!< hosts cabled to the switch (port indices), by switch port */
	uint32_t *end_ports;   /*!< every end port: switch port 0s and cabled (or SM) CA/router ports, by port index */
	uint32_t *by_guid;     /*!< [n_end_ports] the same port indices, by PortGUID */
	uint32_t n_end_ports;
	uint32_t n_hosts;      /*!< end ports that are hosts: CA or router ports, but not those of aggregation nodes */
	uint32_t n_aggregation; /*!< end ports of aggregation nodes */
	uint32_t n_links;      /*!< cables of any kind, each once */
	uint8_t max_port;      /*!< largest n_ports of a switch */
	/* used while building */
	size_t cap_nodes, cap_ports;
	bool frozen;
};

/*! \brief New empty graph in arena \a a. NULL when out of memory. */
struct graph *graph_new(struct arena *a);

/*!
 * \brief Adds a node with its ports (no cables, width 4x, speed SDR, MTU 4096, 8 VLs).
 *
 * Port GUIDs default to guid (switch) or guid + number (CA, router); overwrite at will
 * before freezing. \a description and \a id are copied.
 *
 * \param ret_node  Index valid until graph_freeze().
 * \retval E_RANGE   n_ports is 0 or above 254, or type is unknown.
 * \retval -ENOMEM
 */
int graph_add_node(struct graph *g, enum node_type type, uint64_t guid, unsigned n_ports,
                   const char *description, const char *id, uint32_t *ret_node);

/*!
 * \brief Begins with the nodes, ports and cables of another graph, which is frozen, instead of
 *        with nothing. Names and what graph_freeze() finds are not taken over; ids are borrowed.
 *
 * \param gone      [from->n_nodes] 1: not this node, nor its cables.
 * \param ret_node  [from->n_nodes] index of each until graph_freeze(), GRAPH_NONE: gone.
 * \retval -ENOMEM
 * Cost: O(P), little more than a copy of the arrays.
 */
int graph_take(struct graph *g, const struct graph *from, const uint8_t *gone,
               uint32_t *ret_node);

/*! \brief Another description before graph_freeze(); it is copied. \retval -ENOMEM */
int graph_describe(struct graph *g, uint32_t node, const char *description);

/*! \brief Before graph_freeze(): a port is as graph_add_node() made it, but keeps its cable. */
void graph_reset_port(struct graph *g, uint32_t port);

/*! \brief Index of a port by node index and number. \return GRAPH_NONE if out of range. */
uint32_t graph_port(const struct graph *g, uint32_t node, unsigned num);

/*!
 * \brief Cables two ports; both become PORT_INIT when they were PORT_DOWN.
 * \retval E_DUPLICATE  One of them has another peer already.
 * \retval E_RANGE      Port 0, or a port index out of range.
 */
int graph_connect(struct graph *g, uint32_t port_a, uint32_t port_b);

/*! \brief Removes the cable of a port, if any; both ends become PORT_DOWN. */
void graph_disconnect(struct graph *g, uint32_t port);

/*!
 * \brief Sorts nodes by GUID, renumbers, builds the arrays for engines.
 *
 * Duplicate GUIDs (node GUIDs, or port GUIDs of end ports): the first one read stays, the
 * later node is left out with its cables, and a DIAG_ERROR names both places.
 *
 * \retval -ENOMEM
 * Cost: O(P log P) for P ports.
 */
int graph_freeze(struct graph *g, struct diags *d);

/*!
 * \brief Declares CAs to be aggregation nodes, beside those that graph_freeze() recognises.
 *
 * To be called right after graph_freeze(), before indices into hosts are kept.
 *
 * \param list  NodeGUIDs or PortGUIDs of CAs; others are left alone. NULL: none.
 * \return How many of them name a CA of this fabric.
 * Cost: O(n log P + P) for n GUIDs.
 */
uint32_t graph_set_aggregation(struct graph *g, const struct guid_file *list);

/*! \brief Node by NodeGUID. \return Index or GRAPH_NONE. Frozen only; O(log n). */
uint32_t graph_node_by_guid(const struct graph *g, uint64_t guid);

/*! \brief End port by PortGUID (or a switch by NodeGUID). O(log n). \return Port index or GRAPH_NONE. */
uint32_t graph_port_by_guid(const struct graph *g, uint64_t guid);

/*! \brief The same for many GUIDs that mostly ascend. \param at  Where the last one was;
 * 0 at first. O(1) for the next one. */
uint32_t graph_port_by_guid_near(const struct graph *g, uint64_t guid, uint32_t *at);

/*! \brief Is it a switch port 0, or a CA or router port? */
bool graph_is_end_port(const struct graph *g, uint32_t port);

/*! \brief Is it the port of a host: a CA or router port, but not that of an aggregation node? */
bool graph_is_host(const struct graph *g, uint32_t port);

/*! \brief Switch port to which an end port is cabled, 0 for a switch's own port 0. The end
 * port hangs on a switch. */
uint8_t graph_switch_port_of(const struct graph *g, uint32_t port);

/*! \brief Switch index on which an end port hangs (its own switch for port 0), GRAPH_NONE if not on a switch. */
uint32_t graph_switch_of(const struct graph *g, uint32_t port);

/*!
 * \brief Switches that a GUID of an operator's list stands for: that of a switch itself,
 * of an end port the one it hangs on, of a CA or router those of all its ports. \param
 * ret  [GRAPH_NODE_PORTS] switch indices, each once, by port. \return How many, 0: the
 * GUID is on no switch. O(log n).
 */
enum { GRAPH_NODE_PORTS = 254 };
unsigned graph_switches_by_guid(const struct graph *g, uint64_t guid,
                                uint32_t *ret_switches);

/*!
 * \brief What routing sees of a fabric in 64 bits (conf/base/digest.h): nodes, cables and what
 *        they can; not the states of ports nor what programs on hosts say of them
 *        (CapabilityMask).
 */
uint64_t graph_digest(const struct graph *g);

/*! \brief Rate code of PathRecord (IBA vol. 1, PathRecord.Rate) for a width and speed; 0 unknown. */
uint8_t link_rate(uint8_t width, uint8_t speed);

/*! \brief Speed of a rate code in units of 0.1 Gb/s, for comparing: codes are not in order of speed. 0 unknown. */
uint32_t rate_speed(uint8_t rate);

/*! \brief Data VLs of a VLCap or OperationalVLs code: 1, 2, 4, 8, 15; 1 for what is no code. */
uint8_t link_vls(uint8_t code);

/*! \brief "4x EDR" style names. */
const char *link_speed_name(uint8_t speed);
const char *link_width_name(uint8_t width);
const char *port_state_name(uint8_t state);   /*!< "active" */
const char *node_type_name(uint8_t type); /*!< "ca", "switch", "router" */

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/hash.h"
#include "sa/mad/opa_lid.h"
#include "sa/mad/smp.h"

struct arena;
struct disc_refused;
struct graph;
struct guid_file;
struct table;

/*!
 * Discovery: from the local port over directed routes to a graph, with the route and the
 * raw attributes of every node. disc_start() queues the first request; each answer queues
 * the next ones; when the SMP engine has nothing pending, disc_finish() makes the graph.
 */
struct disc;
struct disc_node;

struct disc_port {
	uint8_t info[64]; /*!< PortInfo as last read or set */
	uint8_t *
		opa_info; /*!< [OPA_BYTES_PORT_INFO] the same on Omni-Path, in the arena; else NULL */
	uint8_t *sm_info; /*!< SMInfo of the subnet manager there, in the arena; NULL: none */
	uint64_t guid;    /*!< PortGUID; 0: unknown (a CA port never entered through) */
	struct smp_dest *dest; /*!< agent that answers for it; NULL: not reached */
	struct disc_node
		*peer; /*!< node that answered a NodeInfo over this port, NULL: none */
	struct table *p_keys, *guids; /*!< its copies, which stay where they are; NULL: none */
	uint8_t peer_port;
	uint8_t num;
	bool has_info;
	bool silent; /*!< link is up, nobody answers behind it */
	bool refused; /*!< link is up, who is behind it is in disc.refused and is no peer */
	bool foreign; /*!< it seems to hold an M_Key that is not known; port 0 stands for a switch */
	uint8_t keys_tried; /*!< of keyring_candidates() */
	bool confirmed;  /*!< local discovery: read and as it was, or cabled anew */
	uint32_t looked; /*!< light sweep that last asked over this cable, 0: none */
};

struct disc_node {
	struct disc *disc;
	struct smp_dest dest; /*!< shortest route once disc_finish() ran */
	uint64_t guid;
	uint8_t node_info[64]; /*!< as read through the first route */
	uint8_t description[64];
	uint8_t switch_info[64];
	uint8_t *
		opa_switch_info; /*!< [OPA_BYTES_SWITCH_INFO] the same on Omni-Path; else NULL */
	struct disc_port *ports; /*!< [n_ports + 1] */
	struct disc_node *from; /*!< neighbour on the first route, NULL: the local node */
	uint32_t graph_node;    /*!< index in the graph, GRAPH_NONE: left out */
	uint8_t from_port;      /*!< its port towards us */
	uint8_t entry;          /*!< our port on that route */
	uint8_t type, n_ports;
	bool has_description, has_switch_info;
	bool deaf;    /*!< answered NodeInfo, then timed out */
	bool refused; /*!< over one of its cables at least; see admit.h */
	bool clears;  /*!< PortStateChange is to be cleared when its M_Key is known */
	bool reached; /*!< used by disc_finish() */
	uint8_t changed; /*!< enum disc_changed: attributes, ports or cables, see disc_note_change() */
	uint8_t last_table; /*!< last port with a P_Key or GUID table */
	uint8_t n_silent; /*!< ports behind which nobody answers, as of the last disc_finish() */
	bool armed; /*!< switch: ports were armed, and since then nobody was asked who is behind them */
	/* local discovery: */
	bool copied;     /*!< taken over from the discovery before */
	bool saved;      /*!< as it was then, for disc_give_back() */
	bool suspect;    /*!< to be read again */
	unsigned asked;  /*!< the wave in which it is read again, from 1; 0: none yet */
	uint16_t n_lost; /*!< cables that it must have lost, as their other ends say */
};

/*! \brief LIDs of a port as last read or set, and of the tables of a switch. */
static inline uint32_t disc_lid(const struct disc_port *p)
{
	return opa_lid_of_port(p->info, p->opa_info);
}

static inline uint32_t disc_sm_lid(const struct disc_port *p)
{
	return opa_lid_of_sm(p->info, p->opa_info);
}

static inline uint32_t disc_lft_top(const struct disc_node *n)
{
	return opa_lid_lft_top(n->switch_info, n->opa_switch_info);
}

/*! A node as it was when a local discovery began. What its pointers lead to is copied,
 * too, and goes back to where it was. */
struct disc_saved {
	struct disc_node *at;
	struct disc_node node;
	struct disc_port ports[];
};

/*! Since when a node changed, as bits. */
enum disc_changed { DISC_SINCE_GRAPH = 1, DISC_SINCE_PUBLISHED = 2 };

struct disc_options {
	unsigned retries;  /*!< per request, transaction_retries; nodes that answered once
	                      get twice as many */
	bool clear_change; /*!< clear PortStateChange before reading a switch's ports: we
	                      are the master */
	const struct hash_table *silent; /*!< guid_port_key() of ports silent in the last
	                                  sweep: one try only; may be NULL */
	const struct guid_file *aggregation; /*!< CAs that are aggregation nodes, beside those
	                                        that show it; may be NULL */
	const struct node_names *names; /*!< the operator's names of nodes; may be NULL */
	struct keyring
		*keys; /*!< M_Keys of ports, which is brought up to date; NULL: none */
	const struct health *health; /*!< ports that are not looked behind; NULL: none */
	uint8_t mtu_limit; /*!< most that a port of the graph has, as a code; 0: no limit */
	uint8_t least_vls; /*!< Omni-Path: a node with fewer is refused */
	uint32_t top_lid;  /*!< Omni-Path: a switch that cannot route so far is refused */
};

enum { DISC_PROBLEMS_MAX = 64 };

/*! AttributeModifier of PortInfo, added to the port number: this SM knows extended
 * speeds. */
#define DISC_PORT_MOD UINT32_C(0x80000000)

struct disc {
	struct smp *smp;
	struct arena *arena; /*!< of this sweep: graph, sentences */
	struct arena *own;   /*!< of the nodes, which go from one discovery to the next */
	size_t own_bytes;    /*!< of it after the last full discovery */
	struct disc_options options;
	struct disc_node **nodes; /*!< in the order found; malloc */
	size_t cap_nodes;
	uint32_t n_nodes;
	struct hash_table by_guid; /*!< index in nodes */
	struct probe *spare;
	int ret;              /*!< first error of ours (-ENOMEM) */
	uint32_t n_described; /*!< nodes whose own attributes are in: progress */
	bool local;           /*!< begun by disc_take() */
	bool may_return;      /*!< what changes is saved, until disc_keep() */
	struct disc_saved **saved; /*!< [n_saved] malloc */
	uint32_t n_saved;
	size_t cap_saved;
	struct { /* when it began */
		uint32_t n_nodes, n_changed;
		bool any_changed;
	} before;
	unsigned n_waves;     /*!< of a local discovery */
	bool cables_changed; /*!< since routes were searched last, such as may change those of switches; or what admits their ends */
	const struct graph
		*copied;        /*!< graph of the discovery before; until disc_finish() */
	struct disc_node **was; /*!< [copied->n_nodes] its nodes */
	struct disc_node **
		changed; /*!< [n_changed] malloc; those that changed since the last publish */
	uint32_t n_changed;
	size_t cap_changed;
	bool any_changed; /*!< there was no memory for the list: any node may have changed */
	uint64_t *
		gone; /*!< [n_gone] of a local discovery: nodes of the copy that are not in g, by GUID */
	uint32_t n_gone;
	const char *doubt; /*!< why a local discovery does not suffice; NULL: it does */
	/* results of disc_finish() */
	bool clean; /*!< no nodes were left out, so it may be taken over */
	struct graph *g;
	struct disc_node **of;                  /*!< [g->n_nodes] by graph node */
	const char *problem[DISC_PROBLEMS_MAX]; /*!< sentences with both places */
	unsigned n_problems;                    /*!< all, also those not kept */
	struct disc_refused *refused; /*!< [n_refused] nodes in quarantine, see admit.h */
	size_t n_refused, cap_refused;
	uint32_t n_unreachable; /*!< nodes that do not answer, as far as they can be told
	                           apart */
	uint32_t n_left_out; /*!< those of them that answered NodeInfo */
};

/*! \brief New discovery in \a a; queues NodeInfo of the local port. \retval -ENOMEM */
int disc_start(struct disc *d, struct smp *smp, struct arena *a,
               const struct disc_options *o);

/*!
 * \brief New local discovery in \a a: begins with the nodes and cables of another one in place of
 *        nothing. See discover_local.c.
 *
 * The nodes change in place. Each is saved before it changes, until disc_keep().
 *
 * \param from  disc_finish() succeeded and clean is set. It keeps its graph and no nodes, and is there
 *              until disc_keep() or disc_give_back().
 * \retval -ENOMEM  Nothing was taken.
 *
 * Cost: O(nodes), a few cache lines each.
 */
int disc_take(struct disc *d, struct disc *from, struct smp *smp, struct arena *a,
              const struct disc_options *o);

/*! \brief Gives the nodes back as they were, but for the routes to them, unless
 * disc_keep() was called or nothing was taken. No request is pending. */
void disc_give_back(struct disc *d, struct disc *from);

/*! \brief A local discovery has succeeded: \a d keeps the nodes. */
void disc_keep(struct disc *d);

/*! \brief A node as it was before a local discovery changed it. */
static inline const struct disc_node *disc_before(const struct disc *d,
                                                  const struct disc_node *n)
{
	for (uint32_t i = 0; i < d->n_saved; i++) {
		if (d->saved[i]->at == n) {
			return &d->saved[i]->node;
		}
	}
	return n;
}

/*! \brief A node of those taken over is to be read again. \return false: there is none. */
bool disc_suspect(struct disc *d, uint64_t guid);

/*!
 * \brief Local discovery: queues the next requests, when nothing is pending. If nothing is
 *        pending afterwards, call disc_finish().
 *
 * As soon as d->doubt is set the requests may be dropped, and a full discovery is needed.
 */
void disc_local_step(struct disc *d);

/*!
 * \brief Makes the graph from what answered: links that both ends agree on, nodes reached
 *        over such links from the local port, each with its shortest route.
 *
 * \param prev  Graph of the last sweep, for telling which nodes are the silent ones; or
 * NULL. \retval E_TIMEOUT    The local port itself does not answer. \retval -ENOMEM
 * After a failure d->g is NULL.
 */
int disc_finish(struct disc *d, const struct graph *prev);

/*!
 * \brief For tests: the graph of all nodes that are known, with nothing taken from an earlier one.
 * \param ret_graph  In \a a. \retval -ENOMEM
 */
int disc_graph_anew(const struct disc *d, struct arena *a, struct graph **ret_graph);

/*! \brief Frees the nodes and what is not in the arena. Zeroed is fine. */
void disc_done(struct disc *d);

/*! \brief Adds guid_port_key() of every silent port. */
int disc_silent(const struct disc *d, struct hash_table *ret_table);

/*! \brief Logs the problems, at most 20 of them. */
void disc_log_problems(const struct disc *d);

/*!
 * \brief Nodes, ports and cables that differ between two discoveries of one fabric. Violation
 *        counters and what depends on the route of an SMP do not count.
 */
uint32_t disc_differences(const struct disc *a, const struct disc *b);

/*!
 * \brief Notes that bytes of a node, of its ports, or its cables are others than they were, or may
 *        soon be because it is asked or set. Before they change, because a local discovery saves them.
 */
void disc_note_change(struct disc_node *n);

/*! \brief The snapshot has all nodes as they are now. */
void disc_changes_published(struct disc *d);

/*! \brief Port of the graph as discovery knows it. */
struct disc_port *disc_port_of(const struct disc *d, uint32_t port);

/*! \brief "\"desc\" (0x…) port n", as problems name a place; in the arena. */
const char *disc_place(const struct disc *d, const struct disc_node *n, unsigned port);

/*! \brief Is what is behind a port left out, because the port is not healthy? */
bool disc_is_isolated(const struct disc_node *n, unsigned port);

/*! \brief May a switch have restarted since the last sweep? Its port 0 has no link that would show it, so it may if none
 *         of its links is beyond INIT. */
bool disc_seems_restarted(const struct disc_node *n);

/*! \brief Keeps PortInfo as Omni-Path has it, if the answer is of such a port. \retval -ENOMEM */
int disc_keep_port_info(struct disc_port *p, struct arena *a, const struct smp_reply *r);

/*! \brief Keeps SwitchInfo in both forms. \retval -ENOMEM  Not Omni-Path's. */
int disc_take_switch_info(struct disc_node *n, struct arena *a,
                          const struct smp_reply *r);

/*! \brief The first P_Keys of a node, as an answer shows them: of the local one, says which to manage with. */
void disc_opa_take_p_keys(const struct disc *d, const struct disc_node *n,
                          const struct smp_reply *r);

/* Inside discovery: */
struct probe;

/*!
 * \brief The local node is Omni-Path's: makes its port ready to manage, and then calls \a go_on. All
 *        requests are Omni-Path's from here on.
 */
void disc_opa_begin(struct disc *d, void (*go_on)(struct disc *d));

/*! \brief Gives a destination the M_Key of a port. \param by  It answered to the key of this one; or
 *  NULL. */
void disc_set_key(const struct disc *d, struct smp_dest *dest, uint64_t port_guid,
                  const struct smp_dest *by);

void disc_problem(struct disc *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*! \brief Keeps the first of our own errors. */
void disc_error(struct disc *d, int ret);

/*! \brief Sends a request with the retries of nodes that answered once; Get if \a method is 0. */
void disc_ask(struct disc *d, struct smp_dest *dest, const struct smp_request *what);

/*! \brief Asks for the attributes of a node and of its ports, or of those entered so far. */
void disc_ask_node(struct disc_node *n);
void disc_ask_port(struct disc_node *n, unsigned port);

/*! \brief Asks for NodeInfo over a port. */
void disc_ask_behind(struct disc_node *n, uint8_t port);

/*! \brief Could both NodeInfos be of one node? */
bool disc_same_node(const uint8_t *a, const uint8_t *b);

/*! \brief Sets reached and the shortest routes over the cables as now known.
 *  \param order  [n_nodes]. \return How many nodes are in it. */
uint32_t disc_search(struct disc *d, struct disc_node **order);

/*! \brief May routes lead over a cable to others than its ends? Over one between a switch
 * and a channel adapter that is not the subnet manager's none does. */
bool disc_may_lead_on(const struct disc_node *a, const struct disc_node *b);

/*! \brief Sets reached of channel adapters and routers that were found since the last
 * search. */
void disc_reach_hosts(struct disc *d);

/*! \brief A copied node was found behind a port. */
void disc_local_found(struct disc_node *n, struct disc_node *from, uint8_t from_port,
                      const struct smp_path *path, const uint8_t *node_info);

/*! \brief PortInfo of a copied node. */
void disc_local_port(struct disc_node *n, struct disc_port *p, const uint8_t *info);

/*! \brief Puts all nodes that were saved back as they were, but for the routes to others.
 */
void disc_restore(struct disc *d);

/*! \brief A local discovery has found what it cannot explain. */
void disc_doubt(struct disc *d, const struct disc_node *n, unsigned port,
                const char *what);

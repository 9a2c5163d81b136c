/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/mcast_walk.h"

struct packet {
	const struct graph *g;
	const bool *on; /* [n_switches][MCAST_PORTS] */
	uint32_t *heard;
	uint32_t steps;
};

static void forward(struct packet *p, uint32_t sw, unsigned in_port)
{
	const struct node *n = &p->g->nodes[p->g->switches[sw]];

	must(++p->steps <= p->g->n_switches, "a packet goes round");
	for (unsigned port = 0; port <= n->n_ports; port++) {
		uint32_t at = n->first_port + port, peer;

		if (!p->on[sw * MCAST_PORTS + port] || port == in_port) {
			continue;
		}
		peer = p->g->ports[at].peer;
		if (port == 0) {
			p->heard[at]++;
			continue;
		}
		must(peer != GRAPH_NONE, "out of a port without a cable");
		if (p->g->nodes[p->g->ports[peer].node].sw == GRAPH_NONE) {
			p->heard[peer]++;
		} else {
			forward(p, p->g->nodes[p->g->ports[peer].node].sw,
			        p->g->ports[peer].num);
		}
	}
}

void check_group(const struct graph *g, const struct mcast_group *group, bool there,
                 const bool *on, struct arena *a)
{
	uint32_t *heard = arena_array(a, g->n_ports, sizeof(*heard));

	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t from = group->members[i].port, sw = graph_switch_of(g, from);
		bool own = g->nodes[g->ports[from].node].type == NODE_SWITCH;
		struct packet p = { .g = g, .on = on, .heard = heard };

		memset(heard, 0, g->n_ports * sizeof(*heard));
		forward(&p, sw, own ? 0 : g->ports[g->ports[from].peer].num);
		for (uint32_t k = 0; k < group->n; k++) {
			uint32_t to = group->members[k].port;
			uint32_t want =
				to != from && !group->members[k].sends_only && there;

			must(heard[to] == want, "port %u hears %u of port %u", to,
			     heard[to], from);
			heard[to] = 0;
		}
		for (uint32_t k = 0; k < g->n_ports; k++) {
			must(!heard[k], "port %u is no member and hears", k);
		}
	}
}

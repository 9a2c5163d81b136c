/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sa/sim/sim_tests.h"

#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/sim/sim_state.h"

/*
 * --- several subnet managers in one thread: a transport at each of their ports ---
 *
 * A recv that waited for its own MAD would let time pass while others have work to do. So
 * recv returns at once, and keeps its deadline. Whoever runs the subnet managers calls
 * sim_pass() when none of them has anything to do; it lets time pass until one of them has.
 *
 * MADs that reach a port without a transport are dropped, as by a host on which no program
 * listens.
 */

enum { PORTS_MAX = 8 };

struct sim_at_port {
	struct transport transport; /* first: the transport's functions cast back */
	struct sim *s;
	uint32_t port;
	struct mad_list waiting;
	struct mad_buf *held; /* borrowed by the caller of the last recv */
	uint64_t deadline_ms; /* of the last recv */
	bool attached;
};

struct sim_ports {
	struct sim_at_port at[PORTS_MAX];
	unsigned n;
};

static void take(void *ctx, uint32_t port, struct mad_buf *m)
{
	struct sim_ports *ports = ctx;

	for (unsigned i = 0; i < ports->n; i++) {
		if (ports->at[i].port == port && ports->at[i].attached) {
			mad_list_push(&ports->at[i].waiting, m);
			return;
		}
	}
	mad_pool_put(&ports->at[0].s->pool, m);
}

static void on_timer(void *ctx, uint32_t id, uint32_t timer)
{
	(void)ctx;
	(void)id;
	(void)timer;
}

static const struct sim_receiver receiver = { .take = take, .timer = on_timer };

static int at_recv(struct transport *t, uint64_t deadline_ms, struct mad_msg *ret_msg)
{
	struct sim_at_port *p = (struct sim_at_port *)t;

	mad_pool_put(&p->s->pool, p->held);
	p->held = mad_list_pop(&p->waiting);
	p->deadline_ms = deadline_ms;
	p->attached = true;
	if (p->held == NULL) {
		return E_TIMEOUT;
	}
	p->deadline_ms = 0; /* there may be more */
	*ret_msg = mad_buf_msg(p->held);
	return E_OK;
}

static int at_send(struct transport *t, const struct mad_msg *m)
{
	struct sim_at_port *p = (struct sim_at_port *)t;

	return sim_send_from(p->s, p->port, m);
}

static void at_wake(struct transport *t)
{
	((struct sim_at_port *)t)->deadline_ms = 0;
}

static uint64_t at_now_ms(struct transport *t)
{
	return sim_now_us(((struct sim_at_port *)t)->s) / 1000;
}

static int at_set_issm(struct transport *t, bool on)
{
	struct sim_at_port *p = (struct sim_at_port *)t;

	sim_port_issm(p->s, p->port, on, true);
	return E_OK;
}

/* The program ends: what waits for it is lost. */
static void at_close(struct transport *t)
{
	struct sim_at_port *p = (struct sim_at_port *)t;
	struct mad_buf *m;

	at_set_issm(t, false);
	mad_pool_put(&p->s->pool, p->held);
	p->held = NULL;
	while ((m = mad_list_pop(&p->waiting)) != NULL) {
		mad_pool_put(&p->s->pool, m);
	}
	p->attached = false;
}

static const struct transport_ops at_ops = {
	.name = "sim",
	.send = at_send,
	.recv = at_recv,
	.wake = at_wake,
	.now_ms = at_now_ms,
	.set_issm = at_set_issm,
	.close = at_close,
};

int sim_transport_at(struct sim *s, uint64_t port_guid, struct transport **ret_transport)
{
	uint32_t port = graph_port_by_guid(s->g, port_guid);

	if (port == GRAPH_NONE || !graph_is_end_port(s->g, port)) {
		return E_NOTFOUND;
	}
	if (s->several == NULL) {
		s->several = calloc(1, sizeof(*s->several));
		if (s->several == NULL) {
			return -ENOMEM;
		}
		s->receiver = &receiver;
		s->receiver_ctx = s->several;
	}
	if (s->several->n == PORTS_MAX) {
		return E_RANGE;
	}
	struct sim_at_port *p = &s->several->at[s->several->n++];
	const struct node *n = &s->g->nodes[s->g->ports[port].node];

	p->s = s;
	p->port = port;
	p->transport.ops = &at_ops;
	p->transport.secret[0] = s->o.seed;
	p->transport.secret[1] = port_guid;
	p->transport.local.port_guid = port_guid;
	p->transport.local.node_guid = n->guid;
	p->transport.local.port = s->g->ports[port].num;
	snprintf(p->transport.local.name, sizeof(p->transport.local.name), "sim %.64s/%u",
	         n->description, s->g->ports[port].num);
	*ret_transport = &p->transport;
	return E_OK;
}

static bool has_work(const struct sim_ports *ports, uint64_t now_ms, uint64_t *ret_next_ms)
{
	*ret_next_ms = UINT64_MAX;
	for (unsigned i = 0; i < ports->n; i++) {
		const struct sim_at_port *p = &ports->at[i];

		if (!p->attached) {
			continue;
		}
		if (p->waiting.first != NULL || p->deadline_ms <= now_ms) {
			return true;
		}
		if (p->deadline_ms < *ret_next_ms) {
			*ret_next_ms = p->deadline_ms;
		}
	}
	return false;
}

void sim_pass(struct sim *s, uint64_t end_ms)
{
	uint64_t next_ms;

	while (!has_work(s->several, s->now_us / 1000, &next_ms)) {
		uint64_t until_ms = next_ms < end_ms ? next_ms : end_ms;

		if (s->now_us >= until_ms * 1000) {
			return;
		}
		pthread_mutex_lock(&s->lock);
		(void)sim_step(s, until_ms * 1000);
		pthread_mutex_unlock(&s->lock);
	}
}

/* --- clients of the SA on hosts --- */

static int find_client(struct sim *s, uint64_t port_guid, struct sim_client **ret_client)
{
	uint32_t port = graph_port_by_guid(s->g, port_guid);
	if (port == GRAPH_NONE) {
		return E_NOTFOUND;
	}
	if (s->ports[port].client == 0) {
		if (VECTOR_RESERVE(s->clients, s->cap_clients, s->n_clients + 1) !=
		    E_OK) {
			return -ENOMEM;
		}
		s->clients[s->n_clients++] = (struct sim_client){ .port = port };
		s->ports[port].client = s->n_clients;
	}
	*ret_client = &s->clients[s->ports[port].client - 1];
	return E_OK;
}

static int client_send(struct sim *s, uint64_t port_guid, const uint8_t *mad, size_t len)
{
	struct sim_client *c;
	int ret = find_client(s, port_guid, &c);
	if (ret != E_OK) {
		return ret;
	}
	const struct port *p = &s->g->ports[c->port];
	struct sim_at at = { .node = p->node, .port = p->num };

	if (!sim_walk_lid(s, &at, sim_sm_lid(s, c->port), sim_pkey_at(s, c->port, 0)) ||
	    sim_end_port(s, &at) != s->sm_port) {
		return E_NOPATH;
	}
	struct mad_buf *m = mad_pool_get(&s->pool, mad, len);
	if (m == NULL) {
		return -ENOMEM;
	}
	m->addr.lid = sim_lid(s, c->port);
	m->addr.qpn = 1;
	m->addr.qkey = UMAD_QKEY;
	return sim_deliver(s, &at, m);
}

int sim_client_send(struct sim *s, uint64_t port_guid, const uint8_t *mad, size_t len)
{
	if (len < sizeof(struct umad_hdr)) {
		return -EINVAL;
	}
	pthread_mutex_lock(&s->lock);
	int ret = client_send(s, port_guid, mad, len);
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->wakeup);
	return ret;
}

static int client_recv(struct sim *s, uint64_t port_guid, const uint8_t **ret_data,
                       size_t *ret_len)
{
	struct sim_client *c;
	int ret = find_client(s, port_guid, &c);
	if (ret != E_OK) {
		return ret;
	}
	mad_pool_put(&s->pool, c->held);
	c->held = mad_list_pop(&c->waiting);
	if (c->held == NULL) {
		return E_TIMEOUT;
	}
	*ret_data = c->held->data;
	*ret_len = c->held->len;
	return E_OK;
}

int sim_client_recv(struct sim *s, uint64_t port_guid, const uint8_t **ret_mad,
                    size_t *ret_len)
{
	pthread_mutex_lock(&s->lock);
	int r = client_recv(s, port_guid, ret_mad, ret_len);
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* --- faults --- */

void sim_set_noise(struct sim *s, const struct sim_noise *noise)
{
	pthread_mutex_lock(&s->lock);
	s->noise = *noise;
	pthread_mutex_unlock(&s->lock);
}

int sim_set_guids(struct sim *s, uint64_t node_guid, uint64_t shown_guid)
{
	uint32_t node = sim_lock_node(s, node_guid);
	uint32_t shown = graph_node_by_guid(s->g, shown_guid);
	if (node == GRAPH_NONE || shown == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	s->nodes[node].guids = shown != node ? shown + 1 : 0;
	s->changes++;
	return sim_unlock(s, E_OK);
}

int sim_set_lid(struct sim *s, uint64_t node_guid, uint8_t port, uint32_t lid)
{
	uint32_t node = sim_lock_node(s, node_guid);
	uint32_t p = node != GRAPH_NONE ? graph_port(s->g, node, port) : GRAPH_NONE;
	if (p == GRAPH_NONE || !graph_is_end_port(s->g, p)) {
		return sim_unlock(s, E_NOTFOUND);
	}
	field_set(s->ports[p].info, PI_LID, lid);
	if (s->opa != NULL) {
		field_set(sim_opa_port(s, p)->info, OPI_LID, lid);
	}
	s->changes++;
	return sim_unlock(s, E_OK);
}

/* --- behind the SM's back --- */

uint64_t sim_bounces(const struct sim *s)
{
	return s->bounces;
}

/* Serves a Get or Set of a node's own agent. The data is that of the answer afterwards. */
static int serve(struct sim *s, uint64_t node_guid, bool set, uint16_t attr,
                 uint32_t attr_mod, uint8_t data[SMP_DATA_BYTES])
{
	uint32_t node = sim_lock_node(s, node_guid);
	if (node == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	struct sim_at at = { .node = node, .port = sim_is_switch(s, node) ? 0 : 1 };
	bool refused = attr == UMAD_SM_ATTR_LINEAR_FT && sim_is_opa_managed(s, node)
	                       ? !sim_opa_lft(s, node, set, attr_mod, data)
	                       : sim_attr(s, &at, set, attr, attr_mod, data) != 0;
	return sim_unlock(s, refused ? E_NOTFOUND : E_OK);
}

int sim_peek(const struct sim *s, uint64_t node_guid, uint16_t attr, uint32_t attr_mod,
             uint8_t *ret_data)
{
	uint8_t data[SMP_DATA_BYTES] = { 0 };
	/* not const, because the functions of the agent also serve Sets; a Get changes nothing */
	int ret = serve((struct sim *)s, node_guid, false, attr, attr_mod, data);

	if (ret == E_OK) {
		memcpy(ret_data, data, sizeof(data));
	}
	return ret;
}

uint32_t sim_peek_lid(const struct sim *s, uint32_t port)
{
	return sim_lid(s, port);
}

uint32_t sim_peek_lft_top(const struct sim *s, uint32_t node)
{
	return sim_is_opa_managed(s, node)
	               ? (uint32_t)field_get(s->opa[node].device->switch_info,
	                                     OSI_LINEAR_FDB_TOP)
	               : (uint32_t)field_get(s->nodes[node].sw_info, SI_LINEAR_FDB_TOP);
}

int sim_poke(struct sim *s, uint64_t node_guid, uint16_t attr, uint32_t attr_mod,
             const uint8_t *data)
{
	uint8_t copy[SMP_DATA_BYTES];

	memcpy(copy, data, sizeof(copy));
	return serve(s, node_guid, true, attr, attr_mod, copy);
}

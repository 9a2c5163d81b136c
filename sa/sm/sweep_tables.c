/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * P_Key and GUID tables of ports: read once, then remembered as long as the port's link
 * stays up and we stay master, for nobody else writes them.
 *
 * End ports have both. An external port of a switch has a P_Key table that matters only
 * while it enforces partitions, so only then it is read. A port that has no such table or
 * does not answer is left alone: the port is as good without.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/sweep_int.h"

/* One request on its way; in the arena of the job. */
struct table_read {
	struct port_block *block;
};

static void on_block(void *ctx, const struct smp_reply *r)
{
	struct table_read *t = ctx;

	if (r->ret == E_OK) {
		memcpy(t->block->data, r->data, PORT_BLOCK_BYTES);
		t->block->known = true;
	} else if (r->ret == E_TIMEOUT) {
		smp_dest_revive(r->dest);
	}
}

static int read_table(struct sweep *s, struct port_tables *t, enum port_table_kind kind,
                      struct smp_dest *dest, uint32_t mod)
{
	int ret = E_OK;

	for (unsigned b = 0; b < t->table[kind].n && ret == E_OK; b++) {
		struct table_read *one;

		if (t->table[kind].block[b].known) {
			continue;
		}
		one = arena_alloc(s->job->arena, sizeof(*one));
		if (one == NULL) {
			return -ENOMEM;
		}
		one->block = &t->table[kind].block[b];
		ret = smp_submit(s->smp,
		                 &(struct smp_request){
					 .dest = dest,
					 .method = UMAD_METHOD_GET,
					 .attr = kind == PORT_GUIDS
		                                         ? UMAD_SM_ATTR_GUID_INFO
		                                         : UMAD_SM_ATTR_PKEY_TABLE,
					 .mod = mod | b,
					 .retries = s->d.config->transaction_retries,
					 .done = on_block,
					 .ctx = one });
	}
	return ret;
}

static unsigned blocks(uint64_t entries, unsigned of_a_block)
{
	return (unsigned)((entries + of_a_block - 1) / of_a_block);
}

/* How many blocks of P_Keys a port has that are worth reading. */
static unsigned p_key_blocks(const struct disc_node *n, const struct disc_port *p)
{
	uint64_t cap = field_get(n->node_info, NI_PARTITION_CAP);

	if (n->type == NODE_SWITCH && p->num != 0) {
		bool enforces = field_get(p->info, PI_PARTITION_ENFORCEMENT_INBOUND) ||
		                field_get(p->info, PI_PARTITION_ENFORCEMENT_OUTBOUND);

		cap = enforces ? field_get(n->switch_info, SI_PARTITION_ENFORCEMENT_CAP)
		               : 0;
	}
	return blocks(cap, PORT_BLOCK_P_KEYS);
}

/* Has the port been restarted since its tables were read? Port 0 has no link to tell:
 * it goes with the other ports, all of them down or training. */
static bool restarted(const struct disc_node *n, const struct disc_port *p)
{
	if (p->num != 0) {
		return field_get(p->info, PI_PORT_STATE) < PORT_ARMED;
	}
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->ports[i].has_info &&
		    field_get(n->ports[i].info, PI_PORT_STATE) >= PORT_ARMED) {
			return false;
		}
	}
	return true;
}

static int read_port(struct sweep *s, const struct disc_node *n,
                     const struct disc_port *p)
{
	bool end_port = n->type != NODE_SWITCH || p->num == 0;
	uint32_t mod = n->type == NODE_SWITCH ? (uint32_t)p->num << 16 : 0;
	unsigned n_guids =
		end_port ? blocks(field_get(p->info, PI_GUID_CAP), PORT_BLOCK_GUIDS) : 0;
	unsigned n_p_keys = p_key_blocks(n, p);
	struct port_tables *t;
	int ret;

	if (n_guids + n_p_keys == 0 &&
	    port_tables_find(&s->port_copies, n->guid, p->num) == NULL) {
		return E_OK;
	}
	t = port_tables_get(&s->port_copies, n->guid, p->num);
	ret = t != NULL ? port_table_size(t, PORT_P_KEYS, n_p_keys) : -ENOMEM;
	if (ret == E_OK) {
		ret = port_table_size(t, PORT_GUIDS, n_guids);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (!s->was_master || restarted(n, p)) {
		port_tables_forget(t);
	}
	ret = read_table(s, t, PORT_P_KEYS, p->dest, mod);
	return ret == E_OK ? read_table(s, t, PORT_GUIDS, p->dest, 0) : ret;
}

int job_read_port_tables(struct sweep *s)
{
	const struct disc *d = &s->job->disc;
	int ret = E_OK;

	for (uint32_t i = 0; i < d->g->n_nodes && ret == E_OK; i++) {
		const struct disc_node *n = d->of[i];

		for (unsigned num = 0; num <= n->n_ports && ret == E_OK; num++) {
			const struct disc_port *p = &n->ports[num];

			if (p->has_info && p->dest != NULL) {
				ret = read_port(s, n, p);
			}
		}
	}
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * One end port after the other: its P_Keys are placed in the table that was read from it, and
 * the blocks that differ are sent. The switch port at the other end of its cable gets the same
 * P_Keys, of each partition one.
 *
 * A port that has no such table is left alone. One that does not answer keeps nobody from
 * coming up, but no path leads to it without its P_Keys, so the sweep reads such tables
 * again.
 *
 * Source: IBA vol. 1, 10.9.3 (P_Key check by end ports and by switches),
 * 14.2.5.7 (P_KeyTable).
 */
#include "sa/sm/sweep/p_keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/p_key.h"
#include "conf/config.h"
#include "conf/policy/partitions.h"
#include "conf/virtual_fabric.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/partition/fabrics.h"
#include "sa/partition/named.h"
#include "sa/partition/plan.h"
#include "sa/partition/runtime.h"
#include "sa/partition/runtime_change.h"
#include "sa/sm/discover/trap.h"
#include "sa/sm/events.h"
#include "sa/sm/sm.h"

enum {
	TABLE_MAX = 65536,
	LINES = 10,
	PAUSE_MAX_MS = 1000
};

static const char *const source = "partitions";

/* The step at work, in the arena of the job. */
struct step {
	struct sm *sm;
	struct job *j;
	struct p_keys *k;
	const struct config *config;
	struct partition_plan plan;
	uint16_t *now, *want, *keys; /* [TABLE_MAX] of the port at work */
	unsigned n_full;             /* ports with too small a table */
};

/* --- what a port is to have ----------------------------------------------------------- */

unsigned p_keys_enforced(const struct config *c, const struct disc *d,
                         const struct disc_node *n, const struct disc_port *p)
{
	const struct graph *g = d->g;
	unsigned can = 0, wanted = c->part_enforce == PART_ENFORCE_BOTH
	                                   ? ENFORCE_IN | ENFORCE_OUT
	                           : c->part_enforce == PART_ENFORCE_IN  ? ENFORCE_IN
	                           : c->part_enforce == PART_ENFORCE_OUT ? ENFORCE_OUT
	                                                                 : 0;
	uint32_t peer;

	if (n->type != NODE_SWITCH || p->num == 0 || c->no_partition_enforcement ||
	    field_get(n->switch_info, SI_PARTITION_ENFORCEMENT_CAP) == 0) {
		return 0;
	}
	peer = g->ports[g->nodes[n->graph_node].first_port + p->num].peer;
	if (peer == GRAPH_NONE || g->nodes[g->ports[peer].node].type == NODE_SWITCH) {
		return 0;
	}
	can |= field_get(n->switch_info, SI_INBOUND_ENFORCEMENT_CAP) ? ENFORCE_IN : 0;
	can |= field_get(n->switch_info, SI_OUTBOUND_ENFORCEMENT_CAP) ? ENFORCE_OUT : 0;
	return wanted & can;
}

int p_keys_configured(const struct config *c, const struct graph *g, struct arena *a,
                      const struct partitions **ret_partitions)
{
	if (c->partitions != NULL && c->partitions->is_file) {
		*ret_partitions = c->partitions;
		return g == NULL ? E_OK : partitions_find_hosts(c->partitions, g, a, ret_partitions);
	}
	return virtual_fabrics_active(c->virtual_fabrics) != 0 && g != NULL
	               ? partitions_of_fabrics(c->virtual_fabrics, g, a, ret_partitions)
	               : partitions_default("", a, ret_partitions);
}

/* The partitions of a configuration, with those that were made at run time, on a fabric. */
static int plan_of(const struct config *c, const struct runtime_partitions *r,
                   const struct graph *g, struct arena *a,
                   struct partition_plan *ret_plan, const struct partitions **ret_p)
{
	const struct partitions *p;
	int ret = p_keys_configured(c, g, a, &p);

	if (ret == E_OK && r->n != 0) {
		ret = runtime_merge(p, r, a, &p);
	}
	ret = ret == E_OK ? partition_plan(p, g, c->allow_both_pkeys, a, ret_plan) : ret;
	*ret_p = ret == E_OK ? p : NULL;
	return ret;
}

static bool is_default(uint16_t key)
{
	return (key & P_KEY_BASE) == PARTITION_DEFAULT;
}

static bool is_opa_adapter(const struct disc_node *n)
{
	return n->type == NODE_CA &&
	       field_get(n->node_info, NI_BASE_VERSION) == OPA_CLASS_VERSION;
}

static bool is_opa_switch(const struct disc_node *n)
{
	return n->type == NODE_SWITCH &&
	       field_get(n->node_info, NI_BASE_VERSION) == OPA_CLASS_VERSION;
}

/* The partition at index 0, which programs use that name none. Adapters of Omni-Path have one there after
 * power-on that nobody may be a member of. The default partition is at index 1 (limited) and 2 (full)
 * there, where its tools and managers look for it, even if index 0 has it, too: so a port that manages can
 * always use the index that it used before. */
static uint16_t index0_of(const struct step *s, uint32_t port, const struct disc_node *n)
{
	uint16_t index0 = s->plan.index0[port];

	return index0 == 0 && is_opa_adapter(n) ? s->keys[0] & P_KEY_BASE : index0;
}

/* P_Keys of an end port. Each adapter of Omni-Path needs the limited P_Key of the default partition, also
 * beside the full one, and a port from which the fabric is managed both. They come last. A switch of Omni-Path
 * has the full one alone. */
static uint32_t keys_of(const struct partition_plan *plan, const struct graph *g,
                        uint32_t port, const struct disc_node *n, uint16_t *ret_keys)
{
	const uint16_t *keys;
	uint32_t n_keys = partition_plan_keys(plan, port, &keys);
	bool full = port == g->sm_port ||
	            (n_keys != 0 && keys[n_keys - 1] == (PARTITION_DEFAULT | P_KEY_FULL));

	memcpy(ret_keys, keys, n_keys * sizeof(*ret_keys));
	if (is_opa_adapter(n) || is_opa_switch(n)) {
		while (n_keys != 0 && is_default(ret_keys[n_keys - 1])) {
			n_keys--;
		}
		if (is_opa_adapter(n)) {
			ret_keys[n_keys++] = PARTITION_DEFAULT;
		}
		if (full || is_opa_switch(n)) {
			ret_keys[n_keys++] = PARTITION_DEFAULT | P_KEY_FULL;
		}
	}
	return n_keys;
}

static unsigned capacity(const struct disc_node *n, const struct disc_port *p)
{
	bool external = n->type == NODE_SWITCH && p->num != 0;

	return (unsigned)(external ? field_get(n->switch_info,
	                                       SI_PARTITION_ENFORCEMENT_CAP)
	                           : field_get(n->node_info, NI_PARTITION_CAP));
}

/* --- reading -------------------------------------------------------------------------- */

/* A port that does not answer is read again by the next sweep. */
static void on_read(void *ctx, const struct table_request *q, const struct smp_reply *r)
{
	struct job *j = ctx;

	(void)q;
	if (r->ret == E_TIMEOUT) {
		j->n_unread++;
		smp_dest_revive(r->dest);
	}
}

/* Reads what is unknown of a table with so many blocks. \param t  Its copy, as the port has it. */
static int read_table(struct job *j, enum table_kind_id kind, struct disc_node *n,
                      const struct disc_port *p, struct table **t, unsigned n_blocks,
                      bool forget)
{
	struct table_request q = { .io = &j->port_reads, .node = n };

	if (n_blocks == 0 && *t == NULL) {
		return E_OK;
	}
	if (*t == NULL || table_size(*t) != n_blocks) {
		*t = table_get(q.io->store, kind, n->guid, p->num, 1, n_blocks);
	}
	q.t = *t;
	if (q.t == NULL) {
		return -ENOMEM;
	}
	if (forget) {
		table_forget(q.t);
	}
	return table_read(&q);
}

/* How many blocks of P_Keys a port has that are worth reading. Those of a switch port that enforces them now count
 * only where no sweep tells it whether to. */
static unsigned p_key_blocks(const struct config *c, const struct disc *d,
                             const struct disc_node *n, const struct disc_port *p)
{
	uint64_t cap = field_get(n->node_info, NI_PARTITION_CAP);

	if (n->type == NODE_SWITCH && p->num != 0) {
		bool enforces =
			program_port_is_set(n, p->num)
				? p_keys_enforced(c, d, n, p) != 0
				: field_get(p->info, PI_PARTITION_ENFORCEMENT_INBOUND) ||
					  field_get(p->info,
		                                    PI_PARTITION_ENFORCEMENT_OUTBOUND);

		cap = enforces ? field_get(n->switch_info, SI_PARTITION_ENFORCEMENT_CAP)
		               : 0;
	}
	return table_blocks_of(cap, PORT_BLOCK_P_KEYS);
}

/* Has the port been restarted since its tables were read? */
static bool restarted(const struct disc_node *n, const struct disc_port *p)
{
	return p->num != 0 ? field_get(p->info, PI_PORT_STATE) < PORT_ARMED
	                   : disc_seems_restarted(n);
}

static int read_port(struct sm *sm, struct job *j, struct disc_node *n,
                     struct disc_port *p, bool forget)
{
	bool end_port = n->type != NODE_SWITCH || p->num == 0;
	unsigned n_guids = end_port ? table_blocks_of(field_get(p->info, PI_GUID_CAP),
	                                              PORT_BLOCK_GUIDS)
	                            : 0;
	unsigned n_keys = p_key_blocks(sm->d.config, &j->disc, n, p);
	int ret;

	forget = forget || restarted(n, p);
	ret = read_table(j, TABLE_P_KEYS, n, p, &p->p_keys, n_keys, forget);
	if (ret != E_OK || (n->copied && !end_port)) {
		return ret; /* it had none when it was read */
	}
	return read_table(j, TABLE_GUIDS, n, p, &p->guids, n_guids, forget);
}

/* All ports of a node. Of one that a local sweep left alone only those that have tables: their blocks may
 * be unknown. */
static int read_node(struct sm *sm, struct job *j, struct disc_node *n, bool forget)
{
	bool old = n->copied && n->asked == 0;
	int ret = E_OK;

	for (unsigned num = 0; num <= (old ? n->last_table : n->n_ports) && ret == E_OK;
	     num++) {
		struct disc_port *p = &n->ports[num];

		if (!n->copied) {
			p->p_keys = table_find(&sm->tables, TABLE_P_KEYS, n->guid, num);
			p->guids = table_find(&sm->tables, TABLE_GUIDS, n->guid, num);
		}
		if (p->has_info && p->dest != NULL &&
		    (!old || p->p_keys != NULL || p->guids != NULL)) {
			ret = read_port(sm, j, n, p, forget);
		}
		if ((p->p_keys != NULL || p->guids != NULL) && num > n->last_table) {
			n->last_table = (uint8_t)num;
		}
	}
	return ret;
}

static int read_vports(struct sm *sm, struct job *j, bool forget)
{
	j->vports_read = (struct vports_read){ .v = &sm->vports,
		                               .smp = sm->smp,
		                               .disc = &j->disc,
		                               .config = sm->d.config,
		                               .arena = j->arena,
		                               .now_ms = sm_now(sm),
		                               .forget = forget || j->read_tables };
	return vports_read(&j->vports_read);
}

int p_keys_read(struct sm *sm, struct job *j, bool forget)
{
	const struct disc *d = &j->disc;
	int ret = read_vports(sm, j, forget);

	j->port_reads = (struct table_io){ .smp = sm->smp,
		                           .store = &sm->tables,
		                           .arena = j->arena,
		                           .retries = sm->d.config->transaction_retries,
		                           .answered = on_read,
		                           .ctx = j };
	for (uint32_t i = 0; i < j->program.n_nodes && ret == E_OK; i++) {
		ret = read_node(sm, j, d->of[j->program.nodes[i]], forget);
	}
	return ret;
}

/* --- sending ------------------------------------------------------------------------ */

/* A port that does not have what it is to have. It may be listed twice. */
static void note_missing(struct p_keys *k, const struct disc *d, uint32_t port,
                         const char *reason)
{
	const struct port *p = &d->g->ports[port];
	struct p_keys_port *to = &k->missing[k->n_missing++];

	if (k->n_missing > P_KEYS_MISSING_MAX) {
		return;
	}
	*to = (struct p_keys_port){ .node_guid = d->of[p->node]->guid, .port = p->num };
	snprintf(to->place, sizeof(to->place), "%s%s",
	         disc_place(d, d->of[p->node], p->num), reason);
}

static void on_keys_set(void *ctx, struct table_request *q, const struct smp_reply *r)
{
	struct p_keys *k = ctx;
	struct program *p = q->io->ctx;

	disc_opa_take_p_keys(p->disc, q->node, r);
	if (r->ret != E_OK) { /* nobody knows what the port would let pass */
		uint32_t port = graph_port(p->disc->g, q->node->graph_node,
		                           table_block_port(q->t, q->block));

		p->enforce[port] = ENFORCE_AS_IT_IS;
		note_missing(k, p->disc, port, "");
	}
}

/* Sends the blocks of s->want that differ from what the port has. It is in wire order then. */
static int send_table(struct step *s, struct disc_node *n, struct table *t)
{
	uint8_t *image = (uint8_t *)s->want;

	for (uint32_t i = 0; i < table_size(t) * PORT_BLOCK_P_KEYS; i++) {
		field_set(image, 16 * i, 16, s->want[i]);
	}
	return table_write(&(struct table_request){ .io = &s->j->program.tables,
	                                            .node = n,
	                                            .t = t,
	                                            .done = on_keys_set,
	                                            .ctx = s->k },
	                   image);
}

/* --- one port ----------------------------------------------------------------------- */

/* Reads s->now out of the copy. \return false: some of it could not be read. */
static bool read_now(struct step *s, const struct table *t)
{
	for (uint32_t i = 0; i < table_size(t) * PORT_BLOCK_P_KEYS; i++) {
		s->now[i] = (uint16_t)field_get(t->data, 16 * i, 16);
	}
	return table_is_known(t);
}

static void report_full_table(struct step *s, const struct disc_node *n, unsigned num,
                              uint32_t n_keys, unsigned cap)
{
	if (s->n_full++ < LINES) {
		log_message(
			MSG_PKEY_TABLE_FULL, source,
			"%s: its P_Key table has %u entries, too few for its %u P_Keys; it gets the first ones, the default partition before others",
			disc_place(&s->j->disc, n, num), cap, n_keys);
	}
}

/* Is a P_Key of a partition that was made or changed at run time among those without a place? Whoever
 * waits for such a change is not concerned by other partitions. */
static bool lacks_runtime(const struct step *s, uint32_t n_keys, unsigned cap)
{
	for (uint32_t i = 0; i < n_keys; i++) {
		unsigned at = 0;

		while (at < cap && s->want[at] != s->keys[i]) {
			at++;
		}
		if (at == cap &&
		    runtime_find(s->sm->runtime, s->keys[i] & P_KEY_BASE) != NULL) {
			return true;
		}
	}
	return false;
}

/* Does a table hold s->keys[n_keys] for sure and nothing else, with the right one at index 0? Then they
 * keep their places. */
static bool holds_keys(const struct step *s, const struct table *t, unsigned cap,
                       uint32_t n_keys, uint16_t index0)
{
	const uint8_t *data = t->data;
	uint32_t n = table_size(t) * PORT_BLOCK_P_KEYS, n_found = 0;
	uint16_t first = 0;

	for (uint32_t i = 0; i < table_size(t); i++) {
		if (!table_is_sure(t, i)) {
			return false;
		}
	}
	for (uint32_t i = 0; index0 != 0 && i < n_keys; i++) {
		first = (s->keys[i] & P_KEY_BASE) == index0 ? s->keys[i] : first;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint16_t key = (uint16_t)(data[2 * i] << 8 | data[2 * i + 1]);
		uint32_t at = 0;

		if (key == 0) {
			continue;
		}
		while (at < n_keys && s->keys[at] != key) {
			at++;
		}
		if (i >= cap || at == n_keys || ++n_found > n_keys ||
		    (key == first && i != 0)) {
			return false;
		}
		for (uint32_t k = 0; k < i; k++) { /* not twice */
			if (data[2 * k] == data[2 * i] &&
			    data[2 * k + 1] == data[2 * i + 1]) {
				return false;
			}
		}
	}
	return n_found == n_keys;
}

/* Brings the table of one port to s->keys[n_keys]. */
static int set_port(struct step *s, uint32_t port, uint32_t n_keys, uint16_t index0)
{
	const struct disc *d = &s->j->disc;
	struct disc_node *n = d->of[d->g->ports[port].node];
	const struct disc_port *p = &n->ports[d->g->ports[port].num];
	struct table *t = p->p_keys;
	unsigned cap = capacity(n, p);

	if (t == NULL || p->dest == NULL || !p->has_info || cap > TABLE_MAX ||
	    cap > table_size(t) * PORT_BLOCK_P_KEYS) {
		return E_OK; /* the port has no such table */
	}
	if (s->config->keep_pkey_indexes && holds_keys(s, t, cap, n_keys, index0)) {
		return E_OK;
	}
	if (!read_now(s, t)) { /* it is read again by the next sweep */
		s->j->program.enforce[port] = ENFORCE_AS_IT_IS;
		note_missing(s->k, d, port, "");
		return E_OK;
	}
	bool opa = is_opa_adapter(n) && cap > OPA_MANAGER_INDEX;
	const uint16_t *now = s->config->keep_pkey_indexes || opa ? s->now : NULL;
	memset(s->want, 0, table_size(t) * (size_t)PORT_BLOCK_P_KEYS * sizeof(*s->want));
	if (opa) {
		s->now[OPA_MEMBER_INDEX] = PARTITION_DEFAULT;
		s->now[OPA_MANAGER_INDEX] = PARTITION_DEFAULT | P_KEY_FULL;
	}
	if (!partition_plan_place(s->keys, n_keys, index0, now, cap, s->want)) {
		report_full_table(s, n, p->num, n_keys, cap);
		if (lacks_runtime(s, n_keys, cap)) {
			note_missing(s->k, d, port, ", whose P_Key table is full");
		}
	}
	if (opa && s->want[OPA_MANAGER_INDEX] == 0 &&
	    s->keys[n_keys - 1] == (PARTITION_DEFAULT | P_KEY_FULL)) {
		s->want[OPA_MANAGER_INDEX] = PARTITION_DEFAULT | P_KEY_FULL;
	}
	return send_table(s, n, t);
}

static void tell_unable(struct step *s, const struct disc_node *n)
{
	if (hash_get(&s->k->reported, n->guid) == HASH_NONE &&
	    hash_put(&s->k->reported, n->guid, 0) == E_OK) {
		log_message(
			MSG_PKEY_NOT_ENFORCED, source,
			"%s cannot enforce partitions at all or in the direction that part_enforce names: hosts at it are kept apart only by their own P_Key tables",
			disc_place(&s->j->disc, n, 0));
	}
}

/* The switch port at the other end of the cable; GRAPH_NONE: none that could enforce. */
static uint32_t enforcing_peer(const struct step *s, uint32_t port)
{
	const struct graph *g = s->j->disc.g;
	uint32_t peer = g->ports[port].peer;

	return peer != GRAPH_NONE && g->nodes[g->ports[peer].node].type == NODE_SWITCH &&
	                       !s->config->no_partition_enforcement &&
	                       s->config->part_enforce != PART_ENFORCE_OFF
	               ? peer
	               : GRAPH_NONE;
}

static unsigned enforced_at(const struct step *s, uint32_t port)
{
	const struct disc *d = &s->j->disc;
	const struct disc_node *n = d->of[d->g->ports[port].node];

	return p_keys_enforced(s->config, d, n, &n->ports[d->g->ports[port].num]);
}

static int set_peer(struct step *s, uint32_t port, uint32_t n_keys)
{
	const struct disc *d = &s->j->disc;
	const struct config *c = s->config;
	uint32_t peer = enforcing_peer(s, port);
	const struct disc_node *n;

	if (peer == GRAPH_NONE) {
		return E_OK;
	}
	n = d->of[d->g->ports[peer].node];
	unsigned enforced = s->j->program.enforce[peer];
	unsigned wanted = c->part_enforce == PART_ENFORCE_BOTH ? ENFORCE_IN | ENFORCE_OUT
	                                                       : enforced;
	if (enforced == 0 || enforced != wanted) {
		tell_unable(s, n);
	}
	if (enforced == 0) {
		return E_OK;
	}
	n_keys = partition_plan_enforced(s->keys, n_keys, s->keys);
	return set_port(s, peer, n_keys, s->plan.index0[port]);
}

/* The P_Keys of an end port and of its peer. */
static int set_end_port(struct step *s, uint32_t port)
{
	const struct graph *g = s->j->disc.g;
	const struct disc_node *n = s->j->disc.of[g->ports[port].node];
	uint32_t n_keys = keys_of(&s->plan, g, port, n, s->keys);
	int ret = set_port(s, port, n_keys, index0_of(s, port, n));

	return ret == E_OK ? set_peer(s, port, n_keys) : ret;
}

/* Does a node, or the switch that it hangs on, have to be looked at? Between sweeps all do. */
static bool is_looked_at(const struct step *s, uint32_t port)
{
	const struct program *p = &s->j->program;
	const struct graph *g = s->j->disc.g;
	uint32_t peer = g->ports[port].peer;

	return p->look == NULL || p->look[g->ports[port].node] ||
	       (peer != GRAPH_NONE && p->look[g->ports[peer].node]);
}

static int program_all(struct p_keys *k, struct sm *sm, struct job *j, struct arena *a)
{
	const struct graph *g = j->disc.g;
	struct step s = { .sm = sm, .j = j, .k = k, .config = sm->d.config };
	int ret = plan_of(s.config, sm->runtime, g, a, &s.plan, &j->partitions);

	k->n_missing = 0;
	k->at_work = sm->runtime->version;
	j->partition_ports = (const uint32_t(*)[2])s.plan.ports;
	s.now = arena_array(a, TABLE_MAX, sizeof(*s.now));
	s.want = arena_array(a, TABLE_MAX, sizeof(*s.want));
	s.keys = arena_array(a, TABLE_MAX, sizeof(*s.keys));
	j->program.enforce = arena_array(a, g->n_ports + 1, sizeof(*j->program.enforce));
	j->program.tables.arena = a;
	if (s.now == NULL || s.want == NULL || s.keys == NULL ||
	    j->program.enforce == NULL) {
		return -ENOMEM;
	}
	j->vports_program = (struct vports_program){ .v = &sm->vports,
		                                     .program = &j->program,
		                                     .arena = a,
		                                     .n_unread = &j->n_unread };
	if (ret == E_OK) {
		vports_check_partitions(&sm->vports, j->partitions);
	}
	for (uint32_t i = 0; i < g->n_end_ports && ret == E_OK; i++) {
		uint32_t peer = enforcing_peer(&s, g->end_ports[i]);

		if (peer != GRAPH_NONE) {
			j->program.enforce[peer] = (uint8_t)enforced_at(&s, peer);
		}
		if (is_looked_at(&s, g->end_ports[i])) {
			ret = set_end_port(&s, g->end_ports[i]);
		}
	}
	return ret;
}

int p_keys_start(struct p_keys *k, struct sm *sm, struct job *j)
{
	(void)sm_read_runtime(sm); /* another master may have changed them */
	return program_all(k, sm, j, j->arena);
}

void p_keys_published(struct p_keys *k)
{
	k->settled = k->at_work;
}

/* --- changes at run time -------------------------------------------------------------- */

bool p_keys_changed(const struct p_keys *k, const struct sm *sm)
{
	return sm->runtime->version != k->at_work;
}

void p_keys_change_start(struct p_keys *k, struct sm *sm)
{
	struct job *j = sm->job;
	struct program *p = &j->program;
	struct arena *a = arena_new();

	k->began = sm_now(sm);
	sm->settled = false; /* what switch ports enforce may not be what it was */
	p->n_timeouts = p->n_refused = p->tables.n_sets[TABLE_P_KEYS] = 0;
	p->first_trouble = NULL;
	p->look = NULL; /* any port may get others */
	p->ret = a != NULL ? program_all(k, sm, j, a) : -ENOMEM;
	if (a != NULL) { /* what the job has of the step before is not used any more */
		arena_free(j->partition_arena);
		j->partition_arena = a;
	}
}

bool p_keys_change_end(struct p_keys *k, struct sm *sm)
{
	const struct program *p = &sm->job->program;
	uint64_t now = sm_now(sm), took = now - k->began;

	k->next = now + (took < PAUSE_MAX_MS ? took : PAUSE_MAX_MS);
	if (p->ret != E_OK) {
		sm_request_heavy(sm, "partitions: %s", err_text(p->ret));
		return false;
	}
	if (p->n_timeouts != 0 && k->n_missing <= P_KEYS_MISSING_MAX) {
		uint64_t suspects[P_KEYS_MISSING_MAX];

		for (uint32_t i = 0; i < k->n_missing; i++) {
			suspects[i] = k->missing[i].node_guid;
		}
		sm_request_local(sm, suspects, k->n_missing, "%s", p->first_trouble);
	} else if (p->n_timeouts != 0) {
		sm_request_heavy(sm, "%s", p->first_trouble);
	} else if (p->first_trouble != NULL) {
		log_message(MSG_PKEY_NOT_SET, source, "%s", p->first_trouble);
	}
	log_info(source,
	         "version %" PRIu64 ": sent %u blocks of P_Keys in %" PRIu64 " ms",
	         k->at_work, p->tables.n_sets[TABLE_P_KEYS], took);
	return true;
}

void p_keys_done(struct p_keys *k)
{
	hash_done(&k->reported);
	hash_done(&k->violations);
}

/* --- what fits ------------------------------------------------------------------------ */

struct fitting {
	const struct config *config;
	const struct disc *d;
	struct partition_plan plan;
	uint16_t *keys; /* [TABLE_MAX] */
	char *why;
	size_t size;
};

static int check_capacity(const struct fitting *f, uint32_t port, uint32_t n_keys)
{
	const struct port *p = &f->d->g->ports[port];
	const struct disc_node *n = f->d->of[p->node];
	unsigned cap = capacity(n, &n->ports[p->num]);

	if (n_keys <= cap) {
		return E_OK;
	}
	snprintf(
		f->why, f->size,
		"the P_Key table of %s port %u (0x%016llx) has %u entries, too few for %u P_Keys",
		node_name(&f->d->g->nodes[p->node]), p->num,
		(unsigned long long)(graph_is_end_port(f->d->g, port) ? p->guid
	                                                              : n->guid),
		cap, n_keys);
	return E_FULL;
}

/* An end port, and the switch port that enforces its partitions. */
static int check_fit(const struct fitting *f, uint32_t port)
{
	const struct graph *g = f->d->g;
	uint32_t n_keys =
		keys_of(&f->plan, g, port, f->d->of[g->ports[port].node], f->keys);
	uint32_t peer = g->ports[port].peer;
	const struct disc_node *n =
		peer != GRAPH_NONE ? f->d->of[g->ports[peer].node] : NULL;
	int ret = check_capacity(f, port, n_keys);

	if (ret == E_OK && n != NULL && n->type == NODE_SWITCH &&
	    p_keys_enforced(f->config, f->d, n, &n->ports[g->ports[peer].num]) != 0) {
		n_keys = partition_plan_enforced(f->keys, n_keys, f->keys);
		ret = check_capacity(f, peer, n_keys);
	}
	return ret;
}

int p_keys_fit(const struct sm *sm, const struct config *c,
               const struct runtime_partitions *r, const struct runtime_change *only,
               char *why, size_t size)
{
	const struct job *j = sm_known_job(sm);
	struct arena *a = arena_new();
	struct fitting f = { .config = c, .why = why, .size = size };
	const struct partitions *p;
	int ret = a != NULL ? E_OK : -ENOMEM;

	if (j == NULL || ret != E_OK) {
		arena_free(a);
		return ret;
	}
	f.d = &j->disc;
	f.keys = arena_array(a, TABLE_MAX, sizeof(*f.keys));
	ret = f.keys != NULL ? plan_of(c, r, f.d->g, a, &f.plan, &p) : -ENOMEM;
	for (uint32_t i = 0; only == NULL && i < f.d->g->n_end_ports && ret == E_OK;
	     i++) {
		ret = check_fit(&f, f.d->g->end_ports[i]);
	}
	for (uint32_t i = 0; only != NULL && i < only->n_members && ret == E_OK; i++) {
		uint32_t port = graph_port_by_guid(f.d->g, only->members[i].guid);

		ret = port != GRAPH_NONE ? check_fit(&f, port) : E_OK;
	}
	arena_free(a);
	return ret;
}

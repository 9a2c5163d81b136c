/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Of a local sweep the nodes that were asked or set since the last publish have other rows, those of
 * which a table changed, and those cabled to them; all others keep theirs. Longer than most: it has a
 * function for each attribute.
 */
#include "sa/sm/publish/publish.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/vector.h"
#include "conf/policy/partitions.h"
#include "conf/policy/prefix_routes.h"
#include "conf/policy/qos_policy.h"
#include "db/state/state.h"
#include "routing/engine_options.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/sm/manager/election.h"
#include "sa/sm/policy/policy_compile.h"
#include "sa/sm/program/opa_lanes.h"
#include "sa/sm/program/program_opa.h"
#include "sa/sm/publish/publish_int.h"
#include "sa/sm/sm.h"

enum { SL_LINES = 10 };

static const char *const source = "sweep";

/* A publish at work. */
struct publishing {
	struct publisher *p;
	struct job *j;
	bool state_failed; /* no number for a new epoch */
};

/* --- payloads ----------------------------------------------------------------------------
 *
 * By attribute, then GUID (the order of the graph), then port and block, as the snapshot
 * wants them. Those of Omni-Path's layout follow (publish_opa.c).
 */

void publish_attr(struct attr_list *l, uint64_t guid, uint16_t attr, uint32_t block,
                  const uint8_t *data, size_t len)
{
	if (l->ret != E_OK) {
		return;
	}
	l->ret = ARENA_RESERVE(l->a, l->items, l->n, l->cap, l->n + 1);
	if (l->ret != E_OK) {
		return;
	}
	l->items[l->n++] = (struct snap_attr){ guid, attr, block, data, (uint16_t)len };
}

static void put_node(struct attr_list *l, const struct disc_node *n, uint16_t attr)
{
	if (attr != UMAD_SM_ATTR_SWITCH_INFO || n->type == NODE_SWITCH) {
		publish_attr(l, n->guid, attr, 0,
		             attr == UMAD_SM_ATTR_NODE_DESC   ? n->description
		             : attr == UMAD_SM_ATTR_NODE_INFO ? n->node_info
		                                              : n->switch_info,
		             64);
	}
}

/* The M_Key stays with the subnet manager: whoever reads the snapshot could change any port. */
static void put_port_info(struct attr_list *l, const struct disc_node *n, uint16_t attr)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		const uint8_t *info = n->ports[i].info;
		uint8_t *shown;

		if (!n->ports[i].has_info) {
			continue;
		}
		if (field_get(info, PI_M_KEY) != 0) {
			shown = arena_alloc(l->a, SMP_DATA_BYTES);
			if (shown == NULL) {
				l->ret = -ENOMEM;
				return;
			}
			memcpy(shown, info, SMP_DATA_BYTES);
			field_set(shown, PI_M_KEY, 0);
			info = shown;
		}
		publish_attr(l, n->guid, attr, i, info, SMP_DATA_BYTES);
	}
}

/* Blocks of the P_Key or GUID tables. */
static void put_blocks(struct attr_list *l, const struct disc_node *n, uint16_t attr)
{
	bool guids = attr == UMAD_SM_ATTR_GUID_INFO;

	for (unsigned i = 0; i <= n->last_table; i++) {
		const struct table *t = guids ? n->ports[i].guids : n->ports[i].p_keys;

		for (unsigned b = 0; t != NULL && b < table_size(t); b++) {
			if (table_knows(t, b)) {
				publish_attr(l, n->guid, attr, i << (guids ? 8 : 16) | b,
				             table_block(t, b), TABLE_BLOCK_BYTES);
			}
		}
	}
}

/* One row per egress port: the tables of all ingress ports one behind the other, or one table
 * if they are all the same. */
static void put_sl2vl(struct attr_list *l, const struct disc_node *n, uint16_t attr)
{
	const struct table *t = table_find_egress(&l->p->sm->tables, TABLE_SL2VL, n);

	for (unsigned out = 0; t != NULL && out < t->rows; out++) {
		const uint8_t *first = table_block(t, table_at(t, out, 0));
		bool known = false, same = true;

		for (unsigned in = 0; in < t->cols; in++) {
			uint32_t block = table_at(t, out, in);

			known |= table_knows(t, block);
			same &= memcmp(table_block(t, block), first, SL2VL_BYTES) == 0;
		}
		if (known) {
			publish_attr(l, n->guid, attr, out, first,
			             (same ? 1 : t->cols) * (size_t)SL2VL_BYTES);
		}
	}
}

/* All four blocks of every port, because clients ask for each. A block that the port does not
 * have, or that was never set or read, is empty. */
static void put_arb(struct attr_list *l, const struct disc_node *n, uint16_t attr)
{
	const struct table *t = table_find_egress(&l->p->sm->tables, TABLE_VL_ARB, n);

	for (unsigned out = n->type == NODE_SWITCH ? 0 : 1; t != NULL && out < t->rows;
	     out++) {
		for (unsigned b = 0; b < VL_ARB_BLOCKS; b++) {
			publish_attr(l, n->guid, attr, out << 8 | (b + 1),
			             table_block(t, table_at(t, out, b)),
			             TABLE_BLOCK_BYTES);
		}
	}
}

/* Of Omni-Path, in InfiniBand's blocks. */
static void put_opa_mft(struct attr_list *l, const struct disc_node *n, uint16_t attr)
{
	const struct table *t = table_find(&l->p->sm->tables, TABLE_OPA_MFT, n->guid, 0);
	uint32_t n_numbers =
		t != NULL ? table_blocks_of(t->cols * OPA_MFT_MLIDS, MFT_BLOCK_MLIDS) : 0;

	for (unsigned pos = 0; pos <= n->n_ports / MFT_POSITION_PORTS; pos++) {
		for (uint32_t i = 0; i < n_numbers; i++) {
			uint8_t *block = arena_alloc(l->a, TABLE_BLOCK_BYTES);

			if (block == NULL) {
				l->ret = -ENOMEM;
				return;
			}
			if (program_opa_mft_shape(t, pos, i, block)) {
				publish_attr(l, n->guid, attr,
				             table_kind_mod(TABLE_MFT, n, 0, pos, i),
				             block, TABLE_BLOCK_BYTES);
			}
		}
	}
}

static void put_mft(struct attr_list *l, const struct disc_node *n, uint16_t attr)
{
	if (n->opa_switch_info != NULL) {
		put_opa_mft(l, n, attr);
		return;
	}
	const struct table *t = table_find(&l->p->sm->tables, TABLE_MFT, n->guid, 0);

	for (uint32_t i = 0; t != NULL && n->type == NODE_SWITCH && i < table_size(t);
	     i++) {
		if (table_knows(t, i)) {
			publish_attr(l, n->guid, attr, table_mod(n, t, i),
			             table_block(t, i), TABLE_BLOCK_BYTES);
		}
	}
}

/* SMInfo of this subnet manager and of the others, without the keys, which are secret. */
static void put_sm_info(struct attr_list *l, const struct disc_node *n, uint16_t attr)
{
	const struct graph *g = l->job->disc.g;
	const struct port *own = &g->ports[g->sm_port];

	for (unsigned i = 0; i <= n->n_ports; i++) {
		uint8_t *info = n->ports[i].sm_info;

		if (g->nodes[own->node].guid == n->guid && own->num == i) {
			info = arena_alloc(l->a, SMP_DATA_BYTES);
			if (info == NULL) {
				l->ret = -ENOMEM;
				return;
			}
			election_sm_info(l->p->election, info);
			field_set(info, SMI_ACT_COUNT, 0);
		}
		if (info != NULL) {
			field_set(info, SMI_SM_KEY, 0);
			publish_attr(l, n->guid, attr, i, info, SMP_DATA_BYTES);
		}
	}
}

/* In the order of their numbers. */
static const struct {
	uint16_t attr;
	void (*put)(struct attr_list *l, const struct disc_node *n, uint16_t attr);
} payloads[] = {
	{ UMAD_SM_ATTR_NODE_DESC, put_node },
	{ UMAD_SM_ATTR_NODE_INFO, put_node },
	{ UMAD_SM_ATTR_SWITCH_INFO, put_node },
	{ UMAD_SM_ATTR_GUID_INFO, put_blocks },
	{ UMAD_SM_ATTR_PORT_INFO, put_port_info },
	{ UMAD_SM_ATTR_PKEY_TABLE, put_blocks },
	{ UMAD_SM_ATTR_SLVL_TABLE, put_sl2vl },
	{ UMAD_SM_ATTR_VL_ARB_TABLE, put_arb },
	{ UMAD_SM_ATTR_MCAST_FT, put_mft },
	{ UMAD_SM_ATTR_SM_INFO, put_sm_info },
};

static int list_attrs(const struct publisher *p, const struct job *j, struct arena *a,
                      struct snap_content *c)
{
	const struct graph *g = j->disc.g;
	struct attr_list l = { .p = p, .job = j, .a = a };

	for (size_t k = 0; k < sizeof(payloads) / sizeof(payloads[0]); k++) {
		size_t n = c->changed != NULL ? c->n_changed : g->n_nodes;

		for (size_t i = 0; i < n; i++) {
			payloads[k].put(
				&l, j->disc.of[c->changed != NULL ? c->changed[i] : i],
				payloads[k].attr);
		}
	}
	publish_opa_tables(&l, c->changed, c->n_changed);
	publish_opa_refused(&l);
	publish_opa_groups(&l, c->changed, c->n_changed);
	c->attrs = l.items;
	c->n_attrs = l.n;
	return l.ret;
}

/* --- virtual ports ------------------------------------------------------------------------ */

static int compare_hosts(const void *x, const void *y)
{
	const struct vport_host *a = *(struct vport_host *const *)x;
	const struct vport_host *b = *(struct vport_host *const *)y;

	return a->node_guid != b->node_guid ? (a->node_guid > b->node_guid ? 1 : -1)
	                                    : (int)a->num - (int)b->num;
}

static void put_vport(const struct vport_host *h, const struct vport *v,
                      struct snap_vport_row *ret_vport_row)
{
	*ret_vport_row =
		(struct snap_vport_row){ .v = { .guid = v->guid,
		                                .node_guid = v->node_guid,
		                                .host_guid = h->node_guid,
		                                .lid = v->lid,
		                                .index = v->index,
		                                .port = h->num,
		                                .state = v->state,
		                                .own_lid = v->own_lid },
		                         .port = h->port };
	memcpy(ret_vport_row->v.description, v->description,
	       sizeof(ret_vport_row->v.description));
}

static int list_vports(const struct vports *v, struct arena *a, struct snap_content *c)
{
	struct vport_host **hosts = arena_array(a, v->n_hosts + 1, sizeof(*hosts));
	struct snap_vport_row *row;
	uint32_t n_hosts = 0;
	size_t n = 0;

	for (uint32_t i = 0; hosts != NULL && i < v->n_hosts; i++) {
		if (v->hosts[i]->port != GRAPH_NONE && v->hosts[i]->n != 0) {
			hosts[n_hosts++] = v->hosts[i];
			n += v->hosts[i]->n;
		}
	}
	row = arena_array(a, n + 1, sizeof(*row));
	if (hosts == NULL || row == NULL) {
		return -ENOMEM;
	}
	if (n_hosts != 0) {
		qsort(hosts, n_hosts, sizeof(*hosts), compare_hosts);
	}
	for (uint32_t i = 0; i < n_hosts; i++) {
		for (uint32_t k = 0; k < hosts[i]->n; k++) {
			if (!hosts[i]->list[k].refused) {
				put_vport(hosts[i], &hosts[i]->list[k],
				          &row[c->n_vports++]);
			}
		}
	}
	c->vports = row;
	return E_OK;
}

/* --- the epoch ---------------------------------------------------------------------------- */

static uint64_t digest_policy(const struct policy *p)
{
	const struct policy_head *h = &p->head;
	uint64_t d = digest_bytes(1, h, sizeof(*h));

	d = digest_bytes(d, p->levels, h->n_levels * sizeof(*p->levels));
	d = digest_bytes(d, p->rules, h->n_rules * sizeof(*p->rules));
	d = digest_bytes(d, p->ranges, h->n_ranges * sizeof(*p->ranges));
	d = digest_bytes(d, p->fabrics, h->n_fabrics * sizeof(*p->fabrics));
	d = digest_bytes(d, p->ids, h->n_ids * sizeof(*p->ids));
	return digest_bytes(d, p->sets,
	                    (size_t)p->n_sets * POLICY_SETS * h->words *
	                            sizeof(*p->sets));
}

/* --- content ------------------------------------------------------------------------------ */

/* Effective options without the keys, which readers of the snapshot must not know. malloc;
 * NULL: out of memory. */
static char *options_text(const struct sweep_deps *d, struct arena *a)
{
	struct config public = *d->config;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret;

	if (f == NULL) {
		return NULL;
	}
	public.m_key = 0;
	public.sm_key = 0;
	public.sa_key = 0;
	ret = config_dump(&public, d->engines != NULL ? &d->engines->sets : NULL, a,
	                  false, f);
	if (fclose(f) != 0 || ret != E_OK) {
		free(text);
		return NULL;
	}
	return text;
}

_Static_assert((int)LIFE_TIMES_MAX == (int)SNAP_HOPS_MAX, "life times by hops");

/* SLs other than 0 that no port drops, as bits; none where the routing uses several VLs. */
static uint16_t free_sls(const struct program *p)
{
	uint16_t sls = 0;

	if (p->opa != NULL) {
		return p->qos && lanes_vls(p->lanes) <= 1 ? (uint16_t)(p->opa->sls & ~1U)
		                                          : 0;
	}
	for (unsigned sl = 1; p->qos && lanes_vls(p->lanes) <= 1 && sl < QOS_SLS; sl++) {
		bool dropped = false;

		for (unsigned i = QOS_CA; i < QOS_CLASS_COUNT; i++) {
			dropped |= p->qos_setup[i].sl2vl[sl] == QOS_VL_DROP;
		}
		sls |= (uint16_t)(!dropped << sl);
	}
	return sls;
}

/* Multicast LIDs that every switch with multicast tables can hold. */
static uint16_t multicast_fdb_cap(const struct disc *d)
{
	uint16_t least = 0;

	for (uint32_t i = 0; i < d->g->n_switches; i++) {
		uint16_t cap = (uint16_t)field_get(d->of[d->g->switches[i]]->switch_info,
		                                   SI_MULTICAST_FDB_CAP);

		least = cap != 0 && (least == 0 || cap < least) ? cap : least;
	}
	return least;
}

static void fill_content(const struct publisher *p, const struct job *j,
                         struct snap_content *c)
{
	const struct sweep_deps *d = &p->sm->d;
	const struct config *conf = d->config;

	c->computed_at = sm_wall_clock(p->sm);
	c->g = j->disc.g;
	c->lids = j->program.lids;
	c->vport_hop_limit = (uint8_t)conf->virt_default_hop_limit;
	c->vport_records = conf->enable_virt_rec_ext;
	c->route = &j->route;
	c->routed = j->request.g;
	c->subnet_prefix = conf->subnet_prefix;
	c->sm_port_guid = j->disc.g->ports[j->disc.g->sm_port].guid;
	c->sm_lid = j->program.sm_lid;
	c->sm_priority = election_priority(p->election);
	c->sm_state = p->election->state;
	c->packet_life_time = (uint8_t)conf->subnet_timeout;
	if (conf->path_life_times != NULL) {
		(void)life_times_parse(conf->path_life_times, c->life_time_by_hops);
	}
	c->prefix_routes = conf->prefix_routes;
	c->partitions = j->partitions;
	c->partition_ports = j->partition_ports;
	c->path_selection = (uint8_t)conf->path_selection;
	c->free_sls = free_sls(&j->program);
	c->qos = j->program.qos;
	c->sa_key = conf->sa_key;
	c->multicast_fdb_cap = multicast_fdb_cap(&j->disc);
	memcpy(c->stage, j->stage, sizeof(c->stage));
	c->n_stages = j->n_stages;
}

/* Names partitions whose SL no path can have, when that changes. */
static void log_partition_sls(struct publisher *p, const struct snap_content *c,
                              const struct lanes *lanes)
{
	const struct partitions *list = c->partitions;
	bool ruled = c->qos && lanes->rule != NULL;
	uint64_t now = digest_add(1, (uint64_t)c->free_sls << 2 | ruled << 1 | c->qos);
	unsigned n = 0;

	for (uint32_t i = 0; list != NULL && i < list->n; i++) {
		now = digest_add(now,
		                 (uint64_t)list->all[i].p_key << 8 | list->all[i].sl);
	}
	for (uint32_t i = 0; list != NULL && i < list->n && now != p->sls_logged; i++) {
		const struct partition *t = &list->all[i];

		if (t->sl == 0 || ruled || c->free_sls >> t->sl & 1 || n++ >= SL_LINES) {
			continue;
		}
		log_message(
			MSG_QOS_SL_UNUSED, source,
			"SL %u of partition 0x%04x %s has no effect on paths: %s", t->sl,
			t->p_key, t->name,
			c->qos ? "ports drop it, or the routing takes SLs for its lanes"
			       : "qos is FALSE");
	}
	p->sls_logged = now;
}

/* Logs warnings about the policy when it changes, not in each sweep. */
static void log_policy(struct publisher *p, const struct policy *policy,
                       const struct diags *d)
{
	const struct config *c = p->sm->d.config;
	uint64_t now = policy != NULL ? digest_policy(policy) : 1;
	bool fabrics = policy != NULL && policy->head.kind == POLICY_EACH;
	char place[DIAG_PLACE_MAX];

	if (p->policy_logged == now) {
		return;
	}
	p->policy_logged = now;
	for (unsigned i = 0; i < d->n; i++) {
		log_message(MSG_QOS_POLICY_LINE, source, "%s%s",
		            diag_place(&d->items[i], place, sizeof(place)),
		            d->items[i].text);
	}
	if (fabrics && c->qos_policy != NULL &&
	    c->qos_policy->default_level != QOS_LEVEL_NONE) {
		log_message(
			MSG_QOS_POLICY_UNUSED, source,
			"qos_policy_file has no effect: virtual fabrics say what paths get");
	}
	if (fabrics) {
		log_info(
			source, "%u virtual fabrics; %s", policy->head.n_fabrics,
			c->partitions != NULL && c->partitions->is_file
				? "ports have the P_Keys of partition_config_file, not theirs: where the tables of two ports do not both hold one, paths have a P_Key that they share"
				: "their members have their P_Keys");
	} else if (policy == NULL && policy_needs_qos(c->qos_policy, NULL)) {
		log_message(MSG_QOS_POLICY_UNUSED, source,
		            "qos_policy_file has no effect: qos is FALSE");
	}
}

static int compile_policy(struct publisher *p, const struct job *j, struct arena *a,
                          struct snap_content *c)
{
	const struct config *conf = p->sm->d.config;
	struct diags *d = arena_alloc(a, sizeof(*d));
	struct policy_in in = { .g = j->disc.g,
		                .attrs = c->attrs,
		                .n_attrs = c->n_attrs,
		                .lanes = &j->route.out.lanes,
		                .free_sls = c->free_sls,
		                .qos = j->program.qos,
		                .enforce = conf->enforce_vf_path_record,
		                .policy = conf->qos == QOS_OFF ? NULL : conf->qos_policy,
		                .fabrics = conf->virtual_fabrics,
		                .d = d };
	int ret;

	if (d == NULL) {
		return -ENOMEM;
	}
	diags_init(d, a);
	ret = policy_compile(&in, a, &c->policy);
	if (ret == E_OK) {
		log_policy(p, c->policy, d);
	}
	return ret;
}

/* --- publish ------------------------------------------------------------------------------ */

static double stage_seconds(const struct job *j, const char *name)
{
	double seconds = 0;

	for (unsigned i = 0; i < j->n_stages; i++) {
		seconds += strcmp(j->stage[i].name, name) == 0 ? j->stage[i].seconds : 0;
	}
	return seconds;
}

/* Once for each job: it is published several times. */
static void note_transition(struct publisher *p, struct job *j)
{
	const struct transition *t = &j->transition;

	if (j->noted || t->stage == NULL || t->changed == 0) {
		return;
	}
	j->noted = true;
	p->reason = t->why;
	p->transition = (struct snap_transition){
		.epoch = p->epoch,
		.changed = t->changed,
		.stages = t->n_stages,
		.withdrawn = t->withdrawn,
		.may_loop = t->may_loop,
		.credit_loops = t->credit_loops,
		.blocks = j->program.tables.n_sets[TABLE_LFT],
		.safe = !j->unsafe,
		.seconds_plan = j->seconds_transition,
		.seconds_send = stage_seconds(j, "tables"),
		.reason = p->reason.text,
	};
}

/* snap_content.choose_epoch: the first publish of a process is a new epoch, and one after
 * a failure, too. */
static int choose_epoch(void *ctx, bool differs, struct snap_content *c)
{
	struct publishing *x = ctx;
	struct publisher *p = x->p;
	int ret = E_OK;

	if (differs || !p->current) {
		ret = state_next_epoch(p->sm->d.state, snap_epoch(p->sm->d.snap),
		                       &p->epoch);
		x->state_failed = ret != E_OK;
	}
	if (ret == E_OK) {
		note_transition(p, x->j);
		c->transition = p->transition;
		c->epoch = p->epoch;
	}
	return ret;
}

static void mark_port(const struct job *j, uint32_t port, uint8_t *is)
{
	is[j->disc.g->ports[port].node] = 1;
}

/* Marks nodes that changed since the last publish, and those that are cabled to them,
 * because ports have the rate of the slower end. Also our own one, which has our SMInfo.
 */
static void mark_changed(const struct publisher *p, const struct job *j, uint8_t *is)
{
	const struct disc *d = &j->disc;
	const struct graph *g = d->g;

	for (uint32_t i = 0; i < d->n_changed; i++) {
		uint32_t at = d->changed[i]->graph_node;
		const struct node *n = at != GRAPH_NONE ? &g->nodes[at] : NULL;

		if (n == NULL) {
			continue;
		}
		is[at] = 1;
		for (unsigned num = 1; num <= n->n_ports; num++) {
			uint32_t peer = g->ports[n->first_port + num].peer;

			if (peer != GRAPH_NONE) {
				mark_port(j, peer, is);
			}
		}
	}
	for (uint32_t i = 0; i < p->sm->tables.n_changed; i++) {
		uint32_t at = graph_node_by_guid(g, p->sm->tables.changed[i]->guid);

		if (at != GRAPH_NONE) {
			is[at] = 1;
		}
	}
	for (size_t i = 0; i < j->lids.n_moved; i++) {
		mark_port(j, j->lids.moved[i], is);
	}
	/* A port that does not show its LID may have had another one at the last publish.
	 */
	for (uint32_t i = 0; !j->program.only_changed && i < g->n_end_ports; i++) {
		const struct disc_port *dp = disc_port_of(d, g->end_ports[i]);
		const struct lid_range *r = &j->program.lids->of[g->end_ports[i]];

		if (disc_lid(dp) != r->base || field_get(dp->info, PI_LMC) != r->lmc) {
			mark_port(j, g->end_ports[i], is);
		}
	}
	mark_port(j, g->sm_port, is);
}

static int list_marked(const struct graph *g, const uint8_t *is, struct arena *a,
                       struct snap_content *c)
{
	uint32_t *changed = arena_array(a, g->n_nodes, sizeof(*changed));

	for (uint32_t i = 0; changed != NULL && i < g->n_nodes; i++) {
		if (is[i]) {
			changed[c->n_changed++] = i;
		}
	}
	c->changed = changed;
	return changed != NULL ? E_OK : -ENOMEM;
}

/* After a local sweep, whose predecessor was published, because another one would be
 * heavy. Virtual ports and policies are about all nodes, and so are nodes that were refused, when
 * they are others. */
static int list_changed(const struct publisher *p, const struct job *j, struct arena *a,
                        struct snap_content *c)
{
	const struct config *conf = p->sm->d.config;
	uint8_t *is = arena_array(a, j->disc.g->n_nodes, 1);
	int ret;

	if (!j->disc.local || !p->current || j->disc.any_changed ||
	    p->sm->tables.any_changed || p->sm->vports.n_hosts != 0 ||
	    p->refused != publish_opa_refused_digest(&j->disc) ||
	    conf->qos_policy != NULL || conf->virtual_fabrics != NULL) {
		return E_OK;
	}
	if (is == NULL) {
		return -ENOMEM;
	}
	mark_changed(p, j, is);
	ret = list_marked(j->disc.g, is, a, c);
	c->gone = j->disc.gone;
	c->n_gone = j->disc.n_gone;
	if (j->route.incremental) {
		c->changed_lid = j->route.touched_lid;
		c->n_changed_lids = j->route.n_touched;
	}
	return ret;
}

/* Publishes what c->changed says, or all. */
static int publish_content(struct publisher *p, const struct job *j, struct arena *a,
                           struct snap_writer *to, struct snap_content *c,
                           struct snap_published *ret_done)
{
	int ret = list_attrs(p, j, a, c);

	if (ret == E_OK) {
		fill_content(p, j, c);
		log_partition_sls(p, c, &j->route.out.lanes);
		ret = compile_policy(p, j, a, c);
	}
	return ret == E_OK ? snap_publish(to, c, sm_now(p->sm), ret_done) : ret;
}

static int publish_job(struct publisher *p, struct job *j, struct arena *a,
                       const char *options, const char **ret_why)
{
	struct publishing x = { .p = p, .j = j };
	struct snap_content c = { .options_text = options,
		                  .choose_epoch = choose_epoch,
		                  .choose_ctx = &x };
	struct snap_published done;
	int ret = list_vports(&p->sm->vports, a, &c);

	ret = ret == E_OK ? list_changed(p, j, a, &c) : ret;
	if (ret == E_OK) {
		ret = publish_content(p, j, a, p->sm->d.snap, &c, &done);
		*ret_why = x.state_failed ? state_err_text(p->sm->d.state, ret, a) : NULL;
	}
	if (ret == E_OK) {
		p->sm->status.epoch = p->epoch;
		p->current = true;
		p->refused = publish_opa_refused_digest(&j->disc);
		disc_changes_published(&j->disc);
		tables_changes_published(&p->sm->tables);
		log_debug(source,
		          "published epoch %" PRIu64 ": %u rows, %" PRIu64 " bytes",
		          p->epoch, done.rows, done.bytes);
	}
	return ret;
}

/* Only what nodes and ports show that were set since, or told of another SM. */
static int publish_changed_ports(struct publisher *p, struct job *j, struct arena *a,
                                 const char *options)
{
	const struct graph *g = j->disc.g;
	struct attr_list l = { .p = p, .job = j, .a = a };
	struct snap_content c = { .options_text = options };
	uint8_t *is = arena_array(a, g->n_nodes, 1);
	struct snap_published done;
	int ret;

	if (is == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < j->disc.n_changed; i++) {
		if (j->disc.changed[i]->graph_node != GRAPH_NONE) {
			is[j->disc.changed[i]->graph_node] = 1;
		}
	}
	mark_port(j, g->sm_port, is);
	ret = list_marked(g, is, a, &c);
	if (ret != E_OK) {
		return ret;
	}
	for (size_t k = 0; k < sizeof(payloads) / sizeof(payloads[0]); k++) {
		for (size_t i = 0; snap_attr_of_node(payloads[k].attr) && i < c.n_changed;
		     i++) {
			payloads[k].put(&l, j->disc.of[c.changed[i]], payloads[k].attr);
		}
	}
	publish_opa_nodes(&l, c.changed, c.n_changed);
	fill_content(p, j, &c);
	c.only_ports = true;
	c.attrs = l.items;
	c.n_attrs = l.n;
	c.transition = p->transition;
	c.epoch = p->epoch;
	ret = l.ret == E_OK ? snap_publish(p->sm->d.snap, &c, sm_now(p->sm), &done)
	                    : l.ret;
	if (ret == E_OK) {
		disc_changes_published(&j->disc);
		log_debug(source, "published ports: %u rows, %" PRIu64 " bytes",
		          done.rows, done.bytes);
	}
	return ret;
}

int publish_ports(struct publisher *p, struct job *j)
{
	struct arena *a = arena_new();
	char *options = a != NULL ? options_text(&p->sm->d, a) : NULL;
	int ret = options == NULL ? -ENOMEM : publish_changed_ports(p, j, a, options);

	if (ret != E_OK) {
		p->current = false;
		(void)sm_fail(p->sm, ret, false, "the snapshot cannot be published: %s",
		              err_text(ret));
	}
	free(options);
	arena_free(a);
	return ret;
}

int publish_fabric(struct publisher *p, struct job *j)
{
	struct arena *a = arena_new(); /* a job is published more than once */
	char *options = a != NULL ? options_text(&p->sm->d, a) : NULL;
	const char *why = NULL;
	int ret = options == NULL ? -ENOMEM : publish_job(p, j, a, options, &why);

	if (ret != E_OK) {
		p->current = false; /* the next one that succeeds is a new epoch */
		(void)sm_fail(p->sm, ret, false, "the snapshot cannot be published: %s",
		              why != NULL ? why : err_text(ret));
	}
	free(options);
	arena_free(a);
	return ret;
}

int publish_anew(struct publisher *p, struct job *j, struct snap_writer *to,
                 uint64_t epoch)
{
	struct arena *a = arena_new();
	char *options = a != NULL ? options_text(&p->sm->d, a) : NULL;
	struct snap_content c = { .options_text = options, .epoch = epoch };
	struct snap_published done;
	int ret = options == NULL ? -ENOMEM : list_vports(&p->sm->vports, a, &c);

	ret = ret == E_OK ? publish_content(p, j, a, to, &c, &done) : ret;
	free(options);
	arena_free(a);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * One heavy sweep after discovery: LIDs, routing and proof, publish.
 *
 * LIDs are computed first, made durable only when the tables over them passed their
 * proof, and programmed after that: a refused proof leaves the fabric and the memory of
 * LIDs as they were. An epoch changes when routing does: a digest over nodes, cables,
 * LIDs, tables and options tells, so sweeps that found nothing new keep the epoch and
 * readers' caches.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/search.h"
#include "conf/policy/prefix_routes.h"
#include "conf/policy/qos_policy.h"
#include "db/state.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/route_cache.h"
#include "sa/sm/policy_compile.h"
#include "sa/sm/qos_table.h"
#include "sa/sm/sweep_int.h"

enum { MOVED_LINES = 50 };

static const char *const source = "sweep";

static double cpu_now(const struct sweep *s)
{
	return s->d.cpu_clock != NULL ? s->d.cpu_clock() : 0;
}

struct job *job_new(struct sweep *s)
{
	struct arena *a = arena_new();
	struct job *j = a != NULL ? arena_alloc(a, sizeof(*j)) : NULL;

	if (j == NULL) {
		arena_free(a);
		return NULL;
	}
	j->arena = a;
	j->started = j->stage_started = cpu_now(s);
	return j;
}

void job_free(struct job *j)
{
	if (j != NULL) {
		disc_done(&j->disc);
		arena_free(j->arena);
	}
}

void job_stage(struct sweep *s, const char *name)
{
	struct job *j = s->job;
	double now = cpu_now(s);

	if (j->n_stages < SNAP_STAGES_MAX) {
		j->stage[j->n_stages++] =
			(struct snap_stage){ name, now - j->stage_started };
	}
	j->stage_started = now;
}

/* --- LIDs ------------------------------------------------------------------------- */

static void program_init(struct sweep *s)
{
	struct job *j = s->job;

	j->program = (struct program){ .smp = s->smp,
		                       .disc = &j->disc,
		                       .copies = &s->copies,
		                       .told = &s->told,
		                       .config = s->d.config,
		                       .arena = j->arena,
		                       .lids = &j->lids,
		                       .lft = &j->route.out.lft,
		                       .lanes = &j->route.out.lanes,
		                       .qos_copies = &s->qos_copies,
		                       .sm_lid = j->lids.of[j->disc.g->sm_port].base,
		                       .reregister = !s->was_master };
}

/* Management packets of InfiniBand carry LIDs of 16 bits. */
static uint32_t lid_limit(const struct config *c)
{
	return c->unicast_lid_limit < LID_LIMIT_DEFAULT ? c->unicast_lid_limit
	                                                : LID_LIMIT_DEFAULT;
}

static void log_notes(const struct diags *d)
{
	for (unsigned i = 0; i < d->n; i++) {
		log_info(source, "%s", d->items[i].text);
	}
}

int job_lids(struct sweep *s)
{
	const struct config *c = s->d.config;
	struct job *j = s->job;
	struct lids_in in = { .g = j->disc.g,
		              .lmc = c->lmc,
		              .lmc_esp0 =
		                      c->lmc_esp0 == UINT32_MAX ? c->lmc : c->lmc_esp0,
		              .max_lid = lid_limit(c),
		              .reassign = c->reassign_lids && !s->reassigned };
	struct diags *d = arena_alloc(j->arena, sizeof(*d));
	int ret;

	if (d == NULL) {
		sweep_failed(s, true, "%s", err_text(-ENOMEM));
		return -ENOMEM;
	}
	diags_init(d, j->arena);
	ret = state_lids(s->d.state, j->arena, &j->memory, &j->n_memory);
	if (ret != E_OK) {
		sweep_failed(s, false, "remembered LIDs cannot be read: %s",
		             err_text(ret));
		return ret;
	}
	in.memory = j->memory;
	in.n_memory = j->n_memory;
	ret = lids_assign(&in, j->arena, d, &j->lids, &j->moved, &j->n_moved);
	if (ret != E_OK) {
		sweep_failed(s, false, "LIDs cannot be assigned: %s",
		             d->n_errors ? diags_first_error(d) : err_text(ret));
		return ret;
	}
	log_notes(d);
	program_init(s);
	job_stage(s, "lids");
	return E_OK;
}

static const struct lid_memory *remembered(const struct job *j, uint64_t guid)
{
	size_t at = LOWER_BOUND(j->n_memory, i, j->memory[i].guid < guid);

	return at < j->n_memory && j->memory[at].guid == guid ? &j->memory[at] : NULL;
}

static void log_moved(const struct job *j)
{
	const struct graph *g = j->disc.g;

	for (size_t i = 0; i < j->n_moved && i < MOVED_LINES; i++) {
		const struct port *p = &g->ports[j->moved[i]];
		const struct lid_memory *m = remembered(j, p->guid);

		log_warning(source,
		            "LID of %s port %u (0x%016" PRIx64 ") moves from %u to %u",
		            node_text(g, &j->lids, p->node).text, p->num, p->guid,
		            m != NULL ? m->range.base : 0, j->lids.of[j->moved[i]].base);
	}
	if (j->n_moved > MOVED_LINES) {
		log_warning(source, "%zu more LIDs move", j->n_moved - MOVED_LINES);
	}
}

int job_keep_lids(struct sweep *s)
{
	bool forget = s->d.config->reassign_lids && !s->reassigned;
	struct job *j = s->job;
	const struct graph *g = j->disc.g;
	struct lid_memory *news =
		arena_array(j->arena, g->n_end_ports, sizeof(struct lid_memory));
	size_t n = 0;
	int ret = news == NULL ? -ENOMEM : E_OK;

	for (uint32_t i = 0; i < g->n_end_ports && ret == E_OK; i++) {
		uint32_t port = g->end_ports[i];
		const struct lid_memory *m = remembered(j, g->ports[port].guid);
		struct lid_range r = j->lids.of[port];

		if (forget || m == NULL || m->range.base != r.base ||
		    m->range.lmc != r.lmc) {
			news[n++] = (struct lid_memory){ g->ports[port].guid, r };
		}
	}
	if (ret == E_OK && n) {
		ret = state_put_lids(s->d.state, news, n, forget);
	}
	if (ret != E_OK) {
		sweep_failed(s, false, "LIDs cannot be stored, so none is handed out: %s",
		             err_text(ret));
		return ret;
	}
	s->reassigned = true;
	log_moved(j);
	job_stage(s, "keep-lids");
	return E_OK;
}

/* --- routing ---------------------------------------------------------------------- */

static void route_now(struct sweep *s)
{
	struct job *j = s->job;

	s->worker.ret = route_run(&j->request, j->arena, &j->route);
}

/* The job's arena is the worker's until done is set; the fabric thread only answers MADs.
 */
static void *route_thread(void *arg)
{
	struct sweep *s = arg;
	struct transport *t = s->d.transport;

	route_now(s);
	atomic_store(&s->worker.done, true);
	t->ops->wake(t);
	return NULL;
}

static uint8_t max_lanes(const struct sweep *s)
{
	uint8_t lanes = config_lanes(s->d.config);

	if (!program_all_map_sls(&s->job->disc)) {
		return 1;
	}
	return s->lanes_there && s->lanes_there < lanes ? s->lanes_there : lanes;
}

/* NULL where none is wanted, or memory is out: then routes are computed, as ever. */
static struct route_cache *cache_of(struct sweep *s)
{
	if (s->d.config->use_ucast_cache && s->cache == NULL) {
		s->cache = route_cache_new();
	}
	if (!s->was_master) { /* another SM may have had a hand in the tables */
		route_cache_drop(s->cache);
	}
	return s->d.config->use_ucast_cache ? s->cache : NULL;
}

int job_route_start(struct sweep *s)
{
	struct job *j = s->job;
	int ret = program_known_tables(&j->program, &j->prev);

	if (ret == E_OK) {
		ret = program_known_lanes(&j->program, &j->prev, &j->prev_lanes);
	}
	if (ret != E_OK) {
		return ret;
	}
	j->request = (struct route_request){
		.g = j->disc.g,
		.lids = &j->lids,
		.list = s->d.list,
		.options = s->d.engines,
		.credit_loops = s->d.config->credit_loops,
		.prev = &j->prev,
		.prev_lanes = j->prev_lanes.n ? &j->prev_lanes : NULL,
		.cancel = &s->worker.cancel,
		.adaptive = &s->d.config->adaptive,
		.max_lanes = max_lanes(s),
		.threads = s->d.config->routing_threads,
		.verdict = &s->verdict,
		.cache = cache_of(s),
		.now = s->d.cpu_clock,
	};
	atomic_store(&s->worker.cancel, false);
	atomic_store(&s->worker.done, false);
	if (!s->d.single_thread &&
	    pthread_create(&s->worker.thread, NULL, route_thread, s) == 0) {
		s->worker.running = true;
		return E_OK;
	}
	route_now(s);
	return E_OK;
}

void worker_stop(struct sweep *s)
{
	if (s->worker.running) {
		atomic_store(&s->worker.cancel, true);
		pthread_join(s->worker.thread, NULL);
		s->worker.running = false;
	}
}

static const char *refusal(struct sweep *s, int ret)
{
	struct job *j = s->job;
	const struct route_result *r = &j->route;
	const char *text = NULL;

	switch (ret) {
	case E_CREDITLOOP:
	case E_LOOP:
	case E_NOPATH: text = proof_text(&r->proof, j->disc.g, j->arena); break;
	case E_UNSUITABLE: text = r->fallback_reason.text; break;
	}
	return text != NULL && text[0] ? text : err_text(ret);
}

static void tell_cache(struct sweep *s)
{
	const struct route_result *r = &s->job->route;

	if (s->job->request.cache == NULL) {
		return;
	}
	if (r->cached) {
		s->status.cache_hits++;
		log_info(source, "routing: the routes of the last computation serve on");
		return;
	}
	s->status.cache_misses++;
	log_lines(LOG_LEVEL_INFO, source, "routing: computed anew: ", r->cache_miss.text);
}

bool job_route_done(struct sweep *s)
{
	const struct route_result *r = &s->job->route;
	int ret;

	if (s->worker.running) {
		pthread_join(s->worker.thread, NULL);
		s->worker.running = false;
	}
	ret = s->worker.ret;
	job_stage(s, "route");
	if (ret != E_OK) {
		sweep_failed(s, false,
		             "computed tables were refused, the running ones stay: %s",
		             refusal(s, ret));
		return false;
	}
	s->job->routed = true;
	tell_cache(s);
	if (r->fallback_reason.text[0]) {
		const char *lead = arena_printf(s->job->arena,
		                                "routing: %s was asked for, %s is used: ",
		                                r->engine_asked, r->used->name);

		log_lines(LOG_LEVEL_WARNING, source,
		          lead ? lead : "routing: ", r->fallback_reason.text);
	}
	if (r->warning.text[0]) {
		log_lines(LOG_LEVEL_WARNING, source, "routing: ", r->warning.text);
	}
	if (r->out.notes.text[0]) {
		log_lines(LOG_LEVEL_WARNING, source, "routing: ", r->out.notes.text);
	}
	return true;
}

/* --- quality of service ----------------------------------------------------------- */

static bool is_set(const struct config *c, unsigned of, size_t key)
{
	const char *own, *all;

	memcpy(&own, (const char *)&c->qos_keys[of] + key, sizeof(own));
	memcpy(&all, (const char *)&c->qos_keys[QOS_ALL] + key, sizeof(all));
	return own != NULL || all != NULL;
}

static bool weights_are_set(const struct config *c, unsigned of)
{
	return is_set(c, of, offsetof(struct qos_keys, vlarb_low)) ||
	       is_set(c, of, offsetof(struct qos_keys, vlarb_high));
}

/* What an SL-to-VL rule of the routing makes of the keys of one kind of port. */
static void tell_rule(const struct sweep *s, unsigned of, const char *key)
{
	const struct config *c = s->d.config;
	const struct program *p = &s->job->program;
	const char *engine = s->job->route.used->name;

	if (is_set(c, of, offsetof(struct qos_keys, sl2vl))) {
		log_warning(source, "%s_sl2vl has no effect: %s says the VL of every SL",
		            key, engine);
	}
	if (of == QOS_SWE && weights_are_set(c, of) &&
	    qos_table_uneven(&p->qos_setup[of], p->lanes->rule)) {
		log_warning(
			source,
			"%s_vlarb_high and %s_vlarb_low weigh VLs differently that %s "
			"uses alike",
			key, key, engine);
	}
}

/* Said once, not in each sweep. */
static void tell_lanes(struct sweep *s)
{
	static const char *const key[] = { "qos", "qos_ca", "qos_sw0", "qos_swe",
		                           "qos_rtr" };
	const struct program *p = &s->job->program;
	const struct engine *used = s->job->route.used;
	uint8_t n = lanes_vls(p->lanes);

	if (s->lanes_of == used && s->lanes_told == n) {
		return;
	}
	s->lanes_of = used;
	s->lanes_told = n;
	if (n > 1) {
		log_info(source, "%s uses %u virtual lanes%s", used->name, n,
		         s->d.config->qos == QOS_AUTO ? ": quality of service is on"
		                                      : "");
	}
	for (unsigned i = QOS_CA; i < QOS_CLASS_COUNT; i++) {
		unsigned sl = qos_table_overruled(&p->qos_setup[i], n);

		if (p->lanes->rule != NULL) {
			tell_rule(s, i, key[i]);
		} else if (sl < QOS_SLS) {
			log_warning(
				source,
				"%s_sl2vl gives SL %u VL %u, but %s needs VL %u there "
				"and has it",
				key[i], sl, p->qos_setup[i].sl2vl[sl], used->name, sl);
		}
	}
}

void job_qos(struct sweep *s)
{
	const struct config *c = s->d.config;
	struct program *p = &s->job->program;

	p->qos = c->qos == QOS_ON || lanes_vls(p->lanes) > 1 ||
	         (c->qos == QOS_AUTO &&
	          policy_needs_qos(c->qos_policy, c->virtual_fabrics));
	if (!p->qos) {
		s->lanes_told = 1;
		return;
	}
	for (unsigned i = 0; i < QOS_CLASS_COUNT; i++) {
		qos_setup_of(c->qos_keys, i, &p->qos_setup[i]);
		if (p->lanes->rule != NULL && !weights_are_set(c, i)) {
			qos_table_even(&p->qos_setup[i], p->lanes->rule->vls);
		}
	}
	tell_lanes(s);
}

/* --- publish ---------------------------------------------------------------------- */

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

/* Who shares a P_Key with whom, which GUIDs and prefixes lead where, and who gets what.
 */
static uint64_t digest_tables(uint64_t h, const struct snap_content *c)
{
	for (size_t i = 0; i < c->n_attrs; i++) {
		const struct snap_attr *a = &c->attrs[i];

		if (a->attr == UMAD_SM_ATTR_PKEY_TABLE ||
		    a->attr == UMAD_SM_ATTR_GUID_INFO) {
			h = digest_bytes(digest_add(digest_add(h, a->guid), a->block),
			                 a->data, a->len);
		}
	}
	for (uint32_t i = 0; c->prefix_routes != NULL && i < c->prefix_routes->n; i++) {
		const struct prefix_route *p = &c->prefix_routes->route[i];

		h = digest_add(digest_add(h, p->prefix), p->router_port_guid);
		h = digest_add(h, (uint64_t)p->any_prefix << 1 | p->any_router);
	}
	return c->policy != NULL ? digest_add(h, digest_policy(c->policy)) : h;
}

/* What the routing epoch stands for. Never 0. */
static uint64_t digest(const struct job *j, const struct snap_content *c,
                       const char *options)
{
	uint64_t h = digest_tables(graph_digest(j->disc.g), c);
	const struct lft *t = &j->route.out.lft;
	const struct lanes *l = &j->route.out.lanes;

	h = digest_add(h, lids_digest(&j->lids, j->disc.g));
	h = digest_bytes(h, t->rows, t->n_switches * t->stride);
	if (l->rows != NULL) {
		h = digest_bytes(h, l->rows, t->n_switches * l->stride);
	}
	if (l->rule != NULL) {
		h = digest_bytes(h, (const uint8_t *)l->rule->vl, sizeof(l->rule->vl));
		h = digest_bytes(h, l->rule->port_class, t->n_switches * l->rule->width);
	}
	return digest_bytes(h, options, strlen(options)) | 1;
}

/* Effective options without the keys: the snapshot has readers who must not know them. */
static char *options_text(const struct sweep *s, struct arena *a)
{
	struct config public = *s->d.config;
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
	ret = config_dump(&public, s->d.engines != NULL ? &s->d.engines->sets : NULL,
	                  a, f);
	if (fclose(f) != 0 || ret != E_OK) {
		free(text);
		return NULL;
	}
	return text;
}

_Static_assert((int)LIFE_TIMES_MAX == (int)SNAP_HOPS_MAX, "life times by hops");

/* SLs other than 0 that no port drops, where all VLs lead the same way. */
static uint16_t free_sls(const struct program *p)
{
	uint16_t sls = 0;

	for (unsigned sl = 1; p->qos && lanes_vls(p->lanes) <= 1 && sl < QOS_SLS; sl++) {
		bool dropped = false;

		for (unsigned i = QOS_CA; i < QOS_CLASS_COUNT; i++) {
			dropped |= p->qos_setup[i].sl2vl[sl] == QOS_VL_DROP;
		}
		sls |= (uint16_t)(!dropped << sl);
	}
	return sls;
}

/* What every switch with multicast tables can hold. */
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

static void fill_content(struct sweep *s, struct snap_content *c)
{
	const struct config *conf = s->d.config;
	struct job *j = s->job;

	c->computed_at = s->d.wall_clock != NULL ? s->d.wall_clock() : 0;
	c->g = j->disc.g;
	c->lids = &j->lids;
	c->route = &j->route;
	c->subnet_prefix = conf->subnet_prefix;
	c->sm_port_guid = j->disc.g->ports[j->disc.g->sm_port].guid;
	c->sm_lid = j->program.sm_lid;
	c->sm_priority = (uint8_t)conf->sm_priority;
	c->sm_state = s->sm_state;
	c->packet_life_time = (uint8_t)conf->subnet_timeout;
	if (conf->path_life_times != NULL) {
		(void)life_times_parse(conf->path_life_times, c->life_time_by_hops);
	}
	c->prefix_routes = conf->prefix_routes;
	c->path_selection = (uint8_t)conf->path_selection;
	c->free_sls = free_sls(&j->program);
	c->qos = j->program.qos;
	c->sa_key = conf->sa_key;
	c->multicast_fdb_cap = multicast_fdb_cap(&j->disc);
	memcpy(c->stage, j->stage, sizeof(c->stage));
	c->n_stages = j->n_stages;
}

/* What is odd about the policy is said when it changes, not in each sweep. */
static void tell_policy(struct sweep *s, const struct policy *p, const struct diags *d)
{
	const struct config *c = s->d.config;
	uint64_t now = p != NULL ? digest_policy(p) : 1;
	char place[DIAG_PLACE_MAX];

	if (s->policy_told == now) {
		return;
	}
	s->policy_told = now;
	for (unsigned i = 0; i < d->n; i++) {
		log_warning(source, "%s%s",
		            diag_place(&d->items[i], place, sizeof(place)),
		            d->items[i].text);
	}
	if (p != NULL && p->head.kind == POLICY_EACH && c->qos_policy != NULL &&
	    c->qos_policy->default_level != QOS_LEVEL_NONE) {
		log_warning(source, "qos_policy_file has no effect: virtual fabrics say "
		                    "what paths get");
	}
	if (p != NULL && p->head.kind == POLICY_EACH) {
		log_info(source, "%u virtual fabrics; their P_Keys are not programmed: "
		                 "where the tables of two ports do not both hold one, "
		                 "paths have a P_Key that they share",
		         p->head.n_fabrics);
	} else if (p == NULL && policy_needs_qos(c->qos_policy, NULL)) {
		log_warning(source, "qos_policy_file has no effect: qos is FALSE");
	}
}

static int make_policy(struct sweep *s, struct arena *a, struct snap_content *c)
{
	const struct config *conf = s->d.config;
	const struct job *j = s->job;
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

	if (d == NULL) {
		return -ENOMEM;
	}
	diags_init(d, a);
	int ret = policy_compile(&in, a, &c->policy);
	if (ret == E_OK) {
		tell_policy(s, c->policy, d);
	}
	return ret;
}

/* The epoch of what is to be published: the present one if nothing changed. */
static int choose_epoch(struct sweep *s, uint64_t now_digest)
{
	int ret;

	if (s->digest == now_digest) {
		return E_OK;
	}
	ret = state_next_epoch(s->d.state, snap_epoch(s->d.snap), &s->epoch);
	if (ret == E_OK) {
		s->digest = now_digest;
	}
	return ret;
}

static int publish(struct sweep *s, struct arena *a)
{
	struct snap_content c = { 0 };
	struct snap_published done;
	char *options = options_text(s, a);
	int ret = options == NULL ? -ENOMEM : job_attrs(s, a, &c);

	if (ret == E_OK) {
		fill_content(s, &c);
		ret = make_policy(s, a, &c);
	}
	if (ret == E_OK) {
		ret = choose_epoch(s, digest(s->job, &c, options));
	}
	if (ret == E_OK) {
		c.options_text = options;
		c.epoch = s->epoch;
		ret = snap_publish(s->d.snap, &c, sweep_now(s), &done);
	}
	free(options);
	if (ret == E_OK) {
		s->status.epoch = s->epoch;
		s->qos_wait.unpublished = false;
		log_debug(source,
		          "published epoch %" PRIu64 ": %u rows, %" PRIu64 " bytes",
		          s->epoch, done.rows, done.bytes);
	}
	return ret;
}

/* A job is published more than once, so what that takes is not the job's. */
int job_publish(struct sweep *s)
{
	struct arena *a = arena_new();
	int ret = a == NULL ? -ENOMEM : publish(s, a);

	arena_free(a);
	if (ret != E_OK) {
		s->digest = 0; /* the next one that succeeds is a new epoch */
		sweep_failed(s, false, "the snapshot cannot be published: %s",
		             err_text(ret));
	}
	return ret;
}

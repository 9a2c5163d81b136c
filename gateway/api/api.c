/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/api/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/api/metrics.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_params.h"
#include "gateway/view/source.h"
#include "routing/graph/graph.h"

static const char *const no_params[] = { NULL };
static const char *const limit_params[] = { "limit", NULL };
static const char *const page_params[] = { "limit", "cursor", NULL };
static const char *const event_params[] = { "since", "last", "limit", "kind", "node", NULL };
static const char *const node_params[] = { "type",  "name",   "ports",
	                                   "limit", "cursor", NULL };
static const char *const link_params[] = { "node",     "name",  "state",
	                                   "degraded", "limit", "cursor",
	                                   "stream",   "from",  NULL };
static const char *const port_params[] = { "node",     "name",   "type",  "state",
	                                   "degraded", "cabled", "limit", "cursor",
	                                   "stream",   "from",   NULL };
static const char *const load_params[] = { "node",   "name", "limit", "cursor",
	                                   "stream", "from", NULL };
static const char *const counter_params[] = { "node",  "name",   "type", "errors", "history",
	                                      "limit", "cursor", NULL };
static const char *const diff_params[] = { "from",  "to",     "kind", "node",
	                                   "limit", "cursor", NULL };
static const char *const fabric_metric_params[] = { "hosts", "collect", NULL };
static const char *const topology_params[] = { "group", "switches", "hosts", NULL };

static const char *const batch_params[] = { "mode",
	                                    "numb_path",
	                                    "mtu",
	                                    "mtu_selector",
	                                    "rate",
	                                    "rate_selector",
	                                    "packet_life_time",
	                                    "packet_life_time_selector",
	                                    "life",
	                                    "sl",
	                                    "p_key",
	                                    "pkey",
	                                    "service_id",
	                                    "qos_class",
	                                    NULL };

enum {
	PATHS_TABLES = TABLE_PATHS | TABLE_LIDS | TABLE_NODES | TABLE_PORTS | TABLE_LFT |
	               TABLE_OPTIONS | TABLE_GUIDS | TABLE_NAMES | TABLE_VLS |
	               TABLE_P_KEY_SETS | TABLE_PREFIX_ROUTES | TABLE_POLICY,
	NODES_TABLES = TABLE_NODES | TABLE_PORTS | TABLE_LIDS,
	GROUP_TABLES =
		TABLE_GROUPS | TABLE_MEMBERS | TABLE_ATTRS | TABLE_LIDS | TABLE_NODES,
	PARTITION_TABLES = TABLE_PARTITIONS | TABLE_P_KEY_SETS | TABLE_GUIDS |
	                   TABLE_LIDS | TABLE_NODES,
	LINKS_TABLES = TABLE_LINKS | TABLE_LOAD | TABLE_NODES | TABLE_PORTS | TABLE_ATTRS,
	RECORDS_TABLES = TABLE_ATTRS | TABLE_LINKS | PATHS_TABLES,
	ALTERNATES_TABLES =
		TABLE_LFT | TABLE_OPTIONS | TABLE_LINKS | TABLE_PORTS | TABLE_NODES,
};

/* clang-format off */
static const struct api_row rows[] = {
	{ "GET", "/paths",                  api_paths,   path_param_names, PATHS_TABLES, "the same as /v1/paths", "PathList" },
	{ "GET", "/v1/paths",               api_paths,   path_param_names, PATHS_TABLES, "paths from src to dst, each a LID, GUID, GID, description or description:port", "PathList" },
	{ "POST", "/v1/paths:batch",        api_batch,   batch_params, PATHS_TABLES, "paths of up to 10,000 pairs, a line of {\"src\":..., \"dst\":...} each", NULL },
	{ "POST", "/v1/whatif",             api_whatif,  no_params,   0,             "what a change would do: {\"down\":[\"spine-0001\"]}; also link, host, switch, routing_engine, lmc, root_guids, limit", "any" },
	{ "POST", "/v1/check",              api_check,   no_params,   0,             "proof and load of the running tables, computed anew; {} or {\"strict\":true}", "any" },
	{ "POST", "/v1/plan",               api_plan,    no_params,   0,             "the cables against a plan, a topology text: nodes and cables that are missing, extra, swapped, slower", "any" },
	{ "GET", "/v1/fabric",              api_fabric,  no_params,   TABLE_META,    "the fabric: identity, counts, LIDs, times of the last sweep", "Fabric" },
	{ "GET", "/v1/nodes",               api_nodes,   node_params, NODES_TABLES, "all nodes with their ports", "NodeList" },
	{ "GET", "/v1/nodes/{node}",        api_node,    no_params,   NODES_TABLES | TABLE_NAMES | TABLE_GUIDS, "one node by name, NodeGUID, PortGUID or LID", "Node" },
	{ "GET", "/v1/links",               api_links,   link_params, LINKS_TABLES, "all cables: names, state, speed, what they could be, the routes on them", "LinkList" },
	{ "GET", "/v1/ports",               api_ports,   port_params, LINKS_TABLES, "all ports, also those without a cable, likewise", "PortList" },
	{ "GET", "/v1/load",                api_load,    load_params, LINKS_TABLES, "links between switches by the routes on them, most first, and the load between tiers", "LoadList" },
	{ "GET", "/v1/counters",            api_counters, counter_params, LINKS_TABLES | TABLE_MOMENT, "port counters as last read: errors, rates, congestion; with history=1 the readings before", "CounterList" },
	{ "GET", "/v1/diff",                api_diff,    diff_params, TABLE_CHANGES, "what changed between two epochs: routing, nodes, cables, ports, partitions, forwarding tables; by default since the epoch before the newest", "DiffList" },
	{ "GET", "/v1/topology",            api_topology, topology_params, LINKS_TABLES, "a map: tiers, groups of switches, bundles of cables between them", "Topology" },
	{ "GET", "/v1/alarms",              api_alarms,  page_params, LINKS_TABLES | TABLE_META | TABLE_MOMENT | TABLE_IF_ANY, "what is wrong now, the worst first", "AlarmList" },
	{ "GET", "/v1/lids",                api_lids,    page_params, TABLE_LIDS | TABLE_NODES, "owner of each LID range", "LidList" },
	{ "GET", "/v1/switches/{node}/lft", api_lft,     page_params, TABLE_LFT | TABLE_NODES | TABLE_LIDS, "linear forwarding table of a switch", "Lft" },
	{ "GET", "/v1/switches/{node}/alternates", api_alternates, page_params, ALTERNATES_TABLES, "ports of equal cost per LID of a switch, for adaptive routing", "Alternates" },
	{ "GET", "/v1/groups",              api_groups,  page_params, TABLE_GROUPS | TABLE_MEMBERS, "multicast groups", "MulticastList" },
	{ "GET", "/v1/groups/{mgid}",       api_group,   page_params, GROUP_TABLES, "one multicast group by MGID or MLID: its members, and the switch ports of its tree", "Multicast" },
	{ "GET", "/v1/partitions",          api_partitions, page_params, TABLE_PARTITIONS, "partitions: P_Key, name, numbers of members", "PartitionList" },
	{ "GET", "/v1/partitions/{p_key}",  api_partition, page_params, PARTITION_TABLES, "one partition by P_Key or name: its members as configured, its groups, the end ports that have its P_Key", "PartitionDetail" },
	{ "GET", "/v1/events",              api_events,  event_params, 0,            "what happened, oldest first; with Accept: text/event-stream as it happens", "EventList" },
	{ "GET", "/v1/services",            api_services, page_params, TABLE_SERVICES | TABLE_GUIDS | TABLE_LIDS | TABLE_NODES | TABLE_MOMENT, "services that hosts registered, with their nodes and leases", "ServiceList" },
	{ "GET", "/v1/sweeps",              api_sweeps,  limit_params, 0,            "what the subnet manager does at the moment, and its last sweeps, the newest first", "SweepList" },
	{ "GET", "/v1/sm",                  api_sm,      no_params,   0,            "the subnet manager: its state, who is master, how far copies of the state are, and all that were seen", "Sm" },
	{ "GET", "/v1/export",              api_export_list, no_params, 0,           "forms in which the fabric is given to other programs", "ExportList" },
	{ "GET", "/v1/export/{format}",     api_export,  no_params,   LINKS_TABLES | TABLE_LFT | TABLE_LIDS | TABLE_NAMES, "the fabric in one of them, as text: topology, lfts, dot, graphml, slurm-tree and others", NULL },
	{ "GET", "/v1/routing",             api_routing, no_params,   TABLE_META,    "routing engine, fallback, proof, load", "Routing" },
	{ "GET", "/v1/records",             api_record_names, no_params, 0,          "names and components of the subnet administration's records", "RecordNames" },
	{ "GET", "/v1/records/{name}",      api_record,  NULL,        RECORDS_TABLES | TABLE_OF_RECORD, "records of subnet administration, by components: lid=5", "RecordList" },
	{ "GET", "/healthz",                api_healthz, no_params,   0,            "this process lives", "Health" },
	{ "GET", "/readyz",                 api_readyz,  no_params,   0,            "the fabric is up and answers are fresh, or why not", "Ready" },
	{ "GET", "/metrics",                api_metrics, no_params,   0,            "Prometheus metrics", NULL },
	{ "GET", "/metrics/fabric",         api_metrics_fabric, fabric_metric_params, LINKS_TABLES | TABLE_MOMENT, "Prometheus metrics of each port: counters, rates, cables; of hosts, too, with hosts=1", NULL },
	{ "GET", "/openapi.json",           api_openapi, no_params,   0,            "all of this as OpenAPI 3.1", "any" },
	{ "GET", "/",                       api_index,   no_params,   0,            "this list; for browsers a page, where one is installed", "Index" },
	{ "GET", "/v1",                     api_index,   no_params,   0,            "this list", "Index" },
};
/* clang-format on */

/* Request bodies of the rows that take one. */
static const struct api_body {
	int (*handle)(struct api_call *c); /* of the row */
	const char *type;
	size_t max; /* bytes */
} bodies[] = {
	{ api_batch, "application/x-ndjson", API_BATCH_BYTES },
	{ api_whatif, "application/json", 1 << 16 },
	{ api_check, "application/json", 1 << 10 },
	{ api_plan, "text/plain", API_PLAN_BYTES },
};

/* \return NULL: the row takes none. */
static const struct api_body *body_of(const struct api_row *row)
{
	for (unsigned i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		if (bodies[i].handle == row->handle) {
			return &bodies[i];
		}
	}
	return NULL;
}

const char *api_body_type(const struct api_row *row)
{
	const struct api_body *body = body_of(row);

	return body != NULL ? body->type : NULL;
}

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };
_Static_assert((int)N_ROWS < (int)HTTP_ROUTES_MAX,
               "one metrics slot per row and one for no row");

const struct api_rows api_rows = { rows, N_ROWS };

/* --- match ---------------------------------------------------------------------------
 */

/* Methods of a path, as an Allow header has them. */
static const char *allowed(const struct uri *u)
{
	const char *capture;
	bool get = false, post = false;

	for (unsigned i = 0; i < N_ROWS; i++) {
		if (uri_fits(u, rows[i].path, 1, &capture)) {
			get |= strcmp(rows[i].method, "GET") == 0;
			post |= strcmp(rows[i].method, "POST") == 0;
		}
	}
	return get && post ? "GET, HEAD, POST, OPTIONS"
	       : post      ? "POST, OPTIONS"
	                   : "GET, HEAD, OPTIONS";
}

int api_match(const char *method, const struct uri *u, const struct api_row **ret_row,
              const char **ret_capture)
{
	int err = E_HTTP_ENDPOINT;

	if (strcmp(method, "HEAD") == 0) {
		method = "GET";
	}
	for (unsigned i = 0; i < N_ROWS && err != E_OK; i++) {
		if (uri_fits(u, rows[i].path, 1, ret_capture)) {
			*ret_row = &rows[i];
			err = strcmp(rows[i].method, method) == 0 ? E_OK : E_HTTP_METHOD;
		}
	}
	return err;
}

int api_expects_body(const char *method, const char *target, size_t *ret_max)
{
	struct arena *a = arena_new();
	struct problem p = { .err = 0 };
	const struct api_row *row = NULL;
	const char *capture;
	struct uri u;

	int err = a != NULL ? uri_parse(target, a, &u, &p) : -ENOMEM;
	if (err == E_OK) {
		err = api_match(method, &u, &row, &capture);
	}
	if (err == E_OK) {
		const struct api_body *body = body_of(row);
		*ret_max = body != NULL ? body->max : 0;
	}
	problem_clear(&p);
	arena_free(a);
	return err;
}

static int no_such_resource(struct api_call *c)
{
	enum { NEAR = 4 };
	const char *near = NULL;
	unsigned best = NEAR + 1;
	json_t *list = json_array();

	for (unsigned i = 0; i < N_ROWS; i++) {
		unsigned d = text_distance(c->uri.path, rows[i].path, NEAR);
		if (d < best) {
			best = d;
			near = rows[i].path;
		}
		json_array_append_new(list, json_string(rows[i].path));
	}
	problem_member(&c->problem, "resources", list);
	return problem_set(&c->problem, c->arena, E_HTTP_ENDPOINT,
	                   "there is no '%.200s'%s%s%s", c->uri.path,
	                   near != NULL ? "; did you mean '" : "",
	                   near != NULL ? near : "",
	                   near != NULL ? "'?" : "; GET / lists all resources");
}

static int check_params(struct api_call *c)
{
	for (unsigned i = 0; c->row->params != NULL && i < c->uri.n_params; i++) {
		const char *name = c->uri.param[i].name;
		const char *const *k = c->row->params;
		while (*k != NULL && strcmp(*k, name) != 0) {
			k++;
		}
		if (*k != NULL) {
			continue;
		}
		json_t *known = json_array();
		for (k = c->row->params; *k != NULL; k++) {
			json_array_append_new(known, json_string(*k));
		}
		problem_member(&c->problem, "known", known);
		return problem_param(&c->problem, c->arena, E_HTTP_PARAMETER, name,
		                     "%s knows no parameter '%s'; see 'known'",
		                     c->row->path, name);
	}
	return E_OK;
}

/* A page of a foreign site can send a body without asking first, but not of these types. */
static int check_body(struct api_call *c, const struct api_request *rq)
{
	const struct api_body *body = body_of(c->row);
	const char *type = rq->content_type;

	if (body == NULL) {
		return E_OK;
	}
	const char *want = body->type;
	size_t len = strlen(want);
	if (type == NULL || strncasecmp(type, want, len) != 0 ||
	    (type[len] != '\0' && type[len] != ';' && type[len] != ' ')) {
		return problem_set(&c->problem, c->arena, E_HTTP_TYPE,
		                   "%s needs a body of Content-Type: %s", c->row->path,
		                   want);
	}
	return E_OK;
}

/* From the request line to a row whose handler may run. */
static int route(struct api_call *c, const struct api_request *rq)
{
	int err = uri_parse(rq->target, c->arena, &c->uri, &c->problem);
	if (err != E_OK) {
		return err;
	}
	err = api_match(rq->method, &c->uri, &c->row, &c->capture);
	if (err == E_HTTP_ENDPOINT) {
		return no_such_resource(c);
	}
	if (err == E_HTTP_METHOD) {
		return problem_set(&c->problem, c->arena, err,
		                   "%s answers %s only, not %.20s", c->row->path,
		                   allowed(&c->uri), rq->method);
	}
	err = check_params(c);
	return err == E_OK ? check_body(c, rq) : err;
}

/* --- answer --------------------------------------------------------------------------
 */

bool api_etag_matches(const char *header, const char *etag)
{
	size_t len = strlen(etag);

	while (*header != '\0') {
		header += strspn(header, " \t,");
		if (*header == '*') {
			return true;
		}
		if (strncmp(header, "W/", 2) == 0) {
			header += 2;
		}
		if (strncmp(header, etag, len) == 0) {
			return true;
		}
		const char *quote = *header == '"' ? strchr(header + 1, '"') : NULL;
		header = quote != NULL ? quote + 1 : header + strcspn(header, ",");
	}
	return false;
}

/* Written in place, because every answer has one. */
static void set_etag(struct api_call *c, const struct snap_meta *m, struct api_reply *ret)
{
	enum { ENCODING_BYTES = 5 }; /* what the numbers leave of an ETag */
	const char *encoding = c->request->encoding;
	char *p = JSON_PUT(ret->etag, "\"");

	p = json_put_number(p, m->epoch);
	p = json_put_number(JSON_PUT(p, "-"), snap_version(m, c->tables));
	p = c->stale ? JSON_PUT(p, "-stale") : p;
	if (encoding != NULL) {
		p = json_put_bytes(JSON_PUT(p, "-"), encoding,
		                   strnlen(encoding, ENCODING_BYTES));
	}
	*JSON_PUT(p, "\"") = '\0';
}

/* Pins the newest epoch; sets the reply's epoch and ETag, which names the bytes as they are
 * sent. */
static int pin(struct api_call *c, struct api_reply *ret)
{
	const char *why = NULL;

	int err = source_pin(c->thread->source, c->now_ms, &why, &c->snap);
	if (err == E_NOTREADY && (c->row->tables & TABLE_IF_ANY) != 0) {
		c->snap = NULL;
		return E_OK;
	}
	if (err != E_OK) {
		return problem_set(&c->problem, c->arena, err, "%s", why);
	}
	const struct snap_meta *m = snap_meta(c->snap);
	c->epoch = m->epoch;
	c->tables = c->row->tables;
	if ((c->tables & TABLE_OF_RECORD) != 0) {
		c->tables |= api_record_tables(c->capture);
	}
	if ((c->tables & TABLE_MOMENT) == 0 && body_of(c->row) == NULL) {
		set_etag(c, m, ret);
	}
	return E_OK;
}

/* One attempt on a pinned snapshot. \retval E_STALE  Discard what was built. */
static int try_answer(struct api_call *c, const struct api_request *rq,
                      struct api_reply *ret)
{
	int err = pin(c, ret);
	if (err != E_OK) {
		return err;
	}
	bool same = rq->if_none_match != NULL && ret->etag[0] != '\0' &&
	            api_etag_matches(rq->if_none_match, ret->etag);
	ret->status = same ? 304 : 200;
	err = same ? E_OK : c->row->handle(c);
	/* An epoch that changed meanwhile explains any result, so it is checked first. */
	int torn = c->snap != NULL ? snap_check(c->snap) : E_OK;
	return torn != E_OK ? torn : err;
}

/* Discards what was built of an answer. */
static void drop_answer(struct api_call *c)
{
	body_clear(&c->body);
	stream_free(c->stream);
	c->stream = NULL;
	free(c->feed);
	c->feed = NULL;
	c->job = NULL;
}

static int run_handler(struct api_call *c, const struct api_request *rq,
                       struct api_reply *ret)
{
	int err = E_STALE;

	if (c->row->tables == 0) {
		return c->row->handle(c);
	}
	c->stale = source_stale(c->thread->source, c->now_ms);
	for (unsigned i = 0; i < API_TRIES && err == E_STALE; i++) {
		drop_answer(c);
		problem_clear(&c->problem);
		err = try_answer(c, rq, ret);
	}
	if (err == E_STALE) {
		return problem_set(
			&c->problem, c->arena, err,
			"the epoch was superseded while the answer was built, %d "
			"times in a row; ask again",
			API_TRIES);
	}
	return err;
}

static void reply_problem(struct api_call *c, int err, struct api_reply *ret)
{
	const char *why;

	c->problem.err = err;
	if (c->epoch == 0) {
		api_epoch(c, &why); /* refused before a snapshot was pinned */
	}
	drop_answer(c);
	c->next_cursor[0] = '\0';
	body_json(&c->body, problem_json(&c->problem, c->epoch));
	ret->status = gw_status(err);
	ret->content_type = "application/problem+json";
	ret->retry_after = gw_retry_after(err);
	ret->allow = err == E_HTTP_METHOD ? allowed(&c->uri) : NULL;
	ret->etag[0] = '\0';
}

void api_thread_done(struct api_thread *t)
{
	arena_free(t->arena);
	t->arena = NULL;
	ends_done(&t->ends);
	components_done(&t->components);
	inventory_unref(t->inventory);
	t->inventory = NULL;
}

void api_serve(struct api_thread *t, const struct api_request *rq, struct api_reply *ret)
{
	uint64_t start = monotonic_ns() / 1000;
	struct api_call c = { .thread = t,
		              .request = rq,
		              .rows = &api_rows,
		              .content_type = "application/json",
		              .now_ms = source_now_ms() };
	struct api_reply reply = { .status = 200 };

	c.arena = t->arena != NULL ? t->arena : arena_new();
	t->arena = NULL;
	int err = c.arena != NULL ? route(&c, rq) : -ENOMEM;
	if (err == E_OK) {
		err = run_handler(&c, rq, &reply);
	}
	if (err == E_OK) {
		err = body_done(&c.body);
	}
	reply.content_type = c.content_type;
	if (err == E_HTTP_METHOD && strcmp(rq->method, "OPTIONS") == 0) {
		reply.status = 204;
		reply.allow = allowed(&c.uri);
	} else if (err != E_OK) {
		reply_problem(&c, err, &reply);
	}
	reply.body = c.body;
	reply.stream = c.stream;
	reply.feed = c.feed;
	memcpy(reply.next_cursor, c.next_cursor, sizeof(reply.next_cursor));
	reply.epoch = c.epoch;
	reply.route = c.row != NULL ? (unsigned)(c.row - rows) : N_ROWS;
	problem_clear(&c.problem);
	if (c.job != NULL) {
		reply.job = c.job;
		reply.job_file = c.job_file;
		reply.arena = c.arena;
	} else {
		arena_clear(c.arena);
		t->arena = c.arena;
		http_stats_count(t->stats, reply.route, reply.status,
		                 monotonic_ns() / 1000 - start);
	}
	*ret = reply;
}

enum { EXIT_NO_PROGRAM = 127 }; /* where posix_spawn() cannot tell at once */

/* The problem of a run that failed: its last words, without the name of the program. */
static int job_problem(struct problem *p, struct arena *a, int err, int status,
                       const char *said)
{
	const char *text = strstr(said, ": ");

	text = text != NULL ? text + 2 : said;
	int len = (int)strcspn(text, "\n");

	switch (err) {
	case E_OK: break;
	case E_TIMEOUT: return problem_set(p, a, err, "it took too long, and was ended");
	case E_FULL:
		return problem_set(
			p, a, err,
			"there are enough what-ifs and checks at a time, or this "
			"one has too long an answer; try again, with a smaller limit");
	case -ENOENT:
		return problem_set(p, a, E_NOTREADY,
		                   "the program saguaro is not where --saguaro says");
	default: return problem_set(p, a, E_NOTREADY, "it cannot run: %s", err_text(err));
	}
	if (status < 0) {
		return problem_set(p, a, E_NOTREADY, "it was ended by signal %d",
		                   -status);
	}
	return problem_set(p, a, status == 1 ? E_UNSUITABLE : E_SYNTAX, "%.*s", len,
	                   text);
}

/* Exit status of a run of saguaro that has an answer: yes, no, and of a daemon that is gone. */
static bool has_answer(int status)
{
	return status == 0 || status == 1 || status == 3;
}

void api_job_reply(struct api_thread *t, unsigned route, int err, int status,
                   struct body *out, const char *said, struct api_reply *ret)
{
	struct arena *a = arena_new();
	struct problem p = { .err = 0 };

	*ret = (struct api_reply){ .status = 200,
		                   .route = route,
		                   .content_type = "application/json" };
	if (a != NULL && err == E_OK && has_answer(status) && out->len > 0) {
		ret->body = *out;
	} else {
		body_clear(out);
		err = a != NULL ? job_problem(&p, a, err, status, said) : -ENOMEM;
		p.err = err;
		body_json(&ret->body, problem_json(&p, 0));
		ret->status = gw_status(err);
		ret->retry_after = gw_retry_after(err);
		ret->content_type = "application/problem+json";
	}
	problem_clear(&p);
	arena_free(a);
	http_stats_count(t->stats, route, ret->status, 0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Longer than most: one running server and one fabric serve all of its cases. */

/*
 * The real server on a port of its own, asked by libcurl. The expected answers are taken from the
 * graph that was published, not from the snapshot.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "gateway/api/api.h"
#include "gateway/http/http.h"
#include "routing/graph/node_text.h"
#include "tests/lib/gateway_client.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct http *http;
static struct client client;

/* A two-level tree of 4 leaves with 3 hosts each and 2 spines. */
static char *ft2_args[] = { (char *)"4", (char *)"3", (char *)"2" };

static void start_server(void)
{
	struct http_options o = { .listen = "127.0.0.1:0",
		                  .origins = "https://good.example",
		                  .snapshot_dir = fixture.dir,
		                  .threads = 2 };
	const char *why = "";

	ck_assert_msg(http_start(&o, fixture.arena, &why, &http) == E_OK, "%s", why);
	client_init(&client, http_port(http));
}

static void setup_empty(void)
{
	gateway_fixture_init(&fixture, "ft2", 3, ft2_args);
	start_server();
}

static void setup(void)
{
	gateway_fixture_init(&fixture, "ft2", 3, ft2_args);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 5);
	gateway_fixture_heartbeat(&fixture, 0, true);
	start_server();
}

static void teardown(void)
{
	client_done(&client);
	http_stop(http);
	gateway_fixture_done(&fixture);
}

/* --- the published graph ---------------------------------------------------------------
 */

static const struct node *node_named(const char *description)
{
	for (uint32_t i = 0; i < fixture.g->n_nodes; i++) {
		if (strcmp(fixture.g->nodes[i].description, description) == 0) {
			return &fixture.g->nodes[i];
		}
	}
	ck_abort_msg("no node '%s'", description);
	return NULL;
}

static const struct node *node_at(uint64_t guid)
{
	uint32_t i = graph_node_by_guid(fixture.g, guid);
	ck_assert_uint_ne(i, GRAPH_NONE);
	return &fixture.g->nodes[i];
}

/* Port at the far end of a cable, NULL: none. */
static const struct port *peer_of(const struct node *n, unsigned num)
{
	const struct port *p = &fixture.g->ports[n->first_port + num];
	return p->peer != GRAPH_NONE ? &fixture.g->ports[p->peer] : NULL;
}

static uint32_t lid_of(const struct node *n, unsigned num)
{
	return fixture.lids.of[n->first_port + num].base;
}

static const struct node *nth_host(unsigned k)
{
	for (uint32_t i = 0; i < fixture.g->n_nodes; i++) {
		if (fixture.g->nodes[i].type == NODE_CA && k-- == 0) {
			return &fixture.g->nodes[i];
		}
	}
	ck_abort_msg("too few hosts");
	return NULL;
}

/* --- no daemon -------------------------------------------------------------------------
 */

START_TEST(test_no_daemon)
{
	ck_assert_int_eq(client_get(&client, "/healthz"), 200);
	ck_assert_int_eq(client_get(&client, "/metrics"), 200);
	ck_assert_ptr_nonnull(strstr(client.body, "\nsaguaro_ready 0\n"));
	ck_assert_int_eq(client_get(&client, "/"), 200);
	static const char *const targets[] = { "/readyz", "/paths?src=1&dst=2",
		                               "/v1/nodes" };
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(client_get(&client, targets[i]), 503);
		ck_assert_str_eq(client.type, "application/problem+json");
		ck_assert_str_eq(client.retry_after, "1");
		ck_assert_str_eq(client.epoch, ""); /* of no fabric yet */
		json_t *o = client_json(&client);
		ck_assert_str_eq(text_of(o, "type"), "urn:saguaro:problem:not-ready");
		ck_assert_msg(strstr(text_of(o, "detail"), fixture.dir) != NULL, "%s",
		              text_of(o, "detail"));
		json_decref(o);
	}
}
END_TEST

/* The folder appears while the gateway runs: it is picked up, within a bounded time. */
START_TEST(test_daemon_comes)
{
	ck_assert_int_eq(client_get(&client, "/readyz"), 503);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_heartbeat(&fixture, 0, false);
	gateway_fixture_publish(&fixture, 9);
	gateway_fixture_heartbeat(&fixture, 0, true);
	uint64_t end = boottime_ms() + 120000;
	while (client_get(&client, "/readyz") != 200 && boottime_ms() < end) {
		usleep(20000);
		gateway_fixture_heartbeat(&fixture, 0, true);
	}
	ck_assert_int_eq(client.status, 200);
	json_t *o = client_json(&client);
	ck_assert_int_eq(int_of(o, "epoch"), 9);
	json_decref(o);
}
END_TEST

START_TEST(test_not_up)
{
	stats_text(fixture.stats, "not_ready", "port 3 of switch 'leaf' does not answer");
	gateway_fixture_heartbeat(&fixture, 0, false);
	ck_assert_int_eq(client_get(&client, "/readyz"), 503);
	ck_assert_ptr_nonnull(strstr(client.body, "port 3 of switch 'leaf'"));
	json_t *o = client_json(&client);
	ck_assert_int_eq(int_of(o, "epoch"), 5);
	json_decref(o);
	/* The published data are still served. */
	ck_assert_int_eq(client_get(&client, "/v1/fabric"), 200);
	stats_text(fixture.stats, "not_ready", "");
	gateway_fixture_heartbeat(&fixture, 0, true);
	ck_assert_int_eq(client_get(&client, "/readyz"), 200);
}
END_TEST

START_TEST(test_daemon_gone)
{
	static const char gone[] = "daemon gone since ";
	time_t before = time(NULL);

	gateway_fixture_heartbeat(&fixture, STALE_AFTER_MS + 3000, true);
	time_t after = time(NULL);
	ck_assert_int_eq(client_get(&client, "/readyz"), 503);
	json_t *o = client_json(&client);
	struct tm tm = { 0 };
	const char *detail = text_of(o, "detail");
	ck_assert_msg(strncmp(detail, gone, strlen(gone)) == 0, "%s", detail);
	ck_assert_ptr_nonnull(strptime(detail + strlen(gone), "%Y-%m-%dT%H:%M:%SZ", &tm));
	time_t since = timegm(&tm);
	ck_assert_msg(since >= before && since <= after, "%s", detail);
	ck_assert_int_eq(strncmp(detail + strlen(gone), text_of(o, "since"),
	                         strlen(text_of(o, "since"))),
	                 0);
	json_decref(o);

	/* Answers go on but say so, and a stale one is not taken for a fresh one. */
	o = client_get_json(&client, "/v1/fabric");
	ck_assert(json_is_true(json_object_get(o, "stale")));
	json_decref(o);
	o = client_get_json(&client, "/paths?src=node01&dst=node02");
	ck_assert(json_is_true(json_object_get(o, "stale")));
	json_decref(o);
	ck_assert_ptr_nonnull(strstr(client.etag, "stale"));
}
END_TEST

/* --- protocol --------------------------------------------------------------------------
 */

START_TEST(test_keep_alive)
{
	ck_assert_int_eq(client_get(&client, "/v1/fabric"), 200);
	ck_assert_int_eq(client.connects, 1);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(client_get(&client, i < 2 ? "/v1/fabric" : "/nothing"),
		                 i < 2 ? 200 : 404);
		ck_assert_int_eq(client.connects, 0);
	}
	client_ask(&client, "HEAD", "/v1/nodes", NULL, NULL);
	ck_assert_int_eq(client.status, 200);
	ck_assert_int_eq(client.connects, 0);
	ck_assert_uint_eq(client.len, 0);
	ck_assert_str_ne(client.etag, "");
}
END_TEST

START_TEST(test_methods)
{
	static const char *const methods[] = { "DELETE", "PATCH", "BREW", "POST" };
	static const char *const bodies[] = { NULL, NULL, NULL, "src=1" };

	for (unsigned i = 0; i < 4; i++) {
		client_ask(&client, methods[i], "/paths", NULL, bodies[i]);
		ck_assert_int_eq(client.status, 405);
		ck_assert_str_eq(client.allow, "GET, HEAD, OPTIONS");
		ck_assert_str_eq(client.type, "application/problem+json");
		ck_assert_str_ne(client.epoch, "");
	}
	client_ask(&client, "POST", "/paths", NULL, "src=1");
	ck_assert_int_eq(client.status, 405);
	ck_assert_str_eq(client.allow, "GET, HEAD, OPTIONS");
	client_ask(&client, "POST", "/nowhere", NULL, "src=1");
	ck_assert_int_eq(client.status, 404);
	client_ask(&client, "GET", "/v1/paths:batch", NULL, NULL);
	ck_assert_int_eq(client.status, 405);
	ck_assert_str_eq(client.allow, "POST, OPTIONS");
	client_ask(&client, "OPTIONS", "/paths", NULL, NULL);
	ck_assert_int_eq(client.status, 204);
	ck_assert_str_eq(client.allow, "GET, HEAD, OPTIONS");
	client_ask(&client, "OPTIONS", "/none", NULL, NULL);
	ck_assert_int_eq(client.status, 404);
	client_ask(&client, "GET", "/paths", NULL, "src=1");
	ck_assert_int_eq(client.status, 413);
	ck_assert_str_eq(client.type, "application/problem+json");
	/* After refusing, the server serves on. */
	ck_assert_int_eq(client_get(&client, "/v1/fabric"), 200);
}
END_TEST

/* A page of somebody else that has its name point here gets nothing. */
START_TEST(test_foreign_host)
{
	client_ask(&client, "GET", "/v1/fabric", "Host: evil.example:8620", NULL);
	ck_assert_int_eq(client.status, 421);
	ck_assert_str_eq(client.type, "application/problem+json");
	ck_assert_ptr_null(strstr(client.body, "subnet_prefix"));
	client_ask(&client, "GET", "/v1/fabric", "Host: localhost", NULL);
	ck_assert_int_eq(client.status, 200);
	client_ask(&client, "GET", "/v1/fabric", "Origin: https://evil.example", NULL);
	ck_assert_int_eq(client.status, 200);
	ck_assert_str_eq(client.cors, "");
	client_ask(&client, "GET", "/v1/fabric", "Origin: https://good.example", NULL);
	ck_assert_str_eq(client.cors, "https://good.example");
	client_ask(&client, "OPTIONS", "/v1/fabric", "Origin: https://good.example",
	           NULL);
	ck_assert_int_eq(client.status, 204);
	ck_assert_str_eq(client.cors, "https://good.example");
}
END_TEST

START_TEST(test_long_target)
{
	char target[12000];

	memset(target, 'x', sizeof(target));
	memcpy(target, "/paths?", 7);
	target[9000] = '\0';
	ck_assert_int_eq(client_get(&client, target), 414);
	ck_assert_int_eq(client_get(&client, "/healthz"), 200);
}
END_TEST

START_TEST(test_etag)
{
	char header[96], first[64];
	static const char *const targets[] = { "/v1/nodes",   "/paths?src=1&dst=2",
		                               "/v1/routing", "/v1/links",
		                               "/v1/lids",    "/v1/fabric" };

	for (unsigned i = 0; i < 6; i++) {
		ck_assert_int_eq(client_get(&client, targets[i]), 200);
		ck_assert_str_eq(client.epoch, "5");
		ck_assert_int_eq(strncmp(client.etag, "\"5-", 3), 0);
		strcpy(first, client.etag);
		snprintf(header, sizeof(header), "If-None-Match: \"x\", W/%s", first);
		client_ask(&client, "GET", targets[i], header, NULL);
		ck_assert_int_eq(client.status, 304);
		ck_assert_uint_eq(client.len, 0);
		ck_assert_str_eq(client.etag, first);
	}
	gateway_fixture_publish(&fixture, 6);
	client_ask(&client, "GET", "/v1/fabric", header, NULL);
	ck_assert_int_eq(client.status, 200);
	ck_assert_str_ne(client.etag, first);
	ck_assert_str_eq(client.epoch, "6");
}
END_TEST

START_TEST(test_port_in_use)
{
	char address[32];
	struct http_options o = { .listen = address,
		                  .snapshot_dir = fixture.dir,
		                  .threads = 1 };
	struct http *second = NULL;
	const char *why = "";

	snprintf(address, sizeof(address), "127.0.0.1:%u", http_port(http));
	ck_assert_int_eq(http_start(&o, fixture.arena, &why, &second), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(why, address));
	ck_assert_ptr_nonnull(strstr(why, "--listen"));
	ck_assert_ptr_null(second);
}
END_TEST

static const char *const bad_addresses[] = { "",
	                                     "8620",
	                                     ":8620",
	                                     "127.0.0.1",
	                                     "127.0.0.1:",
	                                     "127.0.0.1:65536",
	                                     "127.0.0.1:x",
	                                     "::1:80",
	                                     "[::1:80",
	                                     "[]:80",
	                                     "no.such.host.invalid:80" };

START_TEST(test_bad_address)
{
	struct http_options o = { .listen = bad_addresses[_i],
		                  .snapshot_dir = "/",
		                  .threads = 1 };
	struct arena *a = arena_new();
	struct http *h = NULL;
	const char *why = NULL;

	ck_assert_int_eq(http_start(&o, a, &why, &h), E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(why, "cannot listen on"));
	ck_assert_ptr_null(h);
	arena_free(a);
}
END_TEST

/* --- problems --------------------------------------------------------------------------
 */

static const struct {
	const char *target;
	long status;
	const char *type, *parameter, *detail;
} problems[] = {
	{ "/pathz", 404, "no-such-resource", NULL, "'/paths'" },
	{ "/v1/node", 404, "no-such-resource", NULL, "'/v1/nodes'" },
	{ "/paths", 400, "bad-parameter", "src", "missing" },
	{ "/paths?src=1", 400, "bad-parameter", "dst", "missing" },
	{ "/paths?src=1&dst=2&hosp=1", 400, "bad-parameter", "hosp", "hosp" },
	{ "/paths?src=1&dst=2&src=1", 400, "bad-parameter", "src", "twice" },
	{ "/paths?src=1&dst=%zz", 400, "syntax", "dst", "%zz" },
	{ "/paths?src=nobody&dst=2", 404, "not-found", "src", "nobody" },
	{ "/paths?src=node01&dst=node1", 404, "not-found", "dst", "did you mean" },
	{ "/paths?src=1&dst=2&mode=fast", 400, "unknown", "mode",
	  "minimal, pairwise, orderall, srcdstall" },
	{ "/paths?src=1&dst=2&numb_path=0", 400, "range", "numb_path", "1-127" },
	{ "/paths?src=1&dst=2&numb_path=many", 400, "syntax", "numb_path", "1-127" },
	{ "/paths?src=1&dst=2&hops=yes", 400, "unknown", "hops", "0, 1" },
	{ "/paths?src=1&dst=2&sl=16", 400, "range", "sl", "0-15" },
	{ "/paths?src=1&dst=2&mtu=6", 400, "range", "mtu", "1-5" },
	{ "/paths?src=1&dst=2&rate_selector=about", 400, "unknown", "rate_selector",
	  "exact" },
	{ "/paths?src=1&dst=2&rate_selector=less", 400, "bad-parameter", "rate_selector",
	  "rate=" },
	{ "/paths?src=1&dst=2&p_key=0x1234", 422, "partition", "p_key", "0x1234" },
	{ "/v1/nodes/xyz", 404, "not-found", NULL, "xyz" },
	{ "/v1/nodes/0x1", 404, "not-found", NULL, "0x0000000000000001" },
	{ "/v1/nodes?type=host", 400, "unknown", "type", "ca, switch or router" },
	{ "/v1/nodes?limit=0", 400, "range", "limit", "1-" },
	{ "/v1/nodes?limit=1000000", 400, "range", "limit", "1-" },
	{ "/v1/nodes?cursor=zz", 400, "syntax", "cursor", "next_cursor" },
	{ "/v1/nodes?cursor=4-0-0-0", 410, "epoch-gone", "cursor", "epoch 4" },
	{ "/v1/links?type=ca", 400, "bad-parameter", "type", "type" },
	{ "/v1/switches/0x1/lft", 404, "not-found", NULL, "/v1/nodes?type=switch" },
	{ "/healthz?x=1", 400, "bad-parameter", "x", "x" },
};

START_TEST(test_problem)
{
	char type[96];

	client_get(&client, problems[_i].target);
	ck_assert_msg(client.status == problems[_i].status, "%s: %ld %s",
	              problems[_i].target, client.status, client.body);
	ck_assert_str_eq(client.type, "application/problem+json");
	json_t *o = client_json(&client);
	snprintf(type, sizeof(type), "urn:saguaro:problem:%s", problems[_i].type);
	ck_assert_str_eq(text_of(o, "type"), type);
	ck_assert_int_eq(int_of(o, "status"), problems[_i].status);
	ck_assert_int_eq(int_of(o, "epoch"), 5);
	ck_assert_str_eq(client.epoch, "5");
	ck_assert_pstr_eq(json_string_value(json_object_get(o, "parameter")),
	                  problems[_i].parameter);
	ck_assert_msg(strstr(text_of(o, "detail"), problems[_i].detail) != NULL, "%s",
	              text_of(o, "detail"));
	json_decref(o);
}
END_TEST

START_TEST(test_lft_of_a_host)
{
	char target[64];

	snprintf(target, sizeof(target), "/v1/switches/0x%016llx/lft",
	         (unsigned long long)nth_host(0)->guid);
	ck_assert_int_eq(client_get(&client, target), 404);
	ck_assert_ptr_nonnull(strstr(client.body, "only a switch"));
}
END_TEST

START_TEST(test_alternates)
{
	const struct alternates *x = &fixture.route.alternates;
	char target[64];
	size_t i;
	json_t *item;

	for (uint32_t s = 0; s < fixture.g->n_switches; s++) {
		snprintf(target, sizeof(target), "/v1/switches/0x%016llx/alternates",
		         (unsigned long long)fixture.g->nodes[fixture.g->switches[s]]
		                 .guid);
		json_t *o = client_get_json(&client, target);
		const json_t *groups = json_object_get(o, "port_groups");
		const json_t *lids = json_object_get(o, "alternates");
		size_t have = 0;

		ck_assert_uint_eq(json_array_size(groups), x->groups[s].n);
		json_array_foreach(groups, i, item)
		{
			const json_t *ports = json_object_get(item, "ports");

			ck_assert_uint_eq(json_array_size(ports),
			                  port_set_count(&x->groups[s].set[i]));
			ck_assert(port_set_has(
				&x->groups[s].set[i],
				(unsigned)json_integer_value(json_array_get(ports, 0))));
		}
		json_array_foreach(lids, i, item)
		{
			ck_assert_int_eq(int_of(item, "group"),
			                 x->rows[s * x->stride + (size_t)int_of(item, "lid")]);
		}
		for (uint32_t lid = 1; lid <= fixture.lids.top; lid++) {
			have += alternates_of(x, s, lid) != NULL;
		}
		ck_assert_uint_eq(json_array_size(lids), have);
		json_decref(o);
	}
	snprintf(target, sizeof(target), "/v1/switches/0x%016llx/alternates",
	         (unsigned long long)nth_host(0)->guid);
	ck_assert_int_eq(client_get(&client, target), 404);
}
END_TEST

/* --- answers ---------------------------------------------------------------------------
 */

START_TEST(test_fabric)
{
	json_t *o = client_get_json(&client, "/v1/fabric");
	ck_assert_int_eq(int_of(o, "epoch"), 5);
	ck_assert_str_eq(text_of(o, "computed_at"), "2026-01-01T00:00:00Z");
	ck_assert_int_eq(int_of(o, "nodes"), 18);
	ck_assert_int_eq(int_of(o, "switches"), 6);
	ck_assert_int_eq(int_of(o, "hosts"), 12);
	ck_assert_int_eq(int_of(o, "links"), fixture.g->n_links);
	ck_assert_str_eq(text_of(json_object_get(o, "sm"), "state"), "master");
	ck_assert_ptr_null(json_object_get(o, "stale"));
	json_decref(o);

	o = client_get_json(&client, "/v1/routing");
	ck_assert_str_eq(text_of(o, "engine_asked"), "minhop");
	ck_assert_str_eq(text_of(o, "engine_used"), "minhop");
	ck_assert(json_is_null(json_object_get(o, "fallback_reason")));
	ck_assert_int_eq(int_of(o, "unreachable_pairs"), 0);
	ck_assert_int_eq(int_of(o, "credit_loops"), 0);
	ck_assert_int_eq(int_of(json_object_get(o, "load"), "max"),
	                 fixture.route.load.max);
	json_decref(o);
}
END_TEST

static void check_port(const struct node *n, const json_t *o)
{
	unsigned num = (unsigned)int_of(o, "num");
	const struct port *peer = num > 0 ? peer_of(n, num) : NULL;
	const json_t *peer_json = json_object_get(o, "peer");

	ck_assert_uint_eq(guid_of(o, "guid"), fixture.g->ports[n->first_port + num].guid);
	if (peer == NULL) {
		ck_assert(json_is_null(peer_json));
		return;
	}
	ck_assert_uint_eq(guid_of(peer_json, "guid"), fixture.g->nodes[peer->node].guid);
	ck_assert_int_eq(int_of(peer_json, "port"), peer->num);
	ck_assert_str_eq(text_of(o, "width"), "4x");
	ck_assert_str_eq(text_of(o, "speed"), "EDR");
	ck_assert_int_eq(int_of(o, "rate_gbps"), 100);
	ck_assert_int_eq(int_of(o, "mtu_bytes"), 4096);
}

START_TEST(test_nodes)
{
	json_t *o = client_get_json(&client, "/v1/nodes"), *node, *port;
	size_t i, k;

	ck_assert_uint_eq(json_array_size(json_object_get(o, "nodes")),
	                  fixture.g->n_nodes);
	json_array_foreach(json_object_get(o, "nodes"), i, node)
	{
		const struct node *n = &fixture.g->nodes[i]; /* both by GUID */
		ck_assert_uint_eq(guid_of(node, "guid"), n->guid);
		ck_assert_str_eq(text_of(node, "description"), n->description);
		ck_assert_str_eq(text_of(node, "name"), node_name(n));
		ck_assert_str_eq(text_of(node, "type"), node_type_name(n->type));
		ck_assert_int_eq(int_of(node, "lid"),
		                 lid_of(n, n->type == NODE_SWITCH ? 0 : 1));
		ck_assert_uint_eq(json_array_size(json_object_get(node, "ports")),
		                  n->n_ports + (n->type == NODE_SWITCH ? 1U : 0U));
		json_array_foreach(json_object_get(node, "ports"), k, port)
		{
			check_port(n, port);
		}
	}
	json_decref(o);

	o = client_get_json(&client, "/v1/nodes?type=switch&ports=0");
	ck_assert_uint_eq(json_array_size(json_object_get(o, "nodes")), 6);
	ck_assert_ptr_null(
		json_object_get(json_array_get(json_object_get(o, "nodes"), 0), "ports"));
	json_decref(o);
}
END_TEST

START_TEST(test_one_node)
{
	const struct node *host = nth_host(3);
	const uint64_t guids[] = { host->guid,
		                   fixture.g->ports[host->first_port + 1].guid };
	char target[64];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(target, sizeof(target), "/v1/nodes/0x%llx",
		         (unsigned long long)guids[i]);
		json_t *o = client_get_json(&client, target);
		ck_assert_uint_eq(guid_of(o, "guid"), host->guid);
		ck_assert_int_eq(int_of(o, "epoch"), 5);
		check_port(host, json_array_get(json_object_get(o, "ports"), 0));
		json_decref(o);
	}
}
END_TEST

START_TEST(test_links)
{
	json_t *o = client_get_json(&client, "/v1/links"), *link;
	size_t i;

	ck_assert_uint_eq(json_array_size(json_object_get(o, "links")),
	                  fixture.g->n_links);
	json_array_foreach(json_object_get(o, "links"), i, link)
	{
		const json_t *a = json_object_get(link, "a"),
			     *b = json_object_get(link, "b");
		const struct port *peer =
			peer_of(node_at(guid_of(a, "guid")), (unsigned)int_of(a, "port"));
		ck_assert_uint_eq(fixture.g->nodes[peer->node].guid, guid_of(b, "guid"));
		ck_assert_int_eq(peer->num, int_of(b, "port"));
	}
	json_decref(o);
}
END_TEST

START_TEST(test_lids)
{
	json_t *o = client_get_json(&client, "/v1/lids"), *row;
	size_t i;

	ck_assert_uint_eq(json_array_size(json_object_get(o, "lids")),
	                  fixture.g->n_end_ports);
	json_array_foreach(json_object_get(o, "lids"), i, row)
	{
		const struct node *n = node_at(guid_of(row, "node_guid"));
		ck_assert_int_eq(int_of(row, "lid"),
		                 lid_of(n, (unsigned)int_of(row, "port")));
		ck_assert_str_eq(text_of(row, "description"), n->description);
	}
	json_decref(o);
}
END_TEST

START_TEST(test_lft)
{
	char target[64];

	for (uint32_t s = 0; s < fixture.g->n_switches; s++) {
		const struct node *n = &fixture.g->nodes[fixture.g->switches[s]];
		const uint8_t *want = lft_row(&fixture.route.out.lft, s);
		unsigned n_routes = 0;
		json_t *route;
		size_t i;
		snprintf(target, sizeof(target), "/v1/switches/0x%016llx/lft",
		         (unsigned long long)n->guid);
		json_t *o = client_get_json(&client, target);
		json_array_foreach(json_object_get(o, "routes"), i, route)
		{
			ck_assert_int_eq(int_of(route, "port"),
			                 want[int_of(route, "lid")]);
		}
		for (uint32_t lid = 1; lid <= fixture.lids.top; lid++) {
			n_routes += want[lid] != LFT_NO_ROUTE;
		}
		ck_assert_uint_eq(json_array_size(json_object_get(o, "routes")),
		                  n_routes);
		json_decref(o);
	}
}
END_TEST

/* Pages put together are the whole list, whatever the size of a page. */
START_TEST(test_pages)
{
	static const struct {
		const char *target, *list;
	} lists[] = { { "/v1/nodes", "nodes" },
		      { "/v1/links", "links" },
		      { "/v1/lids", "lids" },
		      { "/v1/nodes?type=ca", "nodes" } };
	static const unsigned limits[] = { 1, 5, 12, 100 };

	json_t *whole = client_get_json(&client, lists[_i].target);
	for (unsigned k = 0; k < 4; k++) {
		json_t *all = json_array();
		char cursor[80] = "";
		do {
			char target[512];
			snprintf(target, sizeof(target), "%s%climit=%u%s%s",
			         lists[_i].target,
			         strchr(lists[_i].target, '?') != NULL ? '&' : '?',
			         limits[k], cursor[0] != '\0' ? "&cursor=" : "", cursor);
			json_t *page = client_get_json(&client, target);
			ck_assert_uint_le(
				json_array_size(json_object_get(page, lists[_i].list)),
				limits[k]);
			json_array_extend(all, json_object_get(page, lists[_i].list));
			snprintf(cursor, sizeof(cursor), "%s",
			         text_of(page, "next_cursor"));
			json_decref(page);
		} while (cursor[0] != '\0');
		ck_assert(json_equal(all, json_object_get(whole, lists[_i].list)));
		json_decref(all);
	}
	json_decref(whole);
}
END_TEST

/* The link to the next page leads through the list (RFC 8288), whatever the query holds. */
START_TEST(test_link_to_next_page)
{
	static const char *const targets[] = {
		"/v1/links?limit=7",
		"/v1/ports?cursor=&limit=9&name=*%3E%3C*&type=ca",
		"/v1/ports?name=*>*&limit=5",
		"/v1/nodes?limit=5&&ports=0",
	};
	char target[1024];
	json_int_t total = 0, seen = 0;

	snprintf(target, sizeof(target), "%s", targets[_i]);
	if (strstr(target, "cursor=&") != NULL) {
		ck_assert_int_eq(client_get(&client, target), 400);
		snprintf(target, sizeof(target), "/v1/ports?limit=9&name=*%%3E*");
	}
	for (unsigned pages = 0; pages < 100; pages++) {
		json_t *o = client_get_json(&client, target);
		const char *list = json_object_get(o, "links") != NULL   ? "links"
		                   : json_object_get(o, "ports") != NULL ? "ports"
		                                                         : "nodes";
		seen += (json_int_t)json_array_size(json_object_get(o, list));
		total = int_of(o, "total");
		json_decref(o);
		char *end = strstr(client.link, ">; rel=\"next\"");
		ck_assert(client.link[0] == '\0' ||
		          (client.link[0] == '<' && end != NULL));
		if (end == NULL) {
			break;
		}
		*end = '\0';
		ck_assert_ptr_null(strpbrk(client.link + 1, "<> \""));
		snprintf(target, sizeof(target), "%s", client.link + 1);
	}
	ck_assert_int_eq(seen, total);
}
END_TEST

START_TEST(test_cursor_of_another_epoch)
{
	char target[128];

	json_t *o = client_get_json(&client, "/v1/nodes?limit=2");
	snprintf(target, sizeof(target), "/v1/nodes?limit=2&cursor=%s",
	         text_of(o, "next_cursor"));
	json_decref(o);
	ck_assert_int_eq(client_get(&client, target), 200);
	gateway_fixture_publish(&fixture, 6);
	ck_assert_int_eq(client_get(&client, target), 410);
}
END_TEST

/* --- paths -----------------------------------------------------------------------------
 */

/* Hops must be cables of the graph, from the source's switch to the destination. */
static void check_hops(const json_t *path, const struct node *src, const struct node *dst)
{
	const struct port *at = peer_of(src, 1);
	const json_t *hops = json_object_get(path, "hops");
	json_t *hop;
	size_t i;

	ck_assert_uint_eq(json_array_size(hops), (size_t)int_of(path, "hop_count"));
	json_array_foreach(hops, i, hop)
	{
		const struct node *sw = &fixture.g->nodes[at->node];
		ck_assert_uint_eq(guid_of(hop, "guid"), sw->guid);
		ck_assert_str_eq(text_of(hop, "description"), sw->description);
		ck_assert_int_eq(int_of(hop, "lid"), lid_of(sw, 0));
		ck_assert_int_eq(int_of(hop, "in_port"), at->num);
		at = peer_of(sw, (unsigned)int_of(hop, "out_port"));
		ck_assert_ptr_nonnull(at);
	}
	ck_assert_uint_eq(fixture.g->nodes[at->node].guid, dst->guid);
}

/* Nodes, links and hops have the operator's names; look-ups take these and descriptions.
 */
START_TEST(test_operator_names)
{
	struct node *src = (struct node *)nth_host(0);
	struct node *sw = &fixture.g->nodes[peer_of(src, 1)->node];
	json_t *o, *link;
	size_t i;
	unsigned n = 0;

	src->name = "rack 7";
	sw->name = "leaf \xff";
	gateway_fixture_publish(&fixture, 6);
	const char *const ways[] = { "/paths?src=rack%207&dst=node02&hops=1",
		                     "/paths?src=node01:1&dst=node02&hops=1" };
	for (i = 0; i < 2; i++) {
		o = client_get_json(&client, ways[i]);
		const json_t *path = json_array_get(json_object_get(o, "paths"), 0);
		const json_t *hop = json_array_get(json_object_get(path, "hops"), 0);
		ck_assert_str_eq(text_of(hop, "name"), "leaf \xef\xbf\xbd");
		ck_assert_str_eq(text_of(hop, "description"), sw->description);
		json_decref(o);
	}
	o = client_get_json(&client, "/v1/links");
	json_array_foreach(json_object_get(o, "links"), i, link)
	{
		const json_t *a = json_object_get(link, "a"),
			     *b = json_object_get(link, "b");
		n += guid_of(a, "guid") == src->guid &&
		     !strcmp(text_of(a, "name"), "rack 7");
		n += guid_of(b, "guid") == src->guid &&
		     !strcmp(text_of(b, "name"), "rack 7");
	}
	ck_assert_uint_eq(n, 1);
	json_decref(o);
	ck_assert_int_eq(client_get(&client, "/paths?src=rack%208&dst=node02"), 404);
}
END_TEST

START_TEST(test_paths)
{
	for (unsigned s = 0; s < 12; s++) {
		for (unsigned d = 0; d < 12; d++) {
			const struct node *src = nth_host(s), *dst = nth_host(d);
			char target[128];
			if (s == d) {
				continue;
			}
			snprintf(target, sizeof(target), "%spaths?src=%s&dst=%u&hops=1",
			         d % 2 != 0 ? "/" : "/v1/", src->description,
			         lid_of(dst, 1));
			json_t *o = client_get_json(&client, target);
			const json_t *path =
				json_array_get(json_object_get(o, "paths"), 0);
			ck_assert_int_eq(int_of(o, "epoch"), 5);
			ck_assert_uint_eq(json_array_size(json_object_get(o, "paths")),
			                  1);
			ck_assert_int_eq(int_of(path, "slid"), lid_of(src, 1));
			ck_assert_int_eq(int_of(path, "dlid"), lid_of(dst, 1));
			ck_assert_int_eq(int_of(path, "mtu_bytes"), 4096);
			ck_assert_int_eq(int_of(path, "rate"), 16); /* 4x EDR, 100 Gb/s */
			ck_assert_int_eq(int_of(path, "rate_gbps"), 100);
			check_hops(path, src, dst);
			json_decref(o);
		}
	}
	json_t *o = client_get_json(&client, "/paths?src=node01&dst=node02");
	ck_assert_ptr_null(
		json_object_get(json_array_get(json_object_get(o, "paths"), 0), "hops"));
	json_decref(o);
}
END_TEST

/* Every kind of selector names the same end port. */
START_TEST(test_selectors)
{
	const struct node *host = nth_host(4);
	uint64_t guid = fixture.g->ports[host->first_port + 1].guid;
	char names[5][72];

	snprintf(names[0], sizeof(names[0]), "%u", lid_of(host, 1));
	snprintf(names[1], sizeof(names[1]), "0x%016llx", (unsigned long long)guid);
	snprintf(names[2], sizeof(names[2]), "fe80::%llx:%llx:%llx:%llx",
	         (unsigned long long)(guid >> 48),
	         (unsigned long long)(guid >> 32 & 0xffff),
	         (unsigned long long)(guid >> 16 & 0xffff),
	         (unsigned long long)(guid & 0xffff));
	snprintf(names[3], sizeof(names[3]), "%s", host->description);
	snprintf(names[4], sizeof(names[4]), "%s:1", host->description);
	for (unsigned i = 0; i < 5; i++) {
		char target[512];
		snprintf(target, sizeof(target), "/paths?src=node01&dst=%s", names[i]);
		json_t *o = client_get_json(&client, target);
		const json_t *path = json_array_get(json_object_get(o, "paths"), 0);
		ck_assert_int_eq(int_of(path, "dlid"), lid_of(host, 1));
		json_decref(o);
	}
}
END_TEST

static void setup_lmc(void)
{
	gateway_fixture_init(&fixture, "ft2", 3, ft2_args);
	gateway_fixture_route(&fixture, 2);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 5);
	gateway_fixture_heartbeat(&fixture, 0, true);
	start_server();
}

/* Sizes of the answers with 4 LIDs on both sides: the modes' definitions. */
START_TEST(test_modes)
{
	static const struct {
		const char *query;
		unsigned n;
	} modes[] = { { "mode=minimal", 4 },
		      { "mode=pairwise", 4 },
		      { "mode=orderall", 16 },
		      { "mode=SrcDstAll", 16 },
		      { "mode=srcdstall&numb_path=3", 3 },
		      { "", 4 } };

	for (unsigned i = 0; i < 6; i++) {
		char target[128];
		snprintf(target, sizeof(target), "/paths?src=node01&dst=node08&hops=1&%s",
		         modes[i].query);
		json_t *o = client_get_json(&client, target), *path;
		size_t k;
		ck_assert_uint_eq(json_array_size(json_object_get(o, "paths")),
		                  modes[i].n);
		json_array_foreach(json_object_get(o, "paths"), k, path)
		{
			check_hops(path, node_named("node01"), node_named("node08"));
		}
		json_decref(o);
	}
}
END_TEST

START_TEST(test_ambiguous)
{
	/* Two hosts with one name. */
	for (uint32_t i = 0, n = 0; i < fixture.g->n_nodes && n < 2; i++) {
		if (fixture.g->nodes[i].type == NODE_CA) {
			fixture.g->nodes[i].description = "twin \xff";
			n++;
		}
	}
	gateway_fixture_publish(&fixture, 6);
	ck_assert_int_eq(client_get(&client, "/paths?src=twin%20%FF&dst=node08"), 409);
	json_t *o = client_json(&client);
	ck_assert_str_eq(text_of(o, "type"), "urn:saguaro:problem:ambiguous");
	ck_assert_str_eq(text_of(o, "parameter"), "src");
	ck_assert_uint_eq(json_array_size(json_object_get(o, "candidates")), 2);
	json_decref(o);

	/* The byte that is no UTF-8 stands as U+FFFD. */
	o = client_get_json(&client, "/v1/nodes?type=ca&limit=1");
	ck_assert_str_eq(
		text_of(json_array_get(json_object_get(o, "nodes"), 0), "description"),
		"twin \xef\xbf\xbd");
	json_decref(o);
}
END_TEST

/* A switch with two hosts, named "<prefix>-switch", "<prefix>-1", "<prefix>-2". */
static void add_star(const char *prefix, uint64_t guid)
{
	char name[32];
	uint32_t sw, host;

	snprintf(name, sizeof(name), "%s-switch", prefix);
	ck_assert_int_eq(graph_add_node(fixture.g, NODE_SWITCH, guid, 4, name, NULL, &sw),
	                 E_OK);
	for (unsigned i = 1; i <= 2; i++) {
		snprintf(name, sizeof(name), "%s-%u", prefix, i);
		ck_assert_int_eq(graph_add_node(fixture.g, NODE_CA, guid + 16 * i, 1,
		                                name, NULL, &host),
		                 E_OK);
		ck_assert_int_eq(graph_connect(fixture.g, graph_port(fixture.g, host, 1),
		                               graph_port(fixture.g, sw, i)),
		                 E_OK);
	}
}

/* A fabric in two parts. */
static void setup_parts(void)
{
	gateway_fixture_init(&fixture, "ft2", 3, ft2_args);
	fixture.g = graph_new(fixture.arena);
	add_star("left", 0x1000);
	add_star("right", 0x2000);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 5);
	gateway_fixture_heartbeat(&fixture, 0, true);
	start_server();
}

START_TEST(test_parts)
{
	ck_assert_int_eq(client_get(&client, "/paths?src=left-1&dst=right-2"), 422);
	json_t *o = client_json(&client);
	ck_assert_str_eq(text_of(o, "type"), "urn:saguaro:problem:no-path");
	ck_assert_str_eq(text_of(o, "reason"), "different-part");
	ck_assert_ptr_nonnull(strstr(text_of(o, "detail"), "right-2"));
	json_decref(o);
	/* Both parts work. */
	ck_assert_int_eq(client_get(&client, "/paths?src=left-1&dst=left-2&hops=1"), 200);
	ck_assert_int_eq(client_get(&client, "/paths?src=right-2&dst=right-1&hops=1"),
	                 200);
}
END_TEST

/* A host with two ports: one is in the fabric, the other is cabled to a host that has no
 * switch. */
static void setup_side_cable(void)
{
	uint32_t both, beside;

	gateway_fixture_init(&fixture, "ft2", 3, ft2_args);
	fixture.g = graph_new(fixture.arena);
	add_star("left", 0x1000);
	ck_assert_int_eq(
		graph_add_node(fixture.g, NODE_CA, 0x3000, 2, "both", NULL, &both), E_OK);
	ck_assert_int_eq(
		graph_add_node(fixture.g, NODE_CA, 0x3100, 1, "beside", NULL, &beside),
		E_OK);
	ck_assert_int_eq(graph_connect(fixture.g, graph_port(fixture.g, both, 1),
	                               graph_port(fixture.g, 0, 3)),
	                 E_OK);
	ck_assert_int_eq(graph_connect(fixture.g, graph_port(fixture.g, both, 2),
	                               graph_port(fixture.g, beside, 1)),
	                 E_OK);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 5);
	gateway_fixture_heartbeat(&fixture, 0, true);
	start_server();
}

/* Hosts forward nothing: the two are in one part of the fabric, and no switch is to blame. */
START_TEST(test_side_cable)
{
	ck_assert_int_eq(client_get(&client, "/paths?src=beside&dst=both:2"), 200);
	ck_assert_int_eq(client_get(&client, "/paths?src=beside&dst=left-1"), 422);
	json_t *o = client_json(&client);
	ck_assert_str_eq(text_of(o, "type"), "urn:saguaro:problem:no-path");
	ck_assert_str_eq(text_of(o, "reason"), "no-route");
	ck_assert_ptr_null(json_object_get(o, "switch"));
	json_decref(o);
}
END_TEST

START_TEST(test_hole)
{
	const struct node *leaf = node_named("leaf-0000"), *dst = node_named("node08");
	struct route_request rq = { .g = fixture.g, .lids = &fixture.lids };
	struct route_result damaged;

	lft_row(&fixture.route.out.lft, leaf->sw)[lid_of(dst, 1)] = LFT_NO_ROUTE;
	ck_assert_int_eq(route_list_parse("minhop", &rq.list, NULL), E_OK);
	route_check(&rq, &fixture.route.out.lft, &fixture.route.out.lanes, fixture.arena,
	            &damaged);
	fixture.route.paths = damaged.paths;
	if (damaged.paths.rows == NULL) { /* refused tables come without path rows */
		ck_assert_int_eq(paths_load_build(fixture.g, &fixture.lids,
		                                  &fixture.route.out.lft,
		                                  &fixture.route.out.lanes, fixture.arena,
		                                  &fixture.route.paths, NULL),
		                 E_OK);
	}
	gateway_fixture_publish(&fixture, 6);
	ck_assert_int_eq(client_get(&client, "/paths?src=node01&dst=node08"), 422);
	json_t *o = client_json(&client);
	ck_assert_str_eq(text_of(o, "reason"), "hole");
	ck_assert_uint_eq(guid_of(o, "switch"), leaf->guid);
	ck_assert_ptr_nonnull(strstr(text_of(o, "detail"), "leaf-0000"));
	json_decref(o);
	ck_assert_int_eq(client_get(&client, "/paths?src=node08&dst=node01"), 200);
}
END_TEST

/* --- metrics ---------------------------------------------------------------------------
 */

static bool is_number(const char *s)
{
	char *end;
	if (strcmp(s, "NaN") == 0 || strcmp(s, "+Inf") == 0 || strcmp(s, "-Inf") == 0) {
		return true;
	}
	strtod(s, &end);
	return end != s && *end == '\0';
}

/* One sample: a label list by the grammar, one blank, a number. \return end of the name.
 */
static size_t check_sample(const char *line)
{
	size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz_0123456789");
	const char *s = line + name;

	ck_assert_msg(name > 0, "%s", line);
	if (*s == '{') {
		do {
			s++;
			size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_");
			ck_assert_msg(n > 0 && s[n] == '=' && s[n + 1] == '"', "%s",
			              line);
			for (s += n + 2; *s != '"'; s++) {
				ck_assert_msg(*s != '\0', "%s", line);
				if (*s == '\\') {
					s++;
					ck_assert_msg(strchr("\\\"n", *s) != NULL &&
					                      *s != '\0',
					              "%s", line);
				}
			}
			s++;
		} while (*s == ',');
		ck_assert_msg(*s == '}', "%s", line);
		s++;
	}
	ck_assert_msg(*s == ' ' && is_number(s + 1), "%s", line);
	return name;
}

/* The name of a line's family: of a histogram's sample, without its suffix. */
static bool in_family(const char *sample, size_t len, const char *family, bool histogram)
{
	static const char *const suffixes[] = { "_bucket", "_sum", "_count" };
	size_t n = strlen(family);

	if (!histogram) {
		return len == n && memcmp(sample, family, n) == 0;
	}
	for (unsigned i = 0; i < 3; i++) {
		size_t m = strlen(suffixes[i]);
		if (len == n + m && memcmp(sample, family, n) == 0 &&
		    memcmp(sample + n, suffixes[i], m) == 0) {
			return true;
		}
	}
	return false;
}

enum { FAMILIES_MAX = 200 };

/* The whole text: HELP, TYPE, samples of that family; no family and no series twice. */
static void check_exposition(char *text)
{
	static char families[FAMILIES_MAX][128];
	unsigned n = 0;
	bool histogram = false;
	json_t *seen = json_object();
	char *save = NULL;

	ck_assert_int_eq(text[strlen(text) - 1], '\n');
	for (char *line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[128], type[32], help[400];
		if (sscanf(line, "# HELP %127s %399[^\n]", name, help) == 2) {
			for (unsigned i = 0; i < n; i++) {
				ck_assert_str_ne(families[i], name);
			}
			ck_assert_uint_lt(n, FAMILIES_MAX);
			strcpy(families[n++], name);
			ck_assert_int_eq(strncmp(name, "saguaro_", 8), 0);
			continue;
		}
		ck_assert_uint_gt(n, 0);
		if (sscanf(line, "# TYPE %127s %31s", name, type) == 2) {
			ck_assert_str_eq(name, families[n - 1]);
			histogram = strcmp(type, "histogram") == 0;
			bool counter = strcmp(type, "counter") == 0;
			ck_assert(histogram || counter || strcmp(type, "gauge") == 0);
			size_t len = strlen(name);
			ck_assert_int_eq(counter, len > 6 && strcmp(name + len - 6,
			                                            "_total") == 0);
			continue;
		}
		ck_assert_msg(line[0] != '#', "%s", line);
		size_t len = check_sample(line);
		ck_assert_msg(in_family(line, len, families[n - 1], histogram), "%s",
		              line);
		*strrchr(line, ' ') = '\0';
		ck_assert_msg(json_object_get(seen, line) == NULL, "twice: %s", line);
		json_object_set_new(seen, line, json_true());
	}
	json_decref(seen);
}

START_TEST(test_metrics)
{
	stats_set(fixture.stats, "mad_sent_total{class=\"smp\"}", 41);
	stats_set(fixture.stats, "mad_sent_total{class=\"sa\",x=\"q\\\"\"}", 1);
	stats_set(fixture.stats, "mad_sent", 2.5);
	stats_set(fixture.stats, "mad_sent_by_port", 1);
	stats_set(fixture.stats, "epoch", 77);      /* ours already */
	stats_set(fixture.stats, "bad series{", 1); /* not copied */
	gateway_fixture_heartbeat(&fixture, 0, true);
	client_get(&client, "/v1/fabric");
	client_get(&client, "/v1/fabric");
	client_get(&client, "/nothing");
	ck_assert_int_eq(client_get(&client, "/metrics"), 200);
	ck_assert_str_eq(client.type, "text/plain; version=0.0.4; charset=utf-8");
	static const char *const lines[] = {
		"saguaro_epoch 5",
		"saguaro_ready 1",
		"saguaro_fallback 0",
		"saguaro_routing_info{engine_asked=\"minhop\",engine_used=\"minhop\"} 1",
		"saguaro_nodes{type=\"switch\"} 6",
		"saguaro_nodes{type=\"ca\"} 12",
		"saguaro_daemon_up 1",
		"saguaro_subnet_up 1",
		("# HELP saguaro_mad_sent_total Management datagrams sent, by class; without repeats."),
		"saguaro_mad_sent_total{class=\"smp\"} 41",
		"saguaro_mad_sent 2.5",
		"saguaro_mad_sent_total{class=\"sa\",x=\"q\\\"\"} 1",
		"saguaro_stats_malformed 1",
		"saguaro_http_requests_total{route=\"/v1/fabric\",code=\"200\"} 2",
		"saguaro_http_requests_total{route=\"other\",code=\"404\"} 1",
		"saguaro_http_request_duration_seconds_count{route=\"/v1/fabric\"} 2",
	};
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char want[200];
		snprintf(want, sizeof(want), "\n%s\n", lines[i]);
		ck_assert_msg(strstr(client.body, want) != NULL, "no '%s' in\n%s",
		              lines[i], client.body);
	}
	ck_assert_ptr_null(strstr(client.body, "saguaro_epoch 77"));
	check_exposition(client.body);
}
END_TEST

static bool has_metric(const char *name)
{
	char want[200];

	snprintf(want, sizeof(want), "\n%s", name);
	return strstr(client.body, want) != NULL;
}

/* The last words of a daemon are not shown when it is gone, nor is what it published. Its series
 * are back with its next sign of life. */
START_TEST(test_metrics_of_dead_daemon)
{
	static const char *const of_the_living[] = {
		"saguaro_heavy_sweeps_total ",
		"saguaro_sm_state{state=\"master\"} ",
		"saguaro_epoch ",
		"saguaro_nodes{",
		"saguaro_unreachable_pairs ",
		"saguaro_routing_info{",
		"saguaro_daemon_up 1\n",
		"saguaro_subnet_up 1\n",
		"saguaro_ready 1\n",
	};
	static const char *const of_the_dead[] = {
		"saguaro_daemon_up 0\n",
		"saguaro_subnet_up 0\n",
		"saguaro_ready 0\n",
		"saguaro_build_info{",
	};

	stats_set(fixture.stats, "heavy_sweeps_total", 41);
	stats_set(fixture.stats, "sm_state{state=\"master\"}", 1);
	for (unsigned round = 0; round < 2; round++) {
		gateway_fixture_heartbeat(&fixture, 0, true);
		ck_assert_int_eq(client_get(&client, "/metrics"), 200);
		for (unsigned i = 0; i < sizeof(of_the_living) / sizeof(char *); i++) {
			ck_assert_msg(has_metric(of_the_living[i]), "no %s",
			              of_the_living[i]);
		}
		gateway_fixture_heartbeat(&fixture, 60000, true);
		ck_assert_int_eq(client_get(&client, "/metrics"), 200);
		for (unsigned i = 0; i < sizeof(of_the_living) / sizeof(char *); i++) {
			ck_assert_msg(!has_metric(of_the_living[i]), "there is %s",
			              of_the_living[i]);
		}
		for (unsigned i = 0; i < sizeof(of_the_dead) / sizeof(char *); i++) {
			ck_assert_msg(has_metric(of_the_dead[i]), "no %s",
			              of_the_dead[i]);
		}
		const char *age =
			strstr(client.body, "\nsaguaro_daemon_heartbeat_age_seconds ");
		ck_assert_ptr_nonnull(age);
		ck_assert_double_ge(strtod(strchr(age, ' '), NULL), 60);
		check_exposition(client.body);
	}
}
END_TEST

/* A daemon that was stopped a moment ago was not gone since the machine was started. */
START_TEST(metrics_age_after_an_orderly_end)
{
	const char *age;

	stats_text(fixture.stats, "ended", "it was stopped");
	ck_assert_int_eq(stats_commit(fixture.stats, 1), E_OK);
	ck_assert_int_eq(client_get(&client, "/metrics"), 200);
	ck_assert(has_metric("saguaro_daemon_up 0\n"));
	age = strstr(client.body, "\nsaguaro_daemon_heartbeat_age_seconds ");
	ck_assert_ptr_nonnull(age);
	ck_assert_double_lt(strtod(strchr(age, ' '), NULL), 120);
}
END_TEST

/* --- while sweeps are published
 * ---------------------------------------------------------- */

static _Atomic bool publishing;

/* Asks until the publishing ends; every answer is whole and epochs never go back. */
static void *ask_on(void *arg)
{
	struct client c;
	json_int_t epoch = 0;
	uintptr_t rounds = 0;

	client_init(&c, *(unsigned *)arg);
	do {
		json_t *o = client_get_json(&c, "/v1/nodes");
		ck_assert_uint_eq(json_array_size(json_object_get(o, "nodes")),
		                  fixture.g->n_nodes);
		ck_assert_int_ge(int_of(o, "epoch"), epoch);
		epoch = int_of(o, "epoch");
		json_decref(o);
		o = client_get_json(&c, "/paths?src=node01&dst=node08&hops=1");
		ck_assert_int_ge(int_of(o, "epoch"), epoch);
		epoch = int_of(o, "epoch");
		json_decref(o);
		rounds++;
	} while (publishing);
	client_done(&c);
	return (void *)rounds;
}

START_TEST(test_while_publishing)
{
	pthread_t threads[3];
	unsigned port = http_port(http);

	publishing = true;
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_on, &port), 0);
	}
	for (uint64_t epoch = 6; epoch < 106; epoch++) {
		gateway_fixture_publish(&fixture, epoch);
		snap_release_old(fixture.writer, boottime_ms());
		gateway_fixture_heartbeat(&fixture, 0, true);
	}
	publishing = false;
	for (unsigned i = 0; i < 3; i++) {
		void *rounds;
		pthread_join(threads[i], &rounds);
		ck_assert_uint_gt((uintptr_t)rounds, 0);
	}
	json_t *o = client_get_json(&client, "/v1/fabric");
	ck_assert_int_eq(int_of(o, "epoch"), 105);
	json_decref(o);
}
END_TEST

/* --- suite -----------------------------------------------------------------------------
 */

static TCase *case_of(Suite *s, const char *name, void (*up)(void))
{
	TCase *t = tcase_create(name);
	if (up != NULL) {
		tcase_add_checked_fixture(t, up, teardown);
	}
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return t;
}

#define COUNT(list) (int)(sizeof(list) / sizeof((list)[0]))

TEST_SUITE(gateway)
{
	TCase *t = case_of(suite, "no daemon", setup_empty);
	tcase_add_test(t, test_no_daemon);
	tcase_add_test(t, test_daemon_comes);
	t = case_of(suite, "server", setup);
	tcase_add_test(t, test_not_up);
	tcase_add_test(t, test_daemon_gone);
	tcase_add_test(t, test_keep_alive);
	tcase_add_test(t, test_methods);
	tcase_add_test(t, test_foreign_host);
	tcase_add_test(t, test_long_target);
	tcase_add_test(t, test_etag);
	tcase_add_test(t, test_port_in_use);
	tcase_add_loop_test(t, test_problem, 0, COUNT(problems));
	tcase_add_test(t, test_lft_of_a_host);
	tcase_add_test(t, test_alternates);
	tcase_add_test(t, test_fabric);
	tcase_add_test(t, test_nodes);
	tcase_add_test(t, test_one_node);
	tcase_add_test(t, test_links);
	tcase_add_test(t, test_lids);
	tcase_add_test(t, test_lft);
	tcase_add_loop_test(t, test_pages, 0, 4);
	tcase_add_loop_test(t, test_link_to_next_page, 0, 4);
	tcase_add_test(t, test_cursor_of_another_epoch);
	tcase_add_test(t, test_operator_names);
	tcase_add_test(t, test_paths);
	tcase_add_test(t, test_selectors);
	tcase_add_test(t, test_ambiguous);
	tcase_add_test(t, test_hole);
	tcase_add_test(t, test_metrics);
	tcase_add_test(t, test_metrics_of_dead_daemon);
	tcase_add_test(t, metrics_age_after_an_orderly_end);
	tcase_add_test(t, test_while_publishing);
	t = case_of(suite, "LMC", setup_lmc);
	tcase_add_test(t, test_modes);
	t = case_of(suite, "side cable", setup_side_cable);
	tcase_add_test(t, test_side_cable);
	t = case_of(suite, "parts", setup_parts);
	tcase_add_test(t, test_parts);
	t = case_of(suite, "addresses", NULL);
	tcase_add_loop_test(t, test_bad_address, 0, COUNT(bad_addresses));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /metrics/fabric: the text is built here a second time from the graph and from the rows that
 * were stored, line by line, and has to be the same. The form of the text is Prometheus' exposition
 * format: a family is one block, a name has one head.
 */
#include <check.h>
#include <inttypes.h>

#include "db/lmdb/counters.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct http_stats stats;
static struct api_thread thread;
static char *text; /* the last answer */

static void begin_with(uint32_t grace_ms)
{
	static char *args[] = { (char *)"8", (char *)"8", (char *)"4" };

	gateway_fixture_init(&fixture, "ft2", 3, args);
	for (uint32_t i = 0; i < fixture.g->n_nodes; i++) { /* a host chooses its name */
		if (i % 5 == 0) {
			fixture.g->nodes[i].description = "a\"b\\c\xff\xc3\xa9";
		}
	}
	gateway_fixture_route(&fixture, 0);
	fixture.grace_ms = grace_ms;
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 5);
	gateway_fixture_heartbeat(&fixture, 0, true);
	stats = (struct http_stats){ 0 };
	thread =
		(struct api_thread){ .source = source_new(fixture.dir), .stats = &stats };
}

static void begin(void)
{
	begin_with(10000);
}

/* A superseded epoch is gone at once. */
static void begin_hasty(void)
{
	begin_with(1);
}

static void end(void)
{
	free(text);
	text = NULL;
	api_thread_done(&thread);
	source_free(thread.source);
	gateway_fixture_done(&fixture);
}

static bool has_counters(const struct port *p)
{
	return p->peer != GRAPH_NONE && p->num % 7 != 6;
}

/* Not every port has every counter. */
static uint32_t known(const struct port *p)
{
	return p->num % 3 == 0 ? 0x00ffff : (1u << PORT_COUNTERS) - 1;
}

static uint64_t value(const struct port *p, unsigned counter)
{
	return (p->guid * 31 + p->num) * PORT_COUNTERS + counter;
}

static void store_counters(int64_t time_s)
{
	const struct graph *g = fixture.g;

	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		struct port_counters c = { .node_guid = g->nodes[p->node].guid,
			                   .port = p->num,
			                   .time_s = time_s,
			                   .interval_ms = 1000,
			                   .known = known(p) };

		for (unsigned k = 0; k < PORT_COUNTERS; k++) {
			c.value[k] = known(p) >> k & 1 ? value(p, k) : 0;
		}
		if (has_counters(p)) {
			ck_assert_int_eq(stats_counters(fixture.stats, &c), E_OK);
		}
	}
	gateway_fixture_heartbeat(&fixture, 0, true);
}

/* Reads an answer in pieces of at most \a max bytes. */
static void ask(const char *target, size_t max)
{
	struct api_request rq = { .method = "GET", .target = target };
	struct api_reply reply = { 0 };
	size_t len = 0, n;

	api_serve(&thread, &rq, &reply);
	ck_assert_msg(reply.base.status == 200, "%s: %s", target, reply.base.body.data);
	ck_assert_str_eq(reply.base.content_type,
	                 "text/plain; version=0.0.4; charset=utf-8");
	free(text);
	text = calloc(1, reply.base.body.len + 1);
	memcpy(text, reply.base.body.data != NULL ? reply.base.body.data : "",
	       reply.base.body.len);
	if (reply.stream != NULL) {
		do {
			text = realloc(text, len + max + 1);
			n = stream_read(reply.stream, text + len, max);
			len += n;
			text[len] = '\0';
		} while (n > 0);
		ck_assert(!stream_broken(reply.stream));
		stream_free(reply.stream);
	}
	body_clear(&reply.base.body);
}

/* --- the same text once more ----------------------------------------------------------- */

static struct body wanted;

static void want_family(const char *name, const char *type)
{
	body_printf(&wanted, "%s %s\n", name, type);
}

static uint64_t exporter_guid(const struct port *p)
{
	const struct node *n = &fixture.g->nodes[p->node];

	return n->type == NODE_SWITCH ? n->guid : p->guid;
}

static void want_counters(uint8_t type, const char *word, uint32_t which)
{
	const struct graph *g = fixture.g;
	char name[100];

	for (unsigned k = 0; k < PORT_COUNTERS; k++) {
		bool any = false;

		snprintf(name, sizeof(name), "infiniband_%s_%s", word,
		         counter_types[k].series);
		for (uint32_t i = 0; i < g->n_ports; i++) {
			const struct port *p = &g->ports[i];

			if (g->nodes[p->node].type != type || !has_counters(p) ||
			    !(which & known(p) & 1u << k)) {
				continue;
			}
			if (!any) {
				want_family(name, k == COUNTER_LINK_QUALITY ? "gauge"
				                                            : "counter");
			}
			any = true;
			body_printf(&wanted,
			            "%s{guid=\"0x%016" PRIx64 "\",port=\"%u\"} %" PRIu64
			            "\n",
			            name, exporter_guid(p), p->num, value(p, k));
		}
	}
}

static const char *name_of(uint32_t node)
{
	return strchr(fixture.g->nodes[node].description, '"') != NULL
	               ? "a\\\"b\\\\c\xef\xbf\xbd\xc3\xa9"
	               : fixture.g->nodes[node].description;
}

/* LIDs as they were assigned. */
static uint32_t lid_of(const struct port *p)
{
	const struct graph *g = fixture.g;
	const struct node *n = &g->nodes[p->node];
	uint32_t port = n->type == NODE_SWITCH ? n->first_port : (uint32_t)(p - g->ports);

	for (uint32_t lid = 1; lid <= fixture.lids.top; lid++) {
		if (fixture.lids.owner[lid] == port) {
			return lid;
		}
	}
	return 0;
}

static void want_info(uint8_t type, const char *word)
{
	const struct graph *g = fixture.g;
	char name[100];

	snprintf(name, sizeof(name), "infiniband_%s_info", word);
	want_family(name, "gauge");
	for (uint32_t n = 0; n < g->n_nodes; n++) {
		const struct port *p =
			&g->ports[g->nodes[n].first_port + (type == NODE_CA)];

		if (g->nodes[n].type == type) {
			body_printf(&wanted,
			            "%s{guid=\"0x%016" PRIx64
			            "\",%s=\"%s\",lid=\"%u\"} 1\n",
			            name, exporter_guid(p), word, name_of(n), lid_of(p));
		}
	}
}

static void want_uplinks(uint8_t type, const char *word)
{
	const struct graph *g = fixture.g;
	char name[100];

	snprintf(name, sizeof(name), "infiniband_%s_uplink_info", word);
	want_family(name, "gauge");
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		if (g->nodes[p->node].type != type || p->peer == GRAPH_NONE) {
			continue;
		}
		const struct port *to = &g->ports[p->peer];
		body_printf(
			&wanted,
			"%s{guid=\"0x%016" PRIx64
			"\",port=\"%u\",%s=\"%s\",uplink=\"%s\",uplink_guid=\"0x%016" PRIx64
			"\",uplink_type=\"%s\",uplink_port=\"%u\",uplink_lid=\"%u\"} 1\n",
			name, exporter_guid(p), p->num, word, name_of(p->node),
			name_of(to->node), exporter_guid(to),
			g->nodes[to->node].type == NODE_CA ? "CA" : "SW", to->num,
			lid_of(to));
	}
}

/* A number per port with a cable. */
static void want_ports(uint8_t type, const char *prefix, const char *word,
                       const char *name, double v)
{
	const struct graph *g = fixture.g;
	char full[100];

	snprintf(full, sizeof(full), "%s_%s_%s", prefix, word, name);
	want_family(full, "gauge");
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		if (g->nodes[p->node].type == type && p->peer != GRAPH_NONE) {
			body_printf(&wanted,
			            "%s{guid=\"0x%016" PRIx64 "\",port=\"%u\"} %.0f\n",
			            full, exporter_guid(p), p->num, v);
		}
	}
}

/* Every head has a help; what is left of it is name and type. */
static void compare(void)
{
	const char *expected = wanted.data != NULL ? wanted.data : "";

	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		char name[2][120] = { "", "" }, type[20] = "", help[300] = "", got[700];
		size_t len = strcspn(expected, "\n");

		if (sscanf(line, "# HELP %119s %299[^\n]", name[0], help) == 2) {
			line = strtok(NULL, "\n");
			ck_assert_ptr_nonnull(line);
			ck_assert_int_eq(sscanf(line, "# TYPE %119s %19s", name[1], type),
			                 2);
			ck_assert_str_eq(name[0], name[1]);
			snprintf(got, sizeof(got), "%s %s", name[0], type);
			line = got;
		}
		ck_assert_msg(strlen(line) == len && memcmp(line, expected, len) == 0,
		              "'%s' instead of '%.*s'", line, (int)len, expected);
		expected += len + (expected[len] != '\0');
	}
	ck_assert_msg(*expected == '\0', "missing: %.200s", expected);
	body_clear(&wanted);
}

/* Rate of the generated cables in octets per second. */
static double rate(void)
{
	const struct port *p = &fixture.g->ports[fixture.g->end_ports[0]];

	for (uint32_t i = 0; p->peer == GRAPH_NONE; i++) {
		p = &fixture.g->ports[i];
	}
	return rate_speed(link_rate(p->width, p->speed)) * 1e8 / 8;
}

static void want_kind(uint8_t type, const char *word)
{
	want_counters(type, word, UINT32_MAX);
	want_info(type, word);
	want_uplinks(type, word);
	want_ports(type, "infiniband", word, "port_rate_bytes_per_second", rate());
}

START_TEST(every_series)
{
	static const size_t pieces[] = { 100, 16384, 1 << 20 };

	store_counters(source_wall_clock());
	want_kind(NODE_SWITCH, "switch");
	if (_i == 1) {
		want_kind(NODE_CA, "hca");
	}
	ask(_i == 1 ? "/metrics/fabric?hosts=1" : "/metrics/fabric",
	    pieces[(size_t)test_seed() % 3]);
	compare();
}
END_TEST

START_TEST(only_some)
{
	store_counters(source_wall_clock());
	want_counters(NODE_SWITCH, "switch",
	              1u << COUNTER_LINK_DOWNED | 1u << COUNTER_SYMBOL_ERRORS);
	want_info(NODE_SWITCH, "switch");
	ask("/metrics/fabric?collect=link_downed,info,symbol_errors", 1000);
	compare();
	/* "degraded" is not known of these ports, so there is not even a head */
	ask("/metrics/fabric?collect=degraded", 1000);
	compare();
}
END_TEST

START_TEST(bad_parameters)
{
	static const char *const bad[] = { "?collect=",        "?collect=info,",
		                           "?collect=nothing", "?collect=,info",
		                           "?hosts=2",         "?what=1" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_decref(api_json(&thread, 400, "/metrics/fabric%s", bad[i]));
	}
}
END_TEST

/* Nothing of a daemon that is gone, no counter that is read no more. */
START_TEST(old)
{
	store_counters(source_wall_clock() - 3600);
	ask("/metrics/fabric?collect=link_downed", 1000);
	ck_assert_msg(text[0] == '\0', "%.200s", text);
	store_counters(source_wall_clock());
	ask("/metrics/fabric?collect=link_downed", 1000);
	ck_assert_ptr_nonnull(strstr(text, "infiniband_switch_port_link_downed_total{"));
	gateway_fixture_heartbeat(&fixture, 60000, true);
	ask("/metrics/fabric", 1000);
	ck_assert_ptr_null(strstr(text, "infiniband"));
}
END_TEST

/* An epoch that goes while the text is sent does not end it. */
START_TEST(superseded)
{
	struct api_request rq = { .method = "GET", .target = "/metrics/fabric" };
	struct api_reply reply = { 0 };
	char *whole, block[300];
	size_t len = 0, n;

	store_counters(source_wall_clock());
	ask(rq.target, 16384);
	whole = calloc(1, strlen(text) + sizeof(block));
	api_serve(&thread, &rq, &reply);
	ck_assert_ptr_nonnull(reply.stream);
	for (uint64_t epoch = 6;
	     (n = stream_read(reply.stream, block, sizeof(block))) > 0; epoch++) {
		ck_assert_uint_le(len + n, strlen(text));
		memcpy(whole + len, block, n);
		len += n;
		if (epoch < 30) {
			gateway_fixture_publish(&fixture, epoch);
		}
	}
	ck_assert(!stream_broken(reply.stream));
	stream_free(reply.stream);
	ck_assert_msg(strcmp(whole, text) == 0, "the texts differ");
	free(whole);
}
END_TEST

TEST_SUITE(api_metrics)
{
	TCase *t = tcase_create("metrics of the fabric");
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_loop_test(t, every_series, 0, 2);
	tcase_add_test(t, only_some);
	tcase_add_test(t, bad_parameters);
	tcase_add_test(t, old);
	suite_add_tcase(suite, t);
	t = tcase_create("short grace");
	tcase_add_checked_fixture(t, begin_hasty, end);
	tcase_add_test(t, superseded);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/api/metrics.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "db/stats/stats.h"
#include "gateway/api/api_call.h"
#include "gateway/api/exposition.h"
#include "gateway/resource/resource.h"
#include "gateway/view/ready.h"
#include "routing/graph/graph.h"

static const unsigned codes[] = { 200, 304, 400, 404, 405, 409, 410,
	                          413, 414, 422, 500, 503, 504 };
static const double bounds[HTTP_BUCKETS] = { 0.00005, 0.0001, 0.0005, 0.001, 0.005,
	                                     0.01,    0.1,    1,      10 };

enum { N_CODES = sizeof(codes) / sizeof(codes[0]) };
_Static_assert((int)N_CODES <= (int)HTTP_CODES_MAX, "one slot per code");

/* Families written here; a series of the daemon may not come a second time under one of
 * these names. */
static const char *const own_names[] = {
	"build_info",
	"credit_loops",
	"daemon_heartbeat_age_seconds",
	"daemon_heartbeat_timestamp_seconds",
	"daemon_up",
	"epoch",
	"fallback",
	"forwarding_loops",
	"http_event_listeners",
	"http_request_duration_seconds",
	"http_request_duration_seconds_bucket",
	"http_request_duration_seconds_count",
	"http_request_duration_seconds_sum",
	"http_requests_total",
	"http_stream_records_total",
	"http_streams",
	"links",
	"link_routes_max",
	"link_routes_mean",
	"link_routes_p99",
	"lids",
	"management_credit_loops",
	"nodes",
	"pairs",
	"prove_duration_seconds",
	"published_timestamp_seconds",
	"ready",
	"route_duration_seconds",
	"routing_info",
	"stats_malformed",
	"subnet_up",
	"unreachable_pairs",
	"vls_used",
};

/* --- the text format -----------------------------------------------------------------
 */

static void family(struct body *b, const char *name, const char *type, const char *help)
{
	exposition_family(b, "saguaro_", name, type, help);
}

static void simple(struct body *b, const char *name, const char *type, const char *help,
                   double v)
{
	family(b, name, type, help);
	body_printf(b, "saguaro_%s", name);
	exposition_number(b, v);
}

static bool is_name_char(char ch, bool first, bool colon)
{
	return isalpha((unsigned char)ch) || ch == '_' || (colon && ch == ':') ||
	       (!first && isdigit((unsigned char)ch));
}

static size_t name_length(const char *s, bool colon)
{
	size_t n = 0;
	while (is_name_char(s[n], n == 0, colon)) {
		n++;
	}
	return n;
}

/* After the quote of a label value: past the closing quote, or NULL. */
static const char *label_value(const char *s)
{
	for (; *s != '"'; s++) {
		if (*s == '\0' || *s == '\n') {
			return NULL;
		}
		if (*s == '\\') {
			s++;
			if (*s != '\\' && *s != '"' && *s != 'n') {
				return NULL;
			}
		}
	}
	return s + 1;
}

size_t metrics_series_name(const char *series)
{
	size_t name = name_length(series, true);
	const char *s = series + name;

	if (name == 0 || *s == '\0') {
		return name;
	}
	if (*s++ != '{') {
		return 0;
	}
	for (;;) {
		size_t n = name_length(s, false);
		if (n == 0 || s[n] != '=' || s[n + 1] != '"') {
			return 0;
		}
		s = label_value(s + n + 2);
		if (s == NULL) {
			return 0;
		}
		if (*s == ',') {
			s++;
			continue;
		}
		return s[0] == '}' && s[1] == '\0' ? name : 0;
	}
}

/* --- requests ------------------------------------------------------------------------
 */

static unsigned code_index(unsigned status)
{
	for (unsigned i = 0; i < N_CODES; i++) {
		if (codes[i] == status) {
			return i;
		}
	}
	return code_index(500);
}

void http_stats_count(struct http_stats *s, unsigned route, unsigned status, uint64_t us)
{
	unsigned i = 0;

	if (s == NULL || route >= HTTP_ROUTES_MAX) {
		return;
	}
	while (i < HTTP_BUCKETS && (double)us > bounds[i] * 1e6) {
		i++;
	}
	atomic_fetch_add_explicit(&s->requests[route][code_index(status)], 1,
	                          memory_order_relaxed);
	atomic_fetch_add_explicit(&s->bucket[route][i], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->micros[route], us, memory_order_relaxed);
}

static const char *route_name(const struct resources *rows, unsigned route)
{
	return route < rows->n ? rows->row[route].path : "other";
}

static void write_requests(struct body *b, const struct http_stats *s,
                           const struct resources *rows)
{
	family(b, "http_requests_total", "counter",
	       "HTTP requests by route and status code.");
	for (unsigned r = 0; r <= rows->n; r++) {
		for (unsigned i = 0; i < N_CODES; i++) {
			uint64_t n = s->requests[r][i];
			if (n > 0) {
				body_printf(b, "saguaro_http_requests_total{");
				exposition_label(b, "route", route_name(rows, r), ",");
				body_printf(b, "code=\"%u\"} %" PRIu64 "\n", codes[i], n);
			}
		}
	}
}

static void write_duration(struct body *b, const struct http_stats *s,
                           const struct resources *rows, unsigned route)
{
	static const char name[] = "saguaro_http_request_duration_seconds";
	uint64_t n = 0;

	for (unsigned i = 0; i <= HTTP_BUCKETS; i++) {
		n += s->bucket[route][i];
		body_printf(b, "%s_bucket{", name);
		exposition_label(b, "route", route_name(rows, route), ",");
		if (i < HTTP_BUCKETS) {
			body_printf(b, "le=\"%g\"} %" PRIu64 "\n", bounds[i], n);
		} else {
			body_printf(b, "le=\"+Inf\"} %" PRIu64 "\n", n);
		}
	}
	body_printf(b, "%s_sum{", name);
	exposition_label(b, "route", route_name(rows, route), "}");
	exposition_number(b, (double)s->micros[route] / 1e6);
	body_printf(b, "%s_count{", name);
	exposition_label(b, "route", route_name(rows, route), "}");
	body_printf(b, " %" PRIu64 "\n", n);
}

void metrics_http(struct body *b, const struct http_stats *s, const struct resources *rows)
{
	family(b, "build_info", "gauge", "Version of this program; always 1.");
	body_printf(b, "saguaro_build_info{");
	exposition_label(b, "version", PACKAGE_VERSION, "} 1\n");
	write_requests(b, s, rows);
	family(b, "http_request_duration_seconds", "histogram",
	       "Time to build an answer, by route.");
	for (unsigned r = 0; r <= rows->n; r++) {
		bool asked = false;
		for (unsigned i = 0; i <= HTTP_BUCKETS; i++) {
			asked |= s->bucket[r][i] > 0;
		}
		if (asked) {
			write_duration(b, s, rows, r);
		}
	}
	simple(b, "http_event_listeners", "gauge", "Clients that follow events.",
	       (double)s->listeners);
	simple(b, "http_streams", "gauge", "Streams being sent.", (double)s->streams);
	simple(b, "http_stream_records_total", "counter", "Records written to streams.",
	       (double)s->stream_records);
}

/* --- the epoch -----------------------------------------------------------------------
 */

static int write_nodes(struct body *b, struct snap_reader *r)
{
	uint64_t n[NODE_ROUTER + 1] = { 0 };
	struct snap_node node;
	int ret;

	for (uint64_t from = 0; (ret = snap_node_from(r, from, &node)) == E_OK;
	     from = node.guid + 1) {
		if (node.type >= NODE_CA && node.type <= NODE_ROUTER) {
			n[node.type]++;
		}
		if (node.guid == UINT64_MAX) {
			break;
		}
	}
	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	family(b, "nodes", "gauge", "Nodes of the fabric by type.");
	for (uint8_t type = NODE_CA; type <= NODE_ROUTER; type++) {
		body_printf(b, "saguaro_nodes{");
		exposition_label(b, "type", node_type_name(type), "}");
		body_printf(b, " %" PRIu64 "\n", n[type]);
	}
	return E_OK;
}

int metrics_fabric(struct body *b, struct snap_reader *r)
{
	const struct snap_meta *m = snap_meta(r);
	bool fallback = m->fallback_reason != NULL && m->fallback_reason[0] != '\0';
	/* clang-format off */
	const struct {
		const char *name, *help;
		double value;
	} gauges[] = {
		{ "epoch", "Epoch of the published routing.", (double)m->epoch },
		{ "published_timestamp_seconds", "When this epoch was computed, in seconds since 1970.", (double)m->computed_at },
		{ "fallback", "1: another engine than the one asked for computed the routing.", fallback },
		{ "pairs", "Ordered pairs of end ports that are to reach each other.", (double)m->pairs },
		{ "unreachable_pairs", "Pairs of them without a route.", (double)m->unreachable_pairs },
		{ "forwarding_loops", "Forwarding loops in the tables.", (double)m->forwarding_loops },
		{ "credit_loops", "Credit loops in the tables.", (double)m->credit_loops },
		{ "management_credit_loops", "Further credit loops when traffic from or to switches themselves counts.", (double)m->management_credit_loops },
		{ "vls_used", "Virtual lanes that routes between hosts use.", m->vls_used },
		{ "link_routes_max", "Routes on the busiest directed link.", m->load_max },
		{ "link_routes_mean", "Mean of routes per directed link.", m->load_mean },
		{ "link_routes_p99", "99th percentile of routes per directed link.", m->load_p99 },
		{ "links", "Cables.", m->n_links },
		{ "lids", "LIDs in use.", m->n_lids },
		{ "route_duration_seconds", "Time the last routing took.", m->seconds_route },
		{ "prove_duration_seconds", "Time the last proof took.", m->seconds_prove },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
		simple(b, gauges[i].name, "gauge", gauges[i].help, gauges[i].value);
	}
	family(b, "routing_info", "gauge",
	       "Routing engine asked for and used; always 1.");
	body_printf(b, "saguaro_routing_info{");
	exposition_label(b, "engine_asked", m->engine_asked, ",");
	exposition_label(b, "engine_used", m->engine_used, "} 1\n");
	return write_nodes(b, r);
}

/* --- the daemon ----------------------------------------------------------------------
 */

struct series {
	const struct stats_value *value;
	size_t name; /* length */
};

/* By name, so that the series of a family follow each other; inside it as text. */
static int compare_series(const void *pa, const void *pb)
{
	const struct series *a = pa, *b = pb;
	size_t shorter = a->name < b->name ? a->name : b->name;

	int c = memcmp(a->value->name, b->value->name, shorter);
	if (c == 0 && a->name != b->name) {
		c = a->name < b->name ? -1 : 1;
	}
	return c != 0 ? c : strcmp(a->value->name, b->value->name);
}

static bool is_own(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++) {
		if (strlen(own_names[i]) == len && memcmp(own_names[i], name, len) == 0) {
			return true;
		}
	}
	return false;
}

#define SERIES(name, help) { #name, help },
static const struct {
	const char *name, *help;
} daemon_series[] = {
#include "db/stats/series.def"
};
#undef SERIES

static const char *series_help(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(daemon_series) / sizeof(daemon_series[0]); i++) {
		if (strlen(daemon_series[i].name) == len &&
		    memcmp(daemon_series[i].name, name, len) == 0) {
			return daemon_series[i].help;
		}
	}
	return "As reported by saguarod."; /* of another version */
}

static void write_series(struct body *b, const struct series *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *text = s[i].value->name;
		size_t len = s[i].name;
		if (i == 0 || s[i - 1].name != len ||
		    memcmp(s[i - 1].value->name, text, len) != 0) {
			bool counter =
				len > 6 && memcmp(text + len - 6, "_total", 6) == 0;
			body_printf(b,
			            "# HELP saguaro_%.*s %s\n"
			            "# TYPE saguaro_%.*s %s\n",
			            (int)len, text, series_help(text, len), (int)len,
			            text, counter ? "counter" : "gauge");
		}
		body_printf(b, "saguaro_%s", text);
		exposition_number(b, s[i].value->value);
	}
}

/* Seconds. A daemon that ended in order took its heartbeat back, so that it counts as gone at once:
 * then the time of day says when that was. */
static double heartbeat_age(const struct stats_copy *c, uint64_t now_ms)
{
	const char *ended = stats_copy_text(c, "ended");
	int64_t seconds = (int64_t)time(NULL) - (int64_t)c->heartbeat_realtime_s;

	if (ended != NULL && ended[0] != '\0') {
		return seconds > 0 ? (double)seconds : 0;
	}
	return now_ms > c->heartbeat_ms ? (double)(now_ms - c->heartbeat_ms) / 1000 : 0;
}

/* Whether the daemon lives, which can be told of a dead one, too. */
static void write_life(struct body *b, const struct stats_copy *c, uint64_t now_ms,
                       bool fresh)
{
	double up = 0;

	if (c != NULL) {
		simple(b, "daemon_heartbeat_age_seconds", "gauge",
		       "Time since the last sign of life of saguarod.",
		       heartbeat_age(c, now_ms));
		simple(b, "daemon_heartbeat_timestamp_seconds", "gauge",
		       "When saguarod gave the last sign of life, in seconds since 1970.",
		       (double)c->heartbeat_realtime_s);
	}
	if (fresh) {
		(void)stats_number(c, "subnet_up", &up);
	}
	simple(b, "daemon_up", "gauge",
	       "1: saguarod is alive. Its other series are there only then.", fresh);
	simple(b, "subnet_up", "gauge", series_help("subnet_up", strlen("subnet_up")),
	       up);
}

/* All series of the daemon that lives. */
static void write_daemon(struct body *b, const struct stats_copy *c)
{
	struct series *list = calloc(c->n + 1, sizeof(*list));
	size_t n = 0, malformed = 0;

	if (list == NULL) {
		b->failed = true;
		return;
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct stats_value *v = &c->values[i];
		size_t name = v->text == NULL ? metrics_series_name(v->name) : 0;
		malformed += v->text == NULL && name == 0;
		if (name > 0 && !is_own(v->name, name)) {
			list[n++] = (struct series){ v, name };
		}
	}
	qsort(list, n, sizeof(*list), compare_series);
	simple(b, "stats_malformed", "gauge",
	       "Series of saguarod that do not follow the text format and are left out.",
	       (double)malformed);
	write_series(b, list, n);
	free(list);
}

void metrics_daemon(struct body *b, const struct stats_copy *c, uint64_t now_ms)
{
	bool fresh = metrics_fresh(c, now_ms);

	write_life(b, c, now_ms, fresh);
	if (fresh) {
		write_daemon(b, c);
	}
}

bool metrics_fresh(const struct stats_copy *c, uint64_t now_ms)
{
	return c != NULL && heartbeat_fresh(c->heartbeat_ms, now_ms);
}

void metrics_ready(struct body *b, int ready)
{
	simple(b, "ready", "gauge", "1: the fabric is up and answers are fresh.", ready);
}

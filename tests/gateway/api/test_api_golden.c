/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Every resource is asked with every parameter that it has and each of some values, good
 * and bad, on the fabric of rich_fixture.h. tests/golden/answers has a line for each
 * parameter: the statuses, and a sum of the bodies. Other tests say what is right; this
 * one says that an answer is no longer as it was. Where that is meant, `make golden`
 * writes the file anew. tests/golden/requests has the whole answers to requests with a
 * body, with other methods, and to headers.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/api/api.h"
#include "gateway/api/metrics.h"
#include "gateway/api/stream.h"
#include "gateway/resource/resource.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/golden.h"
#include "tests/lib/rich_fixture.h"
#include "tests/lib/suite.h"

static struct query_fixture *w;
static struct stats *stats;
static struct http_stats http;
static struct api_thread thread;

static void start(void)
{
	rich_fixture_start(&w, &stats);
	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &http };
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	rich_fixture_stop(w, stats);
}

/* What a parameter gets. */
static const char *const values[] = {
	"",
	"0",
	"1",
	"2",
	"3",
	"-1",
	"70000",
	"*",
	"x",
	"sw-a",
	"host",
	"dual:2",
	"0x201",
	"ca",
	"5000000000000",
	"active",
	"exact",
	"ffff-0-0-0",
	"1-0-0-0",
	"pairwise",
	"route_changed,node_lost",
	"mgid",
	"0x7fff",
	"Red",
	"h*",
	"symbol_errors,routes",
	"graphviz",
	"%zz",
	"2,5",
	"0xc001",
};

/* What stands for a part in braces of a path, by its name. */
static const struct {
	const char *name, *values[6];
} captures[] = {
	{ "{node}", { "sw-a", "0x201", "host", "nobody", "twin", "dual" } },
	{ "{job}", { "7", "0x30", "nobody", "job-7", "8", "0" } },
	{ "{name}",
	  { "NodeRecord", "PortInfoRecord", "PathRecord", "nothing", "ServiceRecord",
	    "0x11" } },
	{ "{format}", { "topology", "graphviz", "slurm", "lft", "nothing", "x" } },
	{ "{mgid}", { "0xc001", "nobody", "49153", "0xffff", "ff12::1", "0" } },
	{ "{p_key}", { "Red", "0x7fff", "0x10", "nobody", "65536", "0" } },
	{ "{", { "0x10", "sw-a", "nobody", "1", "*", "0" } },
};

/* Numbers of the moment, and of the process. */
static bool is_masked(const struct resource *row)
{
	return strcmp(row->path, "/metrics") == 0 ||
	       strcmp(row->path, "/openapi.json") == 0;
}

/* Asks, and prints the status; a sum of the answer goes to \a sum. */
static void ask(FILE *f, const struct resource *row, const char *target, uint64_t *sum)
{
	struct api_request rq = { .method = "GET", .target = target };
	struct api_reply reply = { .base.status = 0 };
	char part[4096];
	size_t n;

	api_serve(&thread, &rq, &reply);
	if (!is_masked(row) || reply.base.status != 200) {
		*sum = golden_sum(*sum, reply.base.body.data, reply.base.body.len);
	}
	while (reply.stream != NULL &&
	       (n = stream_read(reply.stream, part, sizeof(part))) > 0) {
		*sum = golden_sum(*sum, part, n);
	}
	*sum = golden_sum_text(*sum, reply.base.content_type);
	*sum = golden_sum_text(*sum, reply.next_cursor);
	fprintf(f, " %u%s", reply.base.status, reply.feed != NULL ? "f" : "");
	stream_free(reply.stream);
	free(reply.feed);
	arena_free(reply.arena);
	body_clear(&reply.base.body);
}

static void end_line(FILE *f, uint64_t sum)
{
	fprintf(f, " %016llx\n", (unsigned long long)sum);
}

/* A path alone, with a parameter that it does not have, and with each that it has. */
static void ask_all(FILE *f, const struct resource *row, const char *path)
{
	const char *at = row->params;
	uint64_t sum = GOLDEN_SUM;
	char target[512];

	fprintf(f, "%s", path);
	ask(f, row, path, &sum);
	snprintf(target, sizeof(target), "%s?nothing=1", path);
	ask(f, row, target, &sum);
	end_line(f, sum);
	while (at != NULL && *at != '\0') {
		int len = (int)strcspn(at, " ");

		sum = GOLDEN_SUM;
		fprintf(f, "%s?%.*s", path, len, at);
		for (unsigned v = 0; v < sizeof(values) / sizeof(*values); v++) {
			snprintf(target, sizeof(target), "%s?%.*s=%s", path, len, at,
			         values[v]);
			ask(f, row, target, &sum);
		}
		end_line(f, sum);
		at += len;
		at += strspn(at, " ");
	}
}

static void ask_row(FILE *f, const struct resource *row)
{
	const char *brace = strchr(row->path, '{'), *end;
	unsigned i = 0;
	char path[256];

	if (brace == NULL) {
		ask_all(f, row, row->path);
		return;
	}
	end = strchr(brace, '}') + 1;
	while (strncmp(brace, captures[i].name, strlen(captures[i].name)) != 0) {
		i++;
	}
	for (unsigned v = 0; v < 6; v++) {
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(brace - row->path),
		         row->path, captures[i].values[v], end);
		ask_all(f, row, path);
	}
}

START_TEST(test_answers)
{
	struct golden golden;

	golden_begin(&golden, "answers");
	for (unsigned i = 0; i < api_resources.n; i++) {
		if (strcmp(api_resources.row[i].method, "GET") == 0) {
			ask_row(golden.f, &api_resources.row[i]);
		}
	}
	golden_end(&golden);
}
END_TEST

static const char *const ends[] = { "host", "dual:1", "dual:2",   "left",
	                            "2",    "0x201",  "*",        "twin",
	                            "sw-a", "nobody", "fe80::102" };
static const char *const more[] = {
	"",
	"&hops=1",
	"&why=1",
	"&mode=srcdstall",
	"&mode=orderall&numb_path=2",
	"&mtu=4&mtu_selector=exact",
	"&mtu=5&mtu_selector=greater",
	"&rate=3&rate_selector=less",
	"&p_key=0x7fff",
	"&pkey=0x10&sl=0",
	"&mtu_selector=largest",
	"&rate=77",
	"&sl=16",
	"&stream=1",
};

/* Paths between ends, with what else a query may say. */
START_TEST(test_path_answers)
{
	enum { ENDS = sizeof(ends) / sizeof(*ends), MORE = sizeof(more) / sizeof(*more) };
	struct golden golden;
	const struct resource *row = api_resources.row;
	char target[256];

	while (strcmp(row->path, "/v1/paths") != 0) {
		row++;
	}
	golden_begin(&golden, "path-answers");
	for (unsigned i = 0; i < ENDS * ENDS; i++) {
		uint64_t sum = GOLDEN_SUM;

		fprintf(golden.f, "%s to %s:", ends[i / ENDS], ends[i % ENDS]);
		for (unsigned k = 0; k < MORE; k++) {
			snprintf(target, sizeof(target), "/v1/paths?src=%s&dst=%s%s",
			         ends[i / ENDS], ends[i % ENDS], more[k]);
			ask(golden.f, row, target, &sum);
		}
		end_line(golden.f, sum);
	}
	golden_end(&golden);
}
END_TEST

/* Requests with a body, a method or headers of their own. */
static const struct {
	const char *method, *target, *body, *if_none_match, *accept;
} requests[] = {
#define POST(target, body)                                                               \
	{                                                                                \
		"POST", target, body, NULL, NULL                                         \
	}
	POST("/v1/whatif", "{}"),
	POST("/v1/whatif",
	     "{\"down\":[\"sw-a:1\",\"host\"],\"link\":[\"sw-a:5=sw-b:5\"],\"host\":[\"new=sw-a:6\"],\"switch\":[\"edge=8\"]}"),
	POST("/v1/whatif",
	     "{\"routing_engine\":\"ftree, updn\",\"lmc\":7,\"limit\":10000}"),
	POST("/v1/whatif",
	     "{\"lmc\":0,\"limit\":0,\"root_guids\":[\"0x1000\",\"0x2000\"]}"),
	POST("/v1/whatif", "[]"),
	POST("/v1/whatif", "{\"down\":\"host\"}"),
	POST("/v1/whatif", "{\"down\":[1]}"),
	POST("/v1/whatif", "{\"down\":[\"\"]}"),
	POST("/v1/whatif", "{\"routing_engine\":\"\"}"),
	POST("/v1/whatif", "{\"routing_engine\":1}"),
	POST("/v1/whatif", "{\"routing_engine\":\"a=b\"}"),
	POST("/v1/whatif", "{\"lmc\":8}"),
	POST("/v1/whatif", "{\"lmc\":-1}"),
	POST("/v1/whatif", "{\"lmc\":1.0}"),
	POST("/v1/whatif", "{\"limit\":10001}"),
	POST("/v1/whatif", "{\"root_guids\":[]}"),
	POST("/v1/whatif", "{\"root_guids\":{}}"),
	POST("/v1/whatif", "{\"root_guids\":[\"sw-a\"]}"),
	POST("/v1/whatif", "{\"root_guids\":[1]}"),
	POST("/v1/whatif", "{\"strict\":true}"),
	POST("/v1/whatif?limit=1", "{}"),
	POST("/v1/compare", "{}"),
	POST("/v1/compare",
	     "{\"routing_engine\":\"ftree,updn\",\"seconds\":20,\"strict\":true}"),
	POST("/v1/compare", "{\"seconds\":0,\"strict\":false}"),
	POST("/v1/compare", "{\"seconds\":21}"),
	POST("/v1/compare", "{\"strict\":1}"),
	POST("/v1/compare", "{\"lmc\":1}"),
	POST("/v1/check", "{}"),
	POST("/v1/check", ""),
	POST("/v1/check", "{\"strict\":true}"),
	POST("/v1/check", "{\"strict\":false}"),
	POST("/v1/check", "{\"strict\":1}"),
	POST("/v1/check", "{\"lmc\":1}"),
	POST("/v1/check", "{\"strict\":true,\"lmc\":1}"),
	POST("/v1/check", "[]"),
	POST("/v1/check", "{\"strict\":true,\"strict\":true}"),
	POST("/v1/plan", "Switch 8 \"S-1\"\n"),
	POST("/v1/plan", ""),
	POST("/v1/paths:batch",
	     "[\"host\",\"dual:1\"]\n\n{\"dst\":\"host\",\"src\":4}\r\n[\"twin\",\"host\"]\n[\"host\",\"nobody\"]\n"
	     "[\"host\",\"left\"]\n{\"src\":1}\n[1]\n[\"\\u0068ost\",\"dual:2\"]\nx\n[1,2,3]\n[\"host\",\"\"]"),
	POST("/v1/paths:batch?numb_path=1&p_key=0x10",
	     "[\"dual:1\",\"dual:2\"]\n[\"dual:2\",\"host\"]\n[\"host\",\"dual:1\"]\n"),
	POST("/v1/paths:batch?mtu=>5", "[\"host\",\"dual:1\"]"),
	POST("/v1/paths:batch?mtu=x", "[\"host\",\"dual:1\"]"),
	POST("/v1/paths:batch?src=1", "[\"host\",\"dual:1\"]"),
	POST("/v1/paths:batch", ""),
	POST("/v1/nodes", ""),
	POST("/v1/nothing", ""),
#undef POST
	/* without a media type */
	{ "POST", "/v1/check?", "{}", NULL, NULL },
	{ "OPTIONS", "/v1/nodes", NULL, NULL, NULL },
	{ "OPTIONS", "/v1/whatif", NULL, NULL, NULL },
	{ "OPTIONS", "/v1/nothing", NULL, NULL, NULL },
	{ "DELETE", "/v1/nodes", NULL, NULL, NULL },
	{ "GET", "/v1/whatif", NULL, NULL, NULL },
	{ "GET", "nodes", NULL, NULL, NULL },
	{ "GET", "/v1/nodes/%zz", NULL, NULL, NULL },
	{ "GET", "/v1/nodes?limit=1&limit=2", NULL, NULL, NULL },
	{ "GET", "/v1/lids?limit=1", NULL, "*", NULL },
	{ "GET", "/v1/lids?limit=1", NULL, "\"other\"", NULL },
	{ "GET", "/v1/paths?src=host&dst=dual:1", NULL, NULL, "text/plain" },
	{ "GET", "/v1/events?limit=1", NULL, NULL, "text/html" },
};

/* How runs of `saguaro` end, and what they print. */
static const struct {
	int ret, status;
	const char *out, *said;
} ends_of_jobs[] = {
	{ E_OK, 0, "{\"good\":true}", "" },
	{ E_OK, 1, "{\"good\":false}", "" },
	{ E_OK, 3, "{\"stale\":true}", "" },
	{ E_OK, 2, "{}", "saguaro whatif: 'x' is no node\nTry more\n" },
	{ E_OK, 1, "", "saguaro whatif: no engine fits: why\n" },
	{ E_OK, 0, "", "no colon" },
	{ E_OK, 4, "{}", "" },
	{ E_OK, -9, "{}", "" },
	{ E_TIMEOUT, 0, "{}", "" },
	{ E_FULL, 0, "", "" },
	{ -ENOENT, 0, "", "" },
	{ -EACCES, 0, "", "" },
};

/* The media type that the body of a target needs; NULL: none. */
static const char *type_of(const char *target)
{
	for (unsigned i = 0; i < api_resources.n; i++) {
		const struct resource *row = &api_resources.row[i];
		size_t len = strlen(row->path);

		if (strncmp(row->path, target, len) == 0 &&
		    (target[len] == '\0' ||
		     (target[len] == '?' && target[len + 1] != '\0'))) {
			return row->body.type;
		}
	}
	return NULL;
}

static void print_reply(FILE *f, struct api_reply *reply)
{
	char part[4096];
	size_t n;

	fprintf(f, "  %u %s", reply->base.status,
	        reply->base.content_type != NULL ? reply->base.content_type : "-");
	fprintf(f, "%s%s", reply->base.etag[0] != '\0' ? " etag" : "",
	        reply->base.allow[0] != '\0' ? " allow " : "");
	fprintf(f, "%s%s%s", reply->base.allow,
	        reply->next_cursor[0] != '\0' ? " next " : "", reply->next_cursor);
	if (reply->base.retry_after != 0) {
		fprintf(f, " retry after %u s", reply->base.retry_after);
	}
	fputs("\n  ", f);
	if (reply->base.body.len > 0) { /* else there may be no data */
		fwrite(reply->base.body.data, 1, reply->base.body.len, f);
	}
	while (reply->stream != NULL &&
	       (n = stream_read(reply->stream, part, sizeof(part))) > 0) {
		fwrite(part, 1, n, f);
	}
	for (const char *const *word = reply->job; word != NULL && *word != NULL;
	     word++) {
		fprintf(f, "%s ", *word);
	}
	fprintf(f, "%s\n",
	        reply->job != NULL && reply->job_file != NULL ? reply->job_file : "");
	stream_free(reply->stream);
	free(reply->feed);
	arena_free(reply->arena);
	body_clear(&reply->base.body);
}

START_TEST(test_requests)
{
	struct golden golden;
	struct api_reply reply;

	golden_begin(&golden, "requests");
	for (unsigned i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		struct api_request rq = { .method = requests[i].method,
			                  .target = requests[i].target,
			                  .body = requests[i].body,
			                  .body_len = requests[i].body != NULL
			                                      ? strlen(requests[i].body)
			                                      : 0,
			                  .if_none_match = requests[i].if_none_match,
			                  .accept = requests[i].accept };
		size_t most = 77;

		rq.content_type = type_of(rq.target);

		fprintf(golden.f, "%s %s%s%s%s%s", rq.method, rq.target,
		        rq.if_none_match != NULL ? " if not " : "",
		        rq.if_none_match != NULL ? rq.if_none_match : "",
		        rq.accept != NULL ? " as " : "",
		        rq.accept != NULL ? rq.accept : "");
		if (api_expects_body(rq.method, rq.target, &most) == E_OK) {
			fprintf(golden.f, ", up to %zu bytes", most);
		}
		fprintf(golden.f, "\n  %s\n", rq.body != NULL ? rq.body : "-");
		reply = (struct api_reply){ .epoch = 0 };
		api_serve(&thread, &rq, &reply);
		print_reply(golden.f, &reply);
	}
	for (unsigned i = 0; i < sizeof(ends_of_jobs) / sizeof(*ends_of_jobs); i++) {
		struct body out = { .len = 0 };

		body_printf(&out, "%s", ends_of_jobs[i].out);
		fprintf(golden.f, "run ends: %d %d, '%s' '%s'\n", ends_of_jobs[i].ret,
		        ends_of_jobs[i].status, ends_of_jobs[i].out,
		        ends_of_jobs[i].said);
		api_job_reply(&thread, 0, ends_of_jobs[i].ret, ends_of_jobs[i].status,
		              &out, ends_of_jobs[i].said, &reply);
		print_reply(golden.f, &reply);
	}
	golden_end(&golden);
}
END_TEST

TEST_SUITE(api_golden)
{
	TCase *t = tcase_create("api_golden");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, test_answers);
	tcase_add_test(t, test_path_answers);
	tcase_add_test(t, test_requests);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Every resource is asked with every parameter that it has and each of some values, good
 * and bad, on the fabric of rich_fixture.h. tests/golden/answers has a line for each
 * parameter: the statuses, and a sum of the bodies. Other tests say what is right; this
 * one says that an answer is no longer as it was. Where that is meant, `make golden`
 * writes the file anew.
 */
#include <check.h>
#include <string.h>

#include "gateway/api/api.h"
#include "gateway/api/metrics.h"
#include "gateway/api/stream.h"
#include "gateway/resource/resource.h"
#include "gateway/view/source.h"
#include "tests/lib/golden.h"
#include "tests/lib/api_json.h"
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

TEST_SUITE(api_golden)
{
	TCase *t = tcase_create("api_golden");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, test_answers);
	tcase_add_test(t, test_path_answers);
	suite_add_tcase(suite, t);
}

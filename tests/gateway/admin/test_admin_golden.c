/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Every resource of the write door is asked with each member of its body, each of some
 * values, good and bad, and with each of some replies of saguarod. tests/golden/admin
 * has a line for each of them: the statuses, and a sum of the answers, of what saguarod
 * was asked and of the lines in the audit log. Other tests say what is right; this one
 * says that something is no longer as it was. Where that is meant, `make golden` writes
 * the file anew.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "gateway/admin/admin_call.h"
#include "gateway/resource/fields.h"
#include "gateway/resource/resource.h"
#include "tests/gateway/admin/admin_fixture.h"
#include "tests/lib/golden.h"
#include "tests/lib/suite.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Values that a member of a body gets. */
static const char *const values[] = {
	"true",
	"false",
	"null",
	"0",
	"1",
	"-1",
	"1.5",
	"5",
	"32768",
	"65536",
	"\"\"",
	"\"x\"",
	"\"0x8001\"",
	"\"5\"",
	"\"limited\"",
	"\"both\"",
	"\"2h\"",
	"\"2027-01-31T12:00:00Z\"",
	"[]",
	"{}",
	"[\"0x102\"]",
	"[\"0x102\",\"x\"]",
	"[{\"guid\":\"0x102\",\"membership\":\"full\"}]",
	"[{\"guid\":\"0x1\"}]",
	"[{\"membership\":\"full\"}]",
	"[\"limited\"]",
	"[\"host\"]",
	"[\"node[01-03]\"]",
	"[1]",
	"[\"host\",\"host\"]",
	"\"sw-a:1\"",
};

/* A good value of each type. */
static const char *const good[] = {
	[FIELD_BOOL] = "true",
	[FIELD_TEXT] = "\"host\"",
	[FIELD_P_KEY] = "\"0x8001\"",
	[FIELD_MEMBERSHIP] = "\"limited\"",
	[FIELD_MEMBERS] = "[{\"guid\":\"0x102\",\"membership\":\"both\"},\"0x202\"]",
	[FIELD_GUIDS] = "[\"0x102\",\"0000000000000202\"]",
	[FIELD_MEMBERSHIPS] = "[\"limited\",\"full\"]",
	[FIELD_NAMES] = "[\"host\",\"dual\"]",
};

/* What stands for a part in braces of a path; the first is good. */
static const struct {
	const char *name, *values[3];
} captures[] = {
	{ "{p_key}", { "0x5", "0x8000", "x" } },
	{ "{guid}", { "0x102", "0", "x" } },
	{ "{job}", { "7", "a%20b", "job-7" } },
	{ "{action}", { "disable", "enable", "burn" } },
	{ "{id}", { "flapping", "Flapping", "a%2Fb" } },
	{ "{node}", { "sw-a", "sw-a:1", "a%20b" } },
};

#define PARTITION                                                                                                                        \
	"{\"pkey\":\"0x0005\",\"name\":\"job-7\",\"ipoib\":true,\"index0\":false,\"membership\":\"full\",\"sl\":2,\"rate\":3,\"mtu\":4," \
	"\"configured\":true,\"runtime\":true,\"changed_version\":3,\"last_updated\":\"2026-01-01T00:00:00Z\","                          \
	"\"members\":[{\"membership\":\"full\",\"source\":\"runtime\",\"guid\":\"0x0000000000000102\",\"present\":true},"                \
	"{\"membership\":\"limited\",\"source\":\"file\",\"first\":\"0x0000000000000200\",\"last\":\"0x0000000000000300\"},"             \
	"{\"membership\":\"both\",\"source\":\"file\",\"who\":\"ALL\"},{\"membership\":\"full\",\"source\":\"runtime\",\"host\":\"host\",\"n_ports\":1}]}"

/* What saguarod replies; NULL: nothing. */
static const char *const replies[] = {
	NULL,
	"{\"ok\":true}",
	"{\"ok\":true,\"version\":7,\"programmed_version\":6,\"last_updated\":\"2026-01-01T00:00:00Z\",\"changed\":true,\"pkey\":\"0x8005\","
	"\"present\":[\"0x0000000000000102\"],\"absent\":[\"0x0000000000000202\"],\"configured\":[],\"partitions\":[" PARTITION
	"],\"partition\":" PARTITION "}",
	"{\"ok\":true,\"version\":7,\"changed\":false,\"partitions\":[],\"programmed\":false,\"port_count\":2,\"ports\":[\"sw-a/1\"]}",
	"{\"ok\":true,\"version\":7,\"programmed\":true,\"node\":\"sw-a\",\"port\":1,\"cut_off\":2,\"forgotten\":3,\"state\":\"quiet\"}",
	"{\"ok\":false,\"error\":\"why not\"}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"invalid\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"not_found\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"exists\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"conflict\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"full\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"read_only\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"no_host\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"standby\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"memory\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"disk\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
	"{\"ok\":false,\"error\":\"why not\",\"code\":\"nonsense\",\"version\":7,\"unknown_hosts\":[\"host\"]}",
};

static struct admin_fixture f;

static void setup(void)
{
	log_set_level(LOG_LEVEL_ERROR); /* some 1,800 changes */
	admin_fixture_init(&f, 0);
}

static void teardown(void)
{
	admin_fixture_done(&f);
}

/* Asks, and prints the status; the sum gets what came and what was asked. */
static void ask(FILE *to, const struct resource *row, const char *target,
                const char *body, const char *if_match, uint64_t *sum)
{
	struct admin_request rq = { .method = row->method,
		                    .target = target,
		                    .content_type = "application/json",
		                    .if_match = if_match };
	struct reply reply;
	json_t *answer = NULL;
	char *text;

	f.now_ms += 60000;
	json_decref(f.asked);
	f.asked = NULL;
	rq.authorization = admin_fixture_basic("operator", ADMIN_SECRET);
	reply = admin_fixture_send(&f, &rq, body, &answer);
	fprintf(to, " %u", reply.status);
	if (strcmp(row->path, "/openapi.json") !=
	    0) { /* tests/gateway/api compares schemas */
		text = json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY);
		*sum = golden_sum_text(*sum, text);
		free(text);
	}
	text = json_dumps(f.asked, JSON_COMPACT | JSON_ENCODE_ANY);
	*sum = golden_sum_text(*sum, text);
	*sum = golden_sum_text(*sum, reply.etag);
	*sum = golden_sum_text(*sum, reply.content_type);
	*sum = golden_sum(*sum, &reply.retry_after, sizeof(reply.retry_after));
	free(text);
	json_decref(answer);
}

/* The path with the v-th value of its parts. */
static void fill_path(const char *path, unsigned v, char *to, size_t size)
{
	size_t len = 0;

	while (*path != '\0') {
		if (*path != '{') {
			len += (size_t)snprintf(to + len, size - len, "%c", *path++);
			continue;
		}
		for (unsigned i = 0; i < N(captures); i++) {
			if (strncmp(path, captures[i].name, strlen(captures[i].name)) ==
			    0) {
				len += (size_t)snprintf(to + len, size - len, "%s",
				                        captures[i].values[v]);
			}
		}
		path += strcspn(path, "}") + 1;
	}
}

/* A body of all members that are good together, but for one. \param value  NULL:
 * without it. */
static const char *body_of(const struct field *fields, const struct field *other,
                           const char *value)
{
	static char text[4096];
	size_t len = (size_t)snprintf(text, sizeof(text), "{");
	const char *comma = "";

	for (const struct field *m = fields; m != NULL && m->name != NULL; m++) {
		const char *v = m == other ? value : good[m->type];

		if (v != NULL) {
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			                        "%s\"%s\":%s", comma, m->name, v);
			comma = ",";
		}
	}
	snprintf(text + len, sizeof(text) - len, "}");
	return text;
}

static void end_line(FILE *to, uint64_t sum)
{
	fprintf(to, " %016llx\n", (unsigned long long)sum);
}

static void ask_row(FILE *to, const struct resource *row)
{
	const struct field *fields = row->body.fields;
	const char *body = fields != NULL ? body_of(fields, NULL, NULL) : NULL,
		   *at = row->params;
	uint64_t sum = GOLDEN_SUM;
	char target[512], query[600];

	fprintf(to, "%s %s:", row->method, row->path);
	for (unsigned v = 0; v < 3; v++) {
		fill_path(row->path, v, target, sizeof(target));
		ask(to, row, target, body, NULL, &sum);
		ask(to, row, target, body, v == 0 ? "\"7\"" : "\"x\"", &sum);
	}
	fill_path(row->path, 0, target, sizeof(target));
	ask(to, row, target, "[]", NULL, &sum);
	ask(to, row, target, "{\"nothing\":1}", NULL, &sum);
	ask(to, row, target, "", NULL, &sum);
	end_line(to, sum);
	sum = GOLDEN_SUM;
	fprintf(to, "%s %s replies:", row->method, row->path);
	for (unsigned i = 0; i < N(replies); i++) {
		f.reply = replies[i];
		ask(to, row, target, body, NULL, &sum);
		ask(to, row, target, body, "\"7\"", &sum);
	}
	f.reply = NULL;
	f.error = E_TIMEOUT;
	ask(to, row, target, body, NULL, &sum);
	f.error = 0;
	f.reply = replies[2];
	end_line(to, sum);
	for (const struct field *m = fields; m != NULL && m->name != NULL; m++) {
		sum = GOLDEN_SUM;
		fprintf(to, "%s %s %s:", row->method, row->path, m->name);
		ask(to, row, target, body_of(fields, m, NULL), NULL, &sum);
		for (unsigned v = 0; v < N(values); v++) {
			ask(to, row, target, body_of(fields, m, values[v]), NULL, &sum);
		}
		end_line(to, sum);
	}
	for (; at != NULL && *at != '\0'; at += strspn(at, " ")) {
		static const char *const given[] = { "",   "0", "5",    "10000", "10001",
			                             "-1", "x", "true", "false" };
		int len = (int)strcspn(at, " ");

		sum = GOLDEN_SUM;
		fprintf(to, "%s %s?%.*s:", row->method, row->path, len, at);
		for (unsigned v = 0; v < N(given); v++) {
			snprintf(query, sizeof(query), "%s?%.*s=%s%s", target, len, at,
			         given[v],
			         len == 10 && strstr(row->params, "version ") != NULL
			                 ? "&version=7"
			                 : "");
			ask(to, row, query,
			    body != NULL ? body_of(fields, NULL, NULL) : NULL, NULL,
			    &sum);
		}
		end_line(to, sum);
		at += len;
	}
}

START_TEST(test_all)
{
	struct golden golden;
	char line[2048];
	uint64_t sum = GOLDEN_SUM;
	unsigned n = 0;
	FILE *audit;

	golden_begin(&golden, "admin");
	f.reply = replies[2];
	for (unsigned i = 0; i < admin_resources.n; i++) {
		ask_row(golden.f, &admin_resources.row[i]);
	}
	audit = fopen(f.audit, "r");
	ck_assert_ptr_nonnull(audit);
	while (fgets(line, sizeof(line), audit) != NULL) {
		char *who = strstr(
			line,
			",\"what\":"); /* behind the time and a number of the process */

		ck_assert_msg(who != NULL, "%s", line);
		sum = golden_sum_text(sum, who);
		n++;
	}
	fclose(audit);
	fprintf(golden.f, "audit: %u lines", n);
	end_line(golden.f, sum);
	golden_end(&golden);
}
END_TEST

TEST_SUITE(admin_golden)
{
	TCase *t = tcase_create("admin_golden");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_all);
	suite_add_tcase(suite, t);
}

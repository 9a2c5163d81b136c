/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * POST /v1/paths:batch over HTTP: each pair gets what GET /v1/paths gives for it, in the
 * order of the lines; what is wrong with one line costs this line alone; bodies are bounded.
 */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "gateway/http/http.h"
#include "tests/lib/gateway_client.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct http *http;
static struct client client;

static void start(void)
{
	static char *args[] = { (char *)"3", (char *)"4", (char *)"2" };
	const char *why = "";

	gateway_fixture_init(&fixture, "ft2", 3, args);
	gateway_fixture_route(&fixture, 1);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 7);
	gateway_fixture_heartbeat(&fixture, 0, true);
	const struct http_options o = { .listen = "127.0.0.1:0",
		                        .snapshot_dir = fixture.dir,
		                        .threads = 1 };
	ck_assert_msg(http_start(&o, fixture.arena, &why, &http) == E_OK, "%s", why);
	client_init(&client, http_port(http));
}

static void stop(void)
{
	client_done(&client);
	http_stop(http);
	gateway_fixture_done(&fixture);
}

static void post(const char *target, const char *body)
{
	client_ask(&client, "POST", target, "Content-Type: application/x-ndjson", body);
}

/* Line \a n of the answer, counted from the begin line. */
static json_t *line(unsigned n)
{
	const char *p = client.body;

	for (unsigned i = 0; i < n; i++) {
		p = strchr(p, '\n');
		ck_assert_msg(p != NULL, "line %u of %s", n, client.body);
		p++;
	}
	json_t *o = json_loadb(p, strcspn(p, "\n"), 0, NULL);
	ck_assert_msg(o != NULL, "%s", p);
	return o;
}

static void check_same(const json_t *got, const json_t *want)
{
	static const char *const names[] = { "slid",
		                             "dlid",
		                             "sl",
		                             "p_key",
		                             "mtu",
		                             "rate",
		                             "packet_life_time",
		                             "hop_count",
		                             "reversible" };

	ck_assert_uint_eq(json_array_size(got), json_array_size(want));
	for (size_t i = 0; i < json_array_size(got); i++) {
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			ck_assert_int_eq(int_of(json_array_get(got, i), names[k]),
			                 int_of(json_array_get(want, i), names[k]));
		}
	}
}

START_TEST(same_as_one_by_one)
{
	static const char *const modes[] = { "", "?mode=srcdstall",
		                             "?mtu=>4&numb_path=1" };
	static const char *const lines[] = {
		"{\"src\":\"node01\",\"dst\":\"node12\"}",
		"[\"node03\",\"node04\"]",
		"{ \"dst\" : \"leaf-0001\" , \"src\" : 1 }",
		"[5,6]\r",
		"{\"src\":\"\\u006eode02\",\"dst\":\"node05:1\"}",
	};
	static const char *const queries[] = {
		"src=node01&dst=node12", "src=node03&dst=node04",   "src=1&dst=leaf-0001",
		"src=5&dst=6",           "src=node02&dst=node05:1",
	};
	char body[1000] = "\n", target[200], query[200];

	for (unsigned i = 0; i < 5; i++) {
		strcat(strcat(body, lines[i]), i < 4 ? "\n" : "");
	}
	snprintf(target, sizeof(target), "/v1/paths:batch%s", modes[_i]);
	post(target, body);
	ck_assert_msg(client.status == 200, "%s", client.body);
	struct client batch = client;
	client.body = NULL;
	for (unsigned i = 0; i < 5; i++) {
		snprintf(query, sizeof(query), "/v1/paths?%s%s%s", queries[i],
		         *modes[_i] ? "&" : "", *modes[_i] ? modes[_i] + 1 : "");
		json_t *want = client_get_json(&client, query);
		struct client one = client;
		client = batch;
		json_t *got = line(i + 1);
		batch = client;
		client = one;
		ck_assert_int_eq(int_of(got, "pair"), i);
		check_same(json_object_get(got, "paths"), json_object_get(want, "paths"));
		json_decref(got);
		json_decref(want);
	}
	free(batch.body);
}
END_TEST

static const struct {
	const char *line, *none, *key, *text;
} wrong[] = {
	{ "{\"src\":\"nobody\",\"dst\":1}", "not-found", "parameter", "src" },
	{ "{\"src\":1,\"dst\":\"nobody\"}", "not-found", "parameter", "dst" },
	{ "{\"src\":1}", "syntax", "parameter", "line" },
	{ "{\"src\":1,\"dst\":2,\"why\":1}", "syntax", "parameter", "line" },
	{ "[1,2,3]", "syntax", "parameter", "line" },
	{ "[1,-2]", "syntax", "parameter", "line" },
	{ "{\"src\":1,\"src\":2}", "syntax", "parameter", "line" },
	{ "nonsense", "syntax", "parameter", "line" },
	{ "[\"\",1]", "syntax", "parameter", "src" },
};

enum { N_WRONG = sizeof(wrong) / sizeof(wrong[0]) };

START_TEST(wrong_lines)
{
	char body[2000] = "";

	for (unsigned i = 0; i < N_WRONG; i++) {
		strcat(strcat(strcat(body, wrong[i].line), "\n"), "[1,2]\n");
	}
	post("/v1/paths:batch", body);
	ck_assert_int_eq(client.status, 200);
	for (unsigned i = 0; i < N_WRONG; i++) {
		json_t *o = line(2 * i + 1), *next = line(2 * i + 2);
		ck_assert_str_eq(text_of(o, "none"), wrong[i].none);
		ck_assert_str_eq(text_of(o, wrong[i].key), wrong[i].text);
		ck_assert(json_is_array(json_object_get(next, "paths")));
		json_decref(o);
		json_decref(next);
	}
	json_t *end = line(2 * N_WRONG + 1);
	ck_assert(json_is_true(json_object_get(end, "complete")));
	ck_assert_int_eq(int_of(end, "records"), 2 * N_WRONG);
	json_decref(end);
	post("/v1/paths:batch?pkey=0x77", "[1,2]");
	json_t *o = line(1);
	ck_assert_str_eq(text_of(o, "none"), "not-members");
	json_decref(o);
	post("/v1/paths:batch?mtu=>5", "[1,2]");
	o = line(1);
	ck_assert_str_eq(text_of(o, "none"), "selectors");
	json_decref(o);
}
END_TEST

static char *many(size_t n, const char *text)
{
	size_t len = strlen(text);
	char *body = malloc(n * len + 1);

	for (size_t i = 0; i < n; i++) {
		memcpy(body + i * len, text, len);
	}
	body[n * len] = '\0';
	return body;
}

START_TEST(bounds)
{
	char *body = many(10000, "[1,2]\n");

	post("/v1/paths:batch", body);
	ck_assert_int_eq(client.status, 200);
	json_t *end = line(10001);
	ck_assert_int_eq(int_of(end, "records"), 10000);
	json_decref(end);
	free(body);
	body = many(10001, "[1,2]\n");
	post("/v1/paths:batch", body);
	ck_assert_int_eq(client.status, 413);
	ck_assert_ptr_nonnull(strstr(client.body, "more than 10000 pairs"));
	free(body);
	body = many((4 << 20) + 1, " ");
	post("/v1/paths:batch", body);
	ck_assert_int_eq(client.status, 413);
	/* the same without a length */
	client_ask(&client, "POST", "/v1/paths:batch", "Transfer-Encoding: chunked",
	           body);
	ck_assert(client.status == 413 || client.status == 415);
	free(body);
	client_ask(&client, "POST", "/v1/paths:batch", "Content-Type: text/plain",
	           "[1,2]");
	ck_assert_int_eq(client.status, 415);
	post("/v1/paths:batch?src=1", "[1,2]");
	ck_assert_int_eq(client.status, 400);
	post("/v1/paths:batch", "");
	ck_assert_int_eq(client.status, 200);
	ck_assert_int_eq(client_get(&client, "/v1/fabric"), 200);
}
END_TEST

/* One who does not read his answer keeps nobody else from theirs. */
START_TEST(slow_reader)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)http_port(http)),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char *body = many(10000, "[1,2]\n"), head[200];
	int small = 4096, fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	snprintf(head, sizeof(head),
	         "POST /v1/paths:batch HTTP/1.1\r\nHost: localhost\r\n"
	         "Content-Type: application/x-ndjson\r\nContent-Length: %zu\r\n\r\n",
	         strlen(body));
	ck_assert_int_eq(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	for (size_t at = 0; at < strlen(body);) {
		ssize_t n = send(fd, body + at, strlen(body) - at, MSG_NOSIGNAL);
		ck_assert_int_gt(n, 0);
		at += (size_t)n;
	}
	for (unsigned i = 0; i < 3; i++) {
		post("/v1/paths:batch", "[1,2]");
		ck_assert_int_eq(client.status, 200);
	}
	close(fd);
	free(body);
}
END_TEST

TEST_SUITE(batch)
{
	TCase *t = tcase_create("batch");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_loop_test(t, same_as_one_by_one, 0, 3);
	tcase_add_test(t, wrong_lines);
	tcase_add_test(t, bounds);
	tcase_add_test(t, slow_reader);
	suite_add_tcase(suite, t);
}

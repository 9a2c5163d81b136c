/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What-ifs and checks over HTTP: the answers of the real program; and with programs that
 * hang, die or never stop printing, that each request gets an answer and nothing is left
 * behind.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "gateway/http/http.h"
#include "gateway/http/jobs.h"
#include "tests/lib/gateway_client.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

enum { CLIENTS = 50 };

static struct gateway_fixture fixture;
static struct http *http;
static struct client client;
static char program[200];

/* A program of some lines of shell. */
static const char *script(const char *text)
{
	snprintf(program, sizeof(program), "%s/program", fixture.dir);
	FILE *f = fopen(program, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "#!/bin/sh\n%s\n", text);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(program, 0700), 0);
	return program;
}

static void serve(const char *path, unsigned seconds)
{
	const char *why = "";
	const struct http_options o = { .listen = "127.0.0.1:0",
		                        .snapshot_dir = fixture.dir,
		                        .threads = 1,
		                        .program = path,
		                        .job_seconds = seconds };

	ck_assert_msg(http_start(&o, fixture.arena, &why, &http) == E_OK, "%s", why);
	client_init(&client, http_port(http));
}

static void start(void)
{
	static char *args[] = { (char *)"3", (char *)"2", (char *)"2" };

	http = NULL;
	gateway_fixture_init(&fixture, "ft2", 3, args);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 7);
	gateway_fixture_heartbeat(&fixture, 0, true);
}

static void stop(void)
{
	client_done(&client);
	http_stop(http);
	gateway_fixture_done(&fixture);
}

static void post(const char *target, const char *body)
{
	client_ask(&client, "POST", target, "Content-Type: application/json", body);
}

static json_int_t moved_by(const char *body)
{
	post("/v1/whatif", body);
	ck_assert_msg(client.status == 200, "%s", client.body);
	json_t *o = client_json(&client);
	json_int_t moved = int_of(json_object_get(o, "pairs"), "moved");
	ck_assert_int_eq(int_of(o, "epoch"), 7);
	json_decref(o);
	return moved;
}

/* The engine that routes when updn was asked for with these roots. */
static void check_roots(const char *roots, const char *engine)
{
	char body[160];

	snprintf(body, sizeof(body), "{\"routing_engine\":\"updn\",\"root_guids\":%s}",
	         roots);
	post("/v1/whatif", body);
	json_t *o = client_json(&client);
	ck_assert_int_eq(client.status, 200);
	ck_assert_str_eq(text_of(json_object_get(o, "after"), "engine"), engine);
	ck_assert_int_eq(strlen(text_of(o, "fallback")) > 0, strcmp(engine, "updn") != 0);
	json_decref(o);
}

START_TEST(answers)
{
	const uint32_t n = fixture.g->n_hosts;

	serve("./saguaro", 0);
	ck_assert_int_eq(moved_by("{}"), 0);
	ck_assert_int_eq(moved_by("{\"down\":[\"spine-0000\"]}"), n * (n - 2) / 2);
	ck_assert_int_eq(
		moved_by(
			"{\"down\":[\"leaf-0000:1\"],\"switch\":[\"new=8\"],\"link\":[\"leaf-0000:1=new:1\"],\"host\":[\"h=new:2\"],\"limit\":0,\"routing_engine\":\"minhop\",\"lmc\":0}"),
		0);
	check_roots("[\"0x0002c90300003000\"]", "updn");
	check_roots("[\"0x0002c90300003999\"]", "minhop"); /* no switch has this GUID */
	check_roots("[\"0x0002c90300003999\",\"0x2c90300003000\"]", "updn");
	post("/v1/check", "{}");
	ck_assert_msg(client.status == 200, "%s", client.body);
	json_t *o = client_json(&client);
	ck_assert_int_eq(int_of(o, "unreachable_pairs"), 0);
	ck_assert_str_eq(text_of(o, "engine_used"), "minhop");
	json_decref(o);
	post("/v1/compare", "{\"routing_engine\":\"updn,minhop\",\"seconds\":9,\"strict\":false}");
	ck_assert_msg(client.status == 200, "%s", client.body);
	o = client_json(&client);
	ck_assert_uint_eq(json_array_size(json_object_get(o, "engines")), 2);
	ck_assert_str_eq(text_of(o, "recommended"), "updn");
	json_decref(o);
	/* no route between leaves: an answer, too */
	post("/v1/whatif", "{\"down\":[\"spine-0000\",\"spine-0001\"]}");
	ck_assert_int_eq(client.status, 200);
}
END_TEST

static const struct {
	const char *body;
	int status;
	const char *detail;
} wrong[] = {
	{ "", 400, "the body is no JSON object" },
	{ "[]", 400, "the body is no JSON object" },
	{ "{\"down\":[1]}", 400, "'down'" },
	{ "{\"down\":[\"nobody\"]}", 400, "'nobody' is no node of this fabric" },
	{ "{\"down\":[\"--config=/etc/passwd\"]}", 400, "is no node of this fabric" },
	{ "{\"config\":\"/etc/passwd\"}", 400, "'config' of the body: not known" },
	{ "{\"routing_engine\":\"file -U /etc/passwd\"}", 400,
	  "names of routing engines" },
	{ "{\"lmc\":8}", 400, "0-7" },
	{ "{\"root_guids\":[\"/etc/passwd\"]}", 400, "expected GUIDs" },
};

static const struct {
	const char *body, *detail;
} wrong_compared[] = {
	{ "", "the body is no JSON object" },
	{ "{\"seconds\":21}", "0-20" },
	{ "{\"strict\":1}", "true or false" },
	{ "{\"down\":[]}", "'down' of the body: not known" },
	{ "{\"routing_engine\":\"nobody\"}", "nobody" },
};

START_TEST(refuses)
{
	serve("./saguaro", 0);
	for (unsigned i = 0; i < sizeof(wrong_compared) / sizeof(wrong_compared[0]); i++) {
		post("/v1/compare", wrong_compared[i].body);
		ck_assert_msg(client.status == 400, "%s: %ld %s", wrong_compared[i].body,
		              client.status, client.body);
		ck_assert_msg(strstr(client.body, wrong_compared[i].detail) != NULL,
		              "%s", client.body);
	}
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		post("/v1/whatif", wrong[i].body);
		ck_assert_msg(client.status == wrong[i].status, "%s: %ld %s",
		              wrong[i].body, client.status, client.body);
		ck_assert_msg(strstr(client.body, wrong[i].detail) != NULL, "%s: %s",
		              wrong[i].body, client.body);
	}
	char *body = malloc(70000);
	memset(body, 'x', 70000);
	body[69999] = '\0';
	post("/v1/whatif", body);
	ck_assert_int_eq(client.status, 413);
	free(body);
	client_ask(&client, "POST", "/v1/whatif", "Content-Type: text/plain", "{}");
	ck_assert_int_eq(client.status, 415);
	ck_assert_int_eq(client_get(&client, "/v1/whatif"), 405);
	ck_assert_str_eq(client.allow, "POST, OPTIONS");
}
END_TEST

static const struct {
	const char *script;
	unsigned seconds;
	int status;
	const char *detail;
} bad[] = {
	{ "kill -9 $$", 0, 503, "it was ended by signal 9" },
	{ "exit 127", 0, 503, "--saguaro" },
	{ "sleep 10000", 1, 504, "it took too long" },
	{ "exec >&- 2>&-; sleep 10000", 1, 504, "it took too long" },
	{ "yes", 60, 503, "too long an answer" },
	{ "echo 'p: what is wrong' >&2; exit 2", 0, 400, "what is wrong" },
	{ "echo 'p: no engine fits' >&2; exit 1", 0, 422, "no engine fits" },
};

START_TEST(bad_programs)
{
	serve(script(bad[_i].script), bad[_i].seconds);
	post("/v1/whatif", "{}");
	ck_assert_msg(client.status == bad[_i].status, "%ld %s", client.status,
	              client.body);
	ck_assert_str_eq(client.type, "application/problem+json");
	ck_assert_msg(strstr(client.body, bad[_i].detail) != NULL, "%s", client.body);
	ck_assert_int_eq(client_get(&client, "/v1/fabric"), 200);
}
END_TEST

START_TEST(no_program)
{
	serve("/no/such/program", 0);
	post("/v1/check", "{}");
	ck_assert_int_eq(client.status, 503);
	ck_assert_ptr_nonnull(strstr(client.body, "--saguaro"));
}
END_TEST

static int ask_on_socket(void)
{
	static const char request[] =
		"POST /v1/whatif HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)http_port(http)),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_eq(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL),
	                 sizeof(request) - 1);
	return fd;
}

/* Waits until so many answers came. \return How many of them have this status. */
static unsigned wait_answers(struct pollfd *fds, unsigned wanted, const char *status)
{
	unsigned got = 0, fits = 0;
	char text[4096];

	while (got < wanted) {
		ck_assert_int_gt(poll(fds, CLIENTS, -1), 0);
		for (unsigned i = 0; i < CLIENTS; i++) {
			if (fds[i].revents == 0) {
				continue;
			}
			ssize_t n = recv(fds[i].fd, text, sizeof(text) - 1, 0);
			ck_assert_int_gt(n, 0);
			text[n] = '\0';
			got++;
			fits += strncmp(text, status, strlen(status)) == 0;
			close(fds[i].fd);
			fds[i].fd = -1;
			fds[i].revents = 0;
		}
	}
	return fits;
}

/* Fifty at once: some run, some wait, the others are told at once to come again. The server
 * answers other requests meanwhile. */
START_TEST(fifty_at_once)
{
	const unsigned taken = JOBS_RUNNING + JOBS_WAITING;
	struct pollfd fds[CLIENTS];
	char fifo[200], text[300];

	snprintf(fifo, sizeof(fifo), "%s/fifo", fixture.dir);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	snprintf(text, sizeof(text), "read line < %s; echo '{}'", fifo);
	serve(script(text), 600);
	for (unsigned i = 0; i < CLIENTS; i++) {
		fds[i] = (struct pollfd){ .fd = ask_on_socket(), .events = POLLIN };
	}
	ck_assert_uint_eq(wait_answers(fds, CLIENTS - taken, "HTTP/1.1 503"),
	                  CLIENTS - taken);
	ck_assert_int_eq(client_get(&client, "/v1/fabric"), 200);
	int fd = open(fifo, O_RDWR);
	ck_assert_int_ge(fd, 0);
	for (unsigned i = 0; i < taken; i++) {
		ck_assert_int_eq(write(fd, "go\n", 3), 3);
	}
	ck_assert_uint_eq(wait_answers(fds, taken, "HTTP/1.1 200"), taken);
	close(fd);
}
END_TEST

/* A server that ends does not wait for a run, and leaves no process behind. */
START_TEST(ends_with_the_server)
{
	struct pollfd fds[CLIENTS];

	serve(script("exec sleep 10000"), 600);
	for (unsigned i = 0; i < CLIENTS; i++) {
		fds[i] = (struct pollfd){ .fd = i < 12 ? ask_on_socket() : -1,
			                  .events = POLLIN };
	}
	ck_assert_uint_eq(wait_answers(fds, 2, "HTTP/1.1 503"), 2);
	http_stop(http);
	http = NULL;
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (fds[i].fd >= 0) {
			close(fds[i].fd);
		}
	}
}
END_TEST

TEST_SUITE(jobs)
{
	TCase *t = tcase_create("jobs");

	tcase_add_checked_fixture(t, start, stop);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, answers);
	tcase_add_test(t, refuses);
	tcase_add_loop_test(t, bad_programs, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, no_program);
	tcase_add_test(t, fifty_at_once);
	tcase_add_test(t, ends_with_the_server);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* A running server and clients that are slow, many, too long or ambiguous on purpose. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/http/http.h"
#include "tests/lib/gateway_client.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/raw_requests.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct http *http;
static struct client client;

static void start_server(uint32_t fresh_ms)
{
	static char *args[] = { (char *)"4", (char *)"3", (char *)"2" };
	struct http_options o = { .listen = "127.0.0.1:0", .threads = 1 };
	const char *why = "";

	gateway_fixture_init(&fixture, "ft2", 3, args);
	o.snapshot_dir = fixture.dir;
	o.fresh_ms = fresh_ms;
	ck_assert_msg(http_start(&o, fixture.arena, &why, &http) == E_OK, "%s", why);
	client_init(&client, http_port(http));
}

static void teardown(void)
{
	client_done(&client);
	http_stop(http);
	gateway_fixture_done(&fixture);
}

/* A connection that has sent so much of a request. */
static int send_part(const char *text)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)http_port(http)),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (int)strlen(text));
	return fd;
}

/* A head that never ends is cut off, although each of its lines comes in time. */
START_TEST(a_head_has_a_time_in_all)
{
	int fd;

	start_server(300);
	fd = send_part("GET /healthz HTTP/1.1\r\nHost: localhost\r\n");
	struct pollfd p = { .fd = fd, .events = POLLIN };
	while (poll(&p, 1, 50) == 0) {
		(void)send(fd, "A: b\r\n", 6, MSG_NOSIGNAL);
	}
	ck_assert_int_le(recv(fd, &(char){ 0 }, 1, 0), 0);
	close(fd);
	ck_assert_int_eq(client_get(&client, "/healthz"), 200);
}
END_TEST

/* Twice as many as there are places wait, and the next request is answered. */
START_TEST(a_crowd_keeps_nobody_out)
{
	enum { CROWD = 240 };
	int fd[CROWD];

	start_server(0);
	for (unsigned i = 0; i < CROWD; i++) {
		fd[i] = send_part("GET /healthz HTTP/1.1\r\n");
	}
	for (unsigned i = 0; i < 10; i++) {
		client_done(&client);
		client_init(&client, http_port(http));
		ck_assert_int_eq(client_get(&client, "/healthz"), 200);
	}
	for (unsigned i = 0; i < CROWD; i++) {
		close(fd[i]);
	}
}
END_TEST

/* All parameters are read by us alone, so their number is no matter to the library. */
START_TEST(many_parameters)
{
	static const unsigned counts[] = { 400, 600, 1000, 2600 };
	char *target = malloc(3 * 2600 + 8);

	start_server(0);
	for (unsigned i = 0; i < 4; i++) {
		strcpy(target, "/paths?");
		char *to = target + 7;
		for (unsigned n = 0; n < counts[i]; n++, to += 3) {
			memcpy(to, n % 2 ? "a=&" : "?b&", 3);
		}
		*to = '\0';
		client_get(&client, target);
		ck_assert_msg(client.status == 400 || client.status == 414, "%u: %ld",
		              counts[i], client.status);
		ck_assert_int_eq(client_get(&client, "/healthz"), 200);
	}
	free(target);
}
END_TEST

/* A head that could be read in two ways ends its connection. */
START_TEST(strict_heads)
{
	start_server(0);
	for (unsigned i = 0; i < n_raw_requests; i++) {
		raw_request_check(&raw_requests[i], send_part(""));
	}
}
END_TEST

TEST_SUITE(slow)
{
	TCase *t = tcase_create("slow");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_head_has_a_time_in_all);
	tcase_add_test(t, a_crowd_keeps_nobody_out);
	tcase_add_test(t, many_parameters);
	tcase_add_test(t, strict_heads);
	suite_add_tcase(suite, t);
}

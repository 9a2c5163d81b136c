/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* A running write door at a Unix socket. */
#include "gateway/admin/admin_http.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "tests/gateway/admin/admin_fixture.h"
#include "tests/lib/raw_requests.h"
#include "tests/lib/suite.h"

enum { PLACES = 32, CROWD = 24 * PLACES };

static struct admin_fixture fixture;
static struct admin_http *http;
static struct arena *arena;
static char path[96];

static void setup(void)
{
	struct admin_http_options o = { .listen = path,
		                        .connections = PLACES,
		                        .request_s = 3600,
		                        .admin = &fixture.admin };
	const char *why = "";

	admin_fixture_init(&fixture, 1000000);
	snprintf(path, sizeof(path), "%s/http.sock", fixture.dir);
	arena = arena_new();
	ck_assert_msg(admin_http_start(&o, arena, &why, &http) == E_OK, "%s", why);
}

static void teardown(void)
{
	admin_http_stop(http);
	admin_fixture_done(&fixture);
	arena_free(arena);
}

static int connect_here(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(to.sun_path, path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

START_TEST(strict_heads)
{
	for (unsigned i = 0; i < n_raw_requests; i++) {
		raw_request_check(&raw_requests[i], connect_here());
	}
}
END_TEST

/* Nobody listens any more. */
START_TEST(stops)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = connect_here();

	close(fd);
	admin_http_stop(http);
	http = NULL;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(to.sun_path, path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), -1);
	close(fd);
}
END_TEST

/* As an operator with a connection of its own. */
static void ask_as_operator(int fd, const char *end)
{
	char request[512];
	int n = snprintf(
		request, sizeof(request),
		"GET /v1/user HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n%s\r\n",
		admin_fixture_basic("operator", ADMIN_SECRET), end);
	char answer[4096] = "";
	size_t len = 0;

	ck_assert(raw_send(fd, request, (size_t)n));
	while (strstr(answer, "\"operator\"") == NULL) {
		ssize_t got = recv(fd, answer + len, sizeof(answer) - 1 - len, 0);

		ck_assert_msg(got > 0, "no answer but '%s'", answer);
		len += (size_t)got;
		answer[len] = '\0';
	}
}

/* Many more than there are places, of each kind that no user has authenticated, keep an operator
 * neither out nor from asking again over the connection that is open. */
START_TEST(a_crowd_keeps_no_user_out)
{
	static const char *const kinds[] = {
		"",
		"GET /v1/user HTTP/1.1\r\n",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /v1/sweep HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
	};
	int crowd[CROWD];
	int first = connect_here();

	ask_as_operator(first, "");
	for (unsigned i = 0; i < CROWD; i++) {
		crowd[i] = connect_here();
		(void)raw_send(crowd[i], kinds[_i], strlen(kinds[_i]));
	}
	for (unsigned i = 0; i < 5; i++) {
		int fd = connect_here();

		ask_as_operator(fd, "Connection: close\r\n");
		raw_await_end(fd);
		close(fd);
	}
	ask_as_operator(first, "Connection: close\r\n");
	raw_await_end(first);
	close(first);
	for (unsigned i = 0; i < CROWD; i++) {
		close(crowd[i]);
	}
}
END_TEST

TEST_SUITE(admin_http)
{
	TCase *t = tcase_create("admin_http");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, strict_heads);
	tcase_add_test(t, stops);
	tcase_add_loop_test(t, a_crowd_keeps_no_user_out, 0, 4);
	suite_add_tcase(suite, t);
}

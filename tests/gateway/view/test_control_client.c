/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* One request to a control socket: replies, and peers that do not give one. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "gateway/view/control_client.h"
#include "tests/lib/suite.h"

static char dir[64], path[96];
static int listener;
static pthread_t peer;

/* What the peer does with one connection. */
static const char *answer; /* sent in pieces after the request was read */
static bool keeps_open;

static void *serve(void *arg)
{
	int fd = accept(listener, NULL, NULL);
	char c = 0;

	(void)arg;
	while (c != '\n' && read(fd, &c, 1) == 1) {
	}
	for (const char *p = answer; *p != '\0'; p++) {
		if (write(fd, p, 1) != 1) {
			break;
		}
	}
	if (keeps_open) { /* until the client closes */
		(void)!read(fd, &c, 1);
	}
	close(fd);
	return NULL;
}

static void setup(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(dir, sizeof(dir), "/tmp/saguaro-client.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/control", dir);
	strcpy(at.sun_path, path);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	keeps_open = false;
}

static void teardown(void)
{
	close(listener);
	unlink(path);
	rmdir(dir);
}

static int ask(unsigned timeout_ms, json_t **ret_json)
{
	json_t *request = json_pack("{s:s}", "verb", "sweep");
	int ret;

	ck_assert_int_eq(pthread_create(&peer, NULL, serve, NULL), 0);
	ret = control_ask(path, request, timeout_ms, ret_json);
	ck_assert_int_eq(pthread_join(peer, NULL), 0);
	json_decref(request);
	return ret;
}

START_TEST(test_reply)
{
	json_t *reply = NULL;

	answer = "{\"ok\": true, \"version\": 7}\n";
	keeps_open = true;
	ck_assert_int_eq(ask(0, &reply), E_OK);
	ck_assert_int_eq(json_integer_value(json_object_get(reply, "version")), 7);
	json_decref(reply);
}
END_TEST

static const char *const no_replies[] = { "", "{\"ok\": true", "[1]\n", "nonsense\n" };

START_TEST(test_no_reply)
{
	json_t *reply = NULL;

	answer = no_replies[_i];
	ck_assert_int_eq(ask(0, &reply), E_MALFORMED);
	ck_assert_ptr_null(reply);
}
END_TEST

START_TEST(test_silence)
{
	json_t *reply = NULL;

	answer = "{\"ok\"";
	keeps_open = true;
	ck_assert_int_eq(ask(30, &reply), E_TIMEOUT);
	ck_assert_ptr_null(reply);
}
END_TEST

START_TEST(test_nobody)
{
	json_t *request = json_pack("{s:s}", "verb", "sweep"), *reply = NULL;
	char long_path[200];

	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	ck_assert_int_eq(control_ask("/nonexistent/control", request, 0, &reply),
	                 -ENOENT);
	ck_assert_int_eq(control_ask(long_path, request, 0, &reply), -ENAMETOOLONG);
	json_decref(request);
}
END_TEST

TEST_SUITE(control_client)
{
	TCase *t = tcase_create("control_client");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_reply);
	tcase_add_loop_test(t, test_no_reply, 0,
	                    sizeof(no_replies) / sizeof(no_replies[0]));
	tcase_add_test(t, test_silence);
	tcase_add_test(t, test_nobody);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Requests over the control socket: real sockets, the fabric thread played by the test.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "sa/control/control.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static char dir[64], path[80];
static struct control *control;
static int woken;
static atomic_bool stop;
static pthread_t fabric_thread;
static unsigned calls;
static atomic_uint tries;
static atomic_bool go_on;

static int verb_echo(void *ctx, const json_t *request, json_t *reply, char *why,
                     size_t why_bytes)
{
	(void)ctx;
	(void)why;
	(void)why_bytes;
	calls++;
	json_object_set(reply, "text", json_object_get(request, "text"));
	return E_OK;
}

static int verb_who(void *ctx, const json_t *request, json_t *reply, char *why,
                    size_t why_bytes)
{
	char user[CONTROL_USER_BYTES];

	(void)ctx;
	(void)why;
	(void)why_bytes;
	control_user(control, request, user, sizeof(user));
	json_object_set_new(reply, "user", json_string(user));
	return E_OK;
}

static int verb_refuse(void *ctx, const json_t *request, json_t *reply, char *why,
                       size_t why_bytes)
{
	(void)ctx;
	(void)request;
	json_object_set_new(reply, "half", json_true());
	snprintf(why, why_bytes, "not today; try tomorrow");
	return E_RANGE;
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

/* Waits until the test lets it go on. */
static int verb_hold(void *ctx, const json_t *request, json_t *reply, char *why,
                     size_t why_bytes)
{
	(void)ctx;
	(void)request;
	(void)reply;
	(void)why;
	(void)why_bytes;
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return E_OK;
}

/* Waits for so many milliseconds as the request says, or until the test lets it go on. */
static int verb_wait(void *ctx, const json_t *request, json_t *reply, char *why,
                     size_t why_bytes)
{
	uint64_t most = (uint64_t)json_integer_value(json_object_get(request, "ms"));

	(void)ctx;
	(void)why;
	(void)why_bytes;
	tries++;
	if (!go_on && control_waited_ms(control) < most) {
		json_object_set_new(reply, "half", json_true());
		return CONTROL_WAIT;
	}
	json_object_set_new(reply, "let", json_boolean(go_on));
	return E_OK;
}

static atomic_bool disk_is_full;
static unsigned begun, settled;

/* Its reply holds only if what it changed can be kept. */
static int verb_change(void *ctx, const json_t *request, json_t *reply, char *why,
                       size_t why_bytes)
{
	(void)ctx;
	(void)why;
	(void)why_bytes;
	ck_assert_uint_eq(begun, settled + 1);
	control_unsettled(control);
	json_object_set(reply, "text", json_object_get(request, "text"));
	return E_OK;
}

static void begin(void *ctx)
{
	(void)ctx;
	begun++;
}

static int settle(void *ctx, json_t *reply, char *why, size_t why_bytes)
{
	(void)ctx;
	settled++;
	if (!disk_is_full) {
		return E_OK;
	}
	json_object_set_new(reply, "code", json_string("disk"));
	snprintf(why, why_bytes, "the disk is full");
	return -ENOSPC;
}

static const struct control_verb verbs[] = { { "change", verb_change },
	                                     { "echo", verb_echo },
	                                     { "wait", verb_wait },
	                                     { "hold", verb_hold },
	                                     { "who", verb_who },
	                                     { "refuse", verb_refuse },
	                                     { NULL, NULL } };

static void wake(void *ctx)
{
	uint64_t one = 1;

	(void)ctx;
	ck_assert_int_eq(write(woken, &one, sizeof(one)), sizeof(one));
}

static void *dispatch(void *arg)
{
	uint64_t n;

	(void)arg;
	while (read(woken, &n, sizeof(n)) == sizeof(n) && !stop) {
		control_dispatch(control);
	}
	return NULL;
}

static int listen_at(const char *at)
{
	const struct control_options o = {
		.path = at, .verbs = verbs, .begin = begin, .settle = settle, .wake = wake
	};
	const char *why;

	return control_new(&o, arena, &why, &control);
}

static void setup(void)
{
	arena = arena_new();
	log_set_level(LOG_LEVEL_ERROR);
	snprintf(dir, sizeof(dir), "/tmp/saguaro-control-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/control.sock", dir);
	woken = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_eq(listen_at(path), E_OK);
	ck_assert_int_eq(pthread_create(&fabric_thread, NULL, dispatch, NULL), 0);
}

static void teardown(void)
{
	stop = true;
	wake(NULL);
	pthread_join(fabric_thread, NULL);
	control_free(control);
	ck_assert_int_eq(access(path, F_OK), -1);
	rmdir(dir);
	arena_free(arena);
}

static int client(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(at.sun_path, path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* The next line, without its end; "" when the connection is closed. */
static const char *receive(int fd)
{
	static char line[8192];
	size_t n = 0;

	while (n < sizeof(line) - 1 && recv(fd, line + n, 1, 0) == 1) {
		if (line[n] == '\n') {
			break;
		}
		n++;
	}
	line[n] = '\0';
	return line;
}

static const char *ask(int fd, const char *line)
{
	ck_assert_int_eq(send(fd, line, strlen(line), MSG_NOSIGNAL),
	                 (ssize_t)strlen(line));
	return receive(fd);
}

START_TEST(replies)
{
	static const struct {
		const char *request, *reply;
	} cases[] = {
		{ "{\"verb\":\"echo\",\"text\":\"a\"}\n",
		  "{\"text\":\"a\",\"ok\":true}" },
		{ "{\"verb\":\"refuse\"}\n",
		  "{\"half\":true,\"error\":\"not today; try tomorrow\",\"ok\":false}" },
		{ "{\"verb\":\"gone\"}\n",
		  "{\"error\":\"there is no verb 'gone'\",\"ok\":false}" },
	};
	int fd = client();

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ck_assert_str_eq(ask(fd, cases[i].request), cases[i].reply);
	}
	ck_assert_ptr_nonnull(
		strstr(ask(fd, "[1]\n"), "a request is an object with a member"));
	ck_assert_ptr_nonnull(strstr(ask(fd, "{\"verb\":1}\n"), "\"ok\":false"));
	ck_assert_ptr_nonnull(strstr(ask(fd, "hello\n"), "not JSON"));
	ck_assert_ptr_nonnull(strstr(ask(fd, "\n"), "not JSON"));
	ck_assert_ptr_nonnull(
		strstr(ask(fd, "{\"verb\":\"echo\",\"verb\":\"refuse\"}\n"), "not JSON"));
	close(fd);
}
END_TEST

/* Replies that rest on what cannot be kept are refusals; others are not. */
START_TEST(unsettled)
{
	int fd = client();

	ck_assert_str_eq(ask(fd, "{\"verb\":\"change\",\"text\":\"a\"}\n"),
	                 "{\"text\":\"a\",\"ok\":true}");
	disk_is_full = true;
	ck_assert_str_eq(
		ask(fd, "{\"verb\":\"change\",\"text\":\"b\"}\n"),
		"{\"code\":\"disk\",\"error\":\"the disk is full\",\"ok\":false}");
	ck_assert_str_eq(ask(fd, "{\"verb\":\"echo\",\"text\":\"c\"}\n"),
	                 "{\"text\":\"c\",\"ok\":true}");
	ck_assert_ptr_nonnull(strstr(ask(fd, "{\"verb\":\"refuse\"}\n"), "not today"));
	disk_is_full = false;
	ck_assert_str_eq(ask(fd, "{\"verb\":\"change\",\"text\":\"d\"}\n"),
	                 "{\"text\":\"d\",\"ok\":true}");
	close(fd);
}
END_TEST

/* The user of the process, and whom a door names, which cannot stand in for it. */
START_TEST(users)
{
	struct passwd *pw = getpwuid(geteuid());
	char own[64], expected[300];
	int fd = client();

	snprintf(own, sizeof(own), "user %u", (unsigned)geteuid());
	if (pw != NULL) {
		snprintf(own, sizeof(own), "%s", pw->pw_name);
	}
	snprintf(expected, sizeof(expected), "{\"user\":\"%s, control socket\",\"ok\":true}",
	         own);
	ck_assert_str_eq(ask(fd, "{\"verb\":\"who\"}\n"), expected);
	ck_assert_str_eq(ask(fd, "{\"verb\":\"who\",\"by\":7}\n"), expected);
	snprintf(expected, sizeof(expected),
	         "{\"user\":\"al?ice, HTTP by way of %s\",\"ok\":true}", own);
	ck_assert_str_eq(ask(fd, "{\"verb\":\"who\",\"by\":\"al\\nice\"}\n"), expected);
	close(fd);
}
END_TEST

/* Many requests in one write: every one is answered, in order. */
START_TEST(order)
{
	enum { N = 500 };
	char text[N * 48] = "";
	size_t len = 0;
	int fd = client();

	for (unsigned i = 0; i < N; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        "{\"verb\":\"echo\",\"text\":\"%u\"}\n", i);
	}
	ck_assert_int_eq(send(fd, text, len, MSG_NOSIGNAL), (ssize_t)len);
	for (unsigned i = 0; i < N; i++) {
		char expected[64];

		snprintf(expected, sizeof(expected), "{\"text\":\"%u\",\"ok\":true}", i);
		ck_assert_str_eq(receive(fd), expected);
	}
	ck_assert_uint_eq(calls, N);
	close(fd);
}
END_TEST

/* More than a mebibyte of requests may wait behind one that takes long: only a line of this
 * length is too long. */
START_TEST(many_wait)
{
	enum { LINE = 4096, N = CONTROL_LINE_BYTES / LINE + 25, ROUNDS = 60 };
	static char line[LINE + 1];
	int fd = client(), others[CONTROL_CONNECTIONS];

	pthread_mutex_lock(&held);
	ck_assert_int_gt(send(fd, "{\"verb\":\"hold\"}\n", 16, MSG_NOSIGNAL), 0);
	snprintf(line, sizeof(line), "%-*s\n", LINE - 1,
	         "{\"verb\":\"echo\",\"text\":7}");
	for (unsigned i = 0; i < N; i++) {
		ck_assert_int_eq(send(fd, line, LINE, MSG_NOSIGNAL), LINE);
	}
	/* Each refusal of a client too many comes after one more look at all connections. */
	for (unsigned i = 0; i < CONTROL_CONNECTIONS; i++) {
		others[i] = client();
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		int extra = client();

		ck_assert_ptr_nonnull(strstr(receive(extra), "too many connections"));
		close(extra);
	}
	pthread_mutex_unlock(&held);
	ck_assert_str_eq(receive(fd), "{\"ok\":true}");
	for (unsigned i = 0; i < N; i++) {
		ck_assert_str_eq(receive(fd), "{\"text\":7,\"ok\":true}");
	}
	for (unsigned i = 0; i < CONTROL_CONNECTIONS; i++) {
		close(others[i]);
	}
	close(fd);
}
END_TEST

/* A verb that has nothing to say yet is tried again, by itself, and holds up nobody else. */
START_TEST(waiting_verb)
{
	static const char for_ever[] = "{\"verb\":\"wait\",\"ms\":1000000000}\n";
	int fd = client(), gone = client(), other = client();

	ck_assert_int_gt(send(fd, for_ever, sizeof(for_ever) - 1, MSG_NOSIGNAL), 0);
	ck_assert_int_gt(send(gone, for_ever, sizeof(for_ever) - 1, MSG_NOSIGNAL), 0);
	close(gone);
	ck_assert_str_eq(ask(other, "{\"verb\":\"echo\",\"text\":1}\n"),
	                 "{\"text\":1,\"ok\":true}");
	ck_assert_str_eq(ask(other, "{\"verb\":\"wait\",\"ms\":30}\n"),
	                 "{\"let\":false,\"ok\":true}");
	while (tries < 8) {
		sched_yield();
	}
	go_on = true;
	ck_assert_str_eq(receive(fd), "{\"let\":true,\"ok\":true}");
	close(fd);
	close(other);
}
END_TEST

/* A client that goes before its reply, one that sends half a line, and one that never
 * reads harm nobody else. */
START_TEST(bad_clients)
{
	int gone = client(), half = client(), deaf = client(), good;
	char big[4000];

	ck_assert_int_gt(send(gone, "{\"verb\":\"echo\"}\n", 16, MSG_NOSIGNAL), 0);
	close(gone);
	ck_assert_int_gt(send(half, "{\"verb\"", 7, MSG_NOSIGNAL), 0);
	memset(big, 'x', sizeof(big));
	memcpy(big, "{\"verb\":\"echo\",\"text\":\"", 23);
	memcpy(big + sizeof(big) - 3, "\"}\n", 3);
	fcntl(deaf, F_SETFL, O_NONBLOCK);
	for (unsigned i = 0; i < 4000; i++) {
		if (send(deaf, big, sizeof(big), MSG_NOSIGNAL) != sizeof(big)) {
			break; /* not read any more, or closed */
		}
	}
	good = client();
	ck_assert_str_eq(ask(good, "{\"verb\":\"echo\",\"text\":1}\n"),
	                 "{\"text\":1,\"ok\":true}");
	close(half);
	close(deaf);
	close(good);
}
END_TEST

START_TEST(long_line)
{
	int fd = client();
	char *text = malloc(CONTROL_LINE_BYTES + 8192);
	size_t len = CONTROL_LINE_BYTES + 8192, sent = 0;

	memset(text, ' ', len);
	while (sent < len) {
		ssize_t n = send(fd, text + sent, len - sent, MSG_NOSIGNAL);

		if (n <= 0) {
			break;
		}
		sent += (size_t)n;
	}
	ck_assert_ptr_nonnull(strstr(receive(fd), "longer than 1 MiB"));
	free(text);
	close(fd);
}
END_TEST

START_TEST(connections)
{
	int fd[CONTROL_CONNECTIONS + 1];

	for (unsigned i = 0; i < CONTROL_CONNECTIONS; i++) {
		fd[i] = client();
		ck_assert_str_eq(ask(fd[i], "{\"verb\":\"echo\",\"text\":2}\n"),
		                 "{\"text\":2,\"ok\":true}");
	}
	fd[CONTROL_CONNECTIONS] = client();
	ck_assert_ptr_nonnull(
		strstr(receive(fd[CONTROL_CONNECTIONS]), "too many connections"));
	ck_assert_str_eq(receive(fd[CONTROL_CONNECTIONS]), "");
	for (unsigned i = 0; i <= CONTROL_CONNECTIONS; i++) {
		close(fd[i]);
	}
}
END_TEST

/* A socket file in use is left alone, one that nobody serves is replaced. */
START_TEST(socket_file)
{
	const struct control_options o = { .path = path, .verbs = verbs, .wake = wake };
	struct control *second = NULL;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char stale[100];
	const char *why;
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(control_new(&o, arena, &why, &second), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(why, "another process listens on"));
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);

	snprintf(stale, sizeof(stale), "%s/stale", dir);
	strcpy(at.sun_path, stale);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	const struct control_options p = { .path = stale, .verbs = verbs, .wake = wake };

	ck_assert_int_eq(control_new(&p, arena, &why, &second), E_OK);
	control_free(second);
	ck_assert_int_eq(access(stale, F_OK), -1);
}
END_TEST

/* Another user is refused although the file lets him in. */
START_TEST(another_user)
{
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		return; /* only root can become another user */
	}
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	pid = fork();
	if (pid == 0) {
		struct sockaddr_un at = { .sun_family = AF_UNIX };
		char byte;
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		strcpy(at.sun_path, path);
		if (setgid(65534) != 0 || setuid(65534) != 0 ||
		    connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
			_exit(2);
		}
		_exit(recv(fd, &byte, 1, 0) == 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_uint_eq(calls, 0);
}
END_TEST

/* Statics of this file keep what a case leaves in them. */
TEST_SUITE_FORKED(control)
{
	TCase *t = tcase_create("control");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, replies);
	tcase_add_test(t, users);
	tcase_add_test(t, unsettled);
	tcase_add_test(t, order);
	tcase_add_test(t, many_wait);
	tcase_add_test(t, waiting_verb);
	tcase_add_test(t, bad_clients);
	tcase_add_test(t, long_line);
	tcase_add_test(t, connections);
	tcase_add_test(t, socket_file);
	tcase_add_test(t, another_user);
	suite_add_tcase(suite, t);
}

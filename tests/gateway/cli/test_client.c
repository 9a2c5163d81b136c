/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Lists that the commands of `saguaro` print: every page once, in order, the first known
 * as such, and an end where printing fails. Streams: good only when they are complete.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/config.h"
#include "gateway/api/api.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/resource/resource.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct client client;

/* Arguments of the calls of print(). */
static struct {
	unsigned pages, items;
	unsigned stop_at; /* page that fails, 0: none */
} seen;

static int print(const struct client *s, const json_t *body, bool first)
{
	const json_t *nodes = json_object_get(body, "nodes");
	size_t i;
	json_t *n;

	ck_assert_ptr_eq(s, &client);
	ck_assert(first == (seen.pages == 0));
	seen.pages++;
	json_array_foreach(nodes, i, n)
	{
		seen.items++;
		ck_assert_str_ne(member_text(n, "guid"), "");
	}
	return seen.pages == seen.stop_at ? EXIT_BAD : EXIT_GOOD;
}

/* 3 switches and 4 hosts. */
static void setup(void)
{
	static char *args[] = { (char *)"2", (char *)"2", (char *)"1" };
	char *argv[] = { (char *)"saguaro nodes", (char *)"--snapshot-dir", fixture.dir,
		         NULL };

	unsetenv("SAGUARO_URL");
	gateway_fixture_init(&fixture, "ft2", 3, args);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 3);
	memset(&seen, 0, sizeof(seen));
	ck_assert_int_eq(client_init(&client, NULL, "", NULL, 0, 3, argv), EXIT_GOOD);
}

static void teardown(void)
{
	client_done(&client, EXIT_GOOD);
	gateway_fixture_done(&fixture);
}

static const struct {
	const char *what, *target;
	unsigned pages, items;
} lists[] = {
	{ "all on one page", "/v1/nodes", 1, 7 },
	{ "the page is full", "/v1/nodes?limit=7", 1, 7 },
	{ "one more than a page", "/v1/nodes?limit=6", 2, 7 },
	{ "one per page", "/v1/nodes?limit=1", 7, 7 },
	{ "a filter stays", "/v1/nodes?type=ca&limit=2", 2, 4 },
	{ "nothing", "/v1/nodes?type=router", 1, 0 },
};

START_TEST(test_pages)
{
	ck_assert_int_eq(client_print_list(&client, lists[_i].target, print), EXIT_GOOD);
	ck_assert_msg(seen.pages == lists[_i].pages && seen.items == lists[_i].items,
	              "%s: %u pages, %u items", lists[_i].what, seen.pages, seen.items);
}
END_TEST

START_TEST(test_printing_fails)
{
	seen.stop_at = 2;
	ck_assert_int_eq(client_print_list(&client, "/v1/nodes?limit=1", print),
	                 EXIT_BAD);
	ck_assert_uint_eq(seen.pages, 2);
}
END_TEST

START_TEST(test_refused)
{
	ck_assert_int_eq(client_print_list(&client, "/v1/nodes?type=hub", print),
	                 EXIT_USAGE);
	ck_assert_int_eq(client_print_list(&client, NULL, print), EXIT_USAGE);
	ck_assert_uint_eq(seen.pages, 0);
}
END_TEST

/* --- whom to ask ---------------------------------------------------------------------- */

/* $ stands for the folder of the fixture's snapshot. */
static const struct {
	const char *what;
	const char *words[3];  /* of the command line */
	const char *url, *dir; /* SAGUARO_URL, SAGUARO_SNAPSHOT_DIR */
	int exit;
	const char *asks; /* URL; NULL: the snapshot */
} origins[] = {
	{ "nothing is said", { NULL }, NULL, NULL, EXIT_GOOD, "http://127.0.0.1:8620" },
	{ "empty variables", { NULL }, "", "", EXIT_GOOD, "http://127.0.0.1:8620" },
	{ "a folder in the environment", { NULL }, NULL, "$", EXIT_GOOD, NULL },
	{ "a gateway in the environment",
	  { NULL },
	  "http://a",
	  NULL,
	  EXIT_GOOD,
	  "http://a" },
	{ "a gateway goes before a folder",
	  { NULL },
	  "http://a",
	  "$",
	  EXIT_GOOD,
	  "http://a" },
	{ "a folder", { "--snapshot-dir", "$" }, NULL, NULL, EXIT_GOOD, NULL },
	{ "a folder, whatever the environment says",
	  { "--snapshot-dir", "$" },
	  "http://a",
	  "/no/such",
	  EXIT_GOOD,
	  NULL },
	{ "a gateway", { "--url", "http://b" }, NULL, NULL, EXIT_GOOD, "http://b" },
	{ "a gateway, whatever the environment says",
	  { "--url", "http://b" },
	  "http://a",
	  "$",
	  EXIT_GOOD,
	  "http://b" },
	{ "no such folder",
	  { "--snapshot-dir", "/no/such" },
	  NULL,
	  NULL,
	  EXIT_USAGE,
	  NULL },
	{ "no such folder in the environment",
	  { NULL },
	  NULL,
	  "/no/such",
	  EXIT_USAGE,
	  NULL },
	{ "no such instance", { "--instance", "no-such" }, NULL, NULL, EXIT_USAGE, NULL },
};

static void set_variable(const char *name, const char *value)
{
	if (value == NULL) {
		unsetenv(name);
	} else {
		setenv(name, strcmp(value, "$") == 0 ? fixture.dir : value, 1);
	}
}

START_TEST(test_origins)
{
	char *argv[4] = { (char *)"saguaro nodes" };
	const char *main_dir = config_dir(NULL, SAGUARO_RUNDIR, "main", fixture.arena);
	const char *file = arena_printf(fixture.arena, "%s/snapshot/data.mdb", main_dir);
	const char *asks = origins[_i].asks;
	struct client c;
	int argc = 1;

	for (; origins[_i].words[argc - 1] != NULL; argc++) {
		const char *word = origins[_i].words[argc - 1];

		argv[argc] =
			strcmp(word, "$") == 0 ? fixture.dir : (char *)(uintptr_t)word;
	}
	set_variable("SAGUARO_URL", origins[_i].url);
	set_variable("SAGUARO_SNAPSHOT_DIR", origins[_i].dir);
	ck_assert_msg(client_init(&c, NULL, "", NULL, 0, argc, argv) == origins[_i].exit,
	              "%s", origins[_i].what);
	if (asks != NULL && strstr(asks, "8620") != NULL && access(file, R_OK) == 0) {
		asks = NULL; /* a saguarod runs on this machine */
	}
	if (origins[_i].exit == EXIT_GOOD) {
		ck_assert_msg((c.local == NULL) == (asks != NULL), "%s",
		              origins[_i].what);
	}
	if (asks != NULL) {
		ck_assert_str_eq(c.url, asks);
	}
	if (asks != NULL &&
	    strstr(asks, "8620") != NULL) { /* what was looked for first */
		ck_assert_str_eq(c.snapshot, main_dir);
		ck_assert_int_eq(c.no_snapshot, -ENOENT);
	}
	client_done(&c, EXIT_GOOD);
}
END_TEST

/* --- streams -------------------------------------------------------------------------- */

static const struct {
	const char *what, *lines;
	int exit;
} streams[] = {
	{ "whole", "{\"lid\":1}\n{\"stream\":\"end\",\"complete\":true}\n", EXIT_GOOD },
	{ "given up",
	  "{\"lid\":1}\n{\"stream\":\"end\",\"complete\":false,\"reason\":\"stale\"}\n",
	  EXIT_BAD },
	{ "without a last line", "{\"lid\":1}\n{\"lid\":2}\n", EXIT_BAD },
	{ "cut inside the last line", "{\"lid\":1}\n{\"stream\":\"end\",\"compl",
	  EXIT_BAD },
};

/* A server of one answer: the stream \a lines, and the end of the connection. */
struct answerer {
	int fd;
	const char *lines;
	pthread_t thread;
};

static void *answer_once(void *arg)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
	struct answerer *a = arg;
	char request[4096];
	int fd = accept(a->fd, NULL, NULL);

	ck_assert_int_gt(recv(fd, request, sizeof(request), 0), 0);
	ck_assert_int_gt(send(fd, head, strlen(head), MSG_NOSIGNAL), 0);
	ck_assert_int_gt(send(fd, a->lines, strlen(a->lines), MSG_NOSIGNAL), 0);
	close(fd);
	return NULL;
}

/* A stream counts as good only when its last line says that it is complete. */
START_TEST(test_streams)
{
	struct answerer a = { .fd = socket(AF_INET, SOCK_STREAM, 0),
		              .lines = streams[_i].lines };
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	char url[64];
	char *argv[] = { (char *)"saguaro records", (char *)"--url", url, NULL };
	int out = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
	struct client by_http;

	ck_assert_int_eq(bind(a.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(a.fd, 1), 0);
	ck_assert_int_eq(getsockname(a.fd, (struct sockaddr *)&at, &len), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(at.sin_port));
	ck_assert_int_eq(client_init(&by_http, NULL, "", NULL, 0, 3, argv), EXIT_GOOD);
	ck_assert_int_eq(pthread_create(&a.thread, NULL, answer_once, &a), 0);
	dup2(nowhere, STDOUT_FILENO);
	int status = client_stream(&by_http, "/v1/records/NodeRecord?stream=1");
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	ck_assert_msg(status == streams[_i].exit, "%s: %d", streams[_i].what, status);
	pthread_join(a.thread, NULL);
	client_done(&by_http, EXIT_GOOD);
	close(a.fd);
	close(out);
	close(nowhere);
}
END_TEST

/* Resources of the API that a command shows, with its words; what has none has a reason. */
static const struct {
	const char *resource, *command, *words;
} shown[] = {
	{ "nodes", "nodes", "" },
	{ "known", "nodes", "--gone" },
	{ "links", "links", "" },
	{ "links/health", "links", "--sick" },
	{ "partitions", "partition", "list" },
	{ "records", "records", "list" },
	{ "fabric", "status", "" },
	{ "sm", "status", "" },
	{ "topology", NULL, "" }, /* for the page */
	{ "link", NULL, "" },
	{ "nodes/", NULL, "" },
	{ "", NULL, "" },
};

START_TEST(test_shown)
{
	const char *words = "", *resource = shown[_i].resource, *name;
	size_t len = 0;

	name = help_command_for(resource, strlen(resource), &words, &len);
	if (shown[_i].command == NULL) {
		ck_assert_msg(name == NULL, "%s: %s", resource, name);
		return;
	}
	ck_assert_msg(name != NULL, "%s", resource);
	ck_assert_str_eq(name, shown[_i].command);
	ck_assert_uint_eq(len, strlen(shown[_i].words));
	ck_assert_mem_eq(words, shown[_i].words, len);
}
END_TEST

/* Each list of the API has a command, except the topology. */
START_TEST(test_every_list_is_shown)
{
	static const char root[] = "/v1/";
	unsigned n = 0;

	for (unsigned i = 0; i < api_resources.n; i++) {
		const struct resource *r = &api_resources.row[i];
		const char *words, *path = r->path;
		size_t len;

		if (strcmp(r->method, "GET") != 0 || strchr(path, '{') != NULL ||
		    strncmp(path, root, strlen(root)) != 0 ||
		    strcmp(path, "/v1/topology") == 0) {
			continue;
		}
		n++;
		path += strlen(root);
		ck_assert_msg(help_command_for(path, strlen(path), &words, &len) != NULL, "%s",
		              r->path);
	}
	ck_assert_uint_ge(n, 20);
}
END_TEST

TEST_SUITE(client)
{
	TCase *tc = tcase_create("lists");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_pages, 0, sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(tc, test_printing_fails);
	tcase_add_test(tc, test_refused);
	tcase_add_loop_test(tc, test_shown, 0, sizeof(shown) / sizeof(shown[0]));
	tcase_add_test(tc, test_every_list_is_shown);
	suite_add_tcase(suite, tc);
	tc = tcase_create("origins");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_origins, 0, sizeof(origins) / sizeof(origins[0]));
	suite_add_tcase(suite, tc);
	tc = tcase_create("streams");
	tcase_add_loop_test(tc, test_streams, 0, sizeof(streams) / sizeof(streams[0]));
	suite_add_tcase(suite, tc);
}

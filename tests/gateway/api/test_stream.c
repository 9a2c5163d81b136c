/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Streams: the same records as pages and single questions have, whatever the size of the
 * pieces they are taken in, from one epoch whatever is published meanwhile; and nothing
 * is left of a client that goes away.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "gateway/api/metrics.h"
#include "gateway/http/http.h"
#include "gateway/view/record_json.h"
#include "gateway/view/source.h"
#include "sa/record/record.h"
#include "sa/store/service.h"
#include "tests/lib/api_json.h"
#include "tests/lib/gateway_client.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct http_stats stats;
static struct api_thread thread;

static void start_gateway(uint32_t grace_ms, char **args)
{
	gateway_fixture_init(&fixture, "ft2", 3, args);
	gateway_fixture_route(&fixture, 0);
	fixture.grace_ms = grace_ms;
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 5);
	gateway_fixture_heartbeat(&fixture, 0, true);
	stats = (struct http_stats){ 0 };
	thread =
		(struct api_thread){ .source = source_new(fixture.dir), .stats = &stats };
	ck_assert_ptr_nonnull(thread.source);
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	gateway_fixture_done(&fixture);
}

/* Leaves, hosts each, spines. 76 end ports: several slices of paths. */
static void start(void)
{
	static char *args[] = { (char *)"8", (char *)"8", (char *)"4" };
	start_gateway(10000, args);
}

/* With a grace that is over at once. */
static void start_hasty(void)
{
	static char *args[] = { (char *)"8", (char *)"8", (char *)"4" };
	start_gateway(1, args);
}

/* 416 end ports, 173,056 pairs. */
static void start_large(void)
{
	static char *args[] = { (char *)"24", (char *)"16", (char *)"8" };
	start_gateway(10000, args);
}

static void ask(const char *target, struct api_reply *ret_reply)
{
	struct api_request rq = { .method = "GET", .target = target };

	memset(ret_reply, 0, sizeof(*ret_reply));
	api_serve(&thread, &rq, ret_reply);
}

static struct stream *open_stream(const char *target)
{
	struct api_reply reply;

	ask(target, &reply);
	ck_assert_msg(reply.base.status == 200 && reply.stream != NULL, "%s: %u %s",
	              target, reply.base.status, reply.base.body.data);
	ck_assert_str_eq(reply.base.content_type, "application/x-ndjson");
	ck_assert_ptr_null(reply.base.body.data);
	ck_assert_uint_eq(reply.epoch, fixture.epoch);
	return reply.stream;
}

/* A stream as it was read so far. */
struct text {
	char *data;
	size_t len, room;
};

/* Reads at least so many bytes, in pieces of at most max. */
static void read_some(struct stream *s, struct text *t, size_t bytes, size_t max)
{
	size_t goal = bytes == SIZE_MAX ? SIZE_MAX : t->len + bytes, n = 1;

	while (n > 0 && t->len < goal) {
		if (t->room <= t->len + max) {
			t->room = 2 * (t->len + max) + 1;
			t->data = realloc(t->data, t->room);
			ck_assert_ptr_nonnull(t->data);
		}
		n = stream_read(s, t->data + t->len, max);
		ck_assert_uint_le(n, max);
		t->len += n;
		t->data[t->len] = '\0';
	}
}

/* Lines of a whole stream: the first and the last one, and records. */
struct lines {
	json_t *begin, *records, *end;
	unsigned working;
};

static void read_line(const char *line, struct lines *l)
{
	json_t *o = json_loads(line, 0, NULL);
	const char *kind = o != NULL ? text_of(o, "stream") : "";

	ck_assert_msg(o != NULL, "no JSON: %.300s", line);
	ck_assert_ptr_null(l->end);
	ck_assert_int_eq(l->begin == NULL, strcmp(kind, "begin") == 0);
	if (*kind == '\0') {
		json_array_append(l->records, o);
	} else if (strcmp(kind, "begin") == 0) {
		l->begin = json_incref(o);
	} else if (strcmp(kind, "end") == 0) {
		l->end = json_incref(o);
	} else {
		ck_assert_str_eq(kind, "working");
		l->working++;
	}
	json_decref(o);
}

static struct lines split(struct text *t)
{
	struct lines l = { .records = json_array() };

	ck_assert_uint_gt(t->len, 0);
	ck_assert_int_eq(t->data[t->len - 1], '\n');
	for (char *at = t->data, *end; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		*end = '\0';
		read_line(at, &l);
	}
	free(t->data);
	ck_assert_ptr_nonnull(l.begin);
	ck_assert_ptr_nonnull(l.end);
	ck_assert_uint_eq(json_array_size(l.records), (size_t)int_of(l.end, "records"));
	return l;
}

static struct lines read_rest(struct stream *s, struct text *t, size_t max)
{
	read_some(s, t, SIZE_MAX, max);
	stream_free(s);
	return split(t);
}

static struct lines read_whole(const char *target, size_t max)
{
	struct text t = { .len = 0 };
	return read_rest(open_stream(target), &t, max);
}

static void lines_done(struct lines *l)
{
	json_decref(l->begin);
	json_decref(l->records);
	json_decref(l->end);
}

static void check_complete(const struct lines *l, uint64_t epoch)
{
	ck_assert(json_is_true(json_object_get(l->end, "complete")));
	ck_assert_uint_eq((uint64_t)int_of(l->end, "epoch"), epoch);
	ck_assert_uint_eq((uint64_t)int_of(l->begin, "epoch"), epoch);
}

/* Pieces of one byte, of less than a line, of about a slice, of everything. */
static const size_t pieces[] = { 1, 100, 16384, 1 << 24 };
enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };

/* clang-format off */
static const char *const asked[] = {
	"NodeRecord", "LinkRecord", "SwitchInfoRecord", "LinearForwardingTableRecord", "PathRecord",
	"PathRecord?slid=20", "PathRecord?dlid=20", "PathRecord?slid=20&dlid=30", "LinkRecord?from_lid=1",
	"NodeRecord?lid=4000", "ClassPortInfo", "PathRecord?slid=20&mtu_selector=1&mtu=1",
};
/* clang-format on */

START_TEST(same_as_pages)
{
	const char *what = asked[_i];
	char target[200];
	uint64_t n = 0;

	snprintf(target, sizeof(target), "/v1/records/%s", what);
	json_t *whole = api_json(&thread, 200, "%s", target);
	snprintf(target, sizeof(target), "/v1/records/%s%sstream=1", what,
	         strchr(what, '?') != NULL ? "&" : "?");
	for (unsigned i = 0; i < PIECES; i++) {
		struct lines l = read_whole(target, pieces[i]);
		check_complete(&l, 5);
		ck_assert_str_eq(text_of(l.begin, "name"), text_of(whole, "name"));
		ck_assert(json_equal(l.records, json_object_get(whole, "records")));
		n += json_array_size(l.records);
		lines_done(&l);
	}
	ck_assert_uint_eq(stats.streams, 0);
	ck_assert_uint_eq(stats.stream_records, n);
	json_decref(whole);
}
END_TEST

/* Paths from one to all, one question at a time, in the order of PortGUIDs. */
static json_t *paths_one_by_one(bool from_all, const char *more)
{
	json_t *all = json_array(), *ends = api_json(&thread, 200, "/v1/lids");
	json_t *sorted = json_object(), *end, *paths;
	const char *guid;
	char target[200];
	size_t i;

	json_array_foreach(json_object_get(ends, "lids"), i, end)
	{
		json_object_set(sorted, text_of(end, "port_guid"), end);
	}
	char *text = json_dumps(sorted, JSON_SORT_KEYS);
	json_decref(sorted);
	sorted = json_loads(text, 0, NULL);
	free(text);
	json_object_foreach(sorted, guid, end)
	{
		snprintf(target, sizeof(target), "/v1/paths?src=%s&dst=%s%s",
		         from_all ? guid : "20", from_all ? "20" : guid, more);
		json_t *body = api_json(&thread, 200, "%s", target);
		paths = json_object_get(body, "paths");
		json_array_extend(all, paths);
		json_decref(body);
	}
	json_decref(sorted);
	json_decref(ends);
	return all;
}

static const struct {
	bool from_all;
	const char *more;
} halves[] = {
	{ false, "" },
	{ true, "" },
	{ false, "&mode=orderall&mtu_selector=largest" },
	{ false, "&hops=1" },
	{ true, "&why=1" },
};

START_TEST(paths_to_all)
{
	bool from_all = halves[_i].from_all;
	const char *more = halves[_i].more;
	json_t *want = paths_one_by_one(from_all, more);
	char target[200];

	ck_assert_uint_gt(json_array_size(want), 70);
	snprintf(target, sizeof(target), "/v1/paths?src=%s&dst=%s%s",
	         from_all ? "*" : "20", from_all ? "20" : "*", more);
	for (unsigned i = 0; i < PIECES; i++) {
		struct lines l = read_whole(target, pieces[i]);
		check_complete(&l, 5);
		ck_assert(json_equal(l.records, want));
		lines_done(&l);
	}
	json_decref(want);
}
END_TEST

/* From all to all: as many as the subnet administration has, source by source. */
START_TEST(paths_of_the_whole_fabric)
{
	struct lines l = read_whole("/v1/paths?src=*&dst=*", 5000);
	struct lines records = read_whole("/v1/records/PathRecord?stream=1", 5000);
	size_t i;
	json_t *path;

	check_complete(&l, 5);
	ck_assert_uint_eq(json_array_size(l.records), 76 * 76);
	json_array_foreach(l.records, i, path)
	{
		json_t *record = json_array_get(records.records, i);
		ck_assert_int_eq(int_of(path, "slid"), int_of(record, "slid"));
		ck_assert_int_eq(int_of(path, "dlid"), int_of(record, "dlid"));
	}
	lines_done(&l);
	lines_done(&records);
}
END_TEST

/* With why=1 each pair without a path has one line with the reason, over many slices. */
START_TEST(reasons_of_all_pairs)
{
	static const char *const reasons[] = { "not-members", "selectors" };
	static const char *const targets[] = { "/v1/paths?src=*&dst=*&why=1&pkey=0x12",
		                               "/v1/paths?src=*&dst=*&why=1&mtu=>5" };
	struct lines l = read_whole(targets[_i], 5000);
	const char *last_src = "", *last_dst = "";
	size_t i;
	json_t *line;

	check_complete(&l, 5);
	ck_assert_uint_eq(json_array_size(l.records), 76 * 76);
	json_array_foreach(l.records, i, line)
	{
		const char *src = json_string_value(json_object_get(line, "sgid")),
			   *dst = json_string_value(json_object_get(line, "dgid"));

		ck_assert_str_eq(json_string_value(json_object_get(line, "none")),
		                 reasons[_i]);
		ck_assert(strcmp(src, last_src) != 0 || strcmp(dst, last_dst) != 0);
		last_src = src;
		last_dst = dst;
	}
	lines_done(&l);
}
END_TEST

/* A stream that began goes on in its epoch as long as the grace lasts. */
START_TEST(published_in_the_middle)
{
	struct text t = { .len = 0 };
	struct stream *s = open_stream("/v1/records/PathRecord?stream=1");

	read_some(s, &t, 1000, 1000);
	gateway_fixture_publish(&fixture, 6);
	read_some(s, &t, 500000, 1000);
	gateway_fixture_publish(&fixture, 7);
	struct lines l = read_rest(s, &t, 16384);
	check_complete(&l, 5);
	ck_assert_uint_eq(json_array_size(l.records), 76 * 76);
	lines_done(&l);
}
END_TEST

/* After the grace it says where it ended, and from there all the rest is to be had. */
START_TEST(superseded)
{
	const char *targets[] = { "/v1/records/PathRecord?stream=1",
		                  "/v1/paths?src=*&dst=*" };
	struct text t = { .len = 0 };
	struct stream *s = open_stream(targets[_i]);
	char target[200];
	size_t i;
	json_t *record;

	read_some(s, &t, 900000, 1000);
	gateway_fixture_publish(&fixture, 6);
	struct lines l = read_rest(s, &t, 16384);
	ck_assert(json_is_false(json_object_get(l.end, "complete")));
	ck_assert_str_eq(text_of(l.end, "reason"), "superseded");
	ck_assert_int_eq(int_of(l.end, "epoch"), 5);
	ck_assert_int_eq(int_of(l.end, "now"), 6);
	size_t sent = json_array_size(l.records);
	ck_assert_uint_gt(sent, 1000);
	ck_assert_uint_lt(sent, 76 * 76);

	snprintf(target, sizeof(target), "%s&from=%s", targets[_i],
	         text_of(l.end, "from"));
	struct lines rest = read_whole(target, 16384);
	check_complete(&rest, 6);
	size_t again = sent + json_array_size(rest.records) - 76 * 76;
	ck_assert_uint_le(again, 76); /* no more than those of one key */
	json_array_foreach(rest.records, i, record)
	{
		ck_assert(
			i >= again ||
			json_equal(record, json_array_get(l.records, sent - again + i)));
	}
	lines_done(&l);
	lines_done(&rest);
}
END_TEST

/* A publish with the same tables keeps the epoch, so the stream continues. */
START_TEST(published_the_same)
{
	struct text t = { .len = 0 };
	struct stream *s = open_stream("/v1/records/PathRecord?stream=1");

	for (unsigned i = 0; i < 20; i++) {
		read_some(s, &t, 50000, 1000);
		gateway_fixture_publish(&fixture, 5);
	}
	struct lines l = read_rest(s, &t, 16384);
	struct lines whole = read_whole("/v1/records/PathRecord?stream=1", 16384);
	check_complete(&l, 5);
	ck_assert(json_equal(l.records, whole.records));
	lines_done(&l);
	lines_done(&whole);
}
END_TEST

/* Services as saguarod mirrors them for clients that wrote them: more than a slice. */
enum { SERVICES = 2 * STREAM_RECORDS, ROW_BYTES = 8 + SERVICE_ROW_BYTES };

static void mirror_services(unsigned n, uint8_t data)
{
	static uint8_t key[SERVICES][SERVICE_KEY_BYTES], value[SERVICES][ROW_BYTES];
	static struct client_row rows[SERVICES];
	struct snap_published done;
	const int64_t expires = INT64_MAX;

	for (unsigned i = 0; i < n; i++) {
		uint8_t *record = value[i] + sizeof(expires) + SERVICE_OWNER_BYTES;
		field_set(record, 0, 64, i + 1);
		field_set(record, 192, 16, 0xffff);
		record[112] = data;
		memcpy(value[i], &expires, sizeof(expires));
		memcpy(key[i], record, sizeof(key[i]));
		rows[i] = (struct client_row){ key[i], value[i], RECORDS_SERVICES,
			                       sizeof(key[i]), sizeof(value[i]) };
	}
	ck_assert_int_eq(snap_mirror(fixture.writer, rows, n, true, boottime_ms(), &done),
	                 E_OK);
}

/* Records that clients write change between epochs: a stream of them sees that, a stream
 * of others need not. */
START_TEST(written_in_the_middle)
{
	struct text t = { .len = 0 };

	mirror_services(SERVICES, 1);
	struct stream *s = open_stream(_i ? "/v1/records/PathRecord?stream=1"
	                                  : "/v1/records/ServiceRecord?stream=1");
	read_some(s, &t, 1000, 1000);
	mirror_services(SERVICES, 2);
	struct lines l = read_rest(s, &t, 16384);
	if (_i) {
		check_complete(&l, 5);
	} else {
		ck_assert_str_eq(text_of(l.end, "reason"), "superseded");
		ck_assert_uint_eq(json_array_size(l.records), STREAM_RECORDS);
	}
	lines_done(&l);
}
END_TEST

/* A long search says that it goes on. */
START_TEST(nothing_fits)
{
	struct lines l =
		read_whole(_i ? "/v1/records/PathRecord?mtu_selector=1&mtu=1&stream=1"
	                      : "/v1/paths?src=*&dst=*&mtu=1&mtu_selector=less",
	                   16384);

	check_complete(&l, 5);
	ck_assert_uint_eq(json_array_size(l.records), 0);
	ck_assert_uint_ge(l.working, 1);
	lines_done(&l);
}
END_TEST

START_TEST(so_many_at_a_time)
{
	struct stream *s[STREAMS_MAX];

	for (unsigned i = 0; i < STREAMS_MAX; i++) {
		s[i] = open_stream("/v1/records/NodeRecord?stream=1");
	}
	ck_assert_uint_eq(stats.streams, STREAMS_MAX);
	json_decref(api_json(&thread, 503, "/v1/records/NodeRecord?stream=1"));
	json_decref(api_json(&thread, 200, "/v1/records/NodeRecord"));
	stream_free(s[0]);
	s[0] = open_stream("/v1/records/NodeRecord?stream=1");
	for (unsigned i = 0; i < STREAMS_MAX; i++) {
		stream_free(s[i]);
	}
	ck_assert_uint_eq(stats.streams, 0);
}
END_TEST

/* clang-format off */
static const struct {
	const char *target;
	unsigned status;
	const char *parameter; /* at fault, NULL: none is */
} problems[] = {
	{ "/v1/records/PathRecord?stream=2",                  400, "stream" },
	{ "/v1/records/PathRecord?stream=1&limit=5",          400, "limit" },
	{ "/v1/records/PathRecord?stream=1&cursor=5-0-0-0",   400, "cursor" },
	{ "/v1/records/PathRecord?from=0x1",                  400, "from" },
	{ "/v1/records/PathRecord?stream=1&from=y",           400, "from" },
	{ "/v1/records/PathRecord?stream=1&dgid=fe80::9999",  400, NULL },
	{ "/v1/records/PathRecord?stream=1&service_id8_msb=1", 400, NULL },
	{ "/v1/records/ThingRecord?stream=1",                 404, NULL },
	{ "/v1/paths?src=nobody&dst=*",                       404, "src" },
	{ "/v1/paths?src=*",                                  400, "dst" },
	{ "/v1/paths?src=*&dst=*&mode=x",                     400, "mode" },
	{ "/v1/paths?src=*&dst=*&from=y",                     400, "from" },
	{ "/v1/paths?src=20&dst=30&from=0x1",                 400, "from" },
};
/* clang-format on */

START_TEST(bad_requests)
{
	json_t *body = api_json(&thread, problems[_i].status, "%s", problems[_i].target);

	if (problems[_i].parameter != NULL) {
		ck_assert_str_eq(text_of(body, "parameter"), problems[_i].parameter);
	}
	json_decref(body);
	ck_assert_uint_eq(stats.streams, 0);
}
END_TEST

/* --- over HTTP, where a client can be slow or go away
 * -------------------------------------- */

static struct http *http;
static struct client client;

static void start_server(void)
{
	struct http_options o = { .listen = "127.0.0.1:0", .threads = 1 };
	const char *why = "";

	start_large();
	o.snapshot_dir = fixture.dir;
	ck_assert_msg(http_start(&o, fixture.arena, &why, &http) == E_OK, "%s", why);
	client_init(&client, http_port(http));
}

static void stop_server(void)
{
	client_done(&client);
	http_stop(http);
	stop();
}

static int connect_and_ask(const char *request)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)http_port(http)),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_eq(write(fd, request, strlen(request)), (int)strlen(request));
	return fd;
}

static long metric(const char *name)
{
	char line[80];

	ck_assert_int_eq(client_get(&client, "/metrics"), 200);
	snprintf(line, sizeof(line), "\n%s ", name);
	const char *at = strstr(client.body, line);
	ck_assert_ptr_nonnull(at);
	return atol(at + strlen(line));
}

START_TEST(chunked_and_whole)
{
	client_get(&client, "/v1/records/PathRecord?slid=100&stream=1");
	ck_assert_int_eq(client.status, 200);
	ck_assert_str_eq(client.type, "application/x-ndjson");
	ck_assert_str_eq(client.epoch, "5");
	struct text t = { .data = strdup(client.body), .len = client.len };
	struct lines l = split(&t);
	check_complete(&l, 5);
	ck_assert_uint_eq(json_array_size(l.records), 416);
	lines_done(&l);
	char etag[80];
	snprintf(etag, sizeof(etag), "If-None-Match: %s", client.etag);
	client_ask(&client, "GET", "/v1/records/PathRecord?slid=100&stream=1", etag,
	           NULL);
	ck_assert_int_eq(client.status, 304);
	client_ask(&client, "HEAD", "/v1/records/PathRecord?slid=100&stream=1", NULL,
	           NULL);
	ck_assert_int_eq(client.status, 200);
	for (unsigned i = 0; metric("saguaro_http_streams") != 0; i++) {
		ck_assert_uint_lt(i, 100000);
	}
}
END_TEST

START_TEST(head_has_no_body)
{
	int fd = connect_and_ask(
		"HEAD /v1/records/NodeRecord?stream=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	char text[2000];
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0) {
		len += (size_t)n;
	}
	text[len] = '\0';
	close(fd);
	char *end = strstr(text, "\r\n\r\n");
	ck_assert_ptr_nonnull(end);
	ck_assert_str_eq(end + 4, "");
}
END_TEST

/* 67 MB that nobody reads: a slice and the socket's buffer are made, no more, and others
 * are answered by the same thread. Then the client goes. */
START_TEST(slow_client_goes_away)
{
	static const char request[] = "GET /v1/records/PathRecord?stream=1 HTTP/1.1\r\n"
				      "Host: localhost\r\n\r\n";
	char byte;
	int fd = connect_and_ask(request);

	ck_assert_int_eq(read(fd, &byte, 1), 1);
	ck_assert_int_eq(metric("saguaro_http_streams"), 1);
	ck_assert_int_eq(client_get(&client, "/v1/paths?src=20&dst=30"), 200);
	close(fd);
	for (unsigned i = 0; metric("saguaro_http_streams") != 0; i++) {
		ck_assert_uint_lt(i, 100000);
	}
	ck_assert_int_lt(metric("saguaro_http_stream_records_total"), 416 * 416);
}
END_TEST

/* Without HTTP/1.1 there are no chunks: the end of the connection is the end. */
START_TEST(old_client)
{
	int fd = connect_and_ask("GET /v1/records/NodeRecord?stream=1 HTTP/1.0\r\n\r\n");
	struct text t = { .len = 0 };
	ssize_t n;

	do {
		t.data = realloc(t.data, t.len + 10001);
		n = read(fd, t.data + t.len, 10000);
		ck_assert_int_ge((int)n, 0);
		t.len += (size_t)n;
	} while (n > 0);
	t.data[t.len] = '\0';
	close(fd);
	char *body = strstr(t.data, "\r\n\r\n");
	ck_assert_ptr_nonnull(body);
	struct text lines = { .data = strdup(body + 4), .len = strlen(body + 4) };
	struct lines l = split(&lines);
	check_complete(&l, 5);
	ck_assert_uint_eq(json_array_size(l.records), 416);
	lines_done(&l);
	free(t.data);
}
END_TEST

#define COUNT(list) (int)(sizeof(list) / sizeof((list)[0]))

static TCase *group(Suite *suite, const char *name, void (*begin)(void),
                    void (*end)(void))
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, begin, end);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return tc;
}

/* --- other texts ----------------------------------------------------------------------- */

/* Two lines, and a failure where the state says so. */
static int more_text(void *state, struct snap_reader *r, struct stream_place *at,
                     struct body *out, size_t *ret_n)
{
	const unsigned *fails_at = state;

	(void)r;
	if (at->key == *fails_at) {
		return -EIO;
	}
	body_printf(out, "line %u\n", (unsigned)at->key);
	++*ret_n;
	at->end = ++at->key == 2;
	return E_OK;
}

/* Only its own lines; one that cannot go on is broken and not just shorter. */
START_TEST(other_text)
{
	static unsigned fails_at;
	struct stream_spec spec = { .more = more_text,
		                    .state = &fails_at,
		                    .media_type = "text/plain",
		                    .epoch = fixture.epoch,
		                    .tables = 0 };
	struct stream *s;
	struct text t = { .len = 0 };

	fails_at = (unsigned)_i;
	if (_i == 0) {
		ck_assert_int_eq(stream_begin(thread.source, &stats, &spec, &s), -EIO);
		return;
	}
	ck_assert_int_eq(stream_begin(thread.source, &stats, &spec, &s), E_OK);
	read_some(s, &t, SIZE_MAX, 100);
	ck_assert_str_eq(t.data, _i == 1 ? "line 0\n" : "line 0\nline 1\n");
	ck_assert_int_eq(stream_broken(s), _i == 1);
	stream_free(s);
	free(t.data);
}
END_TEST

TEST_SUITE(stream)
{
	TCase *tc = group(suite, "lines", start, stop);

	tcase_add_loop_test(tc, same_as_pages, 0, COUNT(asked));
	tcase_add_loop_test(tc, paths_to_all, 0, COUNT(halves));
	tcase_add_loop_test(tc, reasons_of_all_pairs, 0, 2);
	tcase_add_test(tc, paths_of_the_whole_fabric);
	tcase_add_test(tc, published_in_the_middle);
	tcase_add_test(tc, so_many_at_a_time);
	tcase_add_loop_test(tc, bad_requests, 0, COUNT(problems));
	tcase_add_loop_test(tc, other_text, 0, 3);
	TCase *hasty = group(suite, "short grace", start_hasty, stop);
	tcase_add_loop_test(hasty, superseded, 0, 2);
	tcase_add_test(hasty, published_the_same);
	tcase_add_loop_test(hasty, written_in_the_middle, 0, 2);
	TCase *large = group(suite, "large", start_large, stop);
	tcase_add_loop_test(large, nothing_fits, 0, 2);
	TCase *over_http = group(suite, "HTTP", start_server, stop_server);
	tcase_add_test(over_http, chunked_and_whole);
	tcase_add_test(over_http, head_has_no_body);
	tcase_add_test(over_http, slow_client_goes_away);
	tcase_add_test(over_http, old_client);
}

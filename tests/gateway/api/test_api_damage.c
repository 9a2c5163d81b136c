/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Bytes of the files that saguarod publishes are changed, before they are opened and while they are in
 * use, in the head, in pages of every kind and in values; or the files are cut short. Whatever is asked then, the gateway lives on,
 * and where it cannot answer it says which files are damaged and what helps.
 */
#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "db/stats/stats.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/rich_fixture.h"
#include "tests/lib/suite.h"

enum { PAGE = 4096, FILES_OF_EACH = 6, FLIPS = 15, CUTS = 25 };

static struct query_fixture *w;
static struct http_stats http;
static struct stats *stats;
static struct api_thread thread;
static char file[128];
static uint8_t *sound; /* [size] the file as it was published */
static size_t size;
static uint64_t seed;
static unsigned n_refused;

static const char *const targets[] = {
	"/v1/paths?src=host&dst=dual:2&hops=1&mode=srcdstall&why=1",
	"/v1/fabric",
	"/v1/nodes",
	"/v1/nodes/sw-a",
	"/v1/links",
	"/v1/ports",
	"/v1/counters?history=1",
	"/v1/load",
	"/v1/export/topology",
	"/v1/topology?hosts=1&switches=1",
	"/v1/diff",
	"/v1/alarms",
	"/v1/lids",
	"/v1/switches/sw-a/lft",
	"/v1/switches/sw-a/alternates",
	"/v1/groups",
	"/v1/partitions",
	"/v1/events",
	"/v1/sm",
	"/v1/services",
	"/v1/sweeps",
	"/v1/routing",
	"/v1/records/NodeRecord",
	"/v1/records/PathRecord?SLID=1",
	"/v1/records/PortInfoRecord",
	"/v1/records/MCMemberRecord",
	"/v1/records/ServiceRecord",
	"/readyz",
	"/metrics",
	"/metrics/fabric",
};

static uint32_t below(size_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % n);
}

static void write_file(size_t at, const uint8_t *bytes, size_t len)
{
	int fd = open(file, O_WRONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, len, (off_t)at), (ssize_t)len);
	close(fd);
}

static void start(const char *which)
{
	struct stat st;
	int fd;

	rich_fixture_start(&w, &stats);
	snprintf(file, sizeof(file), "%s/%s/data.mdb", w->dir, which);
	fd = open(file, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	size = (size_t)st.st_size;
	sound = malloc(size);
	ck_assert_ptr_nonnull(sound);
	ck_assert_int_eq(read(fd, sound, size), (ssize_t)size);
	close(fd);
	n_refused = 0;
}

static void stop(void)
{
	free(sound);
	rich_fixture_stop(w, stats);
}

static void open_source(void)
{
	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &http };
}

static void close_source(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
}

/* Reads a stream to its end. */
static void drain(struct stream *s)
{
	char part[4096];
	size_t n = s != NULL ? stream_read(s, part, sizeof(part)) : 0;

	while (n > 0 && n <= sizeof(part)) {
		n = stream_read(s, part, sizeof(part));
	}
	stream_free(s);
}

static void ask_everything(void)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct api_request rq = { .method = "GET", .target = targets[i] };
		struct api_reply reply = { 0 };

		api_serve(&thread, &rq, &reply);
		ck_assert_msg(reply.base.status >= 200 && reply.base.status <= 503,
		              "%s: %u", targets[i], reply.base.status);
		if (reply.base.status == 500) {
			n_refused++;
			ck_assert_msg((strstr(reply.base.body.data, "damaged") ||
			               strstr(reply.base.body.data, "truncated")) &&
			                      strstr(reply.base.body.data,
			                             "restart saguarod") &&
			                      strstr(reply.base.body.data, w->dir),
			              "%s: %s", targets[i], reply.base.body.data);
		}
		drain(reply.stream);
		body_clear(&reply.base.body);
	}
}

/* The place of a byte: in a head, in that of a page, or anywhere that is in use. */
static size_t draw_place(void)
{
	size_t at;

	switch (below(4)) {
	case 0: return below(2) * PAGE + below(160);
	case 1: return (2 + below(size / PAGE - 2)) * PAGE + below(16);
	case 2: return (2 + below(size / PAGE - 2)) * PAGE + below(64);
	default: break;
	}
	do {
		at = below(size);
	} while (sound[at] == 0 && below(20) != 0);
	return at;
}

static void flip(size_t at)
{
	uint8_t byte = sound[at] ^ (uint8_t)(1u << below(8));

	if (below(2)) {
		byte = (uint8_t)below(256);
	}
	write_file(at, &byte, 1);
}

/* Each of the two files, opened when it is damaged already or open when that happens. */
START_TEST(test_flipped)
{
	bool open_before = _i / FILES_OF_EACH % 2;

	start(_i / FILES_OF_EACH / 2 ? "stats" : "snapshot");
	seed = (uint64_t)_i + 1;
	for (unsigned n = 0; n < FLIPS; n++) {
		if (open_before) {
			open_source();
			ask_everything();
		}
		for (unsigned i = 0; i < 1 + n % 3; i++) {
			flip(draw_place());
		}
		if (!open_before) {
			open_source();
		}
		ask_everything();
		close_source();
		write_file(0, sound, size);
	}
	open_source();
	n_refused = 0;
	ask_everything();
	ck_assert_uint_eq(n_refused, 0); /* the file is as it was */
	close_source();
	stop();
}
END_TEST

/* Each of the two files, cut at many lengths before it is opened, or while it is open. */
START_TEST(test_cut)
{
	bool open_before = _i % 2;

	start(_i / 2 ? "stats" : "snapshot");
	seed = (uint64_t)_i + 1;
	for (unsigned n = 0; n < CUTS; n++) {
		size_t length = n < 8 ? n * PAGE / 2 : below(size);

		if (open_before) {
			open_source();
			ask_everything();
		}
		ck_assert_int_eq(truncate(file, (off_t)length), 0);
		if (!open_before) {
			open_source();
		}
		ask_everything();
		write_file(0, sound, size);
		if (open_before) { /* the same source finds what is there again */
			n_refused = 0;
			ask_everything();
			ck_assert_uint_eq(n_refused, 0);
		}
		close_source();
	}
	stop();
}
END_TEST

/* All pages behind the heads are noise: nothing can be answered. */
START_TEST(test_noise)
{
	uint8_t noise[PAGE];

	start(_i ? "stats" : "snapshot");
	seed = 1;
	for (size_t at = 2 * PAGE; at + PAGE <= size; at += PAGE) {
		for (size_t i = 0; i < PAGE; i++) {
			noise[i] = (uint8_t)below(256);
		}
		write_file(at, noise, sizeof(noise));
	}
	open_source();
	json_t *o = api_json(&thread, _i ? 503 : 500, _i ? "/readyz" : "/v1/nodes");
	const char *detail = json_string_value(json_object_get(o, "detail"));
	ck_assert_ptr_nonnull(strstr(detail, w->dir));
	ck_assert_ptr_nonnull(strstr(detail, "damaged"));
	ck_assert_ptr_nonnull(strstr(detail, "restart saguarod"));
	json_decref(o);
	ask_everything();
	close_source();
	stop();
}
END_TEST

TEST_SUITE(api_damage)
{
	TCase *t = tcase_create("damage");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, test_flipped, 0, 4 * FILES_OF_EACH);
	tcase_add_loop_test(t, test_cut, 0, 4);
	tcase_add_loop_test(t, test_noise, 0, 2);
	suite_add_tcase(suite, t);
}

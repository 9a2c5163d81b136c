/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* MultiPathRecord and TraceRecord by the bytes of their MADs. Component bits are those of
 * IBA vol. 1, 15.2.5.20. */
#include "sa/path/path_query.h"
#include "tests/lib/answer_util.h"
#include "tests/lib/suite.h"

enum {
	MP_REVERSIBLE = 1 << 5,
	MP_NUMB = 1 << 6,
	MP_MTU = 0xc00,
	MP_SERVICE_LSB = 1 << 21,
	MP_INDEPENDENCE = 1 << 17,
	MP_COUNTS = 0x180000,
	GIDS = 24
};

/* A request over lists of PortGUIDs that end with 0. */
static struct request multi(const uint64_t *src, const uint64_t *dst, uint64_t more)
{
	struct request q = request(GET_MULTI, MULTI_PATH_RECORD, MP_COUNTS | more);
	unsigned n[2] = { 0 };

	for (unsigned side = 0; side < 2; side++) {
		for (const uint64_t *guid = side ? dst : src; *guid; guid++) {
			put_gid(&q, GIDS + 16 * (n[0] + n[1]), FIXTURE_PREFIX, *guid);
			n[side]++;
		}
	}
	q.mad[DATA + 15] = (uint8_t)n[0];
	q.mad[DATA + 16] = (uint8_t)n[1];
	return q;
}

static struct request numb(struct request q, unsigned n)
{
	q.mad[DATA + 5] = (uint8_t)(q.mad[DATA + 5] | n);
	return q;
}

#define LIST(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

START_TEST(all_pairs)
{
	struct request q = multi(LIST(HOST + 1, TWIN_1 + 1), LIST(DUAL + 1, DUAL + 2), 0);

	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(reply.data + 16, 2), PATH_RECORD);
	ck_assert_uint_eq(reply.data[3], 0x94);
	ck_assert_uint_eq(n_records(), 4);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(get(record(i) + 32, 8), i < 2 ? HOST + 1 : TWIN_1 + 1);
		ck_assert_uint_eq(get(record(i) + 16, 8), DUAL + 1 + i % 2);
	}
	/* the same record that a PathRecord query gives */
	uint8_t copy[64];
	memcpy(copy, record(1), 64);
	q = by_gids(GET, HOST + 1, DUAL + 2, 0);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_mem_eq(record(0), copy, 64);
}
END_TEST

/* Two paths from two ports to two ports that have no cable or switch in common. */
START_TEST(disjoint)
{
	static const uint64_t orders[][2][3] = {
		{ { TWIN_1 + 1, TWIN_2 + 1, 0 }, { DUAL + 1, DUAL + 2, 0 } },
		{ { TWIN_2 + 1, TWIN_1 + 1, 0 }, { DUAL + 1, DUAL + 2, 0 } },
		{ { TWIN_2 + 1, TWIN_1 + 1, 0 }, { DUAL + 2, DUAL + 1, 0 } },
	};
	struct request q = numb(multi(orders[_i][0], orders[_i][1], MP_NUMB), 2);
	uint64_t near[2] = { TWIN_1 + 1, DUAL + 1 }, far[2] = { TWIN_2 + 1, DUAL + 2 };

	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 2);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t src = get(record(i) + 32, 8), dst = get(record(i) + 16, 8);
		ck_assert((src == near[0] && dst == near[1]) ||
		          (src == far[0] && dst == far[1]));
	}
	ck_assert_uint_ne(get(record(0) + 32, 8), get(record(1) + 32, 8));
}
END_TEST

/* clang-format off */
static const struct {
	const char *what;
	unsigned src, dst; /* counts */
	uint64_t mask;
	uint64_t prefix, guid; /* of the last GID */
	unsigned status;
	size_t n;
} asked[] = {
	{ "no counts",           1, 1, 0,                        FIXTURE_PREFIX, TWIN_2 + 1, INSUF_COMPS, 0 },
	{ "one count",           1, 1, 0x80000,                  FIXTURE_PREFIX, TWIN_2 + 1, INSUF_COMPS, 0 },
	{ "half a service id",   1, 1, MP_COUNTS | MP_SERVICE_LSB, FIXTURE_PREFIX, TWIN_2 + 1, INSUF_COMPS, 0 },
	{ "no source",           0, 1, MP_COUNTS,                FIXTURE_PREFIX, TWIN_2 + 1, REQ_INVALID, 0 },
	{ "no destination",      1, 0, MP_COUNTS,                FIXTURE_PREFIX, TWIN_2 + 1, REQ_INVALID, 0 },
	{ "more than a MAD has", 6, 6, MP_COUNTS,                FIXTURE_PREFIX, TWIN_2 + 1, REQ_INVALID, 0 },
	{ "far too many",      255, 1, MP_COUNTS,                FIXTURE_PREFIX, TWIN_2 + 1, REQ_INVALID, 0 },
	{ "multicast",           1, 1, MP_COUNTS,   0xff12401bffff0000, 1,          INVALID_GID, 0 },
	{ "another subnet",      1, 1, MP_COUNTS,   0xfec0000000000099, 1,          INVALID_GID, 0 },
	{ "unknown",             1, 1, MP_COUNTS,                FIXTURE_PREFIX, 0x999,      INVALID_GID, 0 },
	{ "NumbPath 0",          1, 1, MP_COUNTS | MP_NUMB,      FIXTURE_PREFIX, TWIN_2 + 1, REQ_INVALID, 0 },
	{ "other part",          1, 1, MP_COUNTS,                FIXTURE_PREFIX, LEFT + 1,   0, 0 },
	{ "good",                1, 1, MP_COUNTS,                FIXTURE_PREFIX, TWIN_2 + 1, 0, 1 },
	{ "reversible",          1, 1, MP_COUNTS | MP_REVERSIBLE, FIXTURE_PREFIX, TWIN_2 + 1, 0, 1 },
	{ "MTU above 4096",      1, 1, MP_COUNTS | MP_MTU,       FIXTURE_PREFIX, TWIN_2 + 1, REQ_INVALID, 0 },
};
/* clang-format on */

START_TEST(raw_traffic)
{
	struct request q = multi(LIST(HOST + 1), LIST(TWIN_2 + 1), 0x1);

	q.mad[DATA] = 0x80;
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(reply.data + DATA + 44, 1), 0x80);
	ck_assert_uint_eq(get(reply.data + DATA + 50, 2), 0);
}
END_TEST

START_TEST(requests)
{
	struct request q = multi(LIST(HOST + 1), LIST(TWIN_2 + 1), 0);

	put(q.mad + 48, 8, asked[_i].mask);
	put_gid(&q, GIDS + 16, asked[_i].prefix, asked[_i].guid);
	q.mad[DATA + 10] = 0x06; /* greater than no MTU */
	q.mad[DATA + 15] = (uint8_t)asked[_i].src;
	q.mad[DATA + 16] = (uint8_t)asked[_i].dst;
	unsigned status = status_of(&q);
	ck_assert_msg(status == asked[_i].status, "%s: 0x%04x", asked[_i].what, status);
	ck_assert(status || n_records() == asked[_i].n);
	q.mad[3] = GET;
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
}
END_TEST

/* --- on the tables of a tree with several LIDs per port ----------------------------- */

static uint32_t seed;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void start_tree(void)
{
	char *args[] = { (char *)"4", (char *)"3", (char *)"4" };
	struct topogen_opts o = { .fail = 0 };
	struct diags d;

	w = query_fixture_new();
	diags_init(&d, w->a);
	ck_assert_int_eq(topogen("ft2", 3, args, &o, w->a, &d, &w->g), E_OK);
	query_fixture_start(w, 2, 0, PATH_SRCDSTALL);
	asker = lid_of(w->g->ports[w->g->hosts[0]].guid);
}

/* Cables of a path: of the two ports at each the one with the smaller number. */
static unsigned cables(uint32_t slid, uint32_t dlid,
                       uint32_t ret_cables[PATH_HOPS_MAX + 1])
{
	struct path_hop hop[PATH_HOPS_MAX];
	unsigned n_hops, n = 0;
	uint32_t port = GRAPH_NONE;

	for (uint32_t i = 0; i < w->g->n_end_ports; i++) {
		uint64_t guid = w->g->ports[w->g->end_ports[i]].guid;
		if (lid_of(guid) >> 2 == slid >> 2) {
			port = w->g->end_ports[i];
		}
	}
	ck_assert_int_eq(path_hops(w->r, slid, dlid, hop, &n_hops), E_OK);
	for (unsigned i = 0; slid >> 2 != dlid >> 2 && i <= n_hops; i++) {
		uint32_t peer = w->g->ports[port].peer;
		ret_cables[n++] = port < peer ? port : peer;
		if (i < n_hops) {
			port = graph_port(w->g, w->g->ports[peer].node, hop[i].out_port);
		}
	}
	return n;
}

/* How many cables two paths have in common. */
static unsigned shared(uint32_t slid_a, uint32_t dlid_a, uint32_t slid_b, uint32_t dlid_b)
{
	uint32_t a[PATH_HOPS_MAX + 1], b[PATH_HOPS_MAX + 1];
	unsigned n_a = cables(slid_a, dlid_a, a), n_b = cables(slid_b, dlid_b, b), n = 0;

	for (unsigned i = 0; i < n_a; i++) {
		for (unsigned k = 0; k < n_b; k++) {
			n += a[i] == b[k];
		}
	}
	return n;
}

/* The pair that comes back shares as little as any pair does. */
START_TEST(best_pair)
{
	static uint32_t all[256][2];
	uint64_t src[3] = { 0 }, dst[3] = { 0 };

	seed = 99 + (uint32_t)_i;
	for (unsigned i = 0; i < 2; i++) {
		src[i] = w->g->ports[w->g->hosts[next(6) + 6 * i]].guid;
		dst[i] = w->g->ports[w->g->hosts[next(6) + 6 * (1 - i)]].guid;
	}
	if (_i % 2) {
		src[1] = dst[1] = 0;
	}
	struct request q = multi(src, dst, 0);
	ck_assert_uint_eq(status_of(&q), 0);
	size_t n = n_records();
	ck_assert_uint_gt(n, 1);
	ck_assert_uint_le(n, 256);
	for (size_t i = 0; i < n; i++) {
		all[i][0] = (uint32_t)get(record(i) + 42, 2);
		all[i][1] = (uint32_t)get(record(i) + 40, 2);
	}
	unsigned least = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++) {
			unsigned now = shared(all[i][0], all[i][1], all[k][0], all[k][1]);
			least = now < least ? now : least;
		}
	}
	q = numb(multi(src, dst, MP_NUMB), 2);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 2);
	ck_assert_uint_eq(shared((uint32_t)get(record(0) + 42, 2),
	                         (uint32_t)get(record(0) + 40, 2),
	                         (uint32_t)get(record(1) + 42, 2),
	                         (uint32_t)get(record(1) + 40, 2)),
	                  least);
}
END_TEST

/* Independent paths have no cable in common; there are only as many as source ports. */
START_TEST(independent)
{
	const uint64_t src[] = { w->g->ports[w->g->hosts[0]].guid,
		                 w->g->ports[w->g->hosts[1]].guid, 0 };
	const uint64_t dst[] = { w->g->ports[w->g->hosts[6]].guid,
		                 w->g->ports[w->g->hosts[9]].guid, 0 };
	struct request q = numb(multi(src, dst, MP_NUMB | MP_INDEPENDENCE), 100);

	q.mad[DATA + 14] = 0x40;
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 2);
	ck_assert_uint_eq(shared((uint32_t)get(record(0) + 42, 2),
	                         (uint32_t)get(record(0) + 40, 2),
	                         (uint32_t)get(record(1) + 42, 2),
	                         (uint32_t)get(record(1) + 40, 2)),
	                  0);
}
END_TEST

/* There and back is one cable, and a path from a port to itself has none. */
START_TEST(cables_of_paths)
{
	uint64_t a = w->g->ports[w->g->hosts[0]].guid;
	uint64_t b = w->g->ports[w->g->hosts[6]].guid;
	uint64_t c = w->g->ports[w->g->hosts[9]].guid;
	static const struct {
		unsigned src, dst, n; /* which of a, b, c, by bits; paths */
	} cases[] = { { 1, 3, 2 }, { 1, 1, 1 }, { 3, 6, 2 }, { 5, 3, 2 } };
	uint64_t src[4] = { 0 }, dst[4] = { 0 };
	const uint64_t all[] = { a, b, c };

	for (unsigned i = 0, n_src = 0, n_dst = 0; i < 3; i++) {
		if (cases[_i].src >> i & 1) {
			src[n_src++] = all[i];
		}
		if (cases[_i].dst >> i & 1) {
			dst[n_dst++] = all[i];
		}
	}
	struct request q = multi(src, dst, MP_INDEPENDENCE);
	q.mad[DATA + 14] = 0x40;
	ck_assert_uint_eq(status_of(&q), 0);
	for (size_t i = 0; i < n_records(); i++) {
		for (size_t k = 0; k < i; k++) {
			ck_assert_uint_eq(shared((uint32_t)get(record(i) + 42, 2),
			                         (uint32_t)get(record(i) + 40, 2),
			                         (uint32_t)get(record(k) + 42, 2),
			                         (uint32_t)get(record(k) + 40, 2)),
			                  0);
		}
	}
	ck_assert_uint_ge(n_records(), cases[_i].n);
}
END_TEST

/* --- traces ------------------------------------------------------------------------- */

/* "node>port node:port>port ..." */
static const char *trace_text(void)
{
	static char text[500];
	char *at = text;

	*at = '\0';
	for (size_t i = 0; i < n_records(); i++) {
		const uint8_t *r = record(i);
		ck_assert_uint_eq(get(r, 8), FIXTURE_PREFIX);
		at += sprintf(at, "%s%llx", i ? " " : "",
		              (unsigned long long)get(r + 12, 8));
		at += r[44] ? sprintf(at, ":%u", r[44]) : 0;
		at += r[45] ? sprintf(at, ">%u", r[45]) : 0;
		ck_assert(!r[44] == !get(r + 28, 8) && !r[45] == !get(r + 36, 8));
	}
	return text;
}

/* clang-format off */
static const struct {
	uint64_t src, dst;
	const char *way; /* by the drawing in query_fixture.h */
} traces[] = {
	{ HOST + 1, TWIN_1 + 1, "101>1 1000:2>4 301:1" },
	{ HOST + 1, TWIN_2 + 1, "101>1 1000:2>1 3000:1>2 2000:1>4 401:1" },
	{ SW_B,     HOST + 1,   "2000>1 3000:2>1 1000:1>2 101:1" },
	{ HOST + 1, SW_C,       "101>1 1000:2>1 3000:1" },
	{ LEFT + 1, RIGHT + 1,  "501>1 601:1" },
	{ HOST + 1, HOST + 1,   "101" },
	{ HOST + 1, LEFT + 1,   "" },
};
/* clang-format on */

START_TEST(trace_ways)
{
	struct request q = by_lids(GET_TRACE_TABLE, traces[_i].src, traces[_i].dst, 0);

	for (unsigned attr = TRACE_RECORD; attr;
	     attr = attr == TRACE_RECORD ? PATH_RECORD : 0) {
		put(q.mad + 16, 2, attr);
		ck_assert_uint_eq(status_of(&q), 0);
		ck_assert_uint_eq(get(reply.data + 16, 2), TRACE_RECORD);
		ck_assert_uint_eq(reply.data[3], 0x93);
		ck_assert_str_eq(trace_text(), traces[_i].way);
	}
	q = by_gids(GET_TRACE_TABLE, traces[_i].src, traces[_i].dst, 0);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_str_eq(trace_text(), traces[_i].way);
}
END_TEST

START_TEST(trace_needs_both_ends)
{
	struct request q = by_gids(GET_TRACE_TABLE, HOST + 1, 0, 0);

	ck_assert_uint_eq(status_of(&q), INSUF_COMPS);
	q = by_gids(GET_TRACE_TABLE, HOST + 1, 0x999, 0);
	ck_assert_uint_eq(status_of(&q), INVALID_GID);
	q = request(GET, TRACE_RECORD, 0);
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
}
END_TEST

#define COUNT(list) (int)(sizeof(list) / sizeof((list)[0]))

TEST_SUITE(multi_path)
{
	TCase *tc = tcase_create("small fabric");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, all_pairs);
	tcase_add_loop_test(tc, disjoint, 0, 3);
	tcase_add_test(tc, raw_traffic);
	tcase_add_loop_test(tc, requests, 0, COUNT(asked));
	tcase_add_loop_test(tc, trace_ways, 0, COUNT(traces));
	tcase_add_test(tc, trace_needs_both_ends);
	suite_add_tcase(suite, tc);
	TCase *tree = tcase_create("tree");
	tcase_add_checked_fixture(tree, start_tree, stop);
	tcase_set_timeout(tree, 60);
	tcase_add_loop_test(tree, best_pair, 0, 12);
	tcase_add_test(tree, independent);
	tcase_add_loop_test(tree, cables_of_paths, 0, 4);
	suite_add_tcase(suite, tree);
}

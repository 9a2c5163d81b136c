/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <inttypes.h>

#include "sa/path/path_query.h"
#include "sa/path/path_walk.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

/* Rate codes (IBA vol. 1, PathRecord.Rate). */
enum {
	R_2_5 = 2,
	R_10 = 3,
	R_30 = 4,
	R_40 = 7,
	R_56 = 12,
	R_80 = 9,
	R_100 = 16,
	R_120 = 10,
	R_400 = 21
};

static struct query_fixture *w;

static void start(void)
{
	w = query_fixture_small(0, 0, PATH_MINIMAL);
}

static void stop(void)
{
	query_fixture_free(w);
	w = NULL;
}

static struct path_query between(uint64_t src, uint64_t dst)
{
	return (struct path_query){ .src = query_fixture_end(w, src),
		                    .dst = query_fixture_end(w, dst) };
}

static struct path_record only(const struct path_query *q)
{
	struct path_record rec[2];
	size_t n = 99;

	ck_assert_int_eq(path_query_run(w->r, q, rec, 2, &n), E_OK);
	ck_assert_uint_eq(n, 1);
	return rec[0];
}

/* Properties of each pair, from the drawing in query_fixture.h. */
struct pair_case {
	const char *what;
	uint64_t src, dst;
	int ret;
	uint8_t mtu, rate, hops, life;
};

/* clang-format off */
static const struct pair_case pairs[] = {
	{ "through all switches, slowest is the far cable", HOST + 1, TWIN_2 + 1, E_OK, 4, R_56, 3, 18 },
	{ "and back, slowest is the own cable", TWIN_2 + 1, HOST + 1, E_OK, 4, R_56, 3, 18 },
	{ "one switch", HOST + 1, TWIN_1 + 1, E_OK, 5, R_40, 1, 18 },
	{ "a link in the middle is slowest", HOST + 1, DUAL + 2, E_OK, 4, R_100, 3, 18 },
	{ "two ports of one HCA", DUAL + 1, DUAL + 2, E_OK, 4, R_100, 3, 18 },
	{ "loopback", TWIN_1 + 1, TWIN_1 + 1, E_OK, 5, R_40, 0, 0 },
	{ "loopback of a switch", SW_C, SW_C, E_OK, 5, R_10, 0, 0 },
	{ "from a switch without hosts: no row", SW_C, HOST + 1, E_OK, 5, R_10, 2, 18 },
	{ "to a switch without hosts", HOST + 1, SW_C, E_OK, 5, R_10, 2, 18 },
	{ "from a switch with hosts to another", SW_A, SW_B, E_OK, 4, R_10, 3, 18 },
	{ "to the own switch", HOST + 1, SW_A, E_OK, 5, R_10, 1, 18 },
	{ "direct cable", LEFT + 1, RIGHT + 1, E_OK, 5, R_100, 0, 18 },
	{ "another part", LEFT + 1, HOST + 1, E_NOPATH, 0, 0, 0, 0 },
	{ "to another part", HOST + 1, RIGHT + 1, E_NOPATH, 0, 0, 0, 0 },
	{ "switch to another part", SW_C, RIGHT + 1, E_NOPATH, 0, 0, 0, 0 },
};
/* clang-format on */

enum { N_PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

START_TEST(pair)
{
	const struct pair_case *c = &pairs[_i];
	struct path_query q = between(c->src, c->dst);
	struct path_record rec[2];
	size_t n = 0;

	int ret = path_query_run(w->r, &q, rec, 2, &n);
	ck_assert_msg(ret == c->ret, "%s: %s", c->what, err_text(ret));
	if (ret != E_OK) {
		return;
	}
	ck_assert_uint_eq(n, 1);
	const struct path_record *p = &rec[0];
	ck_assert_msg(p->mtu == c->mtu && p->rate == c->rate && p->hops == c->hops,
	              "%s: %u %u %u", c->what, p->mtu, p->rate, p->hops);
	ck_assert_uint_eq(p->packet_life_time, c->life);
	ck_assert_uint_eq(p->slid, q.src.base_lid);
	ck_assert_uint_eq(p->dlid, q.dst.base_lid);
	ck_assert(p->sgid_prefix == FIXTURE_PREFIX && p->dgid_prefix == FIXTURE_PREFIX);
	ck_assert(p->sgid_guid == c->src && p->dgid_guid == c->dst);
	ck_assert_uint_eq(p->p_key, 0xffff);
	ck_assert_uint_eq(p->reversible, 1);
	ck_assert(p->mtu_selector == 2 && p->rate_selector == 2 &&
	          p->packet_life_time_selector == 2);
	ck_assert(p->sl == 0 && p->hop_limit == 0 && p->preference == 0 &&
	          p->numb_path == 0);
}
END_TEST

/* Selectors on HOST -> TWIN_2: MTU 2048 (4), 56 Gb/s (12), life time 18. */
enum part { MTU, RATE, LIFE };

struct limit_case {
	enum part part;
	enum path_selector selector;
	uint8_t value;
	int want; /* value in the record, 0: left out, negative: error */
};

/* clang-format off */
static const struct limit_case limits[] = {
	{ MTU, SEL_GREATER, 3, 4 }, { MTU, SEL_GREATER, 4, 0 }, { MTU, SEL_GREATER, 5, 0 },
	{ MTU, SEL_LESS, 5, 4 }, { MTU, SEL_LESS, 4, 3 }, { MTU, SEL_LESS, 2, 1 }, { MTU, SEL_LESS, 1, 0 },
	{ MTU, SEL_EXACT, 4, 4 }, { MTU, SEL_EXACT, 2, 2 }, { MTU, SEL_EXACT, 5, 0 },
	{ MTU, SEL_LARGEST, 1, 4 }, { MTU, SEL_LARGEST, 0, 4 },
	{ MTU, SEL_EXACT, 0, E_RANGE }, { MTU, SEL_GREATER, 6, E_RANGE }, { MTU, SEL_LARGEST + 1, 4, E_RANGE },

	/* 40 Gb/s has a lower code than 56, 80 and 120 Gb/s too: speeds count */
	{ RATE, SEL_GREATER, R_40, R_56 }, { RATE, SEL_GREATER, R_56, 0 }, { RATE, SEL_GREATER, R_80, 0 },
	{ RATE, SEL_GREATER, R_120, 0 },
	{ RATE, SEL_LESS, R_80, R_56 }, { RATE, SEL_LESS, R_120, R_56 },
	{ RATE, SEL_LESS, R_56, 20 /* 50 Gb/s */ }, { RATE, SEL_LESS, R_40, R_30 }, { RATE, SEL_LESS, R_2_5, 0 },
	{ RATE, SEL_EXACT, R_56, R_56 }, { RATE, SEL_EXACT, R_40, R_40 }, { RATE, SEL_EXACT, R_2_5, R_2_5 },
	{ RATE, SEL_EXACT, R_80, 0 }, { RATE, SEL_EXACT, R_400, 0 },
	{ RATE, SEL_LARGEST, R_2_5, R_56 }, { RATE, SEL_LARGEST, 0, R_56 },
	{ RATE, SEL_EXACT, 0, E_RANGE }, { RATE, SEL_EXACT, 1, E_RANGE }, { RATE, SEL_LESS, 63, E_RANGE },

	{ LIFE, SEL_GREATER, 17, 18 }, { LIFE, SEL_GREATER, 18, 19 }, { LIFE, SEL_GREATER, 63, 0 },
	{ LIFE, SEL_LESS, 19, 18 }, { LIFE, SEL_LESS, 18, 0 }, { LIFE, SEL_LESS, 0, 0 },
	{ LIFE, SEL_EXACT, 18, 18 }, { LIFE, SEL_EXACT, 20, 20 }, { LIFE, SEL_EXACT, 17, 0 },
	{ LIFE, SEL_LARGEST /* "smallest" */, 1, 18 }, { LIFE, SEL_EXACT, 64, E_RANGE },
};
/* clang-format on */

enum { N_LIMITS = sizeof(limits) / sizeof(limits[0]) };

START_TEST(limit)
{
	const struct limit_case *c = &limits[_i];
	struct path_query q = between(HOST + 1, TWIN_2 + 1);
	struct path_limit *part[] = {
		[MTU] = &q.mtu, [RATE] = &q.rate, [LIFE] = &q.packet_life_time
	};
	struct path_record rec[2];
	size_t n = 0;

	*part[c->part] = (struct path_limit){ .given = true,
		                              .selector = (uint8_t)c->selector,
		                              .value = c->value };
	int ret = path_query_run(w->r, &q, rec, 2, &n);
	ck_assert_int_eq(ret, c->want < 0 ? c->want : E_OK);
	if (ret != E_OK) {
		return;
	}
	ck_assert_uint_eq(n, c->want > 0);
	if (n) {
		uint8_t got[] = { [MTU] = rec[0].mtu,
			          [RATE] = rec[0].rate,
			          [LIFE] = rec[0].packet_life_time };
		uint8_t own[] = { [MTU] = 4, [RATE] = R_56, [LIFE] = 18 };
		own[c->part] = (uint8_t)c->want;
		ck_assert_mem_eq(got, own, sizeof(got));
	}
}
END_TEST

START_TEST(keys_and_levels)
{
	struct path_query q = between(HOST + 1, TWIN_1 + 1);
	struct path_record rec[2];
	size_t n;

	q.has_p_key = true;
	q.p_key = 0x7fff;
	ck_assert_uint_eq(only(&q).p_key, 0xffff);
	q.p_key = 0xffff;
	ck_assert_uint_eq(only(&q).p_key, 0xffff);
	q.p_key = 0x8001;
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 2, &n), E_PARTITION);
	q.has_p_key = false;
	q.has_sl = true;
	(void)only(&q);
	q.sl = 3;
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 2, &n), E_OK);
	ck_assert_uint_eq(n, 0);
	q.has_sl = false;
	q.mode = PATH_SELECTION_COUNT;
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 2, &n), E_RANGE);
	q.mode = PATH_MINIMAL;
	q.slid = q.src.base_lid + 1;
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 2, &n), E_RANGE);
	q.slid = 0;
	q.src.base_lid = 0;
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 2, &n), E_NOPATH);
}
END_TEST

/* Source with two LIDs (enhanced port 0, LMC 1), destination with four (LMC 2). */
struct mode_case {
	enum path_selection mode;
	const char *want; /* offsets */
};

static const struct mode_case modes[] = {
	{ PATH_MINIMAL, "00 11" },
	{ PATH_PAIRWISE, "00 11 02 13" },
	{ PATH_ORDERALL, "00 11 02 13 01 03 10 12" },
	{ PATH_SRCDSTALL, "00 01 02 03 10 11 12 13" },
};

static void pairs_text(const struct path_query *q, const struct path_record *rec,
                       size_t n, char *ret_text)
{
	*ret_text = '\0';
	for (size_t i = 0; i < n; i++) {
		ret_text += sprintf(ret_text, "%s%u%u", i ? " " : "",
		                    rec[i].slid - q->src.base_lid,
		                    rec[i].dlid - q->dst.base_lid);
	}
}

START_TEST(mode_order)
{
	const struct mode_case *c = &modes[_i];
	struct query_fixture *lmc = query_fixture_small(2, 1, c->mode);
	struct path_record rec[32];
	char text[100];
	size_t n = 0;

	for (unsigned swtch = 0; swtch < 2; swtch++) { /* with a row, and without */
		struct path_query q = { .mode = c->mode,
			                .src = query_fixture_end(lmc,
			                                         swtch ? SW_C : SW_A),
			                .dst = query_fixture_end(lmc, HOST + 1) };
		ck_assert_int_eq(path_query_run(lmc->r, &q, rec, 32, &n), E_OK);
		pairs_text(&q, rec, n, text);
		ck_assert_str_eq(text, c->want);
		q.numb_path = 2;
		ck_assert_int_eq(path_query_run(lmc->r, &q, rec, 32, &n), E_OK);
		ck_assert_uint_eq(n, 2);
		pairs_text(&q, rec, n, text);
		ck_assert(strncmp(text, c->want, 5) == 0);
		q.numb_path = 0;
		ck_assert_int_eq(path_query_run(lmc->r, &q, rec, 1, &n), E_OK);
		ck_assert_uint_eq(n, 1);
		q.slid = q.src.base_lid + 1;
		q.dlid = q.dst.base_lid + 3;
		ck_assert_int_eq(path_query_run(lmc->r, &q, rec, 32, &n), E_OK);
		pairs_text(&q, rec, n, text);
		ck_assert_str_eq(text, "13");
		q.dlid++;
		ck_assert_int_eq(path_query_run(lmc->r, &q, rec, 32, &n), E_RANGE);
	}
	query_fixture_free(lmc);
}
END_TEST

/* Ports of the switches passed, by the drawing. */
START_TEST(hops_of_a_way)
{
	struct path_hop hop[PATH_HOPS_MAX];
	unsigned n = 99;
	struct snap_end host = query_fixture_end(w, HOST + 1),
			twin = query_fixture_end(w, TWIN_2 + 1);
	struct snap_end c = query_fixture_end(w, SW_C);

	ck_assert_int_eq(path_hops(w->r, host.base_lid, twin.base_lid, hop, &n), E_OK);
	ck_assert_uint_eq(n, 3);
	ck_assert(hop[0].node_guid == SW_A && hop[0].in_port == 2 &&
	          hop[0].out_port == 1);
	ck_assert(hop[1].node_guid == SW_C && hop[1].in_port == 1 &&
	          hop[1].out_port == 2);
	ck_assert(hop[2].node_guid == SW_B && hop[2].in_port == 1 &&
	          hop[2].out_port == 4);
	ck_assert_uint_eq(hop[1].lid, c.base_lid);

	ck_assert_int_eq(path_hops(w->r, c.base_lid, host.base_lid, hop, &n), E_OK);
	ck_assert_uint_eq(n, 2);
	ck_assert(hop[0].node_guid == SW_C && hop[0].in_port == 0 &&
	          hop[0].out_port == 1);
	ck_assert_int_eq(path_hops(w->r, host.base_lid, c.base_lid, hop, &n), E_OK);
	ck_assert(n == 2 && hop[1].out_port == 0);

	uint32_t left = query_fixture_end(w, LEFT + 1).base_lid,
		 right = query_fixture_end(w, RIGHT + 1).base_lid;
	ck_assert_int_eq(path_hops(w->r, left, right, hop, &n), E_OK);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(path_hops(w->r, left, host.base_lid, hop, &n), E_NOPATH);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(path_hops(w->r, host.base_lid, left, hop, &n), E_NOPATH);
	ck_assert(n == 1 && hop[0].node_guid == SW_A && hop[0].out_port == 0xff);
	ck_assert_int_eq(path_hops(w->r, host.base_lid, host.base_lid, hop, &n), E_OK);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(path_hops(w->r, host.base_lid, 0, hop, &n), E_NOTFOUND);
	ck_assert_int_eq(path_hops(w->r, 4000, host.base_lid, hop, &n), E_NOTFOUND);
}
END_TEST

/* Publishes the tables with one entry of a switch changed. */
static void damage(uint64_t sw_guid, uint32_t lid, uint8_t port)
{
	uint32_t sw = w->g->nodes[graph_node_by_guid(w->g, sw_guid)].sw;
	struct route_request rq = { .g = w->g, .lids = &w->lids };

	lft_row(&w->route.out.lft, sw)[lid] = port;
	struct lft lft = w->route.out.lft;
	(void)route_check(&rq, &lft, &w->route.out.lanes, w->a, &w->route);
	ck_assert_int_eq(paths_load_build(w->g, &w->lids, &lft, &w->route.out.lanes, w->a,
	                                  &w->route.paths, NULL),
	                 E_OK);
	query_fixture_publish(w, PATH_MINIMAL);
}

START_TEST(hole)
{
	struct path_hop hop[PATH_HOPS_MAX];
	struct path_record rec[1];
	unsigned n;
	size_t got;
	uint32_t host = query_fixture_end(w, HOST + 1).base_lid,
		 twin = query_fixture_end(w, TWIN_2 + 1).base_lid;

	damage(SW_C, twin, 0xff);
	ck_assert_int_eq(path_hops(w->r, host, twin, hop, &n), E_NOPATH);
	ck_assert(n == 2 && hop[1].node_guid == SW_C && hop[1].out_port == 0xff);
	struct path_query q = between(HOST + 1, TWIN_2 + 1);
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 1, &got), E_NOPATH);
	q = between(TWIN_2 + 1, HOST + 1); /* there, but not back */
	ck_assert_uint_eq(only(&q).reversible, 0);
	q.reversible = true;
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 1, &got), E_OK);
	ck_assert_uint_eq(got, 0);
	q = between(SW_C, TWIN_2 + 1);
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 1, &got), E_NOPATH);
}
END_TEST

START_TEST(loop)
{
	struct path_hop hop[PATH_HOPS_MAX];
	struct path_record rec[1];
	unsigned n;
	size_t got;
	uint32_t host = query_fixture_end(w, HOST + 1).base_lid,
		 twin = query_fixture_end(w, TWIN_2 + 1).base_lid;

	damage(SW_C, twin, 1);
	ck_assert_int_eq(path_hops(w->r, host, twin, hop, &n), E_LOOP);
	ck_assert(n == 2 && hop[0].node_guid == SW_A && hop[1].node_guid == SW_C);
	struct path_query q = between(HOST + 1, TWIN_2 + 1);
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 1, &got), E_NOPATH);
	q = between(SW_C, TWIN_2 + 1);
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 1, &got), E_NOPATH);
}
END_TEST

START_TEST(wrong_door)
{
	struct path_hop hop[PATH_HOPS_MAX];
	unsigned n;
	uint32_t host = query_fixture_end(w, HOST + 1).base_lid,
		 twin = query_fixture_end(w, TWIN_1 + 1).base_lid;

	damage(SW_A, twin, 3); /* to another host */
	ck_assert_int_eq(path_hops(w->r, host, twin, hop, &n), E_NOPATH);
	damage(SW_A, twin, 0); /* to the switch itself */
	ck_assert_int_eq(path_hops(w->r, host, twin, hop, &n), E_NOPATH);
	damage(SW_A, twin, 8); /* to a port without cable */
	ck_assert_int_eq(path_hops(w->r, host, twin, hop, &n), E_NOPATH);
	ck_assert(n == 1 && hop[0].out_port == 8);
}
END_TEST

/* Rows and walks are two ways to the same answer, on every pair of a damaged fat tree at
 * LMC 1. */
START_TEST(rows_are_walks)
{
	static char *kind_args[] = { "4" };
	struct topogen_opts o = { .fail = 0.2, .seed = 5 };
	struct query_fixture *t = query_fixture_new();
	struct diags d;
	unsigned checked = 0;

	diags_init(&d, t->a);
	ck_assert_int_eq(topogen("ft3", 1, kind_args, &o, t->a, &d, &t->g), E_OK);
	query_fixture_start(t, 1, 0, PATH_ORDERALL);
	for (uint32_t s = 1; s <= t->lids.top; s++) {
		struct snap_end src, dst;
		if (snap_lid(t->r, s, &src) != E_OK || src.sw_row == UINT32_MAX) {
			continue;
		}
		for (uint32_t l = 1; l <= t->lids.top; l++) {
			struct path_route route;
			struct snap_path row;
			if (snap_lid(t->r, l, &dst) != E_OK || dst.type == NODE_SWITCH ||
			    dst.base_lid == src.base_lid) {
				continue;
			}
			ck_assert_int_eq(snap_path(t->r, &src, l, &row), E_OK);
			int ret = path_walk(t->r, &src, &dst, l, NULL, &route);
			ck_assert_int_eq(ret, row.mtu ? E_OK : E_NOPATH);
			if (ret == E_OK) {
				ck_assert_msg(route.mtu == row.mtu &&
				                      route.rate == row.rate &&
				                      route.hops == row.hops,
				              "LID %u to %u", s, l);
				checked++;
			}
		}
	}
	ck_assert_uint_gt(checked, 500);
	query_fixture_free(t);
}
END_TEST

TEST_SUITE(path_query)
{
	TCase *tc = tcase_create("small fabric");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_loop_test(tc, pair, 0, N_PAIRS);
	tcase_add_loop_test(tc, limit, 0, N_LIMITS);
	tcase_add_test(tc, keys_and_levels);
	tcase_add_test(tc, hops_of_a_way);
	tcase_add_test(tc, hole);
	tcase_add_test(tc, loop);
	tcase_add_test(tc, wrong_door);
	suite_add_tcase(suite, tc);
	TCase *own = tcase_create("own fabric");
	tcase_add_loop_test(own, mode_order, 0, PATH_SELECTION_COUNT);
	tcase_add_test(own, rows_are_walks);
	suite_add_tcase(suite, own);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Random queries with random P_Key tables: /v1/paths gives the records of the query core,
 * which is the one of the SA, and where that gives none, the reason is the right one by the
 * tables of the two ports and by the core asked for each selector alone. And what each
 * parameter makes of a query.
 */
#include <stdio.h>

#include "conf/base/p_key.h"
#include "gateway/view/body.h"
#include "gateway/view/path_params.h"
#include "tests/lib/fabric.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

enum { SEEDS = 12, QUERIES = 400, KEYS = 3, BASES = 4, ENDS = 7 };

struct end_keys {
	uint64_t node, port_guid;
	unsigned port;
	uint16_t key[KEYS]; /* 0: none */
};

static struct query_fixture *w;
static struct end_keys ends[ENDS] = {
	{ HOST, HOST + 1, 1, { 0 } },     { DUAL, DUAL + 1, 1, { 0 } },
	{ DUAL, DUAL + 2, 2, { 0 } },     { TWIN_1, TWIN_1 + 1, 1, { 0 } },
	{ TWIN_2, TWIN_2 + 1, 1, { 0 } }, { LEFT, LEFT + 1, 1, { 0 } },
	{ RIGHT, RIGHT + 1, 1, { 0 } },
};

static void deal_keys(uint64_t *state)
{
	for (unsigned i = 0; i < ENDS; i++) {
		uint8_t *table = query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE,
		                                    ends[i].node, ends[i].port << 16, 64);
		for (unsigned k = 0; k < KEYS; k++) {
			uint16_t key = (uint16_t)random_below(state, BASES);
			if (key != 0 && random_below(state, 2) != 0) {
				key |= P_KEY_FULL;
			}
			ends[i].key[k] = key;
			field_set(table, 16 * k, 16, key);
		}
	}
}

/* 0 none, 1 limited, 2 full */
static unsigned member_of(const struct end_keys *e, uint16_t base)
{
	unsigned best = 0;

	for (unsigned k = 0; k < KEYS; k++) {
		if (base != 0 && (e->key[k] & P_KEY_BASE) == base) {
			unsigned is = e->key[k] & P_KEY_FULL ? 2 : 1;
			best = is > best ? is : best;
		}
	}
	return best;
}

static const char *partition_reason(const struct end_keys *a, const struct end_keys *b,
                                    const struct path_query *q)
{
	bool limited = false;

	if (q->has_p_key) {
		unsigned x = member_of(a, q->p_key), y = member_of(b, q->p_key);
		return x == 0 && y == 0 ? "not-members"
		       : x == 0         ? "source-not-member"
		       : y == 0         ? "destination-not-member"
		                        : "limited-members";
	}
	for (uint16_t base = 1; base < BASES; base++) {
		limited |= member_of(a, base) == 1 && member_of(b, base) == 1;
	}
	return limited ? "limited-members" : "no-common-partition";
}

/* --- the same query for the gateway and for the core ---------------------------------- */

static char text[8][24];

static const char *limit(uint64_t *state, unsigned at, unsigned least, unsigned n,
                         struct path_limit *ret_limit)
{
	static const char *const signs[] = { ">", "<", "=", "" };
	unsigned sign = random_below(state, 4);

	if (random_below(state, 3) != 0) {
		return NULL;
	}
	*ret_limit =
		(struct path_limit){ .given = true,
		                     .selector = sign == 3 ? SEL_EXACT : (uint8_t)sign,
		                     .value = (uint8_t)(least + random_below(state, n)) };
	if (random_below(state, 5) == 0) {
		ret_limit->selector = SEL_LARGEST;
		ret_limit->value = (uint8_t)least;
		return "largest";
	}
	snprintf(text[at], sizeof(text[at]), "%s%u", signs[sign], ret_limit->value);
	return text[at];
}

static struct path_params draw(uint64_t *state, const struct end_keys *a,
                               const struct end_keys *b, struct path_query *q)
{
	struct path_params params = { .why = "1", .src = text[0], .dst = text[1] };

	*q = (struct path_query){ .src = query_fixture_end(w, a->port_guid),
		                  .dst = query_fixture_end(w, b->port_guid) };
	snprintf(text[0], sizeof(text[0]), "0x%llx", (unsigned long long)a->port_guid);
	snprintf(text[1], sizeof(text[1]), "0x%llx", (unsigned long long)b->port_guid);
	params.mtu = limit(state, 2, 1, 5, &q->mtu);
	params.rate = limit(state, 3, 2, 20, &q->rate);
	params.life = limit(state, 4, 16, 5, &q->packet_life_time);
	if (random_below(state, 4) == 0) {
		q->has_sl = true;
		q->sl = (uint8_t)random_below(state, 2);
		snprintf(text[5], sizeof(text[5]), "%u", q->sl);
		params.sl = text[5];
	}
	if (random_below(state, 2) == 0) {
		q->has_p_key = true;
		q->p_key = (uint16_t)(1 + random_below(state, BASES - 1));
		snprintf(text[6], sizeof(text[6]), "0x%x", q->p_key);
		params.pkey = text[6];
	}
	return params;
}

static const char *reason_of(const struct problem *p)
{
	const char *reason = json_string_value(json_object_get(p->members, "reason"));

	return reason != NULL ? reason : "";
}

/* How many records the core gives when only this component is asked for. */
static size_t count_alone(const struct path_query *q, const char *component)
{
	struct path_query one = *q;
	struct path_record rec[2];
	size_t n = 0;

	one.mtu.given = q->mtu.given && !strcmp(component, "mtu");
	one.rate.given = q->rate.given && !strcmp(component, "rate");
	one.packet_life_time.given =
		q->packet_life_time.given && !strcmp(component, "packet_life_time");
	one.has_sl = q->has_sl && !strcmp(component, "sl");
	ck_assert_int_eq(path_query_run(w->r, &one, rec, 2, &n), E_OK);
	return n;
}

static void check_excluded(const struct path_query *q, const json_t *list)
{
	static const char *const all[] = { "mtu", "rate", "packet_life_time", "sl" };
	size_t i, alone = 0;
	json_t *o;

	json_array_foreach(list, i, o)
	{
		const char *component =
			json_string_value(json_object_get(o, "component"));
		if (strcmp(component, "all") != 0) {
			ck_assert_uint_eq(count_alone(q, component), 0);
			alone++;
		}
	}
	for (i = 0; i < 4; i++) {
		alone -= count_alone(q, all[i]) == 0;
	}
	ck_assert_uint_eq(alone, 0);
	ck_assert_uint_gt(json_array_size(list), 0);
}

static void check_records(struct path_answer *answer, const struct path_record *want,
                          struct arena *a)
{
	struct problem p = { .ret = 0 };
	struct body out = { .len = 0 };
	json_t *body, *path;
	size_t i;

	ck_assert(memcmp(answer->records, want, answer->n * sizeof(*want)) == 0);
	ck_assert_int_eq(path_answer_write(w->r, answer, false, a, &out, &p), E_OK);
	body = json_loadb(out.data, out.len, 0, NULL);
	ck_assert_msg(body != NULL, "%s", out.data);
	json_array_foreach(json_object_get(body, "paths"), i, path)
	{
		struct path_hop hops[PATH_HOPS_MAX];
		const json_t *list = json_object_get(path, "hops");
		unsigned n;

		ck_assert_int_eq(path_hops(w->r, want[i].slid, want[i].dlid, hops, &n),
		                 E_OK);
		ck_assert_uint_eq(json_array_size(list), n);
		for (unsigned k = 0; k < n; k++) {
			const json_t *hop = json_array_get(list, k);
			ck_assert_int_eq(
				json_integer_value(json_object_get(hop, "out_port")),
				hops[k].out_port);
			ck_assert(json_is_string(json_object_get(hop, "why")));
		}
		ck_assert(json_is_string(
			json_object_get(json_object_get(path, "why"), "engine")));
	}
	json_decref(body);
	body_clear(&out);
}

static void ask(uint64_t *state, struct ends *ends_of, struct components *components)
{
	const struct end_keys *a = &ends[random_below(state, ENDS)],
			      *b = &ends[random_below(state, ENDS)];
	struct path_query q;
	struct path_params params = draw(state, a, b, &q);
	struct path_answer answer = { .n = 0 };
	struct problem p = { .ret = 0 };
	struct arena *arena = arena_new();
	struct path_record want[4];
	size_t n = 0;

	int want_ret = path_query_run(w->r, &q, want, 4, &n);
	int ret = path_params_answer(w->r, &params, ends_of, components, arena, &answer,
	                             &p);
	ck_assert_msg(ret == want_ret, "%s, not %s", err_name(ret), err_name(want_ret));
	if (want_ret == E_OK) {
		ck_assert_uint_eq(answer.n, n);
		ck_assert((n == 0) == (answer.excluded != NULL));
		if (n == 0) {
			check_excluded(&q, answer.excluded);
			json_decref(answer.excluded);
		} else {
			check_records(&answer, want, arena);
		}
	} else if (want_ret == E_PARTITION) {
		ck_assert_str_eq(reason_of(&p), partition_reason(a, b, &q));
	} else if (want_ret == E_NOPATH) {
		ck_assert_str_eq(reason_of(&p), "different-part");
	} else {
		ck_assert_int_eq(want_ret, E_RANGE); /* a rate code that does not exist */
	}
	problem_clear(&p);
	arena_free(arena);
}

START_TEST(gives_the_reason)
{
	uint64_t state = 4711 + (uint64_t)_i;
	struct components components = { .epoch = 0 };
	struct ends known = { .slots = NULL };

	w = query_fixture_small(0, 0, PATH_MINIMAL);
	deal_keys(&state);
	query_fixture_publish(w, PATH_MINIMAL);
	for (unsigned i = 0; i < QUERIES; i++) {
		ask(&state, &known, &components);
	}
	components_done(&components);
	ends_done(&known);
	query_fixture_free(w);
}
END_TEST

/* A name, a GUID or name:port of a port that has no LID is told from an unknown name. */
START_TEST(names_ports_without_lid)
{
	static const struct {
		const char *text, *reason, *detail;
	} cases[] = {
		{ "nobody", "", "there is no end port 'nobody'" },
		{ "sw-a:5", "no-lid", "port 0" },
		{ "idle", "no-lid", "port 1 of 'idle' has no LID, because it is down" },
		{ "idle:2", "no-lid", "port 2 of 'idle' has no LID, because it is down" },
		{ "0x701", "no-lid", "port 1 of 'idle'" },
		{ "idle:9", "", "there is no end port" },
	};
	struct components components = { .epoch = 0 };
	struct ends known = { .slots = NULL };

	w = query_fixture_new();
	uint32_t a = query_fixture_add(w, NODE_SWITCH, SW_A, 8, "sw-a");
	uint32_t host = query_fixture_add(w, NODE_CA, HOST, 1, "host");
	query_fixture_add(w, NODE_CA, 0x701, 2, "idle");
	query_fixture_cable(w, host, 1, a, 2, WIDTH_4X, SPEED_NDR, 5);
	query_fixture_start(w, 0, 0, PATH_MINIMAL);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct path_params params = { .src = "host", .dst = cases[i].text };
		struct path_answer answer;
		struct problem p = { .ret = 0 };
		struct arena *arena = arena_new();

		ck_assert_int_eq(path_params_answer(w->r, &params, &known, &components,
		                                    arena, &answer, &p),
		                 E_NOTFOUND);
		ck_assert_str_eq(reason_of(&p), cases[i].reason);
		ck_assert_msg(strstr(p.detail, cases[i].detail) != NULL, "%s", p.detail);
		problem_clear(&p);
		arena_free(arena);
	}
	ends_done(&known);
	components_done(&components);
	query_fixture_free(w);
}
END_TEST

/* What each parameter makes of the query of all pairs; everything else stays as it was. */
#define LIMIT(sel, code)                                                                 \
	{                                                                                \
		.given = true, .selector = (sel), .value = (code)                        \
	}

static const struct {
	struct path_params params;
	struct path_query want;
	enum path_detail detail;
} read_as[] = {
	{ { .numb_path = "127" }, { .numb_path = 127 }, PATH_PLAIN },
	{ { .mode = "OrderAll" }, { .mode = PATH_ORDERALL }, PATH_PLAIN },
	{ { .hops = "0", .why = "0" }, { .numb_path = 0 }, PATH_PLAIN },
	{ { .hops = "1" }, { .numb_path = 0 }, PATH_WITH_HOPS },
	{ { .why = "1" }, { .numb_path = 0 }, PATH_WITH_WHY },
	{ { .hops = "1", .why = "1" }, { .numb_path = 0 }, PATH_WITH_WHY },
	{ { .mtu = "1" }, { .mtu = LIMIT(SEL_EXACT, 1) }, PATH_PLAIN },
	{ { .mtu = "5", .mtu_selector = "less" },
	  { .mtu = LIMIT(SEL_LESS, 5) },
	  PATH_PLAIN },
	{ { .mtu = "=4" }, { .mtu = LIMIT(SEL_EXACT, 4) }, PATH_PLAIN },
	{ { .rate = ">2" }, { .rate = LIMIT(SEL_GREATER, 2) }, PATH_PLAIN },
	{ { .rate = "63", .rate_selector = "exact" },
	  { .rate = LIMIT(SEL_EXACT, 63) },
	  PATH_PLAIN },
	{ { .rate = "largest" }, { .rate = LIMIT(SEL_LARGEST, 2) }, PATH_PLAIN },
	{ { .packet_life_time = "<0" },
	  { .packet_life_time = LIMIT(SEL_LESS, 0) },
	  PATH_PLAIN },
	{ { .life = "63" }, { .packet_life_time = LIMIT(SEL_EXACT, 63) }, PATH_PLAIN },
	{ { .life = "smallest" },
	  { .packet_life_time = LIMIT(SEL_LARGEST, 0) },
	  PATH_PLAIN },
	{ { .sl = "0" }, { .has_sl = true }, PATH_PLAIN },
	{ { .sl = "15" }, { .has_sl = true, .sl = 15 }, PATH_PLAIN },
	{ { .p_key = "1" }, { .has_p_key = true, .p_key = 1 }, PATH_PLAIN },
	{ { .pkey = "0xffff" }, { .has_p_key = true, .p_key = 0xffff }, PATH_PLAIN },
	{ { .service_id = "0" }, { .has_service_id = true }, PATH_PLAIN },
	{ { .service_id = "0xffffffffffffffff" },
	  { .has_service_id = true, .service_id = UINT64_MAX },
	  PATH_PLAIN },
	{ { .qos_class = "0xfff" },
	  { .has_qos_class = true, .qos_class = 0xfff },
	  PATH_PLAIN },
};

static void assert_limit(const struct path_limit *is, const struct path_limit *want)
{
	ck_assert_uint_eq(is->given, want->given);
	ck_assert_uint_eq(is->selector, want->selector);
	ck_assert_uint_eq(is->value, want->value);
}

static void start_small(void)
{
	w = query_fixture_small(0, 0, PATH_MINIMAL);
	query_fixture_publish(w, PATH_MINIMAL);
}

START_TEST(reads_parameters)
{
	struct path_params params = read_as[_i].params;
	struct path_query want = read_as[_i].want;
	struct ends known = { .slots = NULL };
	struct problem p = { .ret = 0 };
	struct arena *arena = arena_new();
	struct path_wildcard is;

	start_small();
	params.src = params.dst = "*";
	ck_assert(path_params_have_wildcard(&params));
	want.mode = params.mode != NULL ? want.mode : PATH_MINIMAL;
	ck_assert_int_eq(path_params_wildcard(w->r, &params, &known, arena, &is, &p),
	                 E_OK);
	ck_assert(is.any_src && is.any_dst);
	ck_assert_int_eq(is.detail, read_as[_i].detail);
	ck_assert_int_eq(is.q.mode, want.mode);
	ck_assert_uint_eq(is.q.numb_path, want.numb_path);
	assert_limit(&is.q.mtu, &want.mtu);
	assert_limit(&is.q.rate, &want.rate);
	assert_limit(&is.q.packet_life_time, &want.packet_life_time);
	ck_assert_uint_eq(is.q.has_p_key, want.has_p_key);
	ck_assert_uint_eq(is.q.p_key, want.p_key);
	ck_assert_uint_eq(is.q.has_sl, want.has_sl);
	ck_assert_uint_eq(is.q.sl, want.sl);
	ck_assert_uint_eq(is.q.has_service_id, want.has_service_id);
	ck_assert_uint_eq(is.q.service_id, want.service_id);
	ck_assert_uint_eq(is.q.has_qos_class, want.has_qos_class);
	ck_assert_uint_eq(is.q.qos_class, want.qos_class);
	ck_assert(!is.q.raw_traffic && !is.q.reversible);
	ck_assert_uint_eq(is.q.slid | is.q.dlid | is.q.src_alias | is.q.dst_alias, 0);
	problem_clear(&p);
	ends_done(&known);
	arena_free(arena);
	query_fixture_free(w);
}
END_TEST

/* The first value that each parameter does not take, and the sentence that says so. */
static const struct {
	struct path_params params;
	int ret;
	const char *says;
} refused[] = {
	{ { .numb_path = "0" },
	  E_RANGE,
	  "numb_path='0': expected a number of paths, 1-127" },
	{ { .numb_path = "128" },
	  E_RANGE,
	  "numb_path='128': expected a number of paths, 1-127" },
	{ { .mode = "best" }, E_UNKNOWN, "mode='best': expected one of " },
	{ { .hops = "2" }, E_UNKNOWN, "hops='2': expected one of 0, 1" },
	{ { .why = "yes" }, E_UNKNOWN, "why='yes': expected one of 0, 1" },
	{ { .mtu = "0" }, E_RANGE, "mtu='0': expected the code of the record, 1-5" },
	{ { .mtu = ">6" }, E_RANGE, "mtu='6': expected the code of the record, 1-5" },
	{ { .mtu = "4", .mtu_selector = "about" },
	  E_UNKNOWN,
	  "mtu_selector='about': expected one of greater, less, exact, largest" },
	{ { .mtu_selector = "less" },
	  E_HTTP_PARAMETER,
	  "mtu_selector=less needs mtu=CODE" },
	{ { .rate = "1" }, E_RANGE, "rate='1': expected the code of the record, 2-63" },
	{ { .rate = "64" }, E_RANGE, "rate='64': expected the code of the record, 2-63" },
	{ { .rate_selector = "exact" },
	  E_HTTP_PARAMETER,
	  "rate_selector=exact needs rate=CODE" },
	{ { .life = "64" },
	  E_RANGE,
	  "packet_life_time='64': expected the code of the record, 0-63" },
	{ { .life = "1", .packet_life_time = "1" },
	  E_HTTP_PARAMETER,
	  "packet_life_time and life are the same; use one of them" },
	{ { .sl = "16" }, E_RANGE, "sl='16': expected a service level, 0-15" },
	{ { .sl = "high" }, E_SYNTAX, "sl='high': expected a service level, 0-15" },
	{ { .p_key = "0" }, E_RANGE, "p_key='0': expected a P_Key, 1-65535" },
	{ { .p_key = "0x10000" }, E_RANGE, "p_key='0x10000': expected a P_Key, 1-65535" },
	{ { .p_key = "1", .pkey = "1" },
	  E_HTTP_PARAMETER,
	  "p_key and pkey are the same; use one of them" },
	{ { .service_id = "x" },
	  E_SYNTAX,
	  "service_id='x': expected a service ID, 0-18446744073709551615" },
	{ { .qos_class = "0x1000" },
	  E_RANGE,
	  "qos_class='0x1000': expected a QoS class, 0-4095" },
};

START_TEST(refuses_parameters)
{
	struct path_params params = refused[_i].params;
	struct ends known = { .slots = NULL };
	struct problem p = { .ret = 0 };
	struct arena *arena = arena_new();
	struct path_wildcard is;

	start_small();
	params.src = params.dst = "*";
	ck_assert_int_eq(path_params_wildcard(w->r, &params, &known, arena, &is, &p),
	                 refused[_i].ret);
	ck_assert_msg(strncmp(p.detail, refused[_i].says, strlen(refused[_i].says)) == 0,
	              "%s", p.detail);
	problem_clear(&p);
	ends_done(&known);
	arena_free(arena);
	query_fixture_free(w);
}
END_TEST

TEST_SUITE(path_params)
{
	TCase *t = tcase_create("path_params");

	tcase_add_loop_test(t, gives_the_reason, 0, SEEDS);
	tcase_add_test(t, names_ports_without_lid);
	tcase_add_loop_test(t, reads_parameters, 0, sizeof(read_as) / sizeof(read_as[0]));
	tcase_add_loop_test(t, refuses_parameters, 0,
	                    sizeof(refused) / sizeof(refused[0]));
	suite_add_tcase(suite, t);
}

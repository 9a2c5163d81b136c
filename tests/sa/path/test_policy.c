/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Policies from the text of the file to the records of a path query, on the small fabric of
 * query_fixture.h; and random ones against a model that looks at each rule of the text.
 *
 * Longer than most: files of rules and virtual fabrics become one kind of policy, which is looked at in
 * the same ways.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "conf/base/xml.h"
#include "conf/device_group.h"
#include "conf/opafm.h"
#include "conf/option.h"
#include "conf/policy/partitions.h"
#include "conf/policy/qos_policy.h"
#include "conf/virtual_fabric.h"
#include "db/snapshot/policy.h"
#include "sa/path/path_query.h"
#include "sa/sm/policy/policy_compile.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

enum { R_10 = 3, R_40 = 7, R_100 = 16, ALL_SLS = 0xffff };

static struct query_fixture *w;
static struct diags d;

static void start(void)
{
	w = query_fixture_small(0, 0, PATH_MINIMAL);
}

static void start_lmc(void)
{
	w = query_fixture_small(1, 0, PATH_PAIRWISE);
}

static void stop(void)
{
	query_fixture_free(w);
	w = NULL;
}

/* --- publishing ------------------------------------------------------------------- */

static void complete(struct policy_in *in)
{
	diags_init(&d, w->a);
	in->g = w->g;
	in->attrs = w->content.attrs;
	in->n_attrs = w->content.n_attrs;
	in->lanes = &w->route.out.lanes;
	in->free_sls = w->content.free_sls = in->qos ? ALL_SLS : 0;
	in->d = &d;
}

static void publish(struct policy_in *in)
{
	complete(in);
	ck_assert_int_eq(policy_compile(in, w->a, &w->content.policy), E_OK);
	query_fixture_publish(w, w->content.path_selection);
}

static void use_policy(const char *text)
{
	struct policy_in in = { .qos = true, .enforce = true };
	struct diags bad;

	diags_init(&bad, w->a);
	int ret = qos_policy_parse("q", text, strlen(text), w->a, &bad, &in.policy);
	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&bad));
	publish(&in);
}

/* The P_Key table of a port, in place of the default one. */
static void table(uint64_t node, unsigned port, unsigned n, const uint16_t *keys)
{
	uint8_t *data =
		query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, node, port << 16, 64);

	for (unsigned i = 0; i < n; i++) {
		field_set(data, 16 * i, 16, keys[i]);
	}
}

static struct path_query between(uint64_t src, uint64_t dst)
{
	return (struct path_query){ .src = query_fixture_end(w, src),
		                    .dst = query_fixture_end(w, dst) };
}

/* --- qos-policy.conf, by hand ----------------------------------------------------- */

#define FILE_HEAD                                                                        \
	"port-groups\nport-group\nname: hosts\nport-name: host/P1, left/P1\n"            \
	"end-port-group\nport-group\nname: twins\nport-guid: 0x302, 0x402\n"             \
	"end-port-group\nport-group\nname: switches\nnode-type: SWITCH\n"                \
	"end-port-group\nport-group\nname: blue\npkey: 0x22\nend-port-group\n"           \
	"end-port-groups\n"                                                              \
	"qos-levels\nqos-level\nname: DEFAULT\nsl: 3\nend-qos-level\n"                   \
	"qos-level\nname: small\nsl: 1\nmtu-limit: 2\nrate-limit: 3\npacket-life: 5\n"   \
	"end-qos-level\nqos-level\nname: plain\nend-qos-level\n"                         \
	"qos-level\nname: keyed\nsl: 4\npkey: 0x22, 0x30-0x40\nend-qos-level\n"          \
	"qos-level\nname: large\nsl: 6\nmtu-limit: 5\nrate-limit: 21\nend-qos-level\n"   \
	"end-qos-levels\nqos-match-rules\n"
#define RULE(level, text)                                                                \
	"qos-match-rule\n" text "\nqos-level-name: " level "\nend-qos-match-rule\n"
#define FILE_TAIL                                                                        \
	"end-qos-match-rules\nqos-ulps\nsdp : 7\nany, target-port-guid 0x202 : 8\n"      \
	"end-qos-ulps\n"

static const char rules[] = FILE_HEAD RULE("small", "service-id: 5-9")
	RULE("small", "source: hosts\ndestination: twins\nqos-class: 7")
	RULE("keyed", "source: blue\ndestination: blue")
	RULE("large", "pkey: 0x7fff\nservice-id: 99") RULE("plain", "source: switches")
	FILE_TAIL;

/* Requests with their ends, and the replies. */
struct case_of_rules {
	const char *what;
	uint64_t src, dst;
	int64_t service, qos_class, p_key, asked_sl; /* -1: not asked for */
	int ret;
	unsigned n;
	uint8_t sl, mtu, rate, life;
	uint16_t key;
};

/* clang-format off */
static const struct case_of_rules cases[] = {
	{ "no rule fits",               0x102, 0x302, -1, -1, -1, -1, E_OK, 1, 3, 5, R_40, 18, 0xffff },
	{ "service ID in a range",      0x102, 0x302,  9, -1, -1, -1, E_OK, 1, 1, 2, R_10,  5, 0xffff },
	{ "service ID of none",         0x102, 0x302, 10, -1, -1, -1, E_OK, 1, 3, 5, R_40, 18, 0xffff },
	{ "source, destination, class", 0x102, 0x302, -1,  7, -1, -1, E_OK, 1, 1, 2, R_10,  5, 0xffff },
	{ "another class",              0x102, 0x302, -1,  8, -1, -1, E_OK, 1, 3, 5, R_40, 18, 0xffff },
	{ "the other way round",        0x302, 0x102, -1,  7, -1, -1, E_OK, 1, 3, 5, R_40, 18, 0xffff },
	{ "limits above the way's own", 0x102, 0x302, 99, -1, 0x7fff, -1, E_OK, 1, 6, 5, R_40, 18, 0xffff },
	{ "P_Key not asked for",        0x102, 0x302, 99, -1, -1, -1, E_OK, 1, 3, 5, R_40, 18, 0xffff },
	{ "membership does not matter", 0x102, 0x302, 99, -1, 0xffff, -1, E_OK, 1, 6, 5, R_40, 18, 0xffff },
	{ "a level without SL",        SW_A,   0x302, -1, -1, -1, -1, E_OK, 1, 0, 5, R_10, 18, 0xffff },
	{ "that one gives any SL",     SW_A,   0x302, -1, -1, -1,  9, E_OK, 1, 9, 5, R_10, 18, 0xffff },
	{ "an SL that is the level's",  0x102, 0x302,  9, -1, -1,  1, E_OK, 1, 1, 2, R_10,  5, 0xffff },
	{ "an SL that is not",          0x102, 0x302,  9, -1, -1,  3, E_OK, 0, 0, 0, 0,    0, 0 },
	{ "sdp",                        0x102, 0x302, 0x10001, -1, -1, -1, E_OK, 1, 7, 5, R_40, 18, 0xffff },
	{ "a target",                   0x102, 0x202, -1, -1, -1, -1, E_OK, 1, 8, 5, R_100, 18, 0xffff },
	{ "sdp stands first",           0x102, 0x202, 0x1ffff, -1, -1, -1, E_OK, 1, 7, 5, R_100, 18, 0xffff },
	{ "rules stand before ulps",    0x102, 0x202, 5, -1, -1, -1, E_OK, 1, 1, 2, R_10, 5, 0xffff },
	{ "both blue, that P_Key",      0x203, 0x402, -1, -1, -1, -1, E_OK, 1, 4, 5, 12, 18, 0x8022 },
	{ "both blue, asked for it",    0x203, 0x402, -1, -1, 0x22, -1, E_OK, 1, 4, 5, 12, 18, 0x8022 },
	{ "both blue, another P_Key",   0x203, 0x402, -1, -1, 0x7fff, -1, E_PARTITION, 0, 0, 0, 0, 0, 0 },
	{ "one blue",                   0x203, 0x302, -1, -1, -1, -1, E_OK, 1, 3, 4, R_40, 18, 0xffff },
	{ "loopback has life time 0",   0x102, 0x102,  5, -1, -1, -1, E_OK, 1, 1, 2, R_10, 0, 0xffff },
	{ "unconnected ends",           0x502, 0x102, -1, -1, -1, -1, E_NOPATH, 0, 0, 0, 0, 0, 0 },
};
/* clang-format on */

static void blue_tables(void)
{
	table(DUAL, 2, 2, (uint16_t[]){ 0xffff, 0x8022 });
	table(TWIN_2, 1, 3, (uint16_t[]){ 0xffff, 0x8035, 0x0022 });
}

START_TEST(match_rules)
{
	const struct case_of_rules *c = &cases[_i];
	struct path_record rec[4];
	size_t n = 0;

	blue_tables();
	use_policy(rules);
	struct path_query q = between(c->src, c->dst);
	q.has_service_id = c->service >= 0;
	q.service_id = c->service >= 0 ? (uint64_t)c->service : 5;
	q.has_qos_class = c->qos_class >= 0;
	q.qos_class = c->qos_class >= 0 ? (uint16_t)c->qos_class : 7;
	q.has_p_key = c->p_key >= 0;
	q.p_key = (uint16_t)c->p_key;
	q.has_sl = c->asked_sl >= 0;
	q.sl = (uint8_t)c->asked_sl;
	ck_assert_msg(path_query_run(w->r, &q, rec, 4, &n) == c->ret, "%s", c->what);
	ck_assert_msg(n == c->n, "%s: %zu records", c->what, n);
	if (n != 0) {
		ck_assert_msg(rec[0].sl == c->sl, "%s: SL %u", c->what, rec[0].sl);
		ck_assert_msg(rec[0].mtu == c->mtu, "%s: MTU %u", c->what, rec[0].mtu);
		ck_assert_msg(rec[0].rate == c->rate, "%s: rate %u", c->what, rec[0].rate);
		ck_assert_msg(rec[0].packet_life_time == c->life, "%s: life time %u",
		              c->what, rec[0].packet_life_time);
		ck_assert_msg(rec[0].p_key == c->key, "%s: P_Key %x", c->what,
		              rec[0].p_key);
	}
}
END_TEST

/* The selectors of the request act on what the level leaves. */
START_TEST(selectors_after_limits)
{
	use_policy(rules);
	struct path_query q = between(0x102, 0x302);
	struct path_record rec;
	size_t n = 9;

	q.has_service_id = true;
	q.service_id = 5;
	q.mtu = (struct path_limit){ true, SEL_GREATER, 2 };
	ck_assert_int_eq(path_query_run(w->r, &q, &rec, 1, &n), E_OK);
	ck_assert_uint_eq(n, 0);
	q.mtu = (struct path_limit){ true, SEL_EXACT, 1 };
	q.packet_life_time = (struct path_limit){ true, SEL_EXACT, 6 };
	ck_assert_int_eq(path_query_run(w->r, &q, &rec, 1, &n), E_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(rec.mtu, 1);
	ck_assert_uint_eq(rec.packet_life_time, 6);
}
END_TEST

/* An SL that ports drop leads nowhere; one without tables neither, but SL 0. */
START_TEST(dropped_sl)
{
	struct policy_in in = { .qos = false };
	const char *text = "qos-ulps\ndefault : 0\nsdp : 2\nend-qos-ulps\n";
	struct path_record rec;
	size_t n;

	ck_assert_int_eq(qos_policy_parse("q", text, strlen(text), w->a, NULL, &in.policy),
	                 E_OK);
	publish(&in);
	ck_assert_uint_eq(d.n_warnings, 1);
	struct path_query q = between(0x102, 0x302);
	ck_assert_int_eq(path_query_run(w->r, &q, &rec, 1, &n), E_OK);
	ck_assert_uint_eq(rec.sl, 0);
	q.has_service_id = true;
	q.service_id = 0x10000;
	ck_assert_int_eq(path_query_run(w->r, &q, &rec, 1, &n), E_POLICY);
}
END_TEST

static uint8_t sl_of(const struct path_query *q)
{
	struct path_record rec;
	size_t n;

	ck_assert_int_eq(path_query_run(w->r, q, &rec, 1, &n), E_OK);
	ck_assert_uint_eq(n, 1);
	return rec.sl;
}

/* While QoS is on, a path has the SL of its partition, unless another is asked for, the policy
 * says one, or no level has it. */
START_TEST(sl_of_partitions)
{
	static const char text[] =
		"Default=0x7fff,sl=3:ALL=full;Blue=0x22,sl=5:ALL=full;";
	static const uint32_t ports[2][2];
	struct path_query q;

	ck_assert_int_eq(partitions_parse("p", text, sizeof(text) - 1, w->a, NULL,
	                                  &w->content.partitions),
	                 E_OK);
	w->content.partition_ports = ports;
	table(DUAL, 2, 2, (uint16_t[]){ 0xffff, 0x8022 });
	table(TWIN_2, 1, 2, (uint16_t[]){ 0xffff, 0x8022 });
	w->content.free_sls = ALL_SLS;
	query_fixture_publish(w, PATH_MINIMAL);
	q = between(0x203, 0x402);
	ck_assert_uint_eq(sl_of(&q), 0); /* QoS is off */
	w->content.qos = true;
	query_fixture_publish(w, PATH_MINIMAL);
	q = between(0x203, 0x402);
	ck_assert_uint_eq(sl_of(&q), 3);
	q.has_sl = true;
	q.sl = 4;
	ck_assert_uint_eq(sl_of(&q), 4);
	q.has_sl = false;
	q.has_p_key = true;
	q.p_key = 0x8022;
	ck_assert_uint_eq(sl_of(&q), 5);
	q.raw_traffic = true;
	ck_assert_uint_eq(sl_of(&q), 0);
	w->content.free_sls = ALL_SLS & ~(1U << 5);
	query_fixture_publish(w, PATH_MINIMAL);
	q = between(0x203, 0x402);
	q.has_p_key = true;
	q.p_key = 0x8022;
	ck_assert_uint_eq(sl_of(&q), 0);
	use_policy("qos-ulps\ndefault : 6\nend-qos-ulps\n");
	q = between(0x203, 0x402);
	ck_assert_uint_eq(sl_of(&q), 6);
}
END_TEST

/* Without a policy nothing of it is stored; a policy is a new routing epoch's. */
START_TEST(no_policy)
{
	const struct policy *p = (const struct policy *)1;
	struct snap_published done;

	ck_assert_int_eq(snap_policy(w->r, &p), E_OK);
	ck_assert_ptr_null(p);
	use_policy(rules);
	ck_assert_int_eq(snap_policy(w->r, &p), E_OK);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->head.n_rules, 7);
	w->content.policy = NULL;
	ck_assert_int_eq(snap_publish(w->w, &w->content, 2, &done), -EINVAL);
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_int_eq(snap_policy(w->r, &p), E_OK);
	ck_assert_ptr_null(p);
}
END_TEST

/* Any numbers where a policy should be: refused, or every index in it is one. */
START_TEST(damaged_policy)
{
	struct policy bad;
	struct policy_rule rule[7];
	struct policy_level level[8];
	struct path_record rec[4];

	use_policy(rules);
	const struct policy *good = w->content.policy;
	memcpy(rule, good->rules, sizeof(rule));
	ck_assert_uint_eq(good->head.n_rules, 7);
	ck_assert_uint_eq(good->head.n_levels, 7);
	for (unsigned i = 0; i < 60; i++) {
		const struct policy *p;
		size_t n;
		memcpy(rule, good->rules, sizeof(rule));
		memcpy(level, good->levels, 7 * sizeof(*level));
		bad = *good;
		bad.rules = rule;
		bad.levels = level;
		uint8_t *at = i % 2 ? (uint8_t *)rule : (uint8_t *)level;
		size_t size = i % 2 ? sizeof(rule) : 7 * sizeof(*level);
		at[(i * 2654435761u >> 7) % size] ^= (uint8_t)(1 + i * 31);
		if (i % 5 == 0) {
			bad.head.default_level = i;
		}
		w->content.policy = &bad;
		query_fixture_publish(w, PATH_MINIMAL);
		int ret = snap_policy(w->r, &p);
		ck_assert(ret == E_OK || ret == E_MALFORMED);
		for (unsigned k = 0; k < 16; k++) {
			struct path_query q = between(0x102, k & 1 ? 0x302 : 0x202);
			q.has_service_id = k & 2;
			q.service_id = k;
			q.has_qos_class = k & 4;
			q.qos_class = 7;
			ret = path_query_run(w->r, &q, rec, 4, &n);
			ck_assert(ret == E_OK || ret == E_MALFORMED || path_none(ret));
		}
	}
}
END_TEST

/* --- lanes ------------------------------------------------------------------------ */

/* An engine that takes SLs for its lanes has the last word; with a rule of two QoS levels
 * the SL chooses between them. */
START_TEST(levels_of_lanes)
{
	const char *text = "qos-ulps\ndefault : 0\nsdp : 5\nrds : 12\nend-qos-ulps\n";
	struct vl_rule rule = { .vls = 8, .levels = 2, .level_shift = 3,
		                .width = w->g->max_port + 1u };
	struct policy_in in = { .qos = true };
	static const struct {
		uint64_t service;
		uint8_t own, by_rule;
	} want[] = { { 1, 0, 0 }, { 0x10001, 0, 0 }, { 0x10648ca, 0, 8 } };

	ck_assert_int_eq(qos_policy_parse("q", text, strlen(text), w->a, NULL, &in.policy),
	                 E_OK);
	rule.port_class = arena_array(w->a, (size_t)w->g->n_switches * rule.width, 1);
	for (unsigned ruled = 0; ruled < 2; ruled++) {
		w->route.out.lanes.n = 4;
		w->route.out.lanes.rule = ruled ? &rule : NULL;
		publish(&in);
		ck_assert_uint_eq(d.n_warnings, ruled ? 0 : 2);
		for (unsigned i = 0; i < 3; i++) {
			struct path_query q = between(0x102, 0x302);
			struct path_record rec;
			size_t n;
			q.has_service_id = true;
			q.service_id = want[i].service;
			ck_assert_int_eq(path_query_run(w->r, &q, &rec, 1, &n), E_OK);
			ck_assert_uint_eq(rec.sl,
			                  ruled ? want[i].by_rule : want[i].own);
			q.has_sl = true;
			q.sl = 3;
			ck_assert_int_eq(path_query_run(w->r, &q, &rec, 1, &n), E_OK);
			ck_assert_uint_eq(n, 0);
		}
	}
	w->route.out.lanes.n = 1;
	w->route.out.lanes.rule = NULL;
}
END_TEST

/* --- at random ------------------------------------------------------------------- */

static uint32_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static const uint64_t guids[] = { 0x102, 0x202, 0x203, 0x302, 0x402, SW_A, SW_B, SW_C };

/* A rule as the model has it: -1: it does not say. */
struct model_rule {
	int service, qos_class, p_key, sl;
	unsigned sources, destinations; /* bits of guids, 0: all */
};

static void write_ports(FILE *f, const char *side, unsigned bits, unsigned number)
{
	fprintf(f, "port-groups\nport-group\nname: %s%u\n", side, number);
	for (unsigned i = 0; i < 8; i++) {
		if (bits >> i & 1) {
			fprintf(f, "port-guid: 0x%" PRIx64 "\n", guids[i]);
		}
	}
	fputs("end-port-group\nend-port-groups\n", f);
}

static void write_rule(FILE *f, const struct model_rule *m, unsigned number)
{
	if (m->sources) {
		write_ports(f, "s", m->sources, number);
	}
	if (m->destinations) {
		write_ports(f, "d", m->destinations, number);
	}
	fprintf(f, "qos-levels\nqos-level\nname: l%u\nsl: %d\nend-qos-level\n"
	           "end-qos-levels\nqos-match-rules\nqos-match-rule\nqos-level-name: l%u\n",
	        number, m->sl, number);
	if (m->service >= 0) {
		fprintf(f, "service-id: %d-%d\n", m->service, m->service + 1);
	}
	if (m->qos_class >= 0) {
		fprintf(f, "qos-class: %d\n", m->qos_class);
	}
	if (m->p_key >= 0) {
		fprintf(f, "pkey: 0x%x\n", m->p_key);
	}
	if (m->sources) {
		fprintf(f, "source: s%u\n", number);
	}
	if (m->destinations) {
		fprintf(f, "destination: d%u\n", number);
	}
	fputs("end-qos-match-rule\nend-qos-match-rules\n", f);
}

static struct model_rule random_rule(void)
{
	return (struct model_rule){
		.service = below(3) ? -1 : (int)below(6),
		.qos_class = below(3) ? -1 : (int)below(3),
		.p_key = below(4) ? -1 : below(2) ? 0x7fff : 0x22,
		.sl = (int)below(16),
		.sources = below(2) ? 0 : 1 + below(255),
		.destinations = below(2) ? 0 : 1 + below(255),
	};
}

static int model_sl(const struct model_rule *m, unsigned n, const struct path_query *q,
                    unsigned src, unsigned dst)
{
	for (unsigned i = 0; i < n; i++) {
		bool fits = m[i].service < 0 ||
		            (q->has_service_id && (int)q->service_id >= m[i].service &&
		             (int)q->service_id <= m[i].service + 1);
		fits = fits && (m[i].qos_class < 0 ||
		                (q->has_qos_class && q->qos_class == m[i].qos_class));
		fits = fits && (m[i].p_key < 0 ||
		                (q->has_p_key && (q->p_key & 0x7fff) == m[i].p_key));
		fits = fits && (!m[i].sources || (m[i].sources >> src & 1));
		fits = fits && (!m[i].destinations || (m[i].destinations >> dst & 1));
		if (fits) {
			return m[i].sl;
		}
	}
	return 0;
}

/* As many rules as take several words of a set. */
START_TEST(random_policies)
{
	enum { RULES = 150 };
	struct model_rule m[RULES];
	char *text = NULL;
	size_t len = 0;
	unsigned n = _i % 2 ? RULES : 1 + (unsigned)_i;

	seed = (uint32_t)_i * 7919 + 1;
	FILE *f = open_memstream(&text, &len);
	fputs("qos-ulps\ndefault : 0\nend-qos-ulps\n", f);
	for (unsigned i = 0; i < n; i++) {
		m[i] = random_rule();
		write_rule(f, &m[i], i);
	}
	fclose(f);
	use_policy(text);
	free(text);
	for (unsigned k = 0; k < 400; k++) {
		unsigned src = below(8), dst = below(8);
		struct path_query q = between(guids[src], guids[dst]);
		struct path_record rec;
		size_t got = 0;

		q.has_service_id = below(2);
		q.service_id = below(7);
		q.has_qos_class = below(2);
		q.qos_class = (uint16_t)below(3);
		q.has_p_key = below(2);
		q.p_key = below(2) ? 0x7fff : 0xffff;
		ck_assert_int_eq(path_query_run(w->r, &q, &rec, 1, &got), E_OK);
		ck_assert_uint_eq(got, 1);
		ck_assert_msg(rec.sl == model_sl(m, n, &q, src, dst),
		              "round %d query %u: SL %u, the model says %d", _i, k,
		              rec.sl, model_sl(m, n, &q, src, dst));
	}
}
END_TEST

/* --- virtual fabrics -------------------------------------------------------------- */

#define GROUP(name, in) "<DeviceGroup><Name>" name "</Name>" in "</DeviceGroup>\n"
#define PORT(guid) "<PortGUID>" guid "</PortGUID>"
#define APP(name, in) "<Application><Name>" name "</Name>" in "</Application>\n"
#define VF(name, in)                                                                     \
	"<VirtualFabric><Name>" name "</Name><Enable>1</Enable>" in "</VirtualFabric>\n"

static const char fabrics_file[] = "<Common>\n<DeviceGroups>\n" GROUP(
	"Alpha", PORT("0x102") PORT("0x302")) GROUP("Beta", PORT("0x202") PORT("0x402"))
	GROUP("Gamma", PORT("0x102")) "</DeviceGroups>\n<Applications>\n" APP(
		"Store", "<ServiceID>0x100</ServiceID><MGID>0xff12:0x7</MGID>")
		APP("More",
                    "<IncludeApplication>Store</IncludeApplication><ServiceIDRange>0x200-0x20f</ServiceIDRange><ServiceIDMasked>0x1000*0xf000</ServiceIDMasked>")
			APP("Rest", "<Select>UnmatchedServiceID</Select>")
				APP("Guard", "<ServiceID>0x300</ServiceID>") "</Applications>\n<VirtualFabrics>\n" VF(
					"Plain",
					"<PKey>0x1</PKey><Member>All</Member><Application>Rest</Application>")
					VF("Fast",
                                           "<PKey>0x22</PKey><QOS>1</QOS><BaseSL>4</BaseSL><MaxMTU>2048</MaxMTU><MaxRate>25g</MaxRate><PktLifeTimeMult>4</PktLifeTimeMult><Bandwidth>30%</Bandwidth><Member>Alpha</Member><Application>More</Application>")
						VF("Guarded",
                                                   "<PKey>0x33</PKey><QOS>1</QOS><BaseSL>6</BaseSL><Security>1</Security><Member>Gamma</Member><LimitedMember>Beta</LimitedMember><Application>Guard</Application>")
							VF("Asleep",
                                                           "<PKey>0x44</PKey><Standby>1</Standby><Member>All</Member><Application>Rest</Application>") "</VirtualFabrics>\n</Common>\n";

static const struct virtual_fabrics *read_fabrics(const char *text)
{
	const struct device_groups *groups = device_groups_builtin();
	const struct virtual_fabrics *v = NULL;
	struct vf_sections s = { .n_fabrics = 1, .n_applications = 1 };
	struct xml_element *root, *own;

	diags_init(&d, w->a);
	ck_assert_int_eq(xml_parse("v.xml", text, strlen(text), w->a, &d, &root), E_OK);
	own = xml_child(root, "DeviceGroups");
	if (own != NULL) {
		ck_assert_int_eq(
			device_groups_parse("v.xml", &own, 1, w->a, &d, &groups), E_OK);
	}
	s.fabrics[0] = xml_child(root, "VirtualFabrics");
	s.applications[0] = xml_child(root, "Applications");
	int ret = virtual_fabrics_parse("v.xml", &s, groups, w->a, &d, &v);
	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&d));
	return v;
}

static void use_fabrics(bool enforce)
{
	struct policy_in in = { .qos = true, .enforce = enforce };

	in.fabrics = read_fabrics(fabrics_file);
	publish(&in);
	ck_assert_uint_eq(d.n_warnings, 0);
}

struct case_of_fabrics {
	const char *what;
	uint64_t src, dst;
	int64_t service, p_key, asked_sl; /* -1: not asked for */
	bool tables, no_enforce;
	int ret;
	unsigned n;
	uint8_t sl[3]; /* in the order of the file */
	uint16_t last_key;
};

/* clang-format off */
static const struct case_of_fabrics fabric_cases[] = {
	{ "both are members of two",   0x102, 0x302, -1,     -1, -1, false, false, E_OK, 2, { 0, 4 }, 0xffff },
	{ "members of one",            0x202, 0x402, -1,     -1, -1, false, false, E_OK, 1, { 0 },    0xffff },
	{ "full and limited",          0x102, 0x202, -1,     -1, -1, false, false, E_OK, 2, { 0, 6 }, 0xffff },
	{ "its service",               0x102, 0x302, 0x100,  -1, -1, false, false, E_OK, 1, { 4 },    0xffff },
	{ "a range",                   0x102, 0x302, 0x20f,  -1, -1, false, false, E_OK, 1, { 4 },    0xffff },
	{ "masked",                    0x102, 0x302, 0x1abc, -1, -1, false, false, E_OK, 1, { 4 },    0xffff },
	{ "nobody's service",          0x102, 0x302, 0x9999, -1, -1, false, false, E_OK, 1, { 0 },    0xffff },
	{ "another one's service",     0x102, 0x302, 0x300,  -1, -1, false, false, E_POLICY, 0, { 0 }, 0 },
	{ "guarded, full and limited", 0x102, 0x202, 0x300,  -1, -1, false, false, E_OK, 1, { 6 },    0xffff },
	{ "guarded, both limited",     0x202, 0x402, 0x300,  -1, -1, false, false, E_POLICY, 0, { 0 }, 0 },
	{ "an SL",                     0x102, 0x302, -1,     -1,  4, false, false, E_OK, 1, { 4 },    0xffff },
	{ "nobody's SL",               0x102, 0x302, -1,     -1,  6, false, false, E_OK, 0, { 0 },    0 },
	{ "the P_Key there is",        0x102, 0x302, -1, 0x7fff, -1, false, false, E_OK, 2, { 0, 4 }, 0xffff },
	{ "a P_Key in no table",       0x102, 0x302, -1,   0x22, -1, false, false, E_POLICY, 0, { 0 }, 0 },
	{ "a P_Key in both tables",    0x102, 0x302, -1,   0x22, -1, true,  false, E_OK, 1, { 4 },    0x8022 },
	{ "each its P_Key",            0x102, 0x302, -1,     -1, -1, true,  false, E_OK, 2, { 0, 4 }, 0x8022 },
	{ "not enforced",              0x202, 0x402, 0x100,  -1, -1, false, true,  E_OK, 3, { 0, 4, 6 }, 0xffff },
	{ "a limited port and itself", 0x202, 0x202, 0x300,  -1, -1, false, false, E_OK, 1, { 6 },    0xffff },
};
/* clang-format on */

START_TEST(virtual_fabric_rules)
{
	const struct case_of_fabrics *c = &fabric_cases[_i];
	struct path_record rec[8];
	size_t n = 0;

	if (c->tables) {
		table(HOST, 1, 2, (uint16_t[]){ 0xffff, 0x8022 });
		table(TWIN_1, 1, 2, (uint16_t[]){ 0x0022, 0xffff });
	}
	use_fabrics(!c->no_enforce);
	struct path_query q = between(c->src, c->dst);
	q.has_service_id = c->service >= 0;
	q.service_id = (uint64_t)c->service;
	q.has_p_key = c->p_key >= 0;
	q.p_key = (uint16_t)c->p_key;
	q.has_sl = c->asked_sl >= 0;
	q.sl = (uint8_t)c->asked_sl;
	ck_assert_msg(path_query_run(w->r, &q, rec, 8, &n) == c->ret, "%s", c->what);
	ck_assert_msg(n == c->n, "%s: %zu records", c->what, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(rec[i].sl == c->sl[i], "%s: SL %u", c->what, rec[i].sl);
	}
	if (n != 0) {
		ck_assert_msg(rec[n - 1].p_key == c->last_key, "%s: P_Key %x", c->what,
		              rec[n - 1].p_key);
	}
	q.numb_path = 1;
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 8, &n), c->ret);
	ck_assert_uint_eq(n, c->n != 0);
}
END_TEST

/* Without QoS ports have no tables for other SLs, so all virtual fabrics are on SL 0. */
START_TEST(virtual_fabrics_without_qos)
{
	struct policy_in in = { .qos = false, .enforce = true };
	const struct policy *p;
	struct path_record rec[8];
	size_t n = 0;

	in.fabrics = read_fabrics(fabrics_file);
	publish(&in);
	ck_assert_int_eq(snap_policy(w->r, &p), E_OK);
	ck_assert_uint_eq(p->head.n_fabrics, 3);
	for (uint32_t i = 0; i < p->head.n_fabrics; i++) {
		ck_assert_uint_eq(p->levels[i].sl, 0);
		ck_assert_uint_eq(p->levels[i].qos, p->levels[0].qos);
		ck_assert_uint_eq(p->levels[i].p_key, p->fabrics[i].p_key);
	}
	ck_assert_uint_eq(d.n_warnings, 2); /* two have an SL of their own */
	struct path_query q = between(0x102, 0x302);
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 8, &n), E_OK);
	ck_assert_uint_gt(n, 0);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(rec[i].sl, 0);
	}
}
END_TEST

START_TEST(virtual_fabric_limits)
{
	struct path_record rec[4];
	size_t n = 0;

	use_fabrics(true);
	struct path_query q = between(0x102, 0x302);
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 4, &n), E_OK);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(rec[0].mtu, 5);
	ck_assert_uint_eq(rec[0].rate, R_40);
	ck_assert_uint_eq(rec[0].packet_life_time, FIXTURE_LIFE_TIME);
	ck_assert_uint_eq(rec[1].mtu, 4);
	ck_assert_uint_eq(rec[1].rate, 15); /* 25 Gb/s */
	ck_assert_uint_eq(rec[1].packet_life_time, FIXTURE_LIFE_TIME + 2);
}
END_TEST

/* Those of one P_Key and SL are one, with the stricter limits of both. */
START_TEST(virtual_fabrics_joined)
{
	struct policy_in in = { .qos = true, .enforce = true };
	struct path_record rec[8];
	size_t n = 0;

	in.fabrics = read_fabrics(
		"<Common>\n<VirtualFabrics>\n" VF(
			"A", "<PKey>0x1</PKey><Member>All</Member><MaxMTU>2048</MaxMTU>")
			VF("B", "<PKey>0x2</PKey><QOS>1</QOS><Member>All</Member>") VF(
				"C",
				"<PKey>0x3</PKey><Member>All</Member><MaxRate>10g</MaxRate>") "</VirtualFabrics>\n<Applications>\n</Applications>\n</Common>\n");
	publish(&in);
	struct path_query q = between(0x102, 0x302);
	q.mode = PATH_PAIRWISE;
	ck_assert_int_eq(path_query_run(w->r, &q, rec, 8, &n), E_OK);
	ck_assert_uint_eq(n, 4); /* two pairs of LIDs, twice */
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(rec[i].sl, i / 2); /* B has the next SL */
		ck_assert_uint_eq(rec[i].mtu, i < 2 ? 4 : 5);
		ck_assert_uint_eq(rec[i].rate, i < 2 ? R_10 : R_40);
		ck_assert_uint_eq(rec[i].slid, q.src.base_lid + i % 2);
	}
}
END_TEST

/* Whichever allocation fails, there is no policy, and no half of one. The next attempt has all of it. */
START_TEST(without_memory)
{
	struct policy_in in = { .qos = true, .enforce = true };
	const struct policy *whole, *p;

	if (_i == 0) {
		in.fabrics = read_fabrics(fabrics_file);
	} else {
		ck_assert_int_eq(qos_policy_parse("q", rules, strlen(rules), w->a, NULL,
		                                  &in.policy),
		                 E_OK);
	}
	complete(&in);
	in.d = NULL; /* a warning may be lost */
	ck_assert_int_eq(policy_compile(&in, w->a, &whole), E_OK);
	for (size_t n = 1;; n++) {
		p = NULL;
		alloc_fail_at(n);
		int ret = policy_compile(&in, w->a, &p);

		if (!alloc_fail_end()) {
			ck_assert_int_eq(ret, E_OK);
			ck_assert_uint_gt(n, 3);
			break;
		}
		ck_assert_int_eq(ret, -ENOMEM);
		ck_assert_ptr_null(p);
	}
	ck_assert_mem_eq(&p->head, &whole->head, sizeof(p->head));
	ck_assert_mem_eq(p->levels, whole->levels, p->head.n_levels * sizeof(*p->levels));
}
END_TEST

/* What VFInfo records show. */
START_TEST(virtual_fabric_table)
{
	const struct policy *p;

	use_fabrics(true);
	ck_assert_int_eq(snap_policy(w->r, &p), E_OK);
	ck_assert_uint_eq(p->head.kind, POLICY_EACH);
	ck_assert_uint_eq(p->head.n_fabrics, 3);
	const struct policy_fabric *f = &p->fabrics[1];
	ck_assert_str_eq(f->name, "Fast");
	ck_assert_uint_eq(f->p_key, 0x22);
	ck_assert_uint_eq(f->sl, 4);
	ck_assert_uint_eq(f->multicast_sl, 4);
	ck_assert_uint_eq(f->mtu, 4);
	ck_assert_uint_eq(f->rate, 15);
	ck_assert_uint_eq(f->life_time_mult, 2);
	ck_assert_uint_eq(f->bandwidth, 30);
	ck_assert_uint_eq(f->hoq_life, 0xff);
	ck_assert_uint_eq(f->flags, FABRIC_QOS);
	ck_assert_uint_eq(f->services.n, 3);
	ck_assert_uint_eq(f->mgids.n, 1);
	ck_assert_uint_eq(p->ids[f->mgids.first].a_high, 0xff12);
	ck_assert_uint_eq(p->ids[f->services.first].b_low, 0x20f);
	ck_assert_uint_eq(p->fabrics[0].flags, FABRIC_UNMATCHED_SERVICE);
	ck_assert_uint_eq(p->fabrics[2].flags, FABRIC_QOS | FABRIC_SECURITY);
}
END_TEST

TEST_SUITE(policy)
{
	TCase *tc = tcase_create("policy"), *lmc = tcase_create("lmc");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 60); /* many publishes, under sanitizers */
	tcase_add_loop_test(tc, match_rules, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, selectors_after_limits);
	tcase_add_test(tc, dropped_sl);
	tcase_add_test(tc, no_policy);
	tcase_add_test(tc, sl_of_partitions);
	tcase_add_test(tc, damaged_policy);
	tcase_add_test(tc, levels_of_lanes);
	tcase_add_loop_test(tc, random_policies, 0, 40);
	tcase_add_loop_test(tc, virtual_fabric_rules, 0,
	                    sizeof(fabric_cases) / sizeof(fabric_cases[0]));
	tcase_add_test(tc, virtual_fabric_limits);
	tcase_add_test(tc, virtual_fabrics_without_qos);
	tcase_add_test(tc, virtual_fabric_table);
	tcase_add_loop_test(tc, without_memory, 0, 2);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(lmc, start_lmc, stop);
	tcase_add_test(lmc, virtual_fabrics_joined);
	suite_add_tcase(suite, lmc);
}

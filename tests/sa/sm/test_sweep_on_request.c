/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SL-to-VL and VL arbitration tables while quality of service is off: nothing is read
 * until somebody asks for their records, then they are what the ports have.
 *
 * Between the sweep and the simulated fabric every answer with such a table is made to
 * tell which one it is, so that none can pass for another.
 */
#include <pthread.h>
#include <time.h>

#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/server/server.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum {
	SLVL_RECORD = 0x13,
	ARB_RECORD = 0x36,
	BY_LID = 1,
	BY_ALL = 7, /* LID and the two numbers behind it */
	NO_RECORDS = 0x0300,
	ARB_SIM_BYTES = 16, /* the simulation's ports hold 8 pairs */
	WAIT_SECONDS = 60
};

/* --- between the sweep and the fabric ----------------------------------------------- */

static struct transport *fabric;
static uint8_t request[MAD_BYTES], changed[MAD_BYTES];
static struct mad_msg request_msg;
static bool has_request;

static bool is_table(uint16_t attr)
{
	return attr == UMAD_SM_ATTR_SLVL_TABLE || attr == UMAD_SM_ATTR_VL_ARB_TABLE;
}

static int between_send(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	return fabric->ops->send(fabric, m);
}

/* The first bytes of a table: its modifier, and the last hop to its node. */
static void mark(uint8_t *data, uint32_t mod, const uint8_t *path, unsigned hops)
{
	field_set(data, 0, 32, mod);
	data[4] = hops ? path[hops] : 0xee;
	data[5] = (uint8_t)hops;
}

static int between_recv(struct transport *t, uint64_t deadline, struct mad_msg *ret_msg)
{
	int ret;

	(void)t;
	if (has_request) {
		has_request = false;
		*ret_msg = request_msg;
		return E_OK;
	}
	ret = fabric->ops->recv(fabric, deadline, ret_msg);
	if (ret == E_OK && ret_msg->data[3] == UMAD_METHOD_GET_RESP &&
	    is_table((uint16_t)field_get(ret_msg->data, MAD_ATTR_ID))) {
		memcpy(changed, ret_msg->data, MAD_BYTES);
		mark(changed + SMP_DATA_AT, (uint32_t)field_get(changed, MAD_ATTR_MOD),
		     changed + SMP_INITIAL_PATH_AT,
		     (unsigned)field_get(changed, SMP_HOP_COUNT));
		ret_msg->data = changed;
	}
	return ret;
}

static uint64_t between_now(struct transport *t)
{
	(void)t;
	return fabric->ops->now_ms(fabric);
}

static void between_wake(struct transport *t)
{
	(void)t;
	fabric->ops->wake(fabric);
}

static int between_set_issm(struct transport *t, bool on)
{
	(void)t;
	return fabric->ops->set_issm(fabric, on);
}

static const struct transport_ops between_ops = { .name = "between",
	                                          .send = between_send,
	                                          .recv = between_recv,
	                                          .wake = between_wake,
	                                          .now_ms = between_now,
	                                          .set_issm = between_set_issm };

/* --- what the SA answers -------------------------------------------------------------
 */

static struct {
	struct transport t;
	pthread_mutex_t lock;
	pthread_cond_t more;
	unsigned n;
	uint8_t *data;
	size_t len;
} answers = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

static int answers_send(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	pthread_mutex_lock(&answers.lock);
	free(answers.data);
	answers.data = malloc(m->len);
	ck_assert_ptr_nonnull(answers.data);
	memcpy(answers.data, m->data, m->len);
	answers.len = m->len;
	answers.n++;
	pthread_cond_broadcast(&answers.more);
	pthread_mutex_unlock(&answers.lock);
	return E_OK;
}

static void answers_wake(struct transport *t)
{
	(void)t;
}

static const struct transport_ops answers_ops = { .name = "answers",
	                                          .send = answers_send,
	                                          .wake = answers_wake };

static int origin_send(struct sa_origin *origin, const struct mad_addr *to,
                       const uint8_t *data, size_t len)
{
	const struct mad_msg m = { .data = (uint8_t *)data, .len = len };

	(void)origin;
	ck_assert_uint_eq(to->qpn, 77);
	ck_assert_ptr_nonnull(data);
	return answers_send(NULL, &m);
}

static struct sa_origin origin = { .send = origin_send };

static unsigned n_answers(void)
{
	pthread_mutex_lock(&answers.lock);
	unsigned n = answers.n;
	pthread_mutex_unlock(&answers.lock);
	return n;
}

static unsigned status(void)
{
	return (unsigned)field_get(answers.data, MAD_STATUS);
}

static size_t n_records(void)
{
	size_t stride = 8 * (size_t)field_get(answers.data, 352, 16);

	return stride ? (answers.len - SA_HDR_BYTES) / stride : 0;
}

/* --- the fixture --------------------------------------------------------------------------
 */

static struct sweep_fixture *fixture;
static struct transport between;
static struct sa_server *server;
static unsigned asked;

static void start(const char *topo)
{
	fixture = fixture_new();
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	fabric = sim_transport(fixture->sim);
	between = (struct transport){ .ops = &between_ops, .local = fabric->local };
	fixture->transport = &between;
	fixture->config.sweep_interval = 0;
	fixture->config.audit_interval = 0;
	answers.t.ops = &answers_ops;
	fixture_start(fixture);
	fixture_serve(fixture, &answers.t);
	server = fixture->deps.sa;
	fixture_up(fixture);
}

static void teardown(void)
{
	fixture_free(fixture);
	free(answers.data);
}

static uint64_t gets(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_SLVL_TABLE) +
	       sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_VL_ARB_TABLE);
}

static uint32_t lid_of(uint32_t node)
{
	const struct node *n = &fixture->g->nodes[node];
	unsigned first = n->type == NODE_SWITCH ? 0 : 1;

	return (uint32_t)fixture_peek(fixture, n->first_port + first, PI_LID);
}

static uint32_t a_host(void)
{
	for (uint32_t i = 0; i < fixture->g->n_nodes; i++) {
		if (fixture->g->nodes[i].type != NODE_SWITCH &&
		    i != fixture->g->ports[fixture->g->sm_port].node) {
			return i;
		}
	}
	ck_abort_msg("no host");
}

/* A request on its way into the sweep. */
static void ask(uint8_t method, uint16_t attr, uint64_t mask, uint32_t lid, unsigned a,
                unsigned b)
{
	memset(request, 0, sizeof(request));
	request[0] = 1;
	request[1] = UMAD_CLASS_SUBN_ADM;
	request[2] = 2;
	request[3] = method;
	field_set(request, MAD_ATTR_ID, attr);
	field_set(request, 384, 64, mask); /* ComponentMask */
	field_set(request + SA_HDR_BYTES, 0, 16, lid);
	request[SA_HDR_BYTES + 2] = (uint8_t)a;
	request[SA_HDR_BYTES + 3] = (uint8_t)b;
	request_msg = (struct mad_msg){ .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                        .len = MAD_BYTES,
		                        .data = request,
		                        .addr = { .lid = lid_of(a_host()), .qpn = 1 } };
	has_request = true;
	asked++;
}

static void answered(void)
{
	time_t end = time(NULL) + WAIT_SECONDS;

	while (n_answers() < asked && time(NULL) < end) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_uint_eq(n_answers(), asked);
}

static void ask_one(uint16_t attr, uint32_t lid, unsigned a, unsigned b)
{
	ask(UMAD_METHOD_GET, attr, BY_ALL, lid, a, b);
	answered();
}

/* The answer is the table with this modifier of the node at the end of the SM's cable. */
static void check_first_switch(const uint8_t *table, uint32_t mod)
{
	ck_assert_uint_eq(field_get(table, 0, 32), mod);
	ck_assert_uint_eq(table[4], fixture->g->ports[fixture->g->sm_port].num);
	ck_assert_uint_eq(table[5], 1);
}

static uint32_t first_switch(void)
{
	return fixture->g->ports[fixture->g->ports[fixture->g->sm_port].peer].node;
}

/* Tables of a node as the specification counts them, as far as the ports here have them:
 * 2 arbitration blocks that hold something, and a SL-to-VL table per port in. */
static unsigned tables_of(uint32_t node)
{
	const struct node *n = &fixture->g->nodes[node];
	unsigned in = n->type == NODE_SWITCH ? n->n_ports + 1u : 1;

	return n->n_ports * (2 + in);
}

/* --- tests
 * ------------------------------------------------------------------------------ */

START_TEST(what_ports_have)
{
	start("ft2 4 4 2");
	uint32_t sw = first_switch(), lid = lid_of(sw);

	ck_assert_uint_eq(gets(), 0);
	for (unsigned out = 1; out <= fixture->g->nodes[sw].n_ports; out++) {
		for (unsigned in = 0; in <= fixture->g->nodes[sw].n_ports; in++) {
			ask_one(SLVL_RECORD, lid, in, out);
			ck_assert_uint_eq(status(), 0);
			check_first_switch(answers.data + SA_HDR_BYTES + 8,
			                   in << 8 | out);
		}
		for (unsigned block = 1; block <= 3; block += 2) {
			ask_one(ARB_RECORD, lid, out, block);
			ck_assert_uint_eq(status(), 0);
			check_first_switch(answers.data + SA_HDR_BYTES + 8,
			                   block << 16 | out);
		}
	}
	ask_one(SLVL_RECORD, lid_of(a_host()), 0, 0);
	ck_assert_uint_eq(field_get(answers.data + SA_HDR_BYTES + 8, 0, 32), 0);
	ck_assert_uint_eq(answers.data[SA_HDR_BYTES + 8 + 5], 2); /* hops */
	ask_one(ARB_RECORD, lid_of(a_host()), 0, 3);
	ck_assert_uint_eq(field_get(answers.data + SA_HDR_BYTES + 8, 0, 32), 3 << 16);
}
END_TEST

/* All tables, each asked for once, however many ask how often; also those without a
 * cable. */
START_TEST(read_once)
{
	unsigned want = 0, slvl = 0, arb = 0;

	start(_i ? "ft2 4 4 2" : "ft2 6 4 2");
	for (uint32_t i = 0; i < fixture->g->n_nodes; i++) {
		const struct node *n = &fixture->g->nodes[i];
		bool sw = n->type == NODE_SWITCH;

		want += tables_of(i);
		slvl += sw ? (n->n_ports + 1u) * (n->n_ports + 1u) : n->n_ports;
		arb += 4 * (n->n_ports + sw);
	}
	ask(UMAD_SA_METHOD_GET_TABLE, SLVL_RECORD, 0, 0, 0, 0);
	answered();
	ck_assert_uint_eq(status(), 0);
	ck_assert_uint_eq(n_records(), slvl);
	ck_assert_uint_eq(gets(), want);
	ask(UMAD_SA_METHOD_GET_TABLE, ARB_RECORD, 0, 0, 0, 0);
	answered();
	ck_assert_uint_eq(n_records(), arb);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 3000);
	fixture_up(fixture);
	ask_one(SLVL_RECORD, lid_of(first_switch()), 0, 1);
	ck_assert_uint_eq(status(), 0);
	ck_assert_uint_eq(gets(), want);
}
END_TEST

/* A restarted node may have other tables. */
START_TEST(restarted)
{
	start("ft2 4 4 2");
	ask(UMAD_SA_METHOD_GET_TABLE, SLVL_RECORD, 0, 0, 0, 0);
	answered();
	uint64_t before = gets();
	uint32_t sw = first_switch();

	ck_assert_int_eq(sim_reboot(fixture->sim, fixture->g->nodes[sw].guid), E_OK);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5000);
	fixture_up(fixture);
	ck_assert_uint_eq(gets(), before);
	ask_one(SLVL_RECORD, lid_of(sw), 1, 2);
	ck_assert_uint_eq(status(), 0);
	check_first_switch(answers.data + SA_HDR_BYTES + 8, 1 << 8 | 2);
	ck_assert_uint_ge(gets(), before + tables_of(sw));
}
END_TEST

/* A node that is silent costs no answer: its tables show as none, and are asked for again
 * after the next sweep. */
START_TEST(silent)
{
	start("ft2 4 4 2");
	uint32_t sw = first_switch(), host = a_host();

	ck_assert_int_eq(sim_set_deaf(fixture->sim, fixture->g->nodes[host].guid, true),
	                 E_OK);
	ask(UMAD_METHOD_GET, SLVL_RECORD, BY_ALL, lid_of(host), 0, 0);
	while (has_request) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	fixture_run_ms(fixture, 20000);
	answered();
	ck_assert_uint_eq(status(), NO_RECORDS);
	ask_one(SLVL_RECORD, lid_of(sw), 1, 2);
	ck_assert_uint_eq(status(), 0);
	ck_assert_int_eq(sim_set_deaf(fixture->sim, fixture->g->nodes[host].guid, false),
	                 E_OK);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5000);
	fixture_up(fixture);
	ask_one(SLVL_RECORD, lid_of(host), 0, 0);
	ck_assert_uint_eq(status(), 0);
}
END_TEST

/* Omni-Path's records of the same tables: a request of class version 0x80. */
static void ask_opa(uint16_t attr, uint32_t lid)
{
	ask(UMAD_METHOD_GET, attr, BY_LID, 0, 0, 0);
	request[0] = request[2] = 0x80;
	field_set(request + SA_HDR_BYTES, 0, 32, lid);
	answered();
}

START_TEST(omni_path)
{
	enum { SC_TO_SL = 0x81, SC_TO_VLNT, SC_TO_VLT, MAP_AT = SA_HDR_BYTES + 8 };
	unsigned want = 0;

	start("ft2 4 4 2");
	uint32_t lid = lid_of(a_host());
	ask_opa(UMAD_SA_ATTR_NODE_REC, lid);
	ck_assert_uint_eq(gets(), 0);
	ask_opa(SC_TO_VLT, lid);
	ck_assert_uint_eq(status(), 0);
	ck_assert_uint_gt(gets(), 0);
	/* the table's sixth byte tells hops: SLs 10 and 11 */
	ck_assert_uint_eq(answers.data[MAP_AT + 10], 0);
	ck_assert_uint_eq(answers.data[MAP_AT + 11], 2);
	ask_opa(SC_TO_SL, lid);
	ck_assert_uint_eq(status(), 0);
	/* of the neighbour: a switch, whose tables here differ by port in; all are read
	 */
	ask_opa(SC_TO_VLNT, lid);
	ck_assert_uint_eq(status(), NO_RECORDS);
	for (uint32_t i = 0; i < fixture->g->n_nodes; i++) {
		want += tables_of(i);
	}
	ck_assert_uint_eq(gets(), want);
}
END_TEST

/* Attributes whose records are made of these tables, in either layout; no others. */
START_TEST(which_attributes)
{
	static const struct {
		uint8_t version, attr;
	} kinds[] = { { 2, SLVL_RECORD },   { 2, ARB_RECORD }, { 0x80, 0x13 },
		      { 0x80, ARB_RECORD }, { 0x80, 0x80 },    { 0x80, 0x81 },
		      { 0x80, 0x82 },       { 0x80, 0x83 } };

	for (unsigned i = 0; i < n_sa_attrs; i++) {
		const struct sa_attr *attr = sa_attrs[i];
		bool is_one = false;

		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			is_one |= attr->version == kinds[k].version &&
			          attr->id == kinds[k].attr;
		}
		ck_assert_msg(attr->tables_on_request == is_one, "%s", attr->name);
	}
}
END_TEST

static void *over_tcp(void *ctx)
{
	(void)ctx;
	request_msg.addr =
		(struct mad_addr){ .lid = 0x80000001, .qpn = 77, .origin = &origin };
	has_request = false;
	sa_server_receive(server, &request_msg, 1, true);
	return NULL;
}

/* By another thread. */
static void ask_over_tcp(uint16_t attr, uint32_t lid, unsigned a, unsigned b)
{
	pthread_t thread;

	ask(UMAD_METHOD_GET, attr, BY_ALL, lid, a, b);
	ck_assert_int_eq(pthread_create(&thread, NULL, over_tcp, NULL), 0);
	pthread_join(thread, NULL);
}

/* For a request over TCP the tables are read as well, once; for other attributes none. */
START_TEST(requests_over_tcp)
{
	start("ft2 4 4 2");
	uint32_t sw = first_switch(), lid = lid_of(sw);

	ask_over_tcp(UMAD_SA_ATTR_NODE_REC, lid, 0, 0);
	answered();
	ck_assert_uint_eq(gets(), 0);
	ask_over_tcp(SLVL_RECORD, lid, 1, 2);
	answered();
	ck_assert_uint_eq(status(), 0);
	check_first_switch(answers.data + SA_HDR_BYTES + 8, 1 << 8 | 2);
	uint64_t before = gets();
	ck_assert_uint_ge(before, tables_of(sw));
	ask_over_tcp(ARB_RECORD, lid, 1, 1); /* nothing is left to read */
	answered();
	ck_assert_uint_eq(status(), 0);
	check_first_switch(answers.data + SA_HDR_BYTES + 8, 1 << 16 | 1);
	ck_assert_uint_eq(gets(), before);
}
END_TEST

/* Many of a moment: the sweep takes all before it looks at the first. */
START_TEST(many_over_tcp)
{
	unsigned want = 0;

	start("ft2 4 4 2");
	for (uint32_t i = 0; i < fixture->g->n_nodes; i++) {
		want += tables_of(i);
		ask_over_tcp(ARB_RECORD, lid_of(i), 1, 1);
	}
	answered();
	ck_assert_uint_eq(gets(), want);
}
END_TEST

/* Nobody's LID, another record, nonsense: nothing is read and nobody waits. */
START_TEST(not_for_these)
{
	start("ft2 4 4 2");
	ask_one(SLVL_RECORD, 0xbfff, 0, 1);
	ck_assert_uint_eq(status(), NO_RECORDS);
	ask(UMAD_METHOD_GET, UMAD_SA_ATTR_NODE_REC, BY_LID, lid_of(first_switch()), 0, 0);
	answered();
	ck_assert_uint_eq(status(), 0);
	ask(UMAD_METHOD_SET, SLVL_RECORD, BY_LID, lid_of(first_switch()), 0, 0);
	answered();
	ck_assert_uint_eq(status(), 0x000c);
	ck_assert_uint_eq(gets(), 0);
}
END_TEST

/* Requests of a moment, many of them: all are answered, each node is read once. */
START_TEST(many_at_once)
{
	start("ft2 6 6 3");
	for (unsigned i = 0; i < 400; i++) {
		uint32_t node = i % fixture->g->n_nodes;

		ask(UMAD_METHOD_GET, ARB_RECORD, BY_ALL, lid_of(node), 1, 1);
		while (has_request) {
			ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		}
	}
	answered();
	unsigned want = 0;
	for (uint32_t i = 0; i < fixture->g->n_nodes; i++) {
		want += tables_of(i);
	}
	ck_assert_uint_eq(gets(), want);
}
END_TEST

/* Requests that wait while the daemon ends are freed with it, wherever they came in. */
START_TEST(the_end)
{
	start("ft2 4 4 2");
	ask(UMAD_METHOD_GET, ARB_RECORD, BY_ALL, lid_of(first_switch()), 1, 1);
	while (has_request) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ask_over_tcp(ARB_RECORD, lid_of(first_switch()), 1, 1);
	asked = 0;
}
END_TEST

/* Statics of this file keep what a case leaves in them. */
TEST_SUITE_FORKED(sweep_on_request)
{
	TCase *t = tcase_create("tables");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, what_ports_have);
	tcase_add_loop_test(t, read_once, 0, 2);
	tcase_add_test(t, restarted);
	tcase_add_test(t, silent);
	tcase_add_test(t, omni_path);
	tcase_add_test(t, not_for_these);
	tcase_add_test(t, many_at_once);
	tcase_add_test(t, requests_over_tcp);
	tcase_add_test(t, many_over_tcp);
	tcase_add_test(t, the_end);
	suite_add_tcase(suite, t);
	TCase *attributes = tcase_create("attributes");
	tcase_add_test(attributes, which_attributes);
	suite_add_tcase(suite, attributes);
}

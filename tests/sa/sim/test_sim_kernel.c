/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <config.h>

#include "tests/lib/sim_fixture.h"

#include "sa/sim/sim_kernel.h"
#include "sa/sim/sim_state.h"
#include "tests/lib/suite.h"

/*
 * The MAD layer of simulated kernels on the virtual clock: two hosts, a file each.
 * Expectations on RMPP are the specification's (IBA vol. 1, 13.6), those on umad what the
 * kernel's documentation of user MADs says.
 *
 * Longer than most: agents, time-outs and RMPP of both ends share the two hosts.
 */

enum {
	SA_HDR = 56,
	SA_DATA = 200,
	RMPP_ACTIVE = 1,
	RMPP_FIRST = 2,
	RMPP_LAST = 4,
	GET_TABLE = UMAD_SA_METHOD_GET_TABLE,
	GET_TABLE_RESP = 0x92,
	UNSUPPORTED = 0x000C
};

static struct kernel *k;
static struct kernel_file *f1, *f2; /* of h1 and h2 */
static uint64_t now_us;

static uint32_t port_index(uint64_t guid)
{
	return graph_port_by_guid(fixture.g, guid);
}

static void setup_kernel(void)
{
	setup();
	program();
	activate();
	now_us = 1000 * fixture.t->ops->now_ms(fixture.t) + 1000;
	ck_assert_int_eq(kernel_new(fixture.s, NULL, &k), E_OK);
	ck_assert_int_eq(kernel_open(k, port_index(H1 + PORT1), NULL, &f1), E_OK);
	ck_assert_int_eq(kernel_open(k, port_index(H2 + PORT1), NULL, &f2), E_OK);
	kernel_run(k, now_us);
}

static void teardown_kernel(void)
{
	kernel_free(k);
	teardown();
}

static void run_ms(uint64_t ms)
{
	now_us += 1000 * ms;
	kernel_run(k, now_us);
}

static uint64_t bit(uint8_t method)
{
	return 1ull << method;
}

static uint32_t agent(struct kernel_file *f, uint8_t mgmt_class, uint8_t version,
                      uint64_t methods, uint8_t rmpp)
{
	uint32_t id;
	struct kernel_agent_row row = {
		.qpn = mgmt_class != UMAD_CLASS_SUBN_DIRECTED_ROUTE &&
		       mgmt_class != UMAD_CLASS_SUBN_LID_ROUTED,
		.mgmt_class = mgmt_class,
		.mgmt_class_version = version,
		.rmpp_version = rmpp,
		.method_mask = { methods, 0 },
	};
	ck_assert_int_eq(kernel_register(f, &row, &id), E_OK);
	return id;
}

static uint32_t sa_client(struct kernel_file *f)
{
	return agent(f, UMAD_CLASS_SUBN_ADM, 2, 0, 1);
}

static uint32_t sa_server(struct kernel_file *f)
{
	return agent(f, UMAD_CLASS_SUBN_ADM, 2,
	             bit(UMAD_METHOD_GET) | bit(UMAD_METHOD_SET) | bit(GET_TABLE) |
	                     bit(UMAD_SA_METHOD_GET_MULTI),
	             1);
}

static uint8_t mad[1 << 20];

static void fill_gmp(uint8_t method, uint64_t tid)
{
	memset(mad, 0, MAD_BYTES);
	field_set(mad, MAD_BASE_VERSION, 1);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_ADM);
	field_set(mad, MAD_CLASS_VERSION, 2);
	field_set(mad, MAD_METHOD, method);
	field_set(mad, MAD_TID, tid);
	field_set(mad, MAD_ATTR_ID, 0x35);
}

static int put(struct kernel_file *f, uint32_t id, uint32_t lid, size_t len,
               uint32_t timeout_ms, uint32_t retries)
{
	struct kernel_send_row row = {
		.agent = id,
		.timeout_ms = timeout_ms,
		.retries = retries,
		.addr = { .lid = lid, .qpn = 1, .qkey = UMAD_QKEY },
		.mad = mad,
		.len = len,
	};
	return kernel_write(f, &row);
}

/* The next message of a file; it is gone with the next call. */
static const struct mad_buf *got(struct kernel_file *f)
{
	static struct mad_buf copy;
	static uint8_t data[1 << 20];
	const struct mad_buf *m = kernel_peek(f);
	if (m == NULL) {
		return NULL;
	}
	copy = *m;
	ck_assert_uint_le(m->len, sizeof(data));
	memcpy(data, m->data, m->len);
	copy.data = data;
	kernel_pop(f);
	return &copy;
}

static const struct mad_buf *wanted(struct kernel_file *f)
{
	const struct mad_buf *m = got(f);
	ck_assert_ptr_nonnull(m);
	return m;
}

/* Turns what came to f2 into an answer of len bytes in mad, data numbered from it. */
static void answer_to(const struct mad_buf *m, size_t len, bool rmpp)
{
	memset(mad, 0, len);
	memcpy(mad, m->data, SA_HDR);
	mad[3] |= UMAD_METHOD_RESP_MASK;
	mad[24] = 1; /* RMPPVersion */
	mad[25] = rmpp ? 1 : 0;
	mad[26] = rmpp ? RMPP_ACTIVE : 0;
	for (size_t i = SA_HDR; i < len; i++) {
		mad[i] = (uint8_t)(i * 7 + i / 251);
	}
}

/* --- dispatch ---------------------------------------------------------------------- */

START_TEST(tid_is_rewritten)
{
	uint32_t id = agent(f1, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, 0);
	TO(1, 3);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	field_set(fixture.mad, MAD_TID, 0xDEADBEEF12345678u);
	struct kernel_send_row row = { .agent = id,
		                       .timeout_ms = 100,
		                       .mad = fixture.mad,
		                       .len = MAD_BYTES,
		                       .addr = { .lid = 0xFFFF } };
	ck_assert_int_eq(kernel_write(f1, &row), E_OK);
	run_ms(1);
	const struct mad_buf *m = wanted(f1);
	ck_assert_uint_eq(m->agent, id);
	ck_assert_int_eq(m->status, 0);
	ck_assert_uint_eq(m->len, MAD_BYTES);
	ck_assert_uint_eq(field_get(m->data, MAD_TID_LOW), 0x12345678);
	ck_assert_uint_ne(field_get(m->data, MAD_TID) >> 32, 0xDEADBEEF);
	ck_assert_uint_eq(field_get(m->data + SMP_DATA_AT, NI_NODE_GUID), B);
	run_ms(1000);
	ck_assert_ptr_null(got(f1)); /* its timer is over */
}
END_TEST

START_TEST(one_agent_per_method)
{
	struct kernel_file *other;
	uint32_t id;
	struct kernel_agent_row row = { .qpn = 1,
		                        .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                        .mgmt_class_version = 2,
		                        .method_mask = { bit(GET_TABLE), 0 } };
	uint32_t first = sa_server(f1);
	ck_assert_int_eq(kernel_open(k, port_index(H1 + PORT1), NULL, &other), E_OK);
	ck_assert_int_eq(kernel_register(other, &row, &id), -EINVAL);
	row.method_mask[0] = bit(UMAD_METHOD_TRAP);
	ck_assert_int_eq(kernel_register(other, &row, &id), E_OK);
	row.method_mask[0] = bit(GET_TABLE);
	ck_assert_int_eq(kernel_register(f2, &row, &id), E_OK); /* another port */
	ck_assert_int_eq(kernel_unregister(f1, first), E_OK);
	ck_assert_int_eq(kernel_unregister(f1, first), -EINVAL);
	ck_assert_int_eq(kernel_register(other, &row, &id), E_OK);
	row.qpn = 0; /* a GMP class on QP 0 */
	row.method_mask[0] = bit(UMAD_METHOD_SET);
	ck_assert_int_eq(kernel_register(other, &row, &id), -EINVAL);
	kernel_close(other); /* frees the methods */
	row.qpn = 1;
	row.method_mask[0] = bit(GET_TABLE);
	ck_assert_int_eq(kernel_register(f1, &row, &id), E_OK);
}
END_TEST

START_TEST(agents_are_limited)
{
	for (unsigned i = 0; i < 32; i++) {
		ck_assert_uint_eq(sa_client(f1), i);
	}
	uint32_t id;
	struct kernel_agent_row row = { .qpn = 1,
		                        .mgmt_class = 3,
		                        .mgmt_class_version = 2 };
	ck_assert_int_eq(kernel_register(f1, &row, &id), -ENOMEM);
}
END_TEST

START_TEST(nobody_serves)
{
	uint32_t id = sa_client(f1);
	fill_gmp(UMAD_METHOD_GET, 7);
	ck_assert_int_eq(put(f1, id, 4, MAD_BYTES, 100, 0), E_OK);
	run_ms(1);
	const struct mad_buf *m = wanted(f1);
	ck_assert_int_eq(m->status, 0);
	ck_assert_uint_eq(m->data[3], UMAD_METHOD_GET_RESP);
	ck_assert_uint_eq(field_get(m->data, MAD_STATUS), UNSUPPORTED);
	/* SMInfo of a host without SM: the same, by LID and directed */
	uint32_t lid_agent = agent(f1, UMAD_CLASS_SUBN_LID_ROUTED, 1, 0, 0);
	uint32_t dr_agent = agent(f1, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, 0);
	TO(1, 3, 1);
	for (unsigned directed = 0; directed < 2; directed++) {
		fill(UMAD_METHOD_GET, UMAD_SM_ATTR_SM_INFO, 0);
		memcpy(mad, fixture.mad, MAD_BYTES);
		mad[1] = directed ? UMAD_CLASS_SUBN_DIRECTED_ROUTE
		                  : UMAD_CLASS_SUBN_LID_ROUTED;
		put(f1, directed ? dr_agent : lid_agent, directed ? 0xFFFF : 4, MAD_BYTES,
		    100, 0);
		run_ms(1);
		m = wanted(f1);
		ck_assert_int_eq(m->status, 0);
		ck_assert_uint_eq(field_get(m->data, MAD_STATUS) & 0x7FFF, UNSUPPORTED);
	}
}
END_TEST

START_TEST(to_server_and_back)
{
	uint32_t client = sa_client(f1), other = sa_client(f1), server = sa_server(f2);
	fill_gmp(UMAD_METHOD_GET, 1);
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 1000, 0), E_OK);
	fill_gmp(UMAD_METHOD_GET, 1); /* the same number of another agent */
	ck_assert_int_eq(put(f1, other, 4, MAD_BYTES, 1000, 0), E_OK);
	run_ms(1);
	for (unsigned i = 0; i < 2; i++) {
		const struct mad_buf *m = wanted(f2);
		ck_assert_uint_eq(m->agent, server);
		ck_assert_uint_eq(m->addr.lid, 1);
		ck_assert_uint_eq(m->addr.qpn, 1);
		answer_to(m, MAD_BYTES, false);
		ck_assert_int_eq(put(f2, server, m->addr.lid, MAD_BYTES, 0, 0), E_OK);
	}
	run_ms(1);
	ck_assert_uint_eq(wanted(f1)->agent, client);
	ck_assert_uint_eq(wanted(f1)->agent, other);
}
END_TEST

START_TEST(refused_writes)
{
	uint32_t id = agent(f1, UMAD_CLASS_SUBN_ADM, 2, 0, 0);
	fill_gmp(UMAD_METHOD_GET, 1);
	ck_assert_int_eq(put(f1, 9, 4, MAD_BYTES, 100, 0), -EIO);
	ck_assert_int_eq(put(f1, 99, 4, MAD_BYTES, 100, 0), -EIO);
	ck_assert_int_eq(put(f1, id, 4, 35, 100, 0), -EINVAL);
	ck_assert_int_eq(put(f1, id, 4, MAD_BYTES + 1, 100, 0), -EINVAL);
	ck_assert_int_eq(put(f1, id, 4, MAD_BYTES, 100, 0), E_OK);
	ck_assert_int_eq(put(f1, id, 4, MAD_BYTES, 100, 0), -EINVAL); /* number in use */
	mad[0] = 0x80; /* base version of Omni-Path: up to 2048 bytes */
	field_set(mad, MAD_TID, 2);
	ck_assert_int_eq(put(f1, id, 4, 2049, 100, 0), -EINVAL);
	ck_assert_int_eq(put(f1, id, 4, 2048, 100, 0), E_OK);
}
END_TEST

START_TEST(long_mads_of_omni_path)
{
	enum { LEN = 2048 };
	uint32_t id = agent(f1, UMAD_CLASS_SUBN_ADM, OPA_VERSION, 0, 0);
	agent(f2, UMAD_CLASS_SUBN_ADM, OPA_VERSION, bit(UMAD_METHOD_GET), 0);
	fill_gmp(UMAD_METHOD_GET, 1);
	mad[0] = mad[2] = OPA_VERSION;
	for (size_t i = SA_HDR; i < LEN; i++) {
		mad[i] = (uint8_t)(i / 3);
	}
	ck_assert_int_eq(put(f1, id, 4, LEN, 100, 0), E_OK);
	run_ms(1);
	const struct mad_buf *m = wanted(f2);
	ck_assert_uint_eq(m->len, LEN);
	ck_assert_mem_eq(m->data + SA_HDR, mad + SA_HDR, LEN - SA_HDR);
}
END_TEST

/* InfiniBand's SA and Omni-Path's on one port: by class version; tables of the latter go
 * in segments of 2048 bytes. */
START_TEST(versions_have_agents_of_their_own)
{
	enum { TABLE = 10000 };
	uint32_t ib = sa_server(f2),
		 opa = agent(f2, UMAD_CLASS_SUBN_ADM, OPA_VERSION,
	                     bit(UMAD_METHOD_GET) | bit(GET_TABLE), 1);
	uint32_t id[2] = { sa_client(f1),
		           agent(f1, UMAD_CLASS_SUBN_ADM, OPA_VERSION, 0, 1) };
	struct kernel_agent_row row = { .qpn = 1,
		                        .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                        .mgmt_class_version = OPA_VERSION,
		                        .method_mask = { bit(GET_TABLE), 0 } };
	uint32_t unused;

	ck_assert_int_eq(kernel_register(f2, &row, &unused), -EINVAL); /* it is taken */
	for (unsigned v = 0; v < 2; v++) {
		fill_gmp(GET_TABLE, 1);
		mad[0] = v ? OPA_VERSION : 1;
		mad[2] = v ? OPA_VERSION : 2;
		ck_assert_int_eq(put(f1, id[v], 4, v ? 164 : MAD_BYTES, 1000, 0), E_OK);
		run_ms(1);
		const struct mad_buf *m = wanted(f2);
		ck_assert_uint_eq(m->agent, v ? opa : ib);
		ck_assert_ptr_null(kernel_peek(f2));
		answer_to(m, TABLE, true);
		ck_assert_int_eq(put(f2, m->agent, m->addr.lid, TABLE, 0, 3), E_OK);
		run_ms(100);
		m = wanted(f1);
		ck_assert_uint_eq(m->agent, id[v]);
		ck_assert_uint_eq(m->len, TABLE);
		ck_assert_mem_eq(m->data + SA_HDR, mad + SA_HDR, TABLE - SA_HDR);
		ck_assert_uint_eq(m->data[0], v ? OPA_VERSION : 1);
	}
}
END_TEST

/* What Omni-Path's tools look at before they trust a port. */
START_TEST(omni_path_hosts)
{
	const struct port *h = &fixture.g->ports[port_index(H1 + PORT1)];
	struct sim_at at = { .node = h->node, .port = 1 };
	uint8_t info[64];

	for (unsigned on = 0; on < 2; on++) {
		fixture.s->o.omni_path = on;
		sim_attr(fixture.s, &at, false, UMAD_SM_ATTR_NODE_INFO, 0, info);
		ck_assert_uint_eq(info[0], on ? 0x80 : 1);
		ck_assert_uint_eq(info[1], 1);
		ck_assert_uint_eq(sim_pkey_at(fixture.s, port_index(H1 + PORT1), 0),
		                  0xffff);
		ck_assert_uint_eq(sim_pkey_at(fixture.s, port_index(H1 + PORT1), 1),
		                  on ? 0x7fff : 0);
		sim_attr(fixture.s, &at, false, UMAD_SM_ATTR_PKEY_TABLE, 0, info);
		ck_assert_uint_eq(field_get(info, 0, 48),
		                  on ? 0xffff7fff0000 : 0xffff00000000);
	}
}
END_TEST

/* Of many requests that wait at a time each one has its own answer, or its own time-out. */
START_TEST(many_wait)
{
	enum { MANY = 512 };
	uint32_t client = sa_client(f1), server = sa_server(f2);
	uint32_t tid[MANY], x = 1;
	unsigned answers[MANY] = { 0 }, timeouts[MANY] = { 0 };
	const struct mad_buf *m;

	for (unsigned i = 0; i < MANY; i++) {
		x = x * 1664525u + 1013904223u;
		tid[i] = x;
		fill_gmp(UMAD_METHOD_GET, tid[i]);
		ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 1000, 0), E_OK);
	}
	run_ms(100);
	for (unsigned i = 0; i < MANY; i++) {
		m = wanted(f2);
		answer_to(m, MAD_BYTES, false);
		if (i % 2 == 0) {
			ck_assert_int_eq(put(f2, server, m->addr.lid, MAD_BYTES, 0, 0), E_OK);
		}
	}
	run_ms(2000);
	while ((m = got(f1)) != NULL) {
		unsigned i = 0;

		while (i < MANY && tid[i] != field_get(m->data, MAD_TID_LOW)) {
			i++;
		}
		ck_assert_uint_lt(i, MANY);
		answers[i] += m->status == 0;
		timeouts[i] += m->status == ETIMEDOUT;
	}
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_uint_eq(answers[i] + timeouts[i], 1);
		ck_assert_uint_eq(answers[i], i % 2 == 0);
	}
}
END_TEST

/* --- timers ------------------------------------------------------------------------ */

START_TEST(times_out)
{
	static const struct {
		uint32_t timeout_ms, retries, total_ms;
	} rows[] = { { 100, 0, 100 }, { 50, 3, 200 }, { 1, 1, 2 } };
	uint32_t id = sa_client(f1), server = sa_server(f2);

	fill_gmp(UMAD_METHOD_GET, 5);
	ck_assert_int_eq(put(f1, id, 4, MAD_BYTES, rows[_i].timeout_ms, rows[_i].retries),
	                 E_OK);
	run_ms(rows[_i].total_ms - 1);
	ck_assert_ptr_null(got(f1));
	run_ms(2);
	const struct mad_buf *m = wanted(f1);
	ck_assert_int_eq(m->status, ETIMEDOUT);
	ck_assert_uint_eq(m->len, 24);
	ck_assert_uint_eq(m->agent, id);
	ck_assert_uint_eq(field_get(m->data, MAD_TID_LOW), 5);
	ck_assert_uint_eq(m->data[3], UMAD_METHOD_GET);
	for (uint32_t n = 0; n <= rows[_i].retries; n++) { /* each try arrived */
		m = wanted(f2);
		ck_assert_uint_eq(m->agent, server);
	}
	ck_assert_ptr_null(got(f2));
	/* an answer now is too late: nobody asks any more */
	answer_to(m, MAD_BYTES, false);
	ck_assert_int_eq(put(f2, server, 1, MAD_BYTES, 0, 0), E_OK);
	run_ms(10);
	ck_assert_ptr_null(got(f1));
}
END_TEST

START_TEST(answer_without_timer_is_dropped)
{
	uint32_t id = sa_client(f1), server = sa_server(f2);
	fill_gmp(UMAD_METHOD_GET, 5);
	ck_assert_int_eq(put(f1, id, 4, MAD_BYTES, 0, 0), E_OK);
	run_ms(1);
	answer_to(wanted(f2), MAD_BYTES, false);
	ck_assert_int_eq(put(f2, server, 1, MAD_BYTES, 0, 0), E_OK);
	run_ms(10);
	ck_assert_ptr_null(got(f1));
}
END_TEST

START_TEST(no_route_no_answer)
{
	uint32_t id = sa_client(f1);
	sa_server(f2);
	fill_gmp(UMAD_METHOD_GET, 5);
	ck_assert_int_eq(put(f1, id, 9, MAD_BYTES, 10, 0), E_OK); /* nobody's LID */
	fill_gmp(UMAD_METHOD_GET, 6);
	mad[26] = 0;
	sim_set_link(fixture.s, B, 1, false); /* a route, but the cable is out */
	ck_assert_int_eq(put(f1, id, 4, MAD_BYTES, 10, 0), E_OK);
	run_ms(20);
	ck_assert_int_eq(wanted(f1)->status, ETIMEDOUT);
	ck_assert_int_eq(wanted(f1)->status, ETIMEDOUT);
	ck_assert_ptr_null(got(f2));
}
END_TEST

START_TEST(closing_with_requests_out)
{
	uint32_t id = sa_client(f1);
	sa_server(f2);
	for (uint64_t tid = 1; tid <= 300; tid++) {
		fill_gmp(UMAD_METHOD_GET, tid);
		ck_assert_int_eq(put(f1, id, 4, MAD_BYTES, 100, 1), E_OK);
	}
	run_ms(1);
	kernel_close(f1);
	run_ms(1000); /* their timers fall on nothing */
	ck_assert_int_eq(kernel_open(k, port_index(H1 + PORT1), NULL, &f1), E_OK);
	ck_assert_ptr_null(got(f1));
}
END_TEST

/* --- P_Keys, path bits ------------------------------------------------------------- */

static void set_pkeys(uint64_t node_port1, const uint16_t *keys, unsigned n)
{
	uint32_t id = agent(f1, UMAD_CLASS_SUBN_LID_ROUTED, 1, 0, 0);
	memset(mad, 0, MAD_BYTES);
	mad[0] = mad[1] = mad[2] = 1;
	mad[3] = UMAD_METHOD_SET;
	field_set(mad, MAD_ATTR_ID, UMAD_SM_ATTR_PKEY_TABLE);
	for (unsigned i = 0; i < n; i++) {
		field_set(mad + SMP_DATA_AT, 16 * i, 16, keys[i]);
	}
	ck_assert_int_eq(put(f1, id, node_port1 == H1 ? 1 : 4, MAD_BYTES, 100, 0), E_OK);
	run_ms(1);
	ck_assert_uint_eq(field_get(wanted(f1)->data, MAD_STATUS), 0);
	ck_assert_int_eq(kernel_unregister(f1, id), E_OK);
}

START_TEST(partitions)
{
	/* sender's index and the receiver's, -1: it does not get there */
	static const struct {
		uint16_t index;
		int at;
	} rows[] = { { 0, 2 }, { 1, 1 }, { 2, -1 }, { 3, -1 }, { 4, 3 }, { 99, -1 } };
	uint32_t id = sa_client(f1);
	sa_server(f2);
	set_pkeys(H1, (const uint16_t[]){ 0xFFFF, 0x8001, 0x0002, 0, 0x8005 }, 5);
	set_pkeys(H2, (const uint16_t[]){ 0x0002, 0x0001, 0x7FFF, 0x8005 }, 4);
	fill_gmp(UMAD_METHOD_GET, 1);
	struct kernel_send_row row = {
		.agent = id,
		.timeout_ms = 10,
		.mad = mad,
		.len = MAD_BYTES,
		.addr = { .lid = 4, .qpn = 1, .pkey_index = rows[_i].index }
	};
	ck_assert_int_eq(kernel_write(f1, &row), E_OK);
	run_ms(1);
	const struct mad_buf *m = got(f2);
	if (rows[_i].at < 0) {
		ck_assert_ptr_null(m);
	} else {
		ck_assert_ptr_nonnull(m);
		ck_assert_int_eq(m->addr.pkey_index, rows[_i].at);
	}
}
END_TEST

/* --- RMPP -------------------------------------------------------------------------- */

/* A table of len bytes from h2 to h1. */
static void transfer(size_t len, uint32_t retries, uint32_t timeout_ms)
{
	uint32_t client = sa_client(f1), server = sa_server(f2);
	const struct mad_buf *m = NULL;

	fill_gmp(GET_TABLE, 77);
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, timeout_ms, 20), E_OK);
	for (unsigned i = 0; i < 1000 && (m = got(f2)) == NULL; i++) {
		run_ms(timeout_ms);
	}
	ck_assert_ptr_nonnull(m);
	answer_to(m, len, true);
	static uint8_t sent[1 << 20];
	memcpy(sent, mad, len);
	ck_assert_int_eq(put(f2, server, 1, len, 0, retries), E_OK);
	const struct mad_buf *r = NULL;
	for (unsigned i = 0; i < 20000 && (r = got(f1)) == NULL; i++) {
		run_ms(10);
	}
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(r->status, 0);
	ck_assert_uint_eq(r->agent, client);
	ck_assert_uint_eq(r->len, len);
	ck_assert_uint_eq(r->data[3], GET_TABLE_RESP);
	ck_assert_uint_eq(field_get(r->data, MAD_TID_LOW), 77);
	ck_assert_mem_eq(r->data + SA_HDR, sent + SA_HDR, len - SA_HDR);
	ck_assert_mem_eq(r->data + 36, sent + 36, 20); /* the SA header */
	run_ms(60000);
	ck_assert_ptr_null(got(f1));
	while ((m = got(f2)) != NULL) { /* only repeated requests */
		ck_assert_uint_eq(m->data[3], GET_TABLE);
		ck_assert_int_eq(m->status, 0);
	}
}

static const size_t lengths[] = { SA_HDR,         SA_HDR + 1,        SA_HDR + 199,
	                          SA_HDR + 200,   SA_HDR + 201,      SA_HDR + 400,
	                          SA_HDR + 12800, SA_HDR + 64 * 200, SA_HDR + 65 * 200,
	                          SA_HDR + 12999, SA_HDR + 130001,   1 << 20 };

START_TEST(whole_tables)
{
	transfer(lengths[_i], 0, 60000);
}
END_TEST

START_TEST(whole_tables_with_losses)
{
	static const size_t some[] = { SA_HDR + 64, SA_HDR + 3000, SA_HDR + 60000 };
	for (unsigned seed = 0; seed < 4; seed++) {
		if (seed > 0) {
			teardown_kernel();
			setup_kernel();
		}
		fixture.s->rng = seed * 0x9E3779B97F4A7C15u + 12345;
		sim_set_drop(fixture.s, 50000); /* one in twenty */
		transfer(some[_i], 50, 30000);
	}
}
END_TEST

/* An SA MAD with RMPP as h1's own program writes it, for agents without the kernel's
 * RMPP. */
static void rmpp_control(const struct mad_buf *in, uint8_t type, uint32_t seg,
                         uint32_t newwin)
{
	memset(mad, 0, MAD_BYTES);
	memcpy(mad, in->data, SA_HDR);
	mad[3] ^= UMAD_METHOD_RESP_MASK;
	mad[24] = 1;
	mad[25] = type;
	mad[26] = RMPP_ACTIVE;
	mad[27] = 0;
	field_set(mad, 224, 32, seg);
	field_set(mad, 256, 32, newwin);
}

static void check_segment(const struct mad_buf *m, uint32_t seg, uint8_t flags,
                          uint32_t paylen)
{
	ck_assert_uint_eq(m->len, MAD_BYTES);
	ck_assert_uint_eq(m->data[24], 1);         /* RMPPVersion */
	ck_assert_uint_eq(m->data[25], 1);         /* DATA */
	ck_assert_uint_eq(m->data[26] & 7, flags); /* Active, First, Last */
	ck_assert_uint_eq(field_get(m->data, 224, 32), seg);
	if (paylen > 0) {
		ck_assert_uint_eq(field_get(m->data, 256, 32), paylen);
	}
}

/* 500 bytes of data: three segments; PayloadLength counts the SA header in each. */
START_TEST(segments_and_windows)
{
	uint32_t client = agent(f1, UMAD_CLASS_SUBN_ADM, 2, 0, 0), server = sa_server(f2);
	fill_gmp(GET_TABLE, 3);
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 60000, 0), E_OK);
	run_ms(1);
	answer_to(wanted(f2), SA_HDR + 500, true);
	ck_assert_int_eq(put(f2, server, 1, SA_HDR + 500, 0, 3), E_OK);
	run_ms(1);
	const struct mad_buf *m = wanted(f1);
	check_segment(m, 1, RMPP_ACTIVE | RMPP_FIRST, 500 + 3 * 20);
	ck_assert_uint_eq(m->data[SA_HDR], (uint8_t)(SA_HDR * 7));
	ck_assert_ptr_null(kernel_peek(f1)); /* the window is one segment */
	run_ms(2100);                        /* not acknowledged: again */
	m = wanted(f1);
	check_segment(m, 1, RMPP_ACTIVE | RMPP_FIRST, 560);
	rmpp_control(m, 2, 1, 2); /* ACK, one more */
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 0, 0), E_OK);
	run_ms(1);
	m = wanted(f1);
	check_segment(m, 2, RMPP_ACTIVE, 0);
	ck_assert_ptr_null(kernel_peek(f1));
	rmpp_control(m, 2, 2, 66);
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 0, 0), E_OK);
	run_ms(1);
	m = wanted(f1);
	check_segment(m, 3, RMPP_ACTIVE | RMPP_LAST, 100 + 20);
	rmpp_control(m, 2, 3, 66);
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 0, 0), E_OK);
	run_ms(60000);
	ck_assert_ptr_null(got(f1));
	ck_assert_ptr_null(got(f2)); /* the sender is content */
}
END_TEST

START_TEST(sender_gives_up)
{
	uint32_t client = agent(f1, UMAD_CLASS_SUBN_ADM, 2, 0, 0), server = sa_server(f2);
	fill_gmp(GET_TABLE, 3);
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 60000, 0), E_OK);
	run_ms(1);
	answer_to(wanted(f2), SA_HDR + 500, true);
	ck_assert_int_eq(put(f2, server, 1, SA_HDR + 500, 0, 1), E_OK);
	run_ms(3990);
	ck_assert_ptr_null(got(f2));
	run_ms(20); /* twice two seconds */
	const struct mad_buf *m = wanted(f2);
	ck_assert_int_eq(m->status, ETIMEDOUT);
	ck_assert_uint_eq(m->len, 24);
	ck_assert_uint_eq(m->data[3], GET_TABLE_RESP);
}
END_TEST

START_TEST(bad_acknowledgements_end_it)
{
	/* type, segment, window; ACKs beyond what was sent, STOP, ABORT, unknown */
	static const struct {
		uint8_t type;
		uint32_t seg, newwin;
		bool aborts;
	} rows[] = { { 2, 2, 70, true },
		     { 2, 1, 0, true },
		     { 3, 0, 0, false },
		     { 4, 0, 0, false },
		     { 9, 0, 0, true } };
	uint32_t client = agent(f1, UMAD_CLASS_SUBN_ADM, 2, 0, 0), server = sa_server(f2);
	fill_gmp(GET_TABLE, 3);
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 60000, 0), E_OK);
	run_ms(1);
	answer_to(wanted(f2), SA_HDR + 500, true);
	ck_assert_int_eq(put(f2, server, 1, SA_HDR + 500, 0, 0), E_OK);
	run_ms(1);
	const struct mad_buf *m = wanted(f1);
	rmpp_control(m, rows[_i].type, rows[_i].seg, rows[_i].newwin);
	ck_assert_int_eq(put(f1, client, 4, MAD_BYTES, 0, 0), E_OK);
	run_ms(1);
	m = got(f1);
	ck_assert_int_eq(m != NULL && m->data[25] == 4, rows[_i].aborts);
	run_ms(60000);
	if (rows[_i].type != 9) {
		ck_assert_ptr_null(got(f2)); /* over, and not by a timer */
	}
}
END_TEST

/* Requests may be long too: MultiPathRecord. */
START_TEST(long_requests)
{
	uint32_t client = sa_client(f1), server = sa_server(f2);
	const size_t len = SA_HDR + 1000, back = SA_HDR + 5000;
	fill_gmp(UMAD_SA_METHOD_GET_MULTI, 8);
	mad[24] = 1;
	mad[25] = 1;
	mad[26] = RMPP_ACTIVE;
	for (size_t i = SA_HDR; i < len; i++) {
		mad[i] = (uint8_t)i;
	}
	ck_assert_int_eq(put(f1, client, 4, len, 100, 0), E_OK);
	run_ms(1);
	const struct mad_buf *m = wanted(f2);
	ck_assert_uint_eq(m->len, len);
	ck_assert_mem_eq(m->data + SA_HDR, mad + SA_HDR, len - SA_HDR);
	answer_to(m, back, true);
	ck_assert_int_eq(put(f2, server, 1, back, 0, 0), E_OK);
	run_ms(1);
	ck_assert_uint_eq(wanted(f1)->len, back);
	run_ms(60000);
	ck_assert_ptr_null(got(f1));
	/* and one that nobody answers times out after it was acknowledged */
	fill_gmp(UMAD_SA_METHOD_GET_MULTI, 9);
	mad[24] = mad[25] = 1;
	mad[26] = RMPP_ACTIVE;
	ck_assert_int_eq(put(f1, client, 4, len, 100, 5), E_OK); /* whatever the retries */
	run_ms(99);
	ck_assert_ptr_null(got(f1));
	run_ms(10);
	ck_assert_int_eq(wanted(f1)->status, ETIMEDOUT);
}
END_TEST

/* Bytes of an RMPP header that make no sense neither crash nor reach a program. */
START_TEST(garbage)
{
	uint32_t client = agent(f1, UMAD_CLASS_SUBN_ADM, 2, 0, 0);
	uint64_t rng = 88172645463325252u;
	sa_server(f2);
	for (unsigned i = 0; i < 20000; i++) {
		fill_gmp(GET_TABLE, i + 1);
		rng ^= rng << 13;
		rng ^= rng >> 7;
		rng ^= rng << 17;
		mad[24] = (uint8_t)(rng & 15 ? 1 : rng >> 4);
		mad[25] = (uint8_t)(rng >> 8 & 7);
		mad[26] = (uint8_t)(rng >> 11 | RMPP_ACTIVE);
		mad[27] = (uint8_t)(rng >> 19);
		field_set(mad, 224, 32, rng & 64 ? rng >> 27 & 3 : rng >> 32);
		field_set(mad, 256, 32, rng & 128 ? rng >> 29 & 255 : rng >> 30);
		field_set(mad, MAD_TID_LOW, rng >> 60);
		put(f1, client, 4, MAD_BYTES, 0, 0);
		if (i % 64 == 0) {
			run_ms(1);
		}
	}
	run_ms(100000);
	while (got(f1) != NULL || got(f2) != NULL) {
	}
}
END_TEST

/* --- routes, IsSM, counters -------------------------------------------------------- */

/* LIDs: 1 h1, 2 A, 3 B, 4 h2. Each SMP asks NodeInfo of h2 from h1. */
START_TEST(mixed_routes)
{
	static const struct {
		uint32_t lid, dr_slid, dr_dlid;
		uint8_t hops, path[3];
	} rows[] = {
		{ 0xFFFF, 0xFFFF, 0xFFFF, 3, { 1, 3, 1 } },
		{ 2, 1, 0xFFFF, 2, { 3, 1 } },      /* by LID to A */
		{ 3, 1, 0xFFFF, 1, { 1 } },         /* by LID to B */
		{ 0xFFFF, 0xFFFF, 4, 1, { 1 } },    /* from A by LID */
		{ 0xFFFF, 0xFFFF, 4, 2, { 1, 4 } }, /* from B by LID */
		{ 2, 1, 4, 1, { 4 } },              /* all three parts */
	};
	uint32_t id = agent(f1, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, 0);
	to(rows[_i].path, rows[_i].hops);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	field_set(fixture.mad, SMP_DR_SLID, rows[_i].dr_slid);
	field_set(fixture.mad, SMP_DR_DLID, rows[_i].dr_dlid);
	memcpy(mad, fixture.mad, MAD_BYTES);
	ck_assert_int_eq(put(f1, id, rows[_i].lid, MAD_BYTES, 100, 0), E_OK);
	run_ms(1);
	const struct mad_buf *m = wanted(f1);
	ck_assert_int_eq(m->status, 0);
	ck_assert_uint_eq(field_get(m->data, SMP_DIRECTION), 1);
	ck_assert_uint_eq(field_get(m->data + SMP_DATA_AT, NI_NODE_GUID), H2);
}
END_TEST

START_TEST(issm_tells_the_master)
{
	uint32_t id = agent(f1, UMAD_CLASS_SUBN_LID_ROUTED, 1, bit(UMAD_METHOD_TRAP), 0);
	kernel_issm(k, port_index(H2 + PORT1), true);
	run_ms(1);
	const struct mad_buf *m = wanted(f1);
	ck_assert_uint_eq(m->agent, id);
	const uint8_t *ntc = m->data + SMP_DATA_AT;
	ck_assert_uint_eq(field_get(ntc, NTC_TRAP_NUMBER), 144);
	ck_assert_uint_eq(field_get(ntc, NTC_144_LID), 4);
	ck_assert_uint_eq(field_get(ntc, NTC_144_CAPABILITY_MASK) >> 1 & 1, 1);
	ck_assert_uint_eq(field_get(ntc, NTC_144_NODE_DESCRIPTION_CHANGE), 0);
}
END_TEST

static uint64_t counted(uint32_t port, const char *name)
{
	for (unsigned i = 0; sim_perf_name(i) != NULL; i++) {
		if (strcmp(sim_perf_name(i), name) == 0) {
			sim_perf_settle(fixture.s, port);
			return fixture.s->ports[port].perf.count[i];
		}
	}
	ck_abort_msg("no counter %s", name);
	return 0;
}

/* A counter rises by its rate, whole errors at a time; another one, or another rate, begins anew. */
START_TEST(errors_over_time)
{
	static const char first[] = "SymbolErrorCounter", second[] = "LinkDownedCounter";
	uint32_t port = port_index(H1 + PORT1);

	ck_assert_int_eq(sim_perf_errors(fixture.s, H1, PORT1, first, 0.9), E_OK);
	run_ms(1000);
	ck_assert_uint_eq(counted(port, first), 0);
	run_ms(1000);
	ck_assert_uint_eq(counted(port, first), 1);
	ck_assert_int_eq(sim_perf_errors(fixture.s, H1, PORT1, second, 0.6), E_OK);
	run_ms(1000);
	ck_assert_uint_eq(counted(port, second), 0);
	run_ms(1000);
	ck_assert_uint_eq(counted(port, second), 1);
	ck_assert_int_eq(sim_perf_errors(fixture.s, H1, PORT1, second, 0), E_OK);
	run_ms(10000);
	ck_assert_uint_eq(counted(port, first), 1);
	ck_assert_uint_eq(counted(port, second), 1);
	ck_assert_int_eq(sim_perf_errors(fixture.s, H1, PORT1, "Errors", 1), E_UNKNOWN);
	ck_assert_int_eq(sim_perf_errors(fixture.s, H1, 9, first, 1), E_NOTFOUND);
}
END_TEST

START_TEST(counters_count)
{
	enum { PERF = 4, PORT_COUNTERS = 0x12, RCV_PKTS = 288 };
	uint32_t id = agent(f1, PERF, 1, 0, 0);
	uint64_t last = 0;
	for (unsigned i = 0; i < 2; i++) {
		fill_gmp(UMAD_METHOD_GET, 1 + i);
		mad[1] = PERF;
		mad[2] = 1;
		field_set(mad, MAD_ATTR_ID, PORT_COUNTERS);
		field_set(mad + 64, 8, 8,
		          1 - i); /* PortSelect; 0: the one that answers */
		ck_assert_int_eq(put(f1, id, 4, MAD_BYTES, 100, 0), E_OK);
		run_ms(1);
		const struct mad_buf *m = wanted(f1);
		ck_assert_uint_eq(field_get(m->data, MAD_STATUS), 0);
		uint64_t n = field_get(m->data + 64, RCV_PKTS, 32);
		ck_assert_uint_gt(n, 0);
		if (i > 0) {
			ck_assert_uint_eq(n, last + 1); /* this request itself */
		}
		last = n;
	}
}
END_TEST

TEST_SUITE(sim_kernel)
{
	TCase *t = tcase_create("dispatch");
	tcase_add_checked_fixture(t, setup_kernel, teardown_kernel);
	tcase_add_test(t, tid_is_rewritten);
	tcase_add_test(t, one_agent_per_method);
	tcase_add_test(t, agents_are_limited);
	tcase_add_test(t, nobody_serves);
	tcase_add_test(t, to_server_and_back);
	tcase_add_test(t, many_wait);
	tcase_add_test(t, refused_writes);
	tcase_add_test(t, long_mads_of_omni_path);
	tcase_add_test(t, versions_have_agents_of_their_own);
	tcase_add_test(t, omni_path_hosts);
	tcase_add_loop_test(t, times_out, 0, 3);
	tcase_add_test(t, answer_without_timer_is_dropped);
	tcase_add_test(t, no_route_no_answer);
	tcase_add_test(t, closing_with_requests_out);
	tcase_add_loop_test(t, partitions, 0, 6);
	suite_add_tcase(suite, t);
	t = tcase_create("rmpp");
	tcase_add_checked_fixture(t, setup_kernel, teardown_kernel);
	tcase_add_loop_test(t, whole_tables, 0, sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_loop_test(t, whole_tables_with_losses, 0, 3);
	tcase_add_test(t, segments_and_windows);
	tcase_add_test(t, sender_gives_up);
	tcase_add_loop_test(t, bad_acknowledgements_end_it, 0, 5);
	tcase_add_test(t, long_requests);
	tcase_add_test(t, garbage);
	suite_add_tcase(suite, t);
	t = tcase_create("fabric");
	tcase_add_checked_fixture(t, setup_kernel, teardown_kernel);
	tcase_add_loop_test(t, mixed_routes, 0, 6);
	tcase_add_test(t, issm_tells_the_master);
	tcase_add_test(t, errors_over_time);
	tcase_add_test(t, counters_count);
	suite_add_tcase(suite, t);
}

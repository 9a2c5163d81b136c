/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <config.h>

#include "tests/lib/sim_fixture.h"

#include "sa/sim/sim_kernel.h"
#include "sa/sim/sim_state.h"
#include "tests/lib/suite.h"

/*
 * Omni-Path devices in a fabric, through the kernels of two hosts: how SMPs of class version 0x80 move, what the
 * kernel refuses, traps, and adaptive routing as the time passes. The fabric is that of sim_fixture.h.
 */

enum {
	LR = 1,
	DR = 0x81,
	PERF = 4,
	WAIT_MS = 20,
	LID_H1 = 1,
	LID_A = 2,
	LID_B = 3,
	LID_H2 = 4
};
enum {
	N1 = 1 << 24,
	START = 0x200,
	MANAGER = 2,
	MEMBER = 1 /* indices of 0xFFFF and 0x7FFF */
};

static struct kernel *k;
static struct kernel_file *f1;
static uint32_t id_lr, id_dr, id_perf;
static uint64_t now_us, tid;
static uint8_t mad[OPA_MAD_BYTES];
static uint8_t *data;
static uint16_t got_index;
static size_t got_len;

static uint32_t agent(uint8_t mgmt_class, uint64_t methods)
{
	uint32_t id;
	const struct kernel_agent_row row = { .qpn = mgmt_class == PERF,
		                              .mgmt_class = mgmt_class,
		                              .mgmt_class_version = 0x80,
		                              .method_mask = { methods, 0 } };

	ck_assert_int_eq(kernel_register(f1, &row, &id), E_OK);
	return id;
}

static void run_ms(uint64_t ms)
{
	now_us += 1000 * ms;
	kernel_run(k, now_us);
}

static void setup_fabric(void)
{
	open_fixture(&(struct sim_options){
		.virtual_clock = true, .delay_us = 10, .omni_path = true });
	now_us = 0;
	ck_assert_int_eq(kernel_new(fixture.s, NULL, &k), E_OK);
	ck_assert_int_eq(
		kernel_open(k, graph_port_by_guid(fixture.g, H1 + PORT1), NULL, &f1),
		E_OK);
	id_dr = agent(DR, 0);
	id_lr = agent(LR, 1u << OPA_TRAP);
	id_perf = agent(PERF, 0);
	run_ms(1);
}

static void teardown_fabric(void)
{
	kernel_free(k);
	teardown();
}

/* Begins a MAD to the node at fixture.path (DR), or for a LID. */
static void begin(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t mod)
{
	memset(mad, 0, sizeof(mad));
	mad[0] = mad[2] = 0x80;
	mad[1] = mgmt_class;
	mad[3] = method;
	field_set(mad, MAD_TID, ++tid);
	field_set(mad, MAD_ATTR_ID, attr);
	field_set(mad, MAD_ATTR_MOD, mod);
	data = mad + (mgmt_class == DR ? 176 : mgmt_class == LR ? 32 : 24);
	if (mgmt_class == DR) {
		mad[7] = fixture.path[0];
		memset(mad + 32, 0xFF, 8); /* DrSLID, DrDLID: permissive */
		memcpy(mad + 40 + 1, fixture.path + 1, fixture.path[0]);
	}
}

static int put_mad(uint32_t lid, uint16_t p_key_index, size_t len)
{
	const struct kernel_send_row row = {
		.agent = mad[1] == DR   ? id_dr
		         : mad[1] == LR ? id_lr
		                        : id_perf,
		.timeout_ms = WAIT_MS,
		.addr = { .lid = lid, .pkey_index = p_key_index, .qpn = mad[1] == PERF },
		.mad = mad,
		.len = len
	};

	return kernel_write(f1, &row);
}

/* The next message of f1 replaces mad. \return status, -1: it timed out, -2: none. */
static int take_mad(void)
{
	const struct mad_buf *m = kernel_peek(f1);
	int status;

	if (m == NULL) {
		return -2;
	}
	got_index = m->addr.pkey_index;
	got_len = m->len;
	status = m->status != 0 ? -1 : (int)field_get(m->data, MAD_STATUS) & 0x7FFF;
	memcpy(mad, m->data, m->len);
	kernel_pop(f1);
	return status;
}

static int exchange_mad(uint32_t lid, uint16_t p_key_index, size_t len)
{
	int status;

	ck_assert_int_eq(put_mad(lid, p_key_index, len), E_OK);
	run_ms(WAIT_MS + 1);
	do { /* traps may come in between */
		status = take_mad();
	} while (status != -2 && mad[3] == OPA_TRAP);
	return status;
}

static int opa_get(uint16_t attr, uint32_t mod)
{
	begin(DR, OPA_GET, attr, mod);
	return exchange_mad(0xFFFF, MANAGER, 176);
}

/* Sets what edit() made of the PortInfo of a port of the node at fixture.path. */
static int set_port(unsigned port, void (*edit)(uint8_t *info))
{
	uint8_t info[OPA_PORT_INFO_BYTES];

	ck_assert_int_eq(opa_get(OPA_PORT_INFO, N1 | START | port), 0);
	memcpy(info, data, sizeof(info));
	field_set(info, OPI_PHYSICAL_STATE, 0);
	field_set(info, OPI_STATE, 0);
	edit(info);
	begin(DR, OPA_SET, OPA_PORT_INFO, N1 | port);
	memcpy(data, info, sizeof(info));
	return exchange_mad(0xFFFF, MANAGER, 176 + sizeof(info));
}

static uint32_t lid_to_give;
static void write_lids(uint8_t *info)
{
	field_set(info, OPI_LID, lid_to_give);
	field_set(info, OPI_MASTER_SM_LID, LID_H1);
}
static void end_port_lid(unsigned port, uint32_t lid)
{
	lid_to_give = lid;
	ck_assert_int_eq(set_port(port, write_lids), 0);
}

static void routes(uint8_t to_h1, uint8_t to_a, uint8_t to_b, uint8_t to_h2)
{
	begin(DR, OPA_SET, OPA_LFT, N1);
	memset(data, 0xFF, 64);
	data[LID_H1] = to_h1;
	data[LID_A] = to_a;
	data[LID_B] = to_b;
	data[LID_H2] = to_h2;
	ck_assert_int_eq(exchange_mad(0xFFFF, MANAGER, 176 + 64), 0);
	ck_assert_int_eq(opa_get(OPA_SWITCH_INFO, 0), 0);
	uint8_t info[OPA_SWITCH_INFO_BYTES];
	memcpy(info, data, sizeof(info));
	field_set(info, OSI_LINEAR_FDB_TOP, LID_H2);
	field_set(info, OSI_PORT_STATE_CHANGE, 1);
	begin(DR, OPA_SET, OPA_SWITCH_INFO, 0);
	memcpy(data, info, sizeof(info));
	ck_assert_int_eq(exchange_mad(0xFFFF, MANAGER, 176 + sizeof(info)), 0);
}

/* LIDs and LFTs, as an SM would give them. */
static void manage(void)
{
	to_self();
	end_port_lid(1, LID_H1);
	TO(1);
	end_port_lid(0, LID_A);
	routes(1, 0, 3, 3);
	TO(1, 3);
	end_port_lid(0, LID_B);
	routes(3, 3, 0, 1);
	TO(1, 3, 1);
	end_port_lid(1, LID_H2);
}

START_TEST(directed_routes)
{
	static const struct {
		uint8_t path[4]; /* length first */
		uint64_t guid;
		uint8_t port;
	} rows[] = { { { 0 }, H1, 1 },
		     { { 1, 1 }, A, 1 },
		     { { 2, 1, 4 }, B, 4 },
		     { { 3, 1, 4, 1 }, H2, 1 } };

	memcpy(fixture.path, rows[_i].path, 4);
	ck_assert_int_eq(opa_get(OPA_NODE_INFO, 0), 0);
	ck_assert_uint_eq(got_len, 224);
	ck_assert_uint_eq(field_get(data, ONI_NODE_GUID), rows[_i].guid);
	ck_assert_uint_eq(field_get(data, ONI_LOCAL_PORT_NUM), rows[_i].port);
	/* an adapter's agent answers with 0x7FFF, a switch with what it was asked with */
	ck_assert_uint_eq(got_index,
	                  rows[_i].guid == A || rows[_i].guid == B ? MANAGER : MEMBER);
	ck_assert_uint_eq(mad[6], 0);         /* HopPointer */
	ck_assert_uint_eq(field_get(mad, SMP_DIRECTION), 1);
}
END_TEST

START_TEST(no_answer)
{
	TO(1);
	begin(DR, OPA_GET, OPA_NODE_INFO, 0);
	ck_assert_int_eq(exchange_mad(0xFFFF, MEMBER, 176), -1); /* not with 0x7FFF */
	begin(DR, OPA_GET, OPA_NODE_INFO, 0);
	ck_assert_int_eq(exchange_mad(0xFFFF, 0, 176), -1); /* nor with 0x8001 */
	to_self();
	begin(DR, OPA_GET, OPA_NODE_INFO, 0);
	ck_assert_int_eq(exchange_mad(0xFFFF, MEMBER, 176),
	                 0); /* but its own agent does */
	TO(1, 2);
	ck_assert_int_eq(opa_get(OPA_NODE_INFO, 0), -1); /* no cable */
	TO(1);
	ck_assert_int_eq(sim_set_deaf(fixture.s, A, true), E_OK);
	ck_assert_int_eq(opa_get(OPA_NODE_INFO, 0), -1);
}
END_TEST

START_TEST(what_the_kernel_refuses)
{
	TO(1);
	begin(DR, OPA_GET, OPA_NODE_INFO, 0);
	field_set(mad, OPA_SMP_DR_SLID, 0x10000);
	ck_assert_int_eq(put_mad(2, MANAGER, 176), -EINVAL);
	field_set(mad, OPA_SMP_DR_SLID, 0xFFFF);
	ck_assert_int_eq(put_mad(2, MANAGER, 176), E_OK);
	ck_assert_int_eq(put_mad(2, MANAGER, 176), -EINVAL); /* the TID is in use */
	begin(DR, OPA_GET, OPA_NODE_INFO, 0);
	ck_assert_int_eq(put_mad(0xFFFF, MANAGER, 35), -EINVAL);
	mad[0] = 1;
	ck_assert_int_eq(put_mad(0xFFFF, MANAGER, 257), -EINVAL);
}
END_TEST

START_TEST(nobody_is_a_manager)
{
	to_self();
	ck_assert_int_eq(opa_get(OPA_SM_INFO, 0), 0x0C); /* the kernel answers */
	kernel_issm(k, graph_port_by_guid(fixture.g, H1 + PORT1), true);
	ck_assert_int_eq(opa_get(OPA_PORT_INFO, N1 | 1), 0);
	ck_assert_uint_eq(field_get(data, OPI_CAPABILITY) & 2, 2);
}
END_TEST

START_TEST(smps_by_lid)
{
	manage();
	begin(LR, OPA_GET, OPA_NODE_DESCRIPTION, 0);
	ck_assert_int_eq(exchange_mad(LID_H2, MANAGER, 32 + 8), 0);
	ck_assert_str_eq((const char *)mad + 32, "h2");
	/* the part by LID ends at A, then one hop */
	TO(3);
	begin(DR, OPA_GET, OPA_NODE_INFO, 0);
	field_set(mad, OPA_SMP_DR_SLID, LID_H1);
	ck_assert_int_eq(exchange_mad(LID_A, MANAGER, 176), 0);
	ck_assert_uint_eq(field_get(data, ONI_NODE_GUID), B);
	ck_assert_int_eq(sim_reboot(fixture.s, B),
	                 E_OK); /* it has no LID and no LFT now */
	begin(LR, OPA_GET, OPA_NODE_DESCRIPTION, 0);
	ck_assert_int_eq(exchange_mad(LID_B, MANAGER, 32 + 8), -1);
}
END_TEST

static void expect_lid_1(uint8_t *info)
{
	field_set(info, OPI_LID, LID_H1);
}

START_TEST(a_false_source_lid_goes_nowhere)
{
	manage();
	TO(1);
	ck_assert_int_eq(set_port(1, expect_lid_1), 0);
	begin(LR, OPA_GET, OPA_NODE_DESCRIPTION, 0);
	ck_assert_int_eq(exchange_mad(LID_B, MANAGER, 40), 0);
	ck_assert_int_eq(sim_set_lid(fixture.s, H1, 1, 9), E_OK);
	begin(LR, OPA_GET, OPA_NODE_DESCRIPTION, 0);
	ck_assert_int_eq(exchange_mad(LID_B, MANAGER, 40), -1);
	ck_assert_uint_eq(
		sim_opa_port(fixture.s,
	                     graph_port(fixture.g, graph_node_by_guid(fixture.g, A), 1))
			->counters[OPA_RCV_CONSTRAINT],
		1);
}
END_TEST

static void bounce(uint8_t *info)
{
	field_set(info, OPI_STATE, OPA_DOWN);
	field_set(info, OPI_PHYSICAL_STATE, OPA_PHYS_POLLING);
}
static void disable(uint8_t *info)
{
	field_set(info, OPI_PHYSICAL_STATE, OPA_PHYS_DISABLED);
}

START_TEST(the_sm_bounces_a_link)
{
	TO(1);
	ck_assert_int_eq(set_port(3, bounce), 0);
	ck_assert_int_eq(opa_get(OPA_PORT_INFO, N1 | 3), 0);
	ck_assert_uint_eq(field_get(data, OPI_DOWN_REASON), 39);
	ck_assert_uint_eq(field_get(data, OPI_STARTED), 0);
	ck_assert_uint_eq(field_get(data, OPI_STATE), OPA_INIT);
	TO(1, 3);
	ck_assert_int_eq(opa_get(OPA_PORT_INFO, N1 | 3), 0);
	ck_assert_uint_eq(field_get(data, OPI_DOWN_REASON),
	                  36); /* the neighbour did it */
	ck_assert_int_eq(sim_set_link(fixture.s, A, 4, false), E_OK);
	TO(1);
	ck_assert_int_eq(opa_get(OPA_PORT_INFO, N1 | 4), 0);
	ck_assert_uint_eq(field_get(data, OPI_DOWN_REASON), 49);
	ck_assert_int_eq(set_port(1, disable),
	                 -1); /* no answer through the port that is off */
	ck_assert_int_eq(opa_get(OPA_NODE_INFO, 0), -1);
}
END_TEST

START_TEST(traps_repeat_until_they_are_repressed)
{
	unsigned n = 0;

	manage();
	ck_assert_int_eq(sim_set_link(fixture.s, A, 4, false), E_OK);
	for (unsigned s = 0; s < 10; s++) {
		run_ms(1100); /* 4.096 us * 2^18 */
		while (take_mad() != -2) {
			ck_assert_uint_eq(mad[3], OPA_TRAP);
			ck_assert_uint_eq(field_get(mad + 32, ONT_NUMBER), 0x80);
			n += field_get(mad + 32, ONT_LID) == LID_A;
			ck_assert_uint_eq(got_index, MEMBER);
		}
	}
	ck_assert_uint_ge(n, 9); /* more than the five of InfiniBand's agents */
	run_ms(1100);
	for (unsigned i = 0; i < 2; i++) { /* of A and of B */
		ck_assert_int_eq(take_mad(), 0);
		const uint32_t from = (uint32_t)field_get(mad + 32, ONT_LID);
		uint8_t trap[OPA_MAD_BYTES];
		memcpy(trap, mad, sizeof(trap));
		mad[3] = OPA_TRAP_REPRESS;
		ck_assert_int_eq(put_mad(from, MANAGER, 32 + 96), E_OK);
	}
	run_ms(1);
	while (take_mad() != -2) {
	}
	run_ms(5000);
	for (int status; (status = take_mad()) !=
	                 -2;) { /* only the time-outs of what has no answer */
		ck_assert_int_eq(status, -1);
	}
}
END_TEST

START_TEST(counters_count_what_passes)
{
	uint64_t before;

	manage();
	begin(PERF, OPA_GET, OPA_PORT_STATUS, N1);
	data[0] = 3;
	ck_assert_int_eq(exchange_mad(LID_A, MANAGER, 24 + 12),
	                 -1); /* by the rules of data VLs: not ACTIVE */
	struct sim_at at = { .node = graph_node_by_guid(fixture.g, A),
		             .port = 1,
		             .p_key = 0xFFFF };
	uint8_t request[OPA_MAD_BYTES] = { 0x80, 4, 0x80, OPA_GET };
	struct mad_buf m = { .data = request, .len = 36, .cap = sizeof(request) };
	field_set(request, MAD_ATTR_ID, OPA_PORT_STATUS);
	field_set(request, MAD_ATTR_MOD, N1);
	request[24] = 3;
	ck_assert_uint_eq(sim_opa_perf(fixture.s, &at, 0, &m), 240);
	before = field_get(request + 24, OB(24), 64);
	TO(1, 3);
	ck_assert_int_eq(opa_get(OPA_NODE_INFO, 0), 0);
	memset(request, 0, sizeof(request));
	memcpy(request, (uint8_t[]){ 0x80, 4, 0x80, OPA_GET }, 4);
	field_set(request, MAD_ATTR_ID, OPA_PORT_STATUS);
	field_set(request, MAD_ATTR_MOD, N1);
	request[24] = 3;
	m.len = 36;
	ck_assert_uint_eq(sim_opa_perf(fixture.s, &at, 0, &m), 240);
	ck_assert_uint_eq(field_get(request + 24, OB(24), 64), before + 1);
	ck_assert_int_eq(sim_opa_count(fixture.s, A, 3, "RcvErrors", 5), E_OK);
	ck_assert_int_eq(sim_opa_count(fixture.s, A, 3, "SymbolErrorCounter", 5),
	                 E_UNKNOWN);
}
END_TEST

START_TEST(a_switch_adapts_by_itself)
{
	struct opa_device *a;

	manage();
	a = fixture.s->opa[graph_node_by_guid(fixture.g, A)].device;
	for (unsigned port = 3; port <= 4; port++) {
		field_set(a->ports[port].info, OPI_STATE, OPA_ACTIVE);
	}
	TO(1);
	begin(DR, OPA_SET, OPA_PORT_GROUP_TABLE, N1);
	data[7] = 1 << 2 | 1 << 3; /* ports 3 and 4 */
	ck_assert_int_eq(exchange_mad(0xFFFF, MANAGER, 176 + 64), 0);
	begin(DR, OPA_SET, OPA_PORT_GROUP_FT, N1);
	memset(data, 0xFF, 64);
	data[LID_H2] = 0;
	ck_assert_int_eq(exchange_mad(0xFFFF, MANAGER, 176 + 64), 0);
	ck_assert_int_eq(opa_get(OPA_SWITCH_INFO, 0), 0);
	uint8_t info[OPA_SWITCH_INFO_BYTES];
	memcpy(info, data, sizeof(info));
	field_set(info, OSI_PORT_GROUP_TOP, 1);
	field_set(info, OSI_AR_ENABLE, 1);
	field_set(info, OSI_AR_ALGORITHM, 1);
	field_set(info, OSI_AR_FREQUENCY, 4); /* 1.024 s */
	field_set(info, OSI_AR_THRESHOLD, 3);
	begin(DR, OPA_SET, OPA_SWITCH_INFO, 0);
	memcpy(data, info, sizeof(info));
	ck_assert_int_eq(exchange_mad(0xFFFF, MANAGER, 176 + sizeof(info)), 0);
	ck_assert_uint_eq(opa_route(a, LID_H2), 3);
	/* congestion first */
	ck_assert_int_eq(sim_opa_congest(fixture.s, A, 3, 90), E_OK);
	run_ms(10);
	ck_assert_uint_eq(opa_route(a, LID_H2), 4);
	ck_assert_uint_eq(opa_route(a, LID_B), 3); /* has no group */
	/* the port is lost soon after: the switch waits its time */
	ck_assert_int_eq(sim_opa_congest(fixture.s, A, 3, 0), E_OK);
	ck_assert_int_eq(sim_set_link(fixture.s, A, 4, false), E_OK);
	run_ms(900);
	ck_assert_uint_eq(opa_route(a, LID_H2), 4);
	run_ms(200);
	ck_assert_uint_eq(opa_route(a, LID_H2), 3);
	ck_assert_int_eq(opa_get(OPA_LFT, N1), 0); /* and shows it */
	ck_assert_uint_eq(data[LID_H2], 3);
	begin(LR, OPA_GET, OPA_NODE_DESCRIPTION, 0);
	ck_assert_int_eq(exchange_mad(LID_H2, MANAGER, 40), 0);
}
END_TEST

START_TEST(hostile_and_lying_nodes)
{
	unsigned different = 0;

	TO(1);
	ck_assert_int_eq(sim_set_guids(fixture.s, A, B), E_OK);
	ck_assert_int_eq(opa_get(OPA_NODE_INFO, 0), 0);
	ck_assert_uint_eq(field_get(data, ONI_NODE_GUID), B);
	ck_assert_int_eq(sim_set_hostile(fixture.s, A, true), E_OK);
	for (unsigned i = 0; i < 50; i++) {
		int status = opa_get(OPA_PORT_INFO, N1 | 1);

		different += status != 0 || field_get(data, OPI_LOCAL_PORT_NUM) != 1 ||
		             field_get(data, OPI_NEIGHBOR_GUID) != H1;
	}
	ck_assert_uint_gt(different, 5);
}
END_TEST

TEST_SUITE(sim_opa_fabric)
{
	TCase *tc = tcase_create("Omni-Path in a fabric");
	tcase_add_checked_fixture(tc, setup_fabric, teardown_fabric);
	tcase_add_loop_test(tc, directed_routes, 0, 4);
	tcase_add_test(tc, no_answer);
	tcase_add_test(tc, what_the_kernel_refuses);
	tcase_add_test(tc, nobody_is_a_manager);
	tcase_add_test(tc, smps_by_lid);
	tcase_add_test(tc, a_false_source_lid_goes_nowhere);
	tcase_add_test(tc, the_sm_bounces_a_link);
	tcase_add_test(tc, traps_repeat_until_they_are_repressed);
	tcase_add_test(tc, counters_count_what_passes);
	tcase_add_test(tc, a_switch_adapts_by_itself);
	tcase_add_test(tc, hostile_and_lying_nodes);
	suite_add_tcase(suite, tc);
}

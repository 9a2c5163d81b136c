/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * From MAD to MAD: a client on a host of the simulated fabric asks the SM's LID for
 * paths; request and reply travel the programmed tables, through the sweep's thread and
 * the SA thread. The orders are those that the Omni-Path fabric manual prints, section
 * "PathRecord Path Selection": source with LMC 1, here an enhanced switch port 0,
 * destination with LMC 2, a host.
 */
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

#include <endian.h>
#include <sched.h>

#include "sa/mad/wire.h"
#include "sa/server/server.h"

enum {
	METHOD_GET = 0x01,      /* IBA vol. 1, 13.4.5 */
	METHOD_GETTABLE = 0x12, /* 15.2.2 */
	ATTR_PATH_RECORD = 0x35,
	COMP_DGID = 1 << 2, /* 15.2.5.16: position of the component */
	COMP_SGID = 1 << 3,
	COMP_DLID = 1 << 4,
	COMP_SLID = 1 << 5,
	TURNS = 100000000
};

static struct sweep_fixture *fixture;
static struct sa_server *server;

static void start(unsigned lmc, unsigned lmc_esp0, enum path_selection mode)
{
	fixture = fixture_new();
	fixture_file(fixture, "esp0.topo");
	fixture_sim(fixture, 1, 0);
	fixture->config.lmc = lmc;
	fixture->config.lmc_esp0 = lmc_esp0;
	fixture->config.path_selection = mode;
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_serve(fixture, fixture->deps.transport);
	server = fixture->deps.sa;
}

static void stop(void)
{
	fixture_free(fixture);
	server = NULL;
	fixture = NULL;
}

/* Port by the description of its node. */
static uint32_t port_of(const char *description, unsigned num)
{
	for (uint32_t i = 0; i < fixture->g->n_nodes; i++) {
		if (strcmp(fixture->g->nodes[i].description, description) == 0) {
			return graph_port(fixture->g, i, num);
		}
	}
	ck_abort_msg("no node '%s'", description);
}

static void request(struct umad_sa_packet *mad, unsigned method, uint64_t mask,
                    const struct wire_path_record *record)
{
	memset(mad, 0, sizeof(*mad));
	mad->mad_hdr.base_version = 1;
	mad->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	mad->mad_hdr.class_version = 2;
	mad->mad_hdr.method = (uint8_t)method;
	mad->mad_hdr.tid = htobe64(0x1234);
	mad->mad_hdr.attr_id = htobe16(ATTR_PATH_RECORD);
	mad->comp_mask = htobe64(mask);
	memcpy(mad->data, record, sizeof(*record));
}

/* Sends from a host and turns until the reply is there. */
static const uint8_t *ask(uint32_t client, const struct umad_sa_packet *mad,
                          size_t *ret_len)
{
	const uint64_t guid = fixture->g->ports[client].guid;
	const uint8_t *reply;
	struct sa_counters before, now;

	sa_server_counters(server, &before);
	ck_assert_int_eq(
		sim_client_send(fixture->sim, guid, (const uint8_t *)mad, sizeof(*mad)),
		E_OK);
	do {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		sa_server_counters(server, &now);
	} while (now.requests == before.requests);
	for (unsigned turns = 0; now.answered == before.answered; turns++) {
		ck_assert_uint_lt(turns, TURNS);
		sched_yield();
		sa_server_counters(server, &now);
	}
	/* On the virtual clock the reply still has its way along the switches before it.
	 */
	while (sim_client_recv(fixture->sim, guid, &reply, ret_len) != E_OK) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	return reply;
}

/* "S1D1 S2D2": LID offsets of the records of a table, counted from 1. */
static const char *order_of(const uint8_t *mad, size_t len, uint32_t sbase,
                            uint32_t dbase)
{
	static char text[2048];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = SA_HDR_BYTES; i + sizeof(struct wire_path_record) <= len;
	     i += sizeof(struct wire_path_record)) {
		struct wire_path_record r;
		memcpy(&r, mad + i, sizeof(r));
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%sS%uD%u",
		                       at ? " " : "", be16toh(r.slid) - sbase + 1,
		                       be16toh(r.dlid) - dbase + 1);
	}
	return text;
}

static uint32_t base_lid(uint32_t port)
{
	return (uint32_t)fixture_peek(fixture, port, PI_LID);
}

static const struct umad_hdr *header(const uint8_t *mad)
{
	return (const struct umad_hdr *)mad;
}

/* clang-format off */
static const struct {
	enum path_selection mode;
	const char *order;
	const char *from_second; /* source fixed to its second LID */
} modes[] = {
	{ PATH_MINIMAL, "S1D1 S2D2", "S2D2" },
	{ PATH_PAIRWISE, "S1D1 S2D2 S1D3 S2D4", "S2D2 S2D4" },
	{ PATH_ORDERALL, "S1D1 S2D2 S1D3 S2D4 S1D2 S1D4 S2D1 S2D3", "S2D2 S2D4 S2D1 S2D3" },
	{ PATH_SRCDSTALL, "S1D1 S1D2 S1D3 S1D4 S2D1 S2D2 S2D3 S2D4", "S2D1 S2D2 S2D3 S2D4" },
};
/* clang-format on */

START_TEST(published_order)
{
	struct wire_path_record record = { 0 };
	struct umad_sa_packet mad;
	size_t len;

	start(2, 1, modes[_i].mode);
	uint32_t src = port_of("sw1", 0), dst = port_of("node3", 1),
		 client = port_of("node2", 1);
	ck_assert_uint_eq(fixture_peek(fixture, src, PI_LMC), 1);
	ck_assert_uint_eq(fixture_peek(fixture, dst, PI_LMC), 2);
	record.sgid_prefix = record.dgid_prefix = htobe64(fixture->config.subnet_prefix);
	record.sgid_guid = htobe64(fixture->g->ports[src].guid);
	record.dgid_guid = htobe64(fixture->g->ports[dst].guid);
	request(&mad, METHOD_GETTABLE, COMP_SGID | COMP_DGID, &record);
	const uint8_t *reply = ask(client, &mad, &len);
	ck_assert_uint_eq(header(reply)->method, METHOD_GETTABLE | 0x80);
	ck_assert_uint_eq(be16toh(header(reply)->status), 0);
	ck_assert_str_eq(order_of(reply, len, base_lid(src), base_lid(dst)),
	                 modes[_i].order);

	record.slid = htobe16((uint16_t)(base_lid(src) + 1));
	request(&mad, METHOD_GETTABLE, COMP_SLID | COMP_DGID, &record);
	reply = ask(client, &mad, &len);
	ck_assert_str_eq(order_of(reply, len, base_lid(src), base_lid(dst)),
	                 modes[_i].from_second);
	stop();
}
END_TEST

/* The request of every client at a job's start: Get by a pair of LIDs, among hosts. */
START_TEST(one_pair_by_lid)
{
	struct wire_path_record record = { 0 }, got;
	struct umad_sa_packet mad;
	size_t len;

	start(0, 0, PATH_MINIMAL);
	uint32_t src = port_of("node2", 1), dst = port_of("node4", 1);
	record.slid = htobe16((uint16_t)base_lid(src));
	record.dlid = htobe16((uint16_t)base_lid(dst));
	request(&mad, METHOD_GET, COMP_SLID | COMP_DLID, &record);
	const uint8_t *reply = ask(src, &mad, &len);
	ck_assert_uint_eq(len, 256);
	ck_assert_uint_eq(header(reply)->method, METHOD_GET | 0x80);
	ck_assert_uint_eq(be16toh(header(reply)->status), 0);
	ck_assert_uint_eq(be64toh(header(reply)->tid), 0x1234);
	memcpy(&got, reply + SA_HDR_BYTES, sizeof(got));
	ck_assert_uint_eq(be16toh(got.slid), base_lid(src));
	ck_assert_uint_eq(be16toh(got.dlid), base_lid(dst));
	ck_assert_uint_eq(be64toh(got.dgid_guid), fixture->g->ports[dst].guid);
	ck_assert_uint_eq(be16toh(got.p_key), 0xffff);
	ck_assert_uint_eq(got.mtu, 2 << 6 | 5);   /* exactly 4096 */
	ck_assert_uint_eq(got.rate, 2 << 6 | 16); /* exactly 100 Gb/s */
	stop();
}
END_TEST

TEST_SUITE(mad_paths)
{
	TCase *tc = tcase_create("sim");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, published_order, 0,
	                    (int)(sizeof(modes) / sizeof(modes[0])));
	tcase_add_test(tc, one_pair_by_lid);
	suite_add_tcase(suite, tc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * LIDs for life: what the state remembers of ports that are away, whose LIDs are used again
 * when there are no others, and files of OpenSM.
 */
#include <inttypes.h>

#include "conf/base/text_file.h"
#include "routing/text/guid2lid.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;
static struct tap tap;
static char file[120];

static void setup(void)
{
	fixture = fixture_new();
	snprintf(file, sizeof(file), "%s/guid2lid", fixture->dir);
}

static void teardown(void)
{
	fixture_free(fixture);
	tap_record_done(&tap);
}

static void make_fabric(void)
{
	fixture_topo(fixture, "ft2 3 2 3", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
}

static void up(uint32_t heavy)
{
	fixture_heavy(fixture, heavy);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
}

/* The n-th host from the end, which is not that of the SM. */
static uint32_t host_port(unsigned n)
{
	uint32_t port = fixture->g->hosts[fixture->g->n_hosts - 1 - n];

	ck_assert_uint_ne(port, fixture->g->sm_port);
	return port;
}

static void set_host(unsigned n, bool on)
{
	uint64_t guid = fixture->g->nodes[fixture->g->ports[host_port(n)].node].guid;

	ck_assert_int_eq(sim_set_node(fixture->sim, guid, on), E_OK);
}

static uint32_t lid_of_host(unsigned n)
{
	return (uint32_t)fixture_peek(fixture, host_port(n), PI_LID);
}

/* What the state remembers of a host; guid 0: nothing. */
static struct lid_memory remembered(unsigned n)
{
	struct lid_memory *m, found = { .guid = 0 };
	struct arena *a = arena_new();
	size_t n_memory;

	ck_assert_int_eq(state_lids(fixture->state, a, &m, &n_memory), E_OK);
	for (size_t i = 0; i < n_memory; i++) {
		if (m[i].guid == fixture->g->ports[host_port(n)].guid) {
			found = m[i];
		}
	}
	arena_free(a);
	return found;
}

START_TEST(presence)
{
	make_fabric();
	fixture_start(fixture);
	up(1);
	uint32_t lid = lid_of_host(0);
	ck_assert_uint_eq(remembered(0).gone_epoch, 0);
	set_host(0, false);
	sweep_request_heavy(fixture->sweep);
	up(2);
	uint64_t gone = remembered(0).gone_epoch;
	ck_assert_uint_gt(gone, 0);
	ck_assert_uint_le(gone, sweep_status(fixture->sweep)->epoch);
	sweep_request_heavy(fixture->sweep);
	up(3);
	ck_assert_uint_eq(remembered(0).gone_epoch,
	                  gone); /* not younger by later sweeps */
	fixture_stop(fixture);
	fixture_start(fixture);
	up(1);
	ck_assert_uint_eq(remembered(0).gone_epoch, gone);
	set_host(0, true);
	sweep_request_heavy(fixture->sweep);
	up(2);
	ck_assert_uint_eq(remembered(0).gone_epoch, 0);
	ck_assert_uint_eq(lid_of_host(0), lid);
}
END_TEST

/* Two hosts go away one after the other. A third that comes gets the LID of the first. */
START_TEST(recycled)
{
	make_fabric();
	fixture->config.unicast_lid_limit = fixture->g->n_end_ports - 1;
	set_host(2, false);
	fixture_start(fixture);
	up(1);
	uint32_t first = lid_of_host(1), second = lid_of_host(0);
	set_host(1, false);
	sweep_request_heavy(fixture->sweep);
	up(2);
	set_host(0, false);
	sweep_request_heavy(fixture->sweep);
	up(3);
	set_host(2, true);
	sweep_request_heavy(fixture->sweep);
	up(4);
	ck_assert_uint_eq(lid_of_host(2), first);
	ck_assert_uint_eq(remembered(2).range.base, first);
	ck_assert_uint_eq(remembered(1).guid, 0); /* forgotten, not only hidden */
	ck_assert_uint_eq(remembered(0).range.base, second);
	set_host(0, true);
	sweep_request_heavy(fixture->sweep);
	up(5);
	ck_assert_uint_eq(lid_of_host(0), second);
}
END_TEST

/* A master that was there before us may have changed LIDs: they stay. */
START_TEST(takeover)
{
	make_fabric();
	fixture_start(fixture);
	up(1);
	uint32_t ours = lid_of_host(1);
	fixture_stop(fixture);
	tap.other_guid = fixture->g->nodes[fixture->g->ports[host_port(0)].node].guid;
	tap.other_priority = 15;
	tap.other_state = 3;                           /* MASTER */
	fixture->config.honor_guid2lid_file = _i == 1; /* without a file: ours count */
	fixture->config.guid2lid_file = file;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_int_eq(
		sim_set_lid(fixture->sim,
	                    fixture->g->nodes[fixture->g->ports[host_port(1)].node].guid,
	                    1, 100),
		E_OK);
	tap.other_left = true;
	for (unsigned i = 0; i < 100 && !sweep_status(fixture->sweep)->up; i++) {
		fixture_run_ms(fixture, 500);
	}
	ck_assert(sweep_status(fixture->sweep)->up);
	ck_assert_uint_eq(lid_of_host(1), _i == 1 ? ours : 100);
	ck_assert_uint_eq(remembered(1).range.base, _i == 1 ? ours : 100);
	ck_assert_int_eq(
		sim_set_lid(fixture->sim,
	                    fixture->g->nodes[fixture->g->ports[host_port(1)].node].guid,
	                    1, 101),
		E_OK);
	uint32_t heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	sweep_request_heavy(fixture->sweep);
	up(heavy + 1); /* as master we know better */
	ck_assert_uint_eq(lid_of_host(1), _i == 1 ? ours : 100);
}
END_TEST

static void read_guid2lid(struct arena *a, struct lid_memory **ret_memory, size_t *ret_n)
{
	static const struct text_file_kind kind = { .what = "x", .max_bytes = 100000 };
	struct diags *d = arena_alloc(a, sizeof(*d));
	char *text;
	size_t len;

	diags_init(d, a);
	ck_assert_int_eq(text_file_read(file, &kind, d, &text, &len), E_OK);
	ck_assert_int_eq(guid2lid_read(file, text, len, a, d, ret_memory, ret_n), E_OK);
	free(text);
}

/* The file is as the state after each change, also of ports that are away. */
START_TEST(exported)
{
	struct arena *a = arena_new();
	struct lid_memory *m, *s;
	size_t n, n_state;

	make_fabric();
	fixture->config.guid2lid_file = file;
	set_host(0, false);
	fixture_start(fixture);
	up(1);
	read_guid2lid(a, &m, &n);
	ck_assert_uint_eq(n, fixture->g->n_end_ports - 1);
	set_host(0, true);
	set_host(1, false);
	sweep_request_heavy(fixture->sweep);
	up(2);
	read_guid2lid(a, &m, &n);
	ck_assert_int_eq(state_lids(fixture->state, a, &s, &n_state), E_OK);
	ck_assert_uint_eq(n, n_state);
	ck_assert_uint_eq(n, fixture->g->n_end_ports);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(m[i].guid, s[i].guid);
		ck_assert_uint_eq(m[i].range.base, s[i].range.base);
	}
	arena_free(a);
}
END_TEST

/* A file moves LIDs where it says so, and brings those of ports that are away. */
START_TEST(imported) /* with _i 0; without honor_guid2lid_file the file changes no LID */
{
	struct lid_memory of_others[2];
	char text[600];

	make_fabric();
	fixture_start(fixture);
	up(1);
	of_others[0] = remembered(0);
	of_others[1] = remembered(1);
	fixture_stop(fixture);
	snprintf(text, sizeof(text),
	         "0x%016" PRIx64 " 0x%04x 0x%04x\n\n0x%016" PRIx64 " 0x%04x 0x%04x\n\n"
	         "0x00000000000abcde 0x0064 0x0064\n\n",
	         of_others[1].guid, of_others[0].range.base, of_others[0].range.base,
	         of_others[0].guid, 99, 99);
	ck_assert_int_eq(text_file_replace(file, text, strlen(text)), E_OK);
	fixture->config.guid2lid_file = file;
	fixture->config.honor_guid2lid_file = _i == 0;
	fixture_start(fixture);
	up(1);
	if (_i == 1) {
		ck_assert_uint_eq(lid_of_host(0), of_others[0].range.base);
		ck_assert_uint_eq(lid_of_host(1), of_others[1].range.base);
		return;
	}
	ck_assert_uint_eq(lid_of_host(1), of_others[0].range.base);
	ck_assert_uint_eq(lid_of_host(0), 99);
	ck_assert_uint_eq(remembered(0).range.base, 99);
	/* the file holds all ports now */
	struct arena *a = arena_new();
	struct lid_memory *m;
	size_t n;
	read_guid2lid(a, &m, &n);
	ck_assert_uint_eq(n, fixture->g->n_end_ports + 1);
	ck_assert(m[0].guid == 0xabcde && m[0].range.base == 100);
	arena_free(a);
}
END_TEST

/* A file with a wrong line changes no LID, and is not overwritten. */
START_TEST(bad_file)
{
	static const struct text_file_kind kind = { .what = "x", .max_bytes = 1000 };
	struct lid_memory m;
	char text[200], *after;
	size_t len;

	make_fabric();
	fixture_start(fixture);
	up(1);
	m = remembered(0);
	fixture_stop(fixture);
	snprintf(text, sizeof(text), "0x%016" PRIx64 " 0x0063 0x0063\n\n0x1 0x2\n",
	         m.guid);
	ck_assert_int_eq(text_file_replace(file, text, strlen(text)), E_OK);
	fixture->config.guid2lid_file = file;
	fixture->config.honor_guid2lid_file = true;
	fixture_start(fixture);
	up(1);
	ck_assert_uint_eq(lid_of_host(0), m.range.base);
	ck_assert_int_eq(text_file_read(file, &kind, NULL, &after, &len), E_OK);
	ck_assert_str_eq(after, text);
	free(after);
}
END_TEST

/* The file cannot be written: the log says so, and the subnet is up. */
START_TEST(not_exported)
{
	make_fabric();
	fixture->config.guid2lid_file = "/nonexistent/guid2lid";
	fixture_log(fixture);
	fixture_start(fixture);
	up(1);
	ck_assert_uint_eq(fixture_logged(fixture, "SAG-LID-003"), 1);
}
END_TEST

enum { MOST_LINES = 50 };

/* Another SM was master and gave all hosts other LIDs, which stay: there is an event for
 * some of them, and a line with the number of the others. */
START_TEST(many_move)
{
	uint32_t n;
	char line[200];

	fixture_topo(fixture, "ft2 4 16 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture_start(fixture);
	up(1);
	fixture_stop(fixture);
	n = fixture->g->n_hosts;
	ck_assert_uint_gt(n, MOST_LINES);
	for (uint32_t i = 0; i < n; i++) {
		const struct port *p = &fixture->g->ports[fixture->g->hosts[i]];

		ck_assert_int_eq(sim_set_lid(fixture->sim,
		                             fixture->g->nodes[p->node].guid, p->num,
		                             200 + i),
		                 E_OK);
	}
	tap.other_guid = fixture->g->nodes[fixture->g->ports[host_port(0)].node].guid;
	tap.other_state = 3; /* MASTER */
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert(sweep_status(fixture->sweep)->standby);
	fixture_log(fixture);
	tap.other_left = true;
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
	snprintf(line, sizeof(line), ": %u more LIDs move", n - MOST_LINES);
	ck_assert_uint_eq(fixture_logged(fixture, line), 1);
	ck_assert_uint_eq(fixture_logged(fixture, ", which another SM gave it"),
	                  MOST_LINES);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(fixture_peek(fixture, fixture->g->hosts[i], PI_LID),
		                  200 + i);
	}
}
END_TEST

/* So many hosts went away that their LIDs are given to as many others, and the log does
 * not name each. */
START_TEST(many_recycled)
{
	enum { N = MOST_LINES + 5 };

	fixture_topo(fixture, "ft2 6 20 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.unicast_lid_limit = fixture->g->n_end_ports - N;
	for (unsigned i = 0; i < N; i++) {
		set_host(i, false);
	}
	fixture_start(fixture);
	up(1);
	for (unsigned i = 0; i < N; i++) {
		set_host(N + i, false);
	}
	sweep_request_heavy(fixture->sweep);
	up(2);
	for (unsigned i = 0; i < N; i++) {
		set_host(i, true);
	}
	fixture_log(fixture);
	sweep_request_heavy(fixture->sweep);
	up(3);
	ck_assert_uint_eq(
		fixture_logged(
			fixture,
			": 5 more LIDs of ports that are gone are given to others"),
		1);
	for (unsigned i = 0; i < N; i++) {
		ck_assert_uint_ne(lid_of_host(i), 0);
	}
}
END_TEST

TEST_SUITE(sweep_lids)
{
	TCase *t = tcase_create("sweep_lids");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, presence);
	tcase_add_test(t, recycled);
	tcase_add_loop_test(t, takeover, 0, 2);
	tcase_add_test(t, exported);
	tcase_add_loop_test(t, imported, 0, 2);
	tcase_add_test(t, bad_file);
	tcase_add_test(t, not_exported);
	tcase_add_test(t, many_move);
	tcase_add_test(t, many_recycled);
	suite_add_tcase(suite, t);
}

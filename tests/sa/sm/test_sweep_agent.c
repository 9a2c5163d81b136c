/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What the sweep answers to others, and what it does when there is another SM.
 */
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;
static struct tap tap;

static void setup(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
}

static void teardown(void)
{
	fixture_free(fixture);
}

static void up(void)
{
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
}

/* SMInfo (IBA vol. 1, table 161): GUID, SM_Key, ActCount, Priority and SMState, by hand.
 */
START_TEST(sm_info)
{
	uint8_t mgmt_class =
		_i ? UMAD_CLASS_SUBN_LID_ROUTED : UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	uint8_t guid[8];

	fixture->config.sm_priority = 5;
	up();
	tap.n_out = 0;
	tap.in[4] = 0;
	field_set(tap.in, MAD_TID, 0x0102030405060708);
	tap_bring(&tap, fixture, mgmt_class, UMAD_METHOD_GET, UMAD_SM_ATTR_SM_INFO,
	          MAD_BYTES);
	ck_assert_uint_eq(tap.n_out, 1);
	ck_assert_uint_eq(tap.out[1], mgmt_class);
	ck_assert_uint_eq(tap.out[3], 0x81);
	ck_assert_uint_eq(tap.out[4], _i ? 0 : 0x80);
	ck_assert_uint_eq(tap.out[5], 0);
	ck_assert_uint_eq(tap.out[15], 8);
	field_set(guid, 0, 64, sim_transport(fixture->sim)->local.port_guid);
	ck_assert_mem_eq(tap.out + 64, guid, 8);
	ck_assert_uint_gt(field_get(tap.out + 64, SMI_ACT_COUNT), 100);
	ck_assert_uint_eq(tap.out[64 + 20], 5 << 4 | 3);
	ck_assert_uint_eq(tap.out_msg.addr.directed, !_i);
	ck_assert_uint_eq(tap.out_msg.addr.lid, _i ? 77 : 0xffff);
}
END_TEST

/* There is no election: a Set is refused, and changes nothing. */
START_TEST(sm_info_set)
{
	up();
	tap.n_out = 0;
	tap_bring(&tap, fixture, UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_METHOD_SET,
	          UMAD_SM_ATTR_SM_INFO, MAD_BYTES);
	ck_assert_uint_eq(tap.n_out, 1);
	ck_assert_uint_eq(tap.out[5], 0x1c);
	ck_assert(sweep_status(fixture->sweep)->master);
}
END_TEST

/* What is behind the head of a Notice: set before trap() is called. */
static struct {
	uint32_t lid, mask;
	bool other;
} told;

static void trap(unsigned number)
{
	memset(tap.in, 0, sizeof(tap.in));
	field_set(tap.in + 64, NTC_144_LID, told.lid);
	field_set(tap.in + 64, NTC_144_CAPABILITY_MASK, told.mask);
	field_set(tap.in + 64, NTC_144_OTHER_CHANGES, told.other);
	field_set(tap.in + 64, NTC_IS_GENERIC, 1);
	field_set(tap.in + 64, NTC_TRAP_NUMBER, number);
	field_set(tap.in + 64, NTC_ISSUER_LID, 77);
	tap_bring(&tap, fixture, UMAD_CLASS_SUBN_LID_ROUTED, UMAD_METHOD_TRAP,
	          UMAD_ATTR_NOTICE, MAD_BYTES);
}

/* clang-format off */
static const struct {
	unsigned number;
	bool sweep_on_trap, sweeps;
} traps[] = {
	{ 128, true,  true },
	{ 144, true,  true },
	{ 128, false, false },
	{ 144, false, false },
	{ 129, true,  false },
	{ 257, true,  false },
};
/* clang-format on */

START_TEST(repressed)
{
	fixture->config.sweep_on_trap = traps[_i].sweep_on_trap;
	fixture->config.sweep_interval = 0;
	up();
	tap.n_out = 0;
	trap(traps[_i].number);
	ck_assert_uint_eq(tap.n_out, 1);
	ck_assert_uint_eq(tap.out[3], UMAD_METHOD_TRAP_REPRESS);
	ck_assert_uint_eq(tap.out_msg.addr.lid, 77);
	ck_assert_uint_eq(field_get(tap.out + 64, NTC_TRAP_NUMBER), traps[_i].number);
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps,
	                  1u + traps[_i].sweeps);
}
END_TEST

enum { IS_SM = 1 << 1, OTHER_BIT = 1 << 19 };

/* clang-format off */
static const struct {
	uint32_t flips; /* bits of the CapabilityMask that the trap tells otherwise */
	bool foreign, other;
	bool sweeps;
} own_traps[] = {
	{ 0,                 false, false, false }, /* the bit as we set it at the start */
	{ IS_SM,             false, false, false },
	{ OTHER_BIT,         false, false, true },
	{ IS_SM | OTHER_BIT, false, false, true },
	{ 0,                 false, true,  true },
	{ 0,                 true,  false, true },
};
/* clang-format on */

static uint32_t mask_published(void)
{
	const struct port *p = &fixture->g->ports[fixture->g->sm_port];
	struct snap_reader *r;
	const uint8_t *info;
	uint16_t len;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_int_eq(snap_attr(r, UMAD_SM_ATTR_PORT_INFO,
	                           fixture->g->nodes[p->node].guid, p->num, &info, &len),
	                 E_OK);
	uint32_t mask = (uint32_t)field_get(info, PI_CAPABILITY_MASK);
	snap_reader_close(r);
	return mask;
}

/* Our own IsSM bit is no reason to sweep; what else changed on our port is, and an SM
 * elsewhere. */
START_TEST(own_is_sm)
{
	fixture->config.sweep_interval = 0;
	up();
	uint32_t sm_lid = (uint32_t)fixture_peek(fixture, fixture->g->sm_port, PI_LID);

	told.lid = sm_lid + own_traps[_i].foreign;
	told.mask = mask_published() ^ own_traps[_i].flips;
	told.other = own_traps[_i].other;
	trap(144);
	ck_assert_uint_eq(tap.out[3], UMAD_METHOD_TRAP_REPRESS);
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps,
	                  1u + own_traps[_i].sweeps);
	/* we are one, whatever was told of the time before we said so */
	ck_assert_uint_eq(mask_published() & IS_SM, IS_SM);
}
END_TEST

/* A port that shows the bit late: it is published when the trap tells. */
START_TEST(own_is_sm_late)
{
	fixture->config.sweep_interval = 0;
	fixture_start(fixture);
	ck_assert_int_eq(fixture->transport->ops->set_issm(fixture->transport, false),
	                 E_OK);
	fixture_heavy(fixture, 1);
	ck_assert_uint_eq(mask_published() & IS_SM, 0);
	told.lid = (uint32_t)fixture_peek(fixture, fixture->g->sm_port, PI_LID);
	told.mask = mask_published() | IS_SM;
	told.other = false;
	trap(144);
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
	ck_assert_uint_eq(mask_published(), told.mask);
}
END_TEST

/* The trap comes while the first sweep is on its way, for a LID of the life before. */
START_TEST(own_is_sm_early)
{
	fixture->config.sweep_interval = 0;
	up();
	told.lid = (uint32_t)fixture_peek(fixture, fixture->g->sm_port, PI_LID) +
	           (unsigned)_i;
	told.mask = mask_published();
	told.other = false;
	fixture_stop(fixture);
	fixture_start(fixture);
	trap(144);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 0);
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1u + (unsigned)_i);
}
END_TEST

/* A burst during a sweep makes one more sweep, not many. */
START_TEST(burst)
{
	fixture->config.sweep_interval = 0;
	up();
	for (unsigned i = 0; i < 50; i++) {
		trap(128);
	}
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_eq(tap.n_out, 50);
	ck_assert_uint_le(sweep_status(fixture->sweep)->heavy_sweeps, 3);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->heavy_sweeps, 2);
}
END_TEST

/* Any length and content from outside: nothing happens, nothing breaks. */
START_TEST(nonsense)
{
	uint64_t seed = 99;

	up();
	for (unsigned i = 0; i < 2000; i++) {
		for (unsigned k = 0; k < MAD_BYTES; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			tap.in[k] = (uint8_t)(seed >> 56);
		}
		static const uint8_t classes[] = { 0x81, 0x01, 0x03, 0x04 };
		tap_bring(&tap, fixture, classes[i % 4], tap.in[3],
		          (uint16_t)(seed >> 30),
		          seed >> 40 & 1 ? MAD_BYTES : seed >> 41 & 0xff);
	}
	fixture_up(fixture);
}
END_TEST

static void other(uint8_t priority, uint8_t state)
{
	tap.other_guid = fixture->g->nodes[fixture->g->n_nodes - 1].guid;
	if (fixture->g->nodes[fixture->g->n_nodes - 1].type == NODE_SWITCH) {
		tap.other_guid = fixture->g->nodes[0].guid;
	}
	tap.other_priority = priority;
	tap.other_state = state;
}

/* Another master was first, whatever its priority: nothing is touched, SMInfo says
 * standby; when it goes, we take over. */
START_TEST(another_master)
{
	other(0, 3);
	fixture->config.sm_priority = 15;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	const struct sweep_status *st = sweep_status(fixture->sweep);
	ck_assert(!st->up);
	ck_assert(!st->master);
	ck_assert_ptr_nonnull(strstr(st->not_ready, "another SM is master: GUID 0x"));
	fixture_run_ms(fixture, 60000);
	ck_assert_uint_eq(tap.n_sets, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
	tap.n_out = 0;
	memset(tap.in, 0, sizeof(tap.in));
	tap_bring(&tap, fixture, UMAD_CLASS_SUBN_LID_ROUTED, UMAD_METHOD_GET,
	          UMAD_SM_ATTR_SM_INFO, MAD_BYTES);
	ck_assert_uint_eq(tap.out[64 + 20] & 0xf, 2);
	if (_i == 0) {
		tap.other_silent = true;
	} else {
		tap.other_state = 2;
	}
	fixture_run_ms(fixture, 15000);
	fixture_up(fixture);
	ck_assert(sweep_status(fixture->sweep)->master);
}
END_TEST

/* SMs that are not master are none of our business. */
START_TEST(other_standby)
{
	other(15, (uint8_t)_i);
	up();
	ck_assert(sweep_status(fixture->sweep)->master);
}
END_TEST

/* Another master of this priority, and of equal priority with a lower or higher GUID. */
static const struct {
	uint8_t priority;
	int guid; /* -1: below ours, 1: above */
	bool we_stay;
} masters[] = {
	{ 3, 1, true },   { 3, -1, true }, { 9, 1, false },
	{ 9, -1, false }, { 5, 1, true },  { 5, -1, false },
};

static void other_master(unsigned i, uint8_t state)
{
	fixture->config.sm_priority = 5;
	other(masters[i].priority, state);
	tap.other_sm_guid =
		fixture->g->ports[fixture->g->sm_port].guid + (uint64_t)masters[i].guid;
}

static void check_master(unsigned i)
{
	ck_assert_uint_eq(sweep_status(fixture->sweep)->master, masters[i].we_stay);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->up, masters[i].we_stay);
}

/* Two masters meet (two fabrics were joined): the higher one stays. At equal priority it is
 * the one with the lower GUID, so exactly one of the two steps down. */
START_TEST(second_master)
{
	fixture->config.sm_priority = 5;
	up();
	other_master((unsigned)_i, 3);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	check_master((unsigned)_i);
}
END_TEST

/* Two SMs started together: neither was master when the other looked, so both become it.
 * The light sweeps that follow find the other; the higher one stays, and sweeps no more
 * for it. */
START_TEST(both_started)
{
	other_master((unsigned)_i, 1);
	up();
	tap.other_state = 3;
	fixture_run_ms(fixture, 60000);
	check_master((unsigned)_i);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 2);
}
END_TEST

TEST_SUITE(sweep_agent)
{
	TCase *t = tcase_create("others");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, sm_info, 0, 2);
	tcase_add_test(t, sm_info_set);
	tcase_add_loop_test(t, repressed, 0, sizeof(traps) / sizeof(traps[0]));
	tcase_add_loop_test(t, own_is_sm, 0, sizeof(own_traps) / sizeof(own_traps[0]));
	tcase_add_test(t, own_is_sm_late);
	tcase_add_loop_test(t, own_is_sm_early, 0, 2);
	tcase_add_test(t, burst);
	tcase_add_test(t, nonsense);
	tcase_add_loop_test(t, another_master, 0, 2);
	tcase_add_loop_test(t, other_standby, 0, 3);
	tcase_add_loop_test(t, second_master, 0, sizeof(masters) / sizeof(masters[0]));
	tcase_add_loop_test(t, both_started, 0, sizeof(masters) / sizeof(masters[0]));
	suite_add_tcase(suite, t);
}

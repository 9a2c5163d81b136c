/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/sim_fixture.h"
#include "tests/lib/suite.h"

/* Faults, traps, clients and clocks of the simulated fabric. */

START_TEST(another_sm_attaches)
{
	struct mad_msg r,
		m = { .mgmt_class = 0x81, .len = MAD_BYTES, .data = fixture.mad };
	program();
	TO(1);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	ck_assert_int_eq(transport_send(fixture.t, &m), E_OK);
	fixture.t->ops->wake(fixture.t);
	fixture.t->ops->close(fixture.t); /* with an answer under way */
	fixture.t = sim_transport(fixture.s);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, 1000, &r), E_TIMEOUT);
	TO(1, 3, 1);
	ck_assert_uint_eq(port_field(1, PI_LID), 4); /* the fabric keeps what was set */
}
END_TEST

START_TEST(issm_bit)
{
	to_self();
	ck_assert_uint_eq(port_field(1, PI_CAPABILITY_MASK) & 2, 0);
	ck_assert_int_eq(fixture.t->ops->set_issm(fixture.t, true), E_OK);
	ck_assert_uint_eq(port_field(1, PI_CAPABILITY_MASK) & 2, 2);
	fixture.t->ops->close(fixture.t);
	ck_assert_uint_eq(port_field(1, PI_CAPABILITY_MASK) & 2, 0);
}
END_TEST

START_TEST(deaf_and_down)
{
	ck_assert_int_eq(sim_set_deaf(fixture.s, B, true), E_OK);
	TO(1, 3);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), -1);
	TO(1);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_INIT);
	ck_assert_int_eq(sim_set_deaf(fixture.s, B, false), E_OK);
	ck_assert_int_eq(sim_set_node(fixture.s, B, false), E_OK);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_DOWN);
	ck_assert_int_eq(sim_set_node(fixture.s, B, true), E_OK);
	TO(1, 3);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	ck_assert_int_eq(sim_set_node(fixture.s, 0x999, true), E_NOTFOUND);
	ck_assert_int_eq(sim_set_link(fixture.s, A, 2, true), E_NOTFOUND);
	ck_assert_int_eq(sim_set_link(fixture.s, A, 77, true), E_NOTFOUND);
}
END_TEST

START_TEST(reboot_forgets)
{
	program();
	activate();
	ck_assert_int_eq(sim_reboot(fixture.s, B), E_OK);
	TO(1, 3);
	ck_assert_uint_eq(port_field(0, PI_LID), 0);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_INIT);
	ck_assert_int_eq(get(UMAD_SM_ATTR_LINEAR_FT, 0), 0);
	ck_assert_uint_eq(fixture.data[1], 0xFF);
	TO(1);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_INIT);
	ck_assert_uint_eq(sim_bounces(fixture.s), 0); /* not by a Set */
}
END_TEST

START_TEST(worn_cable_has_one_lane)
{
	struct mad_msg m;
	program();
	activate();
	TO(1);
	unsigned whole = port_field(3, PI_LINK_WIDTH_ACTIVE);
	ck_assert_uint_ne(whole, WIDTH_1X);
	ck_assert_int_eq(sim_wear_link(fixture.s, A, 3), E_OK);
	ck_assert(next(100, &m)); /* trap 128 */
	TO(1);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_INIT);
	ck_assert_uint_eq(port_field(3, PI_LINK_WIDTH_ACTIVE), WIDTH_1X);
	ck_assert_int_eq(sim_set_link(fixture.s, A, 3, true), E_OK);
	ck_assert_uint_eq(port_field(3, PI_LINK_WIDTH_ACTIVE), whole);
	ck_assert_int_eq(sim_wear_link(fixture.s, A, 2), E_NOTFOUND);
}
END_TEST

START_TEST(trap_128)
{
	struct mad_msg m;
	program();
	activate();
	ck_assert(!next(100, &m));
	ck_assert_int_eq(sim_set_link(fixture.s, B, 1, false), E_OK);
	ck_assert(next(100, &m));
	/* 13.4.8.2 and 14.2.5.1: generic, urgent, from a switch, number 128, its LID */
	static const uint8_t notice[] = { 0x81, 0, 0, 2, 0, 128, 0, 3, 0, 0, 0, 3 };
	ck_assert_uint_eq(m.mgmt_class, UMAD_CLASS_SUBN_LID_ROUTED);
	ck_assert_uint_eq(m.data[3], UMAD_METHOD_TRAP);
	ck_assert_uint_eq(field_get(m.data, MAD_ATTR_ID), UMAD_ATTR_NOTICE);
	ck_assert_mem_eq(m.data + 64, notice, sizeof(notice));
	ck_assert_uint_eq(m.addr.lid, 3);
	uint64_t tid = field_get(m.data, MAD_TID);
	ck_assert(next(2000, &m)); /* again, after 4.096 us * 2^18 */
	ck_assert_uint_eq(field_get(m.data, MAD_TID), tid);
	fill(UMAD_METHOD_TRAP_REPRESS, UMAD_ATTR_NOTICE, 0);
	field_set(fixture.mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_LID_ROUTED);
	field_set(fixture.mad, MAD_TID, tid);
	ck_assert_int_eq(exchange_to(3), -1);
	ck_assert(!next(10000, &m));
	ck_assert_int_eq(sim_set_link(fixture.s, B, 1, true), E_OK);
	unsigned sends = 0;
	while (next(10000, &m)) {
		ck_assert_uint_ne(field_get(m.data, MAD_TID), tid);
		sends++;
	}
	ck_assert_uint_eq(sends, 5);
}
END_TEST

START_TEST(trap_144)
{
	struct mad_msg m;
	program();
	ck_assert_int_eq(sim_set_description(fixture.s, H2, "new name"), E_OK);
	ck_assert(next(100, &m));
	ck_assert_uint_eq(field_get(m.data + 64, NTC_TRAP_NUMBER), 144);
	ck_assert_uint_eq(field_get(m.data + 64, NTC_144_LID), 4);
	ck_assert_uint_eq(field_get(m.data + 64, NTC_PRODUCER_TYPE), 1);
	ck_assert_uint_eq(m.data[64 + 21], 1); /* change flags: NodeDescription */
	TO(1, 3, 1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_DESC, 0), 0);
	ck_assert_str_eq((char *)fixture.data, "new name");
}
END_TEST

static void client_mad(uint8_t *mad, size_t len)
{
	memset(mad, 0, len);
	field_set(mad, MAD_BASE_VERSION, 1);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_ADM);
	field_set(mad, MAD_CLASS_VERSION, 2);
	field_set(mad, MAD_METHOD, UMAD_METHOD_GET);
}

START_TEST(clients)
{
	enum { LONG = 5000 };
	uint8_t mad[LONG];
	const uint8_t *got;
	size_t len;
	struct mad_msg m;

	client_mad(mad, MAD_BYTES);
	ck_assert_int_eq(sim_client_send(fixture.s, 0x999, mad, MAD_BYTES), E_NOTFOUND);
	ck_assert_int_eq(sim_client_send(fixture.s, H2 + PORT1, mad, 3), -EINVAL);
	program();
	/* Tables alone are not enough: data needs ACTIVE ports. */
	ck_assert_int_eq(sim_client_send(fixture.s, H2 + PORT1, mad, MAD_BYTES),
	                 E_NOPATH);
	activate();
	ck_assert_int_eq(sim_client_send(fixture.s, H2 + PORT1, mad, MAD_BYTES), E_OK);
	ck_assert(next(100, &m));
	ck_assert_uint_eq(m.mgmt_class, UMAD_CLASS_SUBN_ADM);
	ck_assert_uint_eq(m.addr.lid, 4);
	ck_assert_uint_eq(m.addr.qpn, 1);
	ck_assert_uint_eq(m.addr.qkey, 0x80010000);
	ck_assert_int_eq(sim_client_recv(fixture.s, H2 + PORT1, &got, &len), E_TIMEOUT);
	client_mad(mad, LONG);
	mad[LONG - 1] = 7;
	struct mad_msg answer = {
		.mgmt_class = 3, .addr = m.addr, .len = LONG, .data = mad
	};
	ck_assert_int_eq(transport_send(fixture.t, &answer), E_OK);
	ck_assert_int_eq(transport_send(fixture.t, &answer), E_OK);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(sim_client_recv(fixture.s, H2 + PORT1, &got, &len),
		                 E_OK);
		ck_assert_uint_eq(len, LONG);
		ck_assert_mem_eq(got, mad, LONG);
	}
	ck_assert_int_eq(sim_client_recv(fixture.s, H2 + PORT1, &got, &len), E_TIMEOUT);
	/* A client on the SM's own port. */
	ck_assert_int_eq(sim_client_send(fixture.s, H1 + PORT1, mad, LONG), E_OK);
	ck_assert(next(100, &m));
	ck_assert_uint_eq(m.addr.lid, 1);
	ck_assert_uint_eq(m.len, LONG);
}
END_TEST

START_TEST(first_data_packet_activates)
{
	uint8_t mad[MAD_BYTES];
	struct mad_msg m;
	client_mad(mad, MAD_BYTES);
	program();
	activate();
	TO(1); /* both ends of A-B anew; A's stays ARMED until a packet comes in */
	ck_assert_int_eq(change(3, PI_PORT_STATE, PORT_DOWN), 0);
	ck_assert_int_eq(change(3, PI_PORT_STATE, PORT_ARMED), 0);
	TO(1, 3);
	activate_port(3);
	while (next(20000, &m)) { /* traps about the bounce */
	}
	ck_assert_int_eq(sim_client_send(fixture.s, H2 + PORT1, mad, MAD_BYTES), E_OK);
	ck_assert(next(100, &m));
	TO(1);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_ACTIVE);
}
END_TEST

START_TEST(virtual_time)
{
	struct mad_msg m;
	uint64_t t0 = fixture.t->ops->now_ms(fixture.t);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, t0 + 1234567, &m), E_TIMEOUT);
	ck_assert_uint_eq(fixture.t->ops->now_ms(fixture.t), t0 + 1234567);
	fixture.t->ops->wake(fixture.t);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, UINT64_MAX, &m), -EINTR);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, 0, &m), E_TIMEOUT);
}
END_TEST

START_TEST(delay_per_hop)
{
	/* 3 cables there, 3 back, 1 ms each: nothing before 6 ms. */
	teardown();
	open_fixture(&(struct sim_options){ .virtual_clock = true, .delay_us = 1000 });
	struct mad_msg r,
		m = { .mgmt_class = 0x81, .len = MAD_BYTES, .data = fixture.mad };
	m.addr = (struct mad_addr){ .directed = true, .lid = 0xFFFF };
	TO(1, 3, 1);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	ck_assert_int_eq(transport_send(fixture.t, &m), E_OK);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, 5, &r), E_TIMEOUT);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, 6, &r), E_OK);
	ck_assert_uint_eq(fixture.t->ops->now_ms(fixture.t), 6);
}
END_TEST

/* Which of 1000 SMPs came back, as a bit string hashed by FNV-1a. */
static uint32_t lossy_run(uint32_t seed, unsigned *ret_lost)
{
	uint32_t hash = 2166136261u;
	open_fixture(&(struct sim_options){
		.virtual_clock = true, .seed = seed, .drop_ppm = 100000 });
	*ret_lost = 0;
	TO(1);
	for (unsigned i = 0; i < 1000; i++) {
		bool lost = get(UMAD_SM_ATTR_NODE_INFO, 0) < 0;
		*ret_lost += lost;
		hash = (hash ^ lost) * 16777619u;
	}
	ck_assert_uint_eq(sim_count(fixture.s, UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO),
	                  1000);
	teardown();
	return hash;
}

START_TEST(losses_follow_the_seed)
{
	unsigned lost, again, other;
	teardown();
	uint32_t first = lossy_run(7, &lost);
	ck_assert_uint_eq(lossy_run(7, &again), first);
	ck_assert_uint_ne(lossy_run(8, &other), first);
	/* Request and answer are each lost with 0.1: 0.19 of 1000, within 6 sigma. */
	ck_assert_uint_gt(lost, 115);
	ck_assert_uint_lt(lost, 265);
	open_fixture(&(struct sim_options){ .virtual_clock = true });
}
END_TEST

/* Responses to 300 SMPs and their times, hashed by FNV-1a. */
static uint32_t noisy_run(uint32_t seed, const struct sim_noise *noise, unsigned *ret_same)
{
	uint32_t hash = 2166136261u;
	uint8_t truth[sizeof(fixture.data)];

	teardown();
	open_fixture(&(struct sim_options){ .virtual_clock = true, .seed = seed });
	TO(1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	memcpy(truth, fixture.data, sizeof(truth));
	sim_set_noise(fixture.s, noise);
	*ret_same = 0;
	for (unsigned i = 0; i < 300; i++) {
		struct mad_msg m = { .mgmt_class = 0x81, .len = MAD_BYTES }, r;

		m.addr = (struct mad_addr){ .directed = true, .lid = 0xFFFF };
		m.data = fixture.mad;
		fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
		ck_assert_int_eq(transport_send(fixture.t, &m), E_OK);
		while (next(20, &r)) {
			uint64_t now = fixture.t->ops->now_ms(fixture.t);

			*ret_same += memcmp(r.data + SMP_DATA_AT, truth, sizeof(truth)) ==
			             0;
			for (unsigned k = 0; k < MAD_BYTES; k++) {
				hash = (hash ^ r.data[k]) * 16777619u;
			}
			hash = (hash ^ (uint32_t)now) * 16777619u;
		}
	}
	return hash;
}

/* Numbers within 6 sigma of those of 300 requests. */
START_TEST(noise_follows_the_seed)
{
	static const struct {
		struct sim_noise noise;
		unsigned least, most; /* true answers */
	} cases[] = {
		{ { 0 }, 300, 300 },
		{ { .delay_ppm = 500000, .delay_us = 9000 }, 300, 300 },
		{ { .request_delay_ppm = 500000, .delay_us = 9000 }, 300, 300 },
		/* the request, its answers: (1 + 0.1) * (1 + 0.1) */
		{ { .duplicate_ppm = 100000, .delay_us = 5000 }, 310, 420 },
		/* a quarter of the bits are payload, two flips in the mean */
		{ { .corrupt_ppm = 1000000 }, 100, 240 },
		/* many requests with a flipped bit get no answer */
		{ { .request_corrupt_ppm = 500000 }, 150, 299 },
	};
	unsigned same, again;
	const struct sim_noise *noise = &cases[_i].noise;
	uint32_t hash = noisy_run(7, noise, &same);

	ck_assert_uint_eq(noisy_run(7, noise, &again), hash);
	ck_assert_uint_eq(again, same);
	ck_assert_uint_ge(same, cases[_i].least);
	ck_assert_uint_le(same, cases[_i].most);
	ck_assert(_i == 0 || noisy_run(8, noise, &again) != hash);
}
END_TEST

START_TEST(late_request_takes_effect_late)
{
	uint8_t data[64];
	struct mad_msg m = { .mgmt_class = 0x81, .len = MAD_BYTES }, r;

	program();
	sim_set_noise(fixture.s, &(struct sim_noise){ .request_delay_ppm = 1000000,
	                                          .delay_us = 50000 });
	m.addr = (struct mad_addr){ .directed = true, .lid = 0xFFFF };
	m.data = fixture.mad;
	TO(1, 3);
	memset(fixture.data, 2, sizeof(fixture.data));
	fill(UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT, 0);
	ck_assert_int_eq(transport_send(fixture.t, &m), E_OK);
	ck_assert_int_eq(sim_peek(fixture.s, B, UMAD_SM_ATTR_LINEAR_FT, 0, data), E_OK);
	ck_assert_uint_eq(data[4], 1);
	ck_assert(next(60, &r));
	ck_assert_int_eq(sim_peek(fixture.s, B, UMAD_SM_ATTR_LINEAR_FT, 0, data), E_OK);
	ck_assert_uint_eq(data[4], 2);
}
END_TEST

START_TEST(hostile_node_lies)
{
	uint8_t truth[sizeof(fixture.data)];
	unsigned lies = 0;

	TO(1, 3);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	memcpy(truth, fixture.data, sizeof(truth));
	ck_assert_int_eq(sim_set_hostile(fixture.s, B, true), E_OK);
	for (unsigned i = 0; i < 200; i++) {
		lies += get(UMAD_SM_ATTR_NODE_INFO, 0) != 0 ||
		        memcmp(fixture.data, truth, sizeof(truth)) != 0;
	}
	ck_assert_uint_gt(lies, 50);
	ck_assert_uint_lt(lies, 150);
	ck_assert_int_eq(sim_set_hostile(fixture.s, B, false), E_OK);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	ck_assert_mem_eq(fixture.data, truth, sizeof(truth));
	ck_assert_int_eq(sim_set_hostile(fixture.s, 0x999, true), E_NOTFOUND);
}
END_TEST

START_TEST(guids_of_another)
{
	ck_assert_int_eq(sim_set_guids(fixture.s, B, A), E_OK);
	TO(1, 3);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), A);
	ck_assert_int_eq(sim_set_guids(fixture.s, B, B), E_OK);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), B);
	ck_assert_int_eq(sim_set_guids(fixture.s, B, 0x999), E_NOTFOUND);
}
END_TEST

START_TEST(lid_is_lost)
{
	program();
	ck_assert_int_eq(sim_set_lid(fixture.s, B, 0, 0), E_OK);
	ck_assert_int_eq(sim_set_lid(fixture.s, H2, 1, 9), E_OK);
	TO(1, 3);
	ck_assert_uint_eq(port_field(0, PI_LID), 0);
	TO(1, 3, 1);
	ck_assert_uint_eq(port_field(1, PI_LID), 9);
	ck_assert_int_eq(sim_set_lid(fixture.s, B, 1, 9), E_NOTFOUND);
	ck_assert_int_eq(sim_set_lid(fixture.s, B, 77, 9), E_NOTFOUND);
}
END_TEST

static void *wake_soon(void *arg)
{
	struct transport *t = arg;
	t->ops->wake(t);
	return NULL;
}

static void *ask_from_h2(void *arg)
{
	uint8_t mad[MAD_BYTES];
	client_mad(mad, sizeof(mad));
	ck_assert_int_eq(sim_client_send(arg, H2 + PORT1, mad, sizeof(mad)), E_OK);
	return NULL;
}

START_TEST(real_clock)
{
	pthread_t thread;
	struct mad_msg m;
	teardown();
	open_fixture(&(struct sim_options){ .virtual_clock = false });
	program();
	activate();
	uint64_t t0 = fixture.t->ops->now_ms(fixture.t);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, t0 + 2, &m), E_TIMEOUT);
	ck_assert_uint_ge(fixture.t->ops->now_ms(fixture.t), t0 + 2);
	/* The main thread sleeps without a deadline; only the other one can end that. */
	ck_assert_int_eq(pthread_create(&thread, NULL, wake_soon, fixture.t), 0);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, UINT64_MAX, &m), -EINTR);
	pthread_join(thread, NULL);
	ck_assert_int_eq(pthread_create(&thread, NULL, ask_from_h2, fixture.s), 0);
	ck_assert_int_eq(fixture.t->ops->recv(fixture.t, UINT64_MAX, &m), E_OK);
	ck_assert_uint_eq(m.addr.lid, 4);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(peek_is_a_get)
{
	uint8_t data[64];
	program();
	ck_assert_int_eq(sim_peek(fixture.s, B, UMAD_SM_ATTR_LINEAR_FT, 0, data), E_OK);
	ck_assert_uint_eq(data[4], 1);
	ck_assert_int_eq(sim_peek(fixture.s, H2, UMAD_SM_ATTR_PORT_INFO, 1, data), E_OK);
	ck_assert_uint_eq(field_get(data, PI_LID), 4);
	ck_assert_int_eq(sim_peek(fixture.s, 0x999, UMAD_SM_ATTR_PORT_INFO, 1, data),
	                 E_NOTFOUND);
	ck_assert_int_eq(sim_peek(fixture.s, B, 0x7777, 1, data), E_NOTFOUND);
}
END_TEST

START_TEST(kept_lids)
{
	sim_free(fixture.s);
	uint32_t h2 = graph_port_by_guid(fixture.g, H2 + PORT1);
	fixture.g->ports[h2].lid = 8;
	fixture.g->ports[h2].lmc = 2;
	struct sim_options o = { .virtual_clock = true, .sm_port_guid = H1 + PORT1 };
	ck_assert_int_eq(sim_new(fixture.g, &o, true, &fixture.s), E_OK);
	fixture.t = sim_transport(fixture.s);
	TO(1, 3, 1);
	ck_assert_uint_eq(port_field(1, PI_LID), 8);
	ck_assert_uint_eq(port_field(1, PI_LMC), 2);
	o.sm_port_guid = 0x999;
	struct sim *none = NULL;
	ck_assert_int_eq(sim_new(fixture.g, &o, true, &none), E_NOTFOUND);
	ck_assert_ptr_null(none);
}
END_TEST

TEST_SUITE(sim_events)
{
	TCase *tc = tcase_create("fabric");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, another_sm_attaches);
	tcase_add_test(tc, issm_bit);
	tcase_add_test(tc, deaf_and_down);
	tcase_add_test(tc, reboot_forgets);
	tcase_add_test(tc, worn_cable_has_one_lane);
	tcase_add_test(tc, trap_128);
	tcase_add_test(tc, trap_144);
	tcase_add_test(tc, clients);
	tcase_add_test(tc, first_data_packet_activates);
	tcase_add_test(tc, virtual_time);
	tcase_add_test(tc, delay_per_hop);
	tcase_add_test(tc, losses_follow_the_seed);
	tcase_add_loop_test(tc, noise_follows_the_seed, 0, 6);
	tcase_add_test(tc, late_request_takes_effect_late);
	tcase_add_test(tc, hostile_node_lies);
	tcase_add_test(tc, guids_of_another);
	tcase_add_test(tc, lid_is_lost);
	tcase_add_test(tc, real_clock);
	tcase_add_test(tc, peek_is_a_get);
	tcase_add_test(tc, kept_lids);
	suite_add_tcase(suite, tc);
}

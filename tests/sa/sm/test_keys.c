/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * M_Keys: which ones ports hold after a sweep, and after the operator or another subnet manager
 * chose another one. The keys of ports are read out of the simulation.
 */
#include <config.h>
#include <sys/stat.h>

#include "sa/sm/discover/keyring.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"
#include "tests/lib/temp_file.h"

/* Keys that differ from port to port are derived by GnuTLS. */
#ifdef HAVE_GNUTLS
static const bool derives_keys = true;
#else
static const bool derives_keys = false;
#endif

static const uint64_t KEY_X = UINT64_C(0x5ec2e7a11ce0b0b1);
static const uint64_t KEY_Y = UINT64_C(0x7a31f00dc0ffee42);

static struct sweep_fixture *fixture;
static char key_file[120];

static void setup(void)
{
	fixture = fixture_new();
	snprintf(key_file, sizeof(key_file), "%s/guid2mkey", fixture->dir);
	fixture->deps.key_file = key_file;
	fixture->config.m_key_lookup = true;
}

static void teardown(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

/* --- the file ---------------------------------------------------------------------------- */

START_TEST(file_is_opensms)
{
	static const char text[] = "0x0002c90300001235 0x5ec2e7a11ce0b0b1\n\n"
				   "0x0002c90300001236 0x0000000000000007\n\n";
	struct keyring k = { 0 }, again = { 0 };
	struct arena *a = arena_new();
	struct diags d;
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	diags_init(&d, a);
	ck_assert_int_eq(keyring_read(&k, "f", text, strlen(text), &d), E_OK);
	ck_assert_uint_eq(keyring_held(&k, UINT64_C(0x0002c90300001235)), KEY_X);
	ck_assert_uint_eq(keyring_held(&k, UINT64_C(0x0002c90300001236)), 7);
	ck_assert_uint_eq(keyring_held(&k, 5), 0);
	/* what was learnt since is not replaced by an old file */
	ck_assert_int_eq(keyring_note(&k, UINT64_C(0x0002c90300001236), 9), E_OK);
	ck_assert_int_eq(keyring_read(&k, "f", text, strlen(text), &d), E_OK);
	ck_assert_uint_eq(keyring_held(&k, UINT64_C(0x0002c90300001236)), 9);
	ck_assert_int_eq(keyring_note(&k, UINT64_C(0x0002c90300001236), 7), E_OK);
	keyring_write(&k, f);
	fclose(f);
	ck_assert_str_eq(out, text);
	ck_assert(!k.changed);
	ck_assert_int_eq(keyring_read(&again, "f", out, len, &d), E_OK);
	ck_assert_uint_eq(again.n_notes, 2);
	free(out);
	keyring_done(&k);
	keyring_done(&again);
	arena_free(a);
}
END_TEST

/* A wrong line is told by its place, never by what stands there. */
START_TEST(file_with_wrong_lines)
{
	static const char *const lines[] = {
		"0x5ec2e7a11ce0b0b1",     "0x1 0x5ec2e7a11ce0b0b1 0x2",
		"0x0 0x5ec2e7a11ce0b0b1", "x 0x5ec2e7a11ce0b0b1",
		"0x1 5ec2e7a11ce0b0b1",   "0x1 0x5ec2e7a11ce0b0b1777"
	};
	struct keyring k = { 0 };
	struct arena *a = arena_new();
	struct diags d;
	const char *text = arena_printf(a, "0x5 0x6\n\n%s\n", lines[_i]);

	diags_init(&d, a);
	ck_assert_int_eq(keyring_read(&k, "f", text, strlen(text), &d), E_SYNTAX);
	ck_assert_uint_eq(d.n, 1);
	ck_assert_uint_eq(d.items[0].line, 3);
	ck_assert_ptr_null(strstr(d.items[0].text, "5ec2e7"));
	ck_assert_uint_eq(k.n_notes, 0);
	keyring_done(&k);
	arena_free(a);
}
END_TEST

/* --- fabrics ------------------------------------------------------------------------------ */

static uint64_t held(uint32_t port)
{
	return fixture_peek(fixture, port, PI_M_KEY);
}

static void check_all(uint64_t key, unsigned level)
{
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t p = fixture->g->end_ports[i];

		ck_assert_uint_eq(held(p), key);
		ck_assert_uint_eq(fixture_peek(fixture, p, PI_M_KEY_PROTECT_BITS), level);
	}
}

static void settle(void)
{
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 2000);
	fixture_up(fixture);
}

static void start(uint32_t drop_ppm)
{
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, drop_ppm);
	fixture_start(fixture);
	fixture_up(fixture);
}

static void choose(uint64_t m_key, unsigned level, bool per_port)
{
	fixture->config.m_key = m_key;
	fixture->config.m_key_protection_level = level;
	fixture->config.m_key_per_port = per_port;
}

static void restart(void)
{
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	settle();
}

/* Another key, by a reload or at a restart, reaches all ports, whatever they show; and so does
 * none. No sweep is given up for it. */
START_TEST(key_changes)
{
	unsigned level = (unsigned)_i % 3;
	bool by_restart = _i >= 3;
	static const uint64_t keys[] = { KEY_X, KEY_Y, 0, KEY_Y };

	choose(keys[0], level, false);
	start(0);
	check_all(keys[0], level);
	/* ports without a key were never asked with a wrong one */
	ck_assert_uint_eq(sweep_status(fixture->sweep)->smp_retries, 0);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		ck_assert_uint_eq(fixture_peek(fixture, fixture->g->end_ports[i],
		                               PI_M_KEY_VIOLATIONS),
		                  0);
	}
	for (unsigned k = 1; k < 4; k++) {
		choose(keys[k], level, false);
		if (by_restart) {
			restart();
		} else {
			sweep_reconfigure(fixture->sweep, &fixture->deps);
			settle();
		}
		check_all(keys[k], keys[k] != 0 ? level : 0);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->unreachable_nodes, 0);
	}
}
END_TEST

/* Also when packets are lost, so that nobody knows which key a port has. */
START_TEST(key_changes_with_losses)
{
	choose(KEY_X, (unsigned)_i % 3, false);
	start(30000);
	choose(KEY_Y, (unsigned)_i % 3, _i % 3 == 1);
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	settle();
	for (unsigned k = 0; k < 10; k++) {
		settle();
	}
	sim_set_drop(fixture->sim, 0);
	settle();
	settle();
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t p = fixture->g->end_ports[i];

		ck_assert_uint_ne(held(p), KEY_X);
		ck_assert_uint_ne(held(p), 0);
	}
}
END_TEST

START_TEST(file_is_private)
{
	struct stat st;

	choose(KEY_X, 1, false);
	start(0);
	ck_assert_int_eq(stat(key_file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
END_TEST

/* Without a key there is no file. */
/* The file cannot be written: ports have the key all the same, and the log says what is
 * at stake. */
START_TEST(file_is_not_written)
{
	fixture->deps.key_file = "/nonexistent/guid2mkey";
	fixture->config.m_key_per_port = false;
	fixture->config.m_key = KEY_X;
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_log(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_ge(fixture_logged(fixture, "SAG-SM-016"), 1);
	ck_assert_uint_eq(fixture_peek(fixture, fixture_host(fixture, 3), PI_M_KEY),
	                  KEY_X);
}
END_TEST

START_TEST(no_file_without_keys)
{
	struct stat st;

	choose(0, 1, false);
	start(0);
	ck_assert_int_ne(stat(key_file, &st), 0);
}
END_TEST

/* A wrong file is told and left as it is. */
START_TEST(wrong_file_stays)
{
	char text[64] = "";
	FILE *f;

	f = fopen(key_file, "w");
	fputs("nonsense\n", f);
	fclose(f);
	log_set_level(LOG_LEVEL_ERROR);
	choose(KEY_X, 1, false);
	start(0);
	check_all(KEY_X, 1);
	f = fopen(key_file, "r");
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
	fclose(f);
	ck_assert_str_eq(text, "nonsense\n");
}
END_TEST

/* --- keys of others ----------------------------------------------------------------------- */

static void give_key(uint32_t port, uint64_t key, unsigned level)
{
	const struct port *p = &fixture->g->ports[port];
	uint64_t guid = fixture->g->nodes[p->node].guid;
	uint8_t info[64];

	ck_assert_int_eq(
		sim_peek(fixture->sim, guid, UMAD_SM_ATTR_PORT_INFO, p->num, info), E_OK);
	field_set(info, PI_M_KEY, key);
	field_set(info, PI_M_KEY_PROTECT_BITS, level);
	field_set(info, PI_LID, 77);
	field_set(info, PI_MASTER_SM_LID, 78);
	field_set(info, PI_PORT_STATE, 0);
	field_set(info, PI_PORT_PHYSICAL_STATE, 0);
	ck_assert_int_eq(
		sim_poke(fixture->sim, guid, UMAD_SM_ATTR_PORT_INFO, p->num, info), E_OK);
}

/* Gives ports the key of another manager; one of \a every. */
static void foreign(unsigned every, unsigned level)
{
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		if (fixture->g->end_ports[i] != fixture->g->sm_port && i % every == 0) {
			give_key(fixture->g->end_ports[i], KEY_X, level);
		}
	}
}

static void write_keys(const char *path)
{
	FILE *f = fopen(path, "w");

	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		fprintf(f, "0x%016llx 0x%016llx\n\n",
		        (unsigned long long)fixture->g->ports[fixture->g->end_ports[i]]
		                .guid,
		        (unsigned long long)KEY_X);
	}
	fclose(f);
	chmod(path, 0600);
}

static unsigned problems_about_keys(void)
{
	const struct disc *d = &sweep_job(fixture->sweep)->disc;
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_problems && i < DISC_PROBLEMS_MAX; i++) {
		ck_assert_ptr_null(strstr(d->problem[i], "5ec2e7"));
		n += strstr(d->problem[i], "M_Key") != NULL;
	}
	return n;
}

/* The fabric of another manager: its keys are shown, or in its file, or not known at all. */
START_TEST(takeover)
{
	static const struct {
		unsigned level;
		bool file, works;
	} cases[] = { { 0, false, true },
		      { 1, true, true },
		      { 2, true, true },
		      { 1, false, false } };
	char other[140];

	snprintf(other, sizeof(other), "%s/other", fixture->dir);
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	foreign(1, cases[_i].level);
	if (cases[_i].file) {
		write_keys(other);
		fixture->deps.other_key_file = other;
	}
	choose(KEY_Y, 1, false);
	fixture_start(fixture);
	fixture_run_ms(fixture, 30000);
	settle();
	if (cases[_i].works) {
		check_all(KEY_Y, 1);
		ck_assert_uint_eq(problems_about_keys(), 0);
		return;
	}
	ck_assert_uint_ge(problems_about_keys(), fixture->g->n_end_ports - 1);
	/* later the operator finds the file of the other one */
	write_keys(other);
	fixture->deps.other_key_file = other;
	restart();
	check_all(KEY_Y, 1);
	ck_assert_uint_eq(problems_about_keys(), 0);
}
END_TEST

/* One host in so many that nobody knows the key of: it is named, and the others do not suffer. */
START_TEST(foreign_hosts)
{
	unsigned n = 0;

	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t p = fixture->g->end_ports[i];

		if (fixture->g->nodes[fixture->g->ports[p].node].type != NODE_SWITCH &&
		    p != fixture->g->sm_port && n < 3) {
			give_key(p, KEY_X, 1);
			n++;
		}
	}
	choose(KEY_Y, 1, _i == 1);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
	ck_assert_uint_eq(problems_about_keys(), 3);
	n = 0;
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t p = fixture->g->end_ports[i];

		n += held(p) == KEY_X;
		ck_assert(held(p) != 0);
	}
	ck_assert_uint_eq(n, 3);
}
END_TEST

/* --- a key for each port ------------------------------------------------------------------ */

/* A transport that looks for m_key in all that leaves this host. */
static struct {
	struct transport t;
	struct transport *inner;
	struct transport_ops ops;
	unsigned n_sent, n_seen;
} guard;

static int guarded_send(struct transport *t, const struct mad_msg *m)
{
	uint8_t key[8];
	bool stays = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE &&
	             field_get(m->data, SMP_HOP_COUNT) == 0;

	(void)t;
	field_set(key, 0, 64, KEY_X);
	guard.n_sent++;
	guard.n_seen += !stays && memmem(m->data, m->len, key, sizeof(key)) != NULL;
	return guard.inner->ops->send(guard.inner, m);
}

static int guarded_recv(struct transport *t, uint64_t deadline_ms,
                        struct mad_msg *ret_msg)
{
	(void)t;
	return guard.inner->ops->recv(guard.inner, deadline_ms, ret_msg);
}

static uint64_t guarded_now(struct transport *t)
{
	(void)t;
	return guard.inner->ops->now_ms(guard.inner);
}

static int guarded_issm(struct transport *t, bool on)
{
	(void)t;
	return guard.inner->ops->set_issm(guard.inner, on);
}

static void watch_packets(void)
{
	guard.inner = sim_transport(fixture->sim);
	guard.t.local = guard.inner->local;
	guard.ops = *guard.inner->ops;
	guard.ops.send = guarded_send;
	guard.ops.recv = guarded_recv;
	guard.ops.now_ms = guarded_now;
	guard.ops.set_issm = guarded_issm;
	guard.ops.divert = NULL;
	guard.t.ops = &guard.ops;
	guard.n_sent = guard.n_seen = 0;
	fixture->transport = &guard.t;
}

static void check_own_keys(void)
{
	struct keyring k = { 0 };

	ck_assert_int_eq(keyring_configure(&k, KEY_X, 0, true), E_OK);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t p = fixture->g->end_ports[i];

		ck_assert_uint_eq(held(p), keyring_wanted(&k, fixture->g->ports[p].guid));
		ck_assert_uint_eq(fixture_peek(fixture, p, PI_M_KEY_PROTECT_BITS), 1);
		ck_assert_uint_ne(held(p), KEY_X);
		ck_assert_uint_ne(held(p), 0);
		for (uint32_t j = 0; j < i; j++) {
			ck_assert_uint_ne(held(p), held(fixture->g->end_ports[j]));
		}
	}
	keyring_done(&k);
}

/* Each port has its own key, which no packet to others carries; and m_key is in none at all. */
START_TEST(own_keys)
{
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	watch_packets();
	choose(KEY_X, 1, true);
	fixture_start(fixture);
	fixture_up(fixture);
	check_own_keys();
	fixture_run_ms(fixture, 60000); /* light sweeps, polls */
	settle();
	/* a host that lost its key, one that is new, a switch that was restarted */
	ck_assert_int_eq(sim_reboot(fixture->sim, fixture->g->nodes[0].guid), E_OK);
	ck_assert_int_eq(
		sim_reboot(fixture->sim, fixture->g->nodes[fixture->g->n_nodes - 1].guid),
		E_OK);
	settle();
	settle();
	check_own_keys();
	give_key(fixture->g->end_ports[3], 0, 1); /* it hides that it has none */
	settle();
	settle();
	check_own_keys();
	unlink(key_file);
	restart();
	check_own_keys();
	ck_assert_uint_gt(guard.n_sent, 500);
	ck_assert_uint_eq(guard.n_seen, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
}
END_TEST

/* From one key for all to one for each, and back. */
START_TEST(own_keys_come_and_go)
{
	choose(KEY_Y, (unsigned)_i, false);
	start(0);
	choose(KEY_X, 1, true);
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	settle();
	check_own_keys();
	choose(KEY_Y, (unsigned)_i, false);
	restart();
	check_all(KEY_Y, (unsigned)_i);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
}
END_TEST

static unsigned problems_about_known_key(void)
{
	const struct disc *d = &sweep_job(fixture->sweep)->disc;
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_problems && i < DISC_PROBLEMS_MAX; i++) {
		n += strstr(d->problem[i], "saguaro keys init") != NULL;
	}
	return n;
}

/* All ports hold one key from before and hide it: m_key itself, or m_key_old. They are taken over in
 * the first sweep. That hosts know m_key is a problem until another one is chosen. */
START_TEST(one_key_of_all_before)
{
	bool known = _i == 0;

	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		give_key(fixture->g->end_ports[i], known ? KEY_X : KEY_Y, 1);
	}
	watch_packets();
	choose(KEY_X, 1, true);
	fixture->config.m_key_old = known ? 0 : KEY_Y;
	fixture_start(fixture);
	fixture_up(fixture);
	check_own_keys();
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
	ck_assert_uint_eq(problems_about_known_key(), known);
	ck_assert_uint_eq(problems_about_keys(), known);
	ck_assert_uint_eq(guard.n_seen != 0, known);
	settle();
	ck_assert_uint_eq(problems_about_known_key(), known);
	if (known) {
		choose(KEY_Y, 1, true);
		sweep_reconfigure(fixture->sweep, &fixture->deps);
		settle();
		ck_assert_uint_eq(problems_about_known_key(), 0);
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
}
END_TEST

/* A host whose port hides a key that nobody here knows reads all that is tried on it. m_key is not
 * among it, because our own port did not hold it. */
START_TEST(m_key_is_not_tried_on_strangers)
{
	unsigned n = 0;

	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t p = fixture->g->end_ports[i];

		if (fixture->g->nodes[fixture->g->ports[p].node].type != NODE_SWITCH &&
		    p != fixture->g->sm_port && n++ < 3) {
			give_key(p, KEY_Y, _i == 0 ? 1 : 2);
		}
	}
	watch_packets();
	choose(KEY_X, 1, true);
	fixture_start(fixture);
	fixture_run_ms(fixture, 30000);
	settle();
	ck_assert_uint_gt(guard.n_sent, 500);
	ck_assert_uint_eq(guard.n_seen, 0);
	ck_assert_uint_eq(problems_about_known_key(), 0);
}
END_TEST

/* Before another subnet manager follows, m_key 0 clears the keys of all ports. */
START_TEST(keys_are_given_up)
{
	choose(KEY_X, 1, true);
	start(0);
	check_own_keys();
	choose(0, 1, true);
	if (_i == 0) {
		restart();
	} else {
		sweep_reconfigure(fixture->sweep, &fixture->deps);
		settle();
	}
	check_all(0, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
}
END_TEST

/* A port that hides what it has is shown no key of a single other port, and never m_key. */
START_TEST(keys_are_not_tried_on_strangers)
{
	struct keyring k = { 0 };
	uint64_t keys[KEYRING_TRIES];

	ck_assert_int_eq(keyring_configure(&k, KEY_X, 0, true), E_OK);
	for (uint64_t guid = 1; guid < 100; guid++) {
		ck_assert_int_eq(keyring_note(&k, guid, 1000 + guid), E_OK);
	}
	ck_assert_uint_eq(keyring_candidates(&k, 0, false, keys), 0);
	ck_assert_uint_eq(keyring_candidates(&k, 5, false, keys), 2);
	ck_assert_uint_eq(keys[0], 1005);
	ck_assert_uint_eq(keys[1], keyring_wanted(&k, 5));
	ck_assert_uint_eq(keyring_candidates(&k, 500, false, keys), 1);
	ck_assert_uint_eq(keys[0], keyring_wanted(&k, 500));
	/* one that all had is known to all */
	ck_assert_int_eq(keyring_note(&k, 200, KEY_Y), E_OK);
	ck_assert_int_eq(keyring_note(&k, 201, KEY_Y), E_OK);
	ck_assert_uint_eq(keyring_candidates(&k, 0, false, keys), 1);
	ck_assert_uint_eq(keys[0], KEY_Y);
	keyring_done(&k);
}
END_TEST

/* Two programs derive the same keys; another m_key or another port gives another one. */
START_TEST(derived)
{
	struct keyring a = { 0 }, b = { 0 };

	ck_assert_int_eq(keyring_configure(&a, KEY_X, 0, true), E_OK);
	ck_assert_int_eq(keyring_configure(&b, KEY_Y, 0, true), E_OK);
	for (uint64_t guid = 1; guid < 200; guid++) {
		ck_assert_uint_ne(keyring_wanted(&a, guid), keyring_wanted(&b, guid));
		ck_assert_uint_ne(keyring_wanted(&a, guid), keyring_wanted(&a, guid + 1));
	}
	ck_assert_int_eq(keyring_configure(&b, KEY_X, 0, true), E_OK);
	ck_assert_uint_eq(keyring_wanted(&a, 5), keyring_wanted(&b, 5));
	ck_assert_int_eq(keyring_configure(&b, 0, 0, true), E_OK);
	ck_assert_uint_eq(keyring_wanted(&b, 5), 0);
}
END_TEST

/* An SMP with a wrong key to a port, as a hostile host would send it by LID. */
static void offer_wrong_key(uint32_t port)
{
	struct transport *t = sim_transport(fixture->sim);
	uint8_t mad[MAD_BYTES] = { 0 };
	struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_LID_ROUTED,
		             .addr = { .lid = (uint32_t)fixture_peek(fixture, port, PI_LID) },
		             .len = MAD_BYTES,
		             .data = mad };

	field_set(mad, MAD_BASE_VERSION, 1);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_LID_ROUTED);
	field_set(mad, MAD_CLASS_VERSION, 1);
	field_set(mad, MAD_METHOD, UMAD_METHOD_GET);
	field_set(mad, MAD_ATTR_ID, UMAD_SM_ATTR_PORT_INFO);
	field_set(mad, SMP_M_KEY, KEY_Y);
	ck_assert_int_eq(transport_send(t, &m), E_OK);
}

/* A host offers wrong keys again and again, so that the lease of another port runs out. Trap 256 tells it, and
 * that port hears its key. With no subnet manager the port opens. */
START_TEST(lease_under_attack)
{
	struct transport *t;
	struct mad_msg m;
	uint32_t port;

	fixture->config.m_key = KEY_X;
	fixture->config.m_key_lease_period = 15;
	fixture->config.m_key_protection_level = 2;
	fixture->config.m_key_per_port = false;
	fixture->config.sweep_interval = 0;
	fixture->config.audit_interval = 0;
	fixture_topo(fixture, "ft2 4 2 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	port = fixture_host(fixture, 3);
	t = sim_transport(fixture->sim);
	for (unsigned i = 0; i < 60; i++) {
		uint64_t end = t->ops->now_ms(t) + 1000;

		offer_wrong_key(port);
		while (_i != 0 && t->ops->now_ms(t) < end) {
			(void)t->ops->recv(t, end, &m); /* nobody reads it */
		}
		if (_i == 0) {
			fixture_run_ms(fixture, 1000);
		}
	}
	ck_assert_uint_eq(fixture_peek(fixture, port, PI_M_KEY_PROTECT_BITS),
	                  _i == 0 ? 2 : 0);
	ck_assert_uint_eq(fixture_peek(fixture, port, PI_M_KEY), KEY_X);
}
END_TEST

TEST_SUITE(keys)
{
	TCase *t = tcase_create("keys");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, file_is_opensms);
	tcase_add_loop_test(t, file_with_wrong_lines, 0, 6);
	tcase_add_loop_test(t, key_changes, 0, 6);
	tcase_add_loop_test(t, key_changes_with_losses, 0, 6);
	tcase_add_test(t, file_is_private);
	tcase_add_test(t, no_file_without_keys);
	tcase_add_test(t, file_is_not_written);
	tcase_add_test(t, wrong_file_stays);
	tcase_add_loop_test(t, takeover, 0, 4);
	tcase_add_loop_test(t, foreign_hosts, 0, 2);
	tcase_add_loop_test(t, lease_under_attack, 0, 2);
	if (derives_keys) {
		tcase_add_test(t, own_keys);
		tcase_add_loop_test(t, own_keys_come_and_go, 0, 3);
		tcase_add_loop_test(t, one_key_of_all_before, 0, 2);
		tcase_add_loop_test(t, m_key_is_not_tried_on_strangers, 0, 2);
		tcase_add_loop_test(t, keys_are_given_up, 0, 2);
		tcase_add_test(t, derived);
		tcase_add_test(t, keys_are_not_tried_on_strangers);
	}
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/sweep_fixture.h"

#include <errno.h>

#include "conf/policy/partitions.h"
#include "sa/server/server.h"
#include "tests/lib/words.h"

struct sweep_fixture *fixture_new(void)
{
	struct sweep_fixture *r = calloc(1, sizeof(*r));
	const char *tmp = getenv("TMPDIR");
	struct why why = { "" };

	ck_assert_ptr_nonnull(r);
#ifdef _OPENMP
	/* Small fabrics, many tests at a time: threads that spin for work only get in the
	 * way. */
	omp_set_num_threads(1);
#endif
	if (getenv("SWEEP_LOG") == NULL) {
		log_set_level(LOG_LEVEL_ERROR);
	}
	r->a = arena_new();
	ck_assert_ptr_nonnull(r->a);
	diags_init(&r->diags, r->a);
	snprintf(r->dir, sizeof(r->dir), "%s/saguaro-sweep-XXXXXX",
	         tmp && strlen(tmp) < 30 ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(r->dir));
	snprintf(r->state_dir, sizeof(r->state_dir), "%s/state", r->dir);
	snprintf(r->snap_dir, sizeof(r->snap_dir), "%s/run", r->dir);
	ck_assert_int_eq(option_sets_add(&r->sets, config_rows, &r->config), E_OK);
	ck_assert_int_eq(option_set_defaults(&r->sets, r->a), E_OK);
	r->config.audit_interval = 0; /* their reads are of tests that want them */
	ck_assert_int_eq(engine_options_init(&r->engines, r->a), E_OK);
	ck_assert_int_eq(option_set_defaults(&r->engines.sets, r->a), E_OK);
	ck_assert_int_eq(route_list_parse(NULL, &r->deps.list, &why), E_OK);
	return r;
}

void fixture_topo(struct sweep_fixture *r, const char *text, double fail, uint32_t seed)
{
	char *argv[16];
	struct topogen_opts o = { .fail = fail, .seed = seed };
	int argc = words_split(text, r->a, argv, 16);

	ck_assert_int_eq(topogen(argv[0], argc - 1, argv + 1, &o, r->a, &r->diags, &r->g),
	                 E_OK);
}

void fixture_file(struct sweep_fixture *r, const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[300];

	snprintf(path, sizeof(path), "%s/tests/fabrics/%s", srcdir ? srcdir : ".", name);
	if (topo_read(path, true, r->a, &r->diags, &r->g) != E_OK) {
		ck_abort_msg("%s: %s", path, diags_first_error(&r->diags));
	}
}

void fixture_sim(struct sweep_fixture *r, uint32_t seed, uint32_t drop_ppm)
{
	struct sim_options o = { .virtual_clock = true,
		                 .seed = seed,
		                 .drop_ppm = drop_ppm,
		                 .delay_us = 1,
		                 .guid_cap = r->guid_cap,
		                 .vport_cap = r->vport_cap,
		                 .omni_path = r->omni_path,
		                 .slvl_one_by_one = r->slvl_one_by_one };

	ck_assert_int_eq(sim_new(r->g, &o, r->keep_lids, &r->sim), E_OK);
}

void fixture_partitions(struct sweep_fixture *r, const char *text)
{
	ck_assert_int_eq(partitions_parse("p", text, strlen(text), r->a, NULL,
	                                  &r->config.partitions),
	                 E_OK);
}

uint32_t fixture_host(const struct sweep_fixture *r, unsigned i)
{
	for (uint32_t k = 0; k < r->g->n_end_ports; k++) {
		if (graph_is_host(r->g, r->g->end_ports[k]) && i-- == 0) {
			return r->g->end_ports[k];
		}
	}
	ck_abort_msg("no such host");
	return GRAPH_NONE;
}

uint64_t fixture_host_guid(const struct sweep_fixture *r, unsigned i)
{
	return r->g->nodes[r->g->ports[fixture_host(r, i)].node].guid;
}

uint8_t fixture_host_num(const struct sweep_fixture *r, unsigned i)
{
	return r->g->ports[fixture_host(r, i)].num;
}

uint16_t fixture_add_vport(struct sweep_fixture *r, unsigned i, uint64_t guid, bool own)
{
	uint16_t index = 0;

	ck_assert_int_eq(sim_vport_add(r->sim, fixture_host_guid(r, i),
	                               fixture_host_num(r, i), guid, own, &index),
	                 E_OK);
	return index;
}

void fixture_start(struct sweep_fixture *r)
{
	struct snap_options o = {
		.grace_ms = r->config.snapshot_grace,
		.history_bytes = (uint64_t)r->config.epoch_history << 20,
	};
	const char *why = "";

	r->run = arena_new();
	ck_assert_ptr_nonnull(r->run);
	if (state_open(r->state_dir, r->run, &why, &r->state) != E_OK ||
	    snap_writer_open(r->snap_dir, &o, r->run, &why, &r->snap) != E_OK) {
		ck_abort_msg("%s", why);
	}
	if (r->with_stats && stats_open(r->snap_dir, r->run, &why, &r->stats) != E_OK) {
		ck_abort_msg("%s", why);
	}
	r->deps.stats = r->stats;
	r->deps.transport = r->transport ? r->transport : sim_transport(r->sim);
	r->deps.state = r->state;
	r->deps.snap = r->snap;
	r->deps.config = &r->config;
	r->deps.engines = &r->engines;
	r->deps.single_thread = true;
	ck_assert_int_eq(sweep_new(&r->deps, &r->sweep), E_OK);
}

void fixture_serve(struct sweep_fixture *r, struct transport *t)
{
	const struct sa_limits limits = { .sa_key = 1 };

	ck_assert_int_eq(sa_server_new(t, r->snap, NULL, &limits, &r->deps.sa), E_OK);
	sweep_reconfigure(r->sweep, &r->deps);
}

void fixture_stop(struct sweep_fixture *r)
{
	sweep_free(r->sweep); /* it speaks to the server, which reads the snapshot */
	sa_server_free(r->deps.sa);
	r->deps.sa = NULL;
	stats_close(r->stats);
	snap_writer_close(r->snap);
	state_close(r->state);
	arena_free(r->run);
	r->sweep = NULL;
	r->stats = NULL;
	r->snap = NULL;
	r->state = NULL;
	r->run = NULL;
}

int fixture_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void fixture_free(struct sweep_fixture *r)
{
	if (r->sweep != NULL) {
		fixture_stop(r);
	}
	sim_free(r->sim);
	if (r->log[0] != '\0') {
		log_open(NULL);
	}
	nftw(r->dir, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
	arena_free(r->a);
	free(r);
}

uint64_t fixture_now(const struct sweep_fixture *r)
{
	struct transport *t = sim_transport(r->sim);

	return t->ops->now_ms(t);
}

void fixture_log(struct sweep_fixture *r)
{
	snprintf(r->log, sizeof(r->log), "%s/log", r->dir);
	ck_assert(truncate(r->log, 0) == 0 || errno == ENOENT);
	log_set_level(LOG_LEVEL_INFO);
	ck_assert_int_eq(log_open(r->log), E_OK);
}

unsigned fixture_logged(const struct sweep_fixture *r, const char *text)
{
	char line[1000];
	unsigned n = 0;
	FILE *f = fopen(r->log, "r");

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		n += strstr(line, text) != NULL;
	}
	fclose(f);
	return n;
}

void fixture_heavy(struct sweep_fixture *r, uint32_t n)
{
	uint64_t turns = 0;

	while (sweep_status(r->sweep)->heavy_sweeps < n) {
		ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
		ck_assert_msg(++turns < FIXTURE_TURNS, "no end in phase %s, %s",
		              sweep_status(r->sweep)->phase,
		              sweep_status(r->sweep)->not_ready);
	}
}

uint32_t fixture_sweeps(const struct sweep_fixture *r)
{
	const struct sweep_status *st = sweep_status(r->sweep);

	return st->heavy_sweeps + st->local_sweeps;
}

void fixture_run_ms(struct sweep_fixture *r, uint64_t ms)
{
	uint64_t end = fixture_now(r) + ms, turns = 0;

	while (fixture_now(r) < end) {
		ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
		ck_assert_uint_lt(++turns, FIXTURE_TURNS);
	}
}

void fixture_up(struct sweep_fixture *r)
{
	uint64_t turns = 0;

	while (!sweep_status(r->sweep)->up ||
	       strcmp(sweep_status(r->sweep)->phase, "idle") != 0) {
		ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
		ck_assert_msg(++turns < FIXTURE_TURNS, "not up: %s",
		              sweep_status(r->sweep)->not_ready);
	}
}

struct sweep_fixture *fixture_bring_up(const char *topo, uint32_t seed, uint32_t drop_ppm)
{
	struct sweep_fixture *r = fixture_new();

	fixture_topo(r, topo, 0, 0);
	fixture_sim(r, seed, drop_ppm);
	fixture_start(r);
	return r;
}

uint64_t fixture_peek(const struct sweep_fixture *r, uint32_t port, unsigned bit,
                      unsigned width)
{
	const struct port *p = &r->g->ports[port];
	uint8_t info[64];

	ck_assert_int_eq(sim_peek(r->sim, r->g->nodes[p->node].guid,
	                          UMAD_SM_ATTR_PORT_INFO, p->num, info),
	                 E_OK);
	return field_get(info, bit, width);
}

const uint8_t *fixture_tables(const struct sweep_fixture *r)
{
	const struct graph *g = r->g;
	uint8_t *rows = arena_array(r->a, g->n_switches, 64);

	for (uint32_t s = 0; s < g->n_switches; s++) {
		ck_assert_int_eq(sim_peek(r->sim, g->nodes[g->switches[s]].guid,
		                          UMAD_SM_ATTR_LINEAR_FT, 0,
		                          rows + (size_t)s * 64),
		                 E_OK);
	}
	return rows;
}

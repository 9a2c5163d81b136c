/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Cost of the bring-up of a fat tree and of changes in it: SMPs and time from the moment a cable, a host or a
 * switch disappears or comes back until the subnet manager is idle again. The fabric is simulated in
 * the same process on a virtual clock, so the time is that of computing without waiting for a
 * network. All times are processor time: "cpu" with the simulated fabric, "sm" without it, which
 * is what its transport takes. Stages are those of all sweeps of a change, without the simulated
 * fabric, too; what is left of "sm" is for light sweeps, looks after traps and the idle loop.
 *
 *     bench_changes [FABRIC [heavy|ENGINE [TIMES]]]
 *
 * FABRIC: ports per switch of a tree of three levels, 24; or words of 'saguaro topo' with x in between: ft2
 * 48x24x24, tree3 16x24x24x24x12. An "o" before it: the devices are those of Omni-Path. heavy: without local sweeps. ENGINE: value of routing_engine; "":
 * the default. TIMES: how often cable and host go and come back before the switch does, 1.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "routing/engine_options.h"
#include "routing/graph/graph.h"
#include "routing/route.h"
#include "routing/topogen/topogen.h"
#include "sa/sim/sim.h"
#include "sa/sm/sm.h"

/* QUIET_MS: no sender of traps is held back for its last change any more. */
enum { SETTLE_MS = 500, QUIET_MS = 8000, STAGES_MAX = 40 };

/* The simulated fabric as a transport that measures its own time. */
struct wire {
	struct transport t; /* first: the operations get this */
	struct transport *fabric;
	double seconds;
};

static struct wire wire; /* clocks have no context */

struct bench {
	struct arena *a;
	struct graph *g;
	struct sim *sim;
	struct config config;
	struct option_sets sets;
	struct engine_options engines;
	struct diags diags;
	struct sweep_deps deps;
	struct sweep *sweep;
	char dir[64];
	struct snap_stage stage[STAGES_MAX]; /* [n_stages] sums of the sweeps at work */
	unsigned n_stages, n_sweeps;
};

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double monotonic(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

static double cpu_seconds(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* What the subnet manager takes. */
static double sm_seconds(void)
{
	return cpu_seconds() - wire.seconds;
}

static void need(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "bench_changes: %s\n", what);
		exit(EXIT_FAILURE);
	}
}

/* --- the simulated fabric, measured --------------------------------------------------- */

static int wire_send(struct transport *t, const struct mad_msg *m)
{
	struct wire *w = (struct wire *)t;
	double start = cpu_seconds();
	int ret = transport_send(w->fabric, m);

	w->seconds += cpu_seconds() - start;
	return ret;
}

static int wire_recv(struct transport *t, uint64_t deadline_ms, struct mad_msg *ret_msg)
{
	struct wire *w = (struct wire *)t;
	double start = cpu_seconds();
	int ret = w->fabric->ops->recv(w->fabric, deadline_ms, ret_msg);

	w->seconds += cpu_seconds() - start;
	return ret;
}

static void wire_wake(struct transport *t)
{
	struct transport *fabric = ((struct wire *)t)->fabric;

	fabric->ops->wake(fabric);
}

static uint64_t wire_now_ms(struct transport *t)
{
	struct transport *fabric = ((struct wire *)t)->fabric;

	return fabric->ops->now_ms(fabric);
}

static int wire_set_issm(struct transport *t, bool on)
{
	struct transport *fabric = ((struct wire *)t)->fabric;

	return fabric->ops->set_issm(fabric, on);
}

static void wire_close(struct transport *t)
{
	(void)t; /* the simulation is freed in the end */
}

static const struct transport_ops wire_ops = {
	.name = "sim",
	.send = wire_send,
	.recv = wire_recv,
	.wake = wire_wake,
	.now_ms = wire_now_ms,
	.set_issm = wire_set_issm,
	.close = wire_close,
};

/* --- the bench ------------------------------------------------------------------------ */

static void open_databases(struct bench *b)
{
	struct snap_options o = { .grace_ms = b->config.snapshot_grace };
	char *state = arena_printf(b->a, "%s/state", b->dir),
	     *snap = arena_printf(b->a, "%s/run", b->dir);
	const char *why = "";

	need(state_open(state, b->a, &why, &b->deps.state) == E_OK, why);
	need(snap_writer_open(snap, &o, b->a, &why, &b->deps.snap) == E_OK, why);
}

static bool make_fabric(struct bench *b, char *shape)
{
	struct topogen_opts t = { .seed = 1 };
	static const char *const kinds[] = { NULL, "ft3", NULL, "ft2", NULL, "tree3" };
	char *words[5], *save = NULL;
	int n = 0;

	for (char *w = strtok_r(shape, "x", &save); w != NULL && n < 5;
	     w = strtok_r(NULL, "x", &save)) {
		words[n++] = w;
	}
	return kinds[n] != NULL &&
	       topogen(kinds[n], n, words, &t, b->a, &b->diags, &b->g) == E_OK;
}

static void start(struct bench *b, const char *fabric, const char *engine)
{
	bool omni_path = fabric[0] == 'o';
	struct sim_options o = {
		.virtual_clock = true, .seed = 1, .delay_us = 1, .omni_path = omni_path
	};
	struct why why = { "" };

	b->a = arena_new();
	diags_init(&b->diags, b->a);
	need(option_sets_add(&b->sets, config_rows, &b->config) == E_OK &&
	             option_set_defaults(&b->sets, b->a) == E_OK &&
	             engine_options_init(&b->engines, b->a) == E_OK &&
	             option_set_defaults(&b->engines.sets, b->a) == E_OK &&
	             route_list_parse(engine, &b->deps.list, &why) == E_OK,
	     "no options");
	need(make_fabric(b, arena_strdup(b->a, fabric + omni_path)), "no such fat tree");
	need(sim_new(b->g, &o, false, &b->sim) == E_OK, "no simulation");
	snprintf(b->dir, sizeof(b->dir), "%s/saguaro-bench-XXXXXX",
	         access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	need(mkdtemp(b->dir) != NULL, "no folder");
	open_databases(b);
	b->config.sweep_interval = 0;
	b->config.audit_interval = 0;
	b->config.rebalance = REBALANCE_NEVER;
	b->config.local_sweeps_check = 0;
	wire.fabric = sim_transport(b->sim);
	wire.t = *wire.fabric;
	wire.t.ops = &wire_ops;
	b->deps.transport = &wire.t;
	b->deps.config = &b->config;
	b->deps.engines = &b->engines;
	b->deps.single_thread = true;
	b->deps.cpu_clock = sm_seconds;
	need(sweep_new(&b->deps, &b->sweep) == E_OK, "no sweep");
}

static void add_stage(struct bench *b, const char *name, double seconds)
{
	unsigned i = 0;

	while (i < b->n_stages && strcmp(b->stage[i].name, name) != 0) {
		i++;
	}
	need(i < STAGES_MAX, "too many stages");
	if (i == b->n_stages) {
		b->stage[b->n_stages++] = (struct snap_stage){ name, 0 };
	}
	b->stage[i].seconds += seconds;
}

/* Adds the stages of a sweep that has ended since. */
static void add_stages(struct bench *b)
{
	const struct sweep_status *st = sweep_status(b->sweep);
	const struct job *j = sweep_job(b->sweep);

	if (st->heavy_sweeps + st->local_sweeps == b->n_sweeps || j == NULL) {
		return;
	}
	b->n_sweeps = st->heavy_sweeps + st->local_sweeps;
	for (unsigned i = 0; i < j->n_stages; i++) {
		add_stage(b, j->stage[i].name, j->stage[i].seconds);
	}
	add_stage(b, "engine", j->route.seconds_route);
	add_stage(b, "proof", j->route.seconds_prove);
	add_stage(b, "transition", j->seconds_transition);
}

/* Until it is idle and nothing happened for some virtual time. */
static void settle(struct bench *b, unsigned ms)
{
	struct transport *t = b->deps.transport;
	uint64_t end = t->ops->now_ms(t) + ms;

	while (t->ops->now_ms(t) < end) {
		need(sweep_run_once(b->sweep) == E_OK, "the transport is gone");
		add_stages(b);
		if (strcmp(sweep_status(b->sweep)->phase, "idle") != 0) {
			end = t->ops->now_ms(t) + ms;
		}
	}
	need(sweep_status(b->sweep)->up, sweep_status(b->sweep)->not_ready);
}

static void measure(struct bench *b, const char *what)
{
	struct sweep_status was = *sweep_status(b->sweep);
	double wall = monotonic(), cpu = cpu_seconds(), sm = sm_seconds();
	const struct sweep_status *st;
	const struct job *j;

	b->n_stages = 0;
	settle(b, SETTLE_MS);
	wall = monotonic() - wall;
	cpu = cpu_seconds() - cpu;
	sm = sm_seconds() - sm;
	st = sweep_status(b->sweep);
	j = sweep_job(b->sweep);
	printf("{\"bench\": \"changes\", \"hosts\": %u, \"change\": \"%s\", \"heavy_sweeps\": %u, \"local_sweeps\": %u, \"smps\": %u, \"port_infos_set\": %u, \"lft_blocks\": %u, \"seconds\": %.4f, \"cpu\": %.4f, \"sm\": %.4f, \"stages\": {",
	       b->g->n_hosts, what, st->heavy_sweeps - was.heavy_sweeps,
	       st->local_sweeps - was.local_sweeps,
	       (unsigned)(st->smps_sent - was.smps_sent),
	       (unsigned)(st->port_sets - was.port_sets),
	       (unsigned)(st->lft_sets - was.lft_sets), wall, cpu, sm);
	for (unsigned i = 0; i < b->n_stages; i++) {
		printf("%s\"%s\": %.4f", i ? ", " : "", b->stage[i].name,
		       b->stage[i].seconds);
	}
	printf("}, \"routes_max\": %u, \"routes_mean\": %.1f}\n", j->route.load.max,
	       j->route.load.mean);
	fflush(stdout);
	settle(b, QUIET_MS);
}

/* A host, a switch in the middle or one with hosts, or a cable between two switches. */
static void change_all(struct bench *b, unsigned times)
{
	const struct graph *g = b->g;
	uint32_t host = g->n_nodes / 2, leaf;

	while (g->nodes[host].type != NODE_CA) {
		host++;
	}
	leaf = g->ports[g->ports[g->nodes[host].first_port + 1].peer].node;
	const struct node *l = &g->nodes[leaf];
	uint64_t spine =
		g->nodes[g->ports[g->ports[l->first_port + l->n_ports].peer].node].guid;
	for (unsigned i = 0; i < 2 * times; i++) {
		sim_set_link(b->sim, l->guid, l->n_ports, i % 2);
		measure(b, i % 2 ? "cable back" : "cable gone");
	}
	for (unsigned i = 0; i < 2 * times; i++) {
		sim_set_node(b->sim, g->nodes[host].guid, i % 2);
		measure(b, i % 2 ? "host back" : "host gone");
	}
	for (unsigned there = 0; there < 2; there++) {
		sim_set_node(b->sim, l->guid, there);
		measure(b, there ? "leaf back" : "leaf gone");
	}
	for (unsigned there = 0; there < 2; there++) {
		sim_set_node(b->sim, spine, there);
		measure(b, there ? "switch back" : "switch gone");
	}
}

static int remove_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

int main(int argc, char **argv)
{
	static struct bench b;

	log_set_level(getenv("BENCH_LOG") != NULL ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR);
	bool heavy = argc > 2 && strcmp(argv[2], "heavy") == 0;

	start(&b, argc > 1 ? argv[1] : "24",
	      argc > 2 && !heavy && argv[2][0] != '\0' ? argv[2] : NULL);
	b.config.local_sweeps = !heavy;
	b.config.use_ucast_cache = getenv("CACHE") != NULL;
	measure(&b, "bring-up");
	measure(&b, "nothing");
	change_all(&b, argc > 3 ? (unsigned)atoi(argv[3]) : 1);
	sweep_free(b.sweep);
	snap_writer_close(b.deps.snap);
	state_close(b.deps.state);
	sim_free(b.sim);
	nftw(b.dir, remove_file, 16, FTW_DEPTH | FTW_PHYS);
	arena_free(b.a);
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A fabric in trouble, from a seed.
 *
 * Longer than most: one schedule, in which each kind of fault has its place.
 *
 * A seed makes a small fabric, a configuration and a schedule of faults: cables and nodes
 * that disappear and return, nodes that go deaf or lose their LIDs, MADs that are lost, a
 * subnet manager that is killed and started again. The subnet manager is the real one
 * with real databases; the fabric is the simulator on a virtual clock, so a run takes
 * milliseconds and the same seed always does the same.
 *
 * Invariants while faults happen: no two end ports of the fabric have the same LID, a
 * port that the subnet manager has brought up keeps its LID for life, and the tables of the
 * switches never have a forwarding loop, also not while they are being sent, and no credit
 * loop over active links as long as the routing has one lane.
 *
 * When the faults stop, the subnet manager has to bring all that it can reach to ACTIVE, with
 * routes between all hosts, no forwarding loop and no credit loop in the tables that stand
 * in the switches. The SA has to answer what stands there, and to know all services,
 * memberships and subscriptions that it has acknowledged, and none whose end it has acknowledged,
 * also those from before a kill. A heavy sweep then finds
 * nothing that local sweeps missed.
 *
 * With --nonsense MADs are also late, duplicate and corrupted, nodes answer nonsense or with
 * the GUIDs of others, ports lose their LIDs, and the wall clock steps. A subnet manager that
 * is told lies may do what is wrong, so tables are looked at only when all have told the
 * truth again and an operator has asked for a heavy sweep. It must never crash or hang.
 *
 * With --managers there are up to three subnet managers, which elect a master, hand over and
 * take over; split fabrics may have two for a while. In the end a part has one, and two that see
 * each other do not last. With --freezes they are stopped for some seconds and go on. With --crashes they
 * crash after any MAD, any row and any commit, in the middle of it, too, and disks are full or
 * fail: what was acknowledged before a crash has to be there after it.
 *
 * With --omnipath nodes are Omni-Path devices. Most of their switches have adaptive routing: they move
 * routes of ports that are lost or busy by themselves, at any time but while the subnet manager has told
 * them to pause. All of the above holds for the tables as the switches made them, and in the end every pair
 * of hosts has a route in them. Nodes come as Omni-Path refuses them, and local sweeps go on beside them.
 *
 * With --high-lids they also have LIDs that InfiniBand does not have.
 *
 * With --options the configuration is another one for each seed: options.h.
 *
 * With --packets hosts send all the time, and nothing is looked at but whether packets come to wait
 * for each other for ever, while the tables are being sent or later.
 *
 * Each local sweep is judged (judge.h): what it did not look at is computed anew.
 *
 * A run ends with a comparison: another heavy sweep and a restart change nothing, and the
 * routing engine is that of a fresh start.
 *
 * A schedule that fails is shortened: events are left out as long as it still fails. The seed
 * and the numbers of the events that are left replay it: --first SEED --seeds 1 --only LIST.
 *
 * tests/sim/faults.c holds the faults themselves. Longer than most: a run, the invariants of its end and the
 * shortening of a schedule share its state.
 */
#include <argp.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/route.h"
#include "routing/topogen/topogen.h"
#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_device.h"
#include "sa/sim/sim.h"
#include "sa/sm/sweep/sweep_int.h" /* a sweep that waits */
#include "tests/sim/congestion.h"
#include "tests/sim/disk.h"
#include "tests/sim/faults.h"
#include "tests/sim/invariants.h"
#include "tests/sim/options.h"
#include "tests/sim/packets.h"
#include "tests/sim/simulate.h"
#include "tests/sim/trace.h"

enum {
	SEED_SECONDS = 120, /* real time; a seed takes a fraction of a second */
	LATE_MS = 1000      /* no MAD is later than that */
};

static const char *const event_name[] = { "link",  "node", "deaf",  "reboot", "describe",
	                                  "loss",  "kill", "heavy", "noise",  "hostile",
	                                  "twin",  "lid",  "flap",  "split",  "clock",
	                                  "crash", "disk", "vport", "freeze",
	                                  "busy",  "drain" };

static const struct {
	const char *words[6];
	unsigned n;
} fabrics[] = {
	{ { "ft2", "4", "2", "2" }, 4 },
	{ { "ft2", "3", "3", "2", "2" }, 5 },
	{ { "torus", "3x3", "1" }, 3 },
	{ { "torus", "5", "1" }, 3 },
	{ { "mesh", "3x3", "1" }, 3 },
	{ { "hypercube", "3", "1" }, 3 },
	{ { "jellyfish", "8", "3", "1" }, 4 },
	{ { "dragonfly", "1", "2", "1" }, 4 },
	{ { "tree3", "2", "2", "2", "2", "1" }, 6 },
};

static const char *const engines_of[] = { "minhop", "updn", "dfsssp",
	                                  "nue",    "lash", "ftree" };

struct arguments {
	uint32_t seeds, first, jobs;
	bool trace, counts;
	const char *only;
	const char *self;
};

static bool any_order, nonsense, with_vports, crashes, with_freezes, omni_path,
	with_drains, with_packets, high_lids, with_congestion,
	with_options;                     /* set by the command line alone */
static unsigned managers = 1;             /* 0: by the seed */
static int64_t wall_now;
static uint32_t seed_now; /* for the handler of signals */

int64_t run_wall_clock(void)
{
	return wall_now;
}

void run_step_clock(int64_t seconds)
{
	wall_now += seconds;
}

uint32_t run_draw(uint64_t *state, uint32_t n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)(((*state * UINT64_C(2685821657736338717)) >> 32) * n >> 32);
}

bool run_fail(struct run *r, const char *fmt, ...)
{
	va_list ap;

	if (r->failure[0] == '\0') {
		va_start(ap, fmt);
		vsnprintf(r->failure, sizeof(r->failure), fmt, ap);
		va_end(ap);
	}
	return false;
}

static uint64_t now_ms(const struct run *r)
{
	return managers_now(r);
}

/* ---- the schedule ---- */

static bool make_fabric(struct run *r, uint64_t *state)
{
	uint32_t k = run_draw(state, sizeof(fabrics) / sizeof(*fabrics));
	struct topogen_opts o = { .seed = run_draw(state, 1000),
		                  .fail = run_draw(state, 4) == 0 ? 0.1 : 0 };
	char *argv[6];

	for (unsigned i = 0; i < fabrics[k].n; i++) {
		argv[i] = arena_strdup(r->a, fabrics[k].words[i]);
	}
	if (topogen(argv[0], (int)fabrics[k].n - 1, argv + 1, &o, r->a, &r->diags, &r->g) !=
	    E_OK) {
		return false;
	}
	for (uint32_t i = 0; omni_path && i < r->g->n_end_ports; i++) {
		struct port *p = &r->g->ports[r->g->end_ports[i]];

		p->guid = opa_port_guid(r->g->nodes[p->node].guid, p->num); /* in the same order */
	}
	return true;
}

static enum kind draw_kind(uint64_t *state)
{
	static const enum kind more[] = { EVENT_FLAP,  EVENT_SPLIT, EVENT_CLOCK,
		                          EVENT_CRASH, EVENT_CRASH, EVENT_DISK };
	unsigned most = nonsense ? EVENTS_NONSENSE : EVENTS_PLAIN;
	if (with_vports && run_draw(state, 2) == 0) {
		return EVENT_VPORT;
	}
	if (with_freezes && run_draw(state, 2) == 0) {
		return EVENT_FREEZE;
	}
	if (omni_path && run_draw(state, 3) == 0) {
		return EVENT_BUSY;
	}
	if (with_drains && run_draw(state, 2) == 0) {
		return EVENT_DRAIN;
	}
	uint32_t k = run_draw(state, most + (crashes ? sizeof(more) / sizeof(*more) : 0));

	return k < most ? (enum kind)k : more[k - most];
}

/* Ports have LIDs from an earlier subnet manager, on both sides of the highest one that InfiniBand has or of
 * the permissive one of 16 bits, and switches can route them. What restarts after its LID is lost gets a low one. */
static void give_high_lids(struct run *r, uint64_t *state)
{
	enum { ROOM = 0x20000, FIRST = 0xbff0, SECOND = 0xfff0 };
	uint32_t lid = run_draw(state, 2) == 0 ? FIRST : SECOND, size = 1u << r->config.lmc;

	r->config.unicast_lid_limit = ROOM - 1;
	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		r->g->nodes[i].linear_fdb_cap = ROOM;
	}
	for (uint32_t i = 0; i < r->g->n_end_ports; i++, lid += size) {
		lid += lid + size > UINT16_MAX && lid <= UINT16_MAX ? size : 0;
		r->g->ports[r->g->end_ports[i]].lid = lid;
	}
}

/* Most fabrics of Omni-Path have switches that adapt. */
static void make_adaptive(struct run *r, uint64_t *state)
{
	r->config.adaptive.enable = run_draw(state, 8) != 0;
	r->config.adaptive.lost_route_only = run_draw(state, 4) == 0;
	r->config.adaptive.algorithm = run_draw(state, 3);
	r->config.adaptive.frequency = run_draw(state, 8);
	r->config.adaptive.threshold = run_draw(state, 8);
	r->config.adaptive.fine_grained = run_draw(state, 4) == 0;
}

static bool make_run(struct run *r, uint32_t seed)
{
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	struct sim_options o = { .virtual_clock = true,
		                 .seed = seed,
		                 .delay_us = 1,
		                 .vport_cap = with_vports ? 8 : 0,
		                 .omni_path = omni_path,
		                 .no_mixed = seed % 8 == 1 };
	struct why why = { "" };
	const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	r->a = arena_new();
	if (r->a == NULL) {
		return run_fail(r, "out of memory");
	}
	diags_init(&r->diags, r->a);
	snprintf(r->dir, sizeof(r->dir), "%s/saguaro-simulate-XXXXXX", base);
	if (mkdtemp(r->dir) == NULL) {
		return run_fail(r, "cannot make %s: %s", r->dir, strerror(errno));
	}
	if (option_sets_add(&r->sets, config_rows, &r->config) != E_OK ||
	    option_set_defaults(&r->sets, r->a) != E_OK ||
	    engine_options_init(&r->engines, r->a) != E_OK ||
	    option_set_defaults(&r->engines.sets, r->a) != E_OK ||
	    !make_fabric(r, &state) ||
	    route_list_parse(
		    engines_of[run_draw(&state, sizeof(engines_of) / sizeof(*engines_of))],
		    &r->list, &why) != E_OK) {
		return run_fail(r, "cannot prepare: %s", diags_first_error(&r->diags));
	}
	r->config.lmc = run_draw(&state, 3) == 0;
	r->config.sweep_interval = 5;
	r->config.virt_enabled = with_vports ? 2 : 0;
	r->config.smp_routing = seed % 4 == 1   ? SMP_ROUTING_LID
	                        : seed % 4 == 3 ? SMP_ROUTING_AUTO
	                                        : SMP_ROUTING_DIRECTED;
	r->config.transition = any_order ? TRANSITION_ANY : TRANSITION_SAFE;
	if (omni_path) {
		make_adaptive(r, &state);
	}
	if (with_congestion) {
		congestion_options_draw(r, &state);
	}
	if (high_lids) {
		give_high_lids(r, &state);
	}
	if (with_options && !options_draw(r, seed)) {
		return false;
	}
	r->cut = arena_array(r->a, r->g->n_ports, sizeof(*r->cut));
	r->down = arena_array(r->a, r->g->n_nodes, sizeof(*r->down));
	r->deaf = arena_array(r->a, r->g->n_nodes, sizeof(*r->deaf));
	r->hostile = arena_array(r->a, r->g->n_nodes, sizeof(*r->hostile));
	r->has_lied = arena_array(r->a, r->g->n_nodes, sizeof(*r->has_lied));
	r->twin = arena_array(r->a, r->g->n_nodes, sizeof(*r->twin));
	r->refused = arena_array(r->a, r->g->n_nodes, sizeof(*r->refused));
	r->lid = arena_array(r->a, r->g->n_ports, sizeof(*r->lid));
	r->n_events = 4 + run_draw(&state, 12);
	for (unsigned i = 0; i < r->n_events; i++) {
		struct event *e = &r->event[i];

		e->kind = draw_kind(&state);
		e->what = run_draw(&state, UINT32_MAX);
		e->run_ms = run_draw(&state, 3) == 0 ? 0 : 1 + run_draw(&state, 9000);
	}
	r->n_managers = managers != 0 ? managers : 1 + run_draw(&state, MANAGERS_MAX);
	r->nonsense = nonsense;
	r->takes_turns = managers != 1 || crashes;
	if (sim_new(r->g, &o, high_lids, &r->sim) != E_OK ||
	    (with_packets && (r->packets = packets_new(r)) == NULL) ||
	    !managers_init(r, managers == 1 ? 0 : run_draw(&state, UINT32_MAX))) {
		return false;
	}
	if (r->config.smp_routing ==
	    SMP_ROUTING_AUTO) { /* one node does not carry SMPs by LID */
		sim_set_directed(r->sim, r->g->nodes[seed / 4 % r->g->n_nodes].guid,
		                 true);
	}
	if (r->config.congestion.on) {
		congestion_agents_draw(r, &state);
	}
	for (unsigned i = 0; i < r->n_managers; i++) {
		if (!manager_start(r, &r->m[i])) {
			return false;
		}
	}
	return true;
}

static int remove_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void free_run(struct run *r)
{
	disk_set(DISK_GOOD);
	disk_crash_soon(NULL, 0);
	for (unsigned i = 0; i < r->n_managers; i++) {
		if (r->m[i].sweep != NULL) {
			manager_kill(&r->m[i]);
		}
	}
	judge_done(&r->judging);
	packets_free(r->packets);
	sim_free(r->sim);
	if (r->dir[0] != '\0') {
		nftw(r->dir, remove_file, 16, FTW_DEPTH | FTW_PHYS);
	}
	arena_free(r->a);
}

/* Packets move while the tables change, a little at each MAD and more when nothing happens. Where no
 * order of updates could be safe, they vanish: that is what a deadlock would come to in the end, when
 * switches throw old packets away. */
static bool move_packets(struct run *r, uint64_t before)
{
	if (r->packets == NULL) {
		return true;
	}
	if (!check_promises_no_credit_loop(r, false)) {
		packets_clear(r);
		return true;
	}
	return packets_move(r, r->packets, now_ms(r) > before ? 50 : 6);
}

bool run_until(struct run *r, uint64_t end)
{
	uint64_t turns = 0, seen = sim_changes(r->sim);

	while (now_ms(r) < end) {
		uint64_t n, before = now_ms(r);

		if (!managers_turn(r, end) || !move_packets(r, before) ||
		    !check_masters(r)) {
			return false;
		}
		if (++turns > TURNS_MAX) {
			return run_fail(r, "no end in phase %s",
			            r->judge->sweep != NULL
			                    ? sweep_status(r->judge->sweep)->phase
			                    : "dead");
		}
		n = sim_changes(r->sim);
		if (n != seen && !check_tables(r, false)) {
			return false;
		}
		seen = n;
	}
	return check_tables(r, false);
}

/* Heavy and local sweeps of all managers that the judge reaches, or of the others. */
static uint32_t count_sweeps(const struct run *r, bool reached)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < r->n_managers; i++) {
		if (r->m[i].sweep != NULL && find_is_reached(r, &r->m[i]) == reached) {
			const struct sweep_status *st = sweep_status(r->m[i].sweep);

			n += st->heavy_sweeps + st->local_sweeps;
		}
	}
	return n;
}

/* Are they idle, one of them master of a fabric that is up? *ret_why: if not. */
static bool is_quiet(struct run *r, const char **ret_why)
{
	struct manager *master = NULL;
	unsigned n_masters = 0;

	*ret_why = "two masters";
	for (unsigned i = 0; i < r->n_managers; i++) {
		struct manager *m = &r->m[i];
		const struct sweep_status *st =
			m->sweep != NULL ? sweep_status(m->sweep) : NULL;

		if (st == NULL || !find_is_reached(r, m)) {
			continue;
		}
		if (strcmp(st->phase, "idle") != 0) {
			*ret_why = st->phase;
			return false;
		}
		if (st->master && m->sweep->election.joined.wanted) {
			*ret_why = "the sweep after a handover waits";
			return false;
		}
		if (st->master) {
			master = m;
			n_masters++;
		} else if (!st->standby) {
			*ret_why = st->not_ready;
			return false;
		}
	}
	if (n_masters == 0) {
		*ret_why = "no master";
	} else if (n_masters == 1 && !sweep_status(master->sweep)->up) {
		*ret_why = sweep_status(master->sweep)->not_ready;
	} else if (n_masters == 1) {
		r->judge = master;
		*ret_why = "sweeps go on, or a virtual port is not up";
		return true;
	}
	return false;
}

/* Requests so far that set what a sweep plans. */
static uint64_t count_sets(const struct run *r)
{
	static const uint16_t planned[] = {
		UMAD_SM_ATTR_PORT_INFO,  UMAD_SM_ATTR_PKEY_TABLE,
		UMAD_SM_ATTR_LINEAR_FT,  UMAD_SM_ATTR_MCAST_FT,
		UMAD_SM_ATTR_SLVL_TABLE, UMAD_SM_ATTR_VL_ARB_TABLE,
		UMAD_SM_ATTR_GUID_INFO
	};
	uint64_t n = 0;

	for (unsigned i = 0; i < sizeof(planned) / sizeof(planned[0]); i++) {
		n += sim_count(r->sim, UMAD_METHOD_SET, planned[i]);
	}
	return n;
}

/* Is a manager of another part of the fabric in the middle of something? */
static bool others_work(const struct run *r)
{
	bool work = false;

	for (unsigned i = 0; i < r->n_managers; i++) {
		const struct manager *m = &r->m[i];

		work |= m->sweep != NULL && !find_is_reached(r, m) &&
		        strcmp(sweep_status(m->sweep)->phase, "idle") != 0;
	}
	return work;
}

/* A heavy sweep finds the fabric as local sweeps of the master left it, and has nothing
 * to set. What is set in another part of the fabric is none of its business. */
static bool check_local(struct run *r)
{
	struct sweep *master = r->judge->sweep;
	uint64_t sets = count_sets(r);
	uint32_t sweeps = count_sweeps(r, true), others = count_sweeps(r, false),
		 missed = sweep_status(master)->local_differences;
	uint64_t epoch = sweep_status(master)->epoch;
	bool alone = !others_work(r);

	sweep_request_heavy(master);
	if (!run_until(r, now_ms(r) + LATE_MS)) {
		return false;
	}
	sweeps = count_sweeps(r, true) - sweeps;
	missed = sweep_status(master)->local_differences - missed;
	if (sweeps != 1 || missed != 0 || sweep_status(master)->epoch != epoch) {
		return run_fail(
			r,
			"a heavy sweep finds another fabric than the sweep before: %u sweeps, %u differences to local ones, epoch %u, then %u",
			sweeps, missed, (unsigned)epoch,
			(unsigned)sweep_status(master)->epoch);
	}
	sets = count_sets(r) - sets;
	alone &= !others_work(r) && count_sweeps(r, false) == others;
	return sets == 0 || !alone ||
	       run_fail(r, "a heavy sweep sets %u things that the sweep before left",
	                (unsigned)sets);
}

/* The same without PortInfo, by which a subnet manager that starts asks hosts to register again, and with all
 * that is Omni-Path's alone. */
static uint64_t count_tables(const struct run *r)
{
	return count_sets(r) -
	       sim_count(r->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO) +
	       sim_count(r->sim, UMAD_METHOD_SET, OPA_SC_TO_SC);
}

/* On a fabric that did not change, another heavy sweep changes nothing, nor does a subnet manager
 * that starts again. */
static bool check_again(struct run *r, bool restart)
{
	const char *what = restart ? "restart" : "heavy sweep";
	struct manager *m = r->judge;
	uint64_t sets = sim_count(r->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT);
	uint64_t all = count_tables(r);
	uint64_t bounces = sim_bounces(r->sim);

	if (restart) {
		manager_kill(m);
		if (!manager_start(r, m)) {
			return false;
		}
	} else {
		sweep_request_heavy(m->sweep);
	}
	if (!run_until(r, now_ms(r) + 4000 * r->config.sweep_interval)) {
		return false;
	}
	if (!sweep_status(m->sweep)->up) {
		return run_fail(r, "not up after a %s: %s", what,
		                sweep_status(m->sweep)->not_ready);
	}
	if (sim_bounces(r->sim) != bounces) {
		return run_fail(r, "a %s made links go down", what);
	}
	sets = sim_count(r->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT) - sets;
	if (sets != 0) {
		return run_fail(r, "a %s sent %u LFT blocks", what, (unsigned)sets);
	}
	all = count_tables(r) - all;
	/* a start on InfiniBand sends those again that are not read: multicast, QoS */
	return all == 0 || (restart && !omni_path) ||
	       run_fail(r, "a %s set %u tables", what, (unsigned)all);
}

/* The faults stop, and the fabric comes to rest. */
static bool settle(struct run *r, uint32_t what)
{
	uint64_t end = now_ms(r) + QUIET_MS;
	const char *why;
	uint32_t heavy;

	if (!faults_end(r, what & 1)) {
		return false;
	}
	if (r->misled) {
		/* Nothing tells a subnet manager that it believes nonsense, so an operator
		 * asks for all to be read back, when the last late MAD has arrived. */
		if (!run_until(r, now_ms(r) + LATE_MS)) {
			return false;
		}
		for (unsigned i = 0; i < r->n_managers; i++) {
			if (r->m[i].sweep != NULL) {
				sweep_request_audit(r->m[i].sweep, NULL);
			}
		}
	}
	do {
		heavy = count_sweeps(r, true);
		if (!run_until(r, now_ms(r) + 4000 * r->config.sweep_interval)) {
			return false;
		}
		bool quiet = is_quiet(r, &why) && !faults_end_drains(r);
		if (now_ms(r) > end) {
			return run_fail(r, "not quiet after %u s: %s", QUIET_MS / 1000,
			                why);
		}
		if (quiet && count_sweeps(r, true) == heavy && check_vports_are_up(r)) {
			/* once beside the nodes that are refused, if there are any */
			if (!check_local(r)) {
				return false;
			}
			if (!faults_end_refusals(r)) {
				break;
			}
		}
	} while (true);
	return check_tables(r, true) && check_fresh_routes(r) && congestion_check(r) &&
	       (r->n_managers > 1 || (check_again(r, false) && check_again(r, true)));
}

/* \a only: events to do, NULL: all. */
static bool run_seed(uint32_t seed, const bool *only, bool trace, struct run *r)
{
	bool good;

	memset(r, 0, sizeof(*r));
	seed_now = seed;
	wall_now = 1800000000;
	alarm(SEED_SECONDS);
	good = make_run(r, seed) && run_until(r, now_ms(r) + 3000);
	for (unsigned i = 0; good && i < r->n_events; i++) {
		const struct event *e = &r->event[i];

		if (only != NULL && !only[i]) {
			continue;
		}
		if (trace) {
			printf("%10.3f s  event %u: %s %u\n", (double)now_ms(r) / 1000, i,
			       event_name[e->kind], e->what);
			fflush(stdout);
		}
		good = faults_do(r, e);
		if (good && e->run_ms != 0) {
			good = run_until(r, now_ms(r) + e->run_ms);
		}
		for (unsigned k = 0; good && e->run_ms == 0 && k < 5; k++) {
			good = managers_turn(r, now_ms(r) + 1000);
		}
	}
	good = good && settle(r, seed);
	if (trace && r->longest_ms != 0) {
		printf("two masters for %lu ms\n", (unsigned long)r->longest_ms);
	}
	if (trace) {
		printf("%u local sweeps were judged\n", r->judging.n_judged);
	}
	if (trace && r->packets != NULL) {
		printf("%lu packets arrived\n", (unsigned long)packets_delivered(r->packets));
	}
	if (good) {
		trace_count_run(r->sim, now_ms(r));
		for (unsigned i = 0; i < r->n_managers; i++) {
			if (r->m[i].snap != NULL) { /* it runs */
				trace_count_snapshot(r->m[i].snap);
			}
		}
	}
	return good;
}

/* ---- many seeds ---- */

static void parse_only(const char *text, bool *only)
{
	char *copy = strdup(text), *save = NULL;

	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		unsigned k = (unsigned)strtoul(w, NULL, 10);

		if (k < EVENTS_MAX) {
			only[k] = true;
		}
	}
	free(copy);
}

/* Leaves out events one by one as long as the schedule still fails. */
static void shorten(uint32_t seed, const struct run *failed)
{
	bool only[EVENTS_MAX];
	static struct run r;
	bool more = true;

	for (unsigned i = 0; i < EVENTS_MAX; i++) {
		only[i] = i < failed->n_events;
	}
	while (more) {
		more = false;
		for (unsigned i = 0; i < failed->n_events; i++) {
			if (!only[i]) {
				continue;
			}
			only[i] = false;
			if (run_seed(seed, only, false, &r)) {
				only[i] = true;
			} else {
				more = true;
			}
			free_run(&r);
		}
	}
	printf("  shortest: --first %u --seeds 1 --trace --only ", seed);
	for (unsigned i = 0, n = 0; i < failed->n_events; i++) {
		if (only[i]) {
			printf("%s%u", n++ ? "," : "", i);
		}
	}
	printf("\n");
	fflush(stdout);
}

static int run_seeds(const struct arguments *args, uint32_t job)
{
	static struct run r;
	bool only[EVENTS_MAX] = { false };
	int failed = 0;

	if (args->only != NULL) {
		parse_only(args->only, only);
	}
	for (uint32_t i = job; i < args->seeds; i += args->jobs) {
		uint32_t seed = args->first + i;
		bool good = run_seed(seed, args->only ? only : NULL, args->trace, &r);

		if (!good) {
			failed++;
			printf("seed %u: %s\n", seed, r.failure);
			fflush(stdout);
		}
		trace_end_run(seed);
		free_run(&r);
		if (!good && args->only == NULL) {
			shorten(seed, &r);
		}
	}
	trace_print_counts();
	return failed ? 1 : 0;
}

static const struct argp_option options[] = {
	{ "seeds", 's', "N", 0, "how many seeds (100)", 0 },
	{ "first", 'f', "K", 0, "the first seed (1)", 0 },
	{ "jobs", 'j', "N", 0, "processes (1)", 0 },
	{ "only", 'o', "LIST", 0, "do these events of the schedule only: 0,3,4", 0 },
	{ "nonsense", 'n', NULL, 0,
	  "also MADs that are late, duplicate or corrupted, nodes that answer nonsense, ...",
	  0 },
	{ "crashes", 'c', NULL, 0,
	  "also crashes at any MAD and at any write to the databases, disks that fail, ...",
	  0 },
	{ "managers", 'm', "N", 0, "subnet managers (1); 0: one to three, by the seed",
	  0 },
	{ "any-order", 'a', NULL, 0, "send tables in any order: transition any", 0 },
	{ "packets", 'p', NULL, 0,
	  "hosts send packets all the time; their deadlock is a failure, and tables are looked at only at the end",
	  0 },
	{ "vports", 'v', NULL, 0, "also virtual ports that come and go", 0 },
	{ "omnipath", 'O', NULL, 0,
	  "nodes are Omni-Path devices, whose switches adapt their routes; not with --vports",
	  0 },
	{ "high-lids", 'H', NULL, 0,
	  "as --omnipath, and ports have LIDs on both sides of 0xbfff or 0xffff", 0 },
	{ "freezes", 'z', NULL, 0,
	  "also subnet managers that are stopped for a while and go on; with --managers",
	  0 },
	{ "drains", 'd', NULL, 0,
	  "also switches and cables that go out of service and come back", 0 },
	{ "congestion", 'g', NULL, 0,
	  "also congestion control, for which some nodes have no agent", 0 },
	{ "options", 'q', NULL, 0,
	  "also options of the configuration by the seed: lanes, partitions, keys, ...",
	  0 },
	{ "trace", 't', NULL, 0, "print events and the log", 0 },
	{ "counts", 'C', NULL, 0,
	  "print how often each line of the log and each MAD came", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 's': a->seeds = (uint32_t)strtoul(arg, NULL, 10); return 0;
	case 'f': a->first = (uint32_t)strtoul(arg, NULL, 10); return 0;
	case 'j': a->jobs = (uint32_t)strtoul(arg, NULL, 10); return 0;
	case 'o': a->only = arg; return 0;
	case 'a': any_order = true; return 0;
	case 'n': nonsense = true; return 0;
	case 'c': crashes = true; return 0;
	case 'v': with_vports = true; return 0;
	case 'O': omni_path = true; return 0;
	case 'H': omni_path = high_lids = true; return 0;
	case 'z': with_freezes = true; return 0;
	case 'p': with_packets = true; return 0;
	case 'd': with_drains = true; return 0;
	case 'g': with_congestion = true; return 0;
	case 'q': with_options = true; return 0;
	case 'm':
		managers = (unsigned)strtoul(arg, NULL, 10);
		if (managers > MANAGERS_MAX) {
			argp_error(state, "--managers: at most %d", MANAGERS_MAX);
		}
		return 0;
	case 't': a->trace = true; return 0;
	case 'C': a->counts = true; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* A crash or a hang names its seed. */
static void on_signal(int number)
{
	char text[100];
	int n = snprintf(text, sizeof(text), "seed %u: %s\n", seed_now,
	                 number == SIGALRM ? "hangs" : "crashes");

	if (write(STDOUT_FILENO, text, (size_t)n) == n) {
		signal(number, SIG_DFL);
		raise(number);
	}
	_exit(1);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		NULL,
		"Runs the subnet manager on simulated fabrics with random faults. Exit status 1: an invariant was violated.",
		NULL,
		NULL,
		NULL
	};
	struct arguments args = { .seeds = 100, .first = 1, .jobs = 1 };
	int status = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (omni_path && with_vports) {
		fprintf(stderr, "simulate: devices of Omni-Path have no virtual ports\n");
		return 2;
	}
	log_set_level(args.trace || args.counts ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR);
	if (!args.trace && !args.counts && freopen("/dev/null", "w", stderr) == NULL) {
		return 2; /* faults are logged as errors */
	}
	if (args.trace || args.counts) {
		trace_begin();
		trace_count(!args.trace);
	}
	column_use_threads(1);
	signal(SIGALRM, on_signal);
	signal(SIGSEGV, on_signal);
	signal(SIGABRT, on_signal);
	signal(SIGFPE, on_signal);
	for (uint32_t job = 1; job < args.jobs; job++) {
		pid_t pid = fork(); /* before any database is open */

		if (pid == 0) {
			exit(run_seeds(&args, job));
		}
	}
	status = run_seeds(&args, 0);
	for (uint32_t job = 1; job < args.jobs; job++) {
		int child = 0;

		if (wait(&child) < 0 || !WIFEXITED(child) || WEXITSTATUS(child) != 0) {
			status = 1;
		}
	}
	if (status == 0) {
		printf("%u seeds from %u: all invariants held\n", args.seeds, args.first);
	}
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/diag.h"
#include "conf/config.h"
#include "routing/engine_options.h"
#include "routing/graph/graph.h"
#include "routing/route.h"
#include "sa/sm/sweep.h"
#include "tests/sa/sim/sim_tests.h"
#include "tests/sim/judge.h"
#include "tests/sim/managers.h"
#include "tests/sim/vports.h"

/*!
 * One run of the simulation: a fabric, a schedule of faults and the subnet managers on it.
 */

enum { EVENTS_MAX = 40, TURNS_MAX = 2000000, QUIET_MS = 600000 };

enum {
	EVENTS_PLAIN = 8,    /* kinds of events without an option */
	EVENTS_NONSENSE = 15 /* with --nonsense */
};

enum kind {
	EVENT_LINK,     /* pulls a cable, or plugs it in again */
	EVENT_NODE,     /* switches a node off, or on */
	EVENT_DEAF,     /* a node answers nothing, or again */
	EVENT_REBOOT,   /* a node loses LIDs and tables */
	EVENT_DESCRIBE, /* a node changes its description */
	EVENT_LOSS,     /* the share of MADs that are lost */
	EVENT_KILL, /* a subnet manager is killed and started again, now or by another such event */
	EVENT_HEAVY, /* an operator asks for a heavy sweep, or to read the configuration again */
	/* with --nonsense: */
	EVENT_NOISE,   /* MADs are late, duplicate, corrupted; or no more */
	EVENT_HOSTILE, /* a node answers nonsense, or again the truth */
	EVENT_TWIN,    /* a node shows the GUIDs of another, or again its own */
	EVENT_LID,     /* an end port loses its LID, or gets that of another */
	EVENT_FLAP,    /* a cable goes out and in, several times in a second */
	EVENT_SPLIT, /* a switch loses all cables to other switches, or gets them back */
	EVENT_CLOCK, /* the wall clock steps by up to a year */
	/* with --crashes, which also has the last three of the above: */
	EVENT_CRASH, /* a subnet manager crashes after some MADs or writes to its databases */
	EVENT_DISK, /* writes to the databases fail, or no more */
	/* with --vports: */
	EVENT_VPORT, /* a virtual port is added, moved or removed, or a host lies about its own */
	/* with --freezes: */
	EVENT_FREEZE, /* a subnet manager does not run for a while */
	/* with --omnipath: */
	EVENT_BUSY, /* a switch port is congested, or no more, so that switches move routes; or
	             * a node is as Omni-Path refuses it, or no more */
	/* with --drains: */
	EVENT_DRAIN, /* a switch or cable goes out of service, or is in service again */
	EVENT_COUNT
};

struct event {
	enum kind kind;
	uint32_t what;   /* a random number that selects the link, node or share */
	uint32_t run_ms; /* virtual time until the next event, 0: a few turns only */
};

struct run {
	struct arena *a; /* of the fabric and the schedule */
	struct graph *g;
	struct sim *sim;
	struct config config; /* but for what differs between managers */
	struct engine_options engines;
	struct option_sets sets;
	struct route_list list;
	struct diags diags;
	char dir[64];
	struct manager m[MANAGERS_MAX];
	unsigned n_managers;
	struct judge judging;
	bool nonsense;    /* nodes may lie */
	bool takes_turns; /* managers do not wait for their MADs: see sim_pass() */
	struct packets *packets; /* NULL: hosts send nothing */
	struct manager *judge; /* whose part of the fabric is looked at: the first one that runs */
	struct event event[EVENTS_MAX];
	unsigned n_events;
	bool *cut;     /* [g->n_ports] cable pulled, at both of its ports */
	bool *down;    /* [g->n_nodes] */
	bool *deaf;    /* [g->n_nodes] */
	bool *hostile; /* [g->n_nodes] */
	bool *has_lied; /* [g->n_nodes] it was hostile at some time */
	bool *twin;    /* [g->n_nodes] shows the GUIDs of another */
	bool *refused; /* [g->n_nodes] the subnet manager takes it for incapable */
	struct sim_vports vports;
	uint32_t *lid; /* [g->n_ports] base LID for life, 0: none was seen */
	/* The subnet manager was told something false and may still believe it: tables in
	 * between prove nothing. The run must end well all the same. */
	bool misled;
	/* Two subnet managers were master of one fabric, or of parts of it: nobody knows all
	 * tables until one of them has swept. */
	bool contested;
	const struct manager *master; /* the last one that was alone, NULL: none so far */
	bool new_master;              /* another one was master before */
	uint64_t
		two_since; /* ms; two masters reach each other since then, 0: they do not */
	uint64_t longest_ms; /* two masters that did */
	bool lossy;          /* MADs get lost */
	bool several_lanes; /* were routed with at some time */
	uint32_t stale_until; /* heavy sweeps of the judge, until old routes of a switch that was
	                         deaf are replaced */
	char failure[400];
};

/*! \brief Notes why the run failed, unless it has failed before. \return false. */
bool run_fail(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*! \brief A pseudo-random number below \a n; the state goes on. */
uint32_t run_draw(uint64_t *state, uint32_t n);

/*! \brief Seconds since 1970 for all subnet managers. */
int64_t run_wall_clock(void);

/*! \brief Steps that clock. */
void run_step_clock(int64_t seconds);

/*! \brief Turns until a virtual time; looks at the tables as they change. \return false: the run
 *  failed. */
bool run_until(struct run *r, uint64_t end);

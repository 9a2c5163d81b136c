/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*
 * The state of the sweep, for its three files: sweep.c (the state machine), sweep_heavy.c
 * (heavy and local sweeps) and sweep_requests.c (what its owner asks of it). The parts do not
 * see it.
 */
#include "sa/sm/congestion/congestion.h"
#include "sa/sm/congestion/congestion_opa.h"
#include "sa/sm/manager/election.h"
#include "sa/sm/manager/takeover.h"
#include "sa/sm/publish/mirror.h"
#include "sa/sm/publish/publish.h"
#include "sa/sm/routes.h"
#include "sa/sm/sm.h"
#include "sa/sm/sweep.h"
#include "sa/sm/sweep/agent.h"
#include "sa/sm/sweep/audit.h"
#include "sa/sm/sweep/cables.h"
#include "sa/sm/sweep/changes.h"
#include "sa/sm/sweep/client_tables.h"
#include "sa/sm/sweep/link_care.h"
#include "sa/sm/sweep/p_keys.h"
#include "sa/sm/sweep/port_control.h"
#include "sa/sm/sweep/qos_reads.h"

enum phase {
	PHASE_IDLE,
	PHASE_LIGHT, /* Get(SwitchInfo) of all switches, and more where something changed */
	PHASE_LOOK, /* the senders of traps are asked what changed */
	PHASE_RANK, /* after both: are we still master? A handover if not */
	PHASE_POLL, /* standby: is the master still there? */
	PHASE_DISCOVER,
	PHASE_ELECTION,    /* SMInfo of ports with the IsSM bit */
	PHASE_READ_TABLES, /* LFTs, P_Keys and GUIDs of which no copy is kept */
	PHASE_ROUTE,
	PHASE_ADAPTIVE_PAUSE, /* Omni-Path: switches stop to adapt their routes; what they made of them */
	PHASE_P_KEYS, /* P_Key tables of partitions */
	PHASE_LANES,  /* Omni-Path: maps of SLs, SCs and VLs, arbitration, buffers */
	PHASE_PORTS,
	PHASE_QOS, /* InfiniBand: SL-to-VL and arbitration tables */
	PHASE_TABLES,
	PHASE_PORT_GROUPS, /* Omni-Path: of adaptive routing */
	PHASE_MULTICAST,
	PHASE_ARM,
	PHASE_ACTIVATE,
	PHASE_ADAPTIVE_RESUME,
	PHASE_PARTITIONS, /* between sweeps: P_Key tables of partitions changed at run time */
	PHASE_CLIENT_TABLES, /* between sweeps: multicast tables and alias GUIDs that follow
	                        from client records */
	PHASE_AUDIT,         /* a few blocks of tables are read back */
	PHASE_READ_QOS,      /* SL-to-VL and arbitration tables that a client asks for */
	PHASE_CABLES,        /* the modules of cables */
	PHASE_CONGESTION,    /* congestion control of Omni-Path */
	PHASE_PORT,          /* a port that an operator switches off or on */
	PHASE_REBALANCE, /* between sweeps: the routes are compared with a fresh start's */
	PHASE_COUNT
};

/* Changes of partitions that become durable together. */
struct held_changes {
	bool on;                           /* until sweep_settle_partitions() */
	struct state_batch *batch;         /* their rows; NULL: there was none */
	struct runtime_partitions *before; /* what is durable */
	struct arena *a;
	struct held_event {
		enum event_kind kind;
		const char *text;
	} * events; /* [n] in a */
	size_t n, cap;
};

struct sweep {
	struct sm sm;
	struct held_changes held;
	enum phase phase;
	struct election election;
	struct takeover takeover;
	struct changes changes;
	struct routes routes;
	struct p_keys p_keys;
	struct rebalance rebalance;
	struct port_control port_control;
	struct client_tables client_tables;
	struct publisher publisher;
	struct mirror mirror;
	struct qos_reads qos_reads;
	struct agent agent;
	struct audit audit;
	struct cables cables;
	struct hash_table silent; /* ports silent in the last discovery */
	struct perf *perf;        /* port counters; NULL: they are not read */
	struct link_care link_care;
	struct congestion congestion;
	struct congestion_opa congestion_opa;
	bool perf_stale;          /* the fabric was published since it was told */
	uint32_t last_nodes;      /* of the last discovery: for progress */
	bool reassigned;          /* reassign_lids was done */
	unsigned failures;        /* heavy sweeps, in a row */
	unsigned unread; /* heavy sweeps in a row that left out a node or a port table */
	unsigned unset;  /* heavy sweeps in a row that could not set up a node */
	unsigned n_local;         /* local sweeps since the last heavy one */
	unsigned n_light;         /* light sweeps since the last heavy one */
	uint64_t next_light;      /* ms; a light sweep or a poll; UINT64_MAX: never */
	enum sm_state timed_for;  /* the state that next_light was set in */
	uint64_t polled;          /*!< ms; when the last poll began */
	uint64_t retry_at;        /* ms; a heavy sweep after a failure; UINT64_MAX: none */
	unsigned idle_refused;    /* bits: idle work that had nothing to do in this turn */
	uint64_t next_beat;       /* ms; heartbeat */
	bool has_events;          /* since the last one */
	enum sm_state shown_state; /* of the last heartbeat; another one is shown at once */
	uint64_t awake_by;        /* ms; when this turn was to begin at the latest */
	uint64_t drain_until;     /* ms; the next step of the transition waits until then */
};

/*! \brief Enters the idle phase, with the time of the next light sweep or poll. */
void sweep_go_idle(struct sweep *s);

/*! \brief A sweep that ends early leaves the request to read all tables back to the next one. */
void sweep_keep_request(struct sm *sm);

/*! \brief Ends a sweep of an SM that is not master. Nothing on the fabric is changed from here on. */
void sweep_stand_by(struct sweep *s);

/*! \brief Begins a heavy sweep. */
void sweep_heavy_start(struct sweep *s);

/*! \brief Begins a local sweep, or a heavy one for the same cause where that cannot do. */
void sweep_heavy_start_local(struct sweep *s);

/*! \brief The step that follows the present phase of a heavy or local sweep. */
void sweep_heavy_next(struct sweep *s);

/*! \brief Publishes the fabric as it is now. If that fails, the sweep is given up. */
int sweep_publish(struct sweep *s);

/*! \brief Makes the last fabric the known one again, when a discovery did not end. */
void sweep_restore_previous_job(struct sm *sm);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/snapshot/snapshot.h"
#include "routing/graph/lids.h"
#include "routing/proof/transition.h"
#include "routing/route.h"
#include "sa/mad/smp.h"
#include "sa/sm/assign.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/health.h"
#include "sa/sm/discover/keyring.h"
#include "sa/sm/discover/senders.h"
#include "sa/sm/discover/shadow.h"
#include "sa/sm/drained.h"
#include "sa/sm/events.h"
#include "sa/sm/acks.h"
#include "sa/sm/known.h"
#include "sa/sm/program/program.h"
#include "sa/sm/sweep.h"
#include "sa/sm/table/table_io.h"
#include "sa/sm/virtual/vports.h"

/*!
 * What the parts of the subnet manager share: the surroundings of the process (struct sm),
 * and the fabric as one heavy sweep found and computed it (struct job).
 */

struct job;

/*! One per process. It lives as long as the sweep. */
struct sm {
	struct sweep_deps d;
	struct smp *smp;
	struct sweep_status status;
	struct shadow shadow;
	struct table_store tables; /*!< what the nodes hold */
	struct vports vports; /*!< virtual ports as known */
	struct events events;
	struct known known; /*!< nodes that were ever up */
	struct acks acks;       /*!< acknowledgements of alarms */
	struct drained drained; /*!< nodes and cables out of service */
	struct health health; /*!< ports that are not healthy */
	struct keyring keys;  /*!< M_Keys of ports */
	struct senders senders; /*!< of traps and answers */
	bool keys_file_bad;   /*!< key_file is wrong, so it is not overwritten */
	bool settled; /*!< the last sweep has programmed all as planned, with one lane, for this: */
	uint32_t settled_sm_lid;
	struct job *job;      /*!< at work, or the last one whose discovery ended well */
	struct job *previous; /*!< the one before, until the discovery of job ended */
	/* A request for a heavy sweep: */
	bool want_heavy;
	char cause[160]; /*!< why; the first cause stands for all */
	bool want_local; /*!< a local one suffices, as long as no heavy one is wanted */
	uint64_t *suspects; /*!< [n_suspects] malloc; NodeGUIDs that it begins with */
	uint32_t n_suspects;
	size_t cap_suspects;
	/* Partitions made at run time; never NULL: */
	struct runtime_partitions *runtime;
	uint64_t runtime_state; /*!< state_version() of what it was read from */
	bool read_tables; /*!< and read all tables back, because an operator asks */
	bool lids_written; /*!< guid2lid_file is as the state */
	bool lids_file_bad; /*!< it was to be read and is wrong, so it is not overwritten */
	/* How a failed sweep goes on: */
	bool retry_early; /*!< the fabric was the cause; see sm_fail() */
};

/*! \brief Milliseconds of the transport's clock. */
uint64_t sm_now(const struct sm *sm);

/*! \brief Seconds since 1970; 0 without a wall clock. */
int64_t sm_wall_clock(const struct sm *sm);

/*! \brief Seconds of the processor's clock; 0 without one. */
double sm_cpu_now(const struct sm *sm);

/*! \brief Reads partitions made at run time from the state if another daemon changed them
 *         there. \retval E_MALFORMED -ENOMEM and others  Those that were known stay. */
int sm_refresh_runtime(struct sm *sm);
/*! \brief The same, with a line in the log if it fails. */
int sm_read_runtime(struct sm *sm);

/*! \brief Asks for a heavy sweep, which starts when the fabric thread is idle. */
void sm_request_heavy(struct sm *sm, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*! \brief Asks for a local sweep that begins with these nodes; see discover_local.c. */
void sm_request_local(struct sm *sm, const uint64_t *suspects, uint32_t n,
                      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*! \brief Forgets requests for a sweep, because one begins. */
void sm_requests_clear(struct sm *sm);

/*!
 * \brief Notes why a heavy sweep has to be given up, in status.not_ready.
 *
 * \param ret   Error, which is returned.
 * \param early  Try again shortly, because the fabric was the cause; false: at the next
 *              interval, because trying again would give the same.
 */
int sm_fail(struct sm *sm, int ret, bool early, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*! \brief Decides which ports are not healthy, reports them, and asks for a sweep if one is isolated
 *  or is to be tried again. */
void sm_judge_ports(struct sm *sm);

/*! \brief Logs what clients registered, and the notices that they got. */
void sm_log_clients(const struct sm *sm);

/*!
 * One heavy sweep: what its steps found and computed. Everything is in its arena. The last
 * one whose discovery ended well is the fabric as known between heavy sweeps.
 */
struct job {
	struct arena *arena;
	struct disc disc;
	struct assignment lids;
	struct lft prev; /*!< tables and lanes that the switches have */
	struct lft
		port_prev; /*!< the same without the LIDs of virtual ports, for routing */
	struct lanes prev_lanes;
	struct drained_plan drained; /*!< what routing leaves out of disc.g */
	struct route_request request; /*!< its graph is without that */
	struct route_result route;
	struct transition transition; /*!< from prev to route.out; stage is NULL: not planned */
	double seconds_transition;    /*!< to plan it */
	bool unsafe; /*!< no order of these updates can be shown to be free of credit loops */
	bool noted;  /*!< the transition is known to readers */
	bool read_tables; /*!< it still has to read all tables back */
	struct program program; /*!< program.lids has those of virtual ports, too, once
	                           they are assigned */
	struct table_io port_reads; /*!< of P_Key and GUID tables */
	struct vports_read vports_read;
	struct vports_lids vport_lids;
	struct vports_program vports_program;
	const struct partitions *partitions; /*!< in effect; NULL: not computed yet */
	const uint32_t (*partition_ports)[2]; /*!< [partitions->n] as in snap_content */
	struct arena *partition_arena; /*!< holds them, if they changed after the sweep */
	uint32_t n_unread;  /*!< nodes that were seen but left out, and reads of P_Key and GUID
	                         tables that were not answered */
	uint32_t n_changes; /*!< nodes, cables and SMs that differ from the job before */
	struct snap_stage stage[SNAP_STAGES_MAX]; /*!< [n_stages] seconds of each step */
	unsigned n_stages;
	double started, stage_started;
	uint64_t smps_before; /*!< SMPs that were sent when it began */
};

/*! \brief The fabric as last known with its LIDs. \return NULL: none. */
const struct job *sm_known_job(const struct sm *sm);

/*! \return NULL: out of memory. */
struct job *job_new(const struct sm *sm);
void job_free(struct job *j);

/*! \brief Ends a step: the time since the last call is its time. */
void job_stage(struct job *j, const struct sm *sm, const char *name);

/*! \brief Logs the time of each step. */
void job_log_stages(const struct job *j);

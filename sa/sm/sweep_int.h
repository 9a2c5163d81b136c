/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "conf/base/log.h"
#include "db/snapshot.h"
#include "routing/graph/lids.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover.h"
#include "sa/sm/lft_copy.h"
#include "sa/sm/port_tables.h"
#include "sa/sm/program.h"
#include "sa/sm/qos_copy.h"
#include "sa/sm/sweep.h"

/*!
 * Inside the sweep: what its files share.
 *
 *   sweep.c        turns, timers, the state machine
 *   sweep_job.c    one heavy sweep: LIDs, routing, publish
 *   sweep_attrs.c  payloads to publish
 *   sweep_tables.c P_Key and GUID tables of ports
 *   sweep_mcast.c  multicast trees and tables
 *   sweep_guids.c  alias GUIDs into the GUID tables
 *   sweep_qos.c    SL-to-VL and arbitration tables that somebody asks for
 *   sweep_mirror.c records of clients into the snapshot
 *   sweep_light.c  light sweeps, other subnet managers
 *   sweep_agent.c  MADs from others: traps, SMInfo, SA requests
 *   sweep_stats.c  heartbeat and figures
 */
enum phase {
	PHASE_IDLE,
	PHASE_LIGHT, /*!< Get(SwitchInfo) of all switches, a closer look at those that may
	                have changed, silent ports asked again */
	PHASE_POLL,  /*!< standby: is the master still there? */
	PHASE_DISCOVER,
	PHASE_OTHER_SMS,   /*!< SMInfo of ports with the IsSM bit */
	PHASE_READ_TABLES, /*!< LFTs, P_Keys and GUIDs of which no copy is kept */
	PHASE_ROUTE,
	PHASE_PORTS,
	PHASE_QOS,
	PHASE_TABLES,
	PHASE_MULTICAST,
	PHASE_ARM,
	PHASE_ACTIVATE,
	PHASE_REGROUP,  /*!< what clients wrote alone: multicast tables, alias GUIDs */
	PHASE_READ_QOS, /*!< SL-to-VL and arbitration tables, because somebody asks */
	PHASE_COUNT
};

/*! SMInfo.SMState. */
enum sm_state { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY, SM_MASTER };

/*! Another subnet manager. */
struct other_sm {
	uint64_t guid;
	uint32_t lid;
	uint8_t priority, state;
	struct smp_path path;
};

/*! One heavy sweep; everything of it is in its arena. */
struct job {
	struct arena *arena;
	struct disc disc;
	struct lids lids;
	struct lid_memory *memory; /*!< what state remembered, by GUID */
	size_t n_memory;
	uint32_t *moved;           /*!< end ports whose base LID differs from memory */
	size_t n_moved;
	struct lft prev;
	struct lanes prev_lanes;
	struct route_request request;
	struct route_result route;
	struct program program;
	struct snap_stage stage[SNAP_STAGES_MAX];
	unsigned n_stages;
	double started, stage_started;
	bool routed;
};

/*! Routing on its own thread, so that MADs are answered meanwhile. */
struct worker {
	pthread_t thread;
	bool running;         /*!< to be joined */
	_Atomic bool done;
	_Atomic bool cancel;
	int ret;              /*!< of route_run(); read after done */
};

/*! A trap 144 that is yet to be looked at. */
struct cap_change {
	uint32_t lid;  /*!< 0: none */
	uint32_t mask; /*!< CapabilityMask it tells */
};

/*! Requests for SLtoVLTableRecord and VLArbitrationRecord whose tables are yet to be
 * read; see sa/sm/sweep_qos.c. */
struct qos_wait {
	_Atomic(struct qos_request *)
		came; /*!< by other doors, the last one first; any thread */
	struct transport *transport;      /*!< to be woken then; never changes */
	struct qos_request *first, **end; /*!< NULL: none */
	unsigned n;
	struct arena *arena;       /*!< of the reads at work */
	struct qos_copy **at_work; /*!< [n_at_work] nodes that are read */
	uint32_t n_at_work;
	bool unpublished; /*!< something was read that the snapshot has not */
};

struct sweep {
	struct sweep_deps d;
	struct sweep_status status;
	struct smp *smp;
	enum phase phase;
	enum sm_state sm_state;
	struct job *job;       /*!< at work, or the last one whose discovery ended well */
	struct job *old;       /*!< the one before, until discovery ended */
	struct worker worker;
	struct route_verdict verdict; /*!< of the last routing */
	struct route_cache *cache; /*!< unicast routing cache; NULL until it is wanted */
	struct lft_copies copies;
	struct qos_copies qos_copies;
	struct qos_wait qos_wait;
	struct port_copies port_copies;
	const struct engine *lanes_of; /*!< whose lanes the log told of last, NULL: one lane */
	uint64_t policy_told; /* digest of the policy that was told about, 0: none yet */
	uint8_t lanes_told;
	uint8_t lanes_there; /*!< ports turned out to have no more VLs than this, 0: as they say */
	struct guid_map told;  /*!< see sa/sm/last_programmed.h */
	struct guid_map silent; /*!< ports silent in the last discovery */
	uint64_t next_light;   /*!< ms; UINT64_MAX: never */
	uint64_t retry_at;     /*!< ms; a heavy sweep after a failure; UINT64_MAX: none */
	uint64_t next_beat;    /*!< ms; heartbeat */
	unsigned failures;     /*!< in a row */
	struct cap_change cap_change;
	bool want_heavy;
	char cause[160];       /*!< why the next heavy sweep */
	bool was_master;       /*!< one heavy sweep ended well since we became master */
	bool reassigned;       /*!< reassign_lids was done */
	uint64_t digest;       /*!< of the last published routing; 0: nothing published yet */
	uint64_t epoch;
	struct {
		uint32_t number;    /*!< counts light sweeps */
		uint32_t n_found;   /*!< reasons for a heavy sweep; what[] is the first */
		uint32_t n_cleared; /*!< switches whose PortStateChange was cleared */
		char what[320];
	} light;
	struct arena *light_arena; /*!< of the light sweep at work, NULL: none */
	struct other_sm master; /*!< while standby */
	struct other_sm best;   /*!< in PHASE_OTHER_SMS: the highest master; guid 0: none */
	struct smp_dest master_dest;
	bool master_alive;
	struct log_limit trap_lines;
	bool mirror_all;       /*!< what of the clients' records is mirrored is not known */
	uint64_t next_mirror;  /*!< ms; not before */
	struct log_limit mirror_lines, dump_lines;
	uint64_t dumped_version; /*!< of what clients wrote, in the last dump; 0: none was written */
	struct arena *mcast_arena; /*!< of the multicast step at work, NULL: none */
	uint64_t regroup_began, next_regroup; /*!< ms; not before */
	uint64_t mcast_version; /*!< of groups and members when the last one began */
	struct arena *guids_arena; /*!< of alias GUIDs on their way, NULL: none */
	uint64_t guids_version;    /*!< of alias GUIDs when the last step began */
	uint32_t last_nodes;   /*!< of the last discovery: for progress */
};

/* sweep.c */
uint64_t sweep_now(const struct sweep *s);
void sweep_set_sm_state(struct sweep *s, enum sm_state state, const char *why);
/*! The heavy sweep at work is given up; \a soon: try again shortly, else at the next interval. */
void sweep_failed(struct sweep *s, bool soon, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void sweep_want_heavy(struct sweep *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* sweep_job.c */
struct job *job_new(struct sweep *s);
void job_free(struct job *j);
void job_stage(struct sweep *s, const char *name); /*!< the time since the last stage is this one's */
int job_lids(struct sweep *s);
int job_route_start(struct sweep *s);
bool job_route_done(struct sweep *s);
void job_qos(struct sweep *s); /*!< is QoS on with these tables? */
void worker_stop(struct sweep *s);
int job_keep_lids(struct sweep *s);
int job_publish(struct sweep *s);

/* sweep_mcast.c */
int mcast_start(struct sweep *s);     /*!< computes trees and queues what differs */
void mcast_end(struct sweep *s);
bool mcast_changed(const struct sweep *s); /*!< did members come or go since the last start? */
bool regroup_wanted(const struct sweep *s); /*!< do tables follow from what clients wrote? */
void regroup_start(struct sweep *s);
void regroup_rest(struct sweep *s); /*!< for as long as the step that ended took */
bool regroup_end(struct sweep *s);    /*!< \return false: nothing new to publish */

/* sweep_guids.c */
int guids_start(struct sweep *s); /*!< queues the blocks that differ */
void guids_end(struct sweep *s);
bool guids_changed(const struct sweep *s); /*!< since the last start */

/* sweep_qos.c */
/*! Is this SA request one for tables that may have to be read first? Any thread. */
bool qos_is_about(const struct mad_msg *m);
void qos_take_others(struct sweep *s); /*!< what sweep_takes() took */
/*! Takes an SA request that has to wait for tables to be read. \return false: it need
 * not. */
bool qos_request_waits(struct sweep *s, const struct mad_msg *m);
/*! When idle: answers what can be, queues reads for the others. \return false: no reads.
 */
bool qos_reads_start(struct sweep *s);
void qos_reads_end(struct sweep *s);
void qos_wait_done(struct sweep *s);
/* sweep_mirror.c */
void dump_written(struct sweep *s); /*!< opensm-sa.dump, when it is wanted and has changed */
void mirror_written(struct sweep *s); /*!< groups, services, subscriptions into the snapshot, by difference */

/* sweep_attrs.c */
/*! All payloads in the order that a publish needs, in \a a. \retval -ENOMEM */
int job_attrs(struct sweep *s, struct arena *a, struct snap_content *c);

/* sweep_tables.c */
/*! Queues reads of the tables of which no copy is kept. \retval -ENOMEM */
int job_read_port_tables(struct sweep *s);

/* sweep_light.c */
void light_start(struct sweep *s);
void light_end(struct sweep *s);
void poll_start(struct sweep *s);
void poll_end(struct sweep *s);
unsigned other_sms_start(struct sweep *s); /*!< \return how many are asked */
/*! \return false: we are (now) standby. */
bool other_sms_end(struct sweep *s);

/* sweep_agent.c */
/*! SMInfo as it is now, SM_Key included. */
void agent_sm_info(const struct sweep *s, uint8_t info[SMP_DATA_BYTES]);
void agent_receive(struct sweep *s, const struct mad_msg *m);
/*! \brief Sends requests to the SA on their shorter way, past agent_receive(), or no longer. */
void agent_divert(struct sweep *s, bool on);
/*! When idle: asks for a heavy sweep if a trap 144 told more than our own IsSM bit. */
void agent_look_at_change(struct sweep *s);

/* sweep_stats.c */
void stats_beat(struct sweep *s);
const char *phase_name(enum phase p);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/config.h"
#include "routing/route.h"
#include "sa/sm/program/waves.h"

struct arena;
struct congestion_counters;
struct drained_outcome;
struct drained_request;
struct job;
struct p_keys_port;
struct partitions;
struct runtime_change;
struct runtime_partitions;
struct sa_server;
struct snap_writer;
struct state;
struct standby;
struct stats;
struct transport;

/*!
 * The sweep: the state machine of the fabric thread. It takes MADs, timers and requests in and
 * gives MADs, routing jobs and publishes out. Time and transport are handed in. It sequences
 * the parts of the subnet manager; the parts do the work (the table is in sweep.c).
 *
 *   IDLE --timer--> LIGHT --nothing changed--> IDLE
 *     |               '--change--.
 *     |--trap--> LOOK --change---+
 *     '--request, SIGHUP---------+--> DISCOVER -> ELECTION --we are master--.
 *                                                    |                      |
 *                             STANDBY <--another is--'                      v
 *           .----------------------------------------- READ_TABLES <---- assign LIDs
 *           v
 *         ROUTE and prove -> keep LIDs -> P_KEYS -> PORTS -> QOS -> TABLES -> MULTICAST -> publish
 *                                                                                             |
 *                     IDLE <-- publish the states <-- ACTIVATE <-- ARM <----------------------'
 *
 *   IDLE --partitions changed--------------> PARTITIONS -> publish ---> IDLE
 *   IDLE --members or alias GUIDs changed--> CLIENT_TABLES -> publish -> IDLE
 *   IDLE --a client asks for QoS tables----> READ_QOS ----------------> IDLE
 *   IDLE --the next step of an audit-------> AUDIT -------------------> IDLE
 *   IDLE --trap--> LOOK at its sender -> RANK: compare with SMs that were seen -> IDLE, or
 *                                                                   STANDBY by HANDOVER
 *   STANDBY --timer--> POLL the master --it is gone--> DISCOVER
 *   STANDBY --HANDOVER--> DISCOVER as master
 *
 * A change found by LIGHT or LOOK leads to a local sweep, whose DISCOVER asks only the nodes that
 * may have changed; a request, and what a local sweep cannot explain, to a heavy one. All phases
 * behind DISCOVER are the same.
 *
 * A failure in any phase leaves the last published epoch and forces the next sweep to be
 * heavy. While standby nothing on the fabric is changed.
 */
struct sweep;

struct sweep_deps {
	struct transport *transport;
	struct state *state;
	struct snap_writer *snap;
	struct stats *stats;                 /*!< may be NULL */
	struct sa_server *sa;                /*!< gets the SA requests; may be NULL */
	struct standby *standby;             /*!< link to other saguarods; may be NULL */
	const struct config *config;         /*!< borrowed; sweep_reconfigure() replaces it */
	const struct engine_options *engines;
	struct route_list list;
	const char *
		key_file; /*!< M_Keys of ports, kept for the next start (OpenSM's guid2mkey);
	                         NULL: none */
	const char *other_key_file; /*!< another one, which is only read; NULL: none */
	int64_t (*wall_clock)(void);         /*!< seconds since 1970, for computed_at */
	double (*cpu_clock)(void);           /*!< seconds, for stage times */
	double (*thread_clock)(void);        /*!< seconds of processor time of the calling
	                                        thread; NULL: 0 */
	bool single_thread;                  /*!< route on the fabric thread: for runs on a virtual
	                                        clock, which must not move meanwhile */
};

/*!
 * \brief New sweep, which starts with a heavy one.
 * \param d  Copied; what it points to is borrowed.
 * \retval -ENOMEM
 */
int sweep_new(const struct sweep_deps *d, struct sweep **ret_sweep);
void sweep_free(struct sweep *s);

/*!
 * \brief One iteration of the main loop: waits for a MAD, timer or wake-up and handles it.
 * \retval E_OK \retval -EIO  The transport is gone.
 */
int sweep_run_once(struct sweep *s);

/*! \brief Asks for a heavy sweep. On the fabric thread only (after a wake-up). */
void sweep_request_heavy(struct sweep *s);
/*! \brief Asks for a heavy sweep that reads all tables back, in place of trusting the shadow
 *  copies: what an operator asks for.
 *  \param by  The user and the way that the request came, for the log and the events; NULL: not known. */
void sweep_request_audit(struct sweep *s, const char *by);
/*! \brief Asks for a heavy sweep whose routes keep nothing of earlier ones, if that eases the
 *  busiest link and the switches can get there safely; the log says so. */
void sweep_request_rebalance(struct sweep *s, const char *by);
/*!
 * \brief Gives the fabric to another subnet manager, also to a lower one: until the next start,
 *        reload, or until we take the fabric again, our priority is 0.
 * \param why  [why_bytes] On failure a sentence.
 * \retval E_NOTREADY  We are no master, or there is no other.
 */
int sweep_request_handover(struct sweep *s, char *why, size_t why_bytes);
/*! \brief Lets the next light sweep begin at once. The log says so if \a by is not NULL. */
void sweep_request_light(struct sweep *s, const char *by);

/*!
 * \brief Does a configuration suit the fabric as it is known? To be asked before
 *        sweep_reconfigure(): the partitions must fit into the P_Key tables.
 * \param why  [size] On failure a sentence.
 * \retval E_FULL \retval -ENOMEM
 */
int sweep_suits(const struct sweep *s, const struct config *c, char *why, size_t size);

/*! A port that an operator switches off or on. */
struct port_request {
	const char *
		place; /*!< NAME:PORT, GUID:PORT, LID:PORT; the port may be left out where
	                        there is only one */
	bool disable;
	bool force; /*!< also the last link of the SM's own port */
	const char
		*by; /*!< the user and the way that the request came; NULL: not known */
};

/*! Which end of its cable is switched. */
struct port_choice {
	char node[128], peer[128]; /*!< as messages name them; peer "": no cable */
	uint8_t port, peer_port;
	uint32_t cut_off; /*!< nodes that are reached over this cable only */
};

/*!
 * \brief Switches a port off or on when idle; an event tells the outcome. A sweep follows.
 * \param why  Sentence on failure.
 * \retval E_NOTREADY  We are not master, or another such request is at work.
 * \retval E_NOTFOUND E_AMBIGUOUS E_RANGE  Of the place.
 * \retval E_UNSUITABLE  No switch could switch it on again.
 */
int sweep_request_port(struct sweep *s, const struct port_request *rq,
                       struct port_choice *ret_choice, char *why, size_t why_bytes);

/*!
 * \brief Forgets nodes that are gone: known_forget(). An event for each tells who wanted it.
 * \param what  Name, GUID or LID; NULL: all that are gone. \param by  Who wants it.
 * \param ret_n  End ports that were forgotten.
 */
int sweep_request_forget(struct sweep *s, const char *what, const char *by, size_t *ret_n,
                         char *why, size_t why_bytes);

/*! \brief Acknowledges an alarm: acks_put(). */
int sweep_request_ack(struct sweep *s, const char *id, const char *until, const char *note,
                      const char *by, char *why, size_t why_bytes);

/*! \brief Takes that back: acks_drop(). */
int sweep_request_unack(struct sweep *s, const char *id, const char *by, char *why,
                        size_t why_bytes);

/*! \brief Takes a node or cable out of service, or back: drained_request() of sa/sm/drained.h. */
int sweep_request_drained(struct sweep *s, const struct drained_request *rq,
                          struct drained_outcome *ret_outcome, char *why, size_t why_bytes);

/*! What became of a change of partitions. */
struct partition_outcome {
	bool changed;
	uint64_t version;  /*!< of the partitions now, also when the change was refused */
	int64_t changed_s; /*!< when they changed last, seconds since 1970; 0: never */
};

/*!
 * \brief Changes partitions at run time: durable when it returns, unless it is held, programmed when
 *        the fabric thread is idle.
 * \param c    Its P_Key and members are as they were taken afterwards.
 * \param ret_outcome  Set in any case. \param why  [why_bytes] On failure a sentence.
 * \retval E_NOTREADY  We are no master.
 * \retval E_FULL  The P_Key table of a port is too small; nothing is changed.
 * \retval others  Of runtime_apply() and runtime_store().
 */
int sweep_change_partitions(struct sweep *s, struct runtime_change *c,
                            struct partition_outcome *ret_outcome, char *why,
                            size_t why_bytes);

/*!
 * \brief Changes of partitions from here on are durable when sweep_settle_partitions() has returned E_OK: they
 *        share one transaction. Nothing runs between the two but changes and questions.
 */
void sweep_hold_partitions(struct sweep *s);

/*!
 * \brief Makes changes durable that were held. If it fails, none of them has happened.
 * \param why  [why_bytes] On failure a sentence.
 * \retval -ENOSPC -EIO -errno  Of runtime_store().
 */
int sweep_settle_partitions(struct sweep *s, char *why, size_t why_bytes);

/*! \brief Partitions made at run time. Borrowed until the next change or sweep_run_once(). */
const struct runtime_partitions *sweep_runtime_partitions(struct sweep *s);

/*! \brief Partitions of the configuration. \param ret_partitions  In \a a or borrowed.
 * \retval -ENOMEM */
int sweep_configured_partitions(const struct sweep *s, struct arena *a,
                                const struct partitions **ret_partitions);

/*! \brief Is an end port or a virtual port with this GUID in the fabric as it is known? */
bool sweep_has_port(const struct sweep *s, uint64_t guid);

/*! An end port of a host that was asked for by name. */
struct sweep_host_port {
	uint64_t guid;
	uint32_t host; /*!< place in the list of names */
};

/*!
 * \brief End ports of channel adapters by the names of their hosts (graph_host_ports()), of
 *        the fabric as it is known.
 * \param host       [n] Names; a name may stand there twice.
 * \param ret_ports  [*ret_n] In \a a, by the order of the fabric.
 * \retval -ENOMEM
 * Cost: O(nodes * log n).
 */
int sweep_host_ports(const struct sweep *s, const char *const *host, uint32_t n,
                     struct arena *a, struct sweep_host_port **ret_ports,
                     uint32_t *ret_n);

/*! \brief PortGUID of the end port at this port of a node, or at the other end of its cable.
 * \return 0: there is none. */
uint64_t sweep_end_port(const struct sweep *s, uint64_t node_guid, uint8_t port);

/*!
 * \brief Version of the partitions made at run time that ports and SA answers have.
 * \param ret_keys_port  [*ret_n, at most P_KEYS_MISSING_MAX] Ports that did not take
 *             theirs. Borrowed until the next sweep_run_once().
 */
uint64_t sweep_partitions_settled(const struct sweep *s,
                                  const struct p_keys_port **ret_keys_port,
                                  uint32_t *ret_n);

/*! \brief Takes new dependencies of the same process: configuration, engine options and list. A sweep
 *  at work is given up (the next one is heavy); the old configuration may be freed after it. */
void sweep_reconfigure(struct sweep *s, const struct sweep_deps *d);

struct sweep_status {
	const char *phase;        /*!< "discover", "idle", ... */
	bool up;                  /*!< the subnet is up: the last heavy sweep ended well */
	bool master;
	bool standby; /*!< STANDBY or NOT-ACTIVE: not_ready says who is master */
	struct {
		uint64_t guid; /*!< port GUID; 0: we are no standby */
		uint32_t lid;
		uint8_t priority;
		char name[65];    /*!< of its node, "" if it is not known */
	} other;                  /*!< whom we wait for while standby */
	uint32_t isolated_ports;  /*!< that are not healthy */
	char not_ready[400];      /*!< why not up, "" when up */
	char progress[80];        /*!< "discover 430/702 nodes", "" when idle */
	uint32_t heavy_sweeps, light_sweeps, failed_sweeps;
	uint32_t local_sweeps;    /*!< that read only what may have changed */
	int64_t heavy_ended_s, local_ended_s,
		light_ended_s; /*!< wall clock when the last one ended well; 0: none did */
	uint32_t local_fallbacks; /*!< local sweeps that were given up for a heavy one */
	uint32_t local_differences; /*!< found by heavy sweeps that followed local ones */
	uint64_t epoch;
	uint64_t smps_sent, smp_timeouts, smp_retries;
	/* of those sent: by LID; by LID and one directed hop; without an answer to either */
	uint64_t smps_by_lid, smps_mixed, smps_repeated_directed;
	uint32_t switches_way
		[WAY_COUNT]; /*!< how the last sweep programmed the switches */
	uint32_t switches, hosts, unreachable_nodes;
	uint32_t cache_hits, cache_misses; /*!< of the unicast routing cache */
	uint64_t forged_traps; /*!< that the fabric disagreed with */
	uint64_t
		forged_answers; /*!< to SMPs and requests for counters that nobody sent, or not from
	                            where they went */
	uint64_t p_key_violations, q_key_violations; /*!< traps 257 and 259, 258 */
	uint32_t audits;         /*!< rounds in which all tables were read back */
	uint64_t tables_changed; /*!< blocks that somebody else had changed then */
	uint32_t routes_per_link_max;      /*!< of the last routing */
	uint32_t
		routes_per_link_fresh; /*!< of routes that keep nothing; 0: not compared yet */
	uint64_t port_sets, lft_sets, mft_sets, bounces; /*!< since the start: PortInfo and LFT blocks sent, links restarted */
};

/*! \brief Borrowed until the next sweep_run_once(). */
const struct sweep_status *sweep_status(const struct sweep *s);

/*! \brief For tests: the job at work, or the last one. Borrowed until the next sweep_run_once(). */
const struct job *sweep_job(const struct sweep *s);

/*! \brief For tests: congestion control since the start. Borrowed until sweep_free(). */
const struct congestion_counters *sweep_congestion(const struct sweep *s);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*! \file What the sources of the performance manager share. */

#include <stdbool.h>
#include <stdint.h>

#include "db/lmdb/counters.h"
#include "sa/mad/request.h"
#include "sa/perf/counter_fields.h"
#include "sa/perf/link_health.h"
#include "sa/perf/perf.h"
#include "sa/perf/perf_alarms.h"

enum { AGENTS_AT_WORK = 64, PER_AGENT = 4 };

/* A cabled port. */
struct counted_port {
	uint64_t guid; /* NodeGUID */
	uint8_t num;
	bool fast;     /* its link may have forward error correction */
	uint8_t alarm; /* as perf_alarms_watch() wants it */
	bool summed;   /* Omni-Path: the error counters were read when their sum was this one */
	uint64_t sum;
	int64_t time_s;
	uint64_t at_ms; /* of the last reading; 0: none */
	uint32_t known, saturated;
	uint64_t value[PORT_COUNTERS];
	struct link_health health;
	bool shown; /* its health has a row in the stats */
};

/* Health of ports that are not there, but may come: [n] by (guid, num). */
struct kept_health {
	struct link_health_row *rows; /* malloc */
	size_t n, cap;
};

/* A series of the metrics: a port that is or was sick. */
struct sick_series {
	uint64_t guid;
	uint8_t num;
	bool sick;
};

/* Of ports that left; above, those that left for longest are forgotten. */
enum { KEPT_HEALTH_MAX = 10000 };

/* A port that answers for itself (CA, router), or a switch that answers for its ports. */
struct agent {
	uint64_t guid;
	uint32_t first, n; /* ports */
	uint32_t lid, qpn, qkey;
	uint8_t sl, lmc;
	bool is_switch;
	bool asked; /* for ClassPortInfo */
	bool no_wide, no_speeds; /* it said so */
	bool no_groups; /* Omni-Path: it refused a request for several ports */
	bool redirected;
	bool summed; /* its ports were read since the sum had this digest */
	uint64_t digest;
	struct perf_caps caps;
};

/* An agent at work. */
struct work {
	uint32_t agent; /* UINT32_MAX: unused */
	enum { STEP_CAPS, STEP_SUM, STEP_PORTS } step;
	uint32_t port;  /* next one, counted from its first */
	uint8_t part;   /* next attribute of this port */
	uint8_t in_flight;
	bool asked;  /* the request of this step was sent */
	bool failed; /* no answer: the rest of the agent waits for the next sweep */
	bool errors; /* error counters are to be read port by port */
	bool summed; /* the agent's sum has this digest now */
	uint64_t digest;
	struct counter_reading *reading; /* [n] malloc */
};

struct perf {
	struct transport *transport;
	struct stats *stats;
	int64_t (*wall_clock)(void);
	/* options */
	uint32_t interval_ms, retries;
	bool ignore_cas, forget, redirect, ask_caps;
	/* fabric */
	bool omni_path;
	uint16_t pkey_index;
	struct counted_port *ports;
	struct agent *agents;
	uint32_t n_ports, n_agents;
	/* sweep */
	bool sweeping;
	uint32_t next_agent;
	uint64_t began_ms, next_ms; /* next_ms: when the next sweep begins */
	uint64_t paced_ms;          /* when budget was last raised */
	uint64_t check_ms;          /* when late requests are looked for */
	double budget, per_ms;      /* requests that may be sent now; more of them each ms */
	uint32_t n_read;
	struct work work[AGENTS_AT_WORK];
	uint32_t n_work;
	struct requests *requests;
	struct perf_alarms alarms;
	/* health of links */
	bool judges;
	struct link_rules rules;
	struct kept_health kept;
	struct sick_series *series; /* malloc */
	size_t n_series, cap_series;
	uint32_t in_state[LINK_STATES]; /* ports, at the end of the last sweep */
	struct perf_counters counters;
};

/*!
 * \brief Takes a reading of a port: what its counters are, and by how much they rose.
 * \return Bits of the counters that somebody cleared since; they show what came after that.
 */
uint32_t perf_rise(struct counted_port *port, const struct counter_reading *r,
                   struct port_counters *ret_counters);

/*! \brief Reads what an earlier process knew of the health of links. */
void perf_health_load(struct perf *p);

/*! \brief Judges a reading. \param cleared  Counters that somebody cleared: bits. */
void perf_health_take(struct perf *p, struct counted_port *port, const struct port_counters *c,
                      uint32_t cleared);

/*! \brief A port was there before and is: its health goes on. */
void perf_health_go_on(struct counted_port *port, const struct counted_port *old, int64_t now_s);

/*! \brief A port left: its health is kept for the case that it returns. */
void perf_health_leave(struct perf *p, const struct counted_port *old);

/*! \brief A port is new: takes what is kept of it. */
void perf_health_return(struct perf *p, struct counted_port *port, int64_t now_s);

/*!
 * \brief Sends a request that belongs to \a w.
 * \param part  Of the agent: the first port that is asked for; 0 where it is something else.
 */
void perf_ask(struct perf *p, struct work *w, struct mad_request *r, uint32_t part);

/*! \brief Sends the next request of an Omni-Path agent. \return false: it waits for answers, or is done. */
bool perf_opa_step(struct perf *p, struct work *w);

/*! \brief Takes the answer of an Omni-Path agent, at least a header. \param r  Ended; its MAD is as it was sent. */
void perf_opa_answer(struct perf *p, struct work *w, const struct mad_request *r,
                     const struct mad_msg *m);

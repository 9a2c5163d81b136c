/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/sm/discover/silent.h"
#include "sa/sm/discover/trap_source.h"
#include "sa/sm/virtual/vports.h"

struct arena;
struct audit;
struct election;
struct job;
struct sm;

/*!
 * What changed since the last sweep? Light sweeps ask the switches; a trap 128 or 144 has its
 * sender asked. A change asks for a local sweep, which reads the nodes in question again, or for
 * a heavy one where that cannot suffice.
 *
 * Traps that the fabric as known refutes (sa/sm/discover/trap.h) are counted, and nothing follows
 * from them. A trap of a node that was away lets the next light sweep begin at once.
 *
 * A trap 144 of a port with an SM, or that lost its SM, has the election ask that SM.
 *
 * A sender that goes on is looked at less and less often (sa/sm/discover/trap_source.h). In
 * a fabric where many change one after another, the senders together get no more: after a sweep
 * no look begins for as long as the sweep took, and at least for 0.05, 0.1, 0.2 ... 2 seconds
 * while sweeps follow each other. Meanwhile what waits for an idle fabric thread gets its turn:
 * tables that clients ask for, multicast, alias GUIDs. All traps of the gap make one sweep.
 */
struct changes {
	struct sm *sm;
	struct audit *audit;       /*!< hears of suspicious ports */
	struct election *election; /*!< borrowed as job is */
	struct job *job; /*!< the fabric as known; borrowed during a light sweep or a look */
	bool may_clear;  /*!< we are master, so PortStateChange is ours to clear */
	bool looking;    /*!< a look at senders of traps is at work */
	uint32_t number; /*!< counts light sweeps and looks */
	uint32_t n_found; /*!< reasons for a sweep; what[] is the first */
	bool everywhere;  /*!< one of them is not about a single node */
	uint64_t
		*suspects; /*!< [n_suspects] malloc; NodeGUIDs that a local sweep reads */
	uint32_t n_suspects;
	uint32_t n_sure; /*!< the first ones: something was found that is about them */
	size_t cap_suspects;
	uint32_t n_updated; /*!< attributes that are to be published */
	char what[320];
	struct vports_read vports; /*!< at work */
	struct arena *arena; /*!< of the light sweep or look at work, NULL: none */
	struct trap_sources sources;
	struct silent silent; /*!< ports behind which light sweeps ask again */
	bool all_silent;      /*!< the next one asks behind all of them */
	bool want_light;     /*!< a light sweep, because a node returned that was away, or one is there that is not known */
	uint64_t light_ms;   /*!< no such one before */
	uint32_t gap_ms;     /*!< after the last sweep */
	uint64_t next_ms;    /*!< no look before */
	uint64_t quiet_ms;   /*!< without another sweep until then the next gap is the first again */
};

/*! \brief Starts a light sweep over the fabric of a job: queues its requests. */
void changes_light_start(struct changes *c, struct job *j, struct election *e);

/*!
 * \brief When they are answered: asks for a sweep if something changed.
 * \return true: only SwitchInfo changed, because bits were cleared; it is to be published.
 */
bool changes_light_end(struct changes *c);

/*! \brief Is a light sweep to begin now, before its time? It is noted as begun. */
bool changes_want_light(struct changes *c);

/*! \brief Takes a trap that is believed: its sender is to be looked at.
 *  \param notice  Its Notice. */
void changes_trap(struct changes *c, const uint8_t *notice);

/*!
 * \brief When idle: asks the senders of traps whose time has come.
 * \param j  The fabric as known, NULL: none.
 * \return false: there are none.
 */
bool changes_look_start(struct changes *c, struct job *j, struct election *e);

/*! \brief A sweep ended that began at this time: the next look waits a while. */
void changes_swept(struct changes *c, uint64_t started_ms);

/*! \brief May the look end before all is answered, because a sweep is needed? */
bool changes_look_found(const struct changes *c);

/*!
 * \brief Ends a look: asks for a sweep if something changed.
 * \return true: attributes changed that no table depends on; they are to be published.
 */
bool changes_look_end(struct changes *c);

/*! \brief Ends a light sweep or a look whose requests were dropped: a trap that comes later must not
 * join it. */
void changes_give_up(struct changes *c);

/*! \brief The time of the next look, or at which a sender is quiet again; UINT64_MAX: never. */
uint64_t changes_deadline(const struct changes *c);

void changes_done(struct changes *c);

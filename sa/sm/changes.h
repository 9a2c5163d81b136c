/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct election;
struct job;
struct sm;

/*!
 * What changed since the last heavy sweep? Light sweeps ask the switches, and traps 128 and
 * 144 say so. A change asks for a heavy sweep.
 */
struct changes {
	struct sm *sm;
	struct job *job; /*!< the fabric as known; borrowed during a light sweep */
	bool may_clear;  /*!< we are master, so PortStateChange is ours to clear */
	uint32_t number; /*!< counts light sweeps */
	uint32_t n_found;   /*!< reasons for a heavy sweep; what[] is the first */
	uint32_t n_cleared; /*!< switches whose PortStateChange was cleared */
	char what[320];
	struct arena *arena; /*!< of the light sweep at work, NULL: none */
	struct {
		uint32_t lid;  /*!< 0: none */
		uint32_t mask; /*!< CapabilityMask that it reports */
	} trap_144; /*!< not looked at yet */
};

/*! \brief Starts a light sweep over the fabric of a job: queues its requests. */
void changes_light_start(struct changes *c, struct job *j, struct election *e);

/*!
 * \brief When they are answered: asks for a heavy sweep if something changed.
 * \return true: only SwitchInfo changed, because bits were cleared; it is to be published.
 */
bool changes_light_end(struct changes *c);

/*! \brief Takes a trap, which asks for a heavy sweep if it reports a change of the fabric.
 *  \param notice  Its Notice. */
void changes_trap(struct changes *c, const uint8_t *notice);

/*!
 * \brief When idle: looks at a trap 144 that may be about our own IsSM bit.
 * \param j  The fabric as known, NULL: none.
 * \return true: PortInfo of our port changed; it is to be published.
 */
bool changes_own_capability(struct changes *c, struct job *j);

void changes_done(struct changes *c);

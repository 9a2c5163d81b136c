/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/config.h"
#include "db/lmdb/link_health.h"

/*!
 * What is done about the cables whose ports are not well: a function of the health of both ends,
 * of what is out of service, and of what the proof says.
 *
 * What a switch counts of a cable is believed; what a host counts is shown, but never takes a
 * link out. If most cables of a switch are sick, the switch is, and its cables stay.
 * A link is taken out only if it is between switches, the operator asked for it, fewer than the
 * most are out, and the proof allows it. One is taken out at a time, the worst first,
 * because the next proof is about the fabric without it. One that was taken out returns when
 * it was calm for a time, or when its cable was changed.
 */
struct link_policy {
	enum link_health_mode mode;
	uint32_t most; /*!< links out of service for their health at a time */
};

/*! A cable of which an end is not well, or which is out of service. Ends in the order of the graph. */
struct link_cable {
	uint64_t guid[2]; /*!< NodeGUIDs */
	uint8_t port[2];
	bool is_switch[2];
	struct link_health *end[2]; /*!< NULL: not read */
	uint32_t cables[2];         /*!< that hang on that node */
	bool out;                   /*!< of service, for its health */
	bool out_by_operator;
	/* results */
	enum link_state state; /*!< of the worse end */
	uint8_t worse;         /*!< that end */
	enum link_decision decision;
	bool returns; /*!< it is to be put into service again */
};

/*! \brief May the cable be taken out? \return DUE: yes; else why not. */
typedef enum link_decision link_ask_f(void *ctx, const struct link_cable *c);

/*!
 * \brief Decides about all cables.
 *
 * \param cables    [n] in any order; their results are set.
 * \param ask       Asked at most once for each cable, until one may be taken out.
 * \param ret_take  Index of the cable that is to be taken out; n: none.
 * Cost: O(n^2) for the switches of sick cables, and what \a ask costs.
 */
void link_verdict(struct link_cable *cables, size_t n, const struct link_policy *policy,
                  link_ask_f *ask, void *ctx, size_t *ret_take);

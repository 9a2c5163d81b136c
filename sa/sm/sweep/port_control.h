/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/mad/smp.h"
#include "sa/sm/sweep.h"

struct sm;

/*!
 * Ports that an operator switches off and on, by PortPhysicalState.
 *
 * A cable is switched at one of its two ends. It is the one that was named, unless that end
 * could not be reached any more to be switched on again: then it is the other. So a host is
 * switched off at its switch.
 *
 * The switch keeps the state, and no sweep changes it. So the port stays off until it is
 * switched on, also over a restart or a change of the subnet manager; a switch that restarts
 * forgets it.
 *
 * One request is carried out at a time, when the state machine is idle.
 */
struct port_control {
	struct sm *sm;
	bool wanted;   /*!< a request waits or is at work */
	bool disable;  /*!< what it wants */
	bool ended;    /*!< it was answered */
	char by[160];  /*!< who wants it; "": not known */
	uint64_t guid; /*!< NodeGUID of the switch */
	uint8_t port;
	struct smp_dest dest;
};

/*!
 * \brief Takes a request; see sweep_request_port().
 * \param why  Sentence on failure.
 */
int port_control_request(struct port_control *p, const struct port_request *rq,
                         struct port_choice *ret_choice, char *why, size_t why_bytes);

/*! \brief When idle: begins to carry it out. \return false: there is none. */
bool port_control_start(struct port_control *p);

/*! \brief When it is answered. \return true: a sweep shall look at the fabric. */
bool port_control_end(struct port_control *p);

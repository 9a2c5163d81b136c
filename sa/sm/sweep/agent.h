/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

#include "conf/base/log.h"

struct changes;
struct election;
struct mad_msg;
struct sm;

/*!
 * MADs that others send to the subnet manager. Answers to our SMPs go to the SMP engine.
 * SMInfo requests and traps are answered here. SA requests go to the SA server, unless the
 * transport hands them over itself.
 *
 * A trap is always repressed (IBA vol. 1, 13.4.9), whatever our state. Unless
 * the fabric disagrees with it, a master reports it to its subscribers, and looks at the
 * sender of a 128 or 144 if sweep_on_trap says so (see sa/sm/sweep/changes.h). A Set(SMInfo) that
 * is not legal is refused with status 0x1C (see sa/sm/manager/election.h).
 */
struct agent {
	struct sm *sm;
	struct election *election;
	struct changes *changes;
	struct p_keys *p_keys;
	struct audit *audit;         /*!< hears of suspicious ports */
	struct log_limit trap_lines; /*!< of all senders together */
	struct log_limit answer_lines;
};

/*! \brief Logs and counts an answer that belongs to no request of ours. */
void agent_forged_answer(struct agent *a, const struct mad_msg *m);

/*! \brief Takes one MAD. */
void agent_receive(struct agent *a, const struct mad_msg *m);

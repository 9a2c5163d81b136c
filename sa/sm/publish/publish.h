/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "conf/base/why.h"
#include "db/snapshot/snapshot.h"

struct election;
struct job;
struct sm;

/*!
 * Publishes the fabric of a job into the snapshot: graph, LIDs, tables, payloads of
 * attributes as last read or programmed, policy.
 *
 * An epoch changes when routing does. The comparison with what is stored tells, so sweeps that found
 * nothing new keep the epoch and readers keep their caches.
 */
struct publisher {
	struct sm *sm;
	const struct election *election;
	bool current; /*!< the snapshot has what was to be published last, by this process */
	uint64_t epoch;
	struct snap_transition transition; /*!< the last one; its reason is: */
	struct why reason;
	uint64_t policy_logged; /*!< digest of the policy that was logged, 0: none yet */
	uint64_t sls_logged;    /*!< the same of the SLs of partitions */
	uint64_t refused;       /*!< digest of the refused nodes that are published */
};

/*!
 * \brief Publishes in one transaction.
 * \retval -ENOMEM and errors of the databases, with sm_fail(): what was published before
 *         stays, and the next publish is a new epoch.
 */
int publish_fabric(struct publisher *p, struct job *j);

/*!
 * \brief For tests: publishes all of a job into another snapshot, with nothing left out because it did not
 *        change. The publisher stays as it is.
 * \retval -ENOMEM and errors of the database.
 */
int publish_anew(struct publisher *p, struct job *j, struct snap_writer *to,
                 uint64_t epoch);

/*!
 * \brief Publishes states and PortInfo of ports that were set since the last publish of the same
 *        job, within its epoch.
 * \retval -ENOMEM and errors of the databases, as above.
 * Cost: the ports of nodes that changed, see disc_note_change().
 */
int publish_ports(struct publisher *p, struct job *j);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/known.h"
#include "sa/sm/record_list.h"

struct job;
struct sm;

/*!
 * The memory of nodes: each end port that was ever up and each cable between switches, with its last place, since when it is
 * gone, and why. It is in the durable state, so it outlives restarts and is copied to standbys,
 * and it is mirrored into the snapshot, where readers find it.
 *
 * After each sweep the rows are compared with the fabric, and those that differ are written.
 * Nothing waits for that: a row that is lost in a crash is written by the next sweep. At most
 * `known_nodes` rows stay; above, those that are gone for longest are dropped, and ports that
 * are there never are.
 */
struct known {
	struct known_node *list; /*!< [n] malloc; by NodeGUID and port */
	size_t n;
	struct record_list rows;
};

/*! \brief After a sweep that ended well. A failure is logged, and the next sweep tries again.
 *  Cost: O(ports + known), and a transaction if something differs. */
void known_note(struct sm *sm, const struct job *j);

/*! \brief The first port of a node, there or gone, that a name, GUID or LID means.
 *  \return NULL: none is known. Borrowed until the next sweep. */
const struct known_node *known_find(struct sm *sm, const char *what);

/*!
 * \brief Forgets ports that are gone, and their LIDs, which are free from then on.
 *
 * \param what  Name, NodeGUID, port GUID or LID of a node; NULL: all that are gone.
 * \param by    Who wants it, for the events.
 * \param why   Sentence on failure.
 * \retval E_NOTREADY   We are not master.
 * \retval E_NOTFOUND   No such node is known. \retval E_UNSUITABLE  It is there.
 * \retval E_AMBIGUOUS  Several nodes of this name are gone. \retval -ENOMEM and errors of the state
 */
int known_forget(struct sm *sm, const char *what, const char *by, size_t *ret_n, char *why, size_t why_bytes);

void known_done(struct known *k);

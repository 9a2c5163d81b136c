/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_txn;
struct diff;
struct snap_content;

/*!
 * P_Key tables of end ports, each different table stored once: a port has the number of
 * its set. Set 0 is the default P_Key as a full member; a port whose table is not known
 * has it. Private to this room.
 */
struct key_set {
	const uint16_t *key; /*!< in the order of the table, without empty places */
	uint32_t n;
};

struct key_sets {
	struct key_set *set;
	uint32_t n;
	uint16_t *of_port;  /*!< [graph.n_ports] */
	/* with a policy: what a set means there, so ports of one table may have several
	 * sets */
	uint64_t *bits; /*!< [n * width] */
	uint32_t width; /*!< words of a set, 0: no policy */
	bool same;      /*!< the stored sets have these numbers */
};

/*! \brief Out of the policy and the P_KeyTable rows of \a c. \retval E_FULL  More than
 * 65,536 sets. \retval -ENOMEM */
int key_sets_init(struct key_sets *k, const struct snap_content *c, struct arena *a);

/*! \brief The same where some nodes changed: other ports have the sets that are stored. There is no policy
 *  and no virtual port. \param t  Reads the stored rows. Cost: O(end ports), a few ns each. */
int key_sets_init_changed(struct key_sets *k, const struct snap_content *c,
                          struct db_txn *t, struct arena *a);

/*! \brief Offers the rows of `p_key_sets`. */
void key_sets_emit(const struct key_sets *k, struct diff *d);

/*! \brief Offers the rows of `partitions`. */
void partitions_emit(const struct snap_content *c, struct diff *d);

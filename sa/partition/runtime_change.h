/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct partitions;
struct runtime_member;
struct runtime_partitions;
struct state_batch;

/*!
 * Changes of partitions at run time.
 *
 * A change is computed on a copy. The caller makes its batch durable and only then takes the
 * copy in place of what there was, so a change happens as a whole or not at all.
 */
enum { RUNTIME_SAME = -1 /*!< a number that is not given */ };

enum runtime_action {
	RUNTIME_CREATE,
	RUNTIME_ADD,
	RUNTIME_REMOVE,
	RUNTIME_SET, /*!< the members of the change and no others */
	RUNTIME_DELETE
};

/*! What an operator asks for. */
struct runtime_change {
	enum runtime_action action;
	uint16_t
		p_key; /*!< 15 bits; 0 with RUNTIME_CREATE: one that is free; 0 with others:
	                  that of the partition with the name */
	uint16_t from; /*!< with RUNTIME_ADD: the members leave this partition in the same
	                     change; 0: none */
	uint16_t first, last; /*!< a P_Key that is chosen is one of these; 0, 0: any */
	bool create; /*!< RUNTIME_ADD, RUNTIME_SET: make the partition if there is none */
	const char *name; /*!< NULL: not given; with p_key 0 it says which partition */
	uint8_t membership;             /*!< 0: not given */
	int indx0, ipoib;               /*!< 0, 1, or RUNTIME_SAME */
	int sl, rate, mtu;              /*!< or RUNTIME_SAME */
	struct runtime_member *members; /*!< [n_members]; is sorted by GUID, each once */
	uint32_t n_members;
	const char *by; /*!< who asks, for the event; NULL: unknown */
	bool has_version;
	uint64_t if_version; /*!< the version that the operator knows */
};

/*!
 * \brief Computes what a change makes of the partitions.
 *
 * Repeating a change changes nothing: members that are there may be added, and others removed.
 *
 * A P_Key is chosen as the lowest one that is free, or, where a range is given, as the next free
 * one behind a place that moves with the version. So a P_Key is not given again at once, while
 * ports of its last members may still have it.
 *
 * \param configured  Partitions of the configuration.
 * \param now_s       Seconds since 1970.
 * \param why         [why_bytes] On failure a sentence.
 * \param ret_partitions         What there is then; the caller's. NULL: nothing changes.
 * \param ret_batch   Rows for the state; the caller's. NULL with \a ret_partitions.
 *
 * \retval E_OK       c->p_key is that of the partition, also if it was chosen.
 * \retval E_STALE      The version is not c->if_version.
 * \retval E_NOTFOUND   There is no such partition.
 * \retval E_DUPLICATE  There is one, and with other properties, or the name is taken.
 * \retval E_UNSUITABLE A partition of the configuration cannot be deleted or renamed.
 * \retval E_FULL       Too many members or partitions.
 * \retval E_RANGE      A GUID or number is none. \retval -ENOMEM
 *
 * Cost: O(all members).
 */
int runtime_apply(const struct runtime_partitions *now,
                  const struct partitions *configured, struct runtime_change *c,
                  int64_t now_s, char *why, size_t why_bytes,
                  struct runtime_partitions **ret_partitions,
                  struct state_batch **ret_batch);

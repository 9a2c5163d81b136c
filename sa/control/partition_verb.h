/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct control;
struct sweep;

/*!
 * The verb "partition": partitions at run time.
 *
 *   {"verb": "partition", "action": "create", "pkey": "0x1", "name": "tenant-a", "ipoib": true}
 *   {"verb": "partition", "action": "add", "pkey": "0x1",
 *    "members": [{"guid": "0x0002c903000e0b72", "membership": "limited"}]}
 *   {"ok": true, "version": 7, "changed": true, "last_updated": "2026-11-22T10:00:00Z", ...}
 *
 *   action   members of the request
 *   create   pkey (else the lowest that is free), name, and properties: membership (of members
 *            that come without one), index0, ipoib, sl, mtu and rate (codes); members
 *   add      pkey, members, properties, create (make it if there is none), from (P_Key of a
 *            partition that the members leave in the same change)
 *   set      as add; members made at run time that are not named leave
 *   remove   pkey, members
 *   delete   pkey
 *   list     members (false: without the members of each)
 *   show     pkey
 *   wait     version (else the last one), timeout_ms (10 s if not given, 10 min at most): replies when ports and SA
 *            answers have that version: "programmed"; if not, "ports" names those that do not
 *
 * A member is a GUID, {"guid": ...} or {"host": ...}, the name of a host with one port; a name that means no
 * port or several is refused.
 *
 * Each change may have if_version. Its reply has "present" and "absent", the GUIDs of the
 * request that are in the fabric or not; for "remove" also "configured", those that stay
 * members because the configuration names them.
 *
 * A refusal changes nothing and has a "code" beside its sentence: invalid, not_found, exists,
 * conflict (with the "version" of now), full, read_only, standby, disk, or memory.
 */
int partition_verb(struct sweep *s, struct control *c, const json_t *request,
                   json_t *reply, char *why, size_t why_bytes);

/*!
 * \brief For control_options.settle: makes the changes of all requests since sweep_hold_partitions()
 *        durable, in one transaction.
 * \param reply  On failure its code goes here.
 * \return As sweep_settle_partitions().
 */
int partition_settle(struct sweep *s, json_t *reply, char *why, size_t why_bytes);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct config;
struct disc;
struct lids;
struct mad_msg;

/*!
 * Which other subnet managers are believed, and how far.
 *
 * Any host can run a program that calls itself a subnet manager. One is *believed* if SMInfo comes
 * from the port whose GUID it names, has our SM_Key, and this port may run one
 * (allowed_sm_guids). It is *announced* if somebody here named it: its GUID stands in
 * allowed_sm_guids, it has shown over the link of standbys that it knows the secret, or it
 * has a secret sm_key while ports are protected by an m_key, so that no host can have read it.
 * With sm_trust any, all that are believed count as announced.
 *
 * A secret sm_key is shown only to an SM that proves to be one of ours, and without an M_Key for each
 * port none can prove it, so two with the same sm_key show each other SM_Key 0. One that hides its
 * SM_Key is therefore believed where ours would hide its own, but not announced; so is one that shows
 * SM_Key 0 where ours is the one that all know.
 *
 * A running master hands over to announced ones only. See sa/sm/manager/election.h for the rest.
 */

/*! \brief May a subnet manager run on this port? */
bool trust_allows(const struct config *c, uint64_t guid);

/*! \brief Is this port named by itself, so that keys may be shown to what runs there?
 *  \param linked  It knows the secret of the link of standbys. */
bool trust_names(const struct config *c, uint64_t guid, bool linked);

/*!
 * \brief Is one that is believed announced, too?
 * \param info    Payload of its SMInfo.
 * \param linked  It knows the secret of the link of standbys.
 */
bool trust_is_announced(const struct config *c, const uint8_t *info, bool linked);

/*!
 * \brief Why SMInfo is not believed; NULL: it is.
 * \param info  Payload of SMInfo.
 * \param at    PortGUID of the port that it came from; 0: no port that is known.
 */
const char *trust_fault(const struct config *c, const uint8_t *info, uint64_t at);

/*!
 * \brief The end port that sent a request or a trap: that with its source LID, or, of one that came
 *        over a directed route, the end of the way back over the cables as known.
 *
 * Switches write the ports of the way back into the packet, at least those after the switch that
 * the sender hangs on, so a sender cannot show a way that ends at another port.
 *
 * \param l  LIDs as assigned; NULL: those that the ports showed.
 * \return GRAPH_NONE: none that is known. Cost: O(1), or O(end ports) without \a l.
 */
uint32_t trust_sender(const struct disc *d, const struct lids *l,
                      const struct mad_msg *m);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sa_store;
struct snap_reader;
struct store_event;
struct transport;

/*!
 * Notice reports: an event goes to each of its subscribers as a Report(Notice) (IBA vol. 1,
 * 13.4.9 and 15.4.4). It is repeated until a ReportResp comes, and given up after some
 * tries.
 *
 * Of the answer thread. A notice is the 64 bytes of a trap with the
 * IssuerGID behind them.
 */
enum { NOTICE_BYTES = 80, NOTICE_ISSUER_GID_AT = 64 };

struct reports;

struct report_counters {
	uint64_t sent;      /*!< repeats included */
	uint64_t answered, given_up;
	uint64_t dropped;   /*!< no room */
	uint64_t
		forged; /*!< answers to reports that nobody sent, or not from where they went */
};

/*! \param t  Borrowed. \retval -ENOMEM */
int reports_new(struct transport *t, struct reports **ret_reports);
void reports_free(struct reports *rp); /*!< NULL is fine */

/*!
 * \brief Queues reports of one event to its subscribers; reports_run() sends them.
 * \param r     Pinned: where subscribers are now.
 * \param wide  As of sa_server_trap().
 * Cost: O(subscriptions).
 */
void reports_event(struct reports *rp, struct snap_reader *r, const struct sa_store *st,
                   const uint8_t notice[NOTICE_BYTES], bool wide);

/*!
 * \brief Queues reports of a multicast group that was created (trap 66) or deleted (67), to
 *        subscribers who have its P_Key.
 */
void reports_group(struct reports *rp, struct snap_reader *r, const struct sa_store *st,
                   const struct store_event *e);

/*! \brief Is the MAD a ReportResp? */
bool reports_is_response(const uint8_t *mad, size_t len);
/*! \brief Takes a ReportResp. \return false: the MAD is none. */
bool reports_answer(struct reports *rp, const uint8_t *mad, size_t len, uint32_t lid);

/*! \brief Sends what is due. \return When the next one is due, UINT64_MAX: none is. */
uint64_t reports_run(struct reports *rp, uint64_t now_ms);

/*!
 * Ports that appear and disappear: traps 64 and 65 of the SM itself, by comparing the end ports of
 * the published fabric with those of the last call. The first call only reads them. The
 * reports go to subscribers that share a P_Key with the port, or did when it was last there.
 * Subscriptions of ports that are not there (any more) are removed from the store.
 * \retval E_OK \retval E_STALE -ENOMEM  Nothing was reported; the next call does it.
 * Cost: O(LIDs).
 */
int reports_ports(struct reports *rp, struct snap_reader *r, struct sa_store *st);

const struct report_counters *reports_counters(const struct reports *rp);

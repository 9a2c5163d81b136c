/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/lmdb/link_health.h"

struct port_counters;

/*!
 * Judges the link at a port by its counters: a function of readings, in their order, and of
 * nothing else. The owner says how long a reading lasted and what the wall clock is.
 *
 * A link may have bit errors: at most one of 10^12 bits, or of 10^15 where errors are corrected
 * and only the rest is counted. So many errors are allowed in the time that was observed. More
 * of them are a proof if chance explains them worse than exp(-LINK_PROOF_NATS), by the bound
 * of Chernoff for a Poisson process; a fabric of 100,000 ports that err at exactly the limit has
 * no false proof in years. Three things prove that a link is sick:
 *
 *   bursts   several minutes of an hour or a day were bad by themselves
 *   rate     the errors of an hour or a day are too many in the whole
 *   retrains the link recovered from errors, or went down, again and again
 *
 * Readings are joined to incidents of a minute or more. Each proof needs several incidents,
 * because one adds only a third of a proof. So a cable that somebody touched, and an answer that
 * somebody forged, make a link suspect at most. The errors of a reading in which the link went down
 * are those of its training, and do not count. A counter that somebody cleared shows what came since,
 * which counts in the whole, but makes no bad minute.
 * Discards say that a path is congested, and corrected blocks that correction works; both are shown
 * and prove nothing.
 *
 *            errors                    proof
 *     WELL ----------> SUSPECT ------------------> SICK
 *       ^  <----------   ^                           |
 *          an hour       '---------------------------'
 *          without         calm for an hour, twice as long with each relapse,
 *                          and less than half of a proof is left in the windows
 *
 * Sources: IBTA Architecture Specification, volume 2, electrical specification (bit error
 * ratio of 10^-12); the effective ratio of 10^-15 behind forward error correction is that of
 * its compliance tests and of vendors' manuals. Chernoff bound: Mitzenmacher and Upfal,
 * Probability and Computing, theorem 5.4.
 */
#define LINK_BER_RAW 1e-12
#define LINK_BER_EFFECTIVE 1e-15

enum {
	LINK_PROOF_NATS = 32,
	LINK_DIRTY_NATS = 16,  /*!< a bad minute */
	LINK_MINUTE_NATS = 10, /*!< that one incident adds to a window at most */
	LINK_CALM_NATS = 8,    /*!< in the windows of a link that is well again */
	LINK_DIRTY_HOUR = 3,   /*!< bad minutes that are a proof */
	LINK_DIRTY_DAY = 4,
	LINK_RELAPSES = 4,        /*!< that make the calm time longer: 16 times at most */
	LINK_CHANGES = 2,         /*!< times that a changed cable is believed at once */
	LINK_RETRAINS_PER_DAY = 3 /*!< that are allowed: its host may restart */
};

/*! Times in seconds. */
struct link_rules {
	uint32_t incident_s; /*!< errors within so long are one incident, a "minute" */
	uint32_t calm_s;     /*!< without a bad one, until a sick link is well again */
};

/*! A reading of a port, and its rise over the reading before. */
struct link_reading {
	uint32_t interval_ms; /*!< since that one; not 0 */
	int64_t time_s;       /*!< wall clock */
	uint32_t known;       /*!< bits of enum link_metric */
	uint32_t saturated;   /*!< bits of those that are at their limit */
	uint32_t cleared;     /*!< bits of those that somebody cleared meanwhile */
	uint64_t rise[LINK_METRICS];
};

/*! \brief Turns the counters of a port into a reading. \param cleared  Bits of enum port_counter. */
struct link_reading link_reading_of(const struct port_counters *c, uint32_t cleared);

/*!
 * \brief Evidence in nats that a Poisson process of mean \a allowed would hardly give \a n; 0
 *        where n is not more.
 */
double link_evidence(double n, double allowed);

/*! \brief Bit errors per second that the specification allows. */
double link_allowed_per_s(double gbps, bool fec);

/*!
 * \brief Takes a reading.
 * \param h  Zeroed at first; gbps, flags, peer and decision are its owner's.
 * \return true: the state changed.
 * Cost: O(1), sizeof(*h) bytes per port.
 */
bool link_health_take(struct link_health *h, const struct link_rules *rules,
                      const struct link_reading *r);

/*!
 * \brief The cable is another one, or was taken out and put in: what was counted is not about it.
 *        A link that was sick is suspect then. One that became sick again and again must be calm
 *        first, because a bad cable that goes down and comes back looks changed, too.
 */
void link_health_changed(struct link_health *h, int64_t time_s);

/*! \brief Readings begin anew after so many seconds in which nobody looked: old windows end. */
void link_health_gap(struct link_health *h, int64_t seconds);

/*! \brief Is there something to keep of it? */
bool link_health_matters(const struct link_health *h);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRAP_GAP_MAX_MS = 5000, TRAP_QUIET_MS = 2000 };

/*!
 * A port whose traps were believed lately. It is looked at at once, then after 0.1, 0.2, 0.4 ...
 * 5 seconds while it goes on. It is forgotten when it is quiet.
 */
struct trap_source {
	uint32_t lid;     /*!< base LID */
	bool links;       /*!< trap 128 waits: ask the switch about its ports */
	bool attributes;  /*!< trap 144 waits: ask the port about itself */
	bool held;        /*!< its traps wait for long, which was logged */
	unsigned n_traps; /*!< since it was quiet */
	uint32_t gap_ms;  /*!< to the next look; 0: at once */
	uint64_t next_ms; /*!< no look before */
	uint64_t quiet_ms; /*!< without another trap until then it is quiet again */
};

/*! They are few, because they are forgotten: a search is linear. */
struct trap_sources {
	struct trap_source *source; /*!< [n] malloc */
	uint32_t n;
	size_t cap;
};

/*! \brief The one of a LID; it is added if there is none. NULL: out of memory. */
struct trap_source *trap_source_of(struct trap_sources *t, uint32_t lid);

/*! \brief Does a trap wait whose time for a look has come? */
bool trap_source_is_due(const struct trap_source *s, uint64_t now_ms);

/*! \brief Is any of them due? */
bool trap_source_any_due(const struct trap_sources *t, uint64_t now_ms);

/*!
 * \brief Notes that a source is looked at now, and when at the soonest it will be again.
 * \return true: its traps wait for long from now on, which is worth a line in the log.
 */
bool trap_source_hold(struct trap_source *s, uint64_t now_ms);

/*!
 * \brief Forgets sources that are quiet.
 * \param quiet  Is called for each one whose traps had to wait for long.
 */
void trap_source_forget_quiet(struct trap_sources *t, uint64_t now_ms,
                              void (*quiet)(void *ctx, const struct trap_source *s),
                              void *ctx);

/*! \brief When one is due or quiet, but not before \a soonest_ms; UINT64_MAX: never. */
uint64_t trap_source_deadline(const struct trap_sources *t, uint64_t soonest_ms);

void trap_source_done(struct trap_sources *t);

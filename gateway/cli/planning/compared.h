/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/proof/paths.h"
#include "routing/proof/traffic.h"

struct arena;
struct engine;

/*! The findings of `saguaro compare` on one engine after the other: recommendation, JSON and table. */
enum { COMPARED_MAX = 32 };

/*! Routes that move when something of the fabric is lost. */
struct compared_change {
	bool known; /*!< false: not reached, or the engine does not suit what is left */
	uint64_t pairs; /*!< whose ends stay */
	uint64_t moved, lost;
};

struct compared {
	const struct engine *engine;
	bool routed; /*!< it made tables, and so what follows is set up to \a seconds */
	bool proven;
	bool late;   /*!< it was given up for lack of time */
	unsigned vls;
	uint64_t unreachable, loops, credit_loops;
	double seconds; /*!< routing and proof */
	bool loaded;    /*!< load, traffic and changes are known */
	struct load load; /*!< figures only */
	struct traffic traffic;
	struct compared_change host, cable;
	const char *why; /*!< why there are no tables, or what is wrong, or a note; NULL or "": nothing */
};

struct compared_list {
	struct compared row[COMPARED_MAX];
	unsigned n;
	const struct compared *recommended; /*!< NULL: none is proven */
	const char *reason;
};

/*! Fields of a row, for lists; the last is NULL. */
extern const char *const compared_fields[];

/*!
 * \brief Chooses the engine to recommend, and says why.
 *
 * Of the engines whose proof holds and that were not given up, those stay that are as good as the best by one figure after
 * the other, until one is left: share of random permutations, share of shifts, busiest link,
 * virtual lanes, moved routes, seconds. Figures are as good where a rerun or another seed could not
 * tell them apart.
 */
void compared_recommend(struct compared_list *l, struct arena *a);

/*! \brief Adds "engines", "recommended" and "reason" to an object. */
void compared_json(const struct compared_list *l, json_t *to);

/*! \brief Prints that object as a table with the recommendation below. */
void compared_print(const json_t *body);

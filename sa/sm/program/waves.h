/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;
struct lids;

/*!
 * The order in which switches get their forwarding tables when SMPs are to move by LID.
 *
 * A switch is finished when it has all entries of the step at work. An SMP may move by LID
 * when its route and that of its answer pass only finished switches. So the switches next to
 * the SM come first, then those behind them: the tables spread in waves. A switch waits only
 * for those on its own routes, so one that does not answer delays no other. The switches whose
 * routes pass it are asked by directed routes, as are those that wait for each other in a
 * circle, or have no route.
 *
 * The last switch on the route to another is its parent. Until the entries for the SM's LID
 * and for its own are in a switch, it is reached by LID up to the parent and by one directed
 * hop from there.
 *
 * Source: Cornelis CN5000 Fabric Manager manual, "Handling Fabric Changes When Using
 * Dispersive Routing".
 */

/*! How a switch gets its forwarding tables, or why not by LID. */
enum smp_way_reason {
	WAY_BY_LID,
	WAY_ASKED,      /*!< smp_routing is directed */
	WAY_UNANSWERED, /*!< a request by LID was not answered in this sweep */
	WAY_REMEMBERED, /*!< it did not answer in an earlier sweep */
	WAY_BEHIND,     /*!< its route passes a switch that did not answer */
	WAY_NO_ROUTE,   /*!< tables or LIDs do not lead there and back at the time */
	WAY_COUNT
};

/*! Short texts of them: "that did not answer by LID". */
extern const char *const way_texts[WAY_COUNT];

/*! Their names in figures and JSON. */
extern const char *const way_names[WAY_COUNT];

/*! Entry that a switch has at the end of the step; LFT_NO_ROUTE above its LinearFDBTop. */
typedef uint8_t wave_entry_f(void *ctx, uint32_t sw, uint32_t lid);

enum wave_state { WAVE_OPEN, WAVE_FINISHED, WAVE_FAILED };

struct waves {
	const struct graph *g;
	const struct lids *lids;
	wave_entry_f *entry;
	void *ctx;
	uint32_t sm_lid;
	uint32_t start; /*!< switch at which routes of the SM begin, GRAPH_NONE: none */
	uint8_t *state;          /*!< [n_switches] of enum wave_state */
	uint32_t *first_waiting; /*!< [n_switches] GRAPH_NONE: none */
	uint32_t *next_waiting;  /*!< [n_switches] GRAPH_NONE: the list ends */
	uint32_t n_waiting;
};

/*! How SMPs get to a switch. */
struct wave_route {
	bool by_lid;     /*!< by LID once it is open */
	bool blocked;    /*!< not by LID, because the routes pass a switch that failed */
	uint32_t parent; /*!< switch from which one hop leads to it, GRAPH_NONE: none */
	uint8_t port;    /*!< of the parent */
};

/*! \brief A step in which no switch is finished yet. \retval -ENOMEM */
int waves_init(struct waves *w, const struct graph *g, const struct lids *lids,
               struct arena *a);

/*!
 * \brief Finds the routes to a switch and back.
 * \return false: they pass a switch that is not finished; it waits in that one's list.
 */
bool waves_find(struct waves *w, uint32_t sw, struct wave_route *ret_route);

/*! \brief Do tables lead to an end port and back, over finished switches only? */
bool waves_reach(struct waves *w, uint32_t port);

/*! \brief The switch has its entries; or it will not get them, or nothing by LID passes it. */
void waves_end(struct waves *w, uint32_t sw, bool finished);

/*! \brief Takes one that waits for a switch out of its list. \return GRAPH_NONE: none. */
uint32_t waves_take(struct waves *w, uint32_t sw);

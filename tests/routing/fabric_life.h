/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/route.h"
#include "tests/lib/fabric.h"

/*!
 * A fabric whose cables and hosts come and go, and what each routing leaves for the next.
 */
struct life {
	struct arena *arena;
	struct graph *whole;
	struct lid_memory *memory;
	bool *gone, *cut;
	bool routes; /*!< the last change left something to be routed: not only hosts went */
	struct graph *g;
	struct lids lids;
	struct lft prev; /*!< of the last run; rows NULL: none */
	struct route_request request;
	struct route_memory left; /*!< from run to run */
};

/*! \brief All of \a whole is there; \a list are the engines. */
void life_start(struct life *l, struct graph *whole, const char *list, uint32_t lmc,
                struct arena *a);

/*! \brief Makes l->g and l->lids of what is not gone and not cut; ports keep their LIDs. */
void life_make_fabric(struct life *l);

/*! \brief Some cables and hosts go, or come back. */
void life_change(struct life *l, uint64_t *state);

/*! \brief Are the tables in the switches from now on. */
void life_keep_tables(struct life *l, const struct lft *t);

/*! \brief Is it an end of a cable between switches? */
bool life_has_link(const struct graph *g, uint32_t port);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/graph/alter.h"

struct arena;
struct graph;

/*!
 * Changes to a fabric as words of a command line. A flag may occur several times, in any
 * order with the others:
 *
 *   --down NODE             a switch or host and its cables
 *   --down NODE:PORT        one cable
 *   --switch NAME=PORTS     a new switch
 *   --host NAME=NODE:PORT   a new host on a free port
 *   --link NODE:PORT=NODE:PORT
 *
 * NODE is a GUID or a name of a node of the fabric, or of a new switch.
 */
enum { WHATIF_CHANGES_MAX = 256 };

struct whatif_changes {
	struct {
		const char *flag; /*!< "down", ... */
		const char *text; /*!< borrowed from argv */
	} word[WHATIF_CHANGES_MAX];
	struct alteration change[WHATIF_CHANGES_MAX];
	uint32_t n;
};

/*!
 * \brief Takes these flags out of a command line.
 * \param argv  The rest moves together; *argc becomes its length.
 * \return EXIT_GOOD, or EXIT_USAGE with a sentence printed.
 */
int whatif_take_flags(struct whatif_changes *w, int *argc, char **argv);

/*!
 * \brief Looks up what the words name, into w->change.
 * \return EXIT_GOOD, or EXIT_USAGE with a sentence printed.
 */
int whatif_resolve(struct whatif_changes *w, const struct graph *g, struct arena *a);

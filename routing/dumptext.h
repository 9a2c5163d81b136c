/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * What the readers of OpenSM's dumps share. A dump is a sequence of tables, one per
 * switch: a header line with " guid 0x<guid>" and lines that begin with "0x<lid>" and may
 * end in a remark " portguid 0x<guid>" that says whose LID it is.
 */
/*! A remark that names another owner of a LID than the first one did. */
struct dump_claim {
	uint64_t guid;
	uint32_t lid;
	unsigned line;
};

/*! Owners of LIDs by the remarks. */
struct dump_lids {
	uint64_t *guid;            /*!< [top + 1] port GUID, 0: no remark */
	uint32_t cap_guid;         /*!< elements there is room for */
	struct dump_claim *claims; /*!< [n_claims] in order of the lines */
	uint32_t n_claims, cap_claims;
	uint32_t top; /*!< highest LID of the dump */
};

/*! \brief Empty. \retval -ENOMEM */
int dump_lids_init(struct dump_lids *l, struct arena *a);

/*! \brief Takes a line's LID and remark (0: none). The room grows with the highest LID. \retval -ENOMEM */
int dump_lids_note(struct dump_lids *l, uint32_t lid, uint64_t guid, unsigned line,
                   struct arena *a);

/*! \brief Number behind a word of the line, as hex; 0: the word is not there. */
uint64_t dump_guid_after(const char *text, const char *word);

/*!
 * \brief Hands each line of a file, without its end, to a function.
 *
 * \param take  Returns E_OK, or an error that ends the reading.
 * \retval -errno  The file cannot be read; also in \a d.
 */
int dump_lines(const char *path, struct diags *d,
               int (*take)(void *ctx, unsigned line, const char *text), void *ctx);

/*!
 * \brief Room for one more item behind \a n, twice as much when it is used up.
 * \return The array, moved or not; NULL when out of memory.
 */
void *dump_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size);

/*!
 * \brief Room for item \a n of an array by number, at least twice as much as before; new
 *        items are filled with bytes \a fill.
 * \return The array, moved or not; NULL when out of memory.
 */
void *dump_reach(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size, int fill);

/*! \brief Copy of \a n items. NULL when out of memory. */
void *dump_copy(struct arena *a, const void *array, size_t n, size_t size);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
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
	uint32_t n_claims;
	size_t cap_claims;
	uint32_t top; /*!< highest LID of the dump */
};

/*! \brief Empty. \retval -ENOMEM */
int dump_lids_init(struct dump_lids *l, struct arena *a);

/*! \brief Takes a line's LID and remark (0: none). The room grows with the highest LID. \retval -ENOMEM */
int dump_lids_note(struct dump_lids *l, uint32_t lid, uint64_t guid, unsigned line,
                   struct arena *a);

/*! \brief Number behind a word of the line, as hex; 0: the word is not there. */
uint64_t dump_guid_after(const char *text, const char *word);

/*! A kind of dump, and the functions that take its parts. */
struct dump_form {
	const char *what;   /*!< "a dump of forwarding tables" */
	const char *header; /*!< how the first line of a table begins */
	const char *other,
		*other_text; /*!< how that of another kind begins, and the message about it */
	const char *early; /*!< what is said of a "0x" line before any header */
	int (*begin)(void *ctx, uint64_t guid);  /*!< a table of this switch */
	int (*row)(void *ctx, const char *text); /*!< a line "0x..." of it */
	int (*end)(void *ctx);                   /*!< it was whole */
};

/*! A dump that is being read; path, d, form and ctx are the caller's. */
struct dump_reader {
	const char *path;
	struct diags *d;
	const struct dump_form *form;
	void *ctx;       /*!< for what form calls */
	unsigned line;   /*!< 1-based */
	unsigned errors; /*!< bad lines; they are left out */
	bool any_header; /*!< what comes has a table, good or bad */
	bool open;       /*!< a table is being read */
};

/*!
 * \brief Reads a dump, line by line: it may be of any length.
 * \retval E_SYNTAX  It is no dump: binary data, or no header in it; also in \a d.
 * \retval -errno  The file cannot be read; also in \a d.
 * \return Else what form's functions returned first that is no E_OK.
 */
int dump_read_tables(struct dump_reader *r);

/*! \brief Adds a bad line to r->d and r->errors, with \a text as its begin. */
void dump_complain(struct dump_reader *r, const char *what, const char *text);

/*!
 * \brief Room for item \a n of an array by number, at least twice as much as before; new
 *        items are filled with bytes \a fill.
 * \return The array, moved or not; NULL when out of memory.
 */
void *dump_reach(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size, int fill);

/*! \brief Copy of \a n items. NULL when out of memory. */
void *dump_copy(struct arena *a, const void *array, size_t n, size_t size);

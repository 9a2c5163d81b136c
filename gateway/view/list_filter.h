/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct problem;

/*!
 * The elements of a list that a reader wants: by kind= and by node=.
 */
enum { LIST_FILTER_KINDS = 64, LIST_FILTER_GLOB_BYTES = 128 };

struct list_filter {
	bool some_kinds; /*!< only those of kind[] */
	bool kind[LIST_FILTER_KINDS];
	char node
		[LIST_FILTER_GLOB_BYTES]; /*!< name or GUID of an end, with * and ?; "": any */
};

/*! Words that kind= may have. */
struct list_kinds {
	const char *elements;               /*!< such as "events", for a problem */
	const char *(*name)(unsigned kind); /*!< of each of 0 to n - 1 */
	unsigned n;                         /*!< at most LIST_FILTER_KINDS */
};

/*!
 * \brief Reads kind= (names, with commas between) and node=; NULL: any.
 * \retval E_UNKNOWN E_RANGE  Problem filled.
 */
int list_filter_read(struct list_filter *f, const struct list_kinds *known,
                     const char *kinds, const char *node, struct problem *p,
                     struct arena *a);

/*!
 * \brief Is a node wanted by node=? A filter without it wants each, also none.
 * \param guid  0: there is no such end.
 * Cost: the length of the pattern times that of the name.
 */
bool list_filter_node(const struct list_filter *f, uint64_t guid, const char *name);

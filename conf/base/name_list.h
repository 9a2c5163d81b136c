/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;

enum { NAME_LIST_MAX = 65536 }; /*!< names of one list */

/*! Names of hosts in short: "node[011-020,31]" and "rack[1-2]n[01-16]" stand for several names. */
struct name_list {
	char **names; /*!< [n] in the arena */
	uint32_t n;
	size_t room;
};

/*!
 * \brief Adds the names that \a text stands for, in its order; \a text itself where it has no bracket. The first
 *        number of a range says how many digits all of them have at least.
 * \retval E_SYNTAX  A bracket without its end, no number in it, or text that is empty.
 * \retval E_RANGE   A range that goes down, or more names than NAME_LIST_MAX. \retval -ENOMEM
 */
int name_list_add(struct name_list *l, const char *text, struct arena *a);

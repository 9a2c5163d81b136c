/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;
struct port_policy;

/*!
 * Lists of GUIDs that an operator writes: root switches, compute nodes, ids, weights, orders.
 *
 *   line  := blank? [ guid [ blank rest ] ] [ comment ]
 *   guid  := 0x hex, a decimal or (after a 0) octal number, or 16 bare hex digits
 *   comment := '#' to the end of the line; at its start or after a blank
 *
 * The key that names the file knows what the rest means. Lines of any length.
 * Blank lines and those that hold a comment alone have no record. Where port groups of
 * pgrp_policy_file may stand for their ports, a line may be the name of one instead.
 */
struct guid_record {
	uint64_t guid;    /*!< host order */
	const char *rest; /*!< behind the GUID, without blanks at its ends; "" when nothing is there */
	unsigned line;    /*!< 1-based */
	const char *group; /*!< port group whose ports are meant instead of guid; NULL: none */
};

struct guid_file {
	const char *path;                  /*!< as given, for messages and dumps */
	const struct guid_record *records; /*!< [n] in the order of the file; duplicates stay */
	uint32_t n;
	const struct port_policy *groups; /*!< in which groups are looked up; set by who reads both files */
};

/*!
 * \brief Reads a list.
 *
 * Every bad line is reported in \a d by file and line with its text, not only the first.
 *
 * \param ret_file  In \a a.
 * \retval E_SYNTAX  At least one bad line, or too large to be such a list.
 * \retval -errno    The file cannot be read; also in \a d.
 */
int guid_file_read(const char *path, struct arena *a, struct diags *d,
                   const struct guid_file **ret_file);

/*! \brief The same, with names of port groups. An option_read_f: \a ret_value is a struct
 * guid_file. */
int guid_group_file_read(const char *path, struct arena *a, struct diags *d,
                         const void **ret_value);

/*!
 * \brief Says where the groups of a list are defined, once both files are read.
 * \param file    May point to NULL; else to a copy in \a a afterwards.
 * \param groups  NULL: there is no pgrp_policy_file.
 * \retval E_UNKNOWN  Groups that are not there, each in \a d by file and line. \retval -ENOMEM
 */
int guid_file_bind(const struct guid_file **file, const struct port_policy *groups,
                   struct arena *a, struct diags *d);

/*! \brief Reads a list of \a len bytes in memory; \a path stands in messages. \param groups  With their names. */
int guid_file_parse(const char *path, const char *text, size_t len, bool groups,
                    struct arena *a, struct diags *d, const struct guid_file **ret_file);

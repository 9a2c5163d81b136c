/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * Error values of the whole project.
 *
 * A function that can fail returns int: E_OK (0), a negative errno, or one of the
 * codes below, all under -1000. Booleans are bool and never errors. Outputs named
 * ret_x are untouched on failure. Nobody logs below the job that gives up.
 */
enum err {
	E_OK = 0,

	E_SYNTAX = -1020, /*!< Text does not follow its grammar. */
	E_RANGE,          /*!< A number is outside what is allowed. */
	E_UNKNOWN,        /*!< A key, flag, kind or mode that does not exist. */
	E_NOTFOUND,       /*!< No such node, port, LID or record. */
	E_AMBIGUOUS,      /*!< A name matches more than one object. */
	E_DUPLICATE,      /*!< The same GUID or LID twice. */
	E_NOPATH,         /*!< No route between the two ends. */
	E_PARTITION,      /*!< The two ends share no P_Key. */
	E_POLICY,         /*!< The policy (qos-policy.conf, virtual fabrics) has none for this. */
	E_LOOP,           /*!< A forwarding loop. */
	E_CREDITLOOP,     /*!< A cycle in the channel dependency graph. */
	E_UNSUITABLE,     /*!< The engine does not fit this fabric. */
	E_FULL,           /*!< Out of LIDs, records, or space in the database folder. */
	E_STALE,          /*!< The epoch read was superseded too long ago; ask again. */
	E_NOTREADY,       /*!< Nothing is published yet. */
	E_LAYOUT,         /*!< A database of another layout number. */
	E_FOREIGN,        /*!< A folder or file that is not ours. */
	E_LOCKED,         /*!< Another daemon uses this folder or port. */
	E_TIMEOUT,        /*!< No answer in time. */
	E_MALFORMED,      /*!< Bytes from outside that make no sense (MAD, stored value). */
	E_END             /*!< Not an error: one past the last code, for loops in tests. */
};

/*! \brief One sentence without a full stop for any value of enum err or -errno. */
const char *err_text(int ret);

/*! \brief Stable lower-case name with dashes ("no-path"), as used in problem types. */
const char *err_name(int ret);

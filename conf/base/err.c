/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/err.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct err_row {
	int code;
	const char *name;
	const char *text; /* NULL: strerror's */
};

/* clang-format off */
static const struct err_row rows[] = {
	{ E_OK,          "ok",            "no error" },
	{ E_SYNTAX,      "syntax",        "the text does not follow its grammar" },
	{ E_RANGE,       "range",         "a number is outside what is allowed" },
	{ E_UNKNOWN,     "unknown",       "no such key, flag, kind or mode" },
	{ E_NOTFOUND,    "not-found",     "no such node, port, LID or record" },
	{ E_AMBIGUOUS,   "ambiguous",     "the name stands for more than one object" },
	{ E_DUPLICATE,   "duplicate",     "the same GUID or LID is there twice" },
	{ E_NOPATH,      "no-path",       "there is no route between the two ends" },
	{ E_PARTITION,   "partition",     "the two ends share no P_Key" },
	{ E_POLICY,      "policy",        "the quality-of-service policy has no path for this request" },
	{ E_LOOP,        "loop",          "the tables have a forwarding loop" },
	{ E_CREDITLOOP,  "credit-loop",   "the tables have a credit loop" },
	{ E_UNSUITABLE,  "unsuitable",    "the routing engine does not fit this fabric" },
	{ E_FULL,        "full",          "out of LIDs, records or database space" },
	{ E_STALE,       "stale",         "the epoch read was superseded too long ago, ask again" },
	{ E_NOTREADY,    "not-ready",     "nothing is published yet" },
	{ E_LAYOUT,      "layout",        "the database has another layout number" },
	{ E_FOREIGN,     "foreign",       "the folder or file was not written by Saguaro" },
	{ E_LOCKED,      "locked",        "another daemon uses this folder or port" },
	{ E_TIMEOUT,     "timeout",       "no answer in time" },
	{ E_MALFORMED,   "malformed",     "the bytes make no sense" },
	{ -ENOMEM,       "no-memory",     "out of memory" },
	{ -EACCES,       "no-permission", NULL },
	{ -EPERM,        "no-permission", NULL },
	{ -ENOENT,       "no-file",       NULL },
	{ -ENOSPC,       "no-space",      NULL },
	{ -EINVAL,       "invalid",       NULL },
	{ -ECANCELED,    "canceled",      NULL },
};
/* clang-format on */

static const struct err_row *find(int ret)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].code == ret) {
			return &rows[i];
		}
	}
	return NULL;
}

const char *err_text(int ret)
{
	const struct err_row *row = find(ret);
	if (row != NULL && row->text != NULL) {
		return row->text;
	}
	if (ret > 0 || ret <= -1000) {
		return "unknown error";
	}
	return strerror(-ret);
}

const char *err_name(int ret)
{
	const struct err_row *row = find(ret);
	return row != NULL ? row->name : "system";
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>

#include "db/lmdb/client_records.h"

/*!
 * Keys of rows that were changed: one thread adds them, another thread takes them. The
 * log is bounded. If nobody takes the keys for too long, it drops them and reports that
 * they are not known. Private to this room.
 */
struct change_log;

struct logged_change {
	const uint8_t *key;
	uint16_t len;
	enum record_table table;
};

/*! By table and key, each once. */
struct change_list {
	struct logged_change *change;
	size_t n;
	uint8_t *bytes;
};

/*! \return NULL: out of memory. Changes before the first change_log_take() are not known. */
struct change_log *change_log_new(void);
void change_log_free(struct change_log *log); /*!< NULL is fine */

void change_log_add(struct change_log *log, enum record_table table, const void *key, size_t len);

/*! \brief From here to the next change_log_take() the changes count as not known. */
void change_log_lose(struct change_log *log);

/*! \brief All changes since the last call. \retval E_STALE  They are not known; there is no list to free then. */
int change_log_take(struct change_log *log, struct change_list *ret_list);
void change_list_done(struct change_list *list);

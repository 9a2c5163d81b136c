/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snap_reader;

/*!
 * The end ports of the published fabric, and which of them appeared or disappeared since
 * the last list. A port that disappeared has the P_Keys of the last list, because they say
 * which subscribers may get the report.
 */
struct listed_port {
	uint64_t guid;
	uint32_t first, n_keys; /*!< of the list's keys */
};

/*! One list. */
struct port_list {
	struct listed_port *ports; /*!< by GUID */
	size_t n;
	uint16_t *keys;
	size_t n_keys, cap_keys;
};

/*! \retval E_STALE E_MALFORMED -ENOMEM  Cost: O(LIDs). */
int port_watch_read(struct snap_reader *r, struct port_list *ret_list);
void port_watch_done(struct port_list *l);

/*! \brief Is this port in it? O(log n) */
bool port_watch_has(const struct port_list *l, uint64_t guid);

/*! A port that is in one list and not in the other. \a keys: of the list that has it. */
typedef void port_change_f(void *ctx, bool came, uint64_t guid, const uint16_t *keys, size_t n);

/*! \brief Calls \a f for every difference, by GUID. */
void port_watch_compare(const struct port_list *before, const struct port_list *now,
                       port_change_f *f, void *ctx);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snap_reader;

/*!
 * Which end ports the published fabric has, and which it had at the last look: who came and
 * who went. A port that went has the P_Keys of its last look, by which it is decided who
 * may know that.
 */
struct seen_port {
	uint64_t guid;
	uint32_t first, n_keys; /*!< of the look's keys */
};

/*! One look. */
struct port_look {
	struct seen_port *ports; /*!< by GUID */
	size_t n;
	uint16_t *keys;
	size_t n_keys, cap_keys;
};

/*! \retval E_STALE E_MALFORMED -ENOMEM  Cost: O(LIDs). */
int port_look(struct snap_reader *r, struct port_look *ret);
void port_look_done(struct port_look *l);

/*! \brief Was this port there? O(log n) */
bool port_look_has(const struct port_look *l, uint64_t guid);

/*! A port that is in one look and not in the other. \a keys: of the look that has it. */
typedef void port_change_f(void *ctx, bool came, uint64_t guid, const uint16_t *keys, size_t n);

/*! \brief What differs, by GUID. */
void port_look_compare(const struct port_look *before, const struct port_look *now,
                       port_change_f *f, void *ctx);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/*!
 * Sets of ports of one switch, each once, by number: what a port group table holds. Sets
 * are collected one by one with how often each is wanted; at the end the switch keeps the
 * ones that are wanted most.
 */
enum { PORT_SET_WORDS = 4, PORT_GROUP_NONE = 0xff, PORT_GROUPS_MAX = 255 };

/*! Bit p: port p. */
struct port_set {
	uint64_t word[PORT_SET_WORDS];
};

static inline bool port_set_has(const struct port_set *s, unsigned port)
{
	return s->word[port / 64] >> port % 64 & 1;
}

static inline void port_set_add(struct port_set *s, unsigned port)
{
	s->word[port / 64] |= UINT64_C(1) << port % 64;
}

static inline unsigned port_set_count(const struct port_set *s)
{
	unsigned n = 0;

	for (unsigned w = 0; w < PORT_SET_WORDS; w++) {
		n += (unsigned)__builtin_popcountll(s->word[w]);
	}
	return n;
}

/*! Groups of one switch. */
struct port_groups {
	struct port_set *set; /*!< [n] most wanted first, then by value */
	uint32_t n;
};

struct port_collector;

/*! \return NULL: out of memory. Caller frees; used for one switch after the other. */
struct port_collector *port_collector_new(void);
void port_collector_free(struct port_collector *c);

/*! \brief Forgets all sets. */
void port_collector_clear(struct port_collector *c);

/*! \brief Number of a set, the same for the same set. O(1). \return UINT32_MAX: out of memory. */
uint32_t port_collector_add(struct port_collector *c, const struct port_set *s);

/*! \brief Was memory out since the last clear? */
bool port_collector_failed(const struct port_collector *c);

/*! \brief One more wants the set of this number. */
void port_collector_want(struct port_collector *c, uint32_t number);

/*!
 * \brief The sets in their final order, at most \a most of them.
 * \param ret_number  [sets so far] final number by the one that add() gave, PORT_GROUP_NONE
 *                    for those left out; borrowed until the next clear.
 * \retval -ENOMEM
 */
int port_collector_finish(struct port_collector *c, uint32_t most, struct arena *a,
                          struct port_groups *ret_groups, const uint8_t **ret_number);

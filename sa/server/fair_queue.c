/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/server/fair_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"

enum {
	LINE_BITS = 10,
	LINES = 1 << LINE_BITS,
	ROUND_BYTES = 4096, /* sixteen answers of one MAD */
	CACHE_LINE = 64
};

#define NONE UINT32_MAX

struct slot {
	struct fair_request request; /* first: its address is the slot's */
	uint32_t next; /* behind it in its line, or the next free slot */
};

/* Requests of one line; lines that have some are in a list of their own. */
struct line {
	uint32_t first, last, n;
	uint32_t next;  /* active line behind it */
	uint64_t debt;  /* bytes that it got beyond its rounds */
	uint64_t empty; /* value of fair_queue.empty when the debt was made */
};

struct fair_queue {
	struct slot *slots;
	uint32_t free; /* first free slot */
	unsigned n;    /* that wait */
	uint32_t first, last; /* of the active lines */
	uint64_t empty; /* how often nothing waited: older debts are void */
	struct line lines[LINES];
};

int fair_queue_new(unsigned capacity, struct fair_queue **ret_queue)
{
	struct fair_queue *q = calloc(1, sizeof(*q));

	if (q == NULL) {
		return -ENOMEM;
	}
	q->slots = calloc(capacity, sizeof(*q->slots));
	if (q->slots == NULL) {
		free(q);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < capacity; i++) {
		q->slots[i].next = i + 1 < capacity ? i + 1 : NONE;
	}
	q->first = q->last = NONE;
	*ret_queue = q;
	return E_OK;
}

void fair_queue_free(struct fair_queue *q)
{
	if (q != NULL) {
		free(q->slots);
		free(q);
	}
}

static uint16_t line_of(uint32_t lid)
{
	return (uint16_t)(lid * UINT32_C(0x9e3779b1) >> (32 - LINE_BITS));
}

/* Behind all others that have requests. */
static void activate(struct fair_queue *q, uint32_t line)
{
	q->lines[line].next = NONE;
	if (q->first == NONE) {
		q->first = line;
	} else {
		q->lines[q->last].next = line;
	}
	q->last = line;
}

/* Before all others. */
static void activate_first(struct fair_queue *q, uint32_t line)
{
	q->lines[line].next = q->first;
	if (q->first == NONE) {
		q->last = line;
	}
	q->first = line;
}

static void drop_first_line(struct fair_queue *q)
{
	q->first = q->lines[q->first].next;
	if (q->first == NONE) {
		q->last = NONE;
	}
}

/* Takes a line out of the middle of the active ones. */
static void deactivate(struct fair_queue *q, uint32_t line)
{
	uint32_t before = q->first;

	if (before == line) {
		drop_first_line(q);
		return;
	}
	while (q->lines[before].next != line) {
		before = q->lines[before].next;
	}
	q->lines[before].next = q->lines[line].next;
	if (q->last == line) {
		q->last = before;
	}
}

/* Takes the oldest request of a line; its slot stays used. */
static struct fair_request *take_oldest(struct fair_queue *q, struct line *l)
{
	struct slot *s = &q->slots[l->first];

	/* another thread wrote it: prefetch it while others are taken */
	for (size_t at = 0; at < MAD_BYTES; at += CACHE_LINE) {
		__builtin_prefetch(s->request.mad + at);
	}
	l->first = s->next;
	l->n--;
	q->n--;
	return &s->request;
}

static uint32_t slot_of(const struct fair_queue *q, const struct fair_request *r)
{
	return (uint32_t)((const struct slot *)r - q->slots);
}

static void append(struct fair_queue *q, uint32_t number, const struct mad_msg *m,
                   const struct sa_request *request)
{
	struct line *l = &q->lines[number];
	uint32_t at = q->free;
	struct slot *s = &q->slots[at];

	q->free = s->next;
	s->next = NONE;
	s->request.addr = m->addr;
	s->request.request = *request;
	s->request.line = (uint16_t)number;
	size_t room = sizeof(s->request.mad);
	s->request.len = (uint32_t)(m->len < room ? m->len : room);
	memcpy(s->request.mad, m->data, s->request.len);
	if (l->n == 0) {
		l->first = at;
		activate(q, number);
	} else {
		q->slots[l->last].next = at;
	}
	l->last = at;
	l->n++;
	q->n++;
}

static uint32_t longest(const struct fair_queue *q)
{
	uint32_t best = q->first;

	for (uint32_t i = q->first; i != NONE; i = q->lines[i].next) {
		if (q->lines[i].n > q->lines[best].n) {
			best = i;
		}
	}
	return best;
}

enum fair_outcome fair_queue_push(struct fair_queue *q, const struct mad_msg *m,
                                  const struct sa_request *request,
                                  struct fair_request *ret_victim)
{
	uint32_t line = line_of(m->addr.lid);

	if (q->free != NONE) {
		append(q, line, m, request);
		return FAIR_TAKEN;
	}
	uint32_t most = longest(q);
	if (most == NONE || q->lines[line].n + 1 >= q->lines[most].n) {
		return FAIR_REFUSED;
	}
	struct fair_request *victim = take_oldest(q, &q->lines[most]);
	*ret_victim = *victim;
	fair_queue_release(q, victim);
	if (q->lines[most].n == 0) {
		deactivate(q, most);
	}
	append(q, line, m, request);
	return FAIR_EVICTED;
}

/* Does the line at the head skip this round? A single line does not. */
static bool skips_round(struct fair_queue *q, struct line *l)
{
	if (l->empty != q->empty || l->next == NONE) {
		l->debt = 0;
	}
	if (l->debt == 0) {
		return false;
	}
	l->debt -= l->debt < ROUND_BYTES ? l->debt : ROUND_BYTES;
	return true;
}

struct fair_request *fair_queue_pop(struct fair_queue *q)
{
	struct fair_request *r = NULL;

	while (r == NULL && q->n > 0) {
		uint32_t number = q->first;
		struct line *l = &q->lines[number];
		bool later = skips_round(q, l);

		drop_first_line(q);
		if (!later) {
			r = take_oldest(q, l);
			q->empty += q->n == 0;
		}
		if (l->n > 0) {
			activate(q, number);
		}
	}
	return r;
}

void fair_queue_release(struct fair_queue *q, struct fair_request *r)
{
	uint32_t at = slot_of(q, r);

	q->slots[at].next = q->free;
	q->free = at;
}

void fair_queue_return(struct fair_queue *q, struct fair_request *r)
{
	uint32_t at = slot_of(q, r);
	struct line *l = &q->lines[r->line];

	if (l->n == 0) {
		l->last = at;
		activate_first(q, r->line);
	}
	q->slots[at].next = l->first;
	l->first = at;
	l->n++;
	q->n++;
}

void fair_queue_charge(struct fair_queue *q, uint16_t line, size_t bytes)
{
	struct line *l = &q->lines[line % LINES];

	if (l->empty != q->empty) {
		l->debt = 0;
		l->empty = q->empty;
	}
	if (bytes > ROUND_BYTES) {
		l->debt += bytes - ROUND_BYTES;
	}
}

unsigned fair_queue_length(const struct fair_queue *q)
{
	return q->n;
}

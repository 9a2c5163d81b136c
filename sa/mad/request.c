/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Requests in flight stand in the order of sending, which is that of their deadlines, because all
 * tries have the same time. A free slot waits while others are free: the longer it does, the
 * fewer late answers it gets.
 */
#include "sa/mad/request.h"

#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"

enum {
	ROUNDS = 6,
	HALF_BITS = 16,
	LATE_BITS = 12, /* one number of 1 << LATE_BITS is late, the others are forged */
	RECENT_BITS = 12,
	RECENT_MASK = (1 << RECENT_BITS) - 1,
	SLOTS_AT_LEAST = 256, /* before one is used again */
	AGAIN_MS = 10,        /* wait if the transport had no room */
	HEADER_BYTES = 24,
	OMNI_PATH = 0x80 /* BaseVersion and ClassVersion of its MADs */
};

TAILQ_HEAD(request_list, mad_request);

struct requests {
	struct transport *t;
	const struct request_client *client;
	void *ctx;
	unsigned window, timeout_ms;
	unsigned taken;       /* slots that are not free */
	uint32_t n_slots;     /* that exist */
	uint32_t generations; /* the highest */
	struct request_list list[REQUEST_STATE_COUNT];
	/* by the low bits of an ID: the slot that had one with these bits last. Most answers find their
	 * request so, which saves turning the ID back into its number. */
	uint16_t recent[1 << RECENT_BITS];
	struct mad_request *slots[];
};

/* --- transaction IDs ------------------------------------------------------------- */

struct sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_rounds(struct sip *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static inline void sip_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_rounds(s, 2);
	s->v0 ^= word;
}

uint64_t request_siphash(const uint64_t key[2], uint64_t message)
{
	struct sip s = { .v0 = key[0] ^ UINT64_C(0x736f6d6570736575),
		         .v1 = key[1] ^ UINT64_C(0x646f72616e646f6d),
		         .v2 = key[0] ^ UINT64_C(0x6c7967656e657261),
		         .v3 = key[1] ^ UINT64_C(0x7465646279746573) };

	sip_word(&s, message);
	sip_word(&s, UINT64_C(8) << 56); /* the length */
	s.v2 ^= 0xff;
	sip_rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* The number of a request becomes its ID, and \a back. */
static uint32_t permute(const struct requests *rs, uint32_t x, bool back)
{
	uint64_t class = (uint64_t)rs->client->mgmt_class << 32;
	uint16_t high = (uint16_t)(x >> HALF_BITS), low = (uint16_t)x;
	uint16_t left = back ? low : high, right = back ? high : low;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t round = (uint64_t)(back ? ROUNDS - 1 - i : i) << HALF_BITS;
		uint64_t mixed =
			left ^ request_siphash(rs->t->secret, class | round | right);

		left = right;
		right = (uint16_t)mixed;
	}
	return back ? (uint32_t)right << HALF_BITS | left
	            : (uint32_t)left << HALF_BITS | right;
}

static void new_generation(struct requests *rs, struct mad_request *r)
{
	r->generation = (r->generation + 1) & rs->generations;
	uint32_t id = permute(rs, r->generation << rs->client->slot_bits | r->slot, false);
	field_set(r->mad, MAD_TID_LOW, id);
	rs->recent[id & RECENT_MASK] = (uint16_t)r->slot;
}

/* --- slots ----------------------------------------------------------------------- */

int requests_new(struct transport *t, const struct request_client *client, void *ctx,
                 struct requests **ret_requests)
{
	size_t n = (size_t)1 << client->slot_bits;
	struct requests *rs = calloc(1, sizeof(*rs) + n * sizeof(struct mad_request *));

	if (rs == NULL) {
		return -ENOMEM;
	}
	rs->t = t;
	rs->client = client;
	rs->ctx = ctx;
	rs->generations = UINT32_MAX >> client->slot_bits;
	for (unsigned i = 0; i < REQUEST_STATE_COUNT; i++) {
		TAILQ_INIT(&rs->list[i]);
	}
	*ret_requests = rs;
	return E_OK;
}

void requests_free(struct requests *rs)
{
	for (uint32_t i = 0; rs != NULL && i < rs->n_slots; i++) {
		free(rs->slots[i]);
	}
	free(rs);
}

void requests_set_limits(struct requests *rs, unsigned window, unsigned timeout_ms)
{
	rs->window = window;
	rs->timeout_ms = timeout_ms;
}

bool requests_have_room(const struct requests *rs)
{
	return rs->taken < rs->window && rs->taken >> rs->client->slot_bits == 0;
}

struct mad_request *requests_first(const struct requests *rs)
{
	struct mad_request *r = TAILQ_FIRST(&rs->list[REQUEST_FLIES]);

	return r != NULL ? r : TAILQ_FIRST(&rs->list[REQUEST_WAITS]);
}

uint64_t requests_deadline(const struct requests *rs, uint64_t now_ms)
{
	const struct mad_request *r = TAILQ_FIRST(&rs->list[REQUEST_FLIES]);
	uint64_t again =
		TAILQ_EMPTY(&rs->list[REQUEST_WAITS]) ? UINT64_MAX : now_ms + AGAIN_MS;

	return r != NULL && r->deadline < again ? r->deadline : again;
}

static void move(struct requests *rs, struct mad_request *r, unsigned to)
{
	TAILQ_REMOVE(&rs->list[r->state], r, entry);
	TAILQ_INSERT_TAIL(&rs->list[to], r, entry);
	r->state = to;
}

static struct mad_request *free_slot(struct requests *rs)
{
	struct mad_request *r = TAILQ_FIRST(&rs->list[REQUEST_FREE]), *more = NULL;

	if ((r == NULL || rs->n_slots < SLOTS_AT_LEAST) &&
	    rs->n_slots >> rs->client->slot_bits == 0) {
		more = calloc(1, sizeof(*more) + rs->client->mad_bytes);
	}
	if (more == NULL) {
		return r;
	}
	more->slot = rs->n_slots;
	rs->slots[rs->n_slots++] = more;
	TAILQ_INSERT_HEAD(&rs->list[REQUEST_FREE], more, entry);
	return more;
}

struct mad_request *request_begin(struct requests *rs, uint8_t mgmt_class,
                                  uint8_t version, uint8_t method, uint16_t attr,
                                  uint32_t mod)
{
	struct mad_request *r = free_slot(rs);

	if (r == NULL) {
		return NULL;
	}
	move(rs, r, REQUEST_WAITS);
	rs->taken++;
	r->len = rs->client->mad_bytes;
	r->least = rs->client->answer_bytes;
	memset(r->mad, 0, r->len);
	field_set(r->mad, MAD_BASE_VERSION,
	          version == OMNI_PATH ? OMNI_PATH : UMAD_BASE_VERSION);
	field_set(r->mad, MAD_MGMT_CLASS, mgmt_class);
	field_set(r->mad, MAD_CLASS_VERSION, version);
	field_set(r->mad, MAD_METHOD, method);
	field_set(r->mad, MAD_ATTR_ID, attr);
	field_set(r->mad, MAD_ATTR_MOD, mod);
	new_generation(rs, r);
	r->begun = r->generation;
	return r;
}

int request_send(struct requests *rs, struct mad_request *r, uint64_t now_ms)
{
	if (r->state == REQUEST_FLIES && !rs->client->keeps_id) {
		new_generation(rs, r);
	}
	struct mad_msg m = { .mgmt_class = (uint8_t)field_get(r->mad, MAD_MGMT_CLASS),
		             .addr = r->addr,
		             .len = r->len,
		             .data = r->mad };
	int ret = transport_send(rs->t, &m);

	if (ret != -EAGAIN) {
		r->tries++;
		r->deadline = now_ms + rs->timeout_ms;
		move(rs, r, REQUEST_FLIES);
	} else if (r->state == REQUEST_FLIES) {
		move(rs, r, REQUEST_WAITS);
	}
	return ret;
}

void request_end(struct requests *rs, struct mad_request *r)
{
	move(rs, r, REQUEST_FREE);
	rs->taken--;
	r->tries = 0;
}

/* --- what comes of them ---------------------------------------------------------- */

static bool is_answer(const struct requests *rs, const struct mad_request *r,
                      const struct mad_msg *m)
{
	uint64_t method = field_get(r->mad, MAD_METHOD);
	bool from_there =
		r->addr.directed || (m->addr.lid >= r->addr.lid &&
	                             m->addr.lid - r->addr.lid < UINT32_C(1) << r->lmc);

	method = method == UMAD_METHOD_SET ? UMAD_METHOD_GET : method;
	return from_there && m->mgmt_class == field_get(r->mad, MAD_MGMT_CLASS) &&
	       field_get(m->data, MAD_METHOD) == (method | UMAD_METHOD_RESP_MASK) &&
	       field_get(m->data, MAD_ATTR_ID) == field_get(r->mad, MAD_ATTR_ID) &&
	       field_get(m->data, MAD_ATTR_MOD) == field_get(r->mad, MAD_ATTR_MOD) &&
	       (rs->client->is_answer == NULL || rs->client->is_answer(rs->ctx, r, m));
}

/* The slot that an ID belongs to, and how many generations ago; NULL: none exists. */
static struct mad_request *request_of(const struct requests *rs, uint32_t id, uint32_t *ret_age)
{
	unsigned bits = rs->client->slot_bits;
	uint32_t slot = rs->recent[id & RECENT_MASK];
	struct mad_request *r = slot < rs->n_slots ? rs->slots[slot] : NULL;

	*ret_age = 0;
	if (r != NULL && field_get(r->mad, MAD_TID_LOW) == id) {
		return r;
	}
	uint32_t number = permute(rs, id, true);
	slot = number & ((UINT32_C(1) << bits) - 1);
	r = slot < rs->n_slots ? rs->slots[slot] : NULL;
	*ret_age = r != NULL ? (r->generation - (number >> bits)) & rs->generations : UINT32_MAX;
	return r;
}

enum mad_kind requests_receive(struct requests *rs, const struct mad_msg *m)
{
	if (m->len < HEADER_BYTES) {
		return MAD_LATE;
	}
	uint32_t age;
	struct mad_request *r = request_of(rs, (uint32_t)field_get(m->data, MAD_TID_LOW), &age);

	if (m->status != 0) { /* nobody else can hand a request back */
		if (age == 0 && r->state == REQUEST_FLIES) {
			rs->client->unanswered(rs->ctx, r);
		}
		return MAD_ANSWER;
	}
	if (age > rs->generations >> LATE_BITS) {
		return MAD_FORGED;
	}
	if (r->state == REQUEST_FREE || m->len < r->least ||
	    age > ((r->generation - r->begun) & rs->generations)) {
		return MAD_LATE;
	}
	if (!is_answer(rs, r, m)) {
		return MAD_FORGED;
	}
	rs->client->answered(rs->ctx, r, m);
	return MAD_ANSWER;
}

void requests_run(struct requests *rs, uint64_t now_ms)
{
	struct mad_request *r;

	while ((r = TAILQ_FIRST(&rs->list[REQUEST_FLIES])) != NULL &&
	       r->deadline <= now_ms) {
		rs->client->unanswered(rs->ctx, r);
	}
	while ((r = TAILQ_FIRST(&rs->list[REQUEST_WAITS])) != NULL &&
	       request_send(rs, r, now_ms) != -EAGAIN) {
	}
}

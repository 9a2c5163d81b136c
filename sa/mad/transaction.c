/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/transaction.h"

#include "sa/mad/fields.h"

enum { ROUNDS = 6, HALF_BITS = 16 };

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

uint64_t transaction_siphash(const uint64_t key[2], uint64_t message)
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

void transaction_key_init(struct transaction_key *ret, const struct transport *t,
                          uint8_t mgmt_class)
{
	*ret = (struct transaction_key){ .secret = { t->secret[0], t->secret[1] },
		                         .mgmt_class = mgmt_class };
}

static uint16_t round_of(const struct transaction_key *k, unsigned round, uint16_t half)
{
	return (uint16_t)transaction_siphash(k->secret,
	                                     (uint64_t)k->mgmt_class << 32 |
	                                             (uint64_t)round << HALF_BITS | half);
}

uint32_t transaction_id(const struct transaction_key *k, uint32_t number)
{
	uint16_t left = (uint16_t)(number >> HALF_BITS), right = (uint16_t)number;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint16_t mixed = left ^ round_of(k, i, right);

		left = right;
		right = mixed;
	}
	return (uint32_t)left << HALF_BITS | right;
}

uint32_t transaction_number(const struct transaction_key *k, uint32_t tid)
{
	uint16_t left = (uint16_t)(tid >> HALF_BITS), right = (uint16_t)tid;

	for (unsigned i = ROUNDS; i-- > 0;) {
		uint16_t mixed = right ^ round_of(k, i, left);

		right = left;
		left = mixed;
	}
	return (uint32_t)left << HALF_BITS | right;
}

bool transaction_is_answer(const struct asked *a, const struct mad_msg *m)
{
	return m->mgmt_class == a->mgmt_class &&
	       field_get(m->data, MAD_METHOD) == a->method &&
	       field_get(m->data, MAD_ATTR_ID) == a->attr &&
	       field_get(m->data, MAD_ATTR_MOD) == a->mod &&
	       (a->lid == 0 ||
	        (m->addr.lid >= a->lid && m->addr.lid - a->lid < UINT32_C(1) << a->lmc));
}

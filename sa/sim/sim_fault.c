/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "conf/base/err.h"

/*
 * What goes wrong with MADs: losses, duplicates, delays by which one MAD overtakes another,
 * flipped bits, and nodes that answer nonsense. All is drawn from the seed.
 *
 * Requests of the SM suffer when they are sent (sim_fault_request()), everything else when
 * it is delivered (sim_fault_arrival()). A late or duplicate request takes effect when it
 * arrives. Without a fault nothing is drawn, so that a run without faults does not depend
 * on the seed.
 */

static uint64_t draw(struct sim *s)
{
	/* xorshift64 (Marsaglia, Xorshift RNGs, 2003) */
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng >> 11;
}

static bool happens(struct sim *s, uint32_t ppm)
{
	return ppm != 0 && draw(s) % 1000000 < ppm;
}

bool sim_lost(struct sim *s)
{
	return happens(s, s->o.drop_ppm);
}

static uint64_t late_us(struct sim *s, uint32_t ppm)
{
	return happens(s, ppm) ? 1 + draw(s) % ((uint64_t)s->noise.delay_us + 1) : 0;
}

/* Flips one to three bits anywhere. */
static void corrupt(struct sim *s, struct mad_buf *m, uint32_t ppm)
{
	if (!happens(s, ppm)) {
		return;
	}
	for (unsigned n = 1 + (unsigned)(draw(s) % 3); n > 0; n--) {
		uint64_t bit = draw(s) % (8 * m->len);

		m->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static struct mad_buf *copy(struct sim *s, const struct mad_buf *m)
{
	struct mad_buf *c = mad_pool_get(&s->pool, m->data, m->len);

	if (c != NULL) {
		c->addr = m->addr;
	}
	return c;
}

static bool send_later(struct sim *s, uint32_t from, struct mad_buf *m, uint64_t delay_us)
{
	struct sim_event e = { .kind = EVENT_SEND, .msg = m, .port = from };

	return sim_event_add(s, &e, delay_us) == E_OK;
}

bool sim_fault_request(struct sim *s, uint32_t from, struct mad_buf *m)
{
	uint64_t delay_us = late_us(s, s->noise.request_delay_ppm);
	struct mad_buf *twin =
		happens(s, s->noise.duplicate_ppm) ? copy(s, m) : NULL;

	if (twin != NULL &&
	    !send_later(s, from, twin, 1 + draw(s) % ((uint64_t)s->noise.delay_us + 1))) {
		mad_pool_put(&s->pool, twin);
	}
	corrupt(s, m, s->noise.request_corrupt_ppm);
	return delay_us != 0 && send_later(s, from, m, delay_us);
}

uint64_t sim_fault_arrival(struct sim *s, struct mad_buf *m, struct mad_buf **ret_twin,
                           uint64_t *ret_twin_us)
{
	corrupt(s, m, s->noise.corrupt_ppm);
	*ret_twin = happens(s, s->noise.duplicate_ppm) ? copy(s, m) : NULL;
	*ret_twin_us = *ret_twin != NULL ? late_us(s, 1000000) : 0;
	return late_us(s, s->noise.delay_ppm);
}

void sim_fault_answer(struct sim *s, uint32_t node, struct mad_buf *m)
{
	uint8_t *mad = m->data;
	const size_t at = sim_is_opa_mad(s, mad) ? opa_data_at(mad) : SMP_DATA_AT;
	const size_t n_data =
		sim_is_opa_mad(s, mad) && m->len > at ? m->len - at : SMP_DATA_BYTES;
	uint8_t *data = mad + at;

	if (!s->nodes[node].hostile || happens(s, 500000)) {
		return;
	}
	if (happens(s, 100000)) {
		field_set(mad, MAD_STATUS,
		          (draw(s) & 0x1c) | (field_get(mad, MAD_STATUS) & 0x8000));
		return;
	}
	if (happens(s, 300000)) { /* all is nonsense, or a few bytes are */
		for (unsigned i = 0; i < n_data; i++) {
			data[i] = (uint8_t)draw(s);
		}
		return;
	}
	for (unsigned n = 1 + (unsigned)(draw(s) % 4); n > 0; n--) {
		data[draw(s) % n_data] = (uint8_t)draw(s);
	}
}

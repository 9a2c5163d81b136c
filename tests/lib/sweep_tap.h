/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "tests/lib/sweep_fixture.h"

/*!
 * A tap between a sweep and the simulation: it can bring in MADs as if others had sent
 * them, keeps what goes out that is not a request of ours, and can let one host look as
 * if an SM ran on it.
 */
struct tap {
	struct transport t;
	struct transport *inner;
	uint8_t in[MAD_BYTES]; /* to be received next, when has_in */
	struct mad_msg in_msg;
	bool has_in;
	uint8_t out[MAD_BYTES]; /* last answer or repress that left */
	struct mad_msg out_msg;
	unsigned n_out;
	unsigned n_sets; /* Sets that left */
	/* the other SM */
	uint64_t other_guid; /* NodeGUID of its host, 0: there is none */
	uint8_t other_priority, other_state;
	bool other_silent; /* IsSM is set, SMInfo is not answered */
	uint8_t path[64];  /* directed route on which it was found */
	uint8_t hops;
	uint8_t changed[MAD_BYTES];
	void (*out_filter)(uint8_t *mad), (*in_filter)(uint8_t *mad); /* NULL: none */
};

/* A rig whose sweep sits behind a tap; call rig_start() afterwards. */
void tap_init(struct tap *tap, struct rig *r);

/* Lets the sweep receive one MAD. */
void tap_bring(struct tap *tap, struct rig *r, uint8_t mgmt_class, uint8_t method,
               uint16_t attr, size_t len);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "tests/lib/sweep_fixture.h"

/*!
 * What happened, in order: SMPs that left and were answered, and writes to the databases
 * that are seen when the next SMP leaves.
 */
enum tap_event_kind {
	TAP_SENT,     /* an SMP, retries included */
	TAP_ANSWERED, /* GetResp with status 0 */
	TAP_LIDS,     /* the durable LIDs changed */
	TAP_EPOCH     /* the snapshot has a new epoch */
};

struct tap_event {
	enum tap_event_kind kind;
	uint8_t method; /* of an answer: GetResp */
	uint16_t attr;
	uint32_t mod;
	uint32_t node; /* of the fabric, by the directed route; GRAPH_NONE: no such node */
	uint64_t at_ms;
	uint8_t data[64];
};

/*!
 * A tap between a sweep and the simulation: it can bring in MADs as if others had sent
 * them, keeps what goes out that is not a request of ours, and can let one host look as
 * if an SM ran on it.
 */
struct tap {
	struct transport t;
	const struct sweep_fixture *fixture;
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
	uint64_t other_sm_guid; /* in its SMInfo; 0: other_guid + 1 */
	bool other_lies;        /* its port has another GUID than that */
	bool other_silent; /* IsSM is set, SMInfo is not answered */
	bool other_left;   /* IsSM is not set any more, SMInfo is not answered */
	uint64_t other_key; /* SM_Key in its SMInfo */
	enum {
		TAP_TAKES,
		TAP_IGNORES,
		TAP_REFUSES,
		TAP_FORGETS /* it answers the first one, and takes the second one */
	} other_handover;   /* Set(SMInfo) HANDOVER */
	uint32_t control
		[16]; /* [n_controls] attribute modifiers of the Sets that it got */
	unsigned n_controls, n_traps; /* traps that left */
	uint8_t changed[MAD_BYTES];
	void (*out_filter)(uint8_t *mad), (*in_filter)(uint8_t *mad); /* NULL: none */
	bool (*loses)(const uint8_t *mad); /* MADs of ours that get lost; NULL: none */
	int recv_ret, set_issm_ret; /* E_OK; else what the device says from now on */
	uint32_t step_ms; /* most that the virtual clock moves while the sweep waits; 0: no limit */
	/* the recorder, see tap_record() */
	const struct sweep_fixture *recorded; /* NULL: off */
	struct tap_event *event;    /* [n_events] malloc */
	size_t n_events, cap_events;
	uint64_t lids_digest, epoch;
};

/* A fixture whose sweep sits behind a tap; call fixture_start() afterwards. */
void tap_init(struct tap *tap, struct sweep_fixture *r);

/* Lets the sweep receive one MAD. */
void tap_bring(struct tap *tap, struct sweep_fixture *r, uint8_t mgmt_class,
               uint8_t method, uint16_t attr, size_t len);

/* The same with the LID that sent it. */
void tap_bring_from(struct tap *tap, struct sweep_fixture *r, uint32_t lid,
                    uint8_t mgmt_class, uint8_t method, uint16_t attr);

/*! \brief Writes the way back to a node into tap->in, as switches do with a MAD that comes from there
 *  over a directed route. The end of the way is its port that is nearest to us. */
void tap_comes_from(struct tap *tap, const struct sweep_fixture *r, uint32_t node);

/*! \brief Records from now on what the sweep of this fixture does; earlier events are forgotten. */
void tap_record(struct tap *tap, const struct sweep_fixture *r);

/*! \brief Frees the events and stops. */
void tap_record_done(struct tap *tap);

/*! \brief First event of a kind from \a from on, n_events if there is none. method and attr
 *  are looked at for SMPs only; a method of 0 is any. */
size_t tap_find(const struct tap *tap, size_t from, enum tap_event_kind kind,
                uint8_t method, uint16_t attr);

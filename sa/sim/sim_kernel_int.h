/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <infiniband/umad_types.h>

#include "sa/sim/sim_kernel.h"
#include "sa/sim/sim_state.h"

/*!
 * What sim_kernel.c and sim_rmpp.c share.
 */
enum {
	KERNEL_AGENTS_MAX = 32,       /* per file */
	KERNEL_QUEUE_MAX = 200000,    /* MADs that wait on a file; more are dropped */
	KERNEL_RMPP_AT_MOST = 1 << 28 /* bytes of one message */
};

struct rmpp_recv;

struct kernel_agent {
	struct kernel_agent *next; /* of the same port */
	struct kernel_file *file;
	uint32_t id;
	uint32_t hi_tid;
	struct kernel_agent_row row;
	struct rmpp_recv *recvs; /* newest first */
};

struct kernel_file {
	struct kernel_file *next, *prev; /* of all files */
	struct kernel *k;
	uint32_t port;
	void *owner;
	struct kernel_agent *agents[KERNEL_AGENTS_MAX];
	struct mad_list queue;
};

/* Segments of a message that is being sent. */
struct rmpp_send {
	uint32_t count;    /* of segments; 0: not RMPP */
	uint32_t next;     /* first that was not sent */
	uint32_t last_ack; /* acknowledged up to here */
	uint32_t newwin;   /* the receiver accepts segments up to here */
};

/* A MAD that waits for a response or acknowledgement. */
struct kernel_send {
	struct kernel_send *next; /* in its hash chain, or in the list of free ones */
	struct kernel_agent *agent;
	struct mad_buf *m; /* as written */
	uint64_t tid;
	uint32_t index; /* in kernel.sends */
	uint32_t timer; /* number of the valid timer */
	uint32_t timeout_ms, retries, retries_left;
	bool is_response;
	struct rmpp_send rmpp;
};

enum { SEND_BUCKETS = 1 << 13 };

struct kernel {
	struct sim *s;
	kernel_readable_f *readable;
	struct kernel_agent **agents; /* [n_ports] agents of each port */
	struct kernel_file *files;
	struct kernel_send **sends; /* [n_sends] by index */
	size_t cap_sends;
	uint32_t n_sends;
	struct kernel_send *free;
	struct kernel_send *buckets[SEND_BUCKETS]; /* by (agent, transaction id) */
	uint32_t hi_tid, timer;
};

static inline uint8_t mad_method(const uint8_t *mad)
{
	return mad[3];
}

/* Whether the kernel finds the agent of a MAD by the upper half of its transaction ID. */
static inline bool mad_is_response(const uint8_t *mad)
{
	return (mad_method(mad) & UMAD_METHOD_RESP_MASK) != 0 ||
	       mad_method(mad) == UMAD_METHOD_TRAP_REPRESS;
}

/* Most bytes of one MAD: 2048 with the base version of Omni-Path. */
static inline size_t mad_bytes_max(const uint8_t *mad)
{
	return mad[0] == OPA_VERSION ? OPA_MAD_BYTES : MAD_BYTES;
}

/* sim_kernel.c */
struct kernel_send *kernel_send_find(struct kernel *k, const struct kernel_agent *a,
                                     const uint8_t *mad, uint32_t lid);
/* Ends the wait of a send; timed_out: its program gets it back with ETIMEDOUT. */
void kernel_send_end(struct kernel_send *send, bool timed_out);
void kernel_send_arm(struct kernel_send *send, uint32_t ms);
/* Sends a copy of a MAD from the port. */
void kernel_transmit(struct kernel *k, uint32_t port, const struct mad_addr *to,
                     const uint8_t *mad, size_t len);
/* A whole message has arrived for an agent; takes m. */
void kernel_complete(struct kernel_agent *a, struct mad_buf *m);

/* sim_rmpp.c: the reliable multi-packet protocol (IBA vol. 1, 13.6) */
/* Whether the MAD is a segment of a message that the kernel reassembles for the agent. */
bool rmpp_is_for_kernel(const struct kernel_agent *a, const uint8_t *mad);
void rmpp_send_start(struct kernel_send *send);
void rmpp_send_again(struct kernel_send *send); /* from the first segment without acknowledgement */
bool rmpp_send_done(const struct kernel_send *send);
void rmpp_take(struct kernel_agent *a, struct mad_buf *m); /* takes m */
void rmpp_forget(struct kernel_agent *a);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/mad/opa_lid.h"

/*!
 * A transport sends and receives MADs. There are two: umad (libibumad) and sim (an
 * in-process fabric). Time also comes from the transport, so that a simulation can run on a
 * virtual clock; the layers above never read the wall clock.
 *
 * One thread (the fabric thread) calls recv. Any thread may call the other operations. MADs
 * are in wire order and have 256 bytes. SA responses with RMPP are the exception: they are
 * sent and received whole (24 bytes MAD header, 12 RMPP header, 20 SA header, data), because
 * the kernel or the simulation does the segmentation.
 *
 * Transaction IDs: the low 32 bits come back unchanged, the high 32 may be rewritten.
 */
enum { MAD_BYTES = 256 };

struct sa_origin;

struct mad_addr {
	bool directed;      /*!< directed-route SMP: the route is in the MAD itself (initial path) */
	uint8_t sl;
	uint8_t path_bits;  /*!< low bits (LMC) of our LID: where it was sent to, or is sent from */
	uint16_t pkey_index;
	uint32_t
		lid; /*!< destination (send) or source (recv), of 24 bits; permissive 0xFFFF for directed route */
	uint32_t qpn;       /*!< 0 SMP, 1 or a client's QP for GMPs */
	uint32_t qkey;
	bool has_grh;
	uint8_t gid[16];    /*!< of the far end when has_grh */
	struct sa_origin *origin; /*!< SA requests: where it came in, if not from the fabric; else NULL */
};

struct mad_msg {
	uint8_t mgmt_class;
	int status;          /*!< recv only: 0, or E_TIMEOUT if this is our own request, which got no response */
	struct mad_addr addr;
	size_t len;          /*!< bytes of data */
	uint8_t *data;       /*!< send: borrowed for the call; recv: borrowed until the next recv */
};

/*! The local port as the transport knows it. */
struct transport_port {
	uint64_t port_guid;  /*!< host order */
	uint64_t node_guid;
	uint8_t port;
	char name[80];       /*!< "mlx5_0/1" or "sim h00000/1" */
};

struct transport;

/*! A receiver of all MADs of one class, several per call, on a thread of the transport. */
struct transport_receiver {
	uint8_t mgmt_class;
	/*! Borrowed for the call. \a pressed: many more MADs may wait, so the call has to
	 * return quickly. */
	void (*take)(void *ctx, const struct mad_msg *m, unsigned n, bool pressed);
	void *ctx;
};

struct transport_ops {
	const char *name;
	/*! \retval E_OK \retval -EAGAIN  the local queue is full: try after the next recv. \retval -errno */
	int (*send)(struct transport *t, const struct mad_msg *m);
	/*! Waits for a MAD until \a deadline_ms (of now_ms). \retval E_OK one MAD. \retval E_TIMEOUT
	 *  deadline passed. \retval -EINTR  wake() was called. \retval -EIO  the device is gone. */
	int (*recv)(struct transport *t, uint64_t deadline_ms, struct mad_msg *ret_msg);
	void (*wake)(struct transport *t);          /*!< makes a waiting or the next recv return -EINTR; async-signal-safe */
	uint64_t (*now_ms)(struct transport *t);    /*!< monotonic */
	int (*set_issm)(struct transport *t, bool on); /*!< IsSM bit of the local port */
	/*! Delivers the MADs of the class of \a receiver (copied) to it and no longer to recv, so
	 *  that a flood of one class does not delay the others. NULL ends that; no call of the receiver
	 *  is running when it returns. Optional: without it recv receives all. */
	void (*divert)(struct transport *t, const struct transport_receiver *receiver);
	void (*close)(struct transport *t);         /*!< frees t */
};

struct transport {
	const struct transport_ops *ops;
	struct transport_port local;
	uint64_t secret[2]; /*!< of transaction IDs; of a simulation: from its seed */
	_Atomic uint32_t
		lid; /*!< of the local port, as the manager gave it; 0: not known */
	_Atomic uint64_t prefix; /*!< of its subnet */
};

/*! \brief Sends, with a GRH where one of the LIDs is above 0xBFFF. \retval  That of the operation. */
static inline int transport_send(struct transport *t, const struct mad_msg *m)
{
	struct mad_msg high;

	if (!opa_lid_is_high(m->addr.lid) && !opa_lid_is_high(t->lid)) {
		return t->ops->send(t, m);
	}
	high = *m;
	(void)opa_addr_encode(t->lid, t->prefix, &high.addr);
	return t->ops->send(t, &high);
}

/*! \brief Calls the operation, if the transport has it. */
static inline void transport_divert(struct transport *t, const struct transport_receiver *receiver)
{
	if (t->ops->divert != NULL) {
		t->ops->divert(t, receiver);
	}
}

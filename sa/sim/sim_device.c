/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <infiniband/umad.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "sa/mad/fields.h"
#include "sa/mad/wakeup.h"
#include "sa/sim/sim_server_int.h"
#include "sa/sim/sim_socket.h"
#include "sa/sim/sim_state.h"

/*
 * Open umad devices of the simulator's server: passes the calls and packets of programs to the
 * simulated kernel, and its messages to the programs. A program that does not read costs memory
 * up to the kernel's limit, but does not delay others.
 */

enum {
	BATCH = 64, /* packets read from one program before others are served */
	LONGEST = 1 << 28
};

_Static_assert(sizeof(struct ib_user_mad) == SIM_HEADER_BYTES, "umad header");

static void write_mad(struct sim_device *d, const struct ib_user_mad *h,
                      const uint8_t *mad, size_t len)
{
	static struct log_limit limit;
	struct kernel_send_row row = {
		.agent = h->agent_id,
		.timeout_ms = h->timeout_ms,
		.retries = h->retries,
		.addr = { .sl = h->addr.sl,
		          .path_bits = h->addr.path_bits,
		          .pkey_index = h->addr.pkey_index,
		          .lid = (uint32_t)field_get((const uint8_t *)&h->addr.lid, 0,
		                                     16),
		          .qpn = (uint32_t)field_get((const uint8_t *)&h->addr.qpn, 0,
		                                     32),
		          .qkey = (uint32_t)field_get((const uint8_t *)&h->addr.qkey, 0,
		                                      32),
		          .has_grh = h->addr.grh_present != 0 },
		.mad = mad,
		.len = len,
	};
	memcpy(row.addr.gid, h->addr.gid, sizeof(row.addr.gid));
	if (h->addr.grh_present && sim_opa_lid_of_gid(h->addr.gid) != 0) {
		row.addr.lid = sim_opa_lid_of_gid(h->addr.gid);
	}
	int ret = kernel_write(d->file, &row);
	char skipped[LOG_SKIPPED_BYTES];
	/* a device would fail the write(), but here the program has finished it already */
	if (ret != E_OK &&
	    log_allowed(&limit, wakeup_now_us() / 1000, 10, 60000, skipped)) {
		log_message(
			MSG_SIM_REFUSED, "saguaro-sim",
			"process %d: a MAD of class 0x%02x, method 0x%02x was refused: %s%s",
			(int)d->data->pid, mad[1], mad[3], err_text(ret), skipped);
	}
}

static void write_long(struct sim_device *d, const struct ib_user_mad *h, int memory)
{
	void *mad;
	size_t len;
	if (sim_socket_memory_read(memory, LONGEST, &mad, &len) != 0) {
		return;
	}
	if (len > SIM_INLINE_BYTES) {
		write_mad(d, h, mad, len);
	}
	free(mad);
}

void device_data(struct sim_conn *c)
{
	struct ib_user_mad h;
	uint8_t mad[SIM_INLINE_BYTES];

	for (unsigned i = 0; i < BATCH; i++) {
		int memory;
		ssize_t n = sim_socket_get(c->conn.watch.fd, &h, sizeof(h), mad,
		                           sizeof(mad), &memory, MSG_DONTWAIT);
		if (n == -EAGAIN || n == -EINTR) {
			return;
		}
		if (n <= 0) {
			sim_conn_close(c);
			return;
		}
		if (memory >= 0) {
			write_long(c->device, &h, memory);
			close(memory);
		} else if (n >= (ssize_t)(sizeof(h) + sizeof(uint64_t)) &&
		           n <= SIM_PACKET_BYTES) {
			write_mad(c->device, &h, mad, (size_t)n - sizeof(h));
		}
	}
}

void device_flush(struct sim_device *d)
{
	const struct mad_buf *m;
	while ((m = kernel_peek(d->file)) != NULL) {
		struct ib_user_mad h;
		memset(&h, 0, sizeof(h));
		h.agent_id = m->agent;
		h.status = (uint32_t)m->status;
		h.length = (uint32_t)(sizeof(h) + m->len);
		field_set((uint8_t *)&h.addr.qpn, 0, 32, m->addr.qpn);
		field_set((uint8_t *)&h.addr.lid, 0, 16, m->addr.lid);
		h.addr.sl = m->addr.sl;
		h.addr.path_bits = m->addr.path_bits;
		h.addr.pkey_index = m->addr.pkey_index;
		if (m->addr.has_grh && sim_opa_lid_of_gid(m->addr.gid) != 0) {
			h.addr.grh_present = 1;
			h.addr.hop_limit = 1;
			memcpy(h.addr.gid, m->addr.gid, sizeof(h.addr.gid));
		}
		int ret = sim_socket_put_mad(d->data->conn.watch.fd, &h, m->data, m->len,
		                             MSG_DONTWAIT);
		if (ret == -EAGAIN) {
			d->data->conn.more = true;
			conn_flush(&d->data->conn);
			return;
		}
		if (ret != 0 && ret != -ENOMEM && ret != -ENOBUFS && ret != -EMFILE) {
			return; /* the program is gone; its socket will report that */
		}
		kernel_pop(d->file);
	}
	d->data->conn.more = false;
	conn_flush(&d->data->conn);
}

void device_readable(void *owner)
{
	struct sim_device *d = owner;
	struct sim_server *v = d->data->v;
	if (!d->ready) {
		d->ready = true;
		d->next_ready = v->ready;
		v->ready = d;
	}
}

void device_call(struct sim_conn *c)
{
	struct sim_agent_call call;
	struct sim_agent_reply reply = { 0 };
	ssize_t n = sim_socket_get(c->conn.watch.fd, &call, sizeof(call), NULL, 0, NULL,
	                           MSG_DONTWAIT);

	if (n == -EAGAIN || n == -EINTR) {
		return;
	}
	if (n != sizeof(call)) {
		sim_conn_close(c);
		return;
	}
	if (call.unregister) {
		reply.error = -kernel_unregister(c->device->file, call.id);
	} else {
		struct kernel_agent_row row = {
			.qpn = call.qpn,
			.mgmt_class = call.mgmt_class,
			.mgmt_class_version = call.mgmt_class_version,
			.rmpp_version = call.rmpp_version,
			.user_rmpp = call.user_rmpp != 0,
			.oui = call.oui,
			.method_mask = { call.method_mask[0], call.method_mask[1] },
		};
		reply.error = -kernel_register(c->device->file, &row, &reply.id);
	}
	sim_socket_put(c->conn.watch.fd, &reply, sizeof(reply), NULL, 0, -1,
	               MSG_DONTWAIT);
}

void device_open(struct sim_conn *c, uint32_t port)
{
	int ends[2] = { -1, -1 };
	struct sim_server *v = c->v;
	struct sim_device *d = calloc(1, sizeof(*d));

	if (d == NULL ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		sim_conn_welcome(c, ENOMEM,
		                 "the simulator is out of descriptors or memory", -1);
		free(d);
		return;
	}
	d->data = sim_conn_new(v, ends[0], CONN_DATA);
	if (d->data == NULL || kernel_open(v->kernel, port, d, &d->file) != E_OK) {
		sim_conn_welcome(c, ENOMEM, "the simulator is out of memory", -1);
		if (d->data != NULL) {
			sim_conn_close(d->data);
		} else {
			close(ends[0]);
		}
		close(ends[1]);
		free(d);
		return;
	}
	d->calls = c;
	c->kind = CONN_UMAD;
	c->device = d->data->device = d;
	c->port = d->data->port = port;
	d->data->pid = c->pid;
	sim_conn_welcome(c, 0, "", ends[1]);
	close(ends[1]);
}

void device_gone(struct sim_conn *c)
{
	struct sim_device *d = c->device;
	struct sim_conn *other = c == d->data ? d->calls : d->data;
	struct sim_device **at = &c->v->ready;

	while (*at != NULL && *at != d) {
		at = &(*at)->next_ready;
	}
	if (*at != NULL) {
		*at = d->next_ready;
	}
	kernel_close(d->file);
	c->device = NULL;
	other->device = NULL;
	sim_conn_close(other);
	free(d);
}

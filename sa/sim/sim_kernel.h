/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/mad/mad_buf.h"

struct sim;

/*!
 * What the kernels of the hosts of a simulated fabric do with MADs: the side of ib_umad
 * and ib_mad that a program sees through /dev/infiniband/umad*.
 *
 * A file is an open umad device of one end port; an agent is a registration on it. As in
 * the kernel: answers go to the agent whose number stands in the upper half of the
 * transaction id, other MADs to the one agent registered for their class, version and
 * method (a second registration for the same is refused); a request keeps a timer and
 * comes back with status ETIMEDOUT after its retries; an answer without a waiting request
 * is dropped; agents that ask for RMPP see whole messages, others segments; a Get or Set
 * for which no agent is there is answered with "unsupported method or attribute".
 *
 * No sockets and no clock of its own: time is that of the fabric, so a test runs it on
 * the virtual clock. A fabric that has kernels is driven by kernel_run(), not by its
 * transport. Any thread may call; sim.lock guards everything.
 */
struct kernel;
struct kernel_file;

/*! \brief Called, with the lock held, when the queue of a file is no longer empty. */
typedef void kernel_readable_f(void *owner);

/*! \brief Kernels for all hosts of \a s, which stays the caller's. \retval -ENOMEM */
int kernel_new(struct sim *s, kernel_readable_f *readable, struct kernel **ret);
/*! \brief Closes all files too. */
void kernel_free(struct kernel *k);

/*!
 * \brief Lets everything happen that is due.
 * \param until_us  On the virtual clock: how far it may go.
 * \return Time of the next event, UINT64_MAX: none.
 */
uint64_t kernel_run(struct kernel *k, uint64_t until_us);

/*! \brief Opens the device of an end port (index in graph.ports). \retval -ENOMEM */
int kernel_open(struct kernel *k, uint32_t port, void *owner, struct kernel_file **ret);
void kernel_close(struct kernel_file *f);

/*! What a registration asks for; as struct ib_user_mad_reg_req2. */
struct kernel_agent_row {
	uint32_t qpn;
	uint8_t mgmt_class; /*!< 0: only answers to own requests */
	uint8_t mgmt_class_version;
	uint8_t rmpp_version; /*!< 1: the kernel does RMPP */
	bool user_rmpp;       /*!< segments are passed on although rmpp_version is 1 */
	uint32_t oui;
	uint64_t method_mask[2];
};

/*!
 * \param ret_id  Number of the agent on this file.
 * \retval -EINVAL  Bad values, or another agent of the port serves one of the methods.
 * \retval -ENOMEM  32 agents at most.
 */
int kernel_register(struct kernel_file *f, const struct kernel_agent_row *row,
                    uint32_t *ret_id);
int kernel_unregister(struct kernel_file *f,
                      uint32_t id); /*!< \retval -EINVAL no such agent */

/*! A MAD to send, as struct ib_user_mad says it. */
struct kernel_send_row {
	uint32_t agent, timeout_ms, retries;
	struct mad_addr addr;
	const uint8_t *mad;
	size_t len; /*!< from 36 bytes; shorter than a MAD is filled up with zeros */
};

/*!
 * \brief Sends. The answer or the request itself, with status ETIMEDOUT, comes to the
 * queue. \retval -EIO     No such agent. \retval -EINVAL  Too short, too long without
 * RMPP, or the transaction id is in use.
 */
int kernel_write(struct kernel_file *f, const struct kernel_send_row *row);

/*!
 * \brief First message of the queue; it stays there until kernel_pop().
 *
 * agent is who it is for, status 0 or ETIMEDOUT; a request that timed out is 24 bytes.
 * NULL: the queue is empty.
 */
const struct mad_buf *kernel_peek(struct kernel_file *f);
void kernel_pop(struct kernel_file *f);

/*! \brief IsSM of an end port, as opening and closing its issm device does. */
void kernel_issm(struct kernel *k, uint32_t port, bool on);

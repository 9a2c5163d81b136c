/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/mad/mad_buf.h"

struct sim;

/*!
 * The kernels of the hosts of a simulated fabric: what ib_umad and ib_mad do for a program that
 * uses /dev/infiniband/umad*.
 *
 * A file is an open umad device of one end port, and an agent is a registration on it. As in
 * the real kernel:
 *
 *   - a response goes to the agent whose number is in the upper half of the transaction ID;
 *     without a waiting request it is dropped
 *   - any other MAD goes to the agent that is registered for its class, version and method;
 *     a second registration for the same is refused
 *   - a request has a timer and comes back with status ETIMEDOUT after its retries
 *   - an agent with RMPP gets whole messages, others get segments
 *   - a Get or Set without an agent is answered with "unsupported method or attribute"
 *
 * There are no sockets and no clock here. Time is that of the fabric, so that tests can use the
 * virtual clock. kernel_run() drives a fabric with kernels, not its transport. Any thread may
 * call these functions; sim.lock guards everything.
 */
struct kernel;
struct kernel_file;

/*! \brief Called, with the lock held, when the queue of a file is no longer empty. */
typedef void kernel_readable_f(void *owner);

/*! \brief Creates kernels for all hosts of \a s, which is borrowed. \retval -ENOMEM */
int kernel_new(struct sim *s, kernel_readable_f *readable, struct kernel **ret_kernel);
/*! \brief Closes all files too. */
void kernel_free(struct kernel *k);

/*!
 * \brief Handles all events that are due.
 * \param until_us  On the virtual clock: the time up to which it may advance.
 * \return Time of the next event, UINT64_MAX: none.
 */
uint64_t kernel_run(struct kernel *k, uint64_t until_us);

/*! \brief Opens the device of an end port (index in graph.ports). \retval -ENOMEM */
int kernel_open(struct kernel *k, uint32_t port, void *owner,
                struct kernel_file **ret_file);
void kernel_close(struct kernel_file *f);

/*! A registration, as struct ib_user_mad_reg_req2. */
struct kernel_agent_row {
	uint32_t qpn;
	uint8_t mgmt_class; /*!< 0: only responses to own requests */
	uint8_t mgmt_class_version;
	uint8_t rmpp_version; /*!< 1: the kernel does RMPP */
	bool user_rmpp;       /*!< the program gets segments although rmpp_version is 1 */
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

/*! A MAD to send, as in struct ib_user_mad. */
struct kernel_send_row {
	uint32_t agent, timeout_ms, retries;
	struct mad_addr addr;
	const uint8_t *mad;
	size_t len; /*!< at least 36 bytes; padded with zeros to a MAD */
};

/*!
 * \brief Sends. The response, or the request itself with status ETIMEDOUT, comes to the queue.
 * \retval -EIO     No such agent.
 * \retval -EINVAL  Too short, too long without RMPP, or the transaction ID is in use.
 */
int kernel_write(struct kernel_file *f, const struct kernel_send_row *row);

/*!
 * \brief First message of the queue; it stays there until kernel_pop().
 *
 * Its agent is the destination, and its status is 0 or ETIMEDOUT. A request that timed out has 24
 * bytes. \return NULL: the queue is empty.
 */
const struct mad_buf *kernel_peek(struct kernel_file *f);
void kernel_pop(struct kernel_file *f);

/*! \brief Sets IsSM of an end port, as opening and closing its issm device does. */
void kernel_issm(struct kernel *k, uint32_t port, bool on);

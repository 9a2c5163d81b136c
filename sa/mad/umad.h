/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct transport;

/*!
 * umad: the transport over libibumad: a real HCA, or a simulated one under a preload library.
 *
 * One descriptor, agents for SMPs (classes 0x81 and 0x01) and the SA (class 0x03, kernel
 * RMPP; of class version 2, and of Omni-Path's 0x80 where the kernel takes it, with MADs of
 * up to 2048 bytes), one receive thread that blocks in umad_recv and feeds a queue. The IsSM bit is held
 * by keeping the issm device open.
 */

/*!
 * \brief Opens a port.
 *
 * \param ca    Name, NULL or "": the first with a usable port.
 * \param port  Number, 0: first usable.
 * \param guid  Port GUID to bind to, 0: any.
 * \param ret_why  Sentence on failure: no HCA (names --fabric sim:FILE), no permission on
 *                 /dev/infiniband/umad*, another SM agent on the port, unknown CA or port.
 * \retval E_NOTFOUND -EACCES E_LOCKED -errno
 */
int umad_transport_open(const char *ca, unsigned port, uint64_t guid, struct arena *a,
                        const char **ret_why, struct transport **ret);

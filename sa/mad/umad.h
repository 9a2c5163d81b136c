/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct transport;

/*!
 * The transport over libibumad: a real HCA, or a simulated one by a preload library.
 *
 * One descriptor has agents for SMPs (classes 0x81 and 0x01), the SA (class 0x03, kernel RMPP)
 * and port counters (class 0x04) of InfiniBand's class versions and of Omni-Path's 0x80, if the kernel supports it,
 * with MADs of up to 2048 bytes. One receive thread blocks in umad_recv() and fills a queue. The
 * IsSM bit is set as long as the issm device is open.
 */

/*!
 * \brief Opens a port.
 *
 * \param ca    Name, NULL or "": the first with a usable port.
 * \param port  Number, 0: first usable.
 * \param guid  Port GUID to bind to, 0: any.
 * \param ret_why  Message on failure: no HCA (names --fabric sim:FILE), no permission on
 *                 /dev/infiniband/umad*, another SM agent on the port, unknown CA or port.
 * \retval E_NOTFOUND -EACCES E_LOCKED -errno
 */
int umad_transport_open(const char *ca, unsigned port, uint64_t guid, struct arena *a,
                        const char **ret_why, struct transport **ret_transport);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "tests/e2e/umad_port.h"

/*!
 * A host's end of the subnet administration: over libibumad, the first adapter, one MAD
 * at a time. For the small clients of the end-to-end tests; what fails ends the program.
 */
enum { HOST_MAD = 256, HOST_DATA = 56 /*!< where an SA MAD's data begin */ };

static struct host_port host;

/* A MAD behind the header of umad. */
static uint64_t host_room[(4096 + HOST_MAD) / 8];

static inline uint8_t *host_mad(void)
{
	return umad_get_mad(host_room);
}

static inline void host_put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++) {
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	}
}

/* Opens the port; \a methods as of host_port_open(). */
static inline void host_open(long *methods)
{
	host_port_open(0, methods, &host);
}

/* Sends the MAD in the room; \a tries with an answer awaited \a timeout_ms each. */
static inline void host_send(int lid, int timeout_ms, int tries)
{
	umad_set_addr(host_room, lid, 1, 0, (int)UMAD_QKEY);
	if (umad_send(host.fd, host.agent, host_room, HOST_MAD, timeout_ms, tries) < 0) {
		host_fail("cannot send");
	}
}

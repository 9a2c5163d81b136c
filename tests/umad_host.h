/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <errno.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*!
 * A host's end of the subnet administration: over libibumad, the first adapter, one MAD
 * at a time. For the small clients of the end-to-end tests; what fails ends the program.
 */
enum { HOST_MAD = 256, HOST_DATA = 56 /*!< where an SA MAD's data begin */ };

static struct {
	int port, agent, sm_lid;
} host;

/* A MAD behind the header of umad. */
static uint64_t host_room[(4096 + HOST_MAD) / 8];

static inline void host_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(1);
}

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

/* Opens the port for a client of the SA that also takes requests of these \a methods
 * (bits as in umad_register(), NULL: none). */
static inline void host_open(long *methods)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0) {
		host_fail("no port");
	}
	host.sm_lid = (int)port.sm_lid;
	host.port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	host.agent = umad_register(host.port, UMAD_CLASS_SUBN_ADM, 2, 0, methods);
	if (host.port < 0 || host.agent < 0) {
		host_fail("cannot open the port or register");
	}
}

/* Sends the MAD in the room; \a tries with an answer awaited \a timeout_ms each. */
static inline void host_send(int lid, int timeout_ms, int tries)
{
	umad_set_addr(host_room, lid, 1, 0, (int)UMAD_QKEY);
	if (umad_send(host.port, host.agent, host_room, HOST_MAD, timeout_ms, tries) <
	    0) {
		host_fail("cannot send");
	}
}

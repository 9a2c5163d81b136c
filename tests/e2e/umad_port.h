/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*!
 * The first port of the first adapter through libibumad, for the tests' clients of the
 * subnet administration. A failure ends the program.
 */
struct host_port {
	int fd, agent; /*!< as libibumad counts them */
	uint16_t sm_lid;
	uint64_t gid_prefix, guid; /*!< of this port, host order */
};

static inline void host_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(1);
}

/*
 * Opens the port for a client of the SA that also takes requests of these methods (bits
 * as in umad_register(), NULL: none). rmpp: UMAD_RMPP_VERSION for answers of any length,
 * 0 for one MAD at a time.
 */
static inline void host_port_open(uint8_t rmpp, long *methods, struct host_port *ret_port)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) != 0) {
		host_fail("no InfiniBand port");
	}
	*ret_port = (struct host_port){ .fd = umad_open_port(port.ca_name, port.portnum),
		                        .sm_lid = (uint16_t)port.sm_lid,
		                        .gid_prefix = be64toh(port.gid_prefix),
		                        .guid = be64toh(port.port_guid) };
	umad_release_port(&port);
	if (ret_port->fd < 0) {
		host_fail("cannot open the port");
	}
	ret_port->agent = umad_register(ret_port->fd, UMAD_CLASS_SUBN_ADM,
	                                UMAD_SA_CLASS_VERSION, rmpp, methods);
	if (ret_port->agent < 0) {
		host_fail("cannot register with the port");
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A program that subscribes to events, as a host runs one: over libibumad, with the first
 * adapter. For end-to-end tests.
 *
 *   subscriber TRAP REPORTS [MUTE]
 *
 * Prints "subscribed"; then a line per report, "TRAP GUID KIND" (the GUID of the GID in
 * the notice's details, 0 for other traps than 64 to 67; type and producer in hex), and
 * answers it, but for the first MUTE ones. Ends after so many reports.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/umad_host.h"

enum { REPORT = 0x06, REPORT_RESP = 0x86, GET_RESP = 0x81, INFORM_INFO = 0x03 };

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++) {
		v = v << 8 | at[i];
	}
	return v;
}

static void receive(void)
{
	int len = HOST_MAD;

	if (umad_recv(host.fd, host_room, &len, -1) < 0 || umad_status(host_room) != 0) {
		host_fail("nothing came");
	}
}

static void subscribe(unsigned trap)
{
	uint8_t *m = host_mad();

	memset(host_room, 0, sizeof(host_room));
	m[0] = 1;
	m[1] = 3;
	m[2] = 2;
	m[3] = 2; /* Set */
	host_put(m + 8, 8, 77);
	host_put(m + 16, 2, INFORM_INFO);
	host_put(m + HOST_DATA + 16, 2, 0xffff); /* all LIDs */
	m[HOST_DATA + 22] = 1;                   /* generic */
	m[HOST_DATA + 23] = 1;                   /* subscribe */
	host_put(m + HOST_DATA + 24, 2, 0xffff);
	host_put(m + HOST_DATA + 26, 2, trap);
	host_put(m + HOST_DATA + 33, 3, 0xffffff);
	host_send(host.sm_lid, 60000, 0);
	receive();
	if (m[3] != GET_RESP || get(m + 4, 2) != 0) {
		host_fail("the subscription is refused");
	}
	printf("subscribed\n");
}

static void take_report(int answer)
{
	uint8_t *m = host_mad();

	receive();
	if (m[3] != REPORT) {
		host_fail("not a report");
	}
	unsigned trap = (unsigned)get(m + HOST_DATA + 4, 2);
	printf("%u 0x%016llx %08llx\n", trap,
	       trap >= 64 && trap <= 67 ? (unsigned long long)get(m + HOST_DATA + 24, 8)
	                                : 0,
	       (unsigned long long)get(m + HOST_DATA, 4));
	if (answer) {
		const void *lid = &umad_get_mad_addr(host_room)->lid;
		m[3] = REPORT_RESP;
		host_send((int)get(lid, 2), 0, 3);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		host_fail("TRAP REPORTS [MUTE]");
	}
	long methods[16 / sizeof(long)] = { 1L << REPORT };
	setvbuf(stdout, NULL, _IOLBF, 0);
	host_open(methods);
	subscribe((unsigned)atoi(argv[1]));
	for (int i = 0, n = atoi(argv[2]); i < n; i++) {
		take_report(argc < 4 || i >= atoi(argv[3]));
	}
	umad_close_port(host.fd);
	return 0;
}

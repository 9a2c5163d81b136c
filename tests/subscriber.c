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
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAD = 256,
	DATA = 56,
	WAIT_MS = 25000,
	REPORT = 0x06,
	REPORT_RESP = 0x86,
	GET_RESP = 0x81,
	INFORM_INFO = 0x03
};

static struct {
	int port, agent, sm_lid;
} link_;

static uint64_t room[(4096 + MAD) / 8];

static void fail(const char *what)
{
	fprintf(stderr, "subscriber: %s\n", what);
	exit(1);
}

static uint8_t *mad(void)
{
	return umad_get_mad(room);
}

static void put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++) {
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	}
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++) {
		v = v << 8 | at[i];
	}
	return v;
}

static void open_link(void)
{
	long methods[16 / sizeof(long)] = { 1L << REPORT };
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0) {
		fail("no port");
	}
	link_.sm_lid = (int)port.sm_lid;
	link_.port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	link_.agent = umad_register(link_.port, UMAD_CLASS_SUBN_ADM, 2, 0, methods);
	if (link_.port < 0 || link_.agent < 0) {
		fail("cannot open the port or register");
	}
}

static void send_mad(int lid, int timeout_ms)
{
	umad_set_addr(room, lid, 1, 0, (int)UMAD_QKEY);
	if (umad_send(link_.port, link_.agent, room, MAD, timeout_ms, 3) < 0) {
		fail("cannot send");
	}
}

static void receive(void)
{
	int len = MAD;

	if (umad_recv(link_.port, room, &len, WAIT_MS) < 0 || umad_status(room) != 0) {
		fail("nothing came");
	}
}

static void subscribe(unsigned trap)
{
	uint8_t *m = mad();

	memset(room, 0, sizeof(room));
	m[0] = 1;
	m[1] = 3;
	m[2] = 2;
	m[3] = 2; /* Set */
	put(m + 8, 8, 77);
	put(m + 16, 2, INFORM_INFO);
	put(m + DATA + 16, 2, 0xffff); /* all LIDs */
	m[DATA + 22] = 1;              /* generic */
	m[DATA + 23] = 1;              /* subscribe */
	put(m + DATA + 24, 2, 0xffff);
	put(m + DATA + 26, 2, trap);
	put(m + DATA + 33, 3, 0xffffff);
	send_mad(link_.sm_lid, 1000);
	receive();
	if (m[3] != GET_RESP || get(m + 4, 2) != 0) {
		fail("the subscription is refused");
	}
	printf("subscribed\n");
}

static void take_report(int answer)
{
	uint8_t *m = mad();

	receive();
	if (m[3] != REPORT) {
		fail("not a report");
	}
	unsigned trap = (unsigned)get(m + DATA + 4, 2);
	printf("%u 0x%016llx %08llx\n", trap,
	       trap >= 64 && trap <= 67 ? (unsigned long long)get(m + DATA + 24, 8) : 0,
	       (unsigned long long)get(m + DATA, 4));
	if (answer) {
		m[3] = REPORT_RESP;
		send_mad((int)get((const uint8_t *)&umad_get_mad_addr(room)->lid, 2), 0);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fail("TRAP REPORTS [MUTE]");
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_link();
	subscribe((unsigned)atoi(argv[1]));
	for (int i = 0, n = atoi(argv[2]); i < n; i++) {
		take_report(argc < 4 || i >= atoi(argv[3]));
	}
	umad_close_port(link_.port);
	return 0;
}

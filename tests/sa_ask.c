/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Requests to the subnet administration as a host sends them: over libibumad, with the
 * first adapter, one after the other. For end-to-end tests.
 *
 *   sa_ask < REQUESTS
 *
 * A request is a line "METHOD ATTRIBUTE MASK SM_KEY RECORD", an answer a line "STATUS
 * RECORD"; numbers and bytes in hexadecimal, a record may end early: zeros follow. An
 * empty line and one that begins with # is repeated as it is. No answer: "none".
 */
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAD = 256, DATA = 56, DATA_BYTES = 200, WAIT_MS = 1000, TRIES = 3 };

static struct {
	int port, agent, sm_lid;
} link_;

static uint64_t room[(4096 + MAD) / 8];

static void fail(const char *what)
{
	fprintf(stderr, "sa_ask: %s\n", what);
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

static void open_link(void)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0) {
		fail("no port");
	}
	link_.sm_lid = (int)port.sm_lid;
	link_.port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	link_.agent = umad_register(link_.port, UMAD_CLASS_SUBN_ADM, 2, 0, NULL);
	if (link_.port < 0 || link_.agent < 0) {
		fail("cannot open the port or register");
	}
}

static void read_record(const char *hex)
{
	unsigned byte;

	for (unsigned i = 0; i < DATA_BYTES && sscanf(hex + 2 * i, "%2x", &byte) == 1;
	     i++) {
		mad()[DATA + i] = (uint8_t)byte;
	}
}

static void read_request(const char *line)
{
	unsigned method, attribute;
	unsigned long long mask, key;
	char hex[2 * DATA_BYTES + 1] = "";
	uint8_t *m = mad();
	static uint32_t transaction;

	if (sscanf(line, "%x %x %llx %llx %400s", &method, &attribute, &mask, &key, hex) <
	    4) {
		fail("a request is METHOD ATTRIBUTE MASK SM_KEY RECORD");
	}
	memset(room, 0, sizeof(room));
	m[0] = 1;
	m[1] = UMAD_CLASS_SUBN_ADM;
	m[2] = 2;
	m[3] = (uint8_t)method;
	put(m + 8, 8, ++transaction);
	put(m + 16, 2, attribute);
	put(m + 36, 8, key);
	put(m + 48, 8, mask);
	read_record(hex);
}

static void ask(void)
{
	const uint8_t *m = mad();
	int len = MAD;

	umad_set_addr(room, link_.sm_lid, 1, 0, (int)UMAD_QKEY);
	if (umad_send(link_.port, link_.agent, room, MAD, WAIT_MS, TRIES) < 0) {
		fail("cannot send");
	}
	if (umad_recv(link_.port, room, &len, 2 * TRIES * WAIT_MS) < 0 ||
	    umad_status(room) != 0) {
		printf("none\n");
		return;
	}
	printf("%02x%02x ", m[4], m[5]);
	for (unsigned i = 0; i < DATA_BYTES; i++) {
		printf("%02x", m[DATA + i]);
	}
	printf("\n");
}

int main(void)
{
	char line[1024];

	setvbuf(stdout, NULL, _IOLBF, 0);
	open_link();
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (line[0] == '#' || line[0] == '\n') {
			fputs(line, stdout);
			continue;
		}
		read_request(line);
		ask();
	}
	umad_close_port(link_.port);
	return 0;
}

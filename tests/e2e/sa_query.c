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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/umad_host.h"

/* One try: the second of a Set or Delete may find the work of the first done. */
enum { DATA_BYTES = 200, WAIT_MS = 60000 };

static void read_record(const char *hex)
{
	unsigned byte;

	for (unsigned i = 0; i < DATA_BYTES && sscanf(hex + 2 * i, "%2x", &byte) == 1;
	     i++) {
		host_mad()[HOST_DATA + i] = (uint8_t)byte;
	}
}

static void read_request(const char *line)
{
	unsigned method, attribute;
	unsigned long long mask, key;
	char hex[2 * DATA_BYTES + 1] = "";
	uint8_t *m = host_mad();
	static uint32_t transaction;

	if (sscanf(line, "%x %x %llx %llx %400s", &method, &attribute, &mask, &key, hex) <
	    4) {
		host_fail("a request is METHOD ATTRIBUTE MASK SM_KEY RECORD");
	}
	memset(host_room, 0, sizeof(host_room));
	m[0] = 1;
	m[1] = UMAD_CLASS_SUBN_ADM;
	m[2] = 2;
	m[3] = (uint8_t)method;
	host_put(m + 8, 8, ++transaction);
	host_put(m + 16, 2, attribute);
	host_put(m + 36, 8, key);
	host_put(m + 48, 8, mask);
	read_record(hex);
}

static void ask(void)
{
	const uint8_t *m = host_mad();
	int len = HOST_MAD;

	host_send(host.sm_lid, WAIT_MS, 0);
	if (umad_recv(host.fd, host_room, &len, -1) < 0 || umad_status(host_room) != 0) {
		printf("none\n");
		return;
	}
	printf("%02x%02x ", m[4], m[5]);
	for (unsigned i = 0; i < DATA_BYTES; i++) {
		printf("%02x", m[HOST_DATA + i]);
	}
	printf("\n");
}

int main(void)
{
	char line[1024];

	setvbuf(stdout, NULL, _IOLBF, 0);
	host_open(NULL);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (line[0] == '#' || line[0] == '\n') {
			fputs(line, stdout);
			continue;
		}
		read_request(line);
		ask();
	}
	umad_close_port(host.fd);
	return 0;
}

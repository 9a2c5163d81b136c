/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What a user of one host can send with libibumad against the subnet manager. For end-to-end tests.
 *
 *   hostile manager SECONDS PRIORITY STATE SM_KEY
 *       sets the IsSM bit and answers SMInfo as a subnet manager of this priority and state (2 STANDBY,
 *       3 MASTER); a HANDOVER makes it MASTER. Prints each request: "Get M_KEY SM_KEY" or
 *       "Set CONTROL M_KEY SM_KEY"
 *   hostile control LID CONTROL GUID STATE TIMES
 *       sends Set(SMInfo) in the name of GUID (0: its own port), priority 15, SM_Key 1
 *   hostile answers SECONDS TIMES
 *       sets the IsSM bit; with the transaction ID of each SMInfo request that comes it makes up answers to
 *       the next TIMES ones: PortInfo of a port that is down
 *   hostile traps LID TIMES
 *       sends trap 257 (bad P_Key) that accuses another host, each time another one
 *   hostile portinfo LID M_KEY
 *       asks a port for PortInfo and writes it back with another SM's LID; prints the status of the Set
 *
 * Keys, GUIDs and LIDs are hexadecimal with 0x. Ends with "sent N".
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/umad_port.h"

enum { MAD = 256, DATA = 64 };
enum { GET = 1, SET = 2, TRAP = 5, GET_RESP = 0x81 };
enum { PORT_INFO = 0x15, SM_INFO = 0x20, NOTICE = 0x02 };
enum { HANDOVER = 1, MASTER = 3 };

static struct host_port host;
static int directed; /* the agent for directed routes */
static uint64_t room[(4096 + MAD) / 8];
static uint64_t own_guid;
static unsigned own_lid, sent;

static uint8_t *mad(void)
{
	return umad_get_mad(room);
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++) {
		v = v << 8 | at[i];
	}
	return v;
}

static void put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++) {
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int add_agent(int mgmt_class)
{
	long methods[16 / sizeof(long)] = { 1L << GET | 1L << SET };
	int id = umad_register(host.fd, mgmt_class, 1, 0, methods);

	if (id < 0) {
		host_fail("cannot register");
	}
	return id;
}

static void open_port(bool is_sm)
{
	char path[256];
	umad_port_t p;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &p) < 0) {
		host_fail("no port");
	}
	own_lid = p.base_lid;
	own_guid = get((const uint8_t *)&p.port_guid, 8);
	umad_release_port(&p);
	host.fd = umad_open_port(NULL, 0);
	if (host.fd < 0) {
		host_fail("cannot open the port");
	}
	host.agent = add_agent(1);
	directed = add_agent(0x81);
	if (is_sm && (umad_get_issm_path(NULL, 0, path, sizeof(path)) < 0 ||
	              open(path, O_NONBLOCK) < 0)) {
		host_fail("cannot set IsSM");
	}
}

/* By LID, as a subnet management packet. */
static void send_to(int lid, int timeout_ms)
{
	umad_set_addr(room, lid, 0, 0, 0);
	if (umad_send(host.fd, host.agent, room, MAD, timeout_ms, 0) < 0) {
		host_fail("cannot send");
	}
	sent++;
}

static void begin(uint8_t method, unsigned attr, unsigned modifier, uint64_t m_key)
{
	memset(room, 0, sizeof(room));
	mad()[0] = 1;
	mad()[1] = 1;
	mad()[2] = 1;
	mad()[3] = method;
	put(mad() + 8, 8, 0x1000 + sent);
	put(mad() + 16, 2, attr);
	put(mad() + 20, 4, modifier);
	put(mad() + 24, 8, m_key);
}

static void put_sm_info(uint64_t guid, uint64_t sm_key, unsigned priority, unsigned state)
{
	memset(mad() + DATA, 0, 64);
	put(mad() + DATA, 8, guid);
	put(mad() + DATA + 8, 8, sm_key);
	put(mad() + DATA + 16, 4, 1);
	mad()[DATA + 20] = (uint8_t)(priority << 4 | state);
}

/* The next MAD, until \a end. */
static bool receive(double end)
{
	while (now() < end) {
		int len = MAD;
		struct pollfd p = { .fd = umad_get_fd(host.fd), .events = POLLIN };

		if (poll(&p, 1, (int)((end - now()) * 1000) + 1) > 0 &&
		    umad_recv(host.fd, room, &len, 0) >= 0 && umad_status(room) == 0) {
			return true;
		}
	}
	return false;
}

static void answer(int agent)
{
	uint8_t *m = mad();
	unsigned lid = (unsigned)get((const uint8_t *)&umad_get_mad_addr(room)->lid, 2);

	m[3] = GET_RESP;
	put(m + 24, 8, 0);
	if (m[1] == 0x81) {
		m[4] |= 0x80; /* the way back */
		lid = 0xffff;
	}
	umad_set_addr(room, (int)lid, 0, 0, 0);
	if (umad_send(host.fd, agent, room, MAD, 0, 0) < 0) {
		host_fail("cannot answer");
	}
	sent++;
}

static void manager(double seconds, unsigned priority, unsigned state, uint64_t sm_key)
{
	double end = now() + seconds;

	while (receive(end)) {
		uint8_t *m = mad();

		if (get(m + 16, 2) != SM_INFO || (m[3] != GET && m[3] != SET)) {
			continue;
		}
		if (m[3] == GET) {
			printf("Get 0x%016llx 0x%016llx\n",
			       (unsigned long long)get(m + 24, 8),
			       (unsigned long long)get(m + DATA + 8, 8));
		} else {
			printf("Set %llu 0x%016llx 0x%016llx\n",
			       (unsigned long long)get(m + 20, 4),
			       (unsigned long long)get(m + 24, 8),
			       (unsigned long long)get(m + DATA + 8, 8));
			state = get(m + 20, 4) == HANDOVER ? MASTER : state;
		}
		put_sm_info(own_guid, sm_key, priority, state);
		answer(m[1] == 0x81 ? directed : host.agent);
	}
}

static void control(int lid, unsigned what, uint64_t guid, unsigned state, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		begin(SET, SM_INFO, what, 0);
		put_sm_info(guid != 0 ? guid : own_guid, 1, 15, state);
		send_to(lid, 1000);
		if (receive(now() + 1)) {
			printf("status 0x%04llx\n",
			       (unsigned long long)get(mad() + 4, 2) & 0x7fff);
		}
	}
}

static void answers(double seconds, unsigned times)
{
	double end = now() + seconds;

	while (receive(end)) {
		uint64_t tid = get(mad() + 8, 8);
		int lid = (int)get((const uint8_t *)&umad_get_mad_addr(room)->lid, 2);

		if (get(mad() + 16, 2) != SM_INFO || mad()[3] != GET) {
			continue;
		}
		printf("Get 0x%016llx\n", (unsigned long long)tid);
		for (unsigned i = 1; i <= times; i++) {
			begin(GET_RESP, PORT_INFO, 1, 0);
			mad()[1] = 0x81;
			put(mad() + 8, 8, tid + i);
			mad()[4] = 0x80;
			put(mad() + 32, 2, 0xffff);
			put(mad() + 34, 2, 0xffff);
			mad()[DATA + 32] = 0x11; /* down */
			umad_set_addr(room, lid != 0 && lid != 0xffff ? lid : 1, 0, 0, 0);
			(void)umad_send(host.fd, directed, room, MAD, 0, 0);
			mad()[1] = 1;
			(void)umad_send(host.fd, host.agent, room, MAD, 0, 0);
			sent += 2;
		}
	}
}

static void traps(int lid, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		uint8_t *n = mad() + DATA;

		begin(TRAP, NOTICE, 0, 0);
		n[0] = 0x80 | 2; /* generic, security */
		put(n + 1, 3, 1);
		put(n + 4, 2, 257);
		put(n + 6, 2, own_lid);
		put(n + 12, 2, 1 + i % 4000); /* LIDADDR1, accused */
		put(n + 14, 2, own_lid);
		put(n + 16, 4, 0x8001);
		put(n + 20, 4, 1);
		put(n + 24, 4, 1);
		send_to(lid, 0);
	}
}

static void port_info(int lid, uint64_t m_key)
{
	uint8_t data[64];

	begin(GET, PORT_INFO, 0, m_key);
	send_to(lid, 1000);
	if (!receive(now() + 2)) {
		printf("no answer\n");
		return;
	}
	memcpy(data, mad() + DATA, sizeof(data));
	printf("m_key 0x%016llx\n", (unsigned long long)get(data, 8));
	put(data + 18, 2, own_lid); /* MasterSMLID */
	begin(SET, PORT_INFO, 0, m_key);
	memcpy(mad() + DATA, data, sizeof(data));
	send_to(lid, 1000);
	if (receive(now() + 2)) {
		printf("set 0x%04llx master_sm_lid %llu\n",
		       (unsigned long long)get(mad() + 4, 2) & 0x7fff,
		       (unsigned long long)get(mad() + DATA + 18, 2));
	} else {
		printf("set refused\n");
	}
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	open_port(strcmp(what, "manager") == 0 || strcmp(what, "answers") == 0);
	if (strcmp(what, "manager") == 0 && argc == 6) {
		manager(atof(argv[2]), (unsigned)number(argv[3]),
		        (unsigned)number(argv[4]), number(argv[5]));
	} else if (strcmp(what, "control") == 0 && argc == 7) {
		control((int)number(argv[2]), (unsigned)number(argv[3]), number(argv[4]),
		        (unsigned)number(argv[5]), (unsigned)number(argv[6]));
	} else if (strcmp(what, "answers") == 0 && argc == 4) {
		answers(atof(argv[2]), (unsigned)number(argv[3]));
	} else if (strcmp(what, "traps") == 0 && argc == 4) {
		traps((int)number(argv[2]), (unsigned)number(argv[3]));
	} else if (strcmp(what, "portinfo") == 0 && argc == 4) {
		port_info((int)number(argv[2]), number(argv[3]));
	} else {
		host_fail(
			"manager | control | answers | traps | portinfo, see the source");
	}
	printf("sent %u\n", sent);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * sa_load KIND [SECONDS [WINDOW [PID]]]: how many requests a second the subnet
 * administration answers to one client through libibumad, WINDOW of them on the way
 * (default 5 s, 64), and after how long. KIND:
 *
 *   lid, gid   PathRecord queries for pairs of pseudo-random hosts from the SA's table of
 *              nodes
 *   blind      the same by LIDs 1 to 1000, without asking for that table
 *   join       the port joins 256 multicast groups, leaves them, and so on
 *   table      GetTable of all paths from a pseudo-random host
 *
 * Where SECONDS is written as "Nx" it sends N requests instead. With PID also the CPU
 * time of the SM's process per request. Prints one JSON object; fails when anything is
 * not answered well.
 *
 * sa_load flood COUNT: sends that many requests that are bad or ask for all paths, prints
 * how many of each kind, and waits a minute for the answer to one request behind them. It
 * fails when there is none.
 *
 * sa_load echo: answers every request with itself, until it is killed: what "blind" then
 * measures is the price of the simulator and of libibumad.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/umad_port.h"

enum {
	TABLE_BYTES = 8 << 20,
	MAD_LEN = 256,
	NODE_RECORD = 0x11,
	PATH_RECORD = 0x35,
	TIMEOUT_MS = 60000, /* nothing gets lost: a guard */
	NODE_TYPE_AT = 6,   /* of NodeRecord: LID 2, reserved 2, NodeInfo */
	PORT_GUID_AT = 24,
	MCMEMBER_RECORD = 0x38,
	GROUPS = 256,
	BLIND_LIDS = 1000,
	WINDOW_MAX = 4096,
	LATENCIES = 1 << 22 /* of the last ones */
};

enum kind { LID, GID, BLIND, JOIN, TABLE, FLOOD, ECHO, KINDS };

static const char *const kind_names[KINDS] = { "lid",   "gid",   "blind", "join",
	                                       "table", "flood", "echo" };

struct host {
	uint16_t lid; /* wire order */
	uint8_t gid[16];
};

struct load {
	struct host_port port;
	enum kind kind;
	struct host *hosts;
	size_t n_hosts;
	uint64_t rng;
	uint32_t tid;
	int timeout_ms;
	uint64_t answers, errors, timeouts;
	double sent_at[WINDOW_MAX]; /* by transaction id */
	float *latency;             /* [LATENCIES] us */
	int table_bytes;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t some(struct load *l)
{
	l->rng ^= l->rng << 13; /* xorshift64 */
	l->rng ^= l->rng >> 7;
	l->rng ^= l->rng << 17;
	return l->rng;
}

static void *mad_new(size_t len)
{
	void *umad = calloc(1, umad_size() + len);
	if (umad == NULL) {
		host_fail("out of memory");
	}
	return umad;
}

static void send_mad(struct load *l, void *umad)
{
	umad_set_addr(umad, l->port.sm_lid, 1, 0, UMAD_QKEY);
	if (umad_send(l->port.fd, l->port.agent, umad, MAD_LEN, l->timeout_ms, 0) < 0) {
		host_fail("cannot send");
	}
}

static void fill_query(struct load *l, void *umad, uint8_t method, uint16_t attr,
                       uint64_t mask)
{
	struct umad_sa_packet *p = umad_get_mad(umad);
	p->mad_hdr.base_version = UMAD_BASE_VERSION;
	p->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	p->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	p->mad_hdr.method = method;
	p->mad_hdr.tid = htobe64(++l->tid);
	p->mad_hdr.attr_id = htobe16(attr);
	p->comp_mask = htobe64(mask);
}

static void send_query(struct load *l, void *umad, uint8_t method, uint16_t attr,
                       uint64_t mask)
{
	fill_query(l, umad, method, attr, mask);
	l->sent_at[l->tid % WINDOW_MAX] = now();
	send_mad(l, umad);
}

static void open_port(struct load *l)
{
	long requests[16 / sizeof(long)] = { 1L << UMAD_METHOD_GET |
		                             1L << UMAD_METHOD_SET |
		                             1L << UMAD_SA_METHOD_GET_TABLE };

	host_port_open(UMAD_RMPP_VERSION, l->kind == ECHO ? requests : NULL, &l->port);
}

static void read_hosts(struct load *l)
{
	int len = TABLE_BYTES;
	void *umad = mad_new(TABLE_BYTES);

	send_query(l, umad, UMAD_SA_METHOD_GET_TABLE, NODE_RECORD, 0);
	if (umad_recv(l->port.fd, umad, &len, TIMEOUT_MS) < 0 || umad_status(umad) != 0) {
		host_fail("no table of nodes from the SA");
	}
	const struct umad_sa_packet *p = umad_get_mad(umad);
	size_t step = 8 * (size_t)be16toh(p->attr_offset);
	size_t n = step > 0 ? ((size_t)len - offsetof(struct umad_sa_packet, data)) / step
	                    : 0;
	l->hosts = calloc(n + 1, sizeof(*l->hosts));
	for (size_t i = 0; i < n; i++) {
		const uint8_t *r = p->data + i * step;
		if (r[NODE_TYPE_AT] == 2) { /* a switch */
			continue;
		}
		struct host *h = &l->hosts[l->n_hosts++];
		memcpy(&h->lid, r, sizeof(h->lid));
		h->gid[0] = 0xFE;
		h->gid[1] = 0x80;
		memcpy(h->gid + 8, r + PORT_GUID_AT, 8);
	}
	free(umad);
	if (l->n_hosts < 2) {
		host_fail("fewer than two hosts");
	}
}

/* Hosts that nobody said are there. */
static void invent_hosts(struct load *l)
{
	l->hosts = calloc(BLIND_LIDS, sizeof(*l->hosts));
	while (l->hosts != NULL && l->n_hosts < BLIND_LIDS) {
		l->hosts[l->n_hosts].lid = htobe16((uint16_t)(l->n_hosts + 1));
		l->n_hosts++;
	}
}

static const struct host *some_host(struct load *l)
{
	return &l->hosts[some(l) % l->n_hosts];
}

static void ask_path(struct load *l, void *umad)
{
	enum { DGID_AT = 8, SGID_AT = 24, DLID_AT = 40, SLID_AT = 42 };
	const struct host *src = some_host(l), *dst = some_host(l);
	struct umad_sa_packet *p = umad_get_mad(umad);

	if (l->kind == GID) {
		memcpy(p->data + DGID_AT, dst->gid, sizeof(dst->gid));
		memcpy(p->data + SGID_AT, src->gid, sizeof(src->gid));
		send_query(l, umad, UMAD_METHOD_GET, PATH_RECORD, 1 << 2 | 1 << 3);
		return;
	}
	memcpy(p->data + SLID_AT, &src->lid, sizeof(src->lid));
	if (l->kind == TABLE) {
		send_query(l, umad, UMAD_SA_METHOD_GET_TABLE, PATH_RECORD, 1 << 5);
		return;
	}
	memcpy(p->data + DLID_AT, &dst->lid, sizeof(dst->lid));
	send_query(l, umad, UMAD_METHOD_GET, PATH_RECORD, 1 << 4 | 1 << 5);
}

/* Joins all groups, leaves them, and again; a group that is not there is made. */
static void ask_member(struct load *l, void *umad)
{
	enum {
		MGID_AT = 0,
		PORT_GID_AT = 16,
		Q_KEY_AT = 32,
		P_KEY_AT = 40,
		STATE_AT = 48
	};
	static const uint8_t mgid[14] = { 0xff, 0x12, 0xca, 0xfe };
	struct umad_sa_packet *p = umad_get_mad(umad);
	uint32_t group = l->tid % GROUPS;
	bool leave = l->tid / GROUPS % 2;

	memcpy(p->data + MGID_AT, mgid, sizeof(mgid));
	p->data[MGID_AT + 14] = (uint8_t)(group >> 8);
	p->data[MGID_AT + 15] = (uint8_t)group;
	const uint64_t gid[2] = { htobe64(l->port.gid_prefix), htobe64(l->port.guid) };
	memcpy(p->data + PORT_GID_AT, gid, sizeof(gid));
	p->data[Q_KEY_AT + 3] = 1;
	memset(p->data + P_KEY_AT, 0xff, 2);
	p->data[STATE_AT] = 1; /* full member */
	/* MGID, PortGID, JoinState; to create also Q_Key, TClass, P_Key, SL, FlowLabel */
	uint64_t mask = 1 << 0 | 1 << 1 | 1 << 16;
	uint64_t create = 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13;
	send_query(l, umad, leave ? UMAD_SA_METHOD_DELETE : UMAD_METHOD_SET,
	           MCMEMBER_RECORD, leave ? mask : mask | create);
}

static void ask(struct load *l, void *umad)
{
	memset(umad_get_mad(umad), 0, MAD_LEN);
	if (l->kind == JOIN) {
		ask_member(l, umad);
	} else {
		ask_path(l, umad);
	}
}

static void take(struct load *l, void *umad)
{
	int len = l->table_bytes;
	if (umad_recv(l->port.fd, umad, &len, 2 * TIMEOUT_MS) < 0) {
		host_fail("the device has gone");
	}
	const struct umad_hdr *h = umad_get_mad(umad);
	if (umad_status(umad) != 0) {
		l->timeouts++;
		return;
	}
	double took = now() - l->sent_at[(uint32_t)be64toh(h->tid) % WINDOW_MAX];
	l->latency[l->answers++ % LATENCIES] = (float)(took * 1e6);
	l->errors += h->status != 0;
}

/* For so many seconds, or so many requests. */
static void run(struct load *l, double seconds, uint64_t count, unsigned window)
{
	l->table_bytes = l->kind == TABLE ? TABLE_BYTES : MAD_LEN;
	void *umad = mad_new((size_t)l->table_bytes);
	double end = now() + seconds;
	uint64_t asked = 0;

	for (; asked < window && (count == 0 || asked < count); asked++) {
		ask(l, umad);
	}
	for (uint64_t out = asked; out > 0;) {
		take(l, umad);
		if (count > 0 ? asked < count : now() < end) {
			ask(l, umad);
			asked++;
		} else {
			out--;
		}
	}
	free(umad);
}

/* --- what nobody should send -----------------------------------------------------------
 */

enum bad {
	GARBAGE,
	OTHER_VERSION,
	WRONG_KEY,
	NO_SUCH_ATTRIBUTE,
	RESPONSE,
	ALL_PATHS,
	BADS
};

static const char *const bad_names[BADS] = { "garbage",   "other_version",
	                                     "wrong_key", "no_such_attribute",
	                                     "response",  "all_paths" };

static void fill_bad(struct load *l, enum bad kind, void *umad)
{
	enum { UNKNOWN = 0x77 };
	struct umad_sa_packet *p = umad_get_mad(umad);

	memset(p, 0, MAD_LEN);
	switch (kind) {
	case GARBAGE: /* of the SA's class and version, so that it gets there */
		for (unsigned i = 0; i < MAD_LEN; i++) {
			((uint8_t *)p)[i] = (uint8_t)(some(l) >> 24);
		}
		memset(p->sm_key, 0, sizeof(p->sm_key));
		fill_query(l, umad, UMAD_METHOD_GET, PATH_RECORD, some(l));
		p->rmpp_hdr.rmpp_rtime_flags &= (uint8_t)~UMAD_RMPP_FLAG_ACTIVE;
		break;
	case OTHER_VERSION:
		fill_query(l, umad, UMAD_METHOD_GET, PATH_RECORD, 0);
		p->mad_hdr.class_version = (uint8_t)(3 + some(l) % 100);
		break;
	case WRONG_KEY:
		fill_query(l, umad, UMAD_METHOD_GET, NODE_RECORD, 0);
		memset(p->sm_key, 0x5a, sizeof(p->sm_key));
		break;
	case NO_SUCH_ATTRIBUTE:
		fill_query(l, umad, UMAD_METHOD_GET, UNKNOWN, some(l));
		break;
	case RESPONSE: fill_query(l, umad, UMAD_METHOD_GET_RESP, PATH_RECORD, 0); break;
	case ALL_PATHS:
		fill_query(l, umad, UMAD_SA_METHOD_GET_TABLE, PATH_RECORD, 0);
		break;
	case BADS: break;
	}
}

/* A device that is closed takes along what it has not sent: an answer to a last request
 * says that all before it are gone. */
static void leave(struct load *l, void *umad)
{
	int len = MAD_LEN;

	memset(umad_get_mad(umad), 0, MAD_LEN);
	l->timeout_ms = TIMEOUT_MS;
	send_query(l, umad, UMAD_METHOD_GET, UMAD_ATTR_CLASS_PORT_INFO, 0);
	if (umad_recv(l->port.fd, umad, &len, 2 * TIMEOUT_MS) < 0 ||
	    umad_status(umad) != 0) {
		host_fail("no answer behind the flood within a minute");
	}
}

static int flood(struct load *l, uint64_t count)
{
	uint64_t sent[BADS] = { 0 };
	void *umad = mad_new(MAD_LEN);

	l->timeout_ms = 0;
	for (uint64_t i = 0; i < count; i++) {
		/* one in a hundred is legal, and asks for everything */
		enum bad kind = some(l) % 100 == 0 ? ALL_PATHS : some(l) % ALL_PATHS;
		fill_bad(l, kind, umad);
		send_mad(l, umad);
		sent[kind]++;
	}
	for (unsigned i = 0; i < BADS; i++) {
		printf("%s\"%s\": %" PRIu64, i ? ", " : "{", bad_names[i], sent[i]);
	}
	puts("}");
	fflush(stdout);
	leave(l, umad);
	free(umad);
	return 0;
}

static void echo(struct load *l)
{
	void *umad = mad_new(MAD_LEN);
	int len;

	l->timeout_ms = 0;
	while (len = MAD_LEN, umad_recv(l->port.fd, umad, &len, -1) >= 0) {
		struct umad_sa_packet *p = umad_get_mad(umad);
		p->mad_hdr.method |= UMAD_METHOD_RESP_MASK;
		if (umad_send(l->port.fd, l->port.agent, umad, MAD_LEN, 0, 0) < 0) {
			host_fail("cannot send");
		}
	}
	free(umad);
}

/* CPU seconds of a process: user, system. */
static void cpu_of(const char *pid, double cpu[2])
{
	char path[64], text[1024];
	unsigned long user = 0, system = 0;

	cpu[0] = cpu[1] = 0;
	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	FILE *f = pid[0] != '\0' ? fopen(path, "r") : NULL;
	if (f == NULL) {
		return;
	}
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	const char *after = strrchr(text, ')');
	if (after != NULL &&
	    sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
	           &user, &system) == 2) {
		cpu[0] = (double)user / (double)sysconf(_SC_CLK_TCK);
		cpu[1] = (double)system / (double)sysconf(_SC_CLK_TCK);
	}
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

static void print_latencies(struct load *l)
{
	static const struct {
		const char *name;
		double part;
	} rows[] = { { "p50_us", .5 }, { "p99_us", .99 }, { "max_us", 1 } };
	size_t n = l->answers < LATENCIES ? l->answers : LATENCIES;

	qsort(l->latency, n, sizeof(*l->latency), by_value);
	for (size_t i = 0; n > 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t at = (size_t)(rows[i].part * (double)(n - 1));
		printf(", \"%s\": %.0f", rows[i].name, l->latency[at]);
	}
}

static int measure(struct load *l, int argc, char **argv)
{
	const char *much = argc > 2 ? argv[2] : "5", *pid = argc > 4 ? argv[4] : "";
	bool counted = much[strlen(much) - 1] == 'x';
	unsigned window = argc > 3 ? (unsigned)atoi(argv[3]) : 64;
	double before[2], after[2];

	if (window == 0 || window >= WINDOW_MAX || (l->kind == JOIN && window > GROUPS)) {
		host_fail("no such window");
	}
	l->latency = calloc(LATENCIES, sizeof(*l->latency));
	if (l->latency == NULL) {
		host_fail("out of memory");
	}
	if (l->kind == BLIND) {
		invent_hosts(l);
	} else if (l->kind != JOIN) {
		read_hosts(l);
	}
	l->tid = GROUPS * 2; /* the first one joins */
	cpu_of(pid, before);
	double start = now();
	run(l, atof(much), counted ? (uint64_t)atoll(much) : 0, window);
	double took = now() - start;
	cpu_of(pid, after);
	double n = l->answers ? (double)l->answers : 1;
	printf("{\"by\": \"%s\", \"hosts\": %zu, \"window\": %u, \"answers\": %" PRIu64
	       ", \"errors\": %" PRIu64 ", \"timeouts\": %" PRIu64
	       ", \"per_second\": %.0f, \"sm_user_us\": %.3f, \"sm_system_us\": %.3f",
	       argv[1], l->n_hosts, window, l->answers, l->errors, l->timeouts,
	       (double)l->answers / took, (after[0] - before[0]) * 1e6 / n,
	       (after[1] - before[1]) * 1e6 / n);
	print_latencies(l);
	puts("}");
	free(l->latency);
	free(l->hosts);
	return l->errors + l->timeouts > 0;
}

static enum kind kind_of(const char *name)
{
	unsigned k = 0;

	while (k < KINDS && strcmp(name, kind_names[k]) != 0) {
		k++;
	}
	return (enum kind)k;
}

int main(int argc, char **argv)
{
	static struct load l = { .rng = 88172645463325252u, .timeout_ms = TIMEOUT_MS };
	int ret = 0;

	l.kind = argc > 1 ? kind_of(argv[1]) : KINDS;
	if (l.kind == KINDS || (l.kind == FLOOD && argc != 3)) {
		fputs("Usage: sa_load lid|gid|blind|join|table [SECONDS|COUNTx [WINDOW [PID]]], sa_load flood COUNT, sa_load echo\n",
		      stderr);
		return 2;
	}
	open_port(&l);
	switch (l.kind) {
	case FLOOD: ret = flood(&l, (uint64_t)atoll(argv[2])); break;
	case ECHO: echo(&l); break;
	default: ret = measure(&l, argc, argv); break;
	}
	umad_close_port(l.port.fd);
	return ret;
}

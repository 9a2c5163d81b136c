/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * sa_load lid|gid [SECONDS [WINDOW [PID]]]: how many PathRecord queries a second the
 * subnet administration answers to one client through libibumad, WINDOW of them on the
 * way (default 5 s, 64). The pairs are pseudo-random hosts from the SA's own table of
 * nodes. With PID also the CPU time of the SM's process per query. Prints one JSON
 * object.
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

enum {
	TABLE_BYTES = 8 << 20,
	MAD_LEN = 256,
	NODE_RECORD = 0x11,
	PATH_RECORD = 0x35,
	TIMEOUT_MS = 10000,
	NODE_TYPE_AT = 6, /* of NodeRecord: LID 2, reserved 2, NodeInfo */
	PORT_GUID_AT = 24
};

struct host {
	uint16_t lid; /* wire order */
	uint8_t gid[16];
};

struct load {
	int fd, agent;
	uint16_t sm_lid;
	bool by_gid;
	struct host *hosts;
	size_t n_hosts;
	uint64_t rng;
	uint32_t tid;
	uint64_t answers, errors, timeouts;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
	fprintf(stderr, "sa_load: %s\n", what);
	exit(1);
}

static void *mad_new(size_t len)
{
	void *umad = calloc(1, umad_size() + len);
	if (umad == NULL) {
		die("out of memory");
	}
	return umad;
}

static void send_query(struct load *l, void *umad, uint8_t method, uint16_t attr,
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
	umad_set_addr(umad, l->sm_lid, 1, 0, UMAD_QKEY);
	if (umad_send(l->fd, l->agent, umad, MAD_LEN, TIMEOUT_MS, 0) < 0) {
		die("cannot send");
	}
}

static void open_port(struct load *l)
{
	umad_port_t port;
	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) != 0) {
		die("no InfiniBand port");
	}
	l->sm_lid = (uint16_t)port.sm_lid;
	l->fd = umad_open_port(port.ca_name, port.portnum);
	l->agent = umad_register(l->fd, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION,
	                         UMAD_RMPP_VERSION, NULL);
	umad_release_port(&port);
	if (l->fd < 0 || l->agent < 0) {
		die("cannot open the port");
	}
}

static void read_hosts(struct load *l)
{
	int len = TABLE_BYTES;
	void *umad = mad_new(TABLE_BYTES);

	send_query(l, umad, UMAD_SA_METHOD_GET_TABLE, NODE_RECORD, 0);
	if (umad_recv(l->fd, umad, &len, TIMEOUT_MS) < 0 || umad_status(umad) != 0) {
		die("no table of nodes from the SA");
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
		die("fewer than two hosts");
	}
}

static const struct host *some_host(struct load *l)
{
	l->rng ^= l->rng << 13; /* xorshift64 */
	l->rng ^= l->rng >> 7;
	l->rng ^= l->rng << 17;
	return &l->hosts[l->rng % l->n_hosts];
}

static void ask(struct load *l, void *umad)
{
	enum { DGID_AT = 8, SGID_AT = 24, DLID_AT = 40, SLID_AT = 42 };
	const struct host *src = some_host(l), *dst = some_host(l);
	struct umad_sa_packet *p = umad_get_mad(umad);

	memset(p, 0, MAD_LEN);
	if (l->by_gid) {
		memcpy(p->data + DGID_AT, dst->gid, sizeof(dst->gid));
		memcpy(p->data + SGID_AT, src->gid, sizeof(src->gid));
	} else {
		memcpy(p->data + DLID_AT, &dst->lid, sizeof(dst->lid));
		memcpy(p->data + SLID_AT, &src->lid, sizeof(src->lid));
	}
	uint64_t mask = l->by_gid ? 1 << 2 | 1 << 3 : 1 << 4 | 1 << 5;
	send_query(l, umad, UMAD_METHOD_GET, PATH_RECORD, mask);
}

static void run(struct load *l, double seconds, unsigned window)
{
	void *umad = mad_new(MAD_LEN);
	double end = now() + seconds;

	for (unsigned i = 0; i < window; i++) {
		ask(l, umad);
	}
	for (unsigned out = window; out > 0;) {
		int len = MAD_LEN;
		if (umad_recv(l->fd, umad, &len, 2 * TIMEOUT_MS) < 0) {
			die("the device has gone");
		}
		const struct umad_hdr *h = umad_get_mad(umad);
		l->timeouts += umad_status(umad) != 0;
		l->errors += umad_status(umad) == 0 && h->status != 0;
		l->answers += umad_status(umad) == 0;
		if (now() < end) {
			ask(l, umad);
		} else {
			out--;
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

int main(int argc, char **argv)
{
	struct load l = { .rng = 88172645463325252u };
	double seconds = argc > 2 ? atof(argv[2]) : 5;
	unsigned window = argc > 3 ? (unsigned)atoi(argv[3]) : 64;
	const char *pid = argc > 4 ? argv[4] : "";
	double before[2], after[2];

	if (argc < 2 || (strcmp(argv[1], "lid") != 0 && strcmp(argv[1], "gid") != 0)) {
		fputs("Usage: sa_load lid|gid [SECONDS [WINDOW [PID]]]\n", stderr);
		return 2;
	}
	l.by_gid = argv[1][0] == 'g';
	open_port(&l);
	read_hosts(&l);
	cpu_of(pid, before);
	double start = now();
	run(&l, seconds, window);
	double took = now() - start;
	cpu_of(pid, after);
	printf("{\"by\": \"%s\", \"hosts\": %zu, \"window\": %u, \"answers\": %" PRIu64
	       ", \"errors\": %" PRIu64 ", \"timeouts\": %" PRIu64
	       ", \"per_second\": %.0f, \"sm_user_us\": %.3f, \"sm_system_us\": %.3f}\n",
	       argv[1], l.n_hosts, window, l.answers, l.errors, l.timeouts,
	       (double)l.answers / took, (after[0] - before[0]) * 1e6 / (double)l.answers,
	       (after[1] - before[1]) * 1e6 / (double)l.answers);
	umad_close_port(l.fd);
	free(l.hosts);
	return l.errors + l.timeouts > 0;
}

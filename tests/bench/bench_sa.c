/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * bench_sa [K [LMC]]: cost of a path record and of an SA answer, in one thread, from a
 * published snapshot of the three-level fat tree ft3 K (default 36, LMC 0). Prints one
 * JSON object. get_by_policy asks by LID, ServiceID and QoSClass, with a qos-policy.conf
 * of 64 rules of which the last fits; get_by_fabric the same of 16 virtual fabrics.
 *
 * Each figure is the median of five runs, over the same pseudo-random pairs of hosts, by
 * the processor time of the thread; but services_set is by the clock on the wall:
 * services registered through the server, each answered after the commit that holds it,
 * with the durable state in $SAGUARO_BENCH_STATE (else in the folder of the snapshot);
 * and multicast_joins, the same of joins beside 500,000 members.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/xml.h"
#include "conf/device_group.h"
#include "conf/policy/qos_policy.h"
#include "conf/virtual_fabric.h"
#include "db/state/state.h"
#include "sa/mad/transport.h"
#include "sa/path/path_query.h"
#include "sa/server/server.h"
#include "sa/sm/policy/policy_compile.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"
#include "tests/bench/mcast_load.h"
#include "tests/lib/query_fixture.h"

enum { RUNS = 5, PAIRS = 1 << 16 };

struct bench {
	struct query_fixture *w;
	uint32_t *hosts; /* base LIDs */
	uint32_t n_hosts;
	uint32_t (*pair)[2];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Median over RUNS of nanoseconds per item; \a work returns how many items it did. */
static double median_ns(struct bench *b, size_t (*work)(struct bench *))
{
	double ns[RUNS];

	(void)work(b); /* touches every chunk once */
	for (unsigned i = 0; i < RUNS; i++) {
		double start = now();
		size_t n = work(b);
		ns[i] = (now() - start) * 1e9 / (double)n;
	}
	qsort(ns, RUNS, sizeof(ns[0]), by_value);
	return ns[RUNS / 2];
}

static void make(struct bench *b, char *k, unsigned lmc)
{
	struct topogen_opts o = { .fail = 0 };
	struct diags d;
	uint32_t seed = 1;

	b->w = query_fixture_new();
	diags_init(&d, b->w->a);
	if (topogen("ft3", 1, &k, &o, b->w->a, &d, &b->w->g) != E_OK) {
		fprintf(stderr, "bench_sa: %s\n", diags_first_error(&d));
		exit(EXIT_FAILURE);
	}
	query_fixture_start(b->w, lmc, 0, PATH_MINIMAL);
	b->hosts = arena_array(b->w->a, b->w->g->n_hosts, sizeof(*b->hosts));
	for (uint32_t i = 0; i < b->w->g->n_end_ports; i++) {
		uint32_t port = b->w->g->end_ports[i];
		if (b->w->g->ports[port].num != 0) {
			b->hosts[b->n_hosts++] = b->w->lids.of[port].base;
		}
	}
	b->pair = arena_array(b->w->a, PAIRS, sizeof(*b->pair));
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		seed = seed * 1664525 + 1013904223;
		b->pair[i / 2][i % 2] =
			b->hosts[(uint64_t)(seed >> 8) * b->n_hosts >> 24];
	}
}

/* Ends by LID and one record, for random pairs: what a Get costs without MAD. */
static size_t query_pairs(struct bench *b)
{
	size_t got = 0;

	for (unsigned i = 0; i < PAIRS; i++) {
		struct path_query q = { .numb_path = 1 };
		struct path_record rec;
		size_t n = 0;
		MUST(snap_lid(b->w->r, b->pair[i][0], &q.src) == E_OK);
		MUST(snap_lid(b->w->r, b->pair[i][1], &q.dst) == E_OK);
		MUST(path_query_run(b->w->r, &q, &rec, 1, &n) == E_OK);
		got += n;
	}
	return got;
}

static void put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++) {
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	}
}

static size_t answer(struct bench *b, const uint8_t *mad)
{
	static struct sa_reply reply;
	static const struct sa_limits limits = { .max_response = (size_t)4 << 30 };

	MUST(sa_answer(b->w->r, &limits, mad, 256, 1, &reply) == E_OK);
	MUST(reply.data[4] == 0 && reply.data[5] == 0);
	return reply.data[3] == 0x92 ? (reply.len - 56) / 64 : 1;
}

static size_t get_by_lid(struct bench *b)
{
	uint8_t mad[256] = { 1, 3, 2, 0x01, [17] = 0x35, [55] = 0x30 };

	for (unsigned i = 0; i < PAIRS; i++) {
		put(mad + 56 + 40, 2, b->pair[i][1]);
		put(mad + 56 + 42, 2, b->pair[i][0]);
		(void)answer(b, mad);
	}
	return PAIRS;
}

static size_t get_by_gid(struct bench *b)
{
	uint8_t mad[256] = { 1, 3, 2, 0x01, [17] = 0x35, [55] = 0x0c };

	for (unsigned i = 0; i < PAIRS; i++) {
		const struct graph *g = b->w->g;
		put(mad + 56 + 8, 8, FIXTURE_PREFIX);
		put(mad + 56 + 16, 8, g->ports[b->w->lids.owner[b->pair[i][1]]].guid);
		put(mad + 56 + 24, 8, FIXTURE_PREFIX);
		put(mad + 56 + 32, 8, g->ports[b->w->lids.owner[b->pair[i][0]]].guid);
		(void)answer(b, mad);
	}
	return PAIRS;
}

static size_t table_one_to_all(struct bench *b)
{
	uint8_t mad[256] = { 1, 3, 2, 0x12, [17] = 0x35, [55] = 0x20 };

	put(mad + 56 + 42, 2, b->pair[0][0]);
	return answer(b, mad);
}

/* --- services, to the disk -------------------------------------------------------- */

enum { SETS = 20000, UNDER_WAY = 4000 };

static struct {
	struct transport t;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t good;
} sink = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static int sink_send(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	MUST(m->data[4] == 0 && m->data[5] == 0);
	pthread_mutex_lock(&sink.lock);
	sink.good++;
	pthread_cond_signal(&sink.changed);
	pthread_mutex_unlock(&sink.lock);
	return E_OK;
}

static void sink_wake(struct transport *t)
{
	(void)t;
}

static void wait_for(size_t n)
{
	pthread_mutex_lock(&sink.lock);
	while (sink.good < n) {
		pthread_cond_wait(&sink.changed, &sink.lock);
	}
	pthread_mutex_unlock(&sink.lock);
}

static double wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t guid_of(const struct bench *b, uint32_t lid)
{
	return b->w->g->ports[b->w->lids.owner[lid]].guid;
}

/* Services per second, one round of SETS. */
static double set_services(const struct bench *b, struct sa_server *server, unsigned round)
{
	uint8_t mad[256] = { 1, 3, 2, 0x02, [17] = 0x31, [55] = 0x03 };
	struct mad_msg m = { .mgmt_class = 3, .len = 256, .data = mad };
	double start = wall();

	(void)round;
	sink.good = 0;
	for (size_t i = 0; i < SETS; i++) {
		m.addr = (struct mad_addr){ .lid = b->pair[i][0], .qpn = 1 };
		put(mad + 56, 8, i);
		put(mad + 64, 8, FIXTURE_PREFIX);
		put(mad + 72, 8, guid_of(b, b->pair[i][0]));
		wait_for(i < UNDER_WAY ? 0 : i - UNDER_WAY);
		sa_server_receive(server, &m, 1, true);
	}
	wait_for(SETS);
	return SETS / (wall() - start);
}

/* --- members of multicast groups -------------------------------------------------- */

enum { MEMBERS = 500000 };

/* Every host is in some groups; \a more groups with one member each are for the joins. */
static void fill_groups(const struct bench *b, struct state *state, uint32_t *ret_first,
                        uint32_t more)
{
	uint32_t groups = MEMBERS / b->n_hosts + 1;
	struct sa_store *st;

	MUST(store_new(state, 0, &st) == E_OK);
	for (uint32_t k = 0; k < groups + more; k++) {
		mcast_load_group(st, k);
		for (uint32_t i = 0; i < (k < groups ? b->n_hosts : 1); i++) {
			mcast_load_member(st, k, FIXTURE_PREFIX, guid_of(b, b->hosts[i]));
		}
	}
	mcast_load_done(st, state);
	*ret_first = groups;
}

static uint32_t first_group; /* of those to be joined, a round's worth each */

static uint32_t groups_of_a_round(const struct bench *b)
{
	return SETS / (b->n_hosts - 1) + 1;
}

/* Joins per second, one round of SETS: hosts in an order of no order. */
static double join_groups(const struct bench *b, struct sa_server *server, unsigned round)
{
	uint8_t mad[256] = { 1, 3, 2, 0x02, [17] = 0x38, [53] = 0x01, [55] = 0x03 };
	struct mad_msg m = { .mgmt_class = 3, .len = 256, .data = mad };
	uint32_t first = first_group + round * groups_of_a_round(b), n = b->n_hosts - 1;
	double start = wall();

	sink.good = 0;
	mad[56 + 48] = MC_FULL_MEMBER;
	for (size_t i = 0; i < SETS; i++) {
		uint32_t host = b->hosts[1 + (i * 7919) % n];

		m.addr = (struct mad_addr){ .lid = host, .qpn = 1 };
		mcast_load_mgid(first + (uint32_t)(i / n), mad + 56);
		mcast_load_gid(FIXTURE_PREFIX, guid_of(b, host), mad + 56 + 16);
		wait_for(i < UNDER_WAY ? 0 : i - UNDER_WAY);
		sa_server_receive(server, &m, 1, true);
	}
	wait_for(SETS);
	return SETS / (wall() - start);
}

/* --- both -------------------------------------------------------------------------- */

/* Median over RUNS of records set per second. */
static double sets(struct bench *b, const char *name, bool with_members,
                   double (*set)(const struct bench *, struct sa_server *, unsigned))
{
	static const struct transport_ops ops = { .name = "sink",
		                                    .send = sink_send,
		                                    .wake = sink_wake };
	const struct sa_limits limits = { .sa_key = 1 };
	const char *why = "", *top = getenv("SAGUARO_BENCH_STATE");
	struct sa_server *server;
	struct state *state;
	double rate[RUNS];
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/%s", top != NULL ? top : b->w->dir, name);
	sink.t.ops = &ops;
	MUST(state_open(dir, b->w->a, &why, &state) == E_OK);
	if (with_members) {
		fill_groups(b, state, &first_group, RUNS * groups_of_a_round(b));
	}
	MUST(sa_server_new(&sink.t, b->w->w, state, &limits, &server) == E_OK);
	for (unsigned i = 0; i < RUNS; i++) {
		rate[i] = set(b, server, i);
	}
	sa_server_free(server);
	state_close(state);
	qsort(rate, RUNS, sizeof(rate[0]), by_value);
	return rate[RUNS / 2];
}

/* --- policies --------------------------------------------------------------------- */

enum { RULES = 64, FABRICS = 16 };

static void publish(struct bench *b, struct policy_in *in)
{
	in->g = b->w->g;
	in->lanes = &b->w->route.out.lanes;
	in->free_sls = b->w->content.free_sls = 0xffff;
	in->qos = in->enforce = true;
	MUST(policy_compile(in, b->w->a, &b->w->content.policy) == E_OK);
	query_fixture_publish(b->w, PATH_MINIMAL);
}

/* Rules that differ in sources, classes and services. */
static void use_policy(struct bench *b)
{
	struct policy_in in = { .qos = true };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	fputs("qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n"
	      "qos-level\nname: a\nsl: 1\nmtu-limit: 4\nend-qos-level\n"
	      "end-qos-levels\nport-groups\nport-group\nname: cas\nnode-type: CA\n"
	      "end-port-group\nend-port-groups\nqos-match-rules\n",
	      f);
	for (unsigned i = 0; i < RULES; i++) {
		fprintf(f,
		        "qos-match-rule\nqos-level-name: a\nservice-id: %u, %u\n%s%send-qos-match-rule\n",
		        i + (i + 1 < RULES ? 1000 : 0), 2000 + i,
		        i % 2 ? "source: cas\n" : "", i % 4 ? "" : "qos-class: 7\n");
	}
	fputs("end-qos-match-rules\n", f);
	fclose(f);
	MUST(qos_policy_parse("bench", text, len, b->w->a, NULL, &in.policy) == E_OK);
	free(text);
	publish(b, &in);
}

static char *fabrics_text(size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	fputs("<C><Applications>", f);
	for (unsigned i = 0; i < FABRICS; i++) {
		fprintf(f,
		        "<Application><Name>a%u</Name><ServiceID>%u</ServiceID></Application>",
		        i, RULES - FABRICS + i);
	}
	fputs("</Applications><VirtualFabrics>", f);
	for (unsigned i = 0; i < FABRICS; i++) {
		fprintf(f,
		        "<VirtualFabric><Name>f%u</Name><Enable>1</Enable><PKey>%u</PKey><Member>All</Member><Application>a%u</Application></VirtualFabric>",
		        i, i + 1, i);
	}
	fputs("</VirtualFabrics></C>", f);
	fclose(f);
	return text;
}

static void use_fabrics(struct bench *b)
{
	struct policy_in in = { .qos = true };
	struct vf_sections s = { .n_fabrics = 1, .n_applications = 1 };
	struct xml_element *root;
	size_t len = 0;
	char *text = fabrics_text(&len);

	MUST(xml_parse("bench", text, len, b->w->a, NULL, &root) == E_OK);
	free(text);
	s.fabrics[0] = xml_child(root, "VirtualFabrics");
	s.applications[0] = xml_child(root, "Applications");
	MUST(virtual_fabrics_parse("bench", &s, device_groups_builtin(), b->w->a, NULL,
	                           &in.fabrics) == E_OK);
	publish(b, &in);
}

static size_t get_by_service(struct bench *b)
{
	/* ServiceID, SLID, DLID, QoSClass */
	uint8_t mad[256] = { 1, 3, 2, 0x01, [17] = 0x35, [54] = 0x40, [55] = 0x33 };

	put(mad + 56, 8, RULES - 1);
	put(mad + 56 + 52, 2, 7 << 4);
	for (unsigned i = 0; i < PAIRS; i++) {
		put(mad + 56 + 40, 2, b->pair[i][1]);
		put(mad + 56 + 42, 2, b->pair[i][0]);
		(void)answer(b, mad);
	}
	return PAIRS;
}

int main(int argc, char **argv)
{
	static char standard[] = "36";
	struct bench b = { .n_hosts = 0 };
	unsigned lmc = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	if (access("/dev/shm", W_OK) == 0) {
		setenv("TMPDIR", "/dev/shm", 0);
	}
	make(&b, argc > 1 ? argv[1] : standard, lmc);
	double query = median_ns(&b, query_pairs);
	double lid = median_ns(&b, get_by_lid);
	double gid = median_ns(&b, get_by_gid);
	double table = median_ns(&b, table_one_to_all);
	double services = sets(&b, "services", false, set_services);
	double joins = sets(&b, "members", true, join_groups);
	use_policy(&b);
	double policy = median_ns(&b, get_by_service);
	use_fabrics(&b);
	double fabric = median_ns(&b, get_by_service);
	printf("{\"bench\": \"sa\", \"fabric\": \"ft3 %s\", \"lmc\": %u, \"hosts\": %u, \"ns_per_record\": {\"query_single\": %.0f, \"table_one_to_all\": %.0f}, \"answers_per_second\": {\"get_by_lid\": %.0f, \"get_by_gid\": %.0f, \"get_by_policy\": %.0f, \"get_by_fabric\": %.0f, \"services_set\": %.0f, \"multicast_joins\": %.0f}}\n",
	       argc > 1 ? argv[1] : standard, lmc, b.n_hosts, query, table, 1e9 / lid,
	       1e9 / gid, 1e9 / policy, 1e9 / fabric, services, joins);
	query_fixture_free(b.w);
	return EXIT_SUCCESS;
}

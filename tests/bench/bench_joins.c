/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * bench_joins [RATE [SECONDS [MEMBERS [K]]]]: so many multicast joins and leaves per
 * second (default 20,000), of random hosts of the fat tree ft3 K (default 24: 3,456
 * hosts) and random groups, for some seconds (default 20), beside so many members
 * (default 500,000). The daemon is whole but for its sockets: sweep, answer thread,
 * state, snapshot, and a simulated fabric that has its multicast tables programmed.
 * Prints one JSON object:
 *
 *   answer_ms   from when a request was due until its answer, which follows its commit
 *   lag_ms      from the answer to a join until a foreign reader sees it, as the gateway
 * is tables_ms   from the answer until the host's switch sends it packets of the group
 *   cpu         processor seconds per second: of the thread of the sweep, of all threads
 *
 * The last two are of a join every 20 ms. The snapshot is in $TMPDIR or /dev/shm, the
 * durable state in $SAGUARO_BENCH_STATE or there, too.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "routing/engine_options.h"
#include "routing/multicast.h"
#include "routing/route.h"
#include "sa/server/server.h"
#include "sa/sm/sweep.h"
#include "tests/bench/mcast_load.h"
#include "tests/sa/sim/sim_tests.h"

enum {
	UNDER_WAY = 6000, /* less than the queue of the server: nobody is sent away */
	PROBE_MS = 20,
	POLL_NS = 2000000,
	SET = 0x02,
	DELETE = 0x15,
	PATIENCE_S = 60
};

/* A join that is watched. */
struct probe {
	uint32_t host;
	_Atomic double answered; /* 0: not yet */
	double seen, set;        /* 0: not yet */
};

static struct {
	struct arena *a;
	struct graph *g;
	struct sim *sim;
	struct config config;
	struct engine_options engines;
	struct option_sets sets;
	char dir[200], state_dir[300];
	struct state *state;
	struct snap_writer *snap;
	struct sa_server *server;
	struct sweep *sweep;
	struct transport t, *inner;
	uint32_t *host; /* ports of hosts, not of the one with the SM */
	uint32_t *lid;
	uint32_t n_hosts, n_groups;
	uint8_t *member; /* [n_groups * n_hosts] */
	uint64_t rng;
	double *due;        /* of each request */
	uint32_t *probe_of; /* + 1 */
	float *answer_ms;
	_Atomic uint64_t answers, errors;
	struct probe *probe;
	_Atomic uint32_t n_probes;
	_Atomic bool stop_fabric, stop_watching;
	_Atomic uint32_t n_seen, n_set, up;
	uint32_t mirrors;
	double fabric_cpu;
	struct sweep_status status;
} b;

static double clock_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void)
{
	return clock_s(CLOCK_MONOTONIC);
}

static double spent(void)
{
	return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

static uint32_t some(uint32_t n)
{
	b.rng = b.rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((b.rng >> 32) * n >> 32);
}

/* --- between the daemon and the fabric: answers stay here ------------------------------
 */

static int on_send(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	if (m->mgmt_class != UMAD_CLASS_SUBN_ADM) {
		return b.inner->ops->send(b.inner, m);
	}
	uint32_t i = (uint32_t)field_get(m->data, 96, 32);
	double at = now();
	b.errors += field_get(m->data, MAD_STATUS) != 0;
	b.answer_ms[i] = (float)((at - b.due[i]) * 1e3);
	if (b.probe_of[i] != 0) {
		b.probe[b.probe_of[i] - 1].answered = at;
	}
	b.answers++;
	return E_OK;
}

static int on_recv(struct transport *t, uint64_t deadline, struct mad_msg *ret_msg)
{
	(void)t;
	return b.inner->ops->recv(b.inner, deadline, ret_msg);
}

static uint64_t on_now(struct transport *t)
{
	(void)t;
	return b.inner->ops->now_ms(b.inner);
}

static void on_wake(struct transport *t)
{
	(void)t;
	b.inner->ops->wake(b.inner);
}

static int on_set_issm(struct transport *t, bool on)
{
	(void)t;
	return b.inner->ops->set_issm(b.inner, on);
}

static const struct transport_ops ops = { .name = "bench",
	                                  .send = on_send,
	                                  .recv = on_recv,
	                                  .wake = on_wake,
	                                  .now_ms = on_now,
	                                  .set_issm = on_set_issm };

/* --- the daemon ------------------------------------------------------------------------
 */

static int64_t wall_clock(void)
{
	return (int64_t)time(NULL);
}

static uint64_t guid_of(uint32_t host)
{
	return b.g->ports[b.host[host]].guid;
}

static void find_hosts(void)
{
	const struct graph *g = b.g;

	b.host = arena_array(b.a, g->n_end_ports, sizeof(*b.host));
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		if (g->ports[port].num != 0 &&
		    g->ports[port].guid != b.t.local.port_guid) {
			b.host[b.n_hosts++] = port;
		}
	}
}

/* Half of all hosts are in each group; one group more is for those that are watched. */
static void fill_groups(uint32_t members)
{
	struct sa_store *st;

	b.n_groups = 2 * members / b.n_hosts;
	b.member = calloc((size_t)b.n_groups * b.n_hosts, 1);
	MUST(b.member != NULL && store_new(b.state, 0, &st) == E_OK);
	for (uint32_t k = 0; k <= b.n_groups; k++) {
		mcast_load_group(st, k);
		mcast_load_member(st, k, b.config.subnet_prefix, b.t.local.port_guid);
		for (uint32_t i = 0; i < b.n_hosts && k < b.n_groups; i++) {
			if (some(2) != 0) {
				b.member[(size_t)k * b.n_hosts + i] = 1;
				mcast_load_member(st, k, b.config.subnet_prefix,
				                  guid_of(i));
			}
		}
	}
	mcast_load_done(st, b.state);
}

static void read_options(struct sweep_deps *d)
{
	struct why why = { "" };

	MUST(option_sets_add(&b.sets, config_rows, &b.config) == E_OK);
	MUST(option_set_defaults(&b.sets, b.a) == E_OK);
	MUST(engine_options_init(&b.engines, b.a) == E_OK);
	MUST(option_set_defaults(&b.engines.sets, b.a) == E_OK);
	MUST(route_list_parse(NULL, &d->list, &why) == E_OK);
	d->config = &b.config;
	d->engines = &b.engines;
}

static void make_fabric(char *k)
{
	const struct sim_options o = { .seed = 1 };
	const struct topogen_opts none = { .fail = 0 };
	struct diags *d = arena_alloc(b.a, sizeof(*d));

	diags_init(d, b.a);
	MUST(topogen("ft3", 1, &k, &none, b.a, d, &b.g) == E_OK);
	MUST(sim_new(b.g, &o, false, &b.sim) == E_OK);
	b.inner = sim_transport(b.sim);
	b.t = (struct transport){ &ops, b.inner->local };
	find_hosts();
}

static void make_folders(void)
{
	const char *top = getenv("TMPDIR"), *state = getenv("SAGUARO_BENCH_STATE");

	snprintf(b.dir, sizeof(b.dir), "%s/saguaro-joins-XXXXXX", top ? top : "/dev/shm");
	MUST(mkdtemp(b.dir) != NULL);
	snprintf(b.state_dir, sizeof(b.state_dir), "%s/joins-XXXXXX",
	         state ? state : b.dir);
	MUST(mkdtemp(b.state_dir) != NULL);
}

static void start(char *k, uint32_t members)
{
	struct sweep_deps d = { .transport = &b.t,
		                .wall_clock = wall_clock,
		                .cpu_clock = now,
		                .thread_clock = spent };
	const struct sa_limits limits = { .sa_key = 1,
		                          .records_of_a_port = STORE_OWNED_MAX };
	const char *why = "";

	b.a = arena_new();
	b.rng = 1;
	make_folders();
	read_options(&d);
	make_fabric(k);
	const struct snap_options snap = { .grace_ms = b.config.snapshot_grace };
	MUST(state_open(b.state_dir, b.a, &why, &b.state) == E_OK);
	fill_groups(members);
	MUST(snap_writer_open(b.dir, &snap, b.a, &why, &b.snap) == E_OK);
	MUST(sa_server_new(&b.t, b.snap, b.state, &limits, &b.server) == E_OK);
	d.state = b.state;
	d.snap = b.snap;
	d.sa = b.server;
	MUST(sweep_new(&d, &b.sweep) == E_OK);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void stop(void)
{
	sweep_free(b.sweep);
	sa_server_free(b.server);
	snap_writer_close(b.snap);
	state_close(b.state);
	sim_free(b.sim);
	nftw(b.state_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	nftw(b.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	arena_free(b.a);
	free(b.answer_ms);
	free(b.due);
	free(b.probe_of);
	free(b.probe);
	free(b.member);
}

static void find_lids(void)
{
	struct snap_reader *r;
	struct snap_end end;

	b.lid = arena_array(b.a, b.n_hosts, sizeof(*b.lid));
	MUST(snap_reader_local(b.snap, &r) == E_OK && snap_pin(r) == E_OK);
	for (uint32_t i = 0; i < b.n_hosts; i++) {
		MUST(snap_port_guid(r, guid_of(i), &end) == E_OK);
		b.lid[i] = end.base_lid;
	}
	snap_reader_close(r);
}

/* Does the switch of a host send it packets of the group that is watched? */
static bool is_set(uint32_t host)
{
	const struct graph *g = b.g;
	const struct port *to = &g->ports[g->ports[b.host[host]].peer];
	uint32_t block = b.n_groups / MFT_BLOCK_MLIDS;
	uint32_t position = to->num / MFT_POSITION_PORTS;
	uint8_t data[64];

	return sim_peek(b.sim, g->nodes[to->node].guid, UMAD_SM_ATTR_MCAST_FT,
	                position << 28 | block, data) == E_OK &&
	       (field_get(data, b.n_groups % MFT_BLOCK_MLIDS * 16, 16) >>
	                to->num % MFT_POSITION_PORTS &
	        1) != 0;
}

static void *fabric(void *arg)
{
	double cpu = 0;

	while (!b.stop_fabric) {
		MUST(sweep_run_once(b.sweep) == E_OK);
		b.up = sweep_status(b.sweep)->up;
		for (; b.n_set < b.n_probes; b.n_set++) {
			struct probe *p = &b.probe[b.n_set];
			cpu = b.n_set == 0 ? spent() : cpu;
			if (p->answered == 0 || !is_set(p->host)) {
				break;
			}
			p->set = now();
		}
	}
	b.fabric_cpu = spent() - cpu;
	b.status = *sweep_status(b.sweep);
	return arg;
}

/* --- what others see -------------------------------------------------------------------
 */

static void member_key(uint32_t group, uint32_t host, uint8_t key[MC_MEMBER_KEY_BYTES])
{
	mcast_load_mgid(group, key);
	mcast_load_gid(b.config.subnet_prefix, guid_of(host), key + MGID_BYTES);
}

static bool is_there(struct snap_reader *r, uint32_t host)
{
	uint8_t key[MC_MEMBER_KEY_BYTES];
	struct client_row row;

	member_key(b.n_groups, host, key);
	return snap_client_row_from(r, RECORDS_MEMBERS, key, sizeof(key), &row) == E_OK &&
	       row.key_len == sizeof(key) && memcmp(row.key, key, sizeof(key)) == 0;
}

static void look(struct snap_reader *r, uint64_t *version)
{
	if (snap_pin(r) != E_OK ||
	    snap_meta(r)->version[SNAP_MEMBERS] == *version) {
		return;
	}
	uint32_t seen = b.n_seen;
	while (seen < b.n_probes && b.probe[seen].answered != 0 &&
	       is_there(r, b.probe[seen].host)) {
		b.probe[seen++].seen = now();
	}
	if (snap_check(r) == E_OK) {
		*version = snap_meta(r)->version[SNAP_MEMBERS];
		b.n_seen = seen;
		b.mirrors++;
	}
}

static void *watch(void *arg)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	struct snap_reader *r;
	const char *why = "";
	uint64_t version = 0;

	while (snap_reader_open(b.dir, b.a, &why, &r) != E_OK) {
		nanosleep(&pause, NULL);
	}
	while (!b.stop_watching) {
		look(r, &version);
		nanosleep(&pause, NULL);
	}
	snap_reader_close(r);
	return arg;
}

/* --- the load --------------------------------------------------------------------------
 */

static void ask(uint32_t i, uint32_t group, uint32_t host, bool leave)
{
	uint8_t mad[MAD_BYTES] = { 1, 3, 2, leave ? DELETE : SET };
	struct mad_msg m = { .mgmt_class = 3, .len = sizeof(mad), .data = mad };

	field_set(mad, 96, 32, i);
	field_set(mad, MAD_ATTR_ID, 0x38);
	field_set(mad, 48 * 8, 64, 1 << MC_MGID | 1 << MC_PORT_GID | 1 << MC_JOIN_STATE);
	member_key(group, host, mad + 56);
	mcast_put(mad + 56, MC_JOIN_STATE, MC_FULL_MEMBER);
	m.addr = (struct mad_addr){ .lid = b.lid[host], .qpn = 1 };
	sa_server_receive(b.server, &m, 1, true);
}

static void ask_some(uint32_t i)
{
	uint32_t group = some(b.n_groups), host = some(b.n_hosts);
	uint8_t *member = &b.member[(size_t)group * b.n_hosts + host];

	ask(i, group, host, *member != 0);
	*member = !*member;
}

static void ask_probe(uint32_t i)
{
	uint32_t n = b.n_probes;

	b.probe[n].host = n;
	b.probe_of[i] = n + 1;
	b.n_probes = n + 1;
	ask(i, b.n_groups, n, false);
}

static double load(double rate, uint32_t n)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	double begin = now(), next_probe = begin;

	for (uint32_t i = 0; i < n;) {
		double at = now();
		b.due[i] = begin + i / rate;
		if (b.due[i] > at || i - b.answers >= UNDER_WAY) {
			nanosleep(&pause, NULL);
			continue;
		}
		if (at >= next_probe && b.n_probes < b.n_hosts) {
			ask_probe(i++);
			next_probe += PROBE_MS * 1e-3;
		} else {
			ask_some(i++);
		}
	}
	while (b.answers < n) {
		nanosleep(&pause, NULL);
	}
	return now() - begin;
}

static void wait_for(const _Atomic uint32_t *count, uint32_t n)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	double end = now() + PATIENCE_S;

	while (*count < n && now() < end) {
		nanosleep(&pause, NULL);
	}
}

/* --- figures ---------------------------------------------------------------------------
 */

static int by_value(const void *x, const void *y)
{
	float p = *(const float *)x, q = *(const float *)y;

	return p < q ? -1 : p > q;
}

static void print(const char *name, float *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	printf(", \"%s\": {\"n\": %zu", name, n);
	if (n > 0) {
		printf(", \"p50\": %.1f, \"p99\": %.1f, \"max\": %.1f", v[n / 2],
		       v[(size_t)((double)(n - 1) * .99)], v[n - 1]);
	}
	printf("}");
}

static void print_probes(void)
{
	float *ms = calloc(b.n_probes + 1, sizeof(*ms));

	MUST(ms != NULL);
	for (uint32_t i = 0; i < b.n_seen; i++) {
		ms[i] = (float)((b.probe[i].seen - b.probe[i].answered) * 1e3);
	}
	print("lag_ms", ms, b.n_seen);
	for (uint32_t i = 0; i < b.n_set; i++) {
		ms[i] = (float)((b.probe[i].set - b.probe[i].answered) * 1e3);
	}
	print("tables_ms", ms, b.n_set);
	free(ms);
}

static double snapshot_mib(void)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "%s/snapshot/data.mdb", b.dir);
	return stat(path, &st) == 0 ? (double)st.st_blocks * 512 / (1 << 20) : 0;
}

int main(int argc, char **argv)
{
	static char standard[] = "24";
	double rate = argc > 1 ? atof(argv[1]) : 20000;
	double seconds = argc > 2 ? atof(argv[2]) : 20;
	uint32_t members = argc > 3 ? (uint32_t)atol(argv[3]) : 500000;
	uint32_t n = (uint32_t)(rate * seconds);
	pthread_t fabric_thread, watcher;

	start(argc > 4 ? argv[4] : standard, members);
	b.answer_ms = calloc(n, sizeof(*b.answer_ms));
	b.due = calloc(n, sizeof(*b.due));
	b.probe_of = calloc(n, sizeof(*b.probe_of));
	b.probe = calloc(b.n_hosts, sizeof(*b.probe));
	MUST(b.answer_ms && b.due && b.probe_of && b.probe);
	pthread_create(&fabric_thread, NULL, fabric, NULL);
	pthread_create(&watcher, NULL, watch, NULL);
	wait_for(&b.up, 1);
	find_lids();
	ask_probe(0);
	wait_for(&b.n_seen, 1);
	wait_for(&b.n_set, 1);
	MUST(b.n_seen == 1 && b.n_set == 1);
	b.answers = b.probe_of[0] = 0;
	b.mirrors = 0;
	double cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	double took = load(rate, n);
	cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wait_for(&b.n_seen, b.n_probes);
	wait_for(&b.n_set, b.n_probes);
	b.stop_fabric = b.stop_watching = true;
	b.inner->ops->wake(b.inner);
	pthread_join(fabric_thread, NULL);
	pthread_join(watcher, NULL);
	printf("{\"bench\": \"joins\", \"fabric\": \"ft3 %s\", \"hosts\": %u, \"members\": %u, \"groups\": %u, \"asked_per_second\": %.0f, \"per_second\": %.0f, \"errors\": %llu",
	       argc > 4 ? argv[4] : standard, b.n_hosts + 1, members, b.n_groups + 1,
	       rate, n / took, (unsigned long long)b.errors);
	print("answer_ms", b.answer_ms, n);
	print_probes();
	printf(", \"mirrors\": %u, \"mft_sets\": %llu, \"light_sweeps\": %u, \"snapshot_mib\": %.0f, \"cpu\": {\"sweep\": %.2f, \"all\": %.2f}}\n",
	       b.mirrors, (unsigned long long)b.status.mft_sets, b.status.light_sweeps,
	       snapshot_mib(), b.fabric_cpu / took, cpu / took);
	stop();
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The memory of nodes with many rows: what a sweep pays for it, and mirroring and looking up. JSON
 * on standard output; milliseconds, 5 runs, median, least and most. The folders lie in $TMPDIR or
 * /dev/shm.
 *
 *	bench_known [ROWS [FABRIC]]       figures; ROWS end ports that are gone (100000), FABRIC (ft3 36) is there
 *	bench_known ROWS --fill FOLDER    only writes ROWS gone end ports into a state folder, for known.sh
 */
#include <time.h>

#include "db/lmdb/known.h"
#include "db/snapshot/reader.h"
#include "db/state/state.h"
#include "sa/sm/sm.h"
#include "tests/lib/db_util.h"

enum { RUNS = 5, FIRST_GUID = 0x900000 };

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print(const char *name, double v[RUNS], const char *end)
{
	qsort(v, RUNS, sizeof(*v), compare_double);
	printf("  \"%s\": {\"median\": %.3f, \"least\": %.3f, \"most\": %.3f}%s\n", name,
	       v[RUNS / 2], v[0], v[RUNS - 1], end);
}

static void must(int ret, const char *what)
{
	if (ret != E_OK) {
		fprintf(stderr, "%s: %s\n", what, err_text(ret));
		exit(1);
	}
}

/* --- rows ------------------------------------------------------------------------------- */

/* A host that is gone, of 40 on each switch; its name and its place are as long as real ones are. */
static struct known_node gone_host(uint64_t i)
{
	struct known_node n = { .node_guid = FIRST_GUID + i,
		                .port_guid = FIRST_GUID + i + (UINT64_C(1) << 32),
		                .switch_guid = 0x500000 + i / 40,
		                .first_s = 1700000000,
		                .gone_s = 1760000000 + (int64_t)i,
		                .lid = (uint32_t)(i % 40000 + 1),
		                .port = 1,
		                .switch_port = (uint8_t)(i % 40 + 1),
		                .type = NODE_CA,
		                .cause = KNOWN_SWITCH_GONE };

	snprintf(n.name, sizeof(n.name), "gone%06u mlx5_0", (unsigned)i);
	snprintf(n.switch_name, sizeof(n.switch_name), "old-leaf-%05u",
	         (unsigned)(i / 40));
	return n;
}

static void on_disk(void *ctx, int ret)
{
	(void)ctx;
	must(ret, "commit");
}

static void fill(struct state *s, uint64_t n_rows)
{
	struct state_batch *b = NULL;

	for (uint64_t i = 0; i < n_rows; i++) {
		struct known_node n = gone_host(i);
		uint8_t key[KNOWN_KEY_BYTES], row[KNOWN_ROW_MAX];

		if (b == NULL) {
			must(state_batch_new(&b), "batch");
		}
		known_key(n.node_guid, n.port, key);
		must(state_batch_put(b, RECORDS_KNOWN, key, sizeof(key), row,
		                     known_encode(&n, row)),
		     "row");
		if (i % 10000 == 9999 || i + 1 == n_rows) {
			state_batch_commit(s, b, on_disk, NULL);
			b = NULL;
		}
	}
	state_flush(s);
}

static struct state *open_state(const char *dir, struct arena *a)
{
	const char *why = "";
	struct state *s;
	int ret = state_open(dir, a, &why, &s);

	if (ret != E_OK) {
		fprintf(stderr, "%s\n", why);
		exit(1);
	}
	return s;
}

/* --- what a sweep does ------------------------------------------------------------------- */

/* known_note() after a sweep that found one more name, or what it had found before. */
static double note(struct sm *sm, struct job *j, bool changes)
{
	struct graph *g = j->disc.g;
	struct node *n = &g->nodes[g->ports[g->end_ports[g->n_end_ports - 1]].node];

	if (changes) {
		n->description = strcmp(n->description, "one") == 0 ? "other" : "one";
	}
	double t = now_ms();
	known_note(sm, j);
	t = now_ms() - t;
	state_flush(sm->d.state);
	return t;
}

struct rows {
	struct client_row *row;
	uint8_t (*key)[KNOWN_KEY_BYTES], (*value)[KNOWN_ROW_MAX];
	size_t n;
};

static int take(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                size_t len)
{
	struct rows *r = ctx;

	memcpy(r->key[r->n], key, key_len);
	memcpy(r->value[r->n], value, len);
	r->row[r->n] = (struct client_row){ r->key[r->n], r->value[r->n], RECORDS_KNOWN,
		                            KNOWN_KEY_BYTES, (uint16_t)len };
	r->n++;
	return E_OK;
}

static double file_mib(const char *dir, const char *name)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return stat(path, &st) == 0 ? (double)st.st_blocks * 512 / (1 << 20) : 0;
}

/* --- what a reader does ------------------------------------------------------------------ */

static double look_up(struct snap_reader *r, const char *text, bool is_there)
{
	struct known_node n;
	double t = now_ms();
	int ret = snap_known_gone(r, text, &n);

	t = now_ms() - t;
	if ((ret == E_OK) != is_there) {
		fprintf(stderr, "%s: %s\n", text, err_text(ret));
		exit(1);
	}
	return t;
}

static double pass(struct snap_reader *r)
{
	struct known_node n;
	double t = now_ms();
	int ret = snap_known_from(r, 0, 0, &n);

	while (ret == E_OK) {
		ret = snap_known_next(r, &n);
	}
	return now_ms() - t;
}

int main(int argc, char **argv)
{
	uint64_t n_rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	const char *spec = argc > 2 ? argv[2] : "ft3 36";
	struct arena *a = arena_new();
	char dir[256], name[32];
	struct fabric f;
	double first[RUNS], one[RUNS], same[RUNS], all[RUNS], last[RUNS], missing[RUNS],
		passes[RUNS];
	struct config config = { .known_nodes = 1000000 };
	struct snap_options o = { .grace_ms = 10000 };
	struct snap_published done;
	struct snap_writer *w;
	struct snap_reader *r;
	const char *why = "";

	setenv("TMPDIR", "/dev/shm", 0);
	if (argc > 3 && strcmp(argv[2], "--fill") == 0) {
		struct state *s = open_state(argv[3], a);

		fill(s, n_rows);
		state_close(s);
		arena_free(a);
		return 0;
	}
	make_tmp(dir);
	fabric_init(&f, spec, 0);
	struct state *s = open_state(dir, a);
	fill(s, n_rows);
	struct sm sm = { .d = { .state = s, .config = &config } };
	struct job j = { .disc = { .g = f.g }, .program = { .lids = &f.lids } };
	for (unsigned i = 0; i < RUNS; i++) {
		known_done(&sm.known);
		first[i] = note(&sm, &j,
		                false); /* the first of all writes the fabric, too */
	}
	for (unsigned i = 0; i < RUNS; i++) {
		one[i] = note(&sm, &j, true);
		same[i] = note(&sm, &j, false);
	}
	size_t room = n_rows + f.g->n_end_ports + f.g->n_links + 1;
	struct rows rows = { calloc(room, sizeof(*rows.row)),
		             calloc(room, sizeof(*rows.key)),
		             calloc(room, sizeof(*rows.value)), 0 };
	must(state_records(s, RECORDS_KNOWN, take, &rows), "rows");
	if (snap_writer_open(dir, &o, a, &why, &w) != E_OK) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	struct snap_content c = fabric_content(&f, 1);
	must(snap_publish(w, &c, 1, &done), "publish");
	double without = file_mib(dir, "snapshot/data.mdb");
	for (unsigned i = 0; i < RUNS; i++) {
		double t = now_ms();

		must(snap_mirror(w, rows.row, rows.n, true, 2, &done), "mirror");
		all[i] = now_ms() - t;
	}
	must(snap_reader_local(w, &r), "reader");
	must(snap_pin(r), "pin");
	snprintf(name, sizeof(name), "gone%06u mlx5_0", (unsigned)n_rows - 1);
	for (unsigned i = 0; i < RUNS; i++) {
		last[i] = look_up(r, name, true);
		missing[i] = look_up(r, "nobody", false);
		passes[i] = pass(r);
	}
	printf("{\n  \"gone\": %llu, \"fabric\": \"%s\", \"rows\": %zu,\n",
	       (unsigned long long)n_rows, spec, rows.n);
	print("read_and_note_ms", first, ",");
	print("note_one_change_ms", one, ",");
	print("note_no_change_ms", same, ",");
	print("mirror_all_ms", all, ",");
	print("look_up_ms", last, ",");
	print("look_up_nobody_ms", missing, ",");
	print("pass_over_all_ms", passes, ",");
	printf("  \"list_mib\": %.1f, \"state_mib\": %.1f, \"snapshot_mib\": {\"without\": %.1f, \"with\": %.1f}\n}\n",
	       (double)sm.known.n * sizeof(struct known_node) / (1 << 20),
	       file_mib(dir, "data.mdb"), without, file_mib(dir, "snapshot/data.mdb"));
	snap_reader_close(r);
	snap_writer_close(w);
	known_done(&sm.known);
	state_close(s);
	fabric_done(&f);
	arena_free(a);
	remove_tree(dir);
	return 0;
}

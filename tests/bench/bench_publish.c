/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Publishing and reading a snapshot: first publish, the same again, a small change (one
 * cable gone), everything new, and the two hot look-ups. JSON on standard output; 5 runs,
 * median, least and most. The folder lies in $TMPDIR or /dev/shm, as tmpfs does in use.
 */
#include <lmdb.h>
#include <time.h>

#include "db/snapshot/reader.h"
#include "tests/lib/db_util.h"

enum { RUNS = 5, LOOKUPS = 4000000 };

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void print(const char *name, double *v, double scale, const char *end)
{
	qsort(v, RUNS, sizeof(*v), compare_double);
	printf("  \"%s\": {\"median\": %.3f, \"least\": %.3f, \"most\": %.3f}%s\n", name,
	       v[RUNS / 2] * scale, v[0] * scale, v[RUNS - 1] * scale, end);
}

static void must(int ret, const char *what)
{
	if (ret != E_OK) {
		fprintf(stderr, "%s: %s\n", what, err_text(ret));
		exit(1);
	}
}

struct bench {
	char dir[256];
	struct snap_writer *w;
	uint64_t epoch, clock_ms;
	struct snap_published last;
};

static double publish(struct bench *b, const struct fabric *f,
                      const struct snap_attr *attrs, size_t n_attrs)
{
	struct snap_content c = fabric_content(f, ++b->epoch);
	c.attrs = attrs;
	c.n_attrs = n_attrs;
	b->clock_ms += 100000;
	snap_release_old(b->w, b->clock_ms);
	double t = now();
	must(snap_publish(b->w, &c, b->clock_ms, &b->last), "publish");
	return now() - t;
}

static void start(struct bench *b)
{
	struct snap_options o = { .grace_ms = 10000 };
	struct arena *a = arena_new();
	const char *why = "";
	make_tmp(b->dir);
	if (snap_writer_open(b->dir, &o, a, &why, &b->w) != E_OK) {
		fprintf(stderr, "%s\n", why);
		exit(1);
	}
	arena_free(a);
}

static void stop(struct bench *b)
{
	snap_writer_close(b->w);
	remove_tree(b->dir);
}

static double file_mib(const struct bench *b)
{
	char path[300];
	struct stat st;
	snprintf(path, sizeof(path), "%s/snapshot/data.mdb", b->dir);
	return stat(path, &st) == 0 ? (double)st.st_blocks * 512 / (1 << 20) : 0;
}

/* Seconds per look-up of random pairs: both end ports, then their path. */
static void lookups(struct bench *b, double *ret_lid, double *ret_path)
{
	struct snap_reader *r;
	struct snap_end *ends = calloc(65536, sizeof(*ends));
	uint32_t x = 12345, sum = 0;
	must(snap_reader_local(b->w, &r), "reader");
	must(snap_pin(r), "pin");
	uint32_t top = snap_meta(r)->top_lid;
	for (unsigned warm = 0; warm < 2; warm++) {
		double t = now();
		for (unsigned i = 0; i < LOOKUPS; i++) {
			x = x * 1664525 + 1013904223;
			struct snap_end *e = &ends[i & 65535];
			sum += snap_lid(r, 1 + (uint32_t)((uint64_t)x * top >> 32), e) ==
			       E_OK;
		}
		*ret_lid = (now() - t) / LOOKUPS;
		t = now();
		for (unsigned i = 0; i < LOOKUPS; i++) {
			struct snap_path p;
			x = x * 1664525 + 1013904223;
			sum += snap_path(r, &ends[i & 65535],
			                 1 + (uint32_t)((uint64_t)x * top >> 32),
			                 &p) == E_OK;
		}
		*ret_path = (now() - t) / LOOKUPS;
	}
	if (sum == 0) {
		exit(1);
	}
	free(ends);
	snap_reader_close(r);
}

int main(int argc, char **argv)
{
	const char *spec = argc > 1 ? argv[1] : "ft3 36";
	struct fabric full, cut;
	size_t n_attrs, n_cut, n_other;
	double first[RUNS], same[RUNS], small[RUNS], all[RUNS], lid[RUNS], path[RUNS];
	struct bench b = { .epoch = 0 };
	setenv("TMPDIR", "/dev/shm", 0);
	fabric_init(&full, spec, 0);
	fabric_cut(&cut, &full, 1, 0);
	struct snap_attr *attrs = fabric_attrs(&full, 1, &n_attrs);
	struct snap_attr *attrs_cut = fabric_attrs(&cut, 1, &n_cut);
	struct snap_attr *attrs_other = fabric_attrs(&full, 2, &n_other);
	for (unsigned i = 0; i < RUNS; i++) {
		start(&b);
		first[i] = publish(&b, &full, attrs, n_attrs);
		if (i + 1 < RUNS) {
			stop(&b);
		}
	}
	struct snap_published p_first = b.last, p_small = { 0 }, p_all = { 0 };
	double live = file_mib(&b);
	for (unsigned i = 0; i < RUNS; i++) {
		same[i] = publish(&b, &full, attrs, n_attrs);
		small[i] = publish(&b, &cut, attrs_cut, n_cut);
		p_small = b.last;
		publish(&b, &full, attrs, n_attrs);
	}
	/* every byte of the two large tables turned over, as after new LIDs everywhere */
	for (unsigned i = 0; i < RUNS; i++) {
		size_t n = (size_t)full.route.paths.n_sources * full.route.paths.n_lids;
		struct lft *t = &full.route.out.lft;
		for (size_t k = 0; k < n; k++) {
			full.route.paths.rows[k].lane ^= 1;
		}
		for (size_t k = 0; k < (size_t)t->n_switches * t->stride; k++) {
			t->rows[k] ^= 1;
		}
		all[i] = publish(&b, &full, i & 1 ? attrs : attrs_other, n_attrs);
		p_all = b.last;
	}
	for (unsigned i = 0; i < RUNS; i++) {
		lookups(&b, &lid[i], &path[i]);
	}
	printf("{\n  \"fabric\": \"%s\", \"lids\": %u, \"attrs\": %zu, \"lmdb\": \"%s\",\n",
	       spec, full.lids.count, n_attrs, mdb_version(NULL, NULL, NULL));
	print("publish_first_ms", first, 1e3, ",");
	print("publish_same_ms", same, 1e3, ",");
	print("publish_small_ms", small, 1e3, ",");
	print("publish_all_ms", all, 1e3, ",");
	print("snap_lid_ns", lid, 1e9, ",");
	print("snap_path_ns", path, 1e9, ",");
	printf("  \"first\": {\"rows\": %u, \"bytes\": %llu}, \"small\": {\"rows\": %u, \"bytes\": %llu}, \"all\": {\"rows\": %u, \"bytes\": %llu},\n",
	       p_first.rows, (unsigned long long)p_first.bytes, p_small.rows,
	       (unsigned long long)p_small.bytes, p_all.rows,
	       (unsigned long long)p_all.bytes);
	printf("  \"file_mib\": {\"first\": %.1f, \"settled\": %.1f}\n}\n", live,
	       file_mib(&b));
	stop(&b);
	fabric_done(&full);
	fabric_done(&cut);
	return 0;
}

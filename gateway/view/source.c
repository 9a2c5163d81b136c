/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * All threads share the files, which a lock guards. A thread takes the lock about once a
 * second to check whether the files were replaced, when another thread has found that
 * they were, while there is no snapshot, and when it reads stats. An answer needs no lock:
 * each thread has its own reader of the snapshot, and the generation of the files and the
 * last heartbeat are one atomic number each.
 */
#include "gateway/view/source.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/ready.h"

enum { WHY_BYTES = 512 };

/* One environment of the two: the file it was opened from, and when that was last looked
 * at. */
struct opened {
	char path[4096];
	dev_t dev;
	ino_t ino;
	uint64_t looked_ms; /* 0: never */
};

struct files {
	pthread_mutex_t lock; /* all but the atomics */
	unsigned refs;
	char *dir;
	struct opened snap_file, stats_file;
	struct snap_reader
		*snap;       /* never pinned: readers of threads are cloned from it */
	_Atomic unsigned generation; /* counts openings of the snapshot */
	int snap_err;                /* why snap is NULL */
	char why[WHY_BYTES];
	struct stats_reader *stats;
	int stats_err;                      /* why stats is NULL */
	_Atomic uint64_t heartbeat_ms;      /* as last seen; 0: none */
	_Atomic uint64_t heartbeat_seen_ms; /* when that was; 0: never */
	_Atomic bool looking;               /* a thread is at it */
};

struct source {
	struct files *files;
	struct snap_reader *snap;
	unsigned generation; /* of the files that snap is on */
	uint64_t looked_ms;  /* when the files were last asked; 0: never */
	int ret;             /* why snap is NULL */
	char why[WHY_BYTES];
};

int64_t source_wall_clock(void)
{
	return time(NULL);
}

/* Is it time to look again? */
static bool is_due(uint64_t *looked_ms, uint64_t now_ms)
{
	if (*looked_ms != 0 && now_ms - *looked_ms < SOURCE_RETRY_MS) {
		return false;
	}
	*looked_ms = now_ms;
	return true;
}

/* --- files ---------------------------------------------------------------------------
 */

static int set_path(struct opened *o, const char *dir, const char *environment)
{
	int len = snprintf(o->path, sizeof(o->path), "%s/%s/data.mdb", dir, environment);
	return len >= 0 && (size_t)len < sizeof(o->path) ? E_OK : -ENAMETOOLONG;
}

static void files_unref(struct files *f)
{
	pthread_mutex_lock(&f->lock);
	bool last = --f->refs == 0;
	pthread_mutex_unlock(&f->lock);
	if (!last) {
		return;
	}
	snap_reader_close(f->snap);
	stats_reader_close(f->stats);
	pthread_mutex_destroy(&f->lock);
	free(f->dir);
	free(f);
}

static struct files *files_new(const char *dir)
{
	struct files *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		return NULL;
	}
	pthread_mutex_init(&f->lock, NULL);
	f->refs = 1;
	f->snap_err = E_NOTREADY;
	f->dir = strdup(dir);
	if (f->dir == NULL || set_path(&f->snap_file, dir, "snapshot") != E_OK ||
	    set_path(&f->stats_file, dir, "stats") != E_OK) {
		files_unref(f);
		return NULL;
	}
	return f;
}

/* Is another file in the place of the one opened? While it is gone, the old one serves
 * on.
 */
static bool was_replaced(const struct opened *o)
{
	struct stat st;
	return stat(o->path, &st) == 0 && (st.st_dev != o->dev || st.st_ino != o->ino);
}

/* Before opening, so that a file put there since is noticed the next time. */
static void remember(struct opened *o)
{
	struct stat st;
	if (stat(o->path, &st) == 0) {
		o->dev = st.st_dev;
		o->ino = st.st_ino;
	}
}

static void open_snap(struct files *f)
{
	const char *why = NULL;
	struct arena *a = arena_new();

	if (a == NULL) {
		f->snap_err = -ENOMEM;
		return;
	}
	remember(&f->snap_file);
	f->snap_err = snap_reader_open(f->dir, a, &why, &f->snap);
	f->generation += f->snap_err == E_OK;
	snprintf(f->why, sizeof(f->why), "%s",
	         why != NULL && why[0] != '\0' ? why : err_text(f->snap_err));
	arena_free(a);
}

/* Opens the file that is there now. The lock is held. */
static void follow_snap(struct files *f, uint64_t now_ms)
{
	if (!is_due(&f->snap_file.looked_ms, now_ms)) {
		return;
	}
	if (f->snap != NULL && was_replaced(&f->snap_file)) {
		snap_reader_close(f->snap); /* threads close theirs at their next check */
		f->snap = NULL;
	}
	if (f->snap == NULL) {
		open_snap(f);
	}
}

static void follow_stats(struct files *f, uint64_t now_ms)
{
	if (!is_due(&f->stats_file.looked_ms, now_ms)) {
		return;
	}
	if (f->stats != NULL && was_replaced(&f->stats_file)) {
		stats_reader_close(f->stats);
		f->stats = NULL;
	}
	if (f->stats == NULL) {
		struct stats_reader *r = NULL;
		remember(&f->stats_file);
		f->stats_err = stats_reader_open(f->dir, &r);
		f->stats = r;
	}
}

/* Damage is said; all else is that nothing was reported yet. */
static int no_stats(const struct files *f)
{
	return f->stats_err == E_MALFORMED ? E_MALFORMED : E_NOTREADY;
}

/* --- source --------------------------------------------------------------------------
 */

static struct source *source_on(struct files *f)
{
	struct source *s = calloc(1, sizeof(*s));

	if (s != NULL) {
		s->files = f;
		s->ret = E_NOTREADY;
	}
	return s;
}

struct source *source_new(const char *snapshot_dir)
{
	struct files *f = files_new(snapshot_dir);
	struct source *s = f != NULL ? source_on(f) : NULL;

	if (f != NULL && s == NULL) {
		files_unref(f);
	}
	return s;
}

struct source *source_join(struct source *s)
{
	struct source *other = source_on(s->files);

	if (other != NULL) {
		pthread_mutex_lock(&s->files->lock);
		s->files->refs++;
		pthread_mutex_unlock(&s->files->lock);
	}
	return other;
}

void source_free(struct source *s)
{
	if (s == NULL) {
		return;
	}
	snap_reader_close(s->snap);
	files_unref(s->files);
	free(s);
}

/* Takes over the newest opening. */
static void follow(struct source *s, uint64_t now_ms)
{
	struct files *f = s->files;

	pthread_mutex_lock(&f->lock);
	follow_snap(f, now_ms);
	if (s->snap != NULL && f->snap != NULL && s->generation != f->generation) {
		snap_reader_close(s->snap);
		s->snap = NULL;
	}
	if (s->snap == NULL) {
		struct snap_reader *r = NULL;
		s->ret = f->snap != NULL ? snap_reader_clone(f->snap, &r) : f->snap_err;
		s->snap = s->ret == E_OK ? r : NULL;
		s->generation = f->generation;
		memcpy(s->why, f->why, sizeof(s->why));
	}
	pthread_mutex_unlock(&f->lock);
}

static void damaged_text(const struct source *s, char *buf, size_t size)
{
	snprintf(
		buf, size,
		"%s/snapshot/data.mdb or %s/stats/data.mdb is damaged; restart saguarod, which makes it anew",
		s->files->dir, s->files->dir);
}

const char *source_damaged(const struct source *s, struct arena *a)
{
	char text[1024];

	damaged_text(s, text, sizeof(text));
	return arena_strdup(a, text);
}

int source_pin(struct source *s, uint64_t now_ms, const char **ret_why,
               struct snap_reader **ret_reader)
{
	/* If another thread has found a change, this one follows before it answers, so
	 * that a client does not get "ready" from one and "no database" from the next. */
	if (is_due(&s->looked_ms, now_ms) || s->snap == NULL ||
	    s->generation != atomic_load(&s->files->generation)) {
		follow(s, now_ms);
	}
	if (s->snap == NULL) {
		*ret_why = s->why;
		return s->ret;
	}
	int ret = snap_pin(s->snap);
	if (ret != E_OK) {
		*ret_why = ret == E_NOTREADY ? "saguarod has not published a sweep yet"
		                             : err_text(ret);
		if (ret == E_MALFORMED) {
			damaged_text(s, s->why, sizeof(s->why));
			*ret_why = s->why;
		}
		return ret;
	}
	*ret_reader = s->snap;
	return E_OK;
}

int source_stats(struct source *s, uint64_t now_ms, struct arena *a,
                 struct stats_copy *ret_copy)
{
	struct files *f = s->files;

	pthread_mutex_lock(&f->lock);
	follow_stats(f, now_ms);
	int ret = f->stats != NULL ? stats_read(f->stats, a, ret_copy) : no_stats(f);
	if (ret == E_OK) {
		ret_copy->folder = f->dir;
	}
	if (ret != -ENOMEM) { /* which says nothing of the daemon */
		atomic_store(&f->heartbeat_ms, ret == E_OK ? ret_copy->heartbeat_ms : 0);
		atomic_store(&f->heartbeat_seen_ms, now_ms);
	}
	pthread_mutex_unlock(&f->lock);
	return ret;
}

int source_events(struct source *s, uint64_t now_ms, uint64_t from, size_t max,
                  struct arena *a, struct stats_events *ret_events)
{
	struct files *f = s->files;

	pthread_mutex_lock(&f->lock);
	follow_stats(f, now_ms);
	int ret = f->stats != NULL ? stats_read_events(f->stats, from, max, a, ret_events)
	                           : no_stats(f);
	pthread_mutex_unlock(&f->lock);
	return ret;
}

int source_counters(struct source *s, uint64_t now_ms, uint64_t node_guid, uint8_t port,
                    size_t max, bool samples, struct arena *a,
                    struct stats_counter_list *ret_counter_list)
{
	struct files *f = s->files;

	pthread_mutex_lock(&f->lock);
	follow_stats(f, now_ms);
	int ret = f->stats != NULL ? stats_read_counters(f->stats, node_guid, port, max,
	                                                 samples, a, ret_counter_list)
	                           : no_stats(f);
	pthread_mutex_unlock(&f->lock);
	return ret;
}

int source_link_health(struct source *s, uint64_t now_ms, struct arena *a,
                       struct link_health_list *ret_list)
{
	struct files *f = s->files;

	pthread_mutex_lock(&f->lock);
	follow_stats(f, now_ms);
	int ret = f->stats != NULL ? stats_read_link_health(f->stats, a, ret_list) : no_stats(f);
	pthread_mutex_unlock(&f->lock);
	return ret;
}

static void look_for_heartbeat(struct source *s, uint64_t now_ms)
{
	struct stats_copy copy;
	struct arena *a = arena_new();

	if (a != NULL) {
		(void)source_stats(
			s, now_ms, a,
			&copy); /* keeps the heartbeat, or that there is none */
	}
	arena_free(a);
}

/* While one thread reads the heartbeat, the others use the last one, unless they would
 * report "stale" by it: it may be old only because there was no request for a while. */
bool source_stale(struct source *s, uint64_t now_ms)
{
	struct files *f = s->files;
	uint64_t seen = atomic_load(&f->heartbeat_seen_ms);

	if (seen == 0 || (now_ms > seen && now_ms - seen >= SOURCE_HEARTBEAT_MS)) {
		bool first = !atomic_exchange(&f->looking, true);
		if (first || !heartbeat_fresh(atomic_load(&f->heartbeat_ms), now_ms)) {
			look_for_heartbeat(s, now_ms);
		}
		if (first) {
			atomic_store(&f->looking, false);
		}
	}
	return !heartbeat_fresh(atomic_load(&f->heartbeat_ms), now_ms);
}

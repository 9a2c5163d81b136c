/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "gateway/ready.h"

/* One environment of the two: the file it was opened from, and when that was last looked
 * at. */
struct opened {
	char path[4096];
	dev_t dev;
	ino_t ino;
	uint64_t looked_ms; /* 0: never */
};

struct source {
	char *dir;
	struct snap_reader *snap;
	struct stats_reader *stats;
	struct opened snap_file, stats_file;
	int snap_err; /* why snap is NULL */
	char why[512];
	uint64_t heartbeat_ms;      /* as last seen; 0: none */
	uint64_t heartbeat_seen_ms; /* when it was looked up; 0: never */
};

uint64_t source_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int set_path(struct opened *o, const char *dir, const char *environment)
{
	int len = snprintf(o->path, sizeof(o->path), "%s/%s/data.mdb", dir, environment);
	return len >= 0 && (size_t)len < sizeof(o->path) ? E_OK : -ENAMETOOLONG;
}

struct source *source_new(const char *snapshot_dir)
{
	struct source *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return NULL;
	}
	s->dir = strdup(snapshot_dir);
	s->snap_err = E_NOTREADY;
	if (s->dir == NULL || set_path(&s->snap_file, s->dir, "snapshot") != E_OK ||
	    set_path(&s->stats_file, s->dir, "stats") != E_OK) {
		source_free(s);
		return NULL;
	}
	return s;
}

void source_free(struct source *s)
{
	if (s == NULL) {
		return;
	}
	snap_reader_close(s->snap);
	stats_reader_close(s->stats);
	free(s->dir);
	free(s);
}

/* May the file be looked at again? */
static bool is_due(struct opened *o, uint64_t now_ms)
{
	if (o->looked_ms != 0 && now_ms - o->looked_ms < SOURCE_RETRY_MS) {
		return false;
	}
	o->looked_ms = now_ms;
	return true;
}

/* Is another file in the place of the one opened? While it is gone, the old one serves
 * on. */
static bool was_replaced(const struct opened *o)
{
	struct stat st;
	return stat(o->path, &st) == 0 && (st.st_dev != o->dev || st.st_ino != o->ino);
}

static void remember(struct opened *o)
{
	struct stat st;
	if (stat(o->path, &st) == 0) {
		o->dev = st.st_dev;
		o->ino = st.st_ino;
	}
}

static void open_snap(struct source *s)
{
	const char *why = NULL;
	struct arena *a = arena_new();

	if (a == NULL) {
		s->snap_err = -ENOMEM;
		return;
	}
	remember(&s->snap_file); /* before opening: a file put there since is seen next
	                            time */
	s->snap_err = snap_reader_open(s->dir, a, &why, &s->snap);
	snprintf(s->why, sizeof(s->why), "%s",
	         why != NULL && why[0] != '\0' ? why : err_text(s->snap_err));
	arena_free(a);
}

int source_pin(struct source *s, uint64_t now_ms, const char **ret_why,
               struct snap_reader **ret)
{
	if (is_due(&s->snap_file, now_ms)) {
		if (s->snap != NULL && was_replaced(&s->snap_file)) {
			snap_reader_close(s->snap);
			s->snap = NULL;
		}
		if (s->snap == NULL) {
			open_snap(s);
		}
	}
	if (s->snap == NULL) {
		*ret_why = s->why;
		return s->snap_err;
	}
	int err = snap_pin(s->snap);
	if (err != E_OK) {
		snprintf(s->why, sizeof(s->why), "%s",
		         err == E_NOTREADY ? "saguarod has not published a sweep yet"
		                           : err_text(err));
		*ret_why = s->why;
		return err;
	}
	*ret = s->snap;
	return E_OK;
}

static void follow_stats(struct source *s, uint64_t now_ms)
{
	if (!is_due(&s->stats_file, now_ms)) {
		return;
	}
	if (s->stats != NULL && was_replaced(&s->stats_file)) {
		stats_reader_close(s->stats);
		s->stats = NULL;
	}
	if (s->stats == NULL) {
		remember(&s->stats_file);
		struct stats_reader *r = NULL;
		s->stats = stats_reader_open(s->dir, &r) == E_OK ? r : NULL;
	}
}

int source_stats(struct source *s, uint64_t now_ms, struct arena *a,
                 struct stats_copy *ret)
{
	follow_stats(s, now_ms);
	return s->stats != NULL ? stats_read(s->stats, a, ret) : E_NOTREADY;
}

bool source_stale(struct source *s, uint64_t now_ms)
{
	if (s->heartbeat_seen_ms == 0 ||
	    now_ms - s->heartbeat_seen_ms >= SOURCE_HEARTBEAT_MS) {
		struct stats_copy copy;
		struct arena *a = arena_new();
		bool got = a != NULL && source_stats(s, now_ms, a, &copy) == E_OK;
		s->heartbeat_ms = got ? copy.heartbeat_ms : 0;
		s->heartbeat_seen_ms = now_ms;
		arena_free(a);
	}
	return !heartbeat_fresh(s->heartbeat_ms, now_ms);
}

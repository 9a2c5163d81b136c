/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "db/state/state.h"
#include "sa/standby/standby.h"
#include "tests/lib/db_util.h"

/* Two ends of a link over loopback, each with a state of its own. */
enum { MASTER_GUID = 0xa1, STANDBY_GUID = 0xb2, PREFIX = 0x1234 };

static const char secret_text[] = "correct horse battery staple";

static char dir[256];
static struct arena *arena;
static struct state *from, *to;
static struct standby *master, *standby;
static const char *why;

static inline const char *write_secret(const char *name, const char *text)
{
	const char *path = arena_printf(arena, "%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	ck_assert_int_eq(chmod(path, 0600), 0);
	return path;
}

static inline struct state *open_state(const char *name)
{
	struct state *s = NULL;
	int ret = state_open(arena_printf(arena, "%s/%s", dir, name), arena, &why, &s);

	ck_assert_msg(ret == E_OK, "%s", why);
	return s;
}

static inline struct standby *open_link(const struct standby_options *o)
{
	struct standby *l = NULL;
	int ret = standby_new(o, arena, &why, &l);

	ck_assert_msg(ret == E_OK, "%s", why);
	return l;
}

static inline struct standby *open_master(uint32_t wait_ms)
{
	const struct standby_options o = { .listen = "127.0.0.1:0",
		                           .secret = write_secret("m", secret_text),
		                           .wait_ms = wait_ms,
		                           .guid = MASTER_GUID,
		                           .prefix = PREFIX,
		                           .state = from };

	master = open_link(&o);
	standby_set_role(master, STANDBY_GIVES);
	return master;
}

static inline struct standby *open_standby(unsigned port, const char *secret,
                                           uint64_t prefix)
{
	const struct standby_options o = { .peers = arena_printf(arena, "127.0.0.1:%u",
		                                                 port),
		                           .secret = write_secret("s", secret),
		                           .guid = STANDBY_GUID,
		                           .prefix = prefix,
		                           .state = to };

	standby = open_link(&o);
	standby_set_role(standby, STANDBY_TAKES);
	return standby;
}

static inline void open_states(void)
{
	make_tmp(dir);
	arena = arena_new();
	why = "";
	master = standby = NULL;
	from = open_state("from");
	to = open_state("to");
}

static inline void close_links(void)
{
	standby_free(standby);
	standby_free(master);
	state_close(from);
	state_close(to);
	arena_free(arena);
	remove_tree(dir);
}

static inline struct standby_status status(struct standby *l)
{
	struct standby_status st;

	standby_status(l, &st);
	return st;
}

/* Keeps the log from here on. */
static inline void keep_log(void)
{
	log_set_level(LOG_LEVEL_INFO);
	ck_assert_int_eq(log_open(arena_printf(arena, "%s/log", dir)), E_OK);
}

/* Has a line of it this text? */
static inline bool logged(const char *text)
{
	FILE *f = fopen(arena_printf(arena, "%s/log", dir), "r");
	char line[1000];
	bool found = false;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		found |= strstr(line, text) != NULL;
	}
	fclose(f);
	return found;
}

/* There is no handle to wait on for what another thread does. */
#define WAIT_UNTIL(condition)                                                            \
	while (!(condition)) {                                                           \
		poll(NULL, 0, 1);                                                        \
	}

/* Rows of all copied tables as one text. */
static inline const char *dump(struct state *s)
{
	struct state_copy *c = NULL;
	struct state_write w;
	char *bytes = NULL;
	size_t len = 0;
	FILE *text = open_memstream(&bytes, &len);

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(state_copy_begin(s, NULL, NULL, NULL, &c), E_OK);
	while (state_copy_next(c, &w) == E_OK) {
		fprintf(text, "%u:", w.table);
		for (unsigned i = 0; i < w.key_len; i++) {
			fprintf(text, "%02x", w.key[i]);
		}
		fputc('=', text);
		for (unsigned i = 0; i < w.len; i++) {
			fprintf(text, "%02x", w.value[i]);
		}
		fputc('\n', text);
	}
	state_copy_end(c);
	fclose(text);
	const char *dumped = arena_strdup(arena, bytes);
	free(bytes);
	return dumped;
}

static inline void on_done(void *ctx, int ret)
{
	*(atomic_int *)ctx = ret == E_OK ? 1 : -1;
}

/* Registers or removes a service; returns when the client would have its reply. */
static inline void change_service(struct state *s, uint8_t name, int value)
{
	uint8_t key[26] = { name }, row[192];
	atomic_int done = 0;
	struct state_batch *b;

	memset(row, value, sizeof(row));
	ck_assert_int_eq(state_batch_new(&b), E_OK);
	ck_assert_int_eq(state_batch_put(b, RECORDS_SERVICES, key, sizeof(key),
	                                 value < 0 ? NULL : row, sizeof(row)),
	                 E_OK);
	state_batch_commit(s, b, on_done, &done);
	state_flush(s);
	ck_assert_int_eq(done, 1);
}

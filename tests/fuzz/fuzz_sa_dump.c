/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Any bytes as a dump of subnet administration: refused with a place, or read; what was
 * read is the same after it was written and read again. */
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "sa/store/dump.h"
#include "sa/store/store.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void same(const struct sa_store *a, const struct sa_store *b)
{
	for (unsigned k = RECORDS_MIRRORED_FIRST; k < RECORDS_OF_CLIENTS; k++) {
		enum record_table table = (enum record_table)k;
		const struct store_row *x = store_seek(a, table, NULL, 0),
				       *y = store_seek(b, table, NULL, 0);
		for (; x != NULL && y != NULL; x = store_next(a, table, x)) {
			require(x->key_len == y->key_len &&
			        memcmp(x->bytes, y->bytes, x->key_len) == 0);
			y = store_next(b, table, y);
		}
		require(x == NULL && y == NULL);
	}
}

static int read_into(const char *text, size_t size, struct diags *d,
                     struct sa_store **ret_store, struct dump_counts *counts)
{
	require(store_new(NULL, 1000, ret_store) == E_OK);
	return dump_read("fuzz", text, size, d, *ret_store, counts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sa_store *st, *again;
	struct dump_counts counts, written, read;
	struct arena *a = arena_new();
	struct diags d;
	char *text = NULL;
	size_t len = 0;

	require(a != NULL);
	diags_init(&d, a);
	int ret = read_into((const char *)data, size, &d, &st, &counts);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0));
	if (ret == E_OK) {
		FILE *f = open_memstream(&text, &len);
		require(f != NULL);
		dump_write(f, st, UINT64_C(0xfe80) << 48, &written);
		require(fclose(f) == 0);
		ret = read_into(text, len, &d, &again, &read);
		require(ret == E_OK);
		if (written.left_out == 0) {
			same(st, again);
		}
		store_free(again);
		free(text);
	}
	store_free(st);
	arena_free(a);
	return 0;
}

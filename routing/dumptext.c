/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/dumptext.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/diag.h"
#include "conf/err.h"
#include "conf/text_file.h"

int dump_lids_init(struct dump_lids *l, struct arena *a)
{
	*l = (struct dump_lids){ 0 };
	l->guid = dump_reach(a, NULL, 0, &l->cap_guid, sizeof(*l->guid), 0);
	return l->guid ? E_OK : -ENOMEM;
}

int dump_lids_note(struct dump_lids *l, uint32_t lid, uint64_t guid, unsigned line,
                   struct arena *a)
{
	struct dump_claim *claims;
	uint64_t *guids = dump_reach(a, l->guid, lid, &l->cap_guid, sizeof(*guids), 0);

	if (!guids) {
		return -ENOMEM;
	}
	l->guid = guids;
	l->top = lid > l->top ? lid : l->top;
	if (!guid || l->guid[lid] == guid) {
		return E_OK;
	}
	if (!l->guid[lid]) {
		l->guid[lid] = guid;
		return E_OK;
	}
	claims = dump_grow(a, l->claims, l->n_claims, &l->cap_claims, sizeof(*claims));
	if (!claims) {
		return -ENOMEM;
	}
	claims[l->n_claims++] = (struct dump_claim){ guid, lid, line };
	l->claims = claims;
	return E_OK;
}

uint64_t dump_guid_after(const char *text, const char *word)
{
	const char *p = strstr(text, word);

	return p ? strtoull(p + strlen(word), NULL, 16) : 0;
}

int dump_lines(const char *path, struct diags *d,
               int (*take)(void *ctx, unsigned line, const char *text), void *ctx)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0;
	unsigned line = 0;
	int ret = E_OK;

	if (!f) {
		ret = -errno;
		text_file_unreadable(path, "a dump of tables", ret, d);
		return ret;
	}
	while (ret == E_OK && getline(&text, &cap, f) >= 0) {
		text[strcspn(text, "\r\n")] = '\0';
		ret = take(ctx, ++line, text);
	}
	if (ret == E_OK && ferror(f)) {
		ret = -EIO;
		diag_add(d, DIAG_ERROR, path, 0, "cannot be read");
	}
	free(text);
	fclose(f);
	return ret;
}

void *dump_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? 2 * *cap : 16;
	void *x;

	if (n < *cap) {
		return array;
	}
	x = arena_array(a, more, size);
	if (!x) {
		return NULL;
	}
	if (n) {
		memcpy(x, array, n * size);
	}
	*cap = more;
	return x;
}

void *dump_reach(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size,
                 int fill)
{
	enum { FIRST = 1024 };
	uint32_t more = *cap ? *cap : FIRST;
	uint8_t *x;

	if (n < *cap) {
		return array;
	}
	while (more <= n) {
		more *= 2;
	}
	x = arena_array(a, more, size);
	if (!x) {
		return NULL;
	}
	if (*cap) {
		memcpy(x, array, *cap * size);
	}
	memset(x + *cap * size, fill, (more - *cap) * size);
	*cap = more;
	return x;
}

void *dump_copy(struct arena *a, const void *array, size_t n, size_t size)
{
	void *x = arena_array(a, n, size);

	if (x && n) {
		memcpy(x, array, n * size);
	}
	return x;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/dumptext.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "conf/base/vector.h"

int dump_lids_init(struct dump_lids *l, struct arena *a)
{
	*l = (struct dump_lids){ 0 };
	l->guid = dump_reach(a, NULL, 0, &l->cap_guid, sizeof(*l->guid), 0);
	return l->guid ? E_OK : -ENOMEM;
}

int dump_lids_note(struct dump_lids *l, uint32_t lid, uint64_t guid, unsigned line,
                   struct arena *a)
{
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
	if (ARENA_RESERVE(a, l->claims, l->n_claims, l->cap_claims, l->n_claims + 1U) !=
	    E_OK) {
		return -ENOMEM;
	}
	l->claims[l->n_claims++] = (struct dump_claim){ guid, lid, line };
	return E_OK;
}

uint64_t dump_guid_after(const char *text, const char *word)
{
	const char *p = strstr(text, word);

	return p ? strtoull(p + strlen(word), NULL, 16) : 0;
}

void dump_complain(struct dump_reader *r, const char *what, const char *text)
{
	r->errors++;
	diag_add(r->d, DIAG_ERROR, r->path, r->line, "%s: '%.60s'", what, text);
}

static int end_table(struct dump_reader *r)
{
	const bool open = r->open;

	r->open = false;
	return open ? r->form->end(r->ctx) : E_OK;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static int take_line(struct dump_reader *r, const char *text)
{
	int ret = E_OK;

	if (begins(text, r->form->header)) {
		const uint64_t guid = dump_guid_after(text, " guid 0x");

		ret = end_table(r);
		r->any_header = true;
		if (guid == 0) {
			dump_complain(r, "header without ' guid 0x...'", text);
		} else if (ret == E_OK) {
			ret = r->form->begin(r->ctx, guid);
			r->open = ret == E_OK;
		}
	} else if (begins(text, r->form->other)) {
		dump_complain(r, r->form->other_text, text);
		r->any_header = true;
	} else if (begins(text, "0x") && r->open) {
		ret = r->form->row(r->ctx, text);
	} else if (begins(text, "0x") && !r->any_header) {
		dump_complain(r, r->form->early, text);
		r->any_header = true; /* once is enough */
	}
	return ret;
}

/* The longest line of a dump that there is. */
enum { LINE_ROOM = 4096 };

/* Lines up to the end. A line with a zero byte, or without an end, is none of a dump. */
static int read_lines(struct dump_reader *r, FILE *f)
{
	char text[LINE_ROOM];
	int ret = E_OK;

	while (ret == E_OK && fgets(text, sizeof(text), f)) {
		size_t end = strcspn(text, "\r\n");
		r->line++;
		if (text[end] == '\0' && !feof(f)) {
			r->errors++;
			text_file_binary(r->path, r->form->what, r->d);
			return E_SYNTAX;
		}
		text[end] = '\0';
		ret = take_line(r, text);
	}
	return ret == E_OK && ferror(f) ? -EIO : ret;
}

int dump_read_tables(struct dump_reader *r)
{
	FILE *f = fopen(r->path, "re");
	int ret = f != NULL ? read_lines(r, f) : -errno;

	if (f == NULL || ret == -EIO) {
		text_file_unreadable(r->path, r->form->what, ret, r->d);
	}
	if (ret == E_OK) {
		ret = end_table(r);
	}
	if (ret == E_OK && !r->any_header && !r->errors) {
		r->errors++;
		diag_add(r->d, DIAG_ERROR, r->path, 0, "no '%s' header: not %s",
		         r->form->header, r->form->what);
		ret = E_SYNTAX;
	}
	if (f != NULL) {
		fclose(f);
	}
	return ret;
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

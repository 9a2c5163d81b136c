/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/golden.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

char *golden_path(const char *name)
{
	const char *srcdir = getenv("srcdir");
	char top[PATH_MAX], *path = malloc(PATH_MAX + 300);

	ck_assert_ptr_nonnull(realpath(srcdir != NULL ? srcdir : ".", top));
	snprintf(path, PATH_MAX + 300, "%s/tests/golden/%s", top, name);
	return path;
}

bool golden_writes(void)
{
	const char *value = getenv("GOLDEN");

	return value != NULL && strcmp(value, "write") == 0;
}

char *golden_read(const char *path)
{
	char *all = NULL;
	size_t len = 0;
	FILE *f = fopen(path, "r");

	if (f == NULL && golden_writes()) {
		return strdup("");
	}
	ck_assert_msg(f != NULL, "%s", path);
	ck_assert_int_gt(getdelim(&all, &len, '\0', f), 0);
	fclose(f);
	return all;
}

void golden_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_msg(f != NULL, "%s", path);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

const char *golden_difference(const char *is, const char *want)
{
	static char text[4096];
	size_t at = 0;

	for (size_t i = 0; is[i] != '\0' && is[i] == want[i]; i++) {
		at = is[i] == '\n' ? i + 1 : at;
	}
	snprintf(text, sizeof(text), "%.*s\nnot %.*s", (int)strcspn(is + at, "\n"),
	         is + at, (int)strcspn(want + at, "\n"), want + at);
	return text;
}

void golden_begin(struct golden *g, const char *name)
{
	*g = (struct golden){ .path = golden_path(name) };
	g->f = open_memstream(&g->text, &g->len);
	ck_assert_ptr_nonnull(g->f);
}

void golden_end(struct golden *g)
{
	char *want;

	ck_assert_int_eq(fclose(g->f), 0);
	want = golden_read(g->path);
	if (golden_writes()) {
		golden_write(g->path, g->text);
	} else {
		ck_assert_msg(
			strcmp(g->text, want) == 0,
			"%s: not what it was; where that is meant, make golden writes it anew\n%s",
			strrchr(g->path, '/') + 1, golden_difference(g->text, want));
	}
	free(want);
	free(g->text);
	free(g->path);
}

/* Fowler, Noll and Vo's 1a. */
uint64_t golden_sum(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++) {
		sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
	}
	return sum;
}

uint64_t golden_sum_number(uint64_t sum, uint64_t n)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(n >> 8 * i);
	}
	return golden_sum(sum, bytes, sizeof(bytes));
}

uint64_t golden_sum_text(uint64_t sum, const char *text)
{
	return text == NULL ? golden_sum_number(sum, UINT64_MAX)
	                    : golden_sum(sum, text, strlen(text) + 1);
}

/* Knuth, MMIX. */
static uint32_t draw(uint64_t *state, size_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % n);
}

/* One word or line of a text, from a random byte on. */
static size_t piece(const char *text, size_t len, size_t at, bool line)
{
	size_t n = 1;

	while (at + n < len && text[at + n - 1] != '\n' &&
	       (line || strchr(" \t,;:=<>", text[at + n]) == NULL)) {
		n++;
	}
	return n;
}

char *golden_damage(const char *text, size_t len, uint64_t *state, size_t *ret_len)
{
	static const char marks[] = "0179,;:=-#<>/\"\n xFz.@[";
	size_t room = 2 * len + 64;
	char *t = malloc(room);

	memcpy(t, text, len);
	for (unsigned k = 1 + draw(state, 3); k > 0 && len > 1; k--) {
		size_t at = draw(state, len), n = piece(t, len, at, draw(state, 3) == 0);

		switch (draw(state, 6)) {
		case 0: t[at] = marks[draw(state, sizeof(marks) - 1)]; break;
		case 1: /* left out */
			memmove(t + at, t + at + n, len - at - n);
			len -= n;
			break;
		case 2: /* doubled */
			if (len + n < room) {
				memmove(t + at + n, t + at, len - at);
				len += n;
			}
			break;
		case 3: t[at] = (char)(t[at] + 1); break;
		case 4: /* a mark more */
			if (len + 1 < room) {
				memmove(t + at + 1, t + at, len - at);
				t[at] = marks[draw(state, sizeof(marks) - 1)];
				len++;
			}
			break;
		default:
			if (draw(state, 4) == 0) {
				len = at + 1;
			} else { /* another place's byte */
				t[at] = t[draw(state, len)];
			}
		}
	}
	t[len] = '\0';
	*ret_len = len;
	return t;
}

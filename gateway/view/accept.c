/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/accept.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Digits of a quality such as 0.25. More than three, or no number, count as far as they go. */
static int read_quality(const char *at)
{
	int weight = ACCEPT_MOST, q = 0;

	for (; isdigit((unsigned char)*at) || *at == '.'; at++) {
		if (*at != '.') {
			q += (*at - '0') * weight;
			weight /= 10;
		}
	}
	return q > ACCEPT_MOST ? ACCEPT_MOST : q;
}

/* The quality of an element, from behind its word to its end. */
static int element_quality(const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at == ';') {
			at += 1 + strspn(at + 1, " \t");
			if (end - at > 2 && strncasecmp(at, "q=", 2) == 0) {
				return read_quality(at + 2);
			}
			at--;
		}
	}
	return ACCEPT_MOST;
}

int accept_quality(const char *header, const char *word)
{
	size_t len = strlen(word);

	while (header != NULL && *header != '\0') {
		header += strspn(header, " \t,");
		const char *end = header + strcspn(header, ",");
		size_t n = strcspn(header, " \t;,");
		if (n == len && strncasecmp(header, word, len) == 0) {
			return element_quality(header + n, end);
		}
		header = end;
	}
	return ACCEPT_UNNAMED;
}

bool accept_knows(const char *header, const char *etag)
{
	size_t len = strlen(etag);

	while (header != NULL && len > 0 && *header != '\0') {
		header += strspn(header, " \t,");
		if (*header == '*') {
			return true;
		}
		if (strncmp(header, "W/", 2) == 0) {
			header += 2;
		}
		if (strncmp(header, etag, len) == 0) {
			return true;
		}
		const char *quote = *header == '"' ? strchr(header + 1, '"') : NULL;
		header = quote != NULL ? quote + 1 : header + strcspn(header, ",");
	}
	return false;
}

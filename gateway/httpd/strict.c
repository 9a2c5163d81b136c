/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/httpd/strict.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { CRLF_BYTES = 2 };

/* What was found while the headers were looked at. Addresses are numbers, because what they point to is
 * not read. */
struct look {
	unsigned hosts, lengths, encodings;
	bool name_is_bad, value_is_bad, length_is_bad, encoding_is_bad;
	bool moved;   /* a header does not begin where the line before it ends */
	uintptr_t at; /* where the next line begins */
};

/* tchar of RFC 9110, section 5.6.2 */
static bool is_token(const char *s)
{
	static const char others[] = "!#$%&'*+-.^_`|~0123456789";
	const char *p = s;

	while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
	       (*p != '\0' && strchr(others, *p) != NULL)) {
		p++;
	}
	return p != s && *p == '\0';
}

static bool has_control(const char *s)
{
	while (*s == '\t' || ((unsigned char)*s >= ' ' && *s != 0x7f)) {
		s++;
	}
	return *s != '\0';
}

static enum MHD_Result look_at(void *cls, enum MHD_ValueKind kind, const char *name,
                               const char *value)
{
	struct look *l = cls;
	const char *text = value != NULL ? value : "";

	(void)kind;
	l->name_is_bad |= !is_token(name);
	l->value_is_bad |= has_control(text);
	l->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
	if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
		l->lengths++;
		l->length_is_bad |=
			text[0] == '\0' || text[strspn(text, "0123456789")] != '\0';
	}
	if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
		l->encodings++;
		l->encoding_is_bad |= strcasecmp(text, "chunked") != 0;
	}
	/* blanks may stand between the colon and the value */
	l->moved |=
		(uintptr_t)name != l->at || (uintptr_t)value < l->at + strlen(name) + 1;
	l->at = (uintptr_t)value + strlen(text) + CRLF_BYTES;
	return MHD_YES;
}

/* Does this library leave the head where it came in? */
static bool leaves_head(void)
{
	return strncmp(MHD_get_version(), "0.", 2) == 0;
}

const char *strict_fault(struct MHD_Connection *conn, const char *method,
                         uintptr_t target_end, const char *version)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	struct look l = { .at = (uintptr_t)version + strlen(version) + CRLF_BYTES };

	MHD_get_connection_values(conn, MHD_HEADER_KIND, look_at, &l);
	if (l.name_is_bad) {
		return "the name of a header has a character that no name has";
	}
	if (l.value_is_bad) {
		return "the value of a header has a control character";
	}
	if (l.hosts > 1) {
		return "the request has two Host headers";
	}
	if (l.lengths > 1 || l.length_is_bad) {
		return "the request must have one Content-Length, a decimal number";
	}
	if (l.encodings > 1 || l.encoding_is_bad) {
		return "the only Transfer-Encoding is chunked, once";
	}
	if (l.encodings != 0 &&
	    (l.lengths != 0 || strcmp(version, MHD_HTTP_VERSION_1_1) != 0)) {
		return "Transfer-Encoding stands beside Content-Length, or in a request before HTTP/1.1";
	}
	if (leaves_head() &&
	    (l.moved || info == NULL || target_end + 1 != (uintptr_t)version ||
	     l.at + CRLF_BYTES != (uintptr_t)method + info->header_size)) {
		return "the head has a line that does not end with CR LF, a folded line, or a NUL";
	}
	return NULL;
}

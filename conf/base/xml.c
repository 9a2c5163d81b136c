/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/xml.h"

#include <errno.h>
#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "conf/base/vector.h"

const struct text_file_kind xml_file = { .what = "a file of options",
	                                 .max_bytes = XML_MAX_BYTES };

struct xml_reader {
	XML_Parser parser;
	struct arena *arena;
	struct diags *d;
	const char *name;
	struct xml_element *root, *open;             /* open: the innermost element */
	struct xml_element *last[XML_DEPTH_MAX + 1]; /* last child so far, by depth */
	unsigned depth, n_elements;
	char *text; /* of the innermost element so far; malloc */
	size_t len, cap;
	int ret;
};

static unsigned line_of(const struct xml_reader *r)
{
	return (unsigned)XML_GetCurrentLineNumber(r->parser);
}

/* Elements after this one are not read. */
static void give_up(struct xml_reader *r, int ret)
{
	if (r->ret == E_OK) {
		r->ret = ret;
		XML_StopParser(r->parser, XML_FALSE);
	}
}

static void refuse_document(struct xml_reader *r, const char *text)
{
	if (r->ret == E_OK) {
		diag_add(r->d, DIAG_ERROR, r->name, line_of(r), "%s", text);
		give_up(r, E_SYNTAX);
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Text so far without blanks at its ends; forgets it. NULL without memory. */
static const char *take_text(struct xml_reader *r)
{
	size_t from = 0, to = r->len;

	while (from < to && is_blank(r->text[from])) {
		from++;
	}
	while (to > from && is_blank(r->text[to - 1])) {
		to--;
	}
	r->len = 0;
	if (from == to) {
		return "";
	}
	char *copy = arena_alloc(r->arena, to - from + 1);
	if (copy != NULL) {
		memcpy(copy, r->text + from, to - from);
	}
	return copy;
}

static void warn_mixed(struct xml_reader *r)
{
	const char *text = take_text(r);
	if (text != NULL && *text != '\0') {
		diag_add(r->d, DIAG_WARNING, r->name, line_of(r),
		         "text between elements has no effect: '%.40s'", text);
	}
}

static void append(struct xml_reader *r, struct xml_element *e)
{
	struct xml_element *before = r->last[r->depth];

	e->parent = r->open;
	if (before != NULL) {
		before->next = e;
	} else if (r->open != NULL) {
		r->open->child = e;
	} else {
		r->root = e;
	}
	r->last[r->depth] = e;
	r->open = e;
	r->depth++;
	r->last[r->depth] = NULL;
}

static void XMLCALL on_start(void *data, const XML_Char *name,
                             const XML_Char **attributes)
{
	struct xml_reader *r = data;

	if (r->depth == XML_DEPTH_MAX) {
		refuse_document(
			r, "elements stand deeper in each other than any setting does");
		return;
	}
	if (++r->n_elements > XML_ELEMENTS_MAX) {
		refuse_document(r, "more elements than a configuration has");
		return;
	}
	warn_mixed(r);
	if (attributes[0] != NULL) {
		diag_add(r->d, DIAG_WARNING, r->name, line_of(r),
		         "%.64s: attribute '%.64s' has no effect", name, attributes[0]);
	}
	struct xml_element *e = arena_alloc(r->arena, sizeof(*e));
	if (e == NULL || (e->name = arena_strdup(r->arena, name)) == NULL) {
		give_up(r, -ENOMEM);
		return;
	}
	e->text = "";
	e->line = line_of(r);
	append(r, e);
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
	struct xml_reader *r = data;
	(void)name;

	if (r->ret != E_OK) {
		return;
	}
	if (r->open->child != NULL) {
		warn_mixed(r);
	} else if ((r->open->text = take_text(r)) == NULL) {
		give_up(r, -ENOMEM);
		return;
	}
	r->open = r->open->parent;
	r->depth--;
}

static void XMLCALL on_text(void *data, const XML_Char *text, int len)
{
	struct xml_reader *r = data;
	size_t need = r->len + (size_t)len;

	if (VECTOR_RESERVE(r->text, r->cap, need) != E_OK) {
		give_up(r, -ENOMEM);
		return;
	}
	memcpy(r->text + r->len, text, (size_t)len);
	r->len = need;
}

/* Without a document type there are no entities but the five of XML itself. */
static void XMLCALL on_doctype(void *data, const XML_Char *name,
                               const XML_Char *system_id, const XML_Char *public_id,
                               int internal)
{
	(void)name, (void)system_id, (void)public_id, (void)internal;
	refuse_document(data, "a document type (<!DOCTYPE) is not allowed: take it out");
}

static int run(struct xml_reader *r, const char *text, size_t len)
{
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	if (XML_Parse(r->parser, text, (int)len, XML_TRUE) == XML_STATUS_OK ||
	    r->ret != E_OK) {
		return r->ret;
	}
	if (XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY) {
		return -ENOMEM;
	}
	diag_add(r->d, DIAG_ERROR, r->name, line_of(r), "not well-formed XML: %s%s%.64s",
	         XML_ErrorString(XML_GetErrorCode(r->parser)),
	         r->open != NULL ? ", inside " : "",
	         r->open != NULL ? r->open->name : "");
	return E_SYNTAX;
}

int xml_parse(const char *name, const char *text, size_t len, struct arena *a,
              struct diags *d, struct xml_element **ret_element)
{
	struct xml_reader r = { .arena = a, .d = d, .name = name };

	if (text_file_fits(name, &xml_file, len, d) != E_OK) {
		return E_SYNTAX;
	}
	r.parser = XML_ParserCreate(NULL);
	if (r.parser == NULL) {
		return -ENOMEM;
	}
	int ret = run(&r, text, len);
	XML_ParserFree(r.parser);
	free(r.text);
	if (ret == E_OK) {
		*ret_element = r.root;
	}
	return ret;
}

int xml_read(const char *path, struct arena *a, struct diags *d,
             struct xml_element **ret_element)
{
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &xml_file, d, &text, &len);

	if (ret == E_OK) {
		ret = xml_parse(path, text, len, a, d, ret_element);
	}
	free(text);
	return ret;
}

bool xml_looks_like(const char *text, size_t len)
{
	static const char *const marks[] = { "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t n = strlen(marks[i]);
		if (len >= n && memcmp(text, marks[i], n) == 0) {
			return true;
		}
	}
	while (len > 0 && is_blank(*text)) {
		text++;
		len--;
	}
	return len > 0 && *text == '<';
}

struct xml_element *xml_child(const struct xml_element *e, const char *name)
{
	struct xml_element *c = e->child;
	while (c != NULL && strcmp(c->name, name) != 0) {
		c = c->next;
	}
	return c;
}

struct xml_element *xml_again(const struct xml_element *e)
{
	struct xml_element *c = e->next;
	while (c != NULL && strcmp(c->name, e->name) != 0) {
		c = c->next;
	}
	return c;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct diags;
struct text_file_kind;

/*!
 * XML as a tree of elements with text: all that opafm.xml and its parts need.
 *
 * The parts of XML that an operator's file never needs are refused, so that no file can harm:
 * document types (and with them entities, internal or external: nothing is ever fetched or
 * expanded), depth beyond XML_DEPTH_MAX, more than XML_MAX_BYTES, more than XML_ELEMENTS_MAX. Text
 * comes out as UTF-8, whatever encoding of UTF-8, UTF-16, ISO-8859-1 or US-ASCII the file
 * declares. Attributes and text between elements have no meaning in these files and are
 * warned about; comments and processing instructions are skipped.
 */
enum { XML_MAX_BYTES = 16 << 20, XML_DEPTH_MAX = 32, XML_ELEMENTS_MAX = 1 << 19 };

/*! How such a file is read. */
extern const struct text_file_kind xml_file;

struct xml_element {
	const char *name;
	const char *text; /*!< character data without blanks at its ends; "" when there are children */
	unsigned line;    /*!< of its start tag, 1-based */
	struct xml_element *parent; /*!< NULL: the root */
	struct xml_element *child;  /*!< first */
	struct xml_element *next;   /*!< sibling, in the order of the file */
	bool used; /*!< free for the reader: false at first */
};

/*!
 * \brief Parses \a len bytes; \a name stands in messages.
 *
 * The first thing that is not well-formed ends the reading: there is nothing to be said
 * about what follows it.
 *
 * \param ret_element  Root element, in \a a.
 * \retval E_SYNTAX  In \a d. \retval -ENOMEM
 * Cost: O(len).
 */
int xml_parse(const char *name, const char *text, size_t len, struct arena *a,
              struct diags *d, struct xml_element **ret_element);

/*! \brief xml_parse() of a file. \retval -errno  It cannot be read; also in \a d. */
int xml_read(const char *path, struct arena *a, struct diags *d,
             struct xml_element **ret_element);

/*! \brief Do these bytes begin like XML rather than like lines of keys? */
bool xml_looks_like(const char *text, size_t len);

/*! \brief First child of that name. \return NULL: none */
struct xml_element *xml_child(const struct xml_element *e, const char *name);

/*! \brief Next sibling of the same name. \return NULL: none */
struct xml_element *xml_again(const struct xml_element *e);

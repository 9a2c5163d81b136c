/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct diags;

/*!
 * The page at "/": a few files that `make web` built, read once and kept in memory. Only
 * these names are served, so no request reaches the file system.
 *
 * A browser, which accepts text/html, gets the page at "/". Everybody else gets the list of
 * resources there (gateway/api).
 */
struct page;

/*!
 * Scripts, styles and answers come from this server only; no other site may frame it. With
 * --admin-url the page may also ask that origin, which stands for the %s and is "" without it.
 */
/* clang-format off */
#define PAGE_CSP                                                                         \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "       \
	"connect-src 'self'%s; base-uri 'none'; form-action 'none'; "                      \
	"frame-ancestors 'none'"
/* clang-format on */

struct page_request {
	const char *method;
	const char *target;          /*!< as sent: path and query */
	const char *accept;          /*!< header, or NULL; as the next */
	const char *accept_encoding;
};

/*! One file, as it is to be sent. Borrowed from the page. */
struct page_file {
	const char *type;
	const char *encoding; /*!< "gzip", or NULL */
	const char *vary;     /*!< headers that the choice depends on */
	const char *etag;     /*!< quoted; of these bytes */
	const char *data;
	size_t len;
};

/*!
 * \brief Reads the files of a folder, each with its .gz where there is one.
 * \param d     Gets a sentence for each file that cannot be read.
 * \param ret_page   Caller owns; page_free(). NULL: the folder holds no page.
 * \retval E_OK  Also without a page.
 * \retval E_NOTFOUND  There is an index.html, but not all that belongs to it.
 * \retval -errno E_SYNTAX  A file cannot be read, or is far too large.
 */
int page_read(const char *dir, struct diags *d, struct page **ret_page);

/*! \brief NULL is fine. */
void page_free(struct page *p);

/*!
 * \brief The file that answers a request.
 * \param p  NULL: there is no page. \return false: the request is not for the page.
 */
bool page_find(const struct page *p, const struct page_request *rq,
               struct page_file *ret_file);

/*! \brief Does the answer to a target depend on Accept, because it may be the page? */
bool page_shares(const struct page *p, const char *target);

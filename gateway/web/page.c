/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/web/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/diag.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "gateway/view/accept.h"

enum { FILE_BYTES = 4 << 20, ETAG_BYTES = 24, PATH_BYTES = 4096 };

/* clang-format off */
static const struct {
	const char *name, *path, *type;
} files[] = {
	{ "index.html",   "/",                 "text/html; charset=utf-8" },
	{ "app.js",       "/web/app.js",       "text/javascript; charset=utf-8" },
	{ "app.css",      "/web/app.css",      "text/css; charset=utf-8" },
	{ "licences.txt", "/web/licences.txt", "text/plain; charset=utf-8" },
};
/* clang-format on */

enum { N_FILES = sizeof(files) / sizeof(files[0]) };

struct content {
	char *data; /* NULL: there is none */
	size_t len;
	char etag[ETAG_BYTES];
};

struct page {
	struct content plain[N_FILES], gzip[N_FILES];
};

void page_free(struct page *p)
{
	for (unsigned i = 0; p != NULL && i < N_FILES; i++) {
		free(p->plain[i].data);
		free(p->gzip[i].data);
	}
	free(p);
}

/* A file that is not there leaves the content empty. */
static int read_content(const char *dir, const char *name, const char *ending,
                        struct diags *d, struct content *ret_content)
{
	static const struct text_file_kind kind = { .what = "a file of the page",
		                                    .max_bytes = FILE_BYTES };
	char path[PATH_BYTES];
	int len = snprintf(path, sizeof(path), "%s/%s%s", dir, name, ending);

	if (len < 0 || (size_t)len >= sizeof(path)) {
		return -ENAMETOOLONG;
	}
	if (text_file_is_missing(path)) {
		return E_OK;
	}
	int ret = text_file_read(path, &kind, d, &ret_content->data, &ret_content->len);
	if (ret == E_OK) {
		snprintf(ret_content->etag, sizeof(ret_content->etag),
		         "\"%016" PRIx64 "\"",
		         digest_bytes(0, ret_content->data, ret_content->len));
	}
	return ret;
}

int page_read(const char *dir, struct diags *d, struct page **ret_page)
{
	struct page *p = calloc(1, sizeof(*p));
	int ret = p != NULL ? E_OK : -ENOMEM;

	for (unsigned i = 0; i < N_FILES && ret == E_OK; i++) {
		ret = read_content(dir, files[i].name, "", d, &p->plain[i]);
		if (ret == E_OK && p->plain[i].data == NULL) {
			if (i == 0) {
				page_free(p);
				*ret_page = NULL;
				return E_OK;
			}
			diag_add(
				d, DIAG_ERROR, dir, 0,
				"there is an index.html, but no %s; build or install the page again",
				files[i].name);
			ret = E_NOTFOUND;
		}
		if (ret == E_OK) {
			ret = read_content(dir, files[i].name, ".gz", d, &p->gzip[i]);
		}
	}
	if (ret != E_OK) {
		page_free(p);
		return ret;
	}
	*ret_page = p;
	return E_OK;
}

static bool is_path(const char *target, const char *path)
{
	size_t len = strlen(path);

	return strncmp(target, path, len) == 0 &&
	       (target[len] == '\0' || target[len] == '?');
}

bool page_shares(const struct page *p, const char *target)
{
	return p != NULL && is_path(target, files[0].path);
}

bool page_find(const struct page *p, const struct page_request *rq,
               struct page_file *ret_file)
{
	bool reads = strcmp(rq->method, "GET") == 0 || strcmp(rq->method, "HEAD") == 0;

	if (p == NULL || !reads) {
		return false;
	}
	for (unsigned i = 0; i < N_FILES; i++) {
		if (!is_path(rq->target, files[i].path)) {
			continue;
		}
		if (i == 0 && accept_quality(rq->accept, "text/html") <= 0) {
			return false;
		}
		bool packed = p->gzip[i].data != NULL &&
		              accept_quality(rq->accept_encoding, "gzip") > 0;
		const struct content *c = packed ? &p->gzip[i] : &p->plain[i];
		*ret_file = (struct page_file){
			.type = files[i].type,
			.encoding = packed ? "gzip" : NULL,
			.vary = i == 0 ? "Accept, Accept-Encoding" : "Accept-Encoding",
			.etag = c->etag,
			.data = c->data,
			.len = c->len,
		};
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <config.h>

#include "gateway/httpd/encoding.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>
#if HAVE_ZSTD
#include <zstd.h>
#endif

#include "conf/base/err.h"
#include "gateway/view/accept.h"
#include "gateway/view/body.h"

enum {
	ROOM = 16 * 1024,
	GZIP_LEVEL = 1,
	GZIP_WINDOW = 16 + 14, /* the first number asks for gzip's head and tail */
	GZIP_MEMORY = 7,       /* with the window some 130 KiB, as streams keep it */
	ZSTD_LEVEL = 1,
	ZSTD_WINDOW = 17
};

struct encoder {
	enum encoding encoding;
	bool begun;
	z_stream gzip;
#if HAVE_ZSTD
	ZSTD_CCtx *zstd;
#endif
};

const char *encoding_name(enum encoding e)
{
	static const char *const names[ENCODING_COUNT] = {
		[ENCODING_GZIP] = "gzip", [ENCODING_ZSTD] = "zstd"
	};

	return names[e];
}

enum encoding encoding_choose(const char *header)
{
	/* of equals the first */
	static const enum encoding order[] = {
#if HAVE_ZSTD
		ENCODING_ZSTD,
#endif
		ENCODING_GZIP,
	};
	int any = accept_quality(header, "*");
	int best = accept_quality(header, "identity");
	enum encoding chosen = ENCODING_NONE;

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		int q = accept_quality(header, encoding_name(order[i]));

		q = q == ACCEPT_UNNAMED ? any : q;
		if (q > 0 && q >= best && (chosen == ENCODING_NONE || q > best)) {
			chosen = order[i];
			best = q;
		}
	}
	return chosen;
}

struct encoder *encoding_new(enum encoding e)
{
	struct encoder *x = calloc(1, sizeof(*x));

	if (x == NULL) {
		return NULL;
	}
	x->encoding = e;
	x->begun = e == ENCODING_GZIP &&
	           deflateInit2(&x->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW,
	                        GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
#if HAVE_ZSTD
	if (e == ENCODING_ZSTD && (x->zstd = ZSTD_createCCtx()) != NULL) {
		x->begun = !ZSTD_isError(ZSTD_CCtx_setParameter(
				   x->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
		           !ZSTD_isError(ZSTD_CCtx_setParameter(x->zstd, ZSTD_c_windowLog,
		                                                ZSTD_WINDOW));
	}
#endif
	if (!x->begun) {
		encoding_free(x);
		return NULL;
	}
	return x;
}

static int write_gzip(struct encoder *e, const char *data, size_t len, bool end,
                      struct body *out)
{
	int ret = Z_OK;

	e->gzip.next_in = (unsigned char *)data;
	e->gzip.avail_in = (unsigned)len;
	do {
		char *room = body_room(out, ROOM);

		if (room == NULL) {
			return -ENOMEM;
		}
		e->gzip.next_out = (unsigned char *)room;
		e->gzip.avail_out = ROOM;
		ret = deflate(&e->gzip, end ? Z_FINISH : Z_SYNC_FLUSH);
		out->len += ROOM - e->gzip.avail_out;
	} while (e->gzip.avail_out == 0 && ret != Z_STREAM_END);
	return ret == Z_STREAM_ERROR ? -ENOMEM : E_OK;
}

#if HAVE_ZSTD
static int write_zstd(struct encoder *e, const char *data, size_t len, bool end,
                      struct body *out)
{
	ZSTD_inBuffer in = { data, len, 0 };
	size_t left;

	do {
		ZSTD_outBuffer to = { body_room(out, ROOM), ROOM, 0 };

		if (to.dst == NULL) {
			return -ENOMEM;
		}
		left = ZSTD_compressStream2(e->zstd, &to, &in,
		                            end ? ZSTD_e_end : ZSTD_e_flush);
		if (ZSTD_isError(left)) {
			return -ENOMEM;
		}
		out->len += to.pos;
	} while (left != 0);
	return E_OK;
}
#endif

int encoding_write(struct encoder *e, const char *data, size_t len, bool end,
                   struct body *out)
{
#if HAVE_ZSTD
	if (e->encoding == ENCODING_ZSTD) {
		return write_zstd(e, data, len, end, out);
	}
#endif
	return write_gzip(e, data, len, end, out);
}

void encoding_free(struct encoder *e)
{
	if (e == NULL) {
		return;
	}
	if (e->encoding == ENCODING_GZIP && e->begun) {
		deflateEnd(&e->gzip);
	}
#if HAVE_ZSTD
	ZSTD_freeCCtx(e->zstd);
#endif
	free(e);
}

int encoding_pack(enum encoding e, const char *data, size_t len, struct body *out)
{
	struct encoder *x = encoding_new(e);
	int ret = x != NULL ? encoding_write(x, data, len, true, out) : -ENOMEM;

	encoding_free(x);
	return ret;
}

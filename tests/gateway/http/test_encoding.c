/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Encoded answers of a running server hold the same bytes as plain ones. They are decoded by
 * zlib, and zstd by its own library.
 */
#include <config.h>

#include <check.h>
#include <zlib.h>
#if HAVE_ZSTD
#include <zstd.h>
#endif

#include "conf/base/err.h"
#include "gateway/httpd/encoding.h"
#include "gateway/http/http.h"
#include "gateway/view/body.h"
#include "tests/lib/gateway_client.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

enum { TEXT_MAX = 1 << 20 };

static struct gateway_fixture fixture;
static struct http *http;
static struct client client;

static void setup(void)
{
	static char *args[] = { (char *)"6", (char *)"6", (char *)"6" };
	struct http_options o = { .listen = "127.0.0.1:0", .threads = 2 };
	const char *why = "";

	gateway_fixture_init(&fixture, "ft2", 3, args);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 5);
	gateway_fixture_heartbeat(&fixture, 0, true);
	o.snapshot_dir = fixture.dir;
	ck_assert_msg(http_start(&o, fixture.arena, &why, &http) == E_OK, "%s", why);
	client_init(&client, http_port(http));
}

static void teardown(void)
{
	client_done(&client);
	http_stop(http);
	gateway_fixture_done(&fixture);
}

static size_t decode_gzip(const char *data, size_t len, char *to)
{
	z_stream z = { .next_in = (unsigned char *)data,
		       .avail_in = (unsigned)len,
		       .next_out = (unsigned char *)to,
		       .avail_out = TEXT_MAX };

	ck_assert_int_eq(inflateInit2(&z, 16 + 15), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	inflateEnd(&z);
	return z.total_out;
}

static size_t decode(enum encoding e, const char *data, size_t len, char *to)
{
#if HAVE_ZSTD
	if (e == ENCODING_ZSTD) {
		ZSTD_DCtx *d = ZSTD_createDCtx();
		ZSTD_inBuffer in = { data, len, 0 };
		ZSTD_outBuffer out = { to, TEXT_MAX, 0 };

		ck_assert_uint_eq(ZSTD_decompressStream(d, &out, &in), 0);
		ck_assert_uint_eq(in.pos, len);
		ZSTD_freeDCtx(d);
		return out.pos;
	}
#endif
	ck_assert_int_eq(e, ENCODING_GZIP);
	return decode_gzip(data, len, to);
}

static const char *const targets[] = { "/v1/nodes", "/v1/ports?stream=1", "/v1/topology",
	                               "/metrics/fabric?hosts=1" };

static enum encoding encoding_at(int i)
{
#if HAVE_ZSTD
	return i % 2 ? ENCODING_ZSTD : ENCODING_GZIP;
#else
	(void)i;
	return ENCODING_GZIP;
#endif
}

START_TEST(same_bytes)
{
	const char *target = targets[_i / 2];
	enum encoding e = encoding_at(_i);
	char header[96], *text = malloc(TEXT_MAX), etag[64];

	ck_assert_int_eq(client_get(&client, target), 200);
	ck_assert_str_eq(client.encoding, "");
	ck_assert_ptr_nonnull(strstr(client.vary, "Accept-Encoding"));
	char *plain = strdup(client.body);
	size_t len = client.len;
	strcpy(etag, client.etag);

	snprintf(header, sizeof(header), "Accept-Encoding: %s", encoding_name(e));
	client_ask(&client, "GET", target, header, NULL);
	ck_assert_int_eq(client.status, 200);
	ck_assert_str_eq(client.encoding, encoding_name(e));
	ck_assert_ptr_nonnull(strstr(client.vary, "Accept-Encoding"));
	ck_assert_uint_lt(client.len, len / 2);
	ck_assert_uint_eq(decode(e, client.body, client.len, text), len);
	/* counters of the moment may differ, but of nothing that moves here */
	ck_assert_mem_eq(text, plain, len);
	if (etag[0] != '\0') {
		ck_assert_str_ne(etag, client.etag);
		ck_assert_int_eq(client_get(&client, target), 200);
		ck_assert_str_eq(client.etag, etag);
	}
	client_ask(&client, "HEAD", target, header, NULL);
	ck_assert_str_eq(client.encoding, encoding_name(e));
	ck_assert_int_eq(client_get(&client, "/healthz"), 200);
	free(plain);
	free(text);
}
END_TEST

/* The ETag of one encoding is none of another. */
START_TEST(etags)
{
	char gzip[64], header[128];

	client_ask(&client, "GET", "/v1/nodes", "Accept-Encoding: gzip", NULL);
	strcpy(gzip, client.etag);
	snprintf(header, sizeof(header), "If-None-Match: %s", gzip);
	client_ask(&client, "GET", "/v1/nodes", header, NULL);
	ck_assert_int_eq(client.status, 200);
	client_ask(&client, "GET", "/v1/fabric", "Accept-Encoding: gzip", NULL);
	ck_assert_str_eq(client.encoding, ""); /* too short to be worth it */
	json_decref(client_json(&client));
}
END_TEST

static const struct {
	const char *header;
	enum encoding with, without; /* libzstd */
} choices[] = {
	{ NULL, ENCODING_NONE, ENCODING_NONE },
	{ "", ENCODING_NONE, ENCODING_NONE },
	{ "gzip", ENCODING_GZIP, ENCODING_GZIP },
	{ "gzip, deflate, br, zstd", ENCODING_ZSTD, ENCODING_GZIP },
	{ "gzip, zstd;q=0.9", ENCODING_GZIP, ENCODING_GZIP },
	{ "zstd;q=0, gzip;q=0", ENCODING_NONE, ENCODING_NONE },
	{ "br, deflate", ENCODING_NONE, ENCODING_NONE },
	{ "*", ENCODING_ZSTD, ENCODING_GZIP },
	{ "zstd;q=0, *", ENCODING_GZIP, ENCODING_GZIP },
	{ "*;q=0", ENCODING_NONE, ENCODING_NONE },
	{ "identity, gzip;q=0.5", ENCODING_NONE, ENCODING_NONE },
	{ "identity;q=0, gzip;q=0.1", ENCODING_GZIP, ENCODING_GZIP },
};

START_TEST(choose)
{
#if HAVE_ZSTD
	enum encoding want = choices[_i].with;
#else
	enum encoding want = choices[_i].without;
#endif
	ck_assert_int_eq(encoding_choose(choices[_i].header), want);
}
END_TEST

/* After each piece the client can read all that came so far. */
START_TEST(pieces)
{
	enum encoding e = encoding_at(_i);
	struct encoder *x = encoding_new(e);
	struct body out = { .len = 0 };
	char *text = malloc(TEXT_MAX), line[64];
	size_t total = 0;

	ck_assert_ptr_nonnull(x);
	for (unsigned i = 0; i < 200; i++) {
		int n = snprintf(line, sizeof(line), "{\"port\":%u,\"at\":%u}\n", i,
		                 i * 7919 % 1000);
		size_t before = out.len;

		ck_assert_int_eq(encoding_write(x, line, (size_t)n, false, &out), E_OK);
		ck_assert_uint_gt(out.len, before);
		total += (size_t)n;
		if (e == ENCODING_GZIP) {
			z_stream z = { .next_in = (unsigned char *)out.data,
				       .avail_in = (unsigned)out.len,
				       .next_out = (unsigned char *)text,
				       .avail_out = TEXT_MAX };

			ck_assert_int_eq(inflateInit2(&z, 16 + 15), Z_OK);
			(void)inflate(&z, Z_SYNC_FLUSH);
			ck_assert_uint_eq(z.total_out, total);
			inflateEnd(&z);
		}
	}
	ck_assert_int_eq(encoding_write(x, NULL, 0, true, &out), E_OK);
	ck_assert_uint_eq(decode(e, out.data, out.len, text), total);
	encoding_free(x);
	body_clear(&out);
	free(text);
}
END_TEST

TEST_SUITE(encoding)
{
	TCase *t = tcase_create("server");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, same_bytes, 0, 8);
	tcase_add_test(t, etags);
	suite_add_tcase(suite, t);
	t = tcase_create("encoder");
	tcase_add_loop_test(t, choose, 0, sizeof(choices) / sizeof(choices[0]));
	tcase_add_loop_test(t, pieces, 0, 2);
	suite_add_tcase(suite, t);
}

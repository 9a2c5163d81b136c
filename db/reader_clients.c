/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Reading a snapshot: client records. */
#include "conf/base/err.h"
#include "db/layout.h"
#include "db/reader_int.h"

static int decode_row(int res, enum record_table table, const struct db_val *k,
                      const struct db_val *v, struct client_row *ret)
{
	if (res == E_OK && (k->len > UINT16_MAX || v->len > UINT16_MAX)) {
		res = E_MALFORMED;
	}
	if (res == E_OK) {
		*ret = (struct client_row){ .key = k->data,
			                    .value = v->data,
			                    .table = table,
			                    .key_len = (uint16_t)k->len,
			                    .len = (uint16_t)v->len };
	}
	return res;
}

int snap_client_row_from(struct snap_reader *r, enum record_table table, const void *key,
                         size_t key_len, struct client_row *ret)
{
	struct db_val k, v;
	int res = view_seek(&r->view, SNAP_CLIENT_TABLE(table), key, key_len, &k, &v);
	return decode_row(res, table, &k, &v, ret);
}

int snap_client_row_next(struct snap_reader *r, enum record_table table,
                         struct client_row *ret)
{
	struct db_val k, v;
	int res = view_next(&r->view, SNAP_CLIENT_TABLE(table), &k, &v);
	return decode_row(res, table, &k, &v, ret);
}

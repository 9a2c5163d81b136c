/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/standby/frame.h"

#include <errno.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/lmdb/acks.h"
#include "db/lmdb/drained.h"
#include "db/lmdb/known.h"
#include "db/lmdb/layout.h"
#include "sa/store/store.h"

enum { VERSION = 1, ORDER_MARK = 0x01020304 };
enum row_what { ROW_PUT, ROW_REMOVE, ROW_CLEAR };

static const uint8_t magic[4] = { 'S', 'G', 'R', 'O' };

int frame_read(const uint8_t *data, size_t len, struct frame *ret_frame)
{
	static const uint8_t zero[3];
	uint32_t payload;

	if (len < FRAME_HEAD_BYTES) {
		return -EAGAIN;
	}
	payload = key_read_u32(data);
	if (payload > FRAME_PAYLOAD_MAX || data[4] < FRAME_HELLO ||
	    data[4] > FRAME_JOIN_END || memcmp(data + 5, zero, sizeof(zero)) != 0) {
		return E_MALFORMED;
	}
	if (len - FRAME_HEAD_BYTES < payload) {
		return -EAGAIN;
	}
	*ret_frame = (struct frame){ .type = (enum frame_type)data[4],
		                     .payload = data + FRAME_HEAD_BYTES,
		                     .len = payload,
		                     .bytes = FRAME_HEAD_BYTES + payload };
	return E_OK;
}

void frame_head(uint8_t head[FRAME_HEAD_BYTES], enum frame_type type, size_t len)
{
	memset(head, 0, FRAME_HEAD_BYTES);
	key_u32(head, (uint32_t)len);
	head[4] = (uint8_t)type;
}

void frame_number(uint8_t bytes[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES],
                  enum frame_type type, uint64_t number)
{
	frame_head(bytes, type, FRAME_NUMBER_BYTES);
	key_u64(bytes + FRAME_HEAD_BYTES, number);
}

int frame_read_number(const struct frame *f, uint64_t *ret_number)
{
	if (f->len != FRAME_NUMBER_BYTES) {
		return E_MALFORMED;
	}
	*ret_number = key_read_u64(f->payload);
	return E_OK;
}

/* magic, u16 version, u16 format of the rows, u32 in the machine's order, u64 GUID, u64 prefix,
 * u8 master, u8 joins, 2 bytes zero */
void frame_hello(uint8_t bytes[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES],
                 const struct frame_hello *h)
{
	uint8_t *p = bytes + FRAME_HEAD_BYTES;
	const uint32_t order = ORDER_MARK;

	frame_head(bytes, FRAME_HELLO, FRAME_HELLO_BYTES);
	memset(p, 0, FRAME_HELLO_BYTES);
	memcpy(p, magic, sizeof(magic));
	key_u16(p + 4, VERSION);
	key_u16(p + 6, STATE_COPY_FORMAT);
	memcpy(p + 8, &order, sizeof(order));
	key_u64(p + 12, h->guid);
	key_u64(p + 20, h->prefix);
	p[28] = h->master;
	p[29] = h->joins;
}

int frame_read_hello(const struct frame *f, struct frame_hello *ret_hello)
{
	const uint8_t *p = f->payload;
	uint32_t order;

	if (f->type != FRAME_HELLO || f->len != FRAME_HELLO_BYTES ||
	    memcmp(p, magic, sizeof(magic)) != 0) {
		return E_MALFORMED;
	}
	if (key_read_u16(p + 4) != VERSION || key_read_u16(p + 6) != STATE_COPY_FORMAT) {
		return E_LAYOUT;
	}
	memcpy(&order, p + 8, sizeof(order));
	if (order != ORDER_MARK) {
		return E_FOREIGN;
	}
	*ret_hello = (struct frame_hello){ .guid = key_read_u64(p + 12),
		                           .prefix = key_read_u64(p + 20),
		                           .master = p[28] == 1,
		                           .joins = p[29] == 1 };
	return ret_hello->guid != 0 && p[28] <= 1 ? E_OK : E_MALFORMED;
}

/* --- rows ------------------------------------------------------------------------------------ */

size_t frame_row_bytes(const struct state_write *w)
{
	return FRAME_ROW_HEAD_BYTES + w->key_len + (w->value != NULL ? w->len : 0);
}

void frame_put_row(uint8_t *to, const struct state_write *w)
{
	uint32_t len = w->value != NULL ? w->len : 0;

	to[0] = w->table;
	to[1] = w->clears ? ROW_CLEAR : w->value == NULL ? ROW_REMOVE : ROW_PUT;
	key_u16(to + 2, w->key_len);
	key_u32(to + 4, len);
	if (w->key_len > 0) {
		memcpy(to + FRAME_ROW_HEAD_BYTES, w->key, w->key_len);
	}
	if (len > 0) {
		memcpy(to + FRAME_ROW_HEAD_BYTES + w->key_len, w->value, len);
	}
}

static bool row_fits(const struct state_write *w)
{
	if (w->table == COPIED_LIDS) {
		return w->value == NULL ? w->key_len == sizeof(uint64_t)
		                        : state_lid_fits(w->key_len, w->value, w->len);
	}
	enum record_table table = (enum record_table)(w->table - COPIED_RECORDS);

	if (table == RECORDS_PARTITIONS) {
		return state_partition_fits(w->key, w->key_len, w->value, w->len);
	}
	if (table == RECORDS_KNOWN) {
		struct known_node n;

		return w->value == NULL ? w->key_len == KNOWN_KEY_BYTES
		                        : known_decode(w->key, w->key_len, w->value,
		                                       w->len, &n) == E_OK;
	}
	if (table == RECORDS_ACKS) {
		struct alarm_ack a;

		return w->value == NULL ? w->key_len > 0 && w->key_len <= ACK_ID_BYTES
		                        : acks_decode(w->key, w->key_len, w->value, w->len,
		                                     &a) == E_OK;
	}
	if (table == RECORDS_DRAINED) {
		struct drained_row d;

		return w->value == NULL ? w->key_len == DRAINED_KEY_BYTES
		                        : drained_decode(w->key, w->key_len, w->value,
		                                         w->len, &d) == E_OK;
	}
	return store_row_fits(table, w->key_len, w->value != NULL, w->len);
}

int frame_read_row(const uint8_t **at, const uint8_t *end, struct state_write *ret_write)
{
	const uint8_t *p = *at;
	size_t left = (size_t)(end - p);
	struct state_write w;
	uint8_t what;

	if (left == 0) {
		return E_NOTFOUND;
	}
	if (left < FRAME_ROW_HEAD_BYTES) {
		return E_MALFORMED;
	}
	what = p[1];
	w = (struct state_write){ .table = p[0],
		                  .clears = what == ROW_CLEAR,
		                  .key_len = key_read_u16(p + 2),
		                  .len = key_read_u32(p + 4) };
	left -= FRAME_ROW_HEAD_BYTES;
	if (w.table >= COPIED_TABLES || what > ROW_CLEAR || w.key_len > left ||
	    w.len > left - w.key_len || (what != ROW_PUT && w.len != 0) ||
	    (w.clears && w.key_len != 0)) {
		return E_MALFORMED;
	}
	w.key = w.clears ? NULL : p + FRAME_ROW_HEAD_BYTES;
	w.value = what == ROW_PUT ? p + FRAME_ROW_HEAD_BYTES + w.key_len : NULL;
	if (!w.clears && !row_fits(&w)) {
		return E_MALFORMED;
	}
	*at = p + FRAME_ROW_HEAD_BYTES + w.key_len + w.len;
	*ret_write = w;
	return E_OK;
}

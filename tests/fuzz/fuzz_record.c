/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Component match of every attribute against one written bit by bit: any mask, any
 * request, any record. Input: attribute, ComponentMask, request, record.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/record/attributes.h"
#include "tests/fuzz/fuzz.h"

enum { RECORD_MAX = 1024, MASK_BYTES = 8 };

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static bool bit(const uint8_t *p, unsigned at)
{
	return p[at / 8] >> (7 - at % 8) & 1;
}

static bool fits(const struct sa_attr *attr, uint64_t mask, const uint8_t *asked,
                 const uint8_t *record)
{
	for (unsigned i = 0; i < attr->n_fields && attr->reply == NULL; i++) {
		const struct sa_field *f = &attr->fields[i];

		if (!(mask >> i & 1) || (f->how & SA_HOW) != SA_EQ) {
			continue;
		}
		for (unsigned at = f->bit; at < f->bit + f->width; at++) {
			if (bit(asked, at) != bit(record, at)) {
				return false;
			}
		}
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t asked[RECORD_MAX] = { 0 }, record[RECORD_MAX] = { 0 };
	uint64_t mask = 0;

	if (size < 1 + MASK_BYTES) {
		return 0;
	}
	const struct sa_attr *attr = sa_attrs[data[0] % n_sa_attrs];
	require(attr->size <= RECORD_MAX);
	for (unsigned i = 0; i < MASK_BYTES; i++) {
		mask = mask << 8 | data[1 + i];
	}
	data += 1 + MASK_BYTES;
	size -= 1 + MASK_BYTES;
	size_t first = size < attr->size ? size : attr->size;
	memcpy(asked, data, first);
	size_t second = size - first < attr->size ? size - first : attr->size;
	memcpy(record, data + first, second);
	struct sa_query q = { .attr = attr, .comp_mask = mask, .record = asked };
	struct sa_out out = { .q = &q,
		              .stride = (sa_reply_attr(attr)->size + 7u) & ~7u,
		              .max = 1,
		              .max_bytes = 4096 };
	sa_offer(&out, record);
	require(out.ret == E_OK);
	require((out.n == 1) == fits(attr, mask, asked, record));
	require(out.n == 0 || memcmp(out.data, record, sa_reply_attr(attr)->size) == 0);
	free(out.data);
	return 0;
}

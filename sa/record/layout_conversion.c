/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * One record in two layouts (struct sa_conversion). Components are paired by name, and
 * their values are copied from one place to the other, narrower or wider. So there is one
 * store of client records, whatever layout they came in.
 */
#include "sa/record/record.h"

#include <string.h>

#include "conf/base/err.h"

static bool is_value(const struct sa_field *f)
{
	return (f->how & SA_HOW) != SA_RESERVED;
}

int sa_convert_component(const struct sa_attr *from, unsigned component,
                         const struct sa_attr *to)
{
	const struct sa_field *f = &from->fields[component];

	for (unsigned i = 0; is_value(f) && i < to->n_fields; i++) {
		if (is_value(&to->fields[i]) &&
		    strcmp(to->fields[i].name, f->name) == 0) {
			return (int)i;
		}
	}
	return SA_NONE;
}

/* \return false: the value is too large for its place. */
static bool copy_value(const struct sa_field *f, const uint8_t *from, const struct sa_field *t,
                 uint8_t *to)
{
	if (f->width > 64) {
		memcpy(to + t->bit / 8, from + f->bit / 8, f->width / 8);
		return true;
	}
	uint64_t value = field_get(from, f->bit, f->width);
	field_set(to, t->bit, t->width, value);
	return t->width >= f->width || value >> t->width == 0;
}

int sa_convert_request(struct snap_reader *r, const struct sa_query *q, uint8_t *record,
                       struct sa_query *ret_query)
{
	const struct sa_attr *own = q->attr, *base = own->converts->base;
	bool writes = (q->method & (SA_SET | SA_DELETE)) != 0;
	uint64_t mask = 0;
	bool fits = true;

	memset(record, 0, SA_CONVERTED_BYTES);
	for (unsigned i = 0; i < own->n_fields; i++) {
		int k = sa_convert_component(own, i, base);
		bool asked = q->comp_mask >> i & 1;
		if (k == SA_NONE) {
			continue;
		}
		bool held = copy_value(&own->fields[i], q->record, &base->fields[k], record);
		fits &= held || !(asked || writes);
		mask |= (uint64_t)asked << k;
	}
	int ret = own->converts->ask ? own->converts->ask(r, q, record, &mask) : E_OK;
	if (ret != E_OK || !fits) {
		return ret != E_OK ? ret : writes ? E_RANGE : E_NOTFOUND;
	}
	*ret_query = *q;
	ret_query->attr = base;
	ret_query->shown = own;
	ret_query->record = record;
	ret_query->comp_mask = mask;
	return E_OK;
}

void sa_convert_record(struct snap_reader *r, const struct sa_attr *shown,
                       const uint8_t *record, uint8_t *ret_record)
{
	const struct sa_attr *base = shown->converts->base;

	memset(ret_record, 0, shown->size);
	for (unsigned i = 0; i < shown->n_fields; i++) {
		int k = sa_convert_component(shown, i, base);
		if (k != SA_NONE) {
			(void)copy_value(&base->fields[k], record, &shown->fields[i],
			                 ret_record);
		}
	}
	if (shown->converts->show) {
		shown->converts->show(r, record, ret_record);
	}
}

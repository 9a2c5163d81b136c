/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Queries out of the fabric's values. Half of them ask for components of one record that
 * is there, so that something is found; in the others each component is, by the toss of
 * a coin, that of some other record or random. The fields not asked for are noise, which
 * must not matter. Mostly one to four components are asked for, sometimes none, sometimes
 * any set of bits, those of reserved components and beyond the last one too.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

#include "tests/differential/differential.h"

enum { MP_SGID_COUNT = 19, MP_DGID_COUNT = 20, MP_GIDS_AT = 24, GID_BYTES = 16 };

const struct diff_attr diff_attrs[] = {
	{ &rec_class_port_info, 1 },
	{ &rec_node, 12 },
	{ &rec_port_info, 24 },
	{ &rec_slvl_table, 6 },
	{ &rec_vl_arb, 6 },
	{ &rec_switch_info, 8 },
	{ &rec_linear_ft, 6 },
	{ &rec_mcast_ft, 2 },
	{ &rec_sm_info, 4 },
	{ &rec_link, 8 },
	{ &rec_guid_info, 6 },
	{ &rec_p_key_table, 6 },
	{ &rec_path, 40 },
	{ &rec_multi_path, 10 },
	{ &rec_service, 10 },
	{ &rec_mcmember, 10 },
	{ &rec_inform_info_record, 5 },
};
const unsigned n_diff_attrs = sizeof(diff_attrs) / sizeof(diff_attrs[0]);

/* splitmix64 */
static uint64_t next(uint64_t *rng)
{
	uint64_t z = *rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t below(uint64_t *rng, uint64_t n)
{
	return next(rng) % n;
}

static unsigned some_attr(uint64_t *rng)
{
	unsigned sum = 0, i = 0;

	for (unsigned k = 0; k < n_diff_attrs; k++) {
		sum += diff_attrs[k].weight;
	}
	uint64_t at = below(rng, sum);
	while (at >= diff_attrs[i].weight) {
		at -= diff_attrs[i++].weight;
	}
	return i;
}

static uint64_t some_mask(uint64_t *rng, unsigned n_fields)
{
	uint64_t mask = 0;

	switch (below(rng, 16)) {
	case 0: return 0;
	case 1: return next(rng);
	case 2:
		return next(rng) & next(rng) & next(rng) &
		       ((UINT64_C(1) << n_fields) - 1);
	default: break;
	}
	for (uint64_t n = 1 + below(rng, 4); n > 0; n--) {
		/* Identifiers come first in most records: they are asked for more often.
		 */
		mask |= UINT64_C(1)
		        << below(rng, below(rng, 3) ? n_fields : (n_fields + 2) / 3);
	}
	return mask;
}

static const uint8_t *some_record(uint64_t *rng, const struct diff_value_list *l,
                                  size_t size)
{
	return l->n ? l->data + below(rng, l->n) * size : NULL;
}

void diff_copy_bits(const struct sa_field *f, const uint8_t *from, uint8_t *to)
{
	for (unsigned at = 0; at < f->width; at += 64) {
		unsigned width = f->width - at < 64 ? f->width - at : 64;
		field_set(to, f->bit + at, width, field_get(from, f->bit + at, width));
	}
}

/* A few bits, or all. */
static void random_bits(uint64_t *rng, const struct sa_field *f, uint8_t *to)
{
	bool small = below(rng, 2);

	for (unsigned at = 0; at < f->width; at += 64) {
		unsigned width = f->width - at < 64 ? f->width - at : 64;
		uint64_t value =
			small ? (at + 64 >= f->width ? below(rng, 8) : 0) : next(rng);
		field_set(to, f->bit + at, width,
		          width < 64 ? value & ((UINT64_C(1) << width) - 1) : value);
	}
}

static void mix_values(uint64_t *rng, const struct diff_value_list *l,
                       struct diff_query *q)
{
	for (unsigned c = 0; c < q->attr->n_fields; c++) {
		const uint8_t *record = some_record(rng, l, q->attr->size);

		if (record != NULL && below(rng, 2)) {
			diff_copy_bits(&q->attr->fields[c], record, q->data);
		} else {
			random_bits(rng, &q->attr->fields[c], q->data);
		}
	}
}

/* OpenSM 3.3.23 dies (segmentation fault) of a query for the SL-to-VL tables of a port
 * beyond the last one of a switch, whoever asks. So ports that the fabric has are asked
 * for. */
static void keep_alive(uint64_t *rng, const struct diff_value_list *l,
                       struct diff_query *q)
{
	for (unsigned c = 1; l->n > 0 && c <= 2; c++) {
		diff_copy_bits(&q->attr->fields[c], some_record(rng, l, q->attr->size),
		               q->data);
	}
}

/* One to three GIDs of hosts on each side; now and then a count that does not fit. */
static void add_gids(uint64_t *rng, const struct diff_values *v, struct diff_query *q)
{
	const struct sa_field *f = q->attr->fields;
	int path = diff_attr_by_name(rec_path.name);
	unsigned n[2] = { 1 + (unsigned)below(rng, 3), 1 + (unsigned)below(rng, 3) };

	for (unsigned i = 0; i < n[0] + n[1]; i++) {
		const uint8_t *record = some_record(rng, &v->lists[path], rec_path.size);
		if (record != NULL) {
			memcpy(q->data + MP_GIDS_AT + (size_t)i * GID_BYTES,
			       record + (i < n[0] ? 24 : 8), GID_BYTES);
		}
	}
	if (below(rng, 32) == 0) {
		n[below(rng, 2)] = (unsigned)below(rng, 16);
	}
	if (below(rng, 32) == 0) {
		q->data[MP_GIDS_AT + below(rng, GID_BYTES)] ^= (uint8_t)next(rng);
	}
	field_set(q->data, f[MP_SGID_COUNT].bit, f[MP_SGID_COUNT].width, n[0]);
	field_set(q->data, f[MP_DGID_COUNT].bit, f[MP_DGID_COUNT].width, n[1]);
	if (below(rng, 32) != 0) {
		q->mask |= 1u << MP_SGID_COUNT | 1u << MP_DGID_COUNT;
	}
}

/* Components by which a policy decides, in PathRecord and in MultiPathRecord. */
static const struct by_policy {
	const struct sa_attr *attr;
	uint8_t service_msb, service_lsb, p_key, qos_class;
} by_policy[] = { { &rec_path, 0, 1, 13, 14 }, { &rec_multi_path, 16, 21, 7, 8 } };

enum { PR_DGID = 2, PR_SGID = 3, SERVICE_SDP = 0x10000 };

static void want(struct diff_query *q, unsigned component, uint64_t value)
{
	const struct sa_field *f = &q->attr->fields[component];

	q->mask |= UINT64_C(1) << component;
	field_set(q->data, f->bit, f->width, value);
}

/* Some service ID, QoS class or P_Key, between two ports that are there. */
static void ask_policy(uint64_t *rng, const struct diff_values *v, struct diff_query *q)
{
	static const uint64_t services[] = { 0x10648ca, 0x1060cbc, SERVICE_SDP, 0x1ffff };
	const struct by_policy *by = &by_policy[q->attr == &rec_multi_path];
	const struct diff_value_list *l = &v->lists[diff_attr_by_name(rec_path.name)];
	const uint8_t *record = some_record(rng, l, rec_path.size);

	if (by->attr == &rec_path && record != NULL && below(rng, 8)) {
		q->mask |= 1u << PR_DGID | 1u << PR_SGID;
		diff_copy_bits(&rec_path.fields[PR_DGID], record, q->data);
		record = some_record(rng, l, rec_path.size);
		diff_copy_bits(&rec_path.fields[PR_SGID], record, q->data);
	}
	if (below(rng, 3)) {
		want(q, by->service_msb, 0);
		want(q, by->service_lsb,
		     below(rng, 3) ? below(rng, 24) : services[below(rng, 4)]);
	}
	if (below(rng, 2)) {
		want(q, by->qos_class, below(rng, 12));
	}
	if (below(rng, 3) == 0) {
		want(q, by->p_key, below(rng, 2) ? 0xffff : 0x7fff);
	}
}

static uint8_t some_method(uint64_t *rng, const struct sa_attr *attr)
{
	if (attr->methods & SA_GETMULTI) {
		return UMAD_SA_METHOD_GET_MULTI;
	}
	return (attr->methods & SA_GETTABLE) && below(rng, 3) ? UMAD_SA_METHOD_GET_TABLE
	                                                      : UMAD_METHOD_GET;
}

void diff_query_make(const struct diff_values *v, uint64_t seed, uint64_t number,
                     struct diff_query *ret_query)
{
	uint64_t rng = seed * UINT64_C(0xd1342543de82ef95) + number;
	unsigned which =
		v->policy ? (unsigned)diff_attr_by_name(
				    below(&rng, 5) ? rec_path.name : rec_multi_path.name)
			  : some_attr(&rng);
	const struct sa_attr *attr = diff_attrs[which].attr;
	const struct diff_value_list *l = &v->lists[which];

	*ret_query = (struct diff_query){ .attr = attr, .number = number };
	ret_query->method = some_method(&rng, attr);
	ret_query->trusted = below(&rng, 2);
	ret_query->mask = some_mask(&rng, attr->n_fields);
	if (attr == &rec_port_info && below(&rng, 3) == 0) {
		ret_query->attr_mod = UINT32_C(0x80000000);
	}
	const uint8_t *record = some_record(&rng, l, attr->size);
	if (record != NULL && below(&rng, 2)) {
		memcpy(ret_query->data, record, attr->size);
	} else {
		mix_values(&rng, l, ret_query);
	}
	if (attr == &rec_slvl_table) {
		keep_alive(&rng, l, ret_query);
	}
	if (attr->methods & SA_GETMULTI) {
		add_gids(&rng, v, ret_query);
	}
	if (v->policy) {
		ask_policy(&rng, v, ret_query);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Every attribute is asked for by each of its components, with the values of some
 * records and others, in every method that reads. tests/golden/records has a line for
 * each component: the records that came, and a sum of the replies. A second fabric has several blocks of each table,
 * and adaptive routing. Other tests say what is right; this one says that a reply is no longer as it was. Where that
 * is meant, `make golden` writes the file anew.
 */
#include "sa/record/attributes.h"
#include "tests/lib/answer_util.h"
#include "tests/lib/client_rows.h"
#include "tests/lib/fabric.h"
#include "tests/lib/golden.h"
#include "tests/lib/suite.h"

enum { SAMPLES = 6, BASE_MAX = 2048 };

static const struct {
	unsigned method, bit;
} methods[] = {
	{ GET, SA_GET },
	{ GET_TABLE, SA_GETTABLE },
	{ GET_MULTI, SA_GETMULTI },
	{ GET_TRACE_TABLE, SA_GETTRACETABLE },
};

static void start_small(void)
{
	start_lmc(1, 1, PATH_MINIMAL);
	query_fixture_written(w);
}

/* Each host has 32 LIDs, and each leaf two cables to a spine. */
static void start_adaptive(void)
{
	const struct adaptive_options options = { .enable = true,
		                                  .fine_grained = true,
		                                  .port_groups = 255 };

	w = query_fixture_new();
	w->g = fabric_make("ft2 3 2 6 2", 0, 1, w->a);
	query_fixture_start(w, 5, 0, PATH_MINIMAL);
	ck_assert_int_eq(alternates_build(w->g, &w->lids, &w->route.out.lft, &options,
	                                  w->a, &w->route.alternates),
	                 E_OK);
	query_fixture_publish(w, PATH_MINIMAL);
}

static const struct {
	const char *golden;
	void (*start)(void);
} fabrics[] = { { "records", start_small }, { "records-adaptive", start_adaptive } };

/* Asks with a record of so many bytes. \return Records in the reply. */
static size_t ask_by(const struct sa_attr *attr, unsigned method, uint64_t mask,
                     const uint8_t *record, bool trusted, uint64_t *sum)
{
	uint8_t mad[BASE_MAX] = { attr->version == 2 ? 1 : 0x80, 3, attr->version,
		                  (uint8_t)method };
	const struct mad_addr from = { .lid = asker, .qpn = asker_qpn, .sl = 2 };
	size_t n = attr->size < BASE_MAX - DATA ? attr->size : BASE_MAX - DATA;

	put(mad + 8, 8, TID);
	put(mad + 16, 2, attr->id);
	put(mad + 36, 8, trusted ? SA_KEY : 0);
	put(mad + 48, 8, mask);
	memcpy(mad + DATA, record, n);
	ck_assert_int_eq(sa_serve(w->r, NULL, &limits, mad,
	                          attr->version == 2 ? 256 : BASE_MAX, &from, &reply),
	                 E_OK);
	*sum = golden_sum(*sum, reply.data, reply.len);
	return get(reply.data + 4, 2) == 0 ? n_records() : 0;
}

/* What a component is asked for by: its values in some records, and one off. */
static void put_component_line(FILE *f, const struct sa_attr *attr, unsigned method,
                               unsigned c, uint8_t sample[SAMPLES][BASE_MAX],
                               unsigned n_samples)
{
	uint64_t sum = GOLDEN_SUM, mask = UINT64_C(1) << c;
	const struct sa_field *field = &attr->fields[c];
	size_t n = 0;

	for (unsigned i = 0; i < n_samples; i++) {
		n += ask_by(attr, method, mask, sample[i], true, &sum);
		n += ask_by(attr, method, mask, sample[i], false, &sum);
		n += ask_by(attr, method, mask | 1, sample[i], true, &sum);
		n += ask_by(attr, method, mask | mask << 1, sample[i], true, &sum);
		sample[i][(field->bit + field->width - 1) / 8] ^= 1;
		n += ask_by(attr, method, mask, sample[i], true, &sum);
		sample[i][(field->bit + field->width - 1) / 8] ^= 1;
	}
	fprintf(f, "  %s %zu %016llx\n", field->name, n, (unsigned long long)sum);
}

/* Some records: the first of all there are, and one of no values. */
static unsigned take_samples(const struct sa_attr *attr,
                             uint8_t sample[SAMPLES][BASE_MAX])
{
	uint64_t sum = GOLDEN_SUM;
	unsigned n = 1;
	size_t found;

	memset(sample, 0, SAMPLES * BASE_MAX);
	if (!(attr->methods & SA_GETTABLE) ||
	    sa_attr_find(attr->version, attr->id, SA_GETTABLE) != attr) {
		return n;
	}
	found = ask_by(attr, GET_TABLE, 0, sample[0], true, &sum);
	for (size_t i = 0; i < found && n < SAMPLES; i += found / SAMPLES + 1) {
		memcpy(sample[n++], record(i),
		       attr->size < BASE_MAX ? attr->size : BASE_MAX);
	}
	return n;
}

START_TEST(every_component)
{
	static uint8_t sample[SAMPLES][BASE_MAX];
	struct golden golden;

	fabrics[_i].start();
	golden_begin(&golden, fabrics[_i].golden);
	for (unsigned i = 0; i < n_sa_attrs; i++) {
		const struct sa_attr *attr = sa_attrs[i];
		unsigned n = take_samples(attr, sample);

		for (unsigned k = 0; k < sizeof(methods) / sizeof(*methods); k++) {
			uint64_t sum = GOLDEN_SUM;

			if (!(attr->methods & methods[k].bit)) {
				continue;
			}
			size_t all =
				ask_by(attr, methods[k].method, 0, sample[0], true, &sum);

			all += ask_by(attr, methods[k].method, 0, sample[0], false, &sum);
			fprintf(golden.f, "%s %u %02x %zu %016llx\n", attr->name,
			        attr->version, methods[k].method, all,
			        (unsigned long long)sum);
			for (unsigned c = 0; c < attr->n_fields && c < 64; c++) {
				put_component_line(golden.f, attr, methods[k].method, c,
				                   sample, n);
			}
		}
	}
	golden_end(&golden);
}
END_TEST

TEST_SUITE(record_golden)
{
	TCase *t = tcase_create("record_golden");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, NULL, stop);
	tcase_add_loop_test(t, every_component, 0, sizeof(fabrics) / sizeof(fabrics[0]));
	suite_add_tcase(suite, t);
}

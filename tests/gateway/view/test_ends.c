/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Remembered end ports are those that a search finds, also after names have changed hands. */
#include <stdio.h>
#include <string.h>

#include "gateway/view/ends.h"
#include "tests/lib/fabric.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

enum { HOSTS = 6, PUBLISHES = 20, QUESTIONS = 200 };

static void check_same(struct ends *e, struct snap_reader *r, const char *text)
{
	struct endpoint found, want;

	int ret = endpoint_find(r, text, &want);
	ck_assert_msg(ends_find(e, r, text, &found) == ret, "'%s'", text);
	if (ret == E_OK) {
		ck_assert_msg(found.end.port_guid == want.end.port_guid &&
		                      found.end.base_lid == want.end.base_lid &&
		                      found.end.p_key_set == want.end.p_key_set &&
		                      found.lid == want.lid && found.alias == want.alias,
		              "'%s'", text);
	}
}

/* Asks for the end ports with these LIDs. \return How many of them were searched for. */
static unsigned ask_lids(struct ends *e, struct snap_reader *r, unsigned first,
                         unsigned n)
{
	unsigned before = e->n_kept;

	for (unsigned lid = first; lid < first + n; lid++) {
		char text[8];

		snprintf(text, sizeof(text), "%u", lid);
		check_same(e, r, text);
	}
	return e->n_kept - before;
}

/* A text: a name that some host has at times, a LID, a GUID, or what no end port is called. */
static void draw(uint64_t *state, char *ret_text, size_t bytes)
{
	unsigned i = (unsigned)random_below(state, HOSTS);

	switch (random_below(state, 5)) {
	case 0: snprintf(ret_text, bytes, "%u", i + 1); break;
	case 1: snprintf(ret_text, bytes, "0x%x", 0x100 * (i + 1) + 1); break;
	case 2: snprintf(ret_text, bytes, "nobody%u", i); break;
	case 3: snprintf(ret_text, bytes, "%0100u", i); break; /* too long to be kept */
	default: snprintf(ret_text, bytes, "host%u", i); break;
	}
}

START_TEST(finds_what_a_search_finds)
{
	static char name[HOSTS][8];
	struct query_fixture *w = query_fixture_new();
	uint64_t state = 815;
	struct ends known = { .slots = NULL };
	uint32_t node[HOSTS];

	uint32_t a = query_fixture_add(w, NODE_SWITCH, SW_A, 8, "sw-a");
	for (unsigned i = 0; i < HOSTS; i++) {
		node[i] = query_fixture_add(w, NODE_CA, 0x100 * (i + 1), 1, "host");
		query_fixture_cable(w, node[i], 1, a, i + 1, WIDTH_4X, SPEED_NDR, 5);
	}
	query_fixture_start(w, 0, 0, PATH_MINIMAL);
	for (unsigned k = 0; k < PUBLISHES; k++) {
		for (unsigned q = 0; q < QUESTIONS; q++) {
			char text[128];

			draw(&state, text, sizeof(text));
			check_same(&known, w->r, text);
		}
		ask_lids(&known, w->r, 1, HOSTS);
		ck_assert_uint_eq(ask_lids(&known, w->r, 1, HOSTS), 0);
		for (unsigned i = 0; i < HOSTS; i++) {
			snprintf(name[i], sizeof(name[i]), "host%u",
			         (unsigned)random_below(&state, HOSTS));
			w->g->nodes[i + 1].name = name[i];
		}
		query_fixture_publish(w, PATH_MINIMAL);
	}
	ends_done(&known);
	ck_assert_ptr_null(known.slots);
	query_fixture_free(w);
}
END_TEST

TEST_SUITE(ends)
{
	TCase *t = tcase_create("ends");
	tcase_add_test(t, finds_what_a_search_finds);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as opafm.xml: no crash, an error exactly when something is refused, and what is
 * accepted stands together: groups and includes lead to what is there, patterns match or not.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "conf/config.h"
#include "conf/device_group.h"
#include "conf/opafm.h"
#include "conf/virtual_fabric.h"
#include "tests/fuzz/fuzz.h"

struct values {
	const struct device_list *one, *many;
};

/* clang-format off */
static const struct option_row rows[] = {
	{ .name = "one", .type = OPT_DEVICE_GROUP, .offset = offsetof(struct values, one),
	  .xml = "Sm/FatTreeTopology/CoreSwitches" },
	{ .name = "many", .type = OPT_DEVICE_GROUPS, .offset = offsetof(struct values, many),
	  .xml = "Sm/DGShortestPathTopology/RoutingOrder/DeviceGroup" },
	{ .name = NULL }
};
/* clang-format on */

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void look_at_groups(const struct device_groups *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		require(device_group_find(g, g->groups[i].name) == i);
		for (uint32_t k = 0; k < g->groups[i].n_rules; k++) {
			const struct device_rule *r = &g->groups[i].rules[k];
			require(r->kind != DEVICE_INCLUDE_GROUP || r->value < g->n);
			if (r->kind == DEVICE_NODE_DESC) {
				device_pattern_match(r->pattern, r->pattern->text);
				device_pattern_match(r->pattern, "leaf 01 x10");
			}
		}
	}
}

static void look_at_fabrics(const struct virtual_fabrics *v)
{
	for (uint32_t i = 0; i < v->n; i++) {
		require(v->all[i].pkey <= 0x7fff);
		for (uint32_t k = 0; k < v->all[i].n_members; k++) {
			require(v->all[i].members[k] < v->groups->n);
		}
		for (uint32_t k = 0; k < v->all[i].n_applications; k++) {
			require(v->all[i].applications[k] < v->applications.n);
		}
	}
	for (uint32_t i = 0; i < v->applications.n; i++) {
		const struct application *a = &v->applications.all[i];
		for (uint32_t k = 0; k < a->n_mgids; k++) {
			const struct id_rule *r = &a->mgids[k];

			require(r->masked || r->a.high <= r->b.high);
		}
		for (uint32_t k = 0; k < a->n_includes; k++) {
			require(a->includes[k] < v->applications.n);
		}
	}
}

static void apply(struct xml_element *root, struct arena *a, struct diags *d)
{
	struct config c;
	struct values v;
	struct option_trace trace = { .arena = a };
	struct option_sets sets = { .trace = &trace };
	struct opafm got = { .groups = NULL };

	require(option_sets_add(&sets, config_rows, &c) == E_OK);
	require(option_sets_add(&sets, rows, &v) == E_OK);
	require(option_set_defaults(&sets, a) == E_OK);
	int ret = opafm_apply(root, "fuzz", "main", &sets, a, d, &got);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d->n_errors == 0));
	if (ret != E_OK) {
		return;
	}
	look_at_groups(got.groups);
	look_at_fabrics(got.fabrics);
	ret = option_bind_groups(&sets, got.groups, a, d);
	require((ret == E_OK) == (d->n_errors == 0));
	for (unsigned i = 0; i < trace.n; i++) {
		require(trace.seen[i].value != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct diags *d = a ? arena_alloc(a, sizeof(*d)) : NULL;
	struct xml_element *root = NULL;

	require(d != NULL);
	diags_init(d, a);
	xml_looks_like((const char *)data, size);
	int ret = xml_parse("fuzz", (const char *)data, size, a, d, &root);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d->n_errors == 0));
	if (ret == E_OK) {
		apply(root, a, d);
	}
	arena_free(a);
	return 0;
}

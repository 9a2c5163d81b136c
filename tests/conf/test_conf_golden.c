/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What the readers of an operator's files make of the texts of tests/fuzz/corpus, and of
 * those texts with a few faults: values and messages, as sums in tests/golden/readers.
 * Other tests say what is right; this one says that something is no longer as it was.
 * Where that is meant, or a text was added, `make golden` writes the file anew.
 */
#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "conf/device_group.h"
#include "conf/policy/guidfile.h"
#include "conf/policy/node_names.h"
#include "conf/policy/partitions.h"
#include "conf/policy/port_policy.h"
#include "conf/policy/prefix_routes.h"
#include "conf/policy/qos_policy.h"
#include "conf/virtual_fabric.h"
#include "tests/lib/golden.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

enum { DAMAGED = 40 };

static struct arena *arena;
static struct temp_folder folder;

static void setup(void)
{
	temp_folder_new(&folder);
}

static void teardown(void)
{
	static const char *const names[] = { "text", NULL };

	temp_folder_end(&folder, names);
}

/* --- values --- */

static uint64_t sum_group(uint64_t sum, const struct partition_group *g)
{
	const uint64_t v[] = { g->prefix, g->guid, g->q_key,  g->flow_label, g->rate,
		               g->mtu,    g->sl,   g->tclass, g->broadcast,  g->line };

	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++) {
		sum = golden_sum_number(sum, v[i]);
	}
	return sum;
}

static int read_partitions(const char *text, size_t len, struct diags *d, uint64_t *sum)
{
	const struct partitions *p = NULL;
	int ret = partitions_parse("text", text, len, arena, d, &p);

	for (uint32_t i = 0; ret == E_OK && i < p->n; i++) {
		const struct partition *x = &p->all[i];

		*sum = golden_sum_text(*sum, x->name);
		*sum = golden_sum_number(*sum, x->p_key);
		*sum = golden_sum_number(*sum, x->sl + 100u * x->indx0 + 1000u * x->line);
		for (uint32_t k = 0; k < x->n_members; k++) {
			*sum = golden_sum_number(*sum, x->members[k].first);
			*sum = golden_sum_number(*sum, x->members[k].last);
			*sum = golden_sum_number(*sum, x->members[k].who);
			*sum = golden_sum_number(*sum, x->members[k].membership);
			*sum = golden_sum_number(*sum, x->members[k].line);
		}
		for (uint32_t k = 0; k < x->n_groups; k++) {
			*sum = sum_group(*sum, &x->groups[k]);
		}
	}
	return ret;
}

static int read_prefix_routes(const char *text, size_t len, struct diags *d,
                              uint64_t *sum)
{
	const struct prefix_routes *p = NULL;
	int ret = prefix_routes_parse("text", text, len, arena, d, &p);

	for (uint32_t i = 0; ret == E_OK && i < p->n; i++) {
		*sum = golden_sum_number(*sum, p->route[i].prefix);
		*sum = golden_sum_number(*sum, p->route[i].router_port_guid);
	}
	return ret;
}

static uint64_t sum_ranges(uint64_t sum, const struct qos_ranges *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		sum = golden_sum_number(sum, r->range[i].from);
		sum = golden_sum_number(sum, r->range[i].to);
	}
	return golden_sum_number(sum, r->n);
}

static int read_qos_policy(const char *text, size_t len, struct diags *d, uint64_t *sum)
{
	const struct qos_policy *p = NULL;
	int ret = qos_policy_parse("text", text, len, arena, d, &p);

	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct qos_port_group *g = &p->groups[i];

		*sum = golden_sum_text(*sum, g->name);
		*sum = golden_sum_number(*sum, g->node_types + 100u * g->line);
		*sum = sum_ranges(*sum, &g->port_guids);
		*sum = sum_ranges(*sum, &g->p_keys);
		for (uint32_t k = 0; k < g->n_names; k++) {
			*sum = golden_sum_text(*sum, g->names[k].description);
			*sum = golden_sum_number(*sum, g->names[k].port);
		}
	}
	for (uint32_t i = 0; i < p->n_levels; i++) {
		const struct qos_level *l = &p->levels[i];
		const int64_t v[] = { l->line, l->sl, l->packet_life, l->mtu_limit,
			              l->rate_limit };

		*sum = golden_sum_text(*sum, l->name);
		for (unsigned k = 0; k < 5; k++) {
			*sum = golden_sum_number(*sum, (uint64_t)v[k]);
		}
		*sum = sum_ranges(*sum, &l->p_keys);
	}
	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct qos_match_rule *r = &p->rules[i];

		*sum = sum_ranges(*sum, &r->service_ids);
		*sum = sum_ranges(*sum, &r->qos_classes);
		*sum = sum_ranges(*sum, &r->p_keys);
		*sum = golden_sum_number(*sum, r->level + 1000u * r->line);
		for (uint32_t k = 0; k < r->n_sources; k++) {
			*sum = golden_sum_number(*sum, r->sources[k]);
		}
		for (uint32_t k = 0; k < r->n_destinations; k++) {
			*sum = golden_sum_number(*sum, r->destinations[k] + 1000u);
		}
	}
	*sum = golden_sum_number(*sum, p->default_level);
	return ret;
}

static int read_names(const char *text, size_t len, struct diags *d, uint64_t *sum)
{
	const struct node_names *n = NULL;
	int ret = node_names_parse("text", text, len, arena, d, &n);

	for (uint64_t guid = 0; ret == E_OK && guid < 64; guid++) {
		*sum = golden_sum_text(*sum, node_names_find(n, guid));
	}
	return ret;
}

static int read_guids(const char *text, size_t len, struct diags *d, uint64_t *sum)
{
	const struct guid_file *f = NULL;
	int ret = guid_file_parse("text", text, len, true, arena, d, &f);

	for (uint32_t i = 0; ret == E_OK && i < f->n; i++) {
		*sum = golden_sum_number(*sum, f->records[i].guid);
		*sum = golden_sum_text(*sum, f->records[i].rest);
		*sum = golden_sum_number(*sum, f->records[i].line);
	}
	return ret;
}

static int read_port_policy(const char *text, size_t len, struct diags *d, uint64_t *sum)
{
	const void *value = NULL;
	const struct port_policy *p;
	int ret;

	(void)len;
	temp_file_write("text", text);
	ret = port_policy_read("text", arena, d, &value);
	p = value;
	for (uint32_t i = 0; ret == E_OK && i < p->n; i++) {
		const struct port_policy_group *g = &p->groups[i];

		*sum = golden_sum_text(*sum, g->name);
		*sum = golden_sum_text(*sum, g->regexp);
		*sum = golden_sum_number(*sum, g->kind);
		*sum = golden_sum_number(*sum, g->from);
		*sum = golden_sum_number(*sum, g->to);
		*sum = golden_sum_number(*sum, g->port);
		*sum = golden_sum_number(*sum, g->a);
		*sum = golden_sum_number(*sum, g->b);
		for (uint32_t k = 0; g->guids != NULL && k < g->n; k++) {
			*sum = golden_sum_number(*sum, g->guids[k].guid);
			*sum = golden_sum_number(*sum, g->guids[k].ports[0]);
			*sum = golden_sum_number(*sum, g->guids[k].ports[3]);
		}
		for (uint32_t k = 0; g->names != NULL && k < g->n; k++) {
			*sum = golden_sum_text(*sum, g->names[k].host);
			*sum = golden_sum_number(*sum, g->names[k].port);
			*sum = golden_sum_number(*sum, g->names[k].hca_idx);
		}
	}
	return ret;
}

static uint64_t sum_fabrics(uint64_t sum, const struct virtual_fabrics *v)
{
	for (uint32_t i = 0; v != NULL && i < v->n; i++) {
		const struct virtual_fabric *f = &v->all[i];
		const int64_t n[] = { f->enable,
			              f->standby,
			              f->security,
			              f->pkey,
			              f->max_mtu,
			              f->max_rate,
			              f->qos,
			              f->sl,
			              f->multicast_sl,
			              f->service.high_priority,
			              f->service.bandwidth,
			              f->service.base_sl,
			              f->service.multicast_sl,
			              f->service.hoq_life,
			              f->service.preempt_rank,
			              f->n_members,
			              f->n_limited,
			              f->n_applications,
			              f->line };

		sum = golden_sum_text(sum, f->name);
		for (unsigned k = 0; k < sizeof(n) / sizeof(*n); k++) {
			sum = golden_sum_number(sum, (uint64_t)n[k]);
		}
	}
	return sum;
}

/* A configuration, lines or opafm.xml: as it is dumped again. */
static int read_config(const char *text, size_t len, struct diags *d, uint64_t *sum)
{
	char *argv[] = { (char *)"saguarod", (char *)"-F", (char *)"text", NULL };
	struct config c = { .opafm = false };
	char *dump = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&dump, &size);
	int ret;

	(void)len;
	temp_file_write("text", text);
	ret = config_read(&c, NULL, arena, 3, argv, d);
	if (ret == E_OK) {
		ck_assert_int_eq(config_dump(&c, NULL, arena, true, f), E_OK);
		*sum = sum_fabrics(*sum, c.virtual_fabrics);
	}
	fclose(f);
	*sum = golden_sum(*sum, dump, size);
	free(dump);
	return ret;
}

/* --- texts --- */

static const struct reader {
	const char *corpus; /* below tests/fuzz/corpus; NULL: text */
	const char *text;
	int (*read)(const char *text, size_t len, struct diags *d, uint64_t *sum);
} readers[] = {
	{ "partitions", NULL, read_partitions },
	{ "prefix_routes", NULL, read_prefix_routes },
	{ "qos_policy", NULL, read_qos_policy },
	{ "opafm", NULL, read_config },
	{ NULL,
	  "lmc 2\nsm_priority 7\nrouting_engine updn,minhop # which\nm_key 0x77\nsweep_interval 10\n"
	  "qos TRUE\nqos_max_vls 8\nqos_high_limit 4\nqos_vlarb_high 0:4,1:0,2:7\n"
	  "qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\nmax_wire_smps 4\n"
	  "log_file /dev/null\nguid 0x12\nno_such_key 1\nforce_link_speed 15\n"
	  "hoq_lifetime 0x12\nbabbling_port_policy TRUE\nscatter_ports 8\n"
	  "m_key_lease_period 60\nno_partition_enforcement FALSE\npart_enforce both\n",
	  read_config },
	{ NULL,
	  "0x1 one\n0x2 two # a remark\n\n0x3   three  \n0x4 \"four and more\"\n0x10 x\n",
	  read_names },
	{ NULL,
	  "0x1\n0x2 3 4 5\n# nothing\n0x0000000000000003 0x7\ngroup:ALL_CAS\n@leaves 5\n0x4\n",
	  read_guids },
	{ NULL,
	  "port-group\nname: a\nuse: text\nport-guid: 0x10, 0x11@3, 0x12@2-5/7\nend-port-group\n"
	  "port-group\nname: b\nport-guid-range: 0x10-0x1f\nend-port-group\n"
	  "port-group\nname: c\nport-name: hostname=n01; port=1, hostname=n02; hca_idx=2\nend-port-group\n"
	  "port-group\nname: d\nport-regexp: ^leaf.*:3\nend-port-group\n"
	  "port-group\nname: e\nunion-rule: a, b\nend-port-group\n"
	  "port-group\nname: f\nsubtract-rule: e, c\nend-port-group\n",
	  read_port_policy },
};

/* \return Was it accepted? */
static bool sum_read(const struct reader *r, const char *text, size_t len, uint64_t *sum)
{
	struct diags *d;
	int ret;

	arena = arena_new();
	d = arena_alloc(arena, sizeof(*d));
	diags_init(d, arena);
	ret = r->read(text, len, d, sum);
	*sum = golden_sum_number(*sum, (uint64_t)ret);
	*sum = golden_sum_text(*sum, take_problems(d));
	arena_free(arena);
	return ret == E_OK;
}

/* A line for a text: is it good, how many damaged ones are, and a sum of all. */
static void put_text(FILE *f, const struct reader *r, const char *name, const char *text,
                     size_t len, uint64_t state)
{
	uint64_t sum = GOLDEN_SUM;
	unsigned good = sum_read(r, text, len, &sum), n_good = 0;

	for (unsigned k = 0; k < DAMAGED && len < 20000; k++) {
		size_t n;
		char *bad = golden_damage(text, len, &state, &n);

		n_good += sum_read(r, bad, n, &sum);
		free(bad);
	}
	fprintf(f, "%s %u %u %016llx\n", name, good, n_good, (unsigned long long)sum);
}

static char *read_file(const char *path, size_t *ret_len)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "%s", path);
	*ret_len = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

START_TEST(test_readers)
{
	const struct reader *r = &readers[_i];
	struct golden golden;
	struct dirent **list = NULL;
	char path[PATH_MAX], top[PATH_MAX], name[300];
	const char *srcdir = getenv("srcdir");
	int n = 0;

	ck_assert_ptr_nonnull(realpath(srcdir != NULL ? srcdir : ".", top));
	snprintf(name, sizeof(name), "readers/%s%d",
	         r->corpus != NULL ? r->corpus : "text", r->corpus != NULL ? 0 : _i);
	golden_begin(&golden, name);
	temp_folder_enter(&folder);
	if (r->corpus == NULL) {
		put_text(golden.f, r, "text", r->text, strlen(r->text), 5);
	} else {
		snprintf(path, sizeof(path), "%.3000s/tests/fuzz/corpus/%s", top,
		         r->corpus);
		n = scandir(path, &list, NULL, alphasort);
		ck_assert_int_gt(n, 2);
	}
	for (int i = 0; i < n; i++) {
		size_t len;

		if (list[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%.3000s/tests/fuzz/corpus/%s/%s",
			         top, r->corpus, list[i]->d_name);
			char *text = read_file(path, &len);

			put_text(golden.f, r, list[i]->d_name, text, len, 7);
			free(text);
		}
		free(list[i]);
	}
	free(list);
	temp_folder_leave(&folder);
	golden_end(&golden);
}
END_TEST

TEST_SUITE(conf_golden)
{
	TCase *t = tcase_create("conf_golden");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_readers, 0, sizeof(readers) / sizeof(*readers));
	suite_add_tcase(suite, t);
}

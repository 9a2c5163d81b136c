/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Memory runs out at any place while a configuration is read: there is an error, and none of the new
 * values is taken.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "conf/policy/guidfile.h"
#include "conf/policy/node_names.h"
#include "conf/policy/partitions.h"
#include "conf/policy/prefix_routes.h"
#include "conf/policy/qos_policy.h"
#include "conf/virtual_fabric.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* The n-th allocation fails alone for an even i, and with all later ones for an odd one. */
static void fail_next(size_t n, int i)
{
	if (i % 2 == 0) {
		alloc_fail_at(n);
	} else {
		alloc_fail_from(n);
	}
}

/* --- all options ------------------------------------------------------------------------------ */

#define GROUP(name, in) "<DeviceGroup><Name>" name "</Name>" in "</DeviceGroup>\n"

static const char *const files[] = {
	"lmc 2\nsm_priority 7\nrouting_engine updn,minhop\nm_key 0x77\nno_such_key 1\n",
	"<?xml version=\"1.0\"?>\n<Config>\n<Common>\n<Shared><Priority>3</Priority></Shared>\n"
	"<DeviceGroups>\n" GROUP("Compute", "<NodeDesc>n[1-20]*</NodeDesc>") GROUP(
		"Other",
		"<DeviceGroup>Compute</DeviceGroup><NodeGUID>0x12</NodeGUID>") "</DeviceGroups>\n<Applications>\n<Application><Name>Storage</Name><ServiceID>0x10603DB</ServiceID></Application>\n</Applications>\n"
									       "<VirtualFabrics>\n<VirtualFabric><Name>Default</Name><Enable>1</Enable><PKey>0x8001</PKey><Member>Compute</Member><Application>Storage</Application></VirtualFabric>\n</VirtualFabrics>\n</Common>\n"
									       "<Fm>\n<Sm><RoutingAlgorithm>fattree</RoutingAlgorithm></Sm></Fm>\n</Config>\n",
};

enum { N_FILES = sizeof(files) / sizeof(files[0]) };

START_TEST(options_without_memory)
{
	char *path = temp_file(files[_i / 2], arena);
	char *argv[] = { (char *)"saguarod", (char *)"-F", path, (char *)"-l", (char *)"1" };
	unsigned n_problems = 0;

	for (size_t n = 0;; n++) {
		struct arena *a = arena_new();
		struct config c = { .lmc = 99 };
		struct diags d;

		config_diags_init(&d, a);
		fail_next(n, n == 0 ? 0 : _i);
		int ret = config_read(&c, NULL, a, 5, argv, &d);
		bool any = alloc_fail_end();

		if (any && ret != E_OK) {
			ck_assert_msg(ret == -ENOMEM, "allocation %zu fails: %s", n,
			              err_text(ret));
			ck_assert_uint_eq(c.lmc, 99);
		} else {
			ck_assert_msg(ret == E_OK, "%s", take_problems(&d));
			ck_assert_uint_eq(c.lmc, 1);
			ck_assert_ptr_nonnull(c.routing_engine);
			ck_assert_msg(n == 0 || d.n == n_problems || any,
			              "allocation %zu fails: a warning is lost", n);
			n_problems = d.n;
		}
		arena_free(a);
		if (!any && n > 0) {
			break;
		}
	}
	unlink(path);
}
END_TEST

/* --- policies --------------------------------------------------------------------------------- */

#define READER(name, type)                                                               \
	static int read_##name(const char *text, struct arena *a, struct diags *d,       \
	                       const void **ret)                                         \
	{                                                                                \
		const struct type *p = NULL;                                             \
		int status = name##_parse("f", text, strlen(text), a, d, &p);            \
                                                                                         \
		*ret = p;                                                                \
		return status;                                                           \
	}

READER(partitions, partitions)
READER(qos_policy, qos_policy)
READER(node_names, node_names)
READER(prefix_routes, prefix_routes)

/* clang-format off */
static const struct {
	const char *what;
	int (*read)(const char *text, struct arena *a, struct diags *d, const void **ret_value);
	const char *text;
} policies[] = {
	{ "partitions", read_partitions,
	  "Default=0x7fff, ipoib, sl=2 : ALL=limited, SELF=full;\n"
	  "a=0x11, ipoib, defmember=full : 0x1, 0x2=limited;\nb : ALL_CAS, 0x7=full;\nb : 0x8;\n" },
	{ "qos policy", read_qos_policy,
	  "port-groups\nport-group\nname: Virtual Servers\nport-guid: 0x10-0x20\nport-name: host HCA-1/P1\n"
	  "end-port-group\nend-port-groups\n"
	  "qos-ulps\nsdp, port-num 10000-20000 : 2\nany, service-id 0x77 : 3\nany, target-port-guid 0x5,0x6 : 3\nany, pkey 0x11 : 3\nend-qos-ulps\n"
	  "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n"
	  "qos-level\nname: fast\nsl: 3\nrate-limit: 3\nend-qos-level\nend-qos-levels\n"
	  "qos-match-rules\nqos-match-rule\nuse: by class 7-9\nqos-class: 7-9\nqos-level-name: fast\n"
	  "end-qos-match-rule\nqos-match-rule\nsource: Virtual Servers\nservice-id: 0x22\n"
	  "qos-level-name: DEFAULT\nend-qos-match-rule\nend-qos-match-rules\n" },
	{ "names of nodes", read_node_names, "0x1 \"leaf one\"\n0x2 \"leaf two\"\n" },
	{ "prefix routes", read_prefix_routes, "fec0000000000001 5\n* *\n" },
};
/* clang-format on */

enum { N_POLICIES = sizeof(policies) / sizeof(policies[0]) };

START_TEST(policy_without_memory)
{
	const char *what = policies[_i / 2].what;
	const void *p;

	for (size_t n = 1;; n++) {
		struct arena *a = arena_new();
		struct diags d;

		diags_init(&d, a);
		fail_next(n, _i);
		int ret = policies[_i / 2].read(policies[_i / 2].text, a, &d, &p);
		bool any = alloc_fail_end();

		if (!any) {
			ck_assert_msg(ret == E_OK, "%s: %s", what, diags_first_error(&d));
			ck_assert_ptr_nonnull(p);
		} else {
			ck_assert_msg(ret == -ENOMEM, "%s, allocation %zu fails: %s", what, n,
			              err_text(ret));
			ck_assert_ptr_null(p);
		}
		arena_free(a);
		if (!any) {
			break;
		}
	}
}
END_TEST

TEST_SUITE(config_alloc)
{
	TCase *t = tcase_create("config_alloc");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, options_without_memory, 0, 2 * N_FILES);
	tcase_add_loop_test(t, policy_without_memory, 0, 2 * N_POLICIES);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "conf/device_group.h"
#include "conf/virtual_fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

/* A file of the three sections in <Common>. */
static int parse(const char *text, const struct virtual_fabrics **ret_fabrics)
{
	struct xml_element *root = NULL;
	struct vf_sections s = { .n_fabrics = 0 };

	ck_assert_int_eq(xml_parse("v.xml", text, strlen(text), arena, &diags, &root), E_OK);
	s.n_fabrics = (s.fabrics[0] = xml_child(root, "VirtualFabrics")) != NULL;
	s.n_qos_groups = (s.qos_groups[0] = xml_child(root, "QOSGroups")) != NULL;
	s.n_applications = (s.applications[0] = xml_child(root, "Applications")) != NULL;
	return virtual_fabrics_parse("v.xml", &s, device_groups_builtin(), arena, &diags,
	                             ret_fabrics);
}

#define FILE_OF(in) "<Common>\n" in "</Common>\n"
#define APPS(in) "<Applications>\n" in "</Applications>\n"
#define APP(name, in) "<Application><Name>" name "</Name>" in "</Application>\n"
#define QOS(in) "<QOSGroups>\n" in "</QOSGroups>\n"
#define QG(name, in) "<QOSGroup><Name>" name "</Name>" in "</QOSGroup>\n"
#define VFS(in) "<VirtualFabrics>\n" in "</VirtualFabrics>\n"
#define VF(name, in) "<VirtualFabric><Name>" name "</Name>" in "</VirtualFabric>\n"
#define ON "<Enable>1</Enable><QOS>1</QOS>"

START_TEST(test_fabrics)
{
	const struct virtual_fabrics *v = NULL;
	int ret = parse(
		FILE_OF(APPS(
			APP("Storage",
	                    "<ServiceID>0x10603DB</ServiceID><ServiceIDRange>0x10-0x1f</ServiceIDRange><ServiceIDMasked>0x100*0xff00</ServiceIDMasked><MGID>0xff12:0x1</MGID><MGIDRange>0:0-1:0xffffffffffffffff</MGIDRange><MGIDMasked>0xff00:0*0xff00:0</MGIDMasked>")
				APP("Others",
	                            "<Select>UnmatchedServiceID</Select><Select>UnmatchedMGID</Select><IncludeApplication>Storage</IncludeApplication>")
					APP("Admin",
	                                    "<Select>SA</Select><Select>PM</Select>"))
	                        VFS(VF("Data", ON
	                               "<PKey>0x8002</PKey><Security>1</Security><Bandwidth>70%</Bandwidth><MaxMTU>4096</MaxMTU><MaxRate>100g</MaxRate><BaseSL>3</BaseSL><MulticastSL>4</MulticastSL><PktLifeTimeMult>3</PktLifeTimeMult><PreemptRank>127</PreemptRank><HoqLife>8ms</HoqLife><FlowControlDisable>1</FlowControlDisable><Member>AllFIs</Member><Member>AllSWE0s</Member><LimitedMember>All</LimitedMember><Application>Storage</Application>")
	                                    VF("Admin",
	                                       "<Enable>1</Enable><Standby>1</Standby><PKey>0x7fff</PKey><Application>Admin</Application><Application>Others</Application>"))),
		&v);
	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
	ck_assert_uint_eq(diags.n, 0);
	ck_assert_uint_eq(v->n, 2);
	const struct virtual_fabric *admin = &v->all[0], *data = &v->all[1];
	ck_assert_str_eq(data->name, "Data");
	ck_assert(data->enable && data->security && data->qos && !data->standby);
	ck_assert_uint_eq(data->pkey, 2);
	ck_assert_uint_eq(data->max_mtu, 5);
	ck_assert_uint_eq(data->max_rate, 100);
	ck_assert_uint_eq(data->service.bandwidth, 70);
	ck_assert_int_eq(data->service.base_sl, 3);
	ck_assert_int_eq(data->service.multicast_sl, 4);
	ck_assert_uint_eq(data->service.life_time_mult, 2); /* 3 rounded up to 2^2 */
	ck_assert_uint_eq(data->service.preempt_rank, 127);
	ck_assert_int_eq(data->service.hoq_life, 11);
	ck_assert(data->service.flow_control_disable);
	ck_assert_uint_eq(data->n_members, 2);
	ck_assert_str_eq(v->groups->groups[data->members[1]].name, "AllSWE0s");
	ck_assert_uint_eq(data->n_limited, 1);
	ck_assert_str_eq(v->applications.all[data->applications[0]].name, "Storage");
	ck_assert(admin->standby && !admin->qos);
	ck_assert_uint_eq(admin->pkey, 0x7fff);
	ck_assert_uint_eq(admin->max_mtu, 0);
	ck_assert_int_eq(admin->service.base_sl, -1);
	ck_assert_int_eq(admin->service.hoq_life, -1);
	ck_assert_uint_eq(admin->n_applications, 2);
	/* applications stand by name: Admin, Others, Storage */
	const struct application *others = &v->applications.all[1];
	ck_assert(others->unmatched_service && others->unmatched_mgid && !others->sa);
	ck_assert_uint_eq(others->includes[0], 2);
	ck_assert(v->applications.all[0].sa && v->applications.all[0].pm);
}
END_TEST

static bool is_between(struct wide from, struct wide x, struct wide to)
{
	return (x.high > from.high || (x.high == from.high && x.low >= from.low)) &&
	       (x.high < to.high || (x.high == to.high && x.low <= to.low));
}

/* The rule as the comment on struct id_rule states it. */
static bool fits(const struct id_rule *r, struct wide id)
{
	return r->masked ? (id.high & r->b.high) == r->a.high &&
	                           (id.low & r->b.low) == r->a.low
	                 : is_between(r->a, id, r->b);
}

START_TEST(test_ids)
{
	static const struct {
		const char *element;
		struct wide yes, no;
	} cases[] = {
		{ "<ServiceID>0x10</ServiceID>", { 0, 0x10 }, { 0, 0x11 } },
		{ "<ServiceIDRange>0x10-0x1f</ServiceIDRange>", { 0, 0x1f }, { 0, 0x20 } },
		{ "<ServiceIDRange>16-31</ServiceIDRange>", { 0, 0x10 }, { 0, 0xf } },
		{ "<ServiceIDMasked>0x100*0xff00</ServiceIDMasked>", { 0, 0x1ab }, { 0, 0x2ab } },
		{ "<MGID>0xff12:1</MGID>", { 0xff12, 1 }, { 0xff12, 2 } },
		{ "<MGIDRange>1:5-2:3</MGIDRange>", { 1, 6 }, { 1, 4 } },
		{ "<MGIDRange>1:5-2:3</MGIDRange>", { 2, 2 }, { 2, 4 } },
		{ "<MGIDMasked>0xff00:1*0xff00:1</MGIDMasked>", { 0xff12, 3 }, { 0xff12, 2 } },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct virtual_fabrics *v = NULL;
		const char *text = arena_printf(arena, FILE_OF(APPS(APP("a", "%s"))),
		                                cases[i].element);
		ck_assert_int_eq(parse(text, &v), E_OK);
		const struct application *a = &v->applications.all[0];
		const struct id_rule *r = a->n_services ? a->services : a->mgids;
		ck_assert_uint_eq(a->n_services + a->n_mgids, 1);
		ck_assert_msg(fits(r, cases[i].yes), "%s", cases[i].element);
		ck_assert_msg(!fits(r, cases[i].no), "%s", cases[i].element);
	}
}
END_TEST

START_TEST(test_qos_groups)
{
	const struct virtual_fabrics *v = NULL;
	ck_assert_int_eq(
		parse(FILE_OF(QOS(QG(
			      "Low",
			      "<Enable>1</Enable><Bandwidth>30%</Bandwidth><BaseSL>2</BaseSL>"))
	                              VFS(VF("a",
	                                     "<Enable>1</Enable><PKey>0x5</PKey><QOSGroup>Low</QOSGroup>"))),
	              &v),
		E_OK);
	ck_assert(v->all[0].qos);
	ck_assert_str_eq(v->all[0].qos_group, "Low");
	ck_assert_uint_eq(v->all[0].service.bandwidth, 30);
	ck_assert_int_eq(v->all[0].service.base_sl, 2);
	ck_assert_int_eq(v->all[0].service.multicast_sl, -1);
}
END_TEST

/* A multiplier of the packet life time counts as the next power of two. */
START_TEST(test_life_time_mult)
{
	static const unsigned cases[][2] = { { 1, 0 }, { 2, 1 }, { 3, 2 }, { 4, 2 },
		                             { 5, 3 }, { 1 << 19, 19 } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct virtual_fabrics *v = NULL;
		const char *text = arena_printf(
			arena, FILE_OF(VFS(VF("a", "<PktLifeTimeMult>%u</PktLifeTimeMult>"))),
			cases[i][0]);

		ck_assert_int_eq(parse(text, &v), E_OK);
		ck_assert_uint_eq(v->all[0].service.life_time_mult, cases[i][1]);
	}
}
END_TEST

/* All fabrics of a QOSGroup that names no SL share the one that the first of them got. */
START_TEST(test_group_shares_sl)
{
	const struct virtual_fabrics *v = NULL;
	int ret = parse(
		FILE_OF(QOS(QG("High", "<Enable>1</Enable>") QG("Low", "<Enable>1</Enable>"))
	                VFS(VF("a", "<Enable>1</Enable><PKey>5</PKey><QOSGroup>High</QOSGroup>")
	                    VF("b", "<Enable>1</Enable><PKey>6</PKey><QOSGroup>Low</QOSGroup>")
	                    VF("c", "<Enable>1</Enable><PKey>7</PKey><QOSGroup>High</QOSGroup>"))),
		&v);

	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
	ck_assert_uint_eq(v->n, 3);
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned k = 0; k < i; k++) {
			bool same = strcmp(v->all[i].qos_group, v->all[k].qos_group) == 0;

			ck_assert(same == (v->all[i].sl == v->all[k].sl));
		}
	}
}
END_TEST

static const struct {
	const char *what, *text;
	unsigned line;
	const char *error;
} bad[] = {
	{ "P_Key 0", FILE_OF(VFS(VF("a", "\n<PKey>0x8000</PKey>"))), 4,
	  "PKey '0x8000': expected a P_Key from 0x1 to 0x7fff" },
	{ "a P_Key of 17 bits", FILE_OF(VFS(VF("a", "<PKey>0x10001</PKey>"))), 3, "expected a P_Key" },
	{ "an SL", FILE_OF(VFS(VF("a", "<BaseSL>16</BaseSL>"))), 3,
	  "BaseSL '16': expected a number from 0 to 15" },
	{ "an MTU", FILE_OF(VFS(VF("a", "<MaxMTU>1500</MaxMTU>"))), 3,
	  "MaxMTU '1500': expected Unlimited, 256" },
	{ "a rate", FILE_OF(VFS(VF("a", "<MaxRate>fast</MaxRate>"))), 3, "expected Unlimited or a rate" },
	{ "a bandwidth", FILE_OF(VFS(VF("a", "<Bandwidth>120%</Bandwidth>"))), 3,
	  "Bandwidth '120%': expected 0% to 100%" },
	{ "a multiplier", FILE_OF(VFS(VF("a", "<PktLifeTimeMult>0</PktLifeTimeMult>"))), 3,
	  "PktLifeTimeMult '0': expected" },
	{ "a rank", FILE_OF(VFS(VF("a", "<PreemptRank>128</PreemptRank>"))), 3, "from 0 to 127" },
	{ "a switch", FILE_OF(VFS(VF("a", "<Enable>perhaps</Enable>"))), 3, "TRUE or FALSE" },
	{ "a member", FILE_OF(VFS(VF("a", "<LimitedMember>Nobody</LimitedMember>"))), 3,
	  "LimitedMember: unknown device group 'Nobody'" },
	{ "an application", FILE_OF(APPS(APP("SA", "")) VFS(VF("a", "<Application>PM</Application>"))),
	  6, "Application: unknown application 'PM'; define it in Applications" },
	{ "the same name", FILE_OF(VFS(VF("a", "") VF("a", ""))), 4,
	  "VirtualFabric 'a' is already defined in line 3" },
	{ "too much bandwidth",
	  FILE_OF(VFS(VF("a", ON "<Bandwidth>60%</Bandwidth>") VF("b", ON "<Bandwidth>50%</Bandwidth>"))),
	  4, "VirtualFabric 'b': Bandwidth of the enabled ones adds up to more than 100%" },
	{ "no bandwidth for the rest",
	  FILE_OF(VFS(VF("a", ON "<Bandwidth>96%</Bandwidth>") VF("b", "<Enable>1</Enable>"))), 3,
	  "more than 95%" },
	{ "an SL for multicast and not",
	  FILE_OF(VFS(VF("a", ON "<BaseSL>1</BaseSL><MulticastSL>2</MulticastSL>")
	              VF("b", ON "<BaseSL>2</BaseSL>"))),
	  3, "its MulticastSL is the BaseSL of another one" },
	{ "the same in the other order",
	  FILE_OF(VFS(VF("a", ON "<BaseSL>2</BaseSL>")
	              VF("b", ON "<BaseSL>1</BaseSL><MulticastSL>2</MulticastSL>"))),
	  4, "its MulticastSL is the BaseSL of another one" },
	{ "an unknown QOSGroup",
	  FILE_OF(VFS(VF("a", "<PKey>1</PKey>\n<QOSGroup>Low</QOSGroup>"))), 4,
	  "QOSGroup: unknown QOSGroup 'Low'" },
	{ "a QOSGroup and own settings",
	  FILE_OF(QOS(QG("Low", "<Enable>1</Enable>"))
	          VFS(VF("a", "<PKey>1</PKey><QOSGroup>Low</QOSGroup>\n<BaseSL>1</BaseSL>"))),
	  7, "BaseSL '1': the VirtualFabric has a QOSGroup" },
	{ "a QOSGroup without a P_Key",
	  FILE_OF(QOS(QG("Low", "<Enable>1</Enable>")) VFS(VF("a", "<QOSGroup>Low</QOSGroup>"))), 6,
	  "needs a PKey" },
	{ "no QOSGroup though there is one",
	  FILE_OF(QOS(QG("Low", "<Enable>1</Enable>")) VFS(VF("a", "<Enable>1</Enable>"))), 6,
	  "needs a QOSGroup" },
	{ "no QOSGroup though there is one before another that is off",
	  FILE_OF(QOS(QG("Low", "<Enable>1</Enable>") QG("Off", ""))
	          VFS(VF("a", "<Enable>1</Enable>"))),
	  7, "needs a QOSGroup" },
	{ "a QOSGroup that is off",
	  FILE_OF(QOS(QG("Low", ""))
	          VFS(VF("a", "<Enable>1</Enable><PKey>1</PKey><QOSGroup>Low</QOSGroup>"))),
	  6, "is not enabled" },
	{ "a service ID", FILE_OF(APPS(APP("a", "<ServiceID>x</ServiceID>"))), 3,
	  "ServiceID 'x': expected a number of 64 bits" },
	{ "a range of service IDs", FILE_OF(APPS(APP("a", "<ServiceIDRange>5</ServiceIDRange>"))), 3,
	  "expected from-to" },
	{ "a range the wrong way", FILE_OF(APPS(APP("a", "<ServiceIDRange>5-4</ServiceIDRange>"))), 3,
	  "does not end before it begins" },
	{ "a mask", FILE_OF(APPS(APP("a", "<ServiceIDMasked>5</ServiceIDMasked>"))), 3,
	  "expected value*mask" },
	{ "half an MGID", FILE_OF(APPS(APP("a", "<MGID>5</MGID>"))), 3, "high:low" },
	{ "an MGID range", FILE_OF(APPS(APP("a", "<MGIDRange>1:2</MGIDRange>"))), 3,
	  "high:low-high:low" },
	{ "a selector", FILE_OF(APPS(APP("a", "<Select>FM</Select>"))), 3,
	  "expected UnmatchedServiceID, UnmatchedMGID, SA or PM" },
	{ "an unknown application",
	  FILE_OF(APPS(APP("a", "<IncludeApplication>b</IncludeApplication>"))), 3,
	  "unknown application 'b'" },
	{ "applications in a cycle",
	  FILE_OF(APPS(APP("a", "<IncludeApplication>b</IncludeApplication>")
	               APP("b", "\n<IncludeApplication>a</IncludeApplication>"))),
	  5, "IncludeApplication 'a': a cycle, 'a' includes 'b' includes 'a'" },
};

START_TEST(test_bad)
{
	const struct virtual_fabrics *v = NULL;

	ck_assert_int_eq(parse(bad[_i].text, &v), E_SYNTAX);
	ck_assert_ptr_null(v);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_msg(strstr(diags.items[0].text, bad[_i].error) != NULL, "%s: %s",
	              bad[_i].what, diags.items[0].text);
	ck_assert_uint_eq(diags.items[0].line, bad[_i].line);
}
END_TEST

/* SLs and P_Keys that the file omits are assigned in its order, the lowest free one each. */
START_TEST(test_chosen)
{
	static const struct {
		const char *name;
		unsigned sl, multicast_sl, pkey;
	} want[] = { { "A", 1, 1, 3 }, { "B", 0, 5, 2 }, { "C", 1, 1, 5 },
		     { "D", 2, 2, 4 }, { "E", 0, 0, 0x7fff } };
	const struct virtual_fabrics *v = NULL;
	int ret = parse(FILE_OF(VFS(
		VF("B", ON "<PKey>2</PKey><BaseSL>0</BaseSL><MulticastSL>5</MulticastSL>")
			VF("A", "<Enable>1</Enable>") VF("D", ON "<PKey>4</PKey>")
				VF("C", "<Enable>1</Enable>")
					VF("E", ON "<PKey>0x7fff</PKey><BaseSL>0</BaseSL>")
						VF("Off", "<PKey>9</PKey>"))),
	                &v);

	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_str_eq(v->all[i].name, want[i].name);
		ck_assert_msg(v->all[i].sl == want[i].sl, "%s: SL %u", want[i].name,
		              v->all[i].sl);
		ck_assert_uint_eq(v->all[i].multicast_sl, want[i].multicast_sl);
		ck_assert_msg(v->all[i].pkey == want[i].pkey, "%s: P_Key %u",
		              want[i].name, v->all[i].pkey);
	}
	ck_assert_uint_eq(virtual_fabrics_active(v), 5);
}
END_TEST

/* An SL that is written down is nobody else's, also SL 0 and also one for multicast only. */
START_TEST(test_written_sl_is_taken)
{
	const struct virtual_fabrics *v = NULL;
	int ret = parse(
		FILE_OF(VFS(
			VF("B", ON
	                   "<PKey>2</PKey><BaseSL>1</BaseSL><MulticastSL>0</MulticastSL>")
				VF("D", ON "<PKey>4</PKey>"))),
		&v);

	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
	ck_assert_str_eq(v->all[1].name, "D");
	ck_assert_uint_eq(v->all[1].sl, 2);
}
END_TEST

/* Multicast on the fabric's own SL is no conflict. */
START_TEST(test_own_multicast_sl)
{
	const struct virtual_fabrics *v = NULL;
	int ret = parse(FILE_OF(VFS(VF("B", ON "<BaseSL>3</BaseSL><MulticastSL>3</MulticastSL>"))),
	                &v);

	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
	ck_assert_uint_eq(v->all[0].sl, 3);
	ck_assert_uint_eq(v->all[0].multicast_sl, 3);
}
END_TEST

/* Seventeen that each want an SL of their own. */
START_TEST(test_no_sl_left)
{
	const struct virtual_fabrics *v = NULL;
	char text[4000] = "<Common>\n<VirtualFabrics>\n";

	for (unsigned i = 0; i < 17; i++) {
		size_t len = strlen(text);
		snprintf(
			text + len, sizeof(text) - len,
			"<VirtualFabric><Name>v%u</Name><Enable>1</Enable><QOS>1</QOS></VirtualFabric>\n",
			i);
	}
	strcat(text, "</VirtualFabrics>\n</Common>\n");
	ck_assert_int_eq(parse(text, &v), E_SYNTAX);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_uint_eq(diags.items[0].line, 19);
	ck_assert_ptr_nonnull(strstr(diags.items[0].text, "no SL is left"));
}
END_TEST

TEST_SUITE(virtual_fabric)
{
	TCase *t = tcase_create("virtual_fabric");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_chosen);
	tcase_add_test(t, test_written_sl_is_taken);
	tcase_add_test(t, test_own_multicast_sl);
	tcase_add_test(t, test_group_shares_sl);
	tcase_add_test(t, test_no_sl_left);
	tcase_add_test(t, test_fabrics);
	tcase_add_test(t, test_ids);
	tcase_add_test(t, test_qos_groups);
	tcase_add_test(t, test_life_time_mult);
	tcase_add_loop_test(t, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(suite, t);
}

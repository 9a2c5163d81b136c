/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "conf/device_group.h"
#include "conf/opafm.h"
#include "conf/opafm_value.h"
#include "conf/virtual_fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

/* An engine with settings of its own. */
struct engine_values {
	uint32_t tiers;
	const struct device_list *core, *order;
};

/* clang-format off */
static const struct option_row engine_rows[] = {
	{ .name = "tiers", .type = OPT_UINT, .offset = offsetof(struct engine_values, tiers),
	  .def = "0", .max = 10, .xml = "Sm/FatTreeTopology/TierCount", .help = "Tiers" },
	{ .name = "core", .type = OPT_DEVICE_GROUP, .offset = offsetof(struct engine_values, core),
	  .xml = "Sm/FatTreeTopology/CoreSwitches", .help = "Core" },
	{ .name = "order", .type = OPT_DEVICE_GROUPS, .offset = offsetof(struct engine_values, order),
	  .xml = "Sm/DGShortestPathTopology/RoutingOrder/DeviceGroup", .help = "Order" },
	{ .name = NULL }
};
/* clang-format on */

static struct arena *arena;
static struct diags diags;
static struct config config;
static struct engine_values engine;
static char *path;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	path = temp_file("", arena);
}

static void teardown(void)
{
	unlink(path);
	arena_free(arena);
}

/* As saguarod would: -F FILE and more words, NULL-terminated. */
static int read_with(const char *text, const char *const *more)
{
	char *argv[16] = { (char *)"saguarod", (char *)"-F", path };
	int argc = 3;
	struct option_sets sets = { .n = 0 };

	for (; more != NULL && *more != NULL; more++) {
		argv[argc++] = (char *)*more;
	}
	temp_file_write(path, text);
	diags_init(&diags, arena);
	ck_assert_int_eq(option_sets_add(&sets, engine_rows, &engine), E_OK);
	return config_read(&config, &sets, arena, argc, argv, &diags);
}

static const char *problems(enum diag_level least)
{
	const char *text = "";
	for (unsigned i = 0; i < diags.n; i++) {
		if (diags.items[i].level >= least) {
			text = arena_printf(arena, "%s%u: %s\n", text, diags.items[i].line,
			                    diags.items[i].text);
		}
	}
	return text;
}

static void good(const char *text)
{
	ck_assert_msg(read_with(text, NULL) == E_OK, "%s", problems(DIAG_WARNING));
	/* the one warning that is about us, not about the file */
	ck_assert_uint_eq(diags.n_warnings, config.adaptive.fine_grained);
}

#define CONFIG(in) "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Config>\n" in "</Config>\n"
#define COMMON(in) "<Common>\n" in "</Common>\n"
#define FM(name, in) "<Fm>\n<Shared><Name>" name "</Name></Shared>\n" in "</Fm>\n"
#define SM(in) "<Sm>\n" in "</Sm>\n"
#define GROUP(name, in) "<DeviceGroup><Name>" name "</Name>" in "</DeviceGroup>\n"

static const char site[] =
	CONFIG(COMMON(
		"<DeviceGroups>\n" GROUP("Core",
                                         "<NodeDesc>core[1-4]</NodeDesc>") GROUP("Compute",
                                                                                 "<NodeDesc>cn*</NodeDesc>") GROUP("Storage", "<IncludeGroup>AllTFIs</IncludeGroup>") "</DeviceGroups>\n"
																				      "<Shared><Priority>3</Priority><LogLevel>2</LogLevel></Shared>\n" SM("<RoutingAlgorithm>FatTree</RoutingAlgorithm><Lmc>2</Lmc><LmcE0>1</LmcE0><PathSelection>OrderAll</PathSelection><FatTreeTopology><TierCount>2</TierCount><CoreSwitches>Core</CoreSwitches></FatTreeTopology><DGShortestPathTopology><RoutingOrder><DeviceGroup>Compute</DeviceGroup><DeviceGroup>All</DeviceGroup><DeviceGroup>Storage</DeviceGroup></RoutingOrder></DGShortestPathTopology><AdaptiveRouting><Enable>1</Enable><FineGrained>1</FineGrained><LostRouteOnly>1</LostRouteOnly><Algorithm>0</Algorithm><ARFrequency>5</ARFrequency><Threshold>7</Threshold></AdaptiveRouting><SwitchLifetime>33ms</SwitchLifetime><HoqLife>8ms</HoqLife><VLStallCount>5</VLStallCount><PacketLifetime>1s</PacketLifetime><DynamicPacketLifetime><Enable>1</Enable><Hops01>67ms</Hops01><Hops03>134ms</Hops03></DynamicPacketLifetime><SweepInterval>300</SweepInterval><IgnoreTraps>1</IgnoreTraps><MaxAttempts>3</MaxAttempts><RespTimeout>250</RespTimeout><DbSyncInterval>15</DbSyncInterval><Multicast><EnablePruning>0</EnablePruning></Multicast>"))
                       FM("fm0", SM("<Lmc>3</Lmc>")) FM(
			       "fm1",
			       "<DeviceGroups>" GROUP(
				       "Core",
				       "<NodeGUID>0x5</NodeGUID>") "</DeviceGroups><Shared><SubnetPrefix>0xfe80000000001001</SubnetPrefix><Priority>5</Priority></Shared>"));

START_TEST(test_site)
{
	good(site);
	ck_assert_str_eq(config.routing_engine, "fattree");
	ck_assert_uint_eq(config.lmc, 3); /* of fm0 */
	ck_assert_uint_eq(config.lmc_esp0, 1);
	ck_assert_uint_eq(config.path_selection, PATH_ORDERALL);
	ck_assert_uint_eq(config.sm_priority, 3);
	ck_assert_uint_eq(config.packet_life_time, 13);
	ck_assert_uint_eq(config.head_of_queue_lifetime, 11);
	ck_assert_uint_eq(config.leaf_head_of_queue_lifetime, 11);
	ck_assert_uint_eq(config.vl_stall_count, 5);
	ck_assert_uint_eq(config.leaf_vl_stall_count, 5);
	ck_assert_uint_eq(config.sweep_interval, 300);
	ck_assert(!config.sweep_on_trap);
	ck_assert_uint_eq(config.transaction_retries, 2);
	ck_assert_uint_eq(config.transaction_timeout, 250);
	ck_assert(config.adaptive.enable);
	ck_assert(config.adaptive.fine_grained);
	ck_assert(config.adaptive.lost_route_only);
	ck_assert_uint_eq(config.adaptive.algorithm, 0);
	ck_assert_uint_eq(config.adaptive.frequency, 5);
	ck_assert_uint_eq(config.adaptive.threshold, 7);
	ck_assert_uint_eq(engine.tiers, 2);
	ck_assert_str_eq(engine.core->names[0], "Core");
	ck_assert_uint_eq(engine.order->n, 3);
	ck_assert_str_eq(engine.order->names[0], "Compute");
	ck_assert_str_eq(engine.order->names[1], "All");
	ck_assert_str_eq(engine.order->names[2], "Storage");
	ck_assert_ptr_eq(engine.order->groups, config.device_groups);
	ck_assert_str_eq(config.path_life_times, "14,14,15,15,15,15,15,15,15");
}
END_TEST

/* An instance wins over Common, its groups over those of Common. */
START_TEST(test_instance)
{
	ck_assert_int_eq(read_with(site, (const char *[]){ "--instance", "fm1", NULL }), E_OK);
	ck_assert_uint_eq(config.lmc, 2);
	ck_assert_uint_eq(config.subnet_prefix, 0xfe80000000001001);
	ck_assert_uint_eq(config.sm_priority, 5);
	ck_assert_uint_eq(engine.core->groups->groups[engine.core->index[0]].rules[0].guid, 5);
	ck_assert_str_eq(config.instance, "fm1");

	ck_assert_int_eq(read_with(site, (const char *[]){ "--instance", "fm7", NULL }),
	                 E_SYNTAX);
	ck_assert_str_eq(diags_first_error(&diags),
	                 "instance 'fm7': no Fm has this Name; there are fm0, fm1");
}
END_TEST

/* Flags win over the file, in any format. */
START_TEST(test_flags)
{
	ck_assert_int_eq(read_with(site, (const char *[]){ "-l", "1", "-R", "updn", NULL }),
	                 E_OK);
	ck_assert_uint_eq(config.lmc, 1);
	ck_assert_str_eq(config.routing_engine, "updn");
}
END_TEST

START_TEST(test_little)
{
	good("<Config/>");
	ck_assert_str_eq(config.routing_engine, "shortestpath");
	good(CONFIG(COMMON("")));
	good(CONFIG(FM("fm0", "")));
	good("\xef\xbb\xbf" CONFIG(COMMON(SM("<Lmc> 2\n</Lmc>"))));
	ck_assert_uint_eq(config.lmc, 2);
	ck_assert_str_eq(config.path_life_times, "18");
	ck_assert_uint_eq(config.subnet_timeout, 17);
	good(CONFIG(COMMON(SM("<PacketLifetime>67ms</PacketLifetime>"))));
	ck_assert_str_eq(config.path_life_times, "14");
	good(CONFIG(COMMON(SM(
		"<PacketLifetime>1s</PacketLifetime><DynamicPacketLifetime><Enable>1</Enable><Hops03>134ms</Hops03></DynamicPacketLifetime>"))));
	ck_assert_str_eq(config.path_life_times, "18,18,15,15,15,15,15,15,15");
	/* keys and values are still understood */
	good("lmc 2\n");
	ck_assert_ptr_null(config.routing_engine);
}
END_TEST

/* The ends of the ranges of adaptive routing are good. */
START_TEST(test_adaptive_limits)
{
	good(CONFIG(COMMON(SM(
		"<AdaptiveRouting><Algorithm>2</Algorithm><ARFrequency>7</ARFrequency><Threshold>7</Threshold><LostRouteOnly>1</LostRouteOnly></AdaptiveRouting>"))));
	good(CONFIG(COMMON(SM(
		"<AdaptiveRouting><Algorithm>0</Algorithm><ARFrequency>0</ARFrequency><Threshold>0</Threshold><LostRouteOnly>0</LostRouteOnly></AdaptiveRouting>"))));
}
END_TEST

/* Links drop so many lanes, and these errors restart them; WidthPolicy has no effect. */
START_TEST(test_links)
{
	good("<Config/>");
	ck_assert_uint_eq(config.host_dropped_lanes, 1);
	ck_assert_uint_eq(config.switch_dropped_lanes, 1);
	ck_assert_uint_eq(config.port_error_action, 0x172000);
	good(CONFIG(COMMON(SM(
		"<HFILinkPolicy><MaxDroppedLanes>3</MaxDroppedLanes><WidthPolicy><Enable>1</Enable><Policy>Supported</Policy></WidthPolicy></HFILinkPolicy><ISLLinkPolicy><MaxDroppedLanes>0</MaxDroppedLanes></ISLLinkPolicy><DefaultPortErrorAction>0x80000002</DefaultPortErrorAction>"))));
	ck_assert_uint_eq(config.host_dropped_lanes, 3);
	ck_assert_uint_eq(config.switch_dropped_lanes, 0);
	ck_assert_uint_eq(config.port_error_action, 0x80000002);
}
END_TEST

/* Settings as they were found, for reports. */
START_TEST(test_trace)
{
	static const struct {
		const char *element, *value;
		enum option_fate fate;
	} expected[] = { { "Sm/RoutingAlgorithm", "FatTree", OPTION_TAKEN },
		         { "Sm/SwitchLifetime", "33ms", OPTION_TAKEN },
		         { "Sm/DynamicPacketLifetime/Hops01", "67ms", OPTION_TAKEN },
		         { "Sm/DGShortestPathTopology/RoutingOrder/DeviceGroup",
		           "Compute, All, Storage", OPTION_TAKEN },
		         { "DeviceGroups/DeviceGroup", "Core", OPTION_TAKEN },
		         { "Sm/AdaptiveRouting/Threshold", "7", OPTION_TAKEN },
		         { "Sm/DbSyncInterval", "15", OPTION_NO_EFFECT },
		         { "Sm/Multicast", "(1 settings)", OPTION_NO_EFFECT },
		         { "Shared/LogLevel", "2", OPTION_NO_EFFECT } };
	good(site);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		bool found = false;
		for (unsigned k = 0; k < config.trace->n; k++) {
			const struct option_seen *s = &config.trace->seen[k];
			found |= s->element != NULL &&
			         strcmp(s->element, expected[i].element) == 0 &&
			         strcmp(s->value, expected[i].value) == 0 &&
			         s->fate == expected[i].fate && s->line > 0;
		}
		ck_assert_msg(found, "%s", expected[i].element);
	}
}
END_TEST

static const struct {
	const char *what, *text, *problems; /* all of them, in order */
} warned[] = {
	{ "an unknown element",
	  CONFIG(COMMON(SM("<Lmc>1</Lmc>\n<Colour>red</Colour>\n"))),
	  "6: unknown element Sm/Colour: no effect\n" },
	{ "an unknown section",
	  CONFIG(COMMON("<Garden><Tree>1</Tree></Garden>\n") "<Fun>1</Fun>\n"),
	  "4: unknown element Garden: no effect\n6: unknown element Fun: no effect\n" },
	{ "an unknown element of a known section",
	  CONFIG(COMMON(
		  SM("<FatTreeTopology>\n<TierCount>2</TierCount>\n<Colour>red</Colour>\n"
	             "</FatTreeTopology>\n"))),
	  "7: unknown element Sm/FatTreeTopology/Colour: no effect\n" },
	{ "the same twice", CONFIG(COMMON(SM("<Lmc>1</Lmc>\n<Lmc>2</Lmc>\n"))),
	  "6: Sm/Lmc was already set in line 5; the last one counts\n" },
	{ "fine grained alone",
	  CONFIG(COMMON(
		  SM("<AdaptiveRouting><FineGrained>1</FineGrained></AdaptiveRouting>"))),
	  "0: fine-grained adaptive routing (adaptive_fine_grained, FineGrained) is off, because adaptive routing itself (adaptive_routing, Enable) is off\n" },
};

START_TEST(test_warned)
{
	ck_assert_msg(read_with(warned[_i].text, NULL) == E_OK, "%s", problems(DIAG_WARNING));
	ck_assert_str_eq(problems(DIAG_WARNING), warned[_i].problems);
	ck_assert(!config.adaptive.fine_grained);
}
END_TEST

/* Engines share options. Each gets the value, and the file's author hears of a problem once. */
START_TEST(test_shared)
{
	static const char text[] = CONFIG(COMMON(
		SM("<FatTreeTopology>\n<TierCount>2</TierCount>\n<TierCount>3</TierCount>\n"
	           "</FatTreeTopology>\n"
	           "<DGShortestPathTopology><RoutingOrder>\n<DeviceGroup>All</DeviceGroup>\n"
	           "<DeviceGroup>AllSWs</DeviceGroup></RoutingOrder></DGShortestPathTopology>\n")));
	char *argv[] = { (char *)"saguarod", (char *)"-F", path, NULL };
	struct engine_values one, other;
	struct option_sets sets = { .n = 0 };

	temp_file_write(path, text);
	ck_assert_int_eq(option_sets_add(&sets, engine_rows, &one), E_OK);
	ck_assert_int_eq(option_sets_add(&sets, engine_rows, &other), E_OK);
	ck_assert_int_eq(config_read(&config, &sets, arena, 3, argv, &diags), E_OK);
	ck_assert_str_eq(
		problems(DIAG_WARNING),
		"7: Sm/FatTreeTopology/TierCount was already set in line 6; the last one counts\n");
	for (unsigned i = 0; i < 2; i++) {
		const struct engine_values *v = i == 0 ? &one : &other;

		ck_assert_uint_eq(v->tiers, 3);
		ck_assert_uint_eq(v->order->n, 2);
		ck_assert_str_eq(v->order->names[1], "AllSWs");
		ck_assert_uint_eq(v->order->lines[0], 10);
		ck_assert_uint_eq(v->order->lines[1], 11);
	}
}
END_TEST

static const struct {
	const char *what, *text;
	unsigned line;
	const char *error; /* part of it */
} bad[] = {
	{ "no Config", "<Configuration/>", 1, "element Configuration: expected Config" },
	{ "groups alone", "<DeviceGroups/>", 1, "expected Config" },
	{ "an LMC too large", CONFIG(COMMON(SM("<Lmc>8</Lmc>\n"))), 5,
	  "Sm/Lmc '8': expected a number from 0 to 7" },
	{ "an LMC of the instance",
	  CONFIG(COMMON(SM("<Lmc>1</Lmc>\n")) FM("a", SM("<Lmc>9</Lmc>"))), 11,
	  "Sm/Lmc '9': expected" },
	{ "LmcE0 above Lmc", CONFIG(COMMON(SM("<Lmc>1</Lmc>\n<LmcE0>2</LmcE0>\n"))), 6,
	  "Sm/LmcE0 '2': expected a number not above Lmc, which is 1" },
	{ "TierCount is no number",
	  CONFIG(COMMON(SM(
		  "<FatTreeTopology>\n<TierCount>three</TierCount></FatTreeTopology>\n"))),
	  6, "Sm/FatTreeTopology/TierCount 'three': expected a number from 0 to 10" },
	{ "TierCount without a value",
	  CONFIG(COMMON(SM("<FatTreeTopology><TierCount/></FatTreeTopology>\n"))), 5,
	  "Sm/FatTreeTopology/TierCount '': expected a number" },
	{ "a core group that is not there",
	  CONFIG(COMMON(SM(
		  "<FatTreeTopology>\n<CoreSwitches>Spines</CoreSwitches></FatTreeTopology>\n"))),
	  6, "unknown device group 'Spines'" },
	{ "two core groups",
	  CONFIG(COMMON(SM(
		  "<FatTreeTopology>\n<CoreSwitches>All, Self</CoreSwitches></FatTreeTopology>"))),
	  6, "expected the name of one device group" },
	{ "an order with an unknown group",
	  CONFIG(COMMON(SM(
		  "<DGShortestPathTopology><RoutingOrder>\n<DeviceGroup>AllSW</DeviceGroup></RoutingOrder></DGShortestPathTopology>\n"))),
	  6, "unknown device group 'AllSW'; did you mean 'AllSWs'?" },
	{ "an order whose third group is unknown",
	  CONFIG(COMMON(SM(
		  "<DGShortestPathTopology><RoutingOrder>\n<DeviceGroup>All</DeviceGroup>\n"
		  "<DeviceGroup>Self</DeviceGroup>\n<DeviceGroup>Nobody</DeviceGroup></RoutingOrder></DGShortestPathTopology>\n"))),
	  8, "RoutingOrder/DeviceGroup: unknown device group 'Nobody'" },
	{ "a group in the order twice",
	  CONFIG(COMMON(SM(
		  "<DGShortestPathTopology><RoutingOrder>\n<DeviceGroup>All</DeviceGroup><DeviceGroup>All</DeviceGroup></RoutingOrder></DGShortestPathTopology>\n"))),
	  6, "each once" },
	{ "a cycle of groups",
	  CONFIG(COMMON(
		  "<DeviceGroups>\n" GROUP("a", "<IncludeGroup>b</IncludeGroup>") GROUP(
			  "b", "<IncludeGroup>a</IncludeGroup>") "</DeviceGroups>\n")),
	  6, "a cycle, 'a' includes 'b' includes 'a'" },
	{ "a range without end",
	  CONFIG(COMMON("<DeviceGroups>\n" GROUP(
		  "a", "<NodeDesc>n[1-</NodeDesc>") "</DeviceGroups>\n")),
	  5, "NodeDesc 'n[1-': a range without its end" },
	{ "a path selection", CONFIG(COMMON(SM("<PathSelection>All</PathSelection>\n"))),
	  5,
	  "Sm/PathSelection 'All': expected minimal, pairwise, orderall or srcdstall" },
	{ "a time", CONFIG(COMMON(SM("<HoqLife>8 fortnights</HoqLife>\n"))), 5,
	  "Sm/HoqLife '8 fortnights': expected a time" },
	{ "a life time", CONFIG(COMMON(SM("<PacketLifetime>soon</PacketLifetime>\n"))), 5,
	  "Sm/PacketLifetime 'soon': expected a time" },
	{ "a life time of so many hops",
	  CONFIG(COMMON(SM(
		  "<DynamicPacketLifetime>\n<Hops04>5h</Hops04></DynamicPacketLifetime>\n"))),
	  6, "Sm/DynamicPacketLifetime/Hops04 '5h': expected a time" },
	{ "a time too long",
	  CONFIG(COMMON(SM("<SwitchLifetime>9999h</SwitchLifetime>\n"))), 5,
	  "Sm/SwitchLifetime '9999h': expected a time" },
	{ "no attempts", CONFIG(COMMON(SM("<MaxAttempts>0</MaxAttempts>\n"))), 5,
	  "Sm/MaxAttempts '0': expected a number of attempts" },
	{ "a switch that is no switch",
	  CONFIG(COMMON(SM("<IgnoreTraps>maybe</IgnoreTraps>\n"))), 5,
	  "Sm/IgnoreTraps 'maybe': expected 0 or 1" },
	{ "protection that is not here",
	  CONFIG(COMMON(SM("<McDosThreshold>5</McDosThreshold>\n"))), 5,
	  "Sm/McDosThreshold '5': there is no such protection here" },
	{ "an algorithm of adaptive routing that there is not",
	  CONFIG(COMMON(
		  SM("<AdaptiveRouting>\n<Algorithm>3</Algorithm></AdaptiveRouting>\n"))),
	  6, "Sm/AdaptiveRouting/Algorithm '3': expected a number from 0 to 2" },
	{ "too rare an adjustment",
	  CONFIG(COMMON(SM(
		  "<AdaptiveRouting>\n<ARFrequency>8</ARFrequency></AdaptiveRouting>\n"))),
	  6, "Sm/AdaptiveRouting/ARFrequency '8': expected a number from 0 to 7" },
	{ "a threshold in percent, of the instance",
	  CONFIG(COMMON(SM("<Lmc>1</Lmc>\n"))
	                 FM("a", SM("<AdaptiveRouting>\n"
	                            "<Threshold>55</Threshold></AdaptiveRouting>"))),
	  12, "Sm/AdaptiveRouting/Threshold '55': expected a number from 0 to 7" },
	{ "a threshold without a value",
	  CONFIG(COMMON(SM("<AdaptiveRouting>\n<Threshold/></AdaptiveRouting>\n"))), 6,
	  "Sm/AdaptiveRouting/Threshold '': expected a number" },
	{ "lost routes: neither yes nor no",
	  CONFIG(COMMON(SM(
		  "<AdaptiveRouting>\n<LostRouteOnly>2</LostRouteOnly></AdaptiveRouting>\n"))),
	  6, "Sm/AdaptiveRouting/LostRouteOnly '2': expected 0 or 1" },
	{ "an unknown member",
	  CONFIG(COMMON(
		  "<VirtualFabrics>\n<VirtualFabric><Name>v</Name>\n<Member>Alll</Member></VirtualFabric></VirtualFabrics>\n")),
	  6, "Member: unknown device group 'Alll'; did you mean 'All'?" },
	{ "cut off", "<Config>\n<Common>\n<Sm><Lmc>2", 3, "not well-formed XML" },
	{ "a bomb", "<!DOCTYPE Config [<!ENTITY a \"2\">]><Config/>", 1,
	  "document type" },
};

/* Refused with line and element; what ran before stays as it was. */
START_TEST(test_bad)
{
	good(site);
	const struct config before = config;
	ck_assert_int_eq(read_with(bad[_i].text, NULL), E_SYNTAX);
	ck_assert_uint_ge(diags.n_errors, 1);
	bool found = false;
	for (unsigned i = 0; i < diags.n; i++) {
		found |= diags.items[i].level == DIAG_ERROR &&
		         diags.items[i].line == bad[_i].line &&
		         strstr(diags.items[i].text, bad[_i].error) != NULL;
	}
	ck_assert_msg(found, "%s: %s", bad[_i].what, problems(DIAG_WARNING));
	ck_assert_mem_eq(&before, &config, sizeof(config));
}
END_TEST

START_TEST(test_all_errors)
{
	ck_assert_int_eq(read_with(CONFIG(COMMON(SM("<Lmc>8</Lmc>\n<PathSelection/>\n")
	                                         "<DeviceGroups>\n" GROUP("a", "<NodeType>X</NodeType>")
	                                         "</DeviceGroups>\n")),
	                           NULL),
	                 E_SYNTAX);
	ck_assert_uint_eq(diags.n_errors, 3);
}
END_TEST

/* An engine that does not exist is told with its place, unless a flag named it. */
START_TEST(test_refuse)
{
	good(site);
	diags_init(&diags, arena);
	config_refuse(&config, "routing_engine", config.routing_engine, "unknown", &diags);
	ck_assert_str_eq(problems(DIAG_ERROR), "11: Sm/RoutingAlgorithm: unknown\n");
	ck_assert_int_eq(read_with(site, (const char *[]){ "-R", "x", NULL }), E_OK);
	diags_init(&diags, arena);
	config_refuse(&config, "routing_engine", config.routing_engine, "unknown", &diags);
	ck_assert_str_eq(problems(DIAG_ERROR), "0: routing_engine: unknown\n");
}
END_TEST

static const struct {
	option_xml_f *f;
	const char *in, *out;
} values[] = {
	{ opafm_life_time, "4us", "0" },        { opafm_life_time, "4097ns", "1" },
	{ opafm_life_time, "67ms", "14" },      { opafm_life_time, "68ms", "15" },
	{ opafm_life_time, "134ms", "15" },     { opafm_life_time, "268ms", "16" },
	{ opafm_life_time, "536MS", "17" },     { opafm_life_time, "1s", "18" },
	{ opafm_life_time, "2h", "31" },        { opafm_life_time, "3h", "32" },
	{ opafm_life_time, "999999999999h", "999999999999h" },
	{ opafm_life_time, "13", "13" },        { opafm_life_time, "1.5s", "1.5s" },
	{ opafm_life_time, "", "" },            { opafm_life_time, "s", "s" },
	{ opafm_attempts, "1", "0" },           { opafm_attempts, "x", "x" },
	{ opafm_percent, "10%", "10" },         { opafm_percent, "10", "10" },
	{ opafm_rate, "100g", "100" },          { opafm_rate, "unlimited", "0" },
	{ opafm_rate, "100", "100" },           { opafm_pkey, "0xffff", "0x7fff" },
	{ opafm_pkey, "0x8000", "0x8000" },     { opafm_pkey, "0x8001", "0x1" },
	{ opafm_lower, "FatTree", "fattree" },  { opafm_not, "0", "TRUE" },
	{ opafm_not, "1", "FALSE" },
};

START_TEST(test_values)
{
	ck_assert_str_eq(values[_i].f(values[_i].in, arena), values[_i].out);
}
END_TEST

/* The file that opa-fm's package brings, where it is installed. */
START_TEST(test_shipped)
{
	static const char shipped[] = "/usr/share/opa-fm/opafm.xml";
	char *argv[] = { (char *)"saguarod", (char *)"-F", (char *)shipped };
	struct option_sets sets = { .n = 0 };

	if (access(shipped, R_OK) != 0) {
		return;
	}
	ck_assert_int_eq(option_sets_add(&sets, engine_rows, &engine), E_OK);
	ck_assert_msg(config_read(&config, &sets, arena, 3, argv, &diags) == E_OK, "%s",
	              problems(DIAG_WARNING));
	ck_assert_str_eq(config.routing_engine, "shortestpath");
	ck_assert_uint_eq(engine.tiers, 3);
	ck_assert_uint_eq(config.path_selection, PATH_MINIMAL);
	ck_assert_uint_eq(config.virtual_fabrics->n, 9);
	ck_assert_uint_ne(device_group_find(config.device_groups, "Rack1DG"), DEVICE_GROUP_NONE);
}
END_TEST

TEST_SUITE(opafm)
{
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
	TCase *t = tcase_create("opafm");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_site);
	tcase_add_test(t, test_instance);
	tcase_add_test(t, test_flags);
	tcase_add_test(t, test_little);
	tcase_add_test(t, test_links);
	tcase_add_test(t, test_adaptive_limits);
	tcase_add_test(t, test_trace);
	tcase_add_test(t, test_shared);
	tcase_add_loop_test(t, test_warned, 0, COUNT(warned));
	tcase_add_loop_test(t, test_bad, 0, COUNT(bad));
	tcase_add_test(t, test_all_errors);
	tcase_add_test(t, test_refuse);
	tcase_add_loop_test(t, test_values, 0, COUNT(values));
	tcase_add_test(t, test_shipped);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/config.h"
#include "conf/device_group.h"
#include "conf/opafm_value.h"
#include "conf/policy/node_names.h"
#include "conf/policy/partitions.h"
#include "conf/policy/prefix_routes.h"
#include "conf/policy/qos_policy.h"

/*
 * The rows of struct config: those of conf/options.def, which Saguaro acts on, and keys of
 * OpenSM's file and flags of its command line that have no effect here. The second kind
 * lets the opensm.conf and the start script of a site work as they are. The default of such
 * a row is the value that OpenSM 3.3.23 writes, so only values that somebody chose cause a
 * warning. If a routing engine acts on such a key, the engine's row counts.
 */

const char *const path_selection_names[] = { "minimal", "pairwise", "orderall",
	                                     "srcdstall", NULL };
const char *const log_format_names[] = { "text", "json", NULL };
const char *const credit_loops_names[] = { "fallback", "refuse", "program", NULL };
const char *const sm_trust_names[] = { "announced", "any", NULL };
const char *const smp_routing_names[] = { "directed", "lid", "auto", NULL };
const char *const transition_names[] = { "safe", "any", NULL };
const char *const link_health_names[] = { "off", "watch", "isolate", NULL };
const char *const rebalance_names[] = { "auto", "ask", "never", NULL };
const char *const hm_ca_action_names[] = { "ignore", "report", "isolate", NULL };
const char *const hm_sw_action_names[] = { "ignore", "report", "isolate", "no_discover",
	                                   NULL };
const char *const part_enforce_names[] = { "both", "in", "out", "off", NULL };

/* Keys of MLNX_OFED: 0 leaves the feature alone, 1 disables it, 2 enables it. */
static const char *const not_enabled[] = { "1", NULL };

#define AT(member) .offset = offsetof(struct config, member)
#define ROW(...) { .group = OPTION_GROUP, __VA_ARGS__ },
/* A time in opafm.xml. */
#define LIFE(element)                                                                    \
	.xml = element, .from_xml = opafm_life_time,                                     \
	.xml_expected = opafm_life_time_expected

/* No effect: key of the file; with a flag that takes an argument; with one that does not.
 */
#define NONE(key, value, text)                                                           \
	{                                                                                \
		.name = key, .type = OPT_IGNORED, .def = value, .help = text             \
	}
#define NONE_ARG(key, value, l, names, what, text)                                       \
	{                                                                                \
		.name = key, .type = OPT_IGNORED, .def = value, .letter = l,             \
		.flags_long = names, .arg = what, .help = text                           \
	}
#define NONE_FLAG(key, l, names, text)                                                   \
	{                                                                                \
		.name = key, .type = OPT_IGNORED, .def = "FALSE", .letter = l,           \
		.flags_long = names, .flags = OPT_NO_ARG, .help = text                   \
	}
/* No effect, and a flag of the command line only. */
#define NONE_CLI(key, l, names, what, text)                                              \
	{                                                                                \
		.name = key, .type = OPT_IGNORED, .letter = l, .flags_long = names,      \
		.arg = what, .flags = OPT_CLI_ONLY | ((what) == NULL ? OPT_NO_ARG : 0),  \
		.help = text                                                             \
	}
/* The same for what protects a fabric: another value is refused, unless it is one of
 * harmless or --ignore-unsupported is given. */
#define NONE_REFUSED(key, value, harmless, text)                                         \
	{                                                                                \
		.name = key, .type = OPT_IGNORED, .def = value, .names = harmless,       \
		.flags = OPT_REFUSE, .help = text                                        \
	}

/* clang-format off */
const struct option_row config_rows[] = {
#include "conf/options.def"

	/* accepted without effect: identity, links */
	NONE("fdr10", "1", "Use of FDR10 on ports that support it"),
	NONE("use_mfttop", "TRUE", "Use of MulticastFDBTop on switches that support it"),

	/* routing */
	NONE("port_profile_switch_nodes", "FALSE", "Count routes to switches in port balancing"),
	NONE_ARG("port_prof_ignore_file", NULL, 'i', "ignore_guids", "FILE",
		"Ports to leave out of port balancing"),
	NONE_ARG("hop_weights_file", NULL, 'w', "hop_weights_file", "FILE",
		"Weights of ports in the count of hops"),
	NONE_ARG("port_search_ordering_file", NULL, 'O', "port_search_ordering_file", "FILE",
		"Order of dimensions or ports of each switch"),
	NONE_ARG("dimn_ports_file", NULL, 0, "dimn_ports_file", "FILE",
		"Older name of port_search_ordering_file"),
	NONE("avoid_throttled_links", "FALSE", "Route around throttled links"),
	NONE_FLAG("connect_roots", 'z', "connect_roots", "Routes between root switches"),
	NONE_ARG("lid_matrix_dump_file", NULL, 'M', "lid_matrix_file", "FILE",
		"Hop counts to load"),
	NONE_ARG("lfts_file", NULL, 'U', "lfts_file", "FILE", "Forwarding tables to load"),
	NONE_ARG("root_guid_file", NULL, 'a', "root_guid_file", "FILE",
		"GUIDs of root switches"),
	NONE_ARG("cn_guid_file", NULL, 'u', "cn_guid_file", "FILE",
		"Port GUIDs of compute nodes"),
	NONE_ARG("io_guid_file", NULL, 'G', "io_guid_file", "FILE", "Port GUIDs of I/O nodes"),
	NONE_FLAG("quasi_ftree_indexing", 0, "quasi_ftree_indexing", "Other indexing of unequal fat trees; ftree finds the order of any tree by majority"),
	NONE_ARG("max_reverse_hops", "0", 'H', "max_reverse_hops", "N",
		"Hops in the wrong direction that I/O nodes may take"),
	NONE_ARG("ids_guid_file", NULL, 'm', "ids_guid_file", "FILE",
		"Numbers to use instead of node GUIDs"),
	NONE_ARG("guid_routing_order_file", NULL, 'X', "guid_routing_order_file", "FILE",
		"Order in which ports are routed"),
	NONE_FLAG("do_mesh_analysis", 0, "do_mesh_analysis", "Look for a mesh before routing"),
	NONE_ARG("lash_start_vl", "0", 0, "lash_start_vl", "VL", "First virtual lane to use"),
	NONE_ARG("nue_max_num_vls", "1", 0, "nue_max_num_vls", "N",
		"Most virtual lanes to use"),
	NONE("nue_include_switches", "FALSE", "Also spread routes to switches"),
	NONE_FLAG("port_shifting", 0, "port-shifting", "Shift routes against alignment"),
	NONE_ARG("scatter_ports", "0", 0, "scatter-ports", "SEED",
		"Order of ports at random, from a seed"),
	NONE_FLAG("guid_routing_order_no_scatter", 0, "guid_routing_order_no_scatter",
		"No random order for ports that have a routing order"),
	NONE_ARG("torus_config", "/etc/opensm/torus-2QoS.conf", 0, "torus_config", "FILE",
		"Layout of a torus"),
	NONE("pgrp_policy_file", NULL, "File of port groups"),
	NONE("topo_policy_file", NULL, "File of topologies"),
	NONE("rch_policy_file", NULL, "File of a routing chain"),

	/* subnet administration */
	NONE("ipoib_mcgroup_creation_validation", "TRUE", "Checks on IPoIB groups at creation"),
	NONE("mcgroup_join_validation", "TRUE", "Checks on ports that join a group"),
	NONE("use_original_extended_sa_rates_only", "FALSE", "Only the first extended rates"),
	NONE_FLAG("consolidate_ipv6_snm_req", 0, "consolidate_ipv6_snm_req",
		"One multicast LID for IPv6 solicited-node groups"),
	NONE("drop_event_subscriptions", "FALSE", "Forget subscriptions at restart"),

	/* several subnet managers */
	NONE("ignore_other_sm", "FALSE", "Do not look for other subnet managers"),
	NONE_FLAG("sm_inactive", 'I', "inactive", "Start as an inactive subnet manager"),
	NONE("fsync_high_avail_files", "TRUE", "Write state files through to the disk"),

	/* packets and threads */
	NONE("max_wire_smps2", "4", "Most packets in flight after timeouts"),
	NONE("max_smps_timeout", "600000", "Time in us until more packets may be in flight"),
	NONE("long_transaction_timeout", "500", "Timeout in ms of slow requests"),
	NONE("max_msg_fifo_timeout", "10000", "Age in ms at which waiting queries are dropped"),
	NONE("single_thread", "FALSE", "One thread for all messages"),
	NONE_FLAG("daemon", 'B', "daemon", "Run in the background"),
	NONE("babbling_port_policy", "FALSE", "Disable ports that send too many traps"),
	NONE("enable_quirks", "FALSE", "Work around defects of old devices"),
	NONE("exit_on_fatal", "TRUE", "Exit on duplicate GUIDs and reversed lanes"),
	NONE_CLI("stay_on_fatal", 'y', "stay_on_fatal", NULL,
		"Go on after duplicate GUIDs and reversed lanes"),
	NONE_CLI("pidfile", 'J', "pidfile", "FILE", "File for the process number"),
	NONE_CLI("debug", 'd', "debug", "0-10", "Number of a debugging aid"),

	/* performance manager */
	NONE("event_db_dump_file", NULL, "File for counters"),

	/* plug-ins, names, logs, console */
	NONE("event_plugin_name", NULL, "Names of plug-ins"),
	NONE("event_plugin_options", NULL, "Options of plug-ins"),
	NONE_ARG("log_flags", "0x03", 'D', "D", "FLAGS", "Kinds of log messages"),
	NONE("force_log_flush", "FALSE", "Write each message at once"),
	NONE_ARG("log_max_size", "0", 'L', "log_limit", "MB", "Size at which the log is cut"),
	NONE("accum_log_file", "TRUE", "Append to the log file"),
	NONE_CLI("erase_log_file", 'e', "erase_log_file", NULL, "Start with an empty log file"),
	NONE("per_module_logging_file", "/etc/opensm/per-module-logging.conf",
		"Kinds of log messages per source file"),
	NONE_ARG("log_prefix", NULL, 0, "log_prefix", "TEXT", "Text in front of messages"),
	NONE_ARG("console", "off", 'q', "console", "off|local|loopback", "Console"),
	NONE_ARG("console_port", "10000", 'C', "console-port", "PORT", "Port of the console"),

	/* quality of service */
	NONE("suppress_sl2vl_mad_status_errors", "FALSE", "Do not log refused SL-to-VL tables"),

#include "conf/options_mlnx.def"

	{ .name = NULL }
};
/* clang-format on */

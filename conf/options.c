/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/config.h"
#include "conf/device_group.h"
#include "conf/opafm_value.h"
#include "conf/policy/node_names.h"
#include "conf/policy/prefix_routes.h"
#include "conf/policy/qos_policy.h"

/*
 * The rows of struct config.
 *
 * Two kinds: keys that Saguaro acts on, and keys of OpenSM's file and flags of its
 * command line that have no effect here. The second kind lets a site's opensm.conf and
 * start script work as they are; its default is what OpenSM 3.3.23 writes, so that only
 * values somebody chose are warned about. A routing engine that acts on such a key brings
 * its own row, which then counts.
 *
 * The file is one table: longer than others, but each row is read alone.
 */

const char *const path_selection_names[] = { "minimal", "pairwise", "orderall",
	                                     "srcdstall", NULL };
const char *const credit_loops_names[] = { "fallback", "refuse", "program", NULL };

/* Of a key of MLNX_OFED's: 0 leaves it alone, 1 switches it off, 2 on. */
static const char *const not_enabled[] = { "1", NULL };

static const char *const adaptive_names[] = { "random", "greedy", "greedyrandom", NULL };

#define MEMBER(m) .offset = offsetof(struct config, m)
#define UINT(key, m, value, least, most)                                                 \
	.name = key, .type = OPT_UINT, MEMBER(m), .def = value, .min = least, .max = most
#define BOOL(key, m, value) .name = key, .type = OPT_BOOL, MEMBER(m), .def = value
#define GUID(key, m, value) .name = key, .type = OPT_GUID, MEMBER(m), .def = value
#define STRING(key, m, value) .name = key, .type = OPT_STRING, MEMBER(m), .def = value

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
/* The same for what protects a fabric: set to more than one of the values, it is refused.
 */
#define NONE_REFUSED(key, value, harmless, text)                                         \
	{                                                                                \
		.name = key, .type = OPT_IGNORED, .def = value, .names = harmless,       \
		.flags = OPT_REFUSE, .help = text                                        \
	}
/* A time in opafm.xml. */
#define LIFE(element)                                                                    \
	.xml = element, .from_xml = opafm_life_time, .xml_expected = opafm_life_time_expected
/* The five keys that exist per kind of port. */
/* clang-format off */
#define QOS(prefix, of, where)                                                           \
	{ UINT(prefix "_max_vls", qos_keys[of].max_vls, "0", 0, 15),                     \
	  .help = "Virtual lanes that quality of service uses on " where "; 0 is not set" }, \
		{ .name = prefix "_high_limit",                                          \
		  .type = OPT_INT,                                                       \
		  MEMBER(qos_keys[of].high_limit),                                       \
		  .def = "-1",                                                           \
		  .min = UINT64_MAX, /* -1 */                                            \
		  .max = 255,                                                            \
		  .help = "Limit of High Priority of VL arbitration on " where           \
			  ": 4096 bytes * value, 255 is none; -1 is not set" },          \
		{ .name = prefix "_vlarb_high",                                          \
		  .type = OPT_VL_WEIGHTS,                                                \
		  MEMBER(qos_keys[of].vlarb_high),                                       \
		  .help = "High-priority VL arbitration table of " where ": pairs VL:WEIGHT" }, \
		{ .name = prefix "_vlarb_low",                                           \
		  .type = OPT_VL_WEIGHTS,                                                \
		  MEMBER(qos_keys[of].vlarb_low),                                        \
		  .help = "Low-priority VL arbitration table of " where ": pairs VL:WEIGHT" }, \
	{                                                                                \
		.name = prefix "_sl2vl", .type = OPT_SL2VL, MEMBER(qos_keys[of].sl2vl),  \
		.help = "VL of each of the 16 SLs on " where "; 15 drops"                \
	}

/* clang-format off */
const struct option_row config_rows[] = {
	/* programs */
	{ STRING("config_file", config_file, NULL), .letter = 'F', .flags_long = "config",
	  .flags = OPT_CLI_ONLY, .arg = "FILE",
	  .help = "Read options from FILE, an opensm.conf or an opafm.xml" },
	{ STRING("create_config", create_config, NULL), .letter = 'c',
	  .flags_long = "create-config", .flags = OPT_CLI_ONLY, .arg = "FILE",
	  .help = "Write every key with its value to FILE and exit" },
	{ BOOL("strict_config", strict_config, "FALSE"), .flags_long = "strict-config",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "Refuse a file of options with unknown keys, or that names a file which does not exist; without it both are warnings; so is a line of the topology file of a simulated fabric that is not understood" },
	{ BOOL("check", check, "FALSE"), .flags_long = "check",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "Read the configuration, say what is wrong with it and exit" },
	{ BOOL("dump_config", dump_config, "FALSE"), .flags_long = "dump-config",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "Print every key with its present value and exit" },
	{ STRING("fabric", fabric, "umad"), .flags_long = "fabric", .flags = OPT_RESTART,
	  .arg = "umad[:CA[:PORT]]|sim:FILE",
	  .help = "The fabric to manage: behind a port of this host, or simulated from a topology file" },
	{ STRING("instance", instance, "main"), .flags_long = "instance",
	  .flags = OPT_CLI_ONLY | OPT_RESTART, .arg = "NAME",
	  .help = "Name of this instance; its folders end in it, one instance serves one fabric" },
	{ STRING("state_dir", state_dir, NULL), .flags_long = "state-dir",
	  .flags = OPT_RESTART, .arg = "DIR",
	  .help = "Folder of the durable state (LIDs, services); default: " SAGUARO_STATEDIR "/NAME" },
	{ STRING("snapshot_dir", snapshot_dir, NULL), .flags_long = "snapshot-dir",
	  .flags = OPT_RESTART, .arg = "DIR",
	  .help = "Folder of the published snapshot; default: " SAGUARO_RUNDIR "/NAME" },
	{ BOOL("once", once, "FALSE"), .letter = 'o', .flags_long = "once",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "Configure the subnet once, then exit; ports stay active" },
	{ STRING("log_file", log_file, NULL), .letter = 'f', .flags_long = "log_file",
	  .xml = "Sm/LogFile",
	  .arg = "FILE",
	  .help = "Also write the log to FILE, with time stamps; stdout is the standard output" },
	{ UINT("verbose", verbose, "0", 0, 0), .letter = 'v', .flags_long = "verbose",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "Log what developers want to see, too" },
	{ UINT("very_verbose", verbose, "0", 0, 0), .letter = 'V', .flags_long = "V",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "The same as -v" },

	/* identity and keys */
	{ .name = "guid", .type = OPT_GUIDS, MEMBER(guid), .def = "0", .letter = 'g', .flags_long = "guid", .flags = OPT_RESTART,
	  .xml = "Shared/PortGUID",
	  .arg = "GUID[,GUID...]", .help = "Port GUID to bind to, or several of which the first that is there is taken; 0 takes the first usable port" },
	{ GUID("subnet_prefix", subnet_prefix, "0xfe80000000000000"),
	  .flags_long = "subnet_prefix", .flags = OPT_RESTART, .arg = "PREFIX",
	  .xml = "Shared/SubnetPrefix",
	  .help = "Upper half of every GID of this subnet" },
	{ GUID("m_key", m_key, "0"),
	  .help = "M_Key set on every port; 0 protects nothing" },
	{ GUID("sm_key", sm_key, "1"), .letter = 'k', .flags_long = "smkey", .arg = "KEY",
	  .help = "SM_Key by which subnet managers of one subnet trust each other" },
	{ GUID("sa_key", sa_key, "1"),
	  .help = "SM_Key that makes a subnet administration query a trusted one" },
	{ UINT("sm_priority", sm_priority, "0", 0, 15), .letter = 'p',
	  .xml = "Sm/Priority", .flags_long = "priority", .arg = "0-15",
	  .help = "Priority in the election of the master subnet manager; the highest wins" },
	{ UINT("sm_sl", sm_sl, "0", 0, 15), .flags_long = "sm_sl", .arg = "0-15",
	  .help = "Service level of packets to the subnet manager and administration" },

	/* LIDs */
	{ UINT("lmc", lmc, "0", 0, 7), .letter = 'l', .flags_long = "lmc", .arg = "0-7",
	  .xml = "Sm/Lmc",
	  .help = "LID mask control: each end port gets 2^LMC LIDs and as many paths" },
	{ .name = "lmc_esp0", .type = OPT_LMC_ESP0, MEMBER(lmc_esp0), .def = "FALSE",
	  .xml = "Sm/LmcE0",
	  .help = "LMC of enhanced switch ports 0: FALSE is 0, TRUE is that of lmc, or a number from 0 to 7" },
	{ UINT("unicast_lid_limit", unicast_lid_limit, "0xbfff", 1, 0xffffff),
	  .flags_long = "unicast-lid-limit", .arg = "LID",
	  .help = "Highest unicast LID; above 0xbfff only where all devices take 24-bit LIDs, as on Omni-Path" },
	{ BOOL("reassign_lids", reassign_lids, "FALSE"), .letter = 'r',
	  .flags_long = "reassign_lids", .flags = OPT_NO_ARG,
	  .help = "Forget the LIDs of all ports and assign new ones; this disrupts traffic" },

	/* links */
	{ UINT("packet_life_time", packet_life_time, "0x12", 0, 31),
	  LIFE("Sm/SwitchLifetime"),
	  .help = "How long a packet may wait in a switch: 4.096 us * 2^value; from 20 on for ever" },
	{ UINT("subnet_timeout", subnet_timeout, "18", 0, 31),
	  .help = "SubnetTimeOut of every port: 4.096 us * 2^value" },
	{ UINT("max_op_vls", max_op_vls, "5", 1, 5),
	  .help = "Most data virtual lanes of a link, as a code: 1 = 1, 2 = 2, 3 = 4, 4 = 8, 5 = 15 lanes" },
	{ UINT("max_op_vls_ca", max_op_vls_of[QOS_CA], "0", 0, 5),
	  .help = "The same for ports of channel adapters; a link has the lower limit of its ends; 0 is max_op_vls" },
	{ UINT("max_op_vls_sw", max_op_vls_of[QOS_SWE], "0", 0, 5),
	  .help = "The same for ports of switches; 0 is max_op_vls" },
	{ UINT("max_op_vls_rtr", max_op_vls_of[QOS_RTR], "0", 0, 5),
	  .help = "The same for ports of routers; 0 is max_op_vls" },
	{ UINT("vl_stall_count", vl_stall_count, "7", 0, 7), .xml = "Sm/VLStallCount",
	  .help = "Packets dropped in a row until a lane between switches counts as stalled" },
	{ UINT("leaf_vl_stall_count", leaf_vl_stall_count, "7", 0, 7), .xml = "Sm/VLStallCount",
	  .help = "The same for lanes from a switch to a channel adapter or router" },
	{ UINT("head_of_queue_lifetime", head_of_queue_lifetime, "0x12", 0, 31),
	  LIFE("Sm/HoqLife"),
	  .help = "How long a packet may wait at the head of a queue between switches: 4.096 us * 2^value; from 20 on for ever" },
	{ UINT("leaf_head_of_queue_lifetime", leaf_head_of_queue_lifetime, "0x10", 0, 31),
	  LIFE("Sm/HoqLife"),
	  .help = "The same for queues from a switch to a channel adapter or router" },
	{ UINT("local_phy_errors_threshold", local_phy_errors_threshold, "8", 0, 15),
	  .help = "LocalPhyErrors of every port: errors until the port reports an integrity trap" },
	{ UINT("overrun_errors_threshold", overrun_errors_threshold, "8", 0, 15),
	  .help = "OverrunErrors of every port: flow control overruns until the port reports a trap" },
	{ UINT("force_link_speed", force_link_speed, "15", 0, 15),
	  .help = "LinkSpeedEnabled of cabled ports: a set of speeds; 0 and 15 leave what the port has" },
	{ UINT("force_link_speed_ext", force_link_speed_ext, "31", 0, 31),
	  .help = "LinkSpeedExtEnabled of cabled ports: a set of speeds; 0 and 31 leave what the port has" },
	{ UINT("force_link_width", force_link_width, "255", 0, 255),
	  .help = "LinkWidthEnabled of cabled ports: a set of widths; 0 and 255 leave what the port has" },

	/* sweeps */
	{ UINT("sweep_interval", sweep_interval, "10", 0, 0), .letter = 's',
	  .xml = "Sm/SweepInterval",
	  .flags_long = "sweep", .arg = "SECONDS",
	  .help = "Time between light sweeps; 0 sweeps only on traps and signals" },
	{ BOOL("sweep_on_trap", sweep_on_trap, "TRUE"), .xml = "Sm/IgnoreTraps",
	  .from_xml = opafm_not, .xml_expected = "0 or 1",
	  .help = "A trap that tells of a change starts a heavy sweep" },
	{ BOOL("force_heavy_sweep", force_heavy_sweep, "FALSE"),
	  .help = "Every sweep is a heavy one" },
	{ UINT("max_wire_smps", max_wire_smps, "32", 0, 256), .letter = 'n',
	  .flags_long = "maxsmps", .flags = OPT_CLAMP, .arg = "0-256",
	  .help = "Most subnet management packets in flight; 0 is 256" },
	{ UINT("transaction_timeout", transaction_timeout, "200", 1, 0), .letter = 't',
	  .xml = "Sm/RespTimeout",
	  .flags_long = "timeout", .arg = "MS",
	  .help = "How long to wait for the answer to a packet, in ms" },
	{ UINT("transaction_retries", transaction_retries, "3", 0, 100),
	  .xml = "Sm/MaxAttempts", .from_xml = opafm_attempts,
	  .xml_expected = "a number of attempts from 1 to 101",
	  .flags_long = "retries", .flags = OPT_CLAMP, .arg = "N",
	  .help = "How often a packet without an answer is sent again" },

	/* routing and path queries */
	{ STRING("routing_engine", routing_engine, NULL), .letter = 'R',
	  .xml = "Sm/RoutingAlgorithm", .from_xml = opafm_lower,
	  .flags_long = "routing_engine", .arg = "LIST",
	  .help = "Routing engines to try in this order, separated by commas; none is minhop; deadlockfree: the first that has no credit loop; no_fallback: no other ones" },
	{ .name = "device_groups_file", .type = OPT_FILE, MEMBER(device_groups),
	  .read = device_groups_read, .flags_long = "device-groups-file", .arg = "FILE",
	  .help = "Device groups that other keys name, as the element DeviceGroups of opafm.xml, alone or in an opafm.xml" },
	{ .name = "aggregation_node_guids", .type = OPT_GUID_FILE, MEMBER(aggregation_node_guids),
	  .flags_long = "aggregation-node-guids", .arg = "FILE",
	  .help = "Node or port GUIDs of aggregation nodes (SHARP), beside the CAs that say they are some: reached like the switch they hang on, never taken for hosts" },
	{ UINT("routing_threads_num", routing_threads, "0", 0, 1024), .arg = "N",
	  .help = "Threads that compute routes; 0 is one for each processor; the routes are the same" },
	{ .name = "credit_loops", .type = OPT_ENUM, MEMBER(credit_loops), .def = "fallback",
	  .names = credit_loops_names, .flags_long = "credit-loops",
	  .arg = "fallback|refuse|program",
	  .help = "When tables could deadlock: take the next engine and at last one that is free of credit loops, keep the running tables, or program them with a warning" },
	{ BOOL("use_ucast_cache", use_ucast_cache, "FALSE"), .letter = 'A',
	  .flags_long = "ucast_cache", .flags = OPT_NO_ARG,
	  .help = "Keep the routes while only CAs, routers and leaf switches go and come back" },
	{ .name = "path_selection", .type = OPT_ENUM, MEMBER(path_selection), .def = "minimal",
	  .names = path_selection_names, .flags_long = "path-selection",
	  .xml = "Sm/PathSelection",
	  .arg = "minimal|pairwise|orderall|srcdstall",
	  .help = "Which pairs of LIDs a path query lists when ports have several, and in which order" },
	{ BOOL("adaptive_routing", adaptive.enable, "FALSE"), .xml = "Sm/AdaptiveRouting/Enable",
	  .help = "Adaptive routing: find, prove and serve alternates of equal cost for every route; no switch is told of them yet" },
	{ UINT("ar_mode", ar_mode, "3", 0, 3),
	  .help = "Of MLNX_OFED: 0 takes routing engines ar_updn, ar_ftree ... for updn, ftree ...; else they are these with adaptive routing" },
	{ BOOL("adaptive_fine_grained", adaptive.fine_grained, "FALSE"),
	  .xml = "Sm/AdaptiveRouting/FineGrained",
	  .help = "Alternates for each LID instead of each switch; needs adaptive_routing" },
	{ BOOL("adaptive_lost_route_only", adaptive.lost_route_only, "FALSE"),
	  .flags = OPT_PENDING, .xml = "Sm/AdaptiveRouting/LostRouteOnly",
	  .help = "Alternates are for routes that are lost, not for congestion" },
	{ .name = "adaptive_algorithm", .type = OPT_ENUM, MEMBER(adaptive.algorithm),
	  .def = "greedyrandom", .names = adaptive_names, .flags = OPT_PENDING, .xml = "Sm/AdaptiveRouting/Algorithm",
	  .from_xml = opafm_adaptive, .xml_expected = "0 (random), 1 (greedy) or 2 (greedy random)",
	  .help = "How a switch picks an alternate: any, the least busy, or any that is not busy" },
	{ UINT("adaptive_frequency", adaptive.frequency, "0", 0, 7),
	  .flags = OPT_PENDING, .xml = "Sm/AdaptiveRouting/ARFrequency",
	  .help = "How often a switch may change a route: at most once in 64 ms * 2^value" },
	{ UINT("adaptive_port_groups", adaptive.port_groups, "255", 1, 255), .arg = "N",
	  .help = "Groups of alternates that a switch can hold; of more, those that serve most routes stay" },
	{ UINT("adaptive_threshold", adaptive.threshold, "3", 0, 7),
	  .flags = OPT_PENDING, .xml = "Sm/AdaptiveRouting/Threshold",
	  .help = "From when on a lane counts as busy: 7 to 4 are 55, 60, 65, 70 %, 3 to 1 are 80, 90, 100 %, 0 is the switch's own" },
	{ .name = "node_name_map_name", .type = OPT_FILE, MEMBER(node_names),
	  .read = node_names_read, .flags_long = "node-name-map", .arg = "FILE",
	  .help = "Names of nodes for people, in place of their descriptions: lines of a NodeGUID and a name in quotes" },
	{ UINT("snapshot_grace", snapshot_grace, "10000", 100, 600000),
	  .flags_long = "snapshot-grace", .arg = "MS",
	  .help = "How long readers may use a snapshot after a newer one was published, in ms" },

	/* subnet administration */
	{ .name = "prefix_routes_file", .type = OPT_FILE, MEMBER(prefix_routes),
	  .read = prefix_routes_read, .flags_long = "prefix_routes_file", .arg = "FILE",
	  .help = "Routes to other subnets: lines of a GID prefix and the GUID of the router port that takes it, either of them * for any" },
	{ BOOL("enforce_vf_path_record", enforce_vf_path_record, "TRUE"),
	  .xml = "Sm/EnforceVFPathRecord",
	  .help = "Virtual fabrics have paths between their members for their applications alone; FALSE: by P_Key and SL only" },
	{ BOOL("disable_multicast", disable_multicast, "FALSE"),
	  .help = "Compute and program no multicast tables; those that switches have stay as they are, and groups can be joined" },
	{ STRING("sa_db_file", sa_db_file, NULL), .letter = 'S', .flags_long = "sadb_file", .arg = "FILE",
	  .flags = OPT_RESTART,
	  .help = "Dump of subnet administration (opensm-sa.dump) whose multicast groups, members, services and subscriptions are taken over at the start, unless there already; the same content once only, and nothing of a file with a bad line" },
	{ BOOL("sa_db_dump", sa_db_dump, "FALSE"),
	  .help = "Write opensm-sa.dump into dump_files_dir after sweeps when something in it has changed" },
	{ STRING("dump_files_dir", dump_files_dir, "/var/log/"), .flags_long = "dump_files_dir", .arg = "DIR",
	  .help = "Folder of opensm-sa.dump" },
	{ .name = "path_life_times", .type = OPT_LIFE_TIMES, MEMBER(path_life_times),
	  .help = "PacketLifeTime of paths by the switches they pass: codes with commas between for 1, 2, 3 ... switches, the last for more; none is subnet_timeout for all" },
	{ UINT("sa_max_response", sa_max_response, "64", 1, 4095), .arg = "MB",
	  .flags_long = "sa-max-response", .flags = OPT_RESTART,
	  .help = "Largest table that a subnet administration query is answered with, in MB; what is larger is refused at once; saguaro-gateway streams it: /v1/records/NAME?stream=1" },
	{ UINT("sa_records_per_port", sa_records_per_port, "4096", 0, 1000000), .arg = "N",
	  .flags_long = "sa-records-per-port", .flags = OPT_RESTART,
	  .help = "How many services, subscriptions and multicast memberships each one port may have; 0 is no limit but that of all ports" },
	{ UINT("sm_assigned_guid", sm_assigned_guid, "0", 0, 255), .arg = "BYTE",
	  .flags = OPT_RESTART,
	  .help = "Fourth byte of the alias GUIDs that the subnet manager gives, 001405BB00NNNNNN: subnets with different ones give no GUID twice" },
	{ STRING("oob_listen", oob_listen, NULL), .flags_long = "oob-listen",
	  .flags = OPT_RESTART, .arg = "ADDR:PORT",
	  .help = "Also answer subnet administration queries over TCP there, framed as opasaquery -b speaks them; whoever reaches it sees all records, so 127.0.0.1:3245 is best; none by default" },

	/* accepted without effect: identity, links, partitions */
	NONE("m_key_lease_period", "0", "Lease period of the M_Key in seconds"),
	NONE("m_key_protection_level", "0", "Protection level of the M_Key"),
	NONE("m_key_lookup", "TRUE", "Look up the M_Key of ports in a file"),
	NONE("virt_enabled", "0", "Virtual ports of channel adapters: 0 leaves them alone, 1 disables, 2 enables them"),
	NONE_REFUSED("m_key_per_port", "FALSE", NULL, "Another M_Key for each port"),
	NONE_REFUSED("allowed_sm_guids", NULL, NULL, "Ports on which other subnet managers may run"),
	NONE_REFUSED("cc_key_enable", "0", not_enabled, "Keys of congestion control"),
	NONE_REFUSED("vs_key_enable", "0", not_enabled, "Keys of vendor specific management"),
	NONE_REFUSED("n2n_key_enable", "0", not_enabled, "Keys between nodes"),
	NONE_REFUSED("sa_enhanced_trust_model", "FALSE", NULL,
		"Subnet administration that lets untrusted clients do little"),
	NONE("fdr10", "1", "Use of FDR10 on ports that support it"),
	NONE("use_mfttop", "TRUE", "Use of MulticastFDBTop on switches that support it"),
	NONE_ARG("partition_config_file", "/etc/opensm/partitions.conf", 'P', "Pconfig", "FILE",
		"File of partitions"),
	NONE_FLAG("no_partition_enforcement", 'N', "no_part_enforce",
		"No partition enforcement by switches"),
	NONE_ARG("part_enforce", "both", 'Z', "part_enforce", "both|in|out|off",
		"Direction in which switches enforce partitions"),
	NONE_FLAG("allow_both_pkeys", 'W', "allow_both_pkeys",
		"Full and limited membership of one partition on one port"),
	NONE("keep_pkey_indexes", "TRUE", "Keep the places of P_Keys in the tables of ports"),

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
	NONE("no_clients_rereg", "FALSE", "Do not ask clients to register again"),

	/* several subnet managers */
	NONE("ignore_other_sm", "FALSE", "Do not look for other subnet managers"),
	NONE("sminfo_polling_timeout", "10000", "Time between polls of the master in ms"),
	NONE("polling_retry_number", "4", "Polls without an answer until the master is gone"),
	NONE_FLAG("honor_guid2lid_file", 'x', "honor_guid2lid",
		"Trust stored LIDs when becoming master"),
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
	NONE_FLAG("perfmgr", 0, "perfmgr", "Performance manager"),
	NONE("perfmgr_redir", "TRUE", "Follow redirections of performance agents"),
	NONE_ARG("perfmgr_sweep_time_s", "180", 0, "perfmgr_sweep_time_s", "SECONDS",
		"Time between readings of counters"),
	NONE("perfmgr_max_outstanding_queries", "500", "Most counter queries in flight"),
	NONE("perfmgr_ignore_cas", "FALSE", "Only counters of switches"),
	NONE("perfmgr_rm_nodes", "TRUE", "Forget counters of nodes that are gone"),
	NONE("perfmgr_log_errors", "TRUE", "Log counters of errors"),
	NONE("perfmgr_query_cpi", "TRUE", "Ask ports which counters they have"),
	NONE("perfmgr_xmit_wait_log", "FALSE", "Log ports that wait long"),
	NONE("perfmgr_xmit_wait_threshold", "65535", "PortXmitWait from which a port is logged"),
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
	{ .name = "qos", .type = OPT_QOS, MEMBER(qos), .def = "auto", .letter = 'Q',
	  .flags_long = "qos", .flags = OPT_NO_ARG,
	  .help = "SL-to-VL and VL arbitration tables on all ports; auto is TRUE while the routing uses several virtual lanes or a policy gives SLs" },
	{ .name = "qos_policy_file", .type = OPT_FILE, MEMBER(qos_policy),
	  .read = qos_policy_read, .letter = 'Y', .flags_long = "qos_policy_file", .arg = "FILE",
	  .help = "Rules by which a path gets its quality of service: a qos-policy.conf; counts unless qos is FALSE" },
	{ BOOL("use_optimized_slvl", use_optimized_slvl, "TRUE"),
	  .help = "One request for equal SL-to-VL tables of a switch that takes it; FALSE: one for each pair of ports" },
	NONE("suppress_sl2vl_mad_status_errors", "FALSE", "Do not log refused SL-to-VL tables"),
	QOS("qos", QOS_ALL, "all ports"),
	QOS("qos_ca", QOS_CA, "channel adapters"),
	QOS("qos_sw0", QOS_SW0, "switch ports 0"),
	QOS("qos_swe", QOS_SWE, "external switch ports"),
	QOS("qos_rtr", QOS_RTR, "routers"),

	/* congestion control */
	NONE_FLAG("congestion_control", 0, "congestion_control", "Congestion control set-up"),
	NONE_ARG("cc_key", "0x0000000000000000", 0, "cc_key", "KEY", "Key of congestion control"),
	NONE("cc_max_outstanding_mads", "500", "Most congestion control packets in flight"),
	NONE("cc_sw_cong_setting_control_map", "0x0", "Which switch settings are valid"),
	NONE("cc_sw_cong_setting_victim_mask",
		"0x0000000000000000000000000000000000000000000000000000000000000000",
		"Switch ports that mark packets as victims"),
	NONE("cc_sw_cong_setting_credit_mask",
		"0x0000000000000000000000000000000000000000000000000000000000000000",
		"Switch ports with credit starvation detection"),
	NONE("cc_sw_cong_setting_threshold", "0x00", "Threshold of congestion marking"),
	NONE("cc_sw_cong_setting_packet_size", "0", "Smallest packet that is marked"),
	NONE("cc_sw_cong_setting_credit_starvation_threshold", "0x00",
		"Threshold of credit starvation"),
	NONE("cc_sw_cong_setting_credit_starvation_return_delay", "0:0",
		"Delay of credits under starvation"),
	NONE("cc_sw_cong_setting_marking_rate", "0", "Packets between two marked ones"),
	NONE("cc_ca_cong_setting_port_control", "0x0000", "Congestion control per QP or per SL"),
	NONE("cc_ca_cong_setting_control_map", "0x0000", "Service levels under control"),
	NONE("cc_ca_cong_setting_ccti_timer", "0 0", "Recovery timers per service level"),
	NONE("cc_ca_cong_setting_ccti_increase", "0 0", "Steps per mark and service level"),
	NONE("cc_ca_cong_setting_trigger_threshold", "0 0", "Events per service level"),
	NONE("cc_ca_cong_setting_ccti_min", "0 0", "Least index per service level"),
	NONE("cc_cct", NULL, "Congestion control table"),

	{ .name = NULL }
};
/* clang-format on */

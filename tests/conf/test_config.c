/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Options from files and flags. Longer than most: each form of a file and each kind of mistake in it has a case.
 */
#include <check.h>
#include <config.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "conf/holes.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"
#include "tests/lib/words.h"

/* An instance that has no folder on any machine, so that no installed file is read. */
#define NOBODY "--instance=no.such.instance.of.saguaro"

static struct arena *arena;
static struct diags diags;
static struct config c;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	memset(&c, 0, sizeof(c));
}

static void teardown(void)
{
	arena_free(arena);
}

static int read_words(const char *words)
{
	char *argv[64] = { "saguarod", NOBODY };
	int argc = 2 + words_split(words, arena, argv + 2, 61);

	return config_read(&c, NULL, arena, argc, argv, &diags);
}

START_TEST(test_defaults)
{
	ck_assert_int_eq(read_words(""), E_OK);
	ck_assert_str_eq(take_problems(&diags), "");
	ck_assert_ptr_null(c.config_file);
	ck_assert_str_eq(c.fabric, "umad");
	ck_assert_ptr_null(c.routing_engine);
	ck_assert_uint_eq(c.subnet_prefix, 0xfe80000000000000);
	ck_assert_uint_eq(c.sm_key, 1);
	ck_assert_uint_eq(c.sa_key, 1);
	ck_assert_uint_eq(c.sm_priority, 0);
	ck_assert_uint_eq(c.lmc, 0);
	ck_assert_uint_eq(c.lmc_esp0, 0);
	ck_assert_uint_eq(c.packet_life_time, 0x12);
	ck_assert_uint_eq(c.subnet_timeout, 18);
	ck_assert_uint_eq(c.max_op_vls, 5);
	ck_assert_uint_eq(c.sweep_interval, 10);
	ck_assert(c.sweep_on_trap);
	ck_assert_uint_eq(c.max_wire_smps, 32);
	ck_assert_uint_eq(c.transaction_timeout, 200);
	ck_assert_uint_eq(c.transaction_retries, 3);
	ck_assert_uint_eq(c.snapshot_grace, 10000);
	ck_assert_uint_eq(c.credit_loops, CREDIT_FALLBACK);
	ck_assert_uint_eq(c.path_selection, PATH_MINIMAL);
	ck_assert_uint_eq(c.qos, QOS_AUTO);
	ck_assert_uint_eq(c.qos_keys[QOS_RTR].max_vls, 0);
	ck_assert_int_eq(c.qos_keys[QOS_RTR].high_limit, -1);
	ck_assert_ptr_null(c.qos_keys[QOS_RTR].sl2vl);
}
END_TEST

/* Keys that do not protect count as open to hosts. */
START_TEST(weak_keys)
{
	static const struct {
		const char *words;
		enum config_hole hole;
		bool open;
	} rows[] = {
		{ "--m_key=0x11 --m_key_per_port=FALSE", CONFIG_HOLE_m_key, false },
		{ "--sm_key=0x22", CONFIG_HOLE_m_key, true },
#ifdef HAVE_GNUTLS
		{ "--m_key=0x11 --m_key_protection_level=0", CONFIG_HOLE_m_key_shown,
		  false },
#else
		{ "--m_key=0x11 --m_key_per_port=FALSE --m_key_protection_level=1",
		  CONFIG_HOLE_m_key_shown, false },
#endif
		{ "--m_key=0x11 --m_key_per_port=FALSE --m_key_protection_level=0",
		  CONFIG_HOLE_m_key_shown, true },
		{ "--sm_key=1 --m_key_protection_level=0", CONFIG_HOLE_first_master,
		  true },
		{ "--allowed_sm_guids=(null)", CONFIG_HOLE_first_master, true },
	};

	ck_assert_int_eq(read_words(rows[_i].words), E_OK);
	ck_assert_str_eq(take_problems(&diags), "");
	ck_assert(config_has_hole(&c, rows[_i].hole) == rows[_i].open);
}
END_TEST

/* A file that OpenSM writes by itself loads without a word, and so does a start script's line.
 */
START_TEST(test_opensm_file)
{
	const char *srcdir = getenv("srcdir");
	const char *path = arena_printf(arena, "%s/tests/golden/opensm.conf",
	                                srcdir != NULL ? srcdir : ".");

	ck_assert_int_eq(read_words(arena_printf(arena, "-F %s", path)), E_OK);
	ck_assert_str_eq(take_problems(&diags), "");
	ck_assert_str_eq(c.config_file, path);
	ck_assert_str_eq(c.log_file, "/var/log/opensm.log");
	ck_assert_uint_eq(c.max_wire_smps, 4);
	ck_assert_uint_eq(c.vl_stall_count, 7);
	ck_assert_uint_eq(c.leaf_head_of_queue_lifetime, 0x10);
	ck_assert_uint_eq(c.force_link_speed_ext, 31);
	ck_assert_uint_eq(c.qos, QOS_OFF);
}
END_TEST

/* Flags of OpenSM 3.3.23 as its --help lists them; have: 1 has an effect here. */
static const struct {
	const char *flags;
	bool has_effect;
} flags[] = {
	{ "-F FILE|--config FILE", true },
	{ "-c x|--create-config x", true },
	{ "-g 0x1|--guid 0x1", true },
	{ "-l 2|--lmc 2", true },
	{ "-p 15|--priority 15", true },
	{ "--subnet_prefix 0xfe80000000000001", true },
	{ "-k 1|--smkey 1", true },
	{ "-r|--reassign_lids", true },
	{ "-R minhop|--routing_engine minhop", true },
	{ "--do_mesh_analysis", false },
	{ "--lash_start_vl 1", false },
	{ "--sm_sl 1", true },
	{ "--nue_max_num_vls 4", false },
	{ "-z|--connect_roots", false },
	{ "-A|--ucast_cache", true },
	{ "-M f|--lid_matrix_file f", false },
	{ "-U f|--lfts_file f", false },
	{ "-S f|--sadb_file f", true },
	{ "-a f|--root_guid_file f", false },
	{ "-u f|--cn_guid_file f", false },
	{ "-G f|--io_guid_file f", false },
	{ "--port-shifting", false },
	{ "--scatter-ports 8", false },
	{ "-H 3|--max_reverse_hops 3", false },
	{ "-m f|--ids_guid_file f", false },
	{ "-X f|--guid_routing_order_file f", false },
	{ "--torus_config f", false },
	{ "-o|--once", true },
	{ "-s 5|--sweep 5", true },
	{ "-t 100|--timeout 100", true },
	{ "--retries 5", true },
	{ "-n 0|--maxsmps 0", true },
	{ "-q local|--console local", false },
	{ "-C 1000|--console-port 1000", false },
	{ "-i f|--ignore_guids f|--ignore-guids f", false },
	{ "-w f|--hop_weights_file f", false },
	{ "-O f|--port_search_ordering_file f|--dimn_ports_file f", false },
	{ "-x|--honor_guid2lid", true },
	{ "--dump_files_dir /x", true },
	{ "-f /x|--log_file /x", true },
	{ "-L 5|--log_limit 5", false },
	{ "-e|--erase_log_file", false },
	{ "-P /dev/null|--Pconfig /dev/null", true },
	{ "-N|--no_part_enforce", true },
	{ "-Z off|--part_enforce off", true },
	{ "-W|--allow_both_pkeys", true },
	{ "-Q|--qos", true },
	{ "-Y /etc/opensm/qos-policy.conf|--qos_policy_file /etc/opensm/qos-policy.conf",
	  true },
	{ "--congestion_control", true },
	{ "--cc_key 5", true },
	{ "-y|--stay_on_fatal", false },
	{ "-B|--daemon", false },
	{ "-J f|--pidfile f", false },
	{ "-I|--inactive", false },
	{ "--perfmgr", true },
	{ "--perfmgr_sweep_time_s 5", true },
	{ "--prefix_routes_file /dev/null", true },
	{ "--consolidate_ipv6_snm_req", false },
	{ "--guid_routing_order_no_scatter", false },
	{ "--log_prefix x", false },
	{ "-v|-vvv|--verbose", true },
	{ "-V", true },
	{ "-D 0xff", false },
	{ "-d0|-d1|-d2|-d3|-d 10|--debug 1", false },
};

static void try_flag(const char *flag, const char *path, bool has_effect)
{
	const char *words =
		strstr(flag, "FILE") != NULL ? arena_printf(arena, "-F %s", path) : flag;

	ck_assert_msg(read_words(words) == E_OK, "%s: %s", flag, take_problems(&diags));
	const char *said = take_problems(&diags);
	bool silent = said[0] == '\0';
	ck_assert_msg(silent == has_effect, "%s: %s", flag, said);
	ck_assert_msg(silent || strstr(said, "no effect here\n") != NULL, "%s", said);
}

/* Long ones behind one dash, too, as the manual of MLNX_OFED prints -ignore-guids. */
START_TEST(test_opensm_flags)
{
	char *save = NULL, *path = temp_file("", arena);
	for (char *p = arena_strdup(arena, flags[_i].flags);
	     (p = strtok_r(p, "|", &save)); p = NULL) {
		try_flag(p, path, flags[_i].has_effect);
		if (p[1] == '-') {
			try_flag(p + 1, path, flags[_i].has_effect);
		}
	}
	unlink(path);
}
END_TEST

START_TEST(test_command_line)
{
	ck_assert_int_eq(
		read_words(
			"-l 3 -R updn,minhop --fabric sim:/dev/null --state-dir /s --snapshot-dir /r --check --dump-config --once -vv --path-selection orderall --credit-loops=refuse --snapshot-grace 5000 -n 64 -g 0x0002c90300001234"),
		E_OK);
	ck_assert_str_eq(take_problems(&diags), "");
	ck_assert_uint_eq(c.lmc, 3);
	ck_assert_str_eq(c.routing_engine, "updn,minhop");
	ck_assert_str_eq(c.fabric, "sim:/dev/null");
	ck_assert_str_eq(c.state_dir, "/s");
	ck_assert_str_eq(c.snapshot_dir, "/r");
	ck_assert(c.check && c.dump_config && c.once);
	ck_assert_uint_eq(c.verbose, 2);
	ck_assert_uint_eq(c.path_selection, PATH_ORDERALL);
	ck_assert_uint_eq(c.credit_loops, CREDIT_REFUSE);
	ck_assert_uint_eq(c.snapshot_grace, 5000);
	ck_assert_uint_eq(c.max_wire_smps, 64);
	ck_assert_uint_eq(c.guid.n, 1);
	ck_assert_uint_eq(c.guid.guid[0], 0x0002c90300001234);
	ck_assert_str_eq(config_dir(c.state_dir, "/root", "main", arena), "/s");
	ck_assert_str_eq(config_dir(NULL, "/root", "main", arena), "/root/main");
}
END_TEST

/* The command line wins wherever -F stands; reading again gives the same, once edited
 * new. */
START_TEST(test_layers)
{
	char *path = temp_file("lmc 2\nsm_priority 7\nreassign_lids TRUE\n", arena);
	char *argv[] = { "saguarod", "-l", "1", "-F", path, "-v", NULL };

	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(config_read(&c, NULL, arena, 6, argv, &diags), E_OK);
		ck_assert_str_eq(take_problems(&diags), "");
		ck_assert_uint_eq(c.lmc, 1);
		ck_assert_uint_eq(c.sm_priority, 7);
		ck_assert_uint_eq(c.verbose, 1);
		ck_assert(c.reassign_lids);
	}
	FILE *f = fopen(path, "w");
	fputs("sm_priority 9\nfabric sim:/x\nlmc x\n", f);
	fclose(f);
	struct config before = c, next;
	ck_assert_int_eq(config_read(&c, NULL, arena, 6, argv, &diags), E_SYNTAX);
	ck_assert_int_eq(memcmp(&before, &c, sizeof(c)),
	                 0); /* refused: nothing changed */
	ck_assert_str_eq(
		take_problems(&diags),
		arena_printf(arena,
	                     "%s:3: error: lmc 'x': expected a number from 0 to 7\n",
	                     path));
	f = fopen(path, "w");
	fputs("sm_priority 9\nfabric sim:/x\n", f);
	fclose(f);
	ck_assert_int_eq(config_read(&next, NULL, arena, 6, argv, &diags), E_OK);
	ck_assert_int_eq(config_keep(&c, &next, arena, &diags), E_OK);
	ck_assert_uint_eq(next.sm_priority, 9);
	ck_assert(!next.reassign_lids);
	ck_assert_str_eq(next.fabric, "umad");
	ck_assert_str_eq(
		take_problems(&diags),
		"warning: fabric: 'sim:/x' needs a restart; 'umad' stays in use\n");
	unlink(path);
}
END_TEST

static const struct {
	const char *words, *said;
	int ret;
} refused[] = {
	{ "-F /nonexistent/x",
	  "/nonexistent/x: error: cannot be read: No such file or directory; correct the name, or write a file of options there\n",
	  -ENOENT },
	{ "--instance ../x",
	  "error: instance '../x': expected 1 to 64 letters, digits, '-', '_' or '.'\n",
	  E_SYNTAX },
	{ "--instance a/b",
	  "error: instance 'a/b': expected 1 to 64 letters, digits, '-', '_' or '.'\n",
	  E_SYNTAX },
	{ "--fabric ib0",
	  "error: fabric 'ib0': expected umad, umad:CA, umad:CA:PORT or sim:FILE\n",
	  E_SYNTAX },
	{ "--fabric sim:",
	  "error: fabric 'sim:': expected umad, umad:CA, umad:CA:PORT or sim:FILE\n",
	  E_SYNTAX },
	{ "-l 8 -p x",
	  "error: --lmc '8': expected a number from 0 to 7\n"
	  "error: --priority 'x': expected a number from 0 to 15\n",
	  E_SYNTAX },
};

START_TEST(test_refused)
{
	c.lmc = 99;
	ck_assert_int_eq(read_words(refused[_i].words), refused[_i].ret);
	ck_assert_str_eq(take_problems(&diags), refused[_i].said);
	ck_assert_uint_eq(c.lmc, 99);
}
END_TEST

/* Conditions of a table under which every row can be reached. */
START_TEST(test_rows)
{
	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		ck_assert_ptr_nonnull(row->help);
		ck_assert_msg(row->help[strlen(row->help) - 1] != '.', "%s", row->name);
		bool flag = row->letter != 0 || row->flags_long != NULL;
		ck_assert_msg(flag || (row->flags & OPT_CLI_ONLY) == 0, "%s", row->name);
		for (const struct option_row *o = config_rows; o < row; o++) {
			ck_assert_msg(strcmp(row->name, o->name) != 0, "%s twice",
			              row->name);
			ck_assert_msg(row->letter == 0 || row->letter != o->letter,
			              "%s and %s share -%c", row->name, o->name,
			              row->letter);
			ck_assert_msg(row->flags_long == NULL || o->flags_long == NULL ||
			                      strcmp(row->flags_long, o->flags_long) != 0,
			              "%s and %s share --%s", row->name, o->name,
			              row->flags_long);
		}
	}
}
END_TEST

static uint64_t seed_of_run(void)
{
	const char *env = getenv("SAGUARO_SEED");
	return env != NULL ? strtoull(env, NULL, 0) : 20260101;
}

/* xorshift64: the same numbers on every machine. */
static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static const char *random_string(uint64_t *s)
{
	static const char odd[] = " \t#\"'\\abc/.-_:,()\xc3\xa9";
	size_t len = rnd(s) % 12;
	char *text = arena_alloc(arena, len + 1);
	for (size_t i = 0; i < len; i++) {
		text[i] = odd[rnd(s) % (sizeof(odd) - 1)];
	}
	return text;
}

static const char *random_value(const struct option_row *row, uint64_t *s)
{
	uint64_t n = 0;
	switch (row->type) {
	case OPT_BOOL: return rnd(s) % 2 ? "TRUE" : "FALSE";
	case OPT_INT: {
		int64_t min = row->max != 0 ? (int64_t)row->min : INT32_MIN;
		int64_t max = row->max != 0 ? (int64_t)row->max : INT32_MAX;
		return arena_printf(arena, "%" PRId64,
		                    min + (int64_t)(rnd(s) % (uint64_t)(max - min + 1)));
	}
	case OPT_UINT: {
		uint64_t max = row->max != 0 ? row->max : INT32_MAX;
		return arena_printf(arena, "%" PRIu64,
		                    row->min + rnd(s) % (max - row->min + 1));
	}
	case OPT_GUIDS:
		return arena_printf(arena, "0x%" PRIx64 ",0x%" PRIx64, rnd(s), rnd(s));
	case OPT_GUID: return arena_printf(arena, "0x%" PRIx64, rnd(s));
	case OPT_STRING: return random_string(s);
	case OPT_ENUM:
		while (row->names[n] != NULL) {
			n++;
		}
		return row->names[rnd(s) % n];
	case OPT_QOS: return (const char *[]){ "TRUE", "FALSE", "auto" }[rnd(s) % 3];
	case OPT_VL_WEIGHTS:
		return arena_printf(arena, "%u:%u,%u:1", (unsigned)(rnd(s) % 15),
		                    (unsigned)(rnd(s) % 256), (unsigned)(rnd(s) % 15));
	case OPT_SL2VL:
		n = rnd(s) % 16;
		return arena_printf(arena, "%d,1,2,3,4,5,6,7,8,9,10,11,12,13,14,%d",
		                    (int)n, (int)n);
	case OPT_LIFE_TIMES: return arena_printf(arena, "%d,14", (int)(1 + rnd(s) % 31));
	case OPT_PORT_MASK: return arena_printf(arena, "0x%" PRIx64 "0%" PRIx64, rnd(s), rnd(s));
	case OPT_PER_SL:
		return arena_printf(arena, "%d %d, 15 %d", (int)(rnd(s) % 15),
		                    (int)(1 + rnd(s) % row->max), (int)(1 + rnd(s) % row->max));
	case OPT_CCT:
		n = rnd(s) % 16384;
		return arena_printf(arena, row->max == 1 ? "3:%d" : "0:7,3:%d", (int)n);
	case OPT_LMC_ESP0:
		n = rnd(s) % 9;
		return n == 8 ? "TRUE" : arena_printf(arena, "%d", (int)n);
	case OPT_DEVICE_GROUP: return rnd(s) % 2 ? "AllSWs" : "(null)";
	case OPT_DEVICE_GROUPS: return rnd(s) % 2 ? "AllFIs,All" : "Self";
	case OPT_GUID_FILE:
	case OPT_FILE: /* a file must exist */
	case OPT_IGNORED: break;
	}
	return "(null)";
}

static bool in_file(const struct option_row *row)
{
	return row->type != OPT_IGNORED && (row->flags & OPT_CLI_ONLY) == 0;
}

#define N(x) (int)(sizeof(x) / sizeof((x)[0]))

static char *dump(const struct config *from, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);
	ck_assert_int_eq(config_dump(from, NULL, arena, true, f), E_OK);
	fclose(f);
	return text;
}

/* Whatever the values: the dump reads back to the same ones. */
START_TEST(test_dump)
{
	uint64_t s = seed_of_run() + (uint64_t)_i;
	struct config a = { 0 }, b = { 0 };
	struct option_sets of_a = { .n = 0 }, of_b = { .n = 0 };
	size_t len;

	option_sets_add(&of_a, config_rows, &a);
	option_sets_add(&of_b, config_rows, &b);
	ck_assert_int_eq(option_set_defaults(&of_a, arena), E_OK);
	ck_assert_int_eq(option_set_defaults(&of_b, arena), E_OK);
	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		if (in_file(row)) {
			const char *value = random_value(row, &s);
			ck_assert_msg(option_set(&of_a, arena, row->name, value, "f", 1,
			                         &diags) == E_OK,
			              "seed %d: %s '%s'", _i, row->name, value);
		}
	}
	char *text = dump(&a, &len);
	ck_assert_msg(option_read_text(&of_b, arena, "dump", text, len, &diags) == E_OK,
	              "seed %d: %s", _i, take_problems(&diags));
	free(text);
	ck_assert_str_eq(take_problems(&diags), "");
	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		ck_assert_msg(strcmp(option_text(row, &a, arena),
		                     option_text(row, &b, arena)) == 0,
		              "seed %d: %s is '%s', not '%s'", _i, row->name,
		              option_text(row, &b, arena), option_text(row, &a, arena));
	}
}
END_TEST

/* What is printed may go into a report: it has no key, says so, and can be read again. */
START_TEST(test_dump_hides_keys)
{
	static const char *const keys[] = { "m_key", "sm_key", "sa_key" };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct stat st;

	ck_assert_int_eq(read_words(arena_printf(
				 arena, "-F %s",
				 temp_file("m_key 0x5ec4e701\nm_key_per_port FALSE\n"
	                                   "sm_key 0x5ec4e702\nsa_key 0x5ec4e703\n",
	                                   arena))),
	                 E_OK);
	ck_assert_int_eq(config_dump(&c, NULL, arena, false, f), E_OK);
	fclose(f);
	ck_assert_ptr_null(strcasestr(text, "5ec4e70"));
	for (unsigned i = 0; i < N(keys); i++) {
		const char *line = arena_printf(arena, "\n# %s is set; --create-config",
		                                keys[i]);
		ck_assert_msg(strstr(text, line) != NULL, "%s", keys[i]);
	}
	struct config again = { 0 };
	struct option_sets sets = { .n = 0 };
	option_sets_add(&sets, config_rows, &again);
	ck_assert_int_eq(option_set_defaults(&sets, arena), E_OK);
	ck_assert_int_eq(option_read_text(&sets, arena, "dump", text, len, &diags), E_OK);
	ck_assert_uint_eq(again.m_key, 0);
	free(text);

	/* A file has the keys, and is closed to others, also if it was open to them. */
	char *path = temp_file("", arena);
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(config_dump_file(&c, NULL, arena, path, &diags), E_OK);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(read_words(arena_printf(arena, "-F %s", path)), E_OK);
	ck_assert_uint_eq(c.m_key, 0x5ec4e701);
	ck_assert_uint_eq(c.sm_key, 0x5ec4e702);
	ck_assert_uint_eq(c.sa_key, 0x5ec4e703);
	unlink(path);
}
END_TEST

START_TEST(test_dump_file)
{
	char *path = temp_file("", arena);
	ck_assert_int_eq(read_words("-l 2 -R minhop --path-selection pairwise"), E_OK);
	ck_assert_int_eq(config_dump_file(&c, NULL, arena, path, &diags), E_OK);
	struct config first = c;

	ck_assert_int_eq(read_words(arena_printf(arena, "-F %s", path)), E_OK);
	ck_assert_str_eq(take_problems(&diags), "");
	unlink(path);
	ck_assert_uint_eq(c.lmc, first.lmc);
	ck_assert_str_eq(c.routing_engine, "minhop");
	ck_assert_uint_eq(c.path_selection, PATH_PAIRWISE);
	ck_assert_int_eq(config_dump_file(&c, NULL, arena, "/nonexistent/x", &diags),
	                 -ENOENT);
	ck_assert_int_eq(config_dump_file(&c, NULL, arena, "/dev/full", &diags), -ENOSPC);
	ck_assert_str_eq(
		take_problems(&diags),
		"/nonexistent/x: error: cannot be written: No such file or directory\n"
		"/dev/full: error: cannot be written: No space left on device\n");
}
END_TEST

/* Keys that differ from port to port are derived by GnuTLS; without it more is said. */
#ifdef HAVE_GNUTLS
#define NO_KEYS_OF_PORTS ""
#else
#define NO_KEYS_OF_PORTS                                                                 \
	"%s: error: m_key_per_port: this saguarod is built without GnuTLS, which "       \
	"derives the keys; set it to FALSE, and all ports get m_key, or give "           \
	"--ignore-unsupported to run without it\n"
#endif

#define NOT_THERE(line, key)                                                             \
	"%s:" line ": error: " key                                                       \
	" '/nonexistent/x': there is no such file; correct the name, or name none\n"

/* Files as sites write them: shapes that OpenSM starts with, and what is said of them. %s
 * is the file. */
static const struct {
	const char *what, *text, *flags;
	int ret;
	const char *said;
} site_files[] = {
	{ "a key that OpenSM does not know either", "lmc 1\nsm_piority 3\n", "", E_OK,
	  "%s: warning: 1 unknown key without effect: sm_piority (line 2, did you mean sm_priority); 'saguaro config check' lists them, --strict-config refuses them\n" },
	{ "many of them", "lmc 1\nzz_c 0\nzz_d 0\nzz_e 0\nzz_a 1\nzz_b 2\n", "", E_OK,
	  "%s: warning: 5 unknown keys without effect: zz_c (line 2), zz_d (line 3), zz_e (line 4), zz_a (line 5), ...; 'saguaro config check' lists them, --strict-config refuses them\n" },
	{ "keys of MLNX_OFED without effect", "smp_threads 0\ngmp_threads 0\nreports 2\n",
	  "--strict-config", E_OK, "%s:3: warning: reports '2': no effect here\n" },
	{ "not even strictly", "lmc 1\nzz_threads 0\n", "--strict-config", E_SYNTAX,
	  "%s:2: error: unknown key 'zz_threads'\n" },
	{ "another file altogether", "port-group\nname: a\nend-port-group\n", "",
	  E_SYNTAX,
	  "%s:1: error: unknown key 'port-group', and no other key of the file is known: expected a file of options; partitions, policies and lists of GUIDs have keys that name their files\n" },
	{ "the prefix of another installation",
	  "partition_config_file /nonexistent/opensm/partitions.conf\n"
	  "prefix_routes_file /nonexistent/opensm/prefix-routes.conf\n",
	  "", E_OK,
	  "/nonexistent/opensm/partitions.conf: note: there is no such file, at the usual place of another installation: as if there were none at /etc/opensm/partitions.conf\n"
	  "/nonexistent/opensm/prefix-routes.conf: note: there is no such file, at the usual place of another installation: as if there were none at /etc/opensm/prefix-routes.conf\n" },
	{ "a partitions.conf in its role", "partition_config_file /dev/null\n", "", E_OK,
	  "" },
	{ "a partitions.conf that is not there", "partition_config_file /nonexistent/x\n",
	  "", E_SYNTAX,
	  "/nonexistent/x: error: cannot be read: No such file or directory; correct the name, or write a list of partitions there\n"
	  "%s:1: error: partition_config_file '/nonexistent/x': No such file or directory\n" },
	{ "protection that is left off",
	  "m_key_per_port FALSE\nallowed_sm_guids (null)\ncc_key_enable 0\n"
	  "vs_key_enable 1\nsa_enhanced_trust_model no\n",
	  "", E_OK, "" },
	{ "protection that is not here",
	  "tenants_policy_enabled TRUE\nvs_key_enable 2\nn2n_key_enable 2\n", "",
	  E_SYNTAX,
	  "%s:1: error: tenants_policy_enabled 'TRUE': there is no such protection here; only 'FALSE' can be set, or give --ignore-unsupported to run without it\n"
	  "%s:2: error: vs_key_enable '2': there is no such protection here; only '0' can be set, or give --ignore-unsupported to run without it\n"
	  "%s:3: error: n2n_key_enable '2': there is no such protection here; only '0' can be set, or give --ignore-unsupported to run without it\n" },
	{ "protection that is not here, knowingly",
	  "tenants_policy_enabled TRUE\nm_key_protection_level 2\npart_enforce in\n",
	  "--ignore-unsupported", E_OK,
	  "%s:1: warning: tenants_policy_enabled 'TRUE': there is no such protection here\n"
	  "%s: warning: m_key_protection_level 2 protects nothing without an m_key; set m_key\n"
	  "%s: warning: part_enforce in: switches enforce nothing without a file of partitions; name one in partition_config_file\n" },
	{ "protection that another setting takes away",
	  "m_key_protection_level 2\npart_enforce out\n", "", E_RANGE,
	  "%s: error: m_key_protection_level 2 protects nothing without an m_key; set m_key, or give --ignore-unsupported to run without it\n"
	  "%s: error: part_enforce out: switches enforce nothing without a file of partitions; name one in partition_config_file, or give --ignore-unsupported to run without it\n" },
	{ "keys of ports without a key to make them of", "m_key_per_port TRUE\n", "",
	  E_OK, "" },
	{ "keys of ports that show nothing",
	  "m_key 0x5\nm_key_per_port TRUE\nm_key_protection_level 2\n", "", E_RANGE,
	  "%s: error: m_key_protection_level 2: with m_key_per_port it is 1, because the key of a node that shows nothing cannot be found; set it to 1, or m_key_per_port FALSE, or give --ignore-unsupported to run without it\n" NO_KEYS_OF_PORTS },
	{ "protection that is there",
	  "m_key 0x1\nm_key_per_port FALSE\nm_key_protection_level 2\npart_enforce out\npartition_config_file /dev/null\n",
	  "", E_OK, "" },
	{ "no switch to be careless in a file", "ignore_unsupported TRUE\n", "", E_SYNTAX,
	  "%s:1: error: 'ignore_unsupported' is a flag of the command line, not a key of the file\n" },
	{ "values of MLNX_OFED",
	  "guid 0x1,0x2 , 3\nforce_link_speed 0x000f\nforce_link_speed_ext 0x1F\n"
	  "max_op_vls_ca 0\nmax_op_vls_sw 3\nrouting_threads_num 24\nvirt_enabled 2\n"
	  "routing_engine ar_ftree,ar_updn\nar_mode 3\n",
	  "", E_OK, "" },
	{ "none of them", "guid ,\nguid 0x1,x\n", "", E_SYNTAX,
	  "%s:1: error: guid ',': expected up to 16 times 0x and up to 16 hex digits, with commas between\n"
	  "%s:2: warning: guid was already set in line 1; the last one counts\n"
	  "%s:2: error: guid '0x1,x': expected up to 16 times 0x and up to 16 hex digits, with commas between\n" },
	{ "the highest LID", "unicast_lid_limit 0xbfff\n", "", E_OK, "" },
	{ "a LID above it", "unicast_lid_limit 0xc000\n", "", E_OK,
	  "%s: warning: unicast_lid_limit is above 0xbfff: only ports of an Omni-Path fabric get such LIDs, up to 0xefffff and to what all its switches can route; on InfiniBand, where LIDs have 16 bits, the limit is 0xbfff\n" },
	{ "a list that is gone", "device_groups_file /nonexistent/x\n", "", E_OK,
	  "%s:1: warning: device_groups_file '/nonexistent/x': there is no such file; taken as (null)\n" },
	{ "nor that strictly",
	  "prefix_routes_file /dev/null\ndevice_groups_file /nonexistent/x\n",
	  "--strict-config", E_SYNTAX,
	  "/nonexistent/x: error: cannot be read: No such file or directory; correct the name, or write a file of options there\n"
	  "%s:2: error: device_groups_file '/nonexistent/x': No such file or directory\n" },
	{ "files that are gone, with --check",
	  "device_groups_file /nonexistent/x\nqos_policy_file /nonexistent/x\nnode_name_map_name /nonexistent/x\n"
	  "prefix_routes_file /nonexistent/x\npartition_config_file /nonexistent/x\naggregation_node_guids /nonexistent/x\n"
	  "sa_db_file /nonexistent/x\nstandby_secret /nonexistent/x\nfabric sim:/nonexistent/x\n",
	  "--check", E_SYNTAX,
	  NOT_THERE("1", "device_groups_file") NOT_THERE("2", "qos_policy_file")
	  NOT_THERE("3", "node_name_map_name") NOT_THERE("4", "prefix_routes_file")
	  NOT_THERE("5", "partition_config_file")
	  NOT_THERE("6", "aggregation_node_guids") NOT_THERE("7", "sa_db_file")
	  NOT_THERE("8", "standby_secret")
	  "error: fabric 'sim:/nonexistent/x': there is no such topology file; correct the name\n" },
	{ "a file that saguarod itself makes, with --check",
	  "m_key_file /nonexistent/x\nguid2lid_file /nonexistent/x\nguid2mkey_file /nonexistent/x\n",
	  "--check", E_OK, "" },
	{ "the usual places, with --check",
	  "partition_config_file /nonexistent/opensm/partitions.conf\nqos_policy_file /nonexistent/opensm/qos-policy.conf\n",
	  "--check", E_OK,
	  "/nonexistent/opensm/partitions.conf: note: there is no such file, at the usual place of another installation: as if there were none at /etc/opensm/partitions.conf\n"
	  "/nonexistent/opensm/qos-policy.conf: note: there is no such file, at the usual place of another installation: as if there were none at /etc/opensm/qos-policy.conf\n" },
	{ "a file named by a flag, with --check", "lmc 0\n", "--check -Y /nonexistent/x",
	  E_SYNTAX,
	  "error: --qos_policy_file '/nonexistent/x': there is no such file; correct the name, or name none\n" },
	{ "files that are gone, at a start", "qos_policy_file /nonexistent/x\nsa_db_file /nonexistent/x\n",
	  "", E_OK,
	  "/nonexistent/x: warning: there is no such file: no rules for quality of service\n" },
};
#undef NOT_THERE

/* \a text with the path in place of each %s. */
static const char *with_path(const char *text, const char *path)
{
	const char *out = "";
	for (const char *at; (at = strstr(text, "%s")) != NULL; text = at + 2) {
		out = arena_printf(arena, "%s%.*s%s", out, (int)(at - text), text, path);
	}
	return arena_printf(arena, "%s%s", out, text);
}

START_TEST(test_site_files)
{
	char *path = temp_file(site_files[_i].text, arena);
	int ret = read_words(arena_printf(arena, "%s -F %s", site_files[_i].flags, path));

	unlink(path);
	ck_assert_msg(ret == site_files[_i].ret, "%s: %d", site_files[_i].what, ret);
	ck_assert_str_eq(take_problems(&diags), with_path(site_files[_i].said, path));
}
END_TEST

static bool says(const char *key, const char *value, bool ignore_unsupported, bool is_error)
{
	struct config any = { 0 };
	struct option_sets sets = { .ignore_unsupported = ignore_unsupported };
	int ret;

	option_sets_add(&sets, config_rows, &any);
	ret = option_set(&sets, arena, key, value, "f", 1, &diags);
	ck_assert_msg((ret != E_OK) == is_error, "%s '%s': %d", key, value, ret);
	return take_problems(&diags)[0] != '\0';
}

/* A key without effect is silent at the value that asks for nothing, and only there; what asks for
 * protection is refused unless the operator insists. */
START_TEST(nothing_is_ignored_in_silence)
{
	unsigned n = 0;

	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		bool protects = (row->flags & OPT_REFUSE) != 0;

		if (row->type != OPT_IGNORED || (row->flags & OPT_CLI_ONLY) != 0) {
			continue;
		}
		n++;
		ck_assert_msg(!says(row->name, row->def != NULL ? row->def : "(null)", false,
		                    false),
		              "%s at its default", row->name);
		ck_assert_msg(says(row->name, "0x7e57", false, protects), "%s", row->name);
		ck_assert_msg(says(row->name, "0x7e57", true, false), "%s", row->name);
		ck_assert_msg(row->help != NULL && row->help[0] != '\0', "%s", row->name);
	}
	ck_assert_uint_ge(n, 200);
}
END_TEST

/* An engine's rows beside those of the program: its keys have an effect then. */
START_TEST(test_extra)
{
	struct {
		const char *roots;
	} engine = { NULL };
	static const struct option_row rows[] = { { .name = "root_guid_file",
		                                    .type = OPT_STRING,
		                                    .help = "GUIDs of roots" },
		                                  { .name = NULL } };
	struct option_sets extra = { .n = 0 };
	char *path = temp_file("root_guid_file /of/file\nio_guid_file /x\n", arena);
	char *argv[] = { "saguarod", NOBODY, "-F", path, "-a", "/of/flag", NULL };

	option_sets_add(&extra, rows, &engine);
	ck_assert_int_eq(config_read(&c, &extra, arena, 4, argv, &diags), E_OK);
	ck_assert_str_eq(engine.roots, "/of/file");
	ck_assert_str_eq(
		take_problems(&diags),
		arena_printf(arena, "%s:2: warning: io_guid_file '/x': no effect here\n",
	                     path));
	ck_assert_int_eq(config_read(&c, &extra, arena, 6, argv, &diags), E_OK);
	ck_assert_str_eq(engine.roots, "/of/flag");
	ck_assert_int_eq(config_dump_file(&c, &extra, arena, path, &diags), E_OK);
	ck_assert_int_eq(config_read(&c, &extra, arena, 4, argv, &diags), E_OK);
	ck_assert_str_eq(engine.roots, "/of/flag");
	unlink(path);
}
END_TEST

/* One change of a text: a byte, a cut, a piece moved, a piece twice. */
static size_t mutate(char *text, size_t len, size_t room, uint64_t *s)
{
	static const char spice[] = "\0\n\r\t #\"'\\\x7f\xff-0x()";
	if (len == 0) {
		return 0;
	}
	size_t at = rnd(s) % len, n = rnd(s) % 40;
	switch (rnd(s) % 4) {
	case 0: text[at] = (char)rnd(s); return len;
	case 1: text[at] = spice[rnd(s) % sizeof(spice)]; return len;
	case 2:
		n = n < len - at ? n : len - at;
		memmove(text + at, text + at + n, len - at - n);
		return len - n;
	default:
		n = n < room - len ? n : room - len;
		n = n < len - at ? n : len - at;
		memmove(text + at + n, text + at, len - at);
		return len + n;
	}
}

static void read_anything(const char *text, size_t len, uint64_t seed)
{
	struct arena *job = arena_new();
	struct config any = { 0 };
	struct option_sets sets = { .n = 0 };
	struct diags d;

	diags_init(&d, job);
	option_sets_add(&sets, config_rows, &any);
	ck_assert_int_eq(option_set_defaults(&sets, job), E_OK);
	int ret = option_read_text(&sets, job, "any", text, len, &d);
	if ((ret != E_OK && ret != E_SYNTAX) || (ret == E_OK) != (d.n_errors == 0)) {
		ck_abort_msg("seed %" PRIu64 ": %d with %u errors", seed, ret,
		             d.n_errors);
	}
	arena_free(job);
}

/* Any bytes end in values or in errors, never in a crash. */
START_TEST(test_any_bytes)
{
	enum { ROUNDS = 400, ROOM = 32768 };
	size_t good_len;

	ck_assert_int_eq(read_words(""), E_OK);
	char *good = dump(&c, &good_len), *text = arena_alloc(arena, ROOM);
	ck_assert_uint_lt(good_len, ROOM);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t seed = seed_of_run() + 1000 * (uint64_t)_i + round, s = seed;
		size_t len = good_len;
		memcpy(text, good, len);
		for (uint64_t n = rnd(&s) % 20; n > 0; n--) {
			len = mutate(text, len, ROOM, &s);
		}
		read_anything(text, len, seed);
		len = rnd(&s) % 500;
		for (size_t i = 0; i < len; i++) {
			text[i] = (char)(rnd(&s) % (round % 2 ? 256 : 96) +
			                 (round % 2 ? 0 : 31));
		}
		read_anything(text, len, seed);
	}
	free(good);
}
END_TEST

TEST_SUITE(config)
{
	TCase *tc = tcase_create("config");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_defaults);
	tcase_add_loop_test(tc, weak_keys, 0, 6);
	tcase_add_test(tc, test_opensm_file);
	tcase_add_loop_test(tc, test_opensm_flags, 0, N(flags));
	tcase_add_test(tc, test_command_line);
	tcase_add_test(tc, test_layers);
	tcase_add_loop_test(tc, test_refused, 0, N(refused));
	tcase_add_test(tc, test_rows);
	tcase_add_loop_test(tc, test_dump, 0, 30);
	tcase_add_test(tc, test_dump_hides_keys);
	tcase_add_test(tc, test_dump_file);
	tcase_add_loop_test(tc, test_site_files, 0, N(site_files));
	tcase_add_test(tc, nothing_is_ignored_in_silence);
	tcase_add_test(tc, test_extra);
	tcase_add_loop_test(tc, test_any_bytes, 0, 3);
	suite_add_tcase(suite, tc);
}

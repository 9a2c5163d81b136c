/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/partitions.h"
#include "tests/lib/suite.h"

#define N(x) (int)(sizeof(x) / sizeof((x)[0]))

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

/* --- files that are read -------------------------------------------------------------- */

static void put_member(char *to, size_t size, const struct partition_member *m)
{
	static const char *const who[] = {
		"", "ALL", "CAS", "SW", "RTR", "VCAS", "SELF", "host"
	};
	char name[160];

	snprintf(name, sizeof(name), "%s", who[m->who]);
	if (m->who == PARTITION_GUIDS && m->first == m->last) {
		snprintf(name, sizeof(name), "%" PRIx64, m->first);
	} else if (m->who == PARTITION_GUIDS) {
		snprintf(name, sizeof(name), "%" PRIx64 "-%" PRIx64, m->first, m->last);
	}
	if (m->who == PARTITION_HOST) {
		snprintf(name, sizeof(name), "'%s'", m->name);
	}
	snprintf(to + strlen(to), size - strlen(to), " %s=%s", name,
	         partition_membership_name(m->membership));
}

/* Partitions in short: "7fff Default: ALL=limited SELF=full; ...". */
static const char *shown(const struct partitions *p)
{
	static char text[4096];

	text[0] = '\0';
	for (uint32_t i = 0; i < p->n; i++) {
		const struct partition *t = &p->all[i];
		size_t at = strlen(text);

		snprintf(text + at, sizeof(text) - at, "%s%x %s%s:", i ? "; " : "",
		         t->p_key, t->name, t->indx0 ? " indx0" : "");
		for (uint32_t k = 0; k < t->n_members; k++) {
			put_member(text, sizeof(text), &t->members[k]);
		}
		for (uint32_t k = 0; k < t->n_groups; k++) {
			const struct partition_group *g = &t->groups[k];

			at = strlen(text);
			snprintf(text + at, sizeof(text) - at,
			         " [%" PRIx64 ":%" PRIx64 " q%x r%u m%u s%u t%u f%x]",
			         g->prefix, g->guid, g->q_key, g->rate, g->mtu, g->sl,
			         g->tclass, g->flow_label);
		}
	}
	return text;
}

#define DEFAULT "7fff Default: ALL=limited SELF=full"
#define BROADCAST(key) "[ff12401b" key "0000:ffffffff qb1b r3 m4 s0 t0 f0]"

/* Answers that OpenSM 3.3.23 gives, too, unless a comment says otherwise. */
static const struct {
	const char *text, *shown;
	unsigned warnings;
} files[] = {
	{ "", DEFAULT, 0 },
	{ "# nothing\n\n ; # \n", DEFAULT, 0 },
	{ "Default=0x7fff : ALL, SELF=full ;", DEFAULT " ALL=limited SELF=full", 0 },
	{ "Default=0xffff,ipoib:ALL=full;", DEFAULT " ALL=full " BROADCAST("ffff"), 0 },
	{ "Default : ALL_CAS=full ;", DEFAULT " CAS=full", 0 },
	{ "NewPartition , ipoib : 0x123456=full, 0x3456789034=limi, 0x2134af2306 ;",
	  "1 NewPartition: 123456=full 3456789034=limited 2134af2306=limited " BROADCAST(
		  "8001") "; " DEFAULT,
	  0 },
	{ "A = 0x300 : SELF=full ;\nA = 0x300 : ALL=limited ;",
	  "300 A: SELF=full ALL=limited; " DEFAULT, 0 },
	{ "S=0x80 , defmember=full : 0x1, 0x2;\n# x\nS=0x80 : 0x3, 0x4,0x5=full;\n"
	  " S=0x80 : defmember=limited : 0x6, 0x7=full ;\n" /* of the manual; OpenSM refuses it */
	  "S = 0x80 , defmember=full : 0xb, 0xc=limited, 0xd",
	  "80 S: 1=full 2=full 3=limited 4=limited 5=full 6=limited 7=full b=full c=limited d=full; " DEFAULT,
	  0 },
	{ "Default=0x7fff,ipoib:\n mgid=ff12:401b::0707,sl=1 # random IPv4 group\n"
	  " mgid=ff12:601b::16 # MLDv2\n mgid=ff12::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2\n ALL=full;",
	  DEFAULT " ALL=full " BROADCAST(
		  "ffff") " [ff12401bffff0000:707 qb1b r3 m4 s1 t0 f0] [ff12601bffff0000:16 qb1b r3 m4 s0 t0 f0] [ff12000000000000:1 qdeadbeef r3 m2 s1 t0 f0]",
	  0 },
	{ "0x31 : ALL=full;\n=0x6 : ALL=full; : ALL_ROUTERS; X=0x8005,indx0:ALL_SWITCHES=f, ;",
	  "1 : RTR=limited; 5 X indx0: SW=full; 6 : ALL=full; 31 : ALL=full; " DEFAULT,
	  0 },
	{ "A=0x32:ALL=full; A:0x3; B:0x4; B=0x1:0x5;", /* a P_Key that is written is nobody else's */
	  "1 B: 5=limited; 2 B: 4=limited; 32 A: ALL=full 3=limited; " DEFAULT, 0 },
	{ "H=0x28 : mgid=ff1e::99,scope=5,scope=8\n ALL=full;",
	  "28 H: ALL=full [ff15000000000000:99 q0 r3 m4 s0 t0 f0] [ff18000000000000:99 q0 r3 m4 s0 t0 f0]; " DEFAULT,
	  0 },
	{ "T=0x20,ipoib,rate=7,mtu=5,sl=3,scope=5,Q_Key=0x1234,TClass=3,FlowLabel=7:ALL_VCAS=full;",
	  "20 T: VCAS=full [ff15401b80200000:ffffffff q1234 r7 m5 s3 t3 f7]; " DEFAULT,
	  0 },
	{ "A=0x40: 0x10-0x1f=both, NONE, mgid=ff12::7,mgid=ff12::8,ALL=l;",
	  "40 A: 10-1f=both ALL=limited [ff12000000000000:7 q0 r3 m4 s0 t0 f0] [ff12000000000000:8 q0 r3 m4 s0 t0 f0]; " DEFAULT,
	  0 },
	/* names of hosts, which OpenSM does not know */
	{ "A=0x40: \"node01\"=full, \"rack 1, left\" = both , 0x5, \"n[08-10]\";",
	  "40 A: 'node01'=full 'rack 1, left'=both 5=limited 'n08'=limited 'n09'=limited 'n10'=limited; " DEFAULT,
	  0 },
	{ "A=0x40,defmember=full: \"node01\", defmember=limited:\"node02\";",
	  "40 A: 'node01'=full 'node02'=limited; " DEFAULT, 0 },
	{ "A=0x40: \"node01\"=some;", "40 A: 'node01'=limited; " DEFAULT, 1 },
	/* warnings */
	{ "A=0x40,foo=1: ALL=full;", "40 A: ALL=full; " DEFAULT, 1 },
	{ "A=0x40,defmember=foo: ALL,SELF=bar;",
	  "40 A: ALL=limited SELF=limited; " DEFAULT, 2 },
	{ "A=0x40: mgid=ff12:401b::77\nALL=full;", "40 A: ALL=full; " DEFAULT, 1 },
	{ "A=0x40,ipoib: mgid=ff12:401b:8077::77\nmgid=ff12:401b::7,mtu=3\nALL=full;",
	  "40 A: ALL=full " BROADCAST("8040") "; " DEFAULT, 2 },
};

START_TEST(file_is_read)
{
	const char *text = files[_i].text;
	const struct partitions *p = NULL;
	int ret = partitions_parse("f", text, strlen(text), arena, &diags, &p);

	ck_assert_msg(ret == E_OK, "%s: %s", text, diags_first_error(&diags));
	ck_assert_str_eq(shown(p), files[_i].shown);
	ck_assert_uint_eq(diags.n_warnings, files[_i].warnings);
}
END_TEST

START_TEST(default_without_a_file)
{
	const void *p = NULL;

	ck_assert_int_eq(partitions_read(PARTITIONS_USUAL ".not", arena, &diags, &p),
	                 -ENOENT);
	ck_assert_ptr_null(p);
	const struct partitions *def = NULL;
	ck_assert_int_eq(partitions_default(PARTITIONS_USUAL, arena, &def), E_OK);
	ck_assert_str_eq(shown(def),
	                 "7fff Default: ALL=full SELF=full " BROADCAST("ffff"));
	ck_assert_ptr_eq(partitions_find(def, 0xffff), &def->all[0]);
	ck_assert(!def->is_file);
	ck_assert_ptr_null(partitions_find(def, 0x1));
}
END_TEST

/* --- files that are refused ----------------------------------------------------------- */

static const struct {
	const char *text;
	unsigned line;
	const char *said;
} wrong[] = {
	{ "A=0x1 : ALL=full mgid=ff12::1;", 1, "expected a comma" },
	{ "A=0x1 : 0x1=full 0x2=full;", 1, "expected a comma" },
	{ "A=0x1 : node01;", 1, "or the name of a host in quotes" },
	{ "A=0x1 : \"node01\" 0x2;", 1, "expected a comma or ';' behind the member \"node01\"" },
	{ "A=0x1 : \"node01 ;", 1, "expected the name of a host" },
	{ "A=0x1 : \"node\n01\";", 1, "expected the name of a host" },
	{ "A=0x1 : \"\";", 1, "expected the name of a host" },
	{ "A=0x1 : \"node[1-\";", 1, "expected the name of a host" },
	{ "A=0x1 : 0x1 0x2;", 1, "expected a PortGUID" },
	{ "A=0x1 :\n 0x1=full\n 0x2;", 3, "expected a comma" },
	{ "A=0x1 : all;", 1, "'all': expected a PortGUID" },
	{ "A=0x1 : 0;", 1, "expected a PortGUID" },
	{ "A=0x1 : 0x9-0x8;", 1, "expected a PortGUID" },
	{ "A=0x1 : 0x1-;", 1, "expected a PortGUID" },
	{ "A=0x1 : =full;", 1, "expected a PortGUID" },
	{ "A=0x1 : mgid=fe80::1\n;", 1, "expected a multicast GID" },
	{ "A=0x1,mtu=6 : ALL;", 1, "mtu '6': expected a number from 1 to 5" },
	{ "A=0x1,rate= : ALL;", 1, "rate '': expected a number" },
	{ "A=0x10000 : ALL;", 1, "P_Key '0x10000': expected" },
	{ "A=x : ALL;", 1, "P_Key 'x': expected" },
	{ "\nA=0x1, indx0\n", 3, "expected ':' between the definition 'A' of line 2" },
	{ "A=0x1 ;", 1, "expected ':'" },
	{ "A=0x1 : 0x1; # fine\nB=0x2 : 0x2=full;\nC=0x3 : nonsense;\n", 3,
	  "'nonsense'" },
};

START_TEST(file_is_refused)
{
	const char *text = wrong[_i].text;
	const struct partitions *p = NULL;

	ck_assert_int_eq(partitions_parse("f", text, strlen(text), arena, &diags, &p),
	                 E_SYNTAX);
	ck_assert_ptr_null(p);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_msg(strstr(diags_first_error(&diags), wrong[_i].said) != NULL, "%s: %s",
	              text, diags_first_error(&diags));
	for (unsigned i = 0; i < diags.n; i++) {
		if (diags.items[i].level == DIAG_ERROR) {
			ck_assert_uint_eq(diags.items[i].line, wrong[_i].line);
		}
	}
}
END_TEST

START_TEST(all_errors_are_told)
{
	static const char text[] = "A=y:0x1;B=0x2:ALL,q;C=0x3 0x4;\nD=0x5:0x6;E=6:w;";
	const struct partitions *p = NULL;

	ck_assert_int_eq(partitions_parse("f", text, strlen(text), arena, &diags, &p),
	                 E_SYNTAX);
	ck_assert_uint_eq(diags.n_errors, 4);
	ck_assert_uint_eq(diags.items[diags.n - 1].line, 2);
}
END_TEST

/* More partitions without a P_Key than there are P_Keys. */
START_TEST(p_keys_run_out)
{
	const struct partitions *p = NULL;
	size_t n = 0x8000;
	char *text = malloc(3 * n + 1);

	for (size_t i = 0; i < n; i++) {
		memcpy(text + 3 * i, ": ;", 3);
	}
	ck_assert_int_eq(partitions_parse("f", text, 3 * n, arena, &diags, &p), E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags), "no P_Key is left"));
	free(text);
}
END_TEST

TEST_SUITE(partitions)
{
	TCase *t = tcase_create("partitions");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, file_is_read, 0, N(files));
	tcase_add_test(t, default_without_a_file);
	tcase_add_loop_test(t, file_is_refused, 0, N(wrong));
	tcase_add_test(t, all_errors_are_told);
	tcase_add_test(t, p_keys_run_out);
	suite_add_tcase(suite, t);
}

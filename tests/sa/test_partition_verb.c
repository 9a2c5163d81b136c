/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The verb "partition" of the control socket, called on a daemon that manages a simulated fabric:
 * each reply and each refusal as a whole, against the comment in partition_verb.h.
 */
#include "sa/control/partition_verb.h"

#include <inttypes.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/control/control.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

#define NOW "2025-11-28T10:00:00Z"

static struct sweep_fixture *fixture;
static struct control *control;
static char why[300];

static int run(void *ctx, const json_t *request, json_t *reply, char *text, size_t size)
{
	(void)ctx;
	return partition_verb(fixture->sweep, control, request, reply, text, size);
}

static void wake(void *ctx)
{
	(void)ctx;
}

static int64_t wall_clock(void)
{
	return 1764324000; /* NOW, by date(1) */
}

static void name_host(unsigned i, const char *name)
{
	fixture->g->nodes[fixture->g->ports[fixture_host(fixture, i)].node].description = name;
}

static void setup(void)
{
	static const struct control_verb verbs[] = { { .name = "partition", .run = run },
		                                     { .name = NULL } };
	const char *trouble = "";

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 2 2 2", 0, 0);
	name_host(2, "twin HCA-1");
	name_host(3, "twin HCA-2");
	fixture_sim(fixture, 1, 0);
	fixture->config.sweep_interval = 0;
	fixture->deps.wall_clock = wall_clock;
	fixture_start(fixture);
	fixture_partitions(fixture,
	                   "Default=0x7fff, ipoib : ALL_CAS=both ;\n"
	                   "File=0x100, sl=1 : 0x10=full, 0x20-0x2f=limited ;\n");
	fixture_up(fixture);
	const struct control_options o = { .path = arena_printf(fixture->a, "%s/control",
		                                                fixture->dir),
		                           .verbs = verbs,
		                           .wake = wake };
	ck_assert_msg(control_new(&o, fixture->a, &trouble, &control) == E_OK, "%s",
	              trouble);
}

static void teardown(void)
{
	control_free(control);
	fixture_free(fixture);
}

static uint64_t guid(unsigned i)
{
	return fixture->g->ports[fixture_host(fixture, i)].guid;
}

static const char *host_name(unsigned i)
{
	return fixture->g->nodes[fixture->g->ports[fixture_host(fixture, i)].node].description;
}

/* The text with 'for ", the GUIDs of the first hosts for %0 to %3, and their names for $0 to $3. */
static json_t *read_json(const char *text)
{
	char all[2000];
	size_t n = 0;
	json_error_t e;
	json_t *o;

	for (; *text != '\0' && n < sizeof(all) - 20; text++) {
		if (*text == '%') {
			n += (size_t)snprintf(all + n, sizeof(all) - n, "0x%016" PRIx64,
			                      guid(*++text - '0'));
		} else if (*text == '$') {
			n += (size_t)snprintf(all + n, sizeof(all) - n, "%s",
			                      host_name(*++text - '0'));
		} else {
			all[n++] = *text == '\'' ? '"' : *text;
		}
	}
	all[n] = '\0';
	o = json_loads(all, 0, &e);
	ck_assert_msg(o != NULL, "%s: %s", all, e.text);
	return o;
}

/* Sends a request and compares its whole reply, and the sentence of a refusal. */
static void ask(const char *text, int want_ret, const char *want_reply,
                const char *want_why)
{
	json_t *request = read_json(text), *want = read_json(want_reply),
	       *reply = json_object();
	int ret;

	why[0] = '\0';
	ret = run(NULL, request, reply, why, sizeof(why));
	ck_assert_msg(ret == want_ret, "%s: %d %s", text, ret, why);
	ck_assert_msg(json_equal(reply, want), "%s: %s", text, json_dumps(reply, 0));
	ck_assert_msg(want_ret == E_OK || want_ret == CONTROL_WAIT ||
	                      strstr(why, want_why) != NULL,
	              "%s: %s", text, why);
	json_decref(reply);
	json_decref(request);
	json_decref(want);
}

/* Turns until ports and snapshot have the last version. */
static void settle(void)
{
	json_t *request = json_pack("{s:s}", "action", "wait"), *reply = json_object();

	for (unsigned turns = 0;
	     run(NULL, request, reply, why, sizeof(why)) == CONTROL_WAIT; turns++) {
		ck_assert_uint_lt(turns, FIXTURE_TURNS);
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert(json_is_true(json_object_get(reply, "programmed")));
	json_decref(request);
	json_decref(reply);
}

START_TEST(changes)
{
	ask("{'action':'create', 'pkey':'0x8010', 'name':'tenant-a', 'ipoib':true, 'by':'eve'}",
	    E_OK,
	    "{'version':1, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0010', 'present':[], 'absent':[]}",
	    NULL);
	ask("{'action':'create', 'pkey':16, 'name':'tenant-a', 'ipoib':true}", E_OK,
	    "{'version':1, 'last_updated':'" NOW
	    "', 'changed':false, 'pkey':'0x0010', 'present':[], 'absent':[]}",
	    NULL);
	ask("{'action':'create', 'name':'tenant-b', 'membership':'limited', 'members':['%1']}",
	    E_OK,
	    "{'version':2, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0001', 'present':['%1'], 'absent':[]}",
	    NULL);
	ask("{'action':'add', 'pkey':'0x10', 'members':['%0', {'guid':'%1', 'membership':'both'}, '0x1234']}",
	    E_OK,
	    "{'version':3, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0010', 'present':['%0', '%1'], 'absent':['0x0000000000001234']}",
	    NULL);
	/* from one partition to another, in one change */
	ask("{'action':'add', 'pkey':'0x1', 'from':'0x10', 'members':['%0']}", E_OK,
	    "{'version':4, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0001', 'present':['%0'], 'absent':[]}",
	    NULL);
	/* a member of the file stays when the one made at run time leaves */
	ask("{'action':'add', 'pkey':'0x100', 'members':['0x10', '0x2f', '0x30']}", E_OK,
	    "{'version':5, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0100', 'present':[], 'absent':['0x0000000000000010', '0x000000000000002f', '0x0000000000000030']}",
	    NULL);
	ask("{'action':'remove', 'pkey':'0x100', 'members':['0x10', '0x2f', '0x30']}",
	    E_OK,
	    "{'version':6, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0100', 'present':[], 'absent':['0x0000000000000010', '0x000000000000002f', '0x0000000000000030'], 'configured':['0x0000000000000010', '0x000000000000002f']}",
	    NULL);
	ask("{'action':'set', 'pkey':'0x20', 'create':true, 'members':['%2'], 'sl':3, 'rate':2, 'mtu':3, 'index0':true}",
	    E_OK,
	    "{'version':7, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0020', 'present':['%2'], 'absent':[]}",
	    NULL);
	ask("{'action':'delete', 'pkey':'0x10', 'if_version':7}", E_OK,
	    "{'version':8, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0010', 'present':[], 'absent':[]}",
	    NULL);
	settle();
	ask("{'action':'show', 'pkey':'0x20'}", E_OK,
	    "{'version':8, 'last_updated':'" NOW
	    "', 'programmed_version':8, 'partition':{'pkey':'0x0020', 'name':'', 'source':'runtime', 'runtime':true, 'index0':true, 'ipoib':false, 'sl':3, 'member_count':1, 'runtime_member_count':1, 'membership':'full', 'rate':2, 'mtu':3, 'changed_version':7, 'last_updated':'" NOW
	    "', 'members':[{'membership':'full', 'source':'runtime', 'guid':'%2', 'present':true}]}}",
	    NULL);
	ask("{'action':'wait', 'version':8, 'timeout_ms':0}", E_OK,
	    "{'programmed':true, 'version':8, 'programmed_version':8, 'ports':[], 'port_count':0}",
	    NULL);
}
END_TEST

/* Members by the name of their host, and by one GUID beside. */
START_TEST(by_name)
{
	ask("{'action':'create', 'pkey':'0x30', 'members':[{'host':'$0'}, {'host':'$1', 'membership':'limited'}, '%2', {'host':'$0'}]}",
	    E_OK,
	    "{'version':1, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0030', 'present':['%0', '%1', '%2'], 'absent':[]}",
	    NULL);
	ask("{'action':'remove', 'pkey':'0x30', 'members':[{'host':'$1'}]}", E_OK,
	    "{'version':2, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0030', 'present':['%1'], 'absent':[], 'configured':[]}",
	    NULL);
	ask("{'action':'add', 'pkey':'0x30', 'members':['%3', {'host':'nobody-1'}]}", E_UNKNOWN,
	    "{'code':'no_host'}",
	    "no host in the fabric has the name 'nobody-1'; name an absent one by the GUID of its port");
	/* a host with two adapters: their names tell them apart */
	ask("{'action':'add', 'pkey':'0x30', 'members':[{'host':'twin'}]}", E_RANGE,
	    "{'code':'invalid'}", "host 'twin' has 2 ports; name one of them by its GUID");
	ask("{'action':'set', 'pkey':'0x30', 'members':[{'host':'twin HCA-2', 'membership':'both'}]}",
	    E_OK,
	    "{'version':3, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0030', 'present':['%3'], 'absent':[]}",
	    NULL);
}
END_TEST

/* All ports of hosts that are named; beside members, each once. */
START_TEST(by_hosts)
{
	ask("{'action':'create', 'pkey':'0x30', 'hosts':['twin', '$0', 'twin'], 'members':['%1']}",
	    E_OK,
	    "{'version':1, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0030', 'present':['%0', '%1', '%2', '%3'], 'absent':[]}",
	    NULL);
	ask("{'action':'add', 'pkey':'0x30', 'hosts':['nobody-1', '$1']}", E_UNKNOWN,
	    "{'unknown_hosts':['nobody-1'], 'code':'no_host'}",
	    "host 'nobody-1' is not in the fabric");
	ask("{'action':'remove', 'pkey':'0x30', 'hosts':['nobody-2', 'nobody-1', 'nobody-2']}",
	    E_UNKNOWN, "{'unknown_hosts':['nobody-1', 'nobody-2'], 'code':'no_host'}",
	    "host 'nobody-1' and others are not in the fabric");
	ask("{'action':'set', 'pkey':'0x30', 'hosts':'twin'}", E_SYNTAX, "{'code':'invalid'}",
	    "'hosts' must be a list");
	ask("{'action':'set', 'pkey':'0x30', 'hosts':['twin', '']}", E_SYNTAX,
	    "{'code':'invalid'}", "'hosts' must be a list of names");
	ask("{'action':'remove', 'pkey':'0x30', 'hosts':['twin']}", E_OK,
	    "{'version':2, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0030', 'present':['%2', '%3'], 'absent':[], 'configured':[]}",
	    NULL);
}
END_TEST

/* What there is before any change: partitions of the file, with the members that it names. */
START_TEST(shows_file)
{
	ask("{'action':'list', 'members':false}", E_OK,
	    "{'version':0, 'last_updated':null, 'programmed_version':0, 'partitions':[{'pkey':'0x0100', 'name':'File', 'source':'file', 'runtime':false, 'index0':false, 'ipoib':false, 'sl':1, 'member_count':2, 'runtime_member_count':0}, {'pkey':'0x7fff', 'name':'Default', 'source':'file', 'runtime':false, 'index0':false, 'ipoib':true, 'sl':0, 'member_count':3, 'runtime_member_count':0}]}",
	    NULL);
	ask("{'action':'list'}", E_OK,
	    "{'version':0, 'last_updated':null, 'programmed_version':0, 'partitions':[{'pkey':'0x0100', 'name':'File', 'source':'file', 'runtime':false, 'index0':false, 'ipoib':false, 'sl':1, 'member_count':2, 'runtime_member_count':0, 'members':[{'membership':'full', 'source':'file', 'guid':'0x0000000000000010', 'present':false}, {'membership':'limited', 'source':'file', 'first':'0x0000000000000020', 'last':'0x000000000000002f'}]}, {'pkey':'0x7fff', 'name':'Default', 'source':'file', 'runtime':false, 'index0':false, 'ipoib':true, 'sl':0, 'member_count':3, 'runtime_member_count':0, 'members':[{'membership':'limited', 'source':'file', 'who':'ALL'}, {'membership':'full', 'source':'file', 'who':'SELF'}, {'membership':'both', 'source':'file', 'who':'ALL_CAS'}]}]}",
	    NULL);
}
END_TEST

/* Until ports have a version, wait waits; with no time left it names those that do not. */
START_TEST(waits)
{
	ask("{'action':'create', 'pkey':'0x10', 'members':['%0', '%1']}", E_OK,
	    "{'version':1, 'last_updated':'" NOW
	    "', 'changed':true, 'pkey':'0x0010', 'present':['%0', '%1'], 'absent':[]}",
	    NULL);
	ask("{'action':'wait'}", CONTROL_WAIT, "{}", NULL);
	ask("{'action':'wait', 'version':1, 'timeout_ms':600000}", CONTROL_WAIT, "{}",
	    NULL);
	ask("{'action':'wait', 'timeout_ms':0}", E_OK,
	    "{'programmed':false, 'version':1, 'programmed_version':0, 'ports':[], 'port_count':0}",
	    NULL);
	settle();
	ask("{'action':'wait'}", E_OK,
	    "{'programmed':true, 'version':1, 'programmed_version':1, 'ports':[], 'port_count':0}",
	    NULL);
}
END_TEST

/* A refusal has a sentence and a code, and changes nothing. */
static const struct {
	const char *request;
	int ret;
	const char *reply, *says;
} refused[] = {
#define INVALID "{'code':'invalid'}"
#define UNCHANGED(code) "{'version':0, 'last_updated':null, 'code':'" code "'}"
#define NO_P_KEY                                                                         \
	"'pkey' must be a P_Key from \"0x1\" to \"0x7fff\", with or without bit 15"
#define NO_ACTION "'action' must be create, add, remove, set, delete, list, show or wait"
	{ "{}", E_SYNTAX, INVALID, NO_ACTION },
	{ "{'action':'make'}", E_SYNTAX, INVALID, NO_ACTION },
	{ "{'action':'delete'}", E_SYNTAX, INVALID, NO_P_KEY },
	{ "{'action':'delete', 'pkey':'0x8000'}", E_SYNTAX, INVALID, NO_P_KEY },
	{ "{'action':'delete', 'pkey':'0x10001'}", E_SYNTAX, INVALID, NO_P_KEY },
	{ "{'action':'delete', 'pkey':65537}", E_SYNTAX, INVALID, NO_P_KEY },
	{ "{'action':'delete', 'pkey':-1}", E_SYNTAX, INVALID, NO_P_KEY },
	{ "{'action':'delete', 'pkey':'tenant'}", E_SYNTAX, INVALID, NO_P_KEY },
	{ "{'action':'create', 'pkey':true}", E_SYNTAX, INVALID, NO_P_KEY },
	{ "{'action':'show'}", E_SYNTAX, INVALID, NO_P_KEY },
	{ "{'action':'create', 'name':7}", E_SYNTAX, INVALID, "'name' must be text" },
	{ "{'action':'create', 'ipoib':1}", E_SYNTAX, INVALID,
	  "'ipoib' must be true or false" },
	{ "{'action':'create', 'index0':'yes'}", E_SYNTAX, INVALID,
	  "'index0' must be true or false" },
	{ "{'action':'create', 'sl':256}", E_SYNTAX, INVALID,
	  "'sl' must be a number from 0 to 255" },
	{ "{'action':'create', 'rate':-1}", E_SYNTAX, INVALID,
	  "'rate' must be a number from 0 to 255" },
	{ "{'action':'create', 'mtu':'4096'}", E_SYNTAX, INVALID,
	  "'mtu' must be a number from 0 to 255" },
	{ "{'action':'create', 'membership':'half'}", E_SYNTAX, INVALID,
	  "'membership' must be full, limited or both" },
	{ "{'action':'create', 'members':'%0'}", E_SYNTAX, INVALID,
	  "'members' must be a list" },
	{ "{'action':'create', 'members':[5]}", E_SYNTAX, INVALID,
	  "a member needs a 'guid'" },
	{ "{'action':'create', 'members':['host-1']}", E_SYNTAX, INVALID,
	  "a member needs a 'guid'" },
	{ "{'action':'create', 'members':[{'membership':'full'}]}", E_SYNTAX, INVALID,
	  "a member needs a 'guid'" },
	{ "{'action':'create', 'members':['%0', {'guid':'%1', 'membership':'all'}]}",
	  E_SYNTAX, INVALID, "'membership' must be full, limited or both" },
	{ "{'action':'add', 'pkey':'0x100'}", E_SYNTAX, INVALID, "'members' is missing" },
	{ "{'action':'set', 'pkey':'0x100'}", E_SYNTAX, INVALID, "'members' is missing" },
	{ "{'action':'remove', 'pkey':'0x100'}", E_SYNTAX, INVALID,
	  "'members' is missing" },
	{ "{'action':'add', 'pkey':'0x10', 'members':['%0'], 'create':'yes'}", E_SYNTAX,
	  INVALID, "'create' must be true or false" },
	{ "{'action':'add', 'pkey':'0x100', 'members':['%0'], 'from':'0x8000'}", E_SYNTAX,
	  INVALID, "'from' must be a P_Key" },
	{ "{'action':'delete', 'pkey':'0x10', 'if_version':-2}", E_SYNTAX, INVALID,
	  "'if_version' must be a number from 0 to" },
	{ "{'action':'list', 'members':1}", E_SYNTAX,
	  "{'partitions':[], 'code':'invalid'}", "'members' must be true or false" },
	{ "{'action':'wait', 'timeout_ms':600001}", E_SYNTAX, INVALID,
	  "'timeout_ms' must be a number from 0 to 600000" },
	{ "{'action':'wait', 'version':1}", E_NOTFOUND, "{'code':'not_found'}",
	  "there is no version 1 yet" },
	{ "{'action':'show', 'pkey':'0x11'}", E_NOTFOUND,
	  "{'version':0, 'last_updated':null, 'programmed_version':0, 'code':'not_found'}",
	  "there is no partition 0x0011" },
	{ "{'action':'add', 'pkey':'0x11', 'members':['%0']}", E_NOTFOUND,
	  UNCHANGED("not_found"), "" },
	{ "{'action':'add', 'pkey':'0x11', 'members':['%0'], 'create':false}", E_NOTFOUND,
	  UNCHANGED("not_found"), "" },
	{ "{'action':'delete', 'pkey':'0x11', 'if_version':3}", E_STALE,
	  UNCHANGED("conflict"), "have version 0, not 3" },
	{ "{'action':'create', 'pkey':'0x11', 'name':'File'}", E_DUPLICATE,
	  UNCHANGED("exists"), "" },
	{ "{'action':'create', 'pkey':'0x11', 'members':['0x0']}", E_RANGE,
	  UNCHANGED("invalid"), "" },
	{ "{'action':'delete', 'pkey':'0x100'}", E_UNSUITABLE, UNCHANGED("read_only"),
	  "one of the configuration" },
};

START_TEST(refusals)
{
	ask(refused[_i].request, refused[_i].ret, refused[_i].reply, refused[_i].says);
	ask("{'action':'wait'}", E_OK,
	    "{'programmed':true, 'version':0, 'programmed_version':0, 'ports':[], 'port_count':0}",
	    NULL);
}
END_TEST

TEST_SUITE(partition_verb)
{
	TCase *t = tcase_create("partition_verb");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, changes);
	tcase_add_test(t, by_name);
	tcase_add_test(t, by_hosts);
	tcase_add_test(t, shows_file);
	tcase_add_test(t, waits);
	tcase_add_loop_test(t, refusals, 0, sizeof(refused) / sizeof(refused[0]));
	suite_add_tcase(suite, t);
}

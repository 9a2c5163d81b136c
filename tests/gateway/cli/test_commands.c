/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Every command of `saguaro`: the program itself is run, on a published snapshot or on a
 * topology file, and what it prints as a table and as JSON is compared with the fabric
 * that was published. Wrong usage ends with status 2 and a sentence.
 *
 * Longer than most: all commands share one published fabric and the readers of tables and JSON.
 */
#include <inttypes.h>
#include <jansson.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "gateway/http/http.h"
#include "routing/engine.h"
#include "routing/text/lftfile.h"
#include "routing/text/topofile.h"
#include "sa/store/mcast.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static struct gateway_fixture fixture;
static char *out, *err; /* of the last run() */

static char *read_text(const char *name)
{
	char path[128];
	FILE *f;
	size_t len = 0;
	char *text = NULL;

	snprintf(path, sizeof(path), "%s/%s", fixture.dir, name);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	if (getdelim(&text, &len, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	return text;
}

/* Runs the program; its words are those of the format. \return Its exit status. */
static int run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int run(const char *fmt, ...)
{
	const char *top = getenv("top_builddir");
	char words[512], command[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	snprintf(command, sizeof(command), "%s/saguaro %s >%s/out 2>%s/err",
	         top ? top : ".", words, fixture.dir, fixture.dir);
	int status = system(command);
	ck_assert(WIFEXITED(status));
	free(out);
	free(err);
	out = read_text("out");
	err = read_text("err");
	if (WEXITSTATUS(status) == 127) {
		ck_abort_msg("%s: %s", command, err);
	}
	return WEXITSTATUS(status);
}

static json_t *run_json(const char *words)
{
	ck_assert_msg(run("%s", words) == 0, "%s: %s", words, err);
	json_t *body = json_loads(out, 0, NULL);
	ck_assert_msg(body != NULL, "%s: %s", words, out);
	return body;
}

#define assert_has(text, ...)                                                            \
	do {                                                                             \
		char want_[512];                                                         \
		ck_assert_int_lt(snprintf(want_, sizeof(want_), __VA_ARGS__), 512);      \
		ck_assert_msg(strstr((text), want_) != NULL, "'%s' is not in: %s",       \
		              want_, (text));                                            \
	} while (0)

static unsigned lines_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++) {
		n += *text == '\n';
	}
	return n;
}

static json_int_t int_at(const json_t *o, const char *name)
{
	ck_assert_msg(json_is_integer(json_object_get(o, name)), "%s", name);
	return json_integer_value(json_object_get(o, name));
}

static void start(void)
{
	static char *args[] = { (char *)"3", (char *)"2", (char *)"2" };

	unsetenv("SAGUARO_URL");
	gateway_fixture_init(&fixture, "ft2", 3, args);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 7);
	gateway_fixture_heartbeat(&fixture, 0, true);
	setenv("SAGUARO_SNAPSHOT_DIR", fixture.dir, 1);
}

/* Cables that carry more one way than the other. */
static void start_uneven(void)
{
	static char *args[] = { (char *)"10", (char *)"3", (char *)"2" };

	unsetenv("SAGUARO_URL");
	gateway_fixture_init(&fixture, "jellyfish", 3, args);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 7);
	gateway_fixture_heartbeat(&fixture, 0, true);
	setenv("SAGUARO_SNAPSHOT_DIR", fixture.dir, 1);
}

static void stop(void)
{
	free(out);
	free(err);
	out = err = NULL;
	gateway_fixture_done(&fixture);
}

static const struct node *host_node(uint32_t i)
{
	return &fixture.g->nodes[fixture.g->ports[fixture.g->hosts[i]].node];
}

static uint32_t host_lid(uint32_t i)
{
	return fixture.lids.of[fixture.g->hosts[i]].base;
}

/* --- usage ----------------------------------------------------------------------------- */

/* Names of the commands, as saguaro --help lists them. \return How many. */
typedef char word[32];

static unsigned read_commands(word *name)
{
	unsigned n = 0;

	ck_assert_int_eq(run("--help"), 0);
	for (const char *p = strstr(out, "\n  "); p != NULL && n < 64;
	     p = strstr(p + 1, "\n  ")) {
		n += sscanf(p, " %31[a-z]", name[n]) ==
		     1; /* no line of flags begins so */
	}
	ck_assert_uint_gt(n, 30);
	return n;
}

/* Gives each flag of a command that takes a value one that can hardly be good. It may
 * be taken; if it is not, something is said. */
static void check_bad_values(const char *command)
{
	enum { MOST = 20 }; /* commands that take all options of saguarod have more */
	char *help = strdup(out), *save = NULL;
	unsigned n = 0;

	for (char *line = strtok_r(help, "\n", &save); line != NULL && n < MOST;
	     line = strtok_r(NULL, "\n", &save)) {
		char *flag = strstr(line, "--");
		int status;

		if (strncmp(line, "  ", 2) != 0 || flag == NULL || flag - line > 6 ||
		    flag[strcspn(flag, "= ")] != '=') {
			continue;
		}
		flag[strcspn(flag, "=")] = '\0';
		status = run("%s %s='x y' 2", command, flag);
		ck_assert_msg(status < 4, "%s %s: %d", command, flag, status);
		ck_assert_msg(status == 0 || err[0] != '\0' || out[0] != '\0',
		              "%s %s: exit %d without a word", command, flag, status);
		n++;
	}
	free(help);
}

START_TEST(test_help)
{
	char name[64][32];
	unsigned n = read_commands(name);

	for (unsigned i = 0; i < n; i++) {
		ck_assert_msg(run("%s --help", name[i]) == 0, "%s: %s", name[i], err);
		assert_has(out, "Usage: saguaro %.31s", name[i]);
		ck_assert_str_eq(err, "");
		check_bad_values(name[i]);
		ck_assert_msg(run("%s --no-such-flag", name[i]) == 2, "%s: %s", name[i],
		              err);
		ck_assert_str_ne(err, "");
		ck_assert_str_eq(out, "");
	}
}
END_TEST

/* Every command with --csv: words that make it print a list, and the member that JSON has it in,
 * NULL: it has nothing else. */
static const struct {
	const char *command, *words, *list;
	bool lines; /* JSON, too, has a line for each row */
} field_lists[] = {
	{ "nodes", "nodes", "nodes", false },
	{ "links", "links", "links", false },
	{ "ports", "ports", "ports", false },
	{ "lids", "lids", "lids", false },
	{ "lft", "lft leaf-0000", "routes", false },
	{ "load", "load", "links", false },
	{ "counters", "counters", "counters", false },
	{ "alarms", "alarms", "alarms", false },
	{ "services", "services", "services", false },
	{ "sweeps", "sweeps", "sweeps", false },
	{ "maintenance", "maintenance", "maintenance", false },
	{ "diff", "diff", "changes", false },
	{ "groups", "groups", "groups", false },
	{ "jobs", "jobs", "jobs", false },
	{ "partition", "partition list", "partitions", false },
	{ "records", "records node", "records", false },
	{ "records", "records list", "records", false },
	{ "paths", "paths 1 2", "paths", false },
	{ "events", "events", "events", true },
	{ "export", "export", "formats", false },
	{ "engines", "engines", NULL, false },
	{ "compare", "compare -R minhop", "engines", false },
	{ "explain", "explain", NULL, false },
	{ "explain", "explain link_down", NULL, false },
};

static void check_fields(unsigned i)
{
	const char *words = field_lists[i].words;
	char head[8192], *fields, *line, *save = NULL;
	unsigned n = 0;

	ck_assert_msg(run("%s --field list", words) == 0, "%s: %s", words, err);
	fields = strdup(out);
	head[0] = '\0';
	for (line = strtok_r(fields, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		size_t len = strlen(line);

		if (strcmp(line + len - 2, ".*") != 0) {
			snprintf(head + strlen(head), sizeof(head) - strlen(head), "%s%s",
			         n++ > 0 ? "," : "", line);
		}
	}
	free(fields);
	ck_assert_uint_gt(n, 0);
	ck_assert_msg(run("%s --field nope", words) == 2, "%s", words);
	assert_has(err, "saguaro %s", field_lists[i].command);
	assert_has(err, ": there is no field 'nope'; expected one of\n  ");
	ck_assert_str_eq(out, "");
	ck_assert_int_eq(run("%s --json --csv", words), 2);
	ck_assert_msg(run("%s --csv", words) <= 1, "%s: %s", words, err);
	ck_assert_msg(strncmp(out, head, strlen(head)) == 0 && out[strlen(head)] == '\n',
	              "%s: %s is not the head of %s", words, head, out);
	n = lines_of(out) - 1;
	ck_assert_int_le(run("%s --json", words), 1);
	if (field_lists[i].lines) {
		ck_assert_uint_eq(lines_of(out), n);
		return;
	}
	json_t *body = json_loads(out, 0, NULL);
	ck_assert_msg(body != NULL, "%s: %s", words, out);
	const json_t *list = field_lists[i].list != NULL
	                             ? json_object_get(body, field_lists[i].list)
	                             : body;
	ck_assert_uint_eq(json_array_size(list), n);
	json_decref(body);
}

START_TEST(test_fields_of_every_list)
{
	char name[64][32];
	unsigned n = read_commands(name);

	for (unsigned i = 0; i < N(field_lists); i++) {
		check_fields(i);
	}
	for (unsigned i = 0; i < n; i++) {
		bool known = false;

		run("%s --help", name[i]);
		for (unsigned k = 0; k < N(field_lists); k++) {
			known = known || strcmp(field_lists[k].command, name[i]) == 0;
		}
		ck_assert_msg(known || strstr(out, "--csv") == NULL, "%s is not tested",
		              name[i]);
	}
}
END_TEST

/* \a says: what the sentence on standard error contains. */
static const struct {
	const char *words, *says;
} refused[] = {
	{ "", "Usage: saguaro COMMAND" },
	{ "rout", "did you mean 'route'?" },
	{ "nodes x", "unexpected argument 'x'" },
	{ "nodes --type hub", "expected ca, switch or router" },
	{ "nodes --url http://127.0.0.1:1", "no gateway answers at http://127.0.0.1:1" },
	{ "report", "expected NAME [FILE], the name of a report; try 'saguaro report --help'" },
	{ "report nope", "unknown report 'nope'" },
	{ "report pathusage /no/such/file", "cannot be read: No such file" },
	{ "report route --src nobody --dst 1", "nobody" },
	{ "route", "expected FILE, a topology file" },
	{ "route /no/such/file", "cannot be read: No such file" },
	{ "check /no/such/file --lfts x", "cannot be read: No such file" },
	{ "config", "expected check FILE" },
	{ "config check /no/such/file", "cannot be read" },
	{ "partition add 1 node[1-", "'node[1-': expected a GUID, the name of a host" },
	{ "topo", "expected KIND ARGS" },
	{ "topo nope", "no topology kind 'nope', expected one of" },
	{ "topo ft2 1", "expected LEAVES HOSTS SPINES" },
	{ "engines x", "unexpected argument 'x'" },
	{ "records", "expected NAME" },
	{ "records Nope", "no records named 'Nope'" },
	{ "records node --nope 1", "unrecognized option '--nope'" },
	{ "paths 1", "expected SRC DST" },
	{ "paths nobody 1", "there is no end port 'nobody'" },
	{ "paths 1 2 --mode none", "expected one of minimal" },
	{ "trace 1", "expected SRC DST" },
	{ "why 1", "expected SRC DST" },
	{ "whatif --down", "--down needs a value" },
	{ "whatif --down nobody", "'nobody' is no node of this fabric" },
	{ "whatif --down leaf-0000:77",
	  "'leaf-0000:77' is beyond the last port of the node" },
	{ "whatif --down leaf-0000:x", "'leaf-0000:x' is no port; expected NODE:PORT" },
	{ "whatif --link leaf-0000:1", "is no cable; expected NODE:PORT=NODE:PORT" },
	{ "whatif --link leaf-0000:1=leaf-0001:1", "has a cable already" },
	{ "whatif --host new", "is not NAME=..., with a name" },
	{ "whatif --switch new=255", "'255' is no number of ports, 1-254" },
	{ "whatif -R none", "none" },
	{ "whatif --snapshot-dir /no/such", "no running fabric in /no/such" },
	{ "why 1 2 --rate 1", "expected the code of the record, 2-63" },
	{ "groups 1 2", "unexpected argument '2'" },
	{ "groups 49155", "there is no multicast group '49155'" },
	{ "status --url http://127.0.0.1:1", "no gateway answers" },
	/* what is named is asked, or nothing */
	{ "status --snapshot-dir /no/such --url http://127.0.0.1:1",
	  "--url and --snapshot-dir name two different origins" },
	{ "nodes --instance none --url http://127.0.0.1:1",
	  "--url and --instance name two different origins" },
	{ "sweep --control-socket none", "the control socket cannot be 'none'" },
	{ "status --instance no-such-instance", "cannot read the snapshot in" },
	{ "nodes --snapshot-dir /no/such", "cannot read the snapshot in /no/such" },
	{ "nodes --field foo", "there is no field 'foo'; expected one of" },
	{ "nodes --type router --field guid,foo", "there is no field 'foo'" },
	{ "links --csv --field a.nam", "there is no field 'a.nam'" },
	{ "ports --json --csv", "--json goes with neither" },
	{ "links --state up", "expected down, init, armed or active" },
	{ "lft", "expected SWITCH" },
	{ "lft nobody", "no node has the name" },
	{ "load --node nobody", "no node has the name" },
};

START_TEST(test_refused)
{
	for (unsigned i = 0; i < N(refused); i++) {
		int status = run("%s", refused[i].words);
		ck_assert_msg(status == 2, "%s: %d %s", refused[i].words, status, err);
		assert_has(err, "%s", refused[i].says);
		ck_assert_str_eq(out, "");
	}
}
END_TEST

/* Commands that begin with a word: one with which more than one argument may be too many. */
static const struct {
	const char *command, *words;
} first_words[] = {
	{ "config", "check f" },       { "keys", "init" },
	{ "partition", "show 1" },     { "port", "disable a:1" },
	{ "alarm", "ack 1" },          { "maintenance", "start a" },
	{ "report", "pathusage f" },   { "topo", "ft2 1 1 1" },
	{ "partition", "delete 0x1" }, { "partition", "wait 1" },
	{ "partition", "list" },
};

/* A wrong command line ends with 2 and a line that names the command and its help. */
static void check_usage(const char *command, const char *words)
{
	int status = run("%s %s", command, words);

	ck_assert_msg(status == 2, "%s %s: %d %s%s", command, words, status, out, err);
	ck_assert_str_eq(out, "");
	assert_has(err, "saguaro %s", command);
	ck_assert_msg(strstr(err, "--help'") != NULL, "%s %s: %s", command, words, err);
	ck_assert_msg(lines_of(err) <= 3, "%s %s: %s", command, words, err);
	ck_assert_msg(strstr(err, "grammar") == NULL, "%s %s: %s", command, words, err);
}

START_TEST(test_usage)
{
	static const struct {
		const char *name, *args;
	} rows[] = {
#define TOPIC(text)
#define COMMAND(name, asks, parallel, args, ...) { #name, args },
#include "gateway/cli/help/commands.def"
#undef TOPIC
#undef COMMAND
	};
	char words[256];

	for (unsigned i = 0; i < N(rows); i++) {
		check_usage(rows[i].name, "--no-such-flag");
		check_usage(rows[i].name, "a b c d e");
		if (rows[i].args[0] != '\0' && rows[i].args[0] != '[') {
			check_usage(rows[i].name, "");
		}
	}
	for (unsigned i = 0; i < N(first_words); i++) {
		snprintf(words, sizeof(words), "%s c", first_words[i].words);
		check_usage(first_words[i].command, words);
		snprintf(words, sizeof(words), "%s --no-such-flag", first_words[i].words);
		check_usage(first_words[i].command, words);
	}
}
END_TEST

/* --- of a running fabric --------------------------------------------------------------- */

START_TEST(test_nodes)
{
	const struct graph *g = fixture.g;
	json_t *body = run_json("nodes --json"), *list = json_object_get(body, "nodes");

	ck_assert_uint_eq(json_array_size(list), g->n_nodes);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		char guid[24];
		json_t *n = json_array_get(list, i);
		snprintf(guid, sizeof(guid), "0x%016" PRIx64, g->nodes[i].guid);
		ck_assert_str_eq(json_string_value(json_object_get(n, "guid")), guid);
		ck_assert_uint_eq(json_array_size(json_object_get(n, "ports")),
		                  g->nodes[i].n_ports +
		                          (g->nodes[i].type == NODE_SWITCH));
	}
	json_decref(body);
	ck_assert_int_eq(run("nodes"), 0);
	ck_assert_uint_eq(lines_of(out), g->n_nodes + 1);
	for (uint32_t i = 0; i < g->n_hosts; i++) {
		assert_has(out, "0x%016" PRIx64 "  ca      %6u  %s\n", host_node(i)->guid,
		           host_lid(i), host_node(i)->description);
	}
	ck_assert_int_eq(run("nodes --type ca --field lid"), 0);
	ck_assert_uint_eq(lines_of(out), g->n_hosts);
	ck_assert_uint_eq((uint32_t)atoi(out), host_lid(0));
}
END_TEST

/* Lists: as many lines as elements, the same values in each form. */
START_TEST(test_lists)
{
	static const struct {
		const char *command, *list, *field;
	} lists[] = {
		{ "links", "links", "a.name,b.port,routes_from_a.base" },
		{ "ports --type switch", "ports", "name,port,state" },
		{ "lids", "lids", "lid,name" },
		{ "lft leaf-0000", "routes", "lid,port" },
		{ "load", "links", "routes,from.name,to.tier" },
		{ "nodes --type ca", "nodes", "name,lid" },
	};

	for (unsigned i = 0; i < N(lists); i++) {
		char words[256];
		snprintf(words, sizeof(words), "%s --json", lists[i].command);
		json_t *body = run_json(words);
		const unsigned n =
			(unsigned)json_array_size(json_object_get(body, lists[i].list));

		ck_assert_uint_gt(n, 0);
		ck_assert_int_eq(run("%s", lists[i].command), 0);
		ck_assert_uint_eq(lines_of(out), n + 1);
		ck_assert_int_eq(run("%s --csv", lists[i].command), 0);
		ck_assert_uint_eq(lines_of(out), n + 1);
		unsigned commas = 0, first = 0;
		for (const char *p = out; *p; p++) {
			commas += *p == ',';
			first += *p == ',' && strchr(out, '\n') > p;
		}
		ck_assert_uint_eq(commas, first * (n + 1));
		ck_assert_int_eq(run("%s --field %s", lists[i].command, lists[i].field),
		                 0);
		ck_assert_uint_eq(lines_of(out), n);
		ck_assert_ptr_nonnull(strchr(out, '\t'));
		json_decref(body);
	}
	ck_assert_int_eq(run("links --field list"), 0);
	assert_has(out, "\nb.name\n");
	ck_assert_int_eq(run("links --name spine-0001 --csv --field a.name,b.name"), 0);
	assert_has(out, "a.name,b.name\nleaf-0000,spine-0001\n");
	ck_assert_uint_eq(lines_of(out), 4);
	/* the ports of the fixture are not active */
	ck_assert_int_eq(run("alarms --field kind"), 1);
	assert_has(out, "not_active\n");
}
END_TEST

START_TEST(test_doctor)
{
	json_t *body;

	/* the ports of the fixture are not active */
	ck_assert_int_eq(run("doctor"), 1);
	assert_has(out, "not_active (error)\n");
	assert_has(out, "is init, not active\n");
	assert_has(out, "  What to do: if the state stays");
	ck_assert_int_eq(run("doctor --json"), 1);
	body = json_loads(out, 0, NULL);
	ck_assert(json_is_false(json_object_get(body, "healthy")));
	ck_assert_uint_gt(json_array_size(json_object_get(body, "findings")), 0);
	json_decref(body);
	ck_assert_int_eq(run("doctor node1"), 1);
	assert_has(out, "node1 port 1: init, LID %u", host_lid(0));
	assert_has(out, "no port of node1 is active, so no packet gets through");
	ck_assert_int_eq(run("doctor node1 node2"), 1);
	assert_has(out, "no port of node2 is active");
	ck_assert_int_eq(run("doctor nobody"), 2);
	ck_assert_int_eq(run("doctor a b c"), 2);
	ck_assert_int_eq(run("doctor --url http://127.0.0.1:1"), 2);
	assert_has(err, "no gateway answers at http://127.0.0.1:1");
	ck_assert_int_eq(run("doctor --snapshot-dir %s/none", fixture.dir), 1);
	assert_has(out, "no saguarod has run here: there is no snapshot in %s/none", fixture.dir);
	gateway_fixture_heartbeat(&fixture, 3600000, true);
	ck_assert_int_eq(run("doctor"), 1);
	assert_has(out, "not_ready (critical)\n");
	assert_has(out, "daemon gone since");
	assert_has(out, "'systemctl restart saguarod'");
}
END_TEST

/* A dead daemon: the answer is given, and said to be old. */
START_TEST(test_stale)
{
	static const char *const words[] = { "nodes",
		                             "links",
		                             "paths 1 2",
		                             "lft leaf-0000",
		                             "records NodeRecord",
		                             "groups",
		                             "check",
		                             "records NodeRecord --stream" };

	gateway_fixture_heartbeat(&fixture, 3600000, true);
	for (unsigned i = 0; i < N(words); i++) {
		ck_assert_msg(run("%s", words[i]) == 3, "%s: %s", words[i], err);
		assert_has(err, "stale");
		ck_assert_str_ne(out, "");
	}
}
END_TEST

START_TEST(test_status)
{
	const struct graph *g = fixture.g;
	const struct proof *p = &fixture.route.proof;
	json_t *body = run_json("status --json");

	ck_assert(json_is_true(json_object_get(body, "ready")));
	ck_assert_int_eq(int_at(json_object_get(body, "fabric"), "epoch"), 7);
	ck_assert_int_eq(int_at(json_object_get(body, "routing"), "pairs"),
	                 (json_int_t)p->pairs);
	json_decref(body);
	ck_assert_int_eq(run("status"), 0);
	assert_has(
		out,
		"subnet           up\nepoch            7, computed at 2026-01-01T00:00:00Z\n");
	assert_has(out, "%u switches, %u hosts, %u cables, %u LIDs up to %u, LMC 0\n",
	           g->n_switches, g->n_hosts, g->n_links, fixture.lids.count,
	           fixture.lids.top);
	assert_has(out, "engine           minhop (asked: minhop)\n");
	assert_has(out,
	           "proof            0 of %" PRIu64
	           " pairs unreachable, 0 forwarding loops",
	           p->pairs);
	assert_has(out, "routes per link  max %u, mean %.1f, 99th percentile %u\n",
	           fixture.route.load.max, fixture.route.load.mean,
	           fixture.route.load.p99);
	gateway_fixture_heartbeat(&fixture, 0, false);
	ck_assert_int_eq(run("status"), 1);
	assert_has(out, "subnet           not ready\n");
}
END_TEST

START_TEST(test_paths)
{
	uint32_t last = fixture.g->n_hosts - 1, slid = host_lid(0), dlid = host_lid(last);
	char words[64];

	snprintf(words, sizeof(words), "paths %u %u --json", slid, dlid);
	json_t *body = run_json(words);
	json_t *path = json_array_get(json_object_get(body, "paths"), 0);
	ck_assert_int_eq(int_at(path, "slid"), slid);
	ck_assert_int_eq(int_at(path, "dlid"), dlid);
	ck_assert_int_eq(int_at(path, "hop_count"), 3);
	unsigned mtu = (unsigned)int_at(path, "mtu_bytes"),
		 sl = (unsigned)int_at(path, "sl");
	json_decref(body);
	ck_assert_int_eq(run("paths %u %u", slid, dlid), 0);
	ck_assert_uint_eq(lines_of(out), 2);
	assert_has(out, "%6u %6u 0xffff %3u %5u ", slid, dlid, sl, mtu);
	ck_assert_int_eq(run("paths '%s' '%s'", host_node(0)->description,
	                     host_node(last)->description),
	                 0);
	assert_has(out, "%6u %6u 0xffff", slid, dlid);
	ck_assert_int_eq(run("paths 0x%" PRIx64 " %u -n 1 -m pairwise --p-key 0xffff",
	                     fixture.g->ports[fixture.g->hosts[0]].guid, dlid),
	                 0);
	assert_has(out, "%6u %6u 0xffff", slid, dlid);
	ck_assert_int_eq(run("paths %u %u --p-key 0x1234", slid, dlid), 1);
	assert_has(err, "source and destination are not in partition 0x1234");
	/* the switches that the tables lead over */
	ck_assert_int_eq(run("trace %u %u", slid, dlid), 0);
	assert_has(out, "SLID %u to DLID %u\n", slid, dlid);
	uint32_t sw = graph_switch_of(fixture.g, fixture.g->hosts[0]);
	for (unsigned hop = 1; hop <= 3; hop++) {
		uint8_t port = lft_row(&fixture.route.out.lft, sw)[dlid];
		const struct node *n = &fixture.g->nodes[fixture.g->switches[sw]];
		char line[64];
		snprintf(line, sizeof(line), "  out %3u  LID ", port);
		assert_has(out, "%s", line);
		assert_has(out, "0x%016" PRIx64 "  %s\n", n->guid, n->description);
		uint32_t peer = fixture.g->ports[n->first_port + port].peer;
		sw = fixture.g->nodes[fixture.g->ports[peer].node].sw;
	}
	ck_assert_uint_eq(sw, GRAPH_NONE);
	ck_assert_uint_eq(lines_of(out), 4);
}
END_TEST

/* The hops of trace, each with a reason; what is left out, by which selector. */
START_TEST(test_why)
{
	const uint32_t slid = host_lid(0), dlid = host_lid(fixture.g->n_hosts - 1);
	size_t i;
	json_t *hop;

	ck_assert_int_eq(run("why %u %u --json", slid, dlid), 0);
	json_t *body = json_loads(out, 0, NULL);
	const json_t *path = json_array_get(json_object_get(body, "paths"), 0);
	const json_t *hops = json_object_get(path, "hops");
	ck_assert_uint_eq(json_array_size(hops), 3);
	ck_assert_int_eq(run("why %u %u --all", slid, dlid), 0);
	assert_has(out, ", LID %u: SL ", dlid);
	json_array_foreach(hops, i, hop)
	{
		assert_has(out, "  %zu. %s: in by port %d, out by port %d", i + 1,
		           json_string_value(json_object_get(hop, "name")),
		           (int)int_at(hop, "in_port"), (int)int_at(hop, "out_port"));
		assert_has(out, "     %s\n",
		           json_string_value(json_object_get(hop, "why")));
	}
	assert_has(out, "       * port ");
	assert_has(out, "  rate ");
	json_decref(body);
	ck_assert_int_eq(run("why %u %u --mtu '>5'", slid, dlid), 1);
	assert_has(out, "mtu greater than code 5 is asked for, the path has code 5");
	ck_assert_int_eq(run("why %u '*' --p-key 0x1234", slid), 0);
	assert_has(out, "\"none\":\"not-members\"");
}
END_TEST

static json_int_t pairs_at(const json_t *o, const char *name)
{
	return int_at(json_object_get(o, "pairs"), name);
}

/* On 3 leaves with 2 hosts, 2 spines: what is counted follows from the drawing. */
START_TEST(test_whatif)
{
	const uint32_t n = fixture.g->n_hosts;
	json_t *o = run_json("whatif --json");

	ck_assert_int_eq(pairs_at(o, "compared"), n * (n - 1));
	ck_assert_int_eq(pairs_at(o, "moved"), 0);
	ck_assert_int_eq(int_at(o, "epoch"), 7);
	json_decref(o);
	/* a spine less: the routes over it move, half of those between leaves */
	o = run_json("whatif --json --down spine-0000");
	ck_assert_int_eq(pairs_at(o, "moved"), n * (n - 2) / 2);
	ck_assert_int_eq(pairs_at(o, "lost"), 0);
	ck_assert_uint_gt(json_array_size(json_object_get(o, "links")), 0);
	json_decref(o);
	/* a host less, and one more on a new switch */
	o = run_json("whatif --json --down node1");
	ck_assert_int_eq(pairs_at(o, "gone"), 2 * (n - 1));
	ck_assert_int_eq(int_at(json_object_get(o, "hosts"), "gone"), 1);
	json_decref(o);
	o = run_json(
		"whatif --json --down leaf-0000:1 --switch edge=4 --link leaf-0000:1=edge:1 --host=one=edge:2 --host two=edge:3");
	ck_assert_int_eq(int_at(json_object_get(o, "hosts"), "new"), 2);
	ck_assert_int_eq(int_at(json_object_get(o, "after"), "hosts"), n + 1);
	ck_assert_int_eq(int_at(json_object_get(o, "after"), "unreachable_pairs"), 0);
	json_decref(o);
	/* another LMC gives other LIDs, another engine is named */
	o = run_json("whatif --json --lmc 1 -R updn");
	ck_assert_int_eq(int_at(json_object_get(o, "after"), "lmc"), 1);
	ck_assert_str_eq(
		json_string_value(json_object_get(json_object_get(o, "after"), "engine")),
		"updn");
	ck_assert(json_is_object(
		json_object_get(json_object_get(o, "after"), "disjoint_routes")));
	json_decref(o);
	/* both spines: pairs between leaves lose their routes, which is said and shown */
	ck_assert_int_eq(run("whatif --down spine-0000 --down spine-0001"), 1);
	assert_has(out, "%u lose theirs", n * (n - 2));
	assert_has(out, "lost     node");
	ck_assert_int_eq(run("whatif --down leaf-0000:4"), 0);
	assert_has(out, "links    that get most routes more:");
	/* a hostile name */
	char *long_name = malloc(100001);
	memset(long_name, 'x', 100000);
	long_name[100000] = '\0';
	ck_assert_int_eq(run("whatif --down %s", long_name), 2);
	free(long_name);
}
END_TEST

START_TEST(test_records)
{
	char *line;
	unsigned n = 0;

	ck_assert_int_eq(
		run("records LinearForwardingTable --json --lid %u", host_lid(0)), 0);
	json_t *body = json_loads(out, 0, NULL);
	ck_assert_ptr_nonnull(json_object_get(body, "records"));
	json_decref(body);
	/* a stream: a line for each path, between the first line and the last */
	ck_assert_int_eq(run("records path --stream --slid %u", host_lid(0)), 0);
	for (line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
		json_t *o = json_loads(line, 0, NULL);
		ck_assert_ptr_nonnull(o);
		if (json_object_get(o, "stream") == NULL) {
			ck_assert_int_eq(int_at(o, "slid"), host_lid(0));
			n++;
		}
		json_decref(o);
	}
	ck_assert_uint_ge(n, fixture.g->n_hosts);
}
END_TEST

/* A group with one member: host 1, as full member and by proxy. */
static void mirror_group(void)
{
	struct {
		int64_t expires;
		struct mcast_group_row row;
	} __attribute__((packed)) g = { .expires = INT64_MAX };
	struct {
		int64_t expires;
		struct mcast_member_row row;
	} __attribute__((packed)) m = { .expires = INT64_MAX };
	uint8_t key[MC_MEMBER_KEY_BYTES];
	struct snap_published p;

	field_set(g.row.record, 0, 64, 0xff12401bffff0000);
	field_set(g.row.record, 64, 64, 0x77);
	mcast_put(g.row.record, MC_MLID, 0xc005);
	mcast_put(g.row.record, MC_MTU, 3);
	mcast_put(g.row.record, MC_RATE, 7);
	mcast_put(g.row.record, MC_SL, 2);
	mcast_put(g.row.record, MC_P_KEY, 0x8abc);
	m.row.port_guid = fixture.g->ports[fixture.g->hosts[1]].guid;
	m.row.join_state = MC_FULL_MEMBER;
	m.row.proxy_join = 1;
	memcpy(key, g.row.record, MGID_BYTES);
	field_set(key, 128, 64, 0xfe80000000000000);
	field_set(key, 192, 64, m.row.port_guid);
	const struct client_row rows[] = {
		{ key, (const uint8_t *)&g, RECORDS_GROUPS, MGID_BYTES, sizeof(g) },
		{ key, (const uint8_t *)&m, RECORDS_MEMBERS, sizeof(key), sizeof(m) },
	};
	ck_assert_int_eq(snap_mirror(fixture.writer, rows, 2, true, boottime_ms(), &p),
	                 E_OK);
}

START_TEST(test_groups)
{
	static const char line[] =
		"ff12:401b:ffff::77                       0xc005  0x8abc   1024     40   2        1\n";

	ck_assert_int_eq(run("groups"), 0);
	ck_assert_uint_eq(lines_of(out), 1);
	mirror_group();
	ck_assert_int_eq(run("groups"), 0);
	assert_has(out, "%s", line);
	ck_assert_uint_eq(lines_of(out), 2);
	ck_assert_int_eq(run("groups 0xc005"), 0);
	assert_has(out, "%s", line);
	assert_has(out, "members\n0x%016" PRIx64 "  %6u  F     %s:1 (by proxy)\n",
	           fixture.g->ports[fixture.g->hosts[1]].guid, host_lid(1),
	           host_node(1)->description);
	json_t *body = run_json("groups ff12:401b:ffff::77 --json");
	ck_assert_int_eq(int_at(body, "mlid"), 0xc005);
	ck_assert_int_eq(int_at(body, "member_count"), 1);
	json_decref(body);
}
END_TEST

/* By way of a gateway the commands print the same. */
START_TEST(test_by_http)
{
	static const char *const words[] = {
		"nodes",         "nodes --json",
		"status --json", "paths 1 2",
		"trace 1 2",     "groups",
		"why 1 2",       "records list",
		"records node",  "records path --stream --slid 1"
	};
	const struct http_options o = { .listen = "127.0.0.1:0",
		                        .snapshot_dir = fixture.dir,
		                        .threads = 1 };
	struct http *http;
	const char *why = "";

	ck_assert_msg(http_start(&o, fixture.arena, &why, &http) == E_OK, "%s", why);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int status = run("%s", words[i]);
		char *local = out;
		out = NULL;
		ck_assert_int_eq(
			run("%s --url http://127.0.0.1:%u", words[i], http_port(http)),
			status);
		ck_assert_msg(local[0] != 0, "%s: %s", words[i], err);
		ck_assert_str_eq(out, local);
		free(local);
	}
	ck_assert_int_eq(run("paths nobody 1 --url http://127.0.0.1:%u", http_port(http)),
	                 2);
	assert_has(err, "there is no end port 'nobody'");
	ck_assert_int_eq(
		run("paths 1 2 --p-key 3 --url http://127.0.0.1:%u", http_port(http)), 1);
	assert_has(err, "source and destination are not in partition 0x0003");
	http_stop(http);
}
END_TEST

/* --- reports: of the snapshot and of a file alike -------------------------------------- */

static void write_files(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/topo", fixture.dir);
	FILE *f = fopen(path, "w");
	ck_assert_int_eq(topo_write(fixture.g, f), E_OK);
	fclose(f);
	snprintf(path, sizeof(path), "%s/lfts", fixture.dir);
	f = fopen(path, "w");
	ck_assert_int_eq(
		lftfile_write(fixture.g, &fixture.lids, &fixture.route.out.lft, f), E_OK);
	fclose(f);
}

static const char *const reports[] = { "validatecreditloops", "validateroutes",
	                               "pathusage", "treepathusage", "portusage" };

START_TEST(test_reports)
{
	char words[256];

	write_files();
	snprintf(words, sizeof(words), "report %s --json", reports[_i]);
	json_t *live = run_json(words);
	snprintf(words, sizeof(words), "report %s --json %s/topo --lfts %s/lfts",
	         reports[_i], fixture.dir, fixture.dir);
	json_t *file = run_json(words);
	ck_assert_str_eq(json_string_value(json_object_get(live, "report")), reports[_i]);
	ck_assert_msg(json_equal(live, file), "%s", reports[_i]);
	json_decref(live);
	json_decref(file);
	ck_assert_int_eq(run("report %s", reports[_i]), 0);
	ck_assert_uint_gt(lines_of(out), 1);
	ck_assert_int_eq(run("report %s --help", reports[_i]), 0);
	assert_has(out, "Usage: saguaro report %s", reports[_i]);
}
END_TEST

/* Routes of each port, against those that were counted when the tables were made. */
/* The link behind an egress port, from its other end. */
static uint32_t reverse_link(const struct graph *g, uint32_t i)
{
	uint32_t back = g->adj_first[g->adj[i].to];

	while (g->adj[back].port != g->adj[i].to_port) {
		back++;
	}
	return back;
}

/* A port receives what the port at the other end of the cable sends. */
START_TEST(test_path_usage_uneven)
{
	const struct graph *g = fixture.g;
	const uint32_t *all = fixture.route.load.all, *base = fixture.route.load.base;
	json_t *body = run_json("report pathusage --json");
	unsigned uneven = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		json_t *sw = json_array_get(json_object_get(body, "switches"), s);

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			json_t *port = json_array_get(json_object_get(sw, "ports"),
			                              i - g->adj_first[s]);
			json_t *received = json_object_get(port, "received");
			uint32_t back = reverse_link(g, i);

			uneven += all[i] != all[back];
			ck_assert_int_eq(int_at(received, "all"), all[back]);
			ck_assert_int_eq(int_at(received, "base"), base[back]);
		}
	}
	ck_assert_uint_gt(uneven, 0);
	json_decref(body);
}
END_TEST

START_TEST(test_path_usage)
{
	const struct graph *g = fixture.g;
	json_t *body = run_json("report pathusage --json"), *tree;
	json_t *switches = json_object_get(body, "switches");

	tree = run_json("report treepathusage --json");
	ck_assert_uint_eq(json_array_size(switches), g->n_switches);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		json_t *ports = json_object_get(json_array_get(switches, s), "ports");
		json_t *sw = json_array_get(json_object_get(tree, "switches"), s);
		uint64_t total = 0, up = 0;
		ck_assert_uint_eq(json_array_size(ports),
		                  g->adj_first[s + 1] - g->adj_first[s]);
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			json_t *port = json_array_get(ports, i - g->adj_first[s]);
			json_t *sent = json_object_get(port, "transmitted");
			json_t *received = json_object_get(port, "received");
			uint32_t back = reverse_link(g, i);
			ck_assert_int_eq(int_at(port, "port"), g->adj[i].port);
			ck_assert_int_eq(int_at(sent, "all"), fixture.route.load.all[i]);
			ck_assert_int_eq(int_at(sent, "base"),
			                 fixture.route.load.base[i]);
			ck_assert_int_eq(int_at(received, "all"),
			                 fixture.route.load.all[back]);
			total += fixture.route.load.all[i];
		}
		/* the leaves have hosts, so all their cables to other switches lead up */
		bool leaf = g->host_first[s + 1] > g->host_first[s];
		up = (uint64_t)int_at(
			json_object_get(json_object_get(sw, "uplink"), "all"), "total");
		ck_assert_uint_eq(up, leaf ? total : 0);
		ck_assert_int_eq(int_at(sw, "tier"), leaf ? 1 : 2);
		json_t *first = json_array_get(json_object_get(sw, "ports"), 0);
		ck_assert_str_eq(json_string_value(json_object_get(first, "direction")),
		                 leaf ? "up" : "down");
	}
	json_decref(body);
	json_decref(tree);
}
END_TEST

START_TEST(test_report_route)
{
	uint32_t last = fixture.g->n_hosts - 1;

	ck_assert_int_eq(run("report route --src %u --dst '%s'", host_lid(0),
	                     host_node(last)->description),
	                 0);
	assert_has(out, "%s", host_node(0)->description);
	assert_has(out, "%s", host_node(last)->description);
}
END_TEST

/* --- without a daemon ------------------------------------------------------------------ */

START_TEST(test_route_and_check)
{
	const struct graph *g = fixture.g;
	char words[256];

	write_files();
	snprintf(words, sizeof(words),
	         "route %s/topo --json -R minhop --dump-lfts %s/mine", fixture.dir,
	         fixture.dir);
	json_t *body = run_json(words);
	ck_assert_int_eq(int_at(body, "switches"), g->n_switches);
	ck_assert_int_eq(int_at(body, "end_ports"), g->n_end_ports);
	ck_assert_int_eq(int_at(body, "links"), g->n_links);
	ck_assert_int_eq(int_at(body, "lids"), fixture.lids.count);
	ck_assert_int_eq(int_at(body, "unreachable_pairs"), 0);
	ck_assert_int_eq(int_at(json_object_get(body, "load"), "max"),
	                 fixture.route.load.max);
	ck_assert_str_eq(json_string_value(json_object_get(body, "engine_used")),
	                 "minhop");
	for (unsigned i = 0; i < 3; i++) { /* each step took some time */
		static const char *const steps[] = { "parse", "route", "prove" };

		ck_assert_double_gt(json_number_value(json_object_get(
					    json_object_get(body, "seconds"), steps[i])),
		                    0);
	}
	json_decref(body);
	ck_assert_int_eq(run("route %s/topo", fixture.dir), 0);
	assert_has(out, "%u switches, %u end ports, %u cables, %u LIDs, LMC 0\n",
	           g->n_switches, g->n_end_ports, g->n_links, fixture.lids.count);
	ck_assert_int_eq(run("check %s/topo --lfts %s/mine", fixture.dir, fixture.dir),
	                 0);
	ck_assert_int_eq(run("route %s/topo --dump-lfts /no/such/file", fixture.dir), 2);
	assert_has(err, "/no/such/file: ");
	ck_assert_int_eq(run("route %s/topo --dump-cn-order - ", fixture.dir), 0);
	for (uint32_t i = 0; i < g->n_hosts; i++) {
		assert_has(out, "\t%s\n", host_node(i)->description);
	}
	ck_assert_int_eq(run("route %s/topo --dump-lid-matrix -", fixture.dir), 0);
	ck_assert_uint_gt(lines_of(out), g->n_switches);
	/* a route into the wrong port is a fault, and the answer is no */
	lft_row(&fixture.route.out.lft, 0)[host_lid(fixture.g->n_hosts - 1)] =
		LFT_NO_ROUTE;
	write_files();
	ck_assert_int_eq(run("check %s/topo --lfts %s/lfts", fixture.dir, fixture.dir),
	                 1);
	assert_has(err, "not proven");
	ck_assert_int_eq(run("report validateroutes %s/topo --lfts %s/lfts", fixture.dir,
	                     fixture.dir),
	                 1);
}
END_TEST

/* A transition between the tables of two dumps: none, one that needs stages, and tables that
 * have other LIDs. */
START_TEST(test_check_to)
{
	const char *dir = fixture.dir;

	ck_assert_int_eq(run("topo mesh 5x5 1 -o %s/mesh", dir), 0);
	ck_assert_int_eq(run("route %s/mesh -R dor --dump-lfts %s/xy", dir, dir), 0);
	ck_assert_int_eq(
		run("route %s/mesh -R nue,no_fallback --dump-lfts %s/nue", dir, dir), 0);
	ck_assert_int_eq(run("check %s/mesh --lfts %s/xy --to %s/xy", dir, dir, dir), 0);
	assert_has(out, "the tables are the same\n");
	ck_assert_int_eq(run("check %s/mesh --lfts %s/xy --to %s/nue", dir, dir, dir), 0);
	assert_has(out, "safe in stages only\n");
	char words[400];

	snprintf(words, sizeof(words), "check %s/mesh --lfts %s/xy --to %s/nue --json",
	         dir, dir, dir);
	json_t *body = run_json(words);
	ck_assert(json_is_true(json_object_get(body, "safe")));
	ck_assert(json_is_false(json_object_get(body, "any_order")));
	ck_assert_int_gt(int_at(body, "stages") + int_at(body, "lids_withdrawn"), 1);
	ck_assert_int_gt(int_at(body, "credit_loops"), 0);
	json_decref(body);
	ck_assert_int_eq(run("check %s/mesh --lfts %s/xy --to /no/such/file", dir, dir),
	                 2);
	assert_has(err, "/no/such/file");
}
END_TEST

START_TEST(test_topo)
{
	ck_assert_int_eq(run("topo ft2 3 2 2 -o %s/made", fixture.dir), 0);
	ck_assert_str_eq(out, "");
	char *made = read_text("made");
	ck_assert_int_eq(run("topo ft2 3 2 2"), 0);
	ck_assert_str_eq(out, made);
	free(made);
	ck_assert_int_eq(run("topo ft2 3 2 2 --fail 1"), 0);
	ck_assert_int_eq(run("topo ft2 3 2 2 --fail 1.1"), 2);
	assert_has(err, "--fail takes a number from 0 to 1");
	ck_assert_int_eq(run("topo ft2 3 2 2 -o /no/such/file"), 2);
	assert_has(err, "/no/such/file");
}
END_TEST

START_TEST(test_engines)
{
	json_t *body = run_json("engines --json");
	unsigned n = 0;

	ck_assert_int_eq(run("engines"), 0);
	for (; engines[n]; n++) {
		json_t *e = json_array_get(body, n);
		ck_assert_str_eq(json_string_value(json_object_get(e, "name")),
		                 engines[n]->name);
		ck_assert_str_eq(json_string_value(json_object_get(e, "summary")),
		                 engines[n]->summary);
		ck_assert_int_eq(json_is_true(json_object_get(e, "deadlock_free")),
		                 (engines[n]->flags & ENGINE_DEADLOCK_FREE) != 0);
		assert_has(out, "\n%-14s ", engines[n]->name);
		assert_has(out, " %s\n", engines[n]->summary);
	}
	ck_assert_uint_eq(json_array_size(body), n);
	json_decref(body);
}
END_TEST

START_TEST(test_config)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/conf", fixture.dir);
	FILE *f = fopen(path, "w");
	fprintf(f, "routing_engine updn\nlmc 1\n");
	fclose(f);
	ck_assert_msg(run("config check %s", path) == 0, "%s%s", out, err);
	f = fopen(path, "w");
	fprintf(f, "routing_engine updn\nlmc 9\n");
	fclose(f);
	ck_assert_int_ne(run("config check %s", path), 0);
	assert_has(err, "%s:2: ", path);
}
END_TEST

/* "good" only where nothing that was asked for is without effect, in text and in JSON. */
static const struct {
	const char *what, *text, *verdict;
	int status;
} verdicts[] = {
	{ "all of it", "lmc 1\n", "good", 0 },
	{ "a key without effect at its default", "lmc 1\nreports 1\n", "good", 0 },
	{ "a key without effect", "lmc 1\nreports 2\n", "taken, but not all of it", 0 },
	{ "an unknown key", "lmc 1\nlmz 1\n", "taken, but not all of it", 0 },
	{ "an element without effect",
	  "<Config><Common></Common><Fm><Shared><Name>fm0</Name></Shared><Sm><DbSyncInterval>15</DbSyncInterval></Sm></Fm></Config>",
	  "taken, but not all of it", 0 },
	{ "a file that is not there", "qos_policy_file /nonexistent/x\n", "refused", 1 },
	{ "a file at its usual place",
	  "prefix_routes_file /etc/opensm/prefix-routes.conf\n", "good", 0 },
	{ "a wrong value", "lmc 9\n", "refused", 1 },
};

START_TEST(test_config_verdict)
{
	const char *what = verdicts[_i].what, *verdict = verdicts[_i].verdict;
	char path[128];
	FILE *f;
	json_t *body;

	snprintf(path, sizeof(path), "%s/conf", fixture.dir);
	f = fopen(path, "w");
	fputs(verdicts[_i].text, f);
	fclose(f);
	ck_assert_msg(run("config check %s", path) == verdicts[_i].status, "%s: %s%s", what,
	              out, err);
	assert_has(out, "\n%s: ", verdict);
	ck_assert_int_eq(run("config check --json %s", path), verdicts[_i].status);
	body = json_loads(out, 0, NULL);
	ck_assert_str_eq(json_string_value(json_object_get(body, "verdict")), verdict);
	ck_assert_int_eq(json_is_true(json_object_get(body, "good")),
	                 strcmp(verdict, "good") == 0);
	json_decref(body);
}
END_TEST

/* Keys that `keys init` makes can be read by nobody else, differ, and stay. */
START_TEST(test_keys)
{
	static const char *const files[] = { "m_key", "sm_key", "sa_key",
		                             "standby.secret" };
	static const char base64[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char path[128], name[64], *text[N(files)], *again;
	struct stat st;
	json_t *body;

	snprintf(path, sizeof(path), "%s/keys", fixture.dir);
	ck_assert_int_eq(mkdir(path, 0750), 0);
	snprintf(path, sizeof(path), "keys init --json --dir %s/keys", fixture.dir);
	body = run_json(path);
	for (unsigned i = 0; i < N(files); i++) {
		const json_t *file = json_array_get(json_object_get(body, "files"), i);

		snprintf(path, sizeof(path), "%s/keys/%s", fixture.dir, files[i]);
		ck_assert_str_eq(json_string_value(json_object_get(file, "path")), path);
		ck_assert(json_is_true(json_object_get(file, "made")));
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
		snprintf(name, sizeof(name), "keys/%s", files[i]);
		text[i] = read_text(name);
		if (i < 3) {
			ck_assert_msg(strncmp(text[i], "0x", 2) == 0 &&
			                      strspn(text[i] + 2, "0123456789abcdef") ==
			                              16 &&
			                      strcmp(text[i] + 18, "\n") == 0,
			              "%s", text[i]);
		} else { /* 32 bytes */
			ck_assert_uint_eq(strspn(text[i], base64), 43);
			ck_assert_str_eq(text[i] + 43, "=\n");
		}
		for (unsigned k = 0; k < i; k++) {
			ck_assert_str_ne(text[i], text[k]);
		}
	}
	json_decref(body);
	ck_assert_int_eq(run("keys init --dir %s/keys", fixture.dir), 0);
	for (unsigned i = 0; i < N(files); i++) {
		snprintf(name, sizeof(name), "keys/%s", files[i]);
		again = read_text(name);
		ck_assert_str_eq(again, text[i]);
		free(again);
		free(text[i]);
	}
}
END_TEST

TEST_SUITE(commands)
{
	TCase *t = tcase_create("commands");
	tcase_set_timeout(t, 120); /* a program per line of a table, beside other work */

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, test_help);
	tcase_add_test(t, test_refused);
	tcase_add_test(t, test_usage);
	tcase_add_test(t, test_nodes);
	tcase_add_test(t, test_lists);
	tcase_add_test(t, test_stale);
	tcase_add_test(t, test_fields_of_every_list);
	tcase_add_test(t, test_doctor);
	tcase_add_test(t, test_status);
	tcase_add_test(t, test_paths);
	tcase_add_test(t, test_why);
	tcase_add_test(t, test_whatif);
	tcase_add_test(t, test_records);
	tcase_add_test(t, test_groups);
	tcase_add_test(t, test_by_http);
	tcase_add_loop_test(t, test_reports, 0, (int)N(reports));
	tcase_add_test(t, test_path_usage);
	tcase_add_test(t, test_report_route);
	tcase_add_test(t, test_route_and_check);
	tcase_add_test(t, test_check_to);
	tcase_add_test(t, test_topo);
	tcase_add_test(t, test_engines);
	tcase_add_test(t, test_keys);
	tcase_add_test(t, test_config);
	tcase_add_loop_test(t, test_config_verdict, 0, (int)N(verdicts));
	suite_add_tcase(suite, t);
	t = tcase_create("uneven");
	tcase_add_checked_fixture(t, start_uneven, stop);
	tcase_add_test(t, test_path_usage_uneven);
	suite_add_tcase(suite, t);
}

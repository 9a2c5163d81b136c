/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "gateway/cli/client.h"
#include "gateway/cli/control_call.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/cli/list.h"

static const char list_doc[] = "Partitions in effect, one per line.";
static const char show_doc[] =
	"One partition by its P_Key or name: who is a member, by the file of partitions or made at run time, and the end ports of the fabric that have its P_Key, which are what --csv and --field print.";

static void print_head(const json_t *body)
{
	(void)body;
	printf("%-6s  %-24s  %7s  %7s  %6s\n", "P_Key", "name", "full", "limited",
	       "groups");
}

static void print_line(const json_t *p)
{
	printf("0x%04llx  %-24s  %7lld  %7lld  %6lld%s\n",
	       (unsigned long long)member_int(p, "p_key"), member_text(p, "name"),
	       member_int(p, "full_members"), member_int(p, "limited_members"),
	       member_int(p, "group_count"),
	       json_is_true(json_object_get(p, "indx0")) ? "  index 0" : "");
}

static void print_members(const json_t *body)
{
	size_t i;
	json_t *m;

	json_array_foreach(json_object_get(body, "members"), i, m)
	{
		const char *first = member_text(m, "first"),
			   *last = member_text(m, "last");
		const char *membership = member_text(m, "membership"),
			   *source = member_text(m, "source");

		printf("%s", i == 0 ? "configured\n" : "");
		if (json_object_get(m, "first") == NULL) {
			printf("  %-37s  %-7s  %s\n", member_text(m, "who"), membership,
			       source);
		} else if (strcmp(first, last) == 0) {
			printf("  %-37s  %-7s  %s\n", first, membership, source);
		} else {
			printf("  %s-%s  %-7s  %s\n", first, last, membership, source);
		}
	}
	json_array_foreach(json_object_get(body, "groups"), i, m)
	{
		printf("%s  %s%s\n", i == 0 ? "groups\n" : "", member_text(m, "mgid"),
		       json_is_true(json_object_get(m, "broadcast")) ? "  IPoIB" : "");
	}
	printf("ports\n");
}

static int print_one(const struct client *s, const json_t *body, bool first)
{
	size_t i;
	json_t *p;

	(void)s;
	if (first) {
		print_head(body);
		print_line(body);
		print_members(body);
	}
	json_array_foreach(json_object_get(body, "ports"), i, p)
	{
		printf("  %-18s  %6lld  %-7s  %s:%lld\n", member_text(p, "port_guid"),
		       member_int(p, "lid"), member_text(p, "membership"),
		       member_text(p, "name"), member_int(p, "port"));
	}
	return EXIT_GOOD;
}

static const struct list partitions = { "partitions", "Partition", .above = print_head,
	                                .below = print_line };
static const struct list member_ports = { "ports", "PartitionPort", .print = print_one };

/* --- changes: requests to a running saguarod ------------------------------------------- */

#define FLAG(member)                                                                     \
	.offset = offsetof(struct control_flags, member), .flags_long = #member
/* clang-format off */
#define VALUE(member, argument, text) { .name = #member, .type = OPT_STRING, FLAG(member), \
	.flags = OPT_CLI_ONLY, .arg = argument, .help = text }
#define SWITCH(member, text) { .name = #member, .type = OPT_BOOL, FLAG(member), .def = "FALSE", \
	.flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = text }
#define PROPERTIES \
	SWITCH(ipoib, "give it an IPoIB broadcast group"), \
	SWITCH(index0, "its P_Key comes first in the tables of its members"), \
	VALUE(name, "NAME", "its name"), \
	VALUE(membership, "full|limited|both", "of members that come without one; full if not given"), \
	VALUE(sl, "N", "SL of its paths and of its broadcast group, while QoS is on"), \
	VALUE(mtu, "CODE", "MTU of its broadcast group, as in partitions.conf; 4 is 2048 bytes"), \
	VALUE(rate, "CODE", "rate of its broadcast group, as in partitions.conf; 3 is 10 Gb/s")
#define ANY_CHANGE \
	SWITCH(wait, "return when ports and SA answers have the change"), \
	{ .name = "timeout", .type = OPT_UINT, FLAG(timeout), .def = "10000", .min = 0, .max = 600000, \
	  .flags = OPT_CLI_ONLY, .arg = "MS", .help = "wait so long at most" }, \
	VALUE(if_version, "N", "refuse the change unless the partitions have this version")
#define MEMBERS \
	SWITCH(create, "make the partition if there is none")

static const struct option_row create_rows[] = { PROPERTIES, ANY_CHANGE, { NULL } };
static const struct option_row add_rows[] = { PROPERTIES, ANY_CHANGE, MEMBERS,
	VALUE(from, "P_KEY", "the members leave this partition in the same change"), { NULL } };
static const struct option_row set_rows[] = { PROPERTIES, ANY_CHANGE, MEMBERS, { NULL } };
static const struct option_row change_rows[] = { ANY_CHANGE, { NULL } };
static const struct option_row wait_rows[] = {
	{ .name = "timeout", .type = OPT_UINT, FLAG(timeout), .def = "10000", .min = 0, .max = 600000,
	  .flags = OPT_CLI_ONLY, .arg = "MS", .help = "wait so long at most" },
	{ NULL }
};
/* clang-format on */

/* The actions, and what their command lines have. */
static const struct action {
	const char *name;
	const struct option_row *rows;
	const char *args, *doc;
	int min, max;
} actions[] = {
	{ "create", create_rows, "[P_KEY [HOST|GUID[=MEMBERSHIP]]...]",
	  "Makes a partition, with the lowest P_Key that is free if none is given. Making it again as it is changes nothing.",
	  0, -1 },
	{ "add", add_rows, "P_KEY HOST|GUID[=MEMBERSHIP]...",
	  "Adds members to a partition, also to one of the configuration. A host is a name, the first word of its descriptions, and stands for the GUIDs of all its ports that are in the fabric. GUIDs that are not in the fabric become members when they come.",
	  2, -1 },
	{ "remove", change_rows, "P_KEY HOST|GUID...",
	  "Removes members that were added at run time. Members of the configuration stay.",
	  2, -1 },
	{ "set", set_rows, "P_KEY [HOST|GUID[=MEMBERSHIP]]...",
	  "Makes these the members that a partition has at run time, and no others.", 1,
	  -1 },
	{ "delete", change_rows, "P_KEY",
	  "Deletes a partition that was made at run time, with its members.", 1, 1 },
	{ "wait", wait_rows, "[VERSION]",
	  "Waits until ports and SA answers have this version of the partitions made at run time, or the last one.",
	  0, 1 },
};

static void set_text(json_t *o, const char *name, const char *value)
{
	if (value != NULL) {
		json_object_set_new(o, name, json_string(value));
	}
}

/* \return false: it is no number. */
static bool set_number(const struct control_call *c, json_t *o, const char *name,
                       const char *value)
{
	uint64_t number;

	if (value == NULL) {
		return true;
	}
	if (text_u64(value, INT64_MAX, &number) != E_OK) {
		fprintf(stderr, "%s: '%s' is no number\n", c->name, value);
		return false;
	}
	json_object_set_new(o, name, json_integer((json_int_t)number));
	return true;
}

/* GUID or GUID=MEMBERSHIP. */
static json_t *member_of(const char *text)
{
	const char *sign = strchr(text, '=');
	json_t *o = json_object();

	if (sign == NULL) {
		set_text(o, "guid", text);
	} else {
		json_object_set_new(o, "guid", json_stringn(text, (size_t)(sign - text)));
		set_text(o, "membership", sign + 1);
	}
	return o;
}

/* Is a word a member by its GUID? Else it is the name of a host. */
static bool is_guid(const char *text)
{
	uint64_t guid;

	return strchr(text, '=') != NULL || strncmp(text, "0x", 2) == 0 ||
	       text_guid(text, &guid) == E_OK;
}

/* The request of a command line. \return NULL: a sentence was printed. */
static json_t *request_of(const struct control_call *c, const struct action *a)
{
	const struct control_flags *f = &c->flags;
	bool is_wait = strcmp(a->name, "wait") == 0;
	json_t *o = json_pack("{s:s, s:s}", "verb", "partition", "action", a->name);
	json_t *members = json_array(), *hosts = json_array();
	bool good = set_number(c, o, "sl", f->sl) && set_number(c, o, "mtu", f->mtu) &&
	            set_number(c, o, "rate", f->rate) &&
	            set_number(c, o, "if_version", f->if_version);

	if (is_wait) {
		json_object_set_new(o, "timeout_ms", json_integer(f->timeout));
		good = good && set_number(c, o, "version", c->n_args ? c->arg[0] : NULL);
	} else if (c->n_args > 0) {
		set_text(o, "pkey", c->arg[0]);
	}
	set_text(o, "name", f->name);
	set_text(o, "membership", f->membership);
	set_text(o, "from", f->from);
	for (int i = 1; i < c->n_args; i++) {
		if (is_guid(c->arg[i])) {
			json_array_append_new(members, member_of(c->arg[i]));
		} else {
			json_array_append_new(hosts, json_string(c->arg[i]));
		}
	}
	if (a->max < 0) {
		json_object_set(o, "members", members);
	}
	if (json_array_size(hosts) > 0) {
		json_object_set(o, "hosts", hosts);
	}
	json_decref(members);
	json_decref(hosts);
	if (f->ipoib) {
		json_object_set_new(o, "ipoib", json_true());
	}
	if (f->index0) {
		json_object_set_new(o, "index0", json_true());
	}
	if (f->create) {
		json_object_set_new(o, "create", json_true());
	}
	if (!good) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static void print_guids(const json_t *reply, const char *name, const char *one,
                        const char *many)
{
	enum { SHOWN = 5 };
	const json_t *list = json_object_get(reply, name);
	size_t n = json_array_size(list);

	if (n == 0) {
		return;
	}
	printf("%zu %s:", n, n == 1 ? one : many);
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		printf(" %s", json_string_value(json_array_get(list, i)));
	}
	printf("%s\n", n > SHOWN ? " ..." : "");
}

static void print_change(const struct control_call *c, const json_t *reply)
{
	(void)c;
	printf("partition %s: %s, version %lld\n", member_text(reply, "pkey"),
	       json_is_true(json_object_get(reply, "changed")) ? "changed"
	                                                       : "nothing to change",
	       member_int(reply, "version"));
	print_guids(reply, "absent", "GUID is not in the fabric yet",
	            "GUIDs are not in the fabric yet");
	print_guids(reply, "configured", "GUID stays a member by the configuration",
	            "GUIDs stay members by the configuration");
}

static void print_wait(const struct control_call *c, const json_t *reply)
{
	const json_t *ports = json_object_get(reply, "ports");
	size_t i;
	json_t *place;

	(void)c;
	if (json_is_true(json_object_get(reply, "programmed"))) {
		printf("version %lld is programmed\n", member_int(reply, "version"));
		return;
	}
	printf("version %lld is not programmed; ports have version %lld, %lld of them not all of it\n",
	       member_int(reply, "version"), member_int(reply, "programmed_version"),
	       member_int(reply, "port_count"));
	json_array_foreach(ports, i, place)
	{
		printf("  %s\n", json_string_value(place));
	}
}

/* Waits for a version. \a reply is that of the request for it, or NULL. */
static int wait_for(const struct control_call *c, json_t *request)
{
	json_t *reply = control_call_ask(c, request);
	bool good = json_is_true(json_object_get(reply, "programmed"));
	int status = control_call_print(c, reply, print_wait);

	json_decref(request);
	return status == EXIT_GOOD && !good ? EXIT_BAD : status;
}

static int change(const struct control_call *c, json_t *request)
{
	json_t *reply = control_call_ask(c, request);
	bool good = json_is_true(json_object_get(reply, "ok"));
	json_int_t version = member_int(reply, "version");
	int status;

	json_decref(request);
	status = control_call_print(c, reply, print_change);
	if (!good || !c->flags.wait) {
		return status;
	}
	return wait_for(c, json_pack("{s:s, s:s, s:I, s:i}", "verb", "partition",
	                             "action", "wait", "version", version, "timeout_ms",
	                             (int)c->flags.timeout));
}

/* Bit 15 of a P_Key is that of full members and names no other partition. */
static void explain_membership_bit(const struct control_call *c)
{
	uint64_t p_key;

	if (c->n_args > 0 && text_u64(c->arg[0], UINT16_MAX, &p_key) == E_OK &&
	    (p_key & P_KEY_FULL) != 0) {
		fprintf(stderr,
		        "%s: %s is partition 0x%04x: 0x8000 is the bit that full members of a partition have in their P_Key; --membership says what members are\n",
		        c->name, c->arg[0], (unsigned)p_key & P_KEY_BASE);
	}
}

static int run_action(const struct action *a, int argc, char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(&c, a->rows, a->doc, a->args, a->min, a->max,
	                                argc, argv);

	if (status == EXIT_GOOD) {
		if (strcmp(a->name, "wait") != 0) {
			explain_membership_bit(&c);
		}
		json_t *request = request_of(&c, a);

		status = request == NULL                ? EXIT_USAGE
		         : strcmp(a->name, "wait") == 0 ? wait_for(&c, request)
		                                        : change(&c, request);
	}
	control_call_done(&c);
	return status;
}

/* --- the command ----------------------------------------------------------------------- */

static int print_partitions(bool show, int argc, char **argv)
{
	struct client s;
	int status = client_init(&s, list_rows, show ? show_doc : list_doc,
	                         show ? "P_KEY" : "", show, argc, argv);

	if (status == EXIT_GOOD) {
		const char *target = "/v1/partitions";

		if (show) {
			target = arena_printf(s.arena, "/v1/partitions/%s",
			                      client_escape(&s, argv[s.first]));
		}
		status = list_print(&s, show ? &member_ports : &partitions, target);
	}
	return client_done(&s, status);
}

static int usage(const char *name, FILE *to)
{
	fprintf(to,
	        "Usage: %s COMMAND\n\n"
	        "  list                    partitions in effect\n"
	        "  show P_KEY              one of them, by its P_Key or name\n",
	        name);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		fprintf(to, "  %s %s\n", actions[i].name, actions[i].args);
	}
	fprintf(to,
	        "\nEach has --help. Changes need a running saguarod that is master, and are durable when\nthe command returns; 'wait', or --wait, returns when ports have them.\n");
	fprintf(to, "\n");
	help_print_exits(to, name);
	return to == stdout ? EXIT_GOOD : EXIT_USAGE;
}

int cmd_partition(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const char *name = argv[0];
	char action[64];

	if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0) {
		return usage(name, stdout);
	}
	snprintf(action, sizeof(action), "%s %s", name, word);
	if (argc > 1) {
		argv[1] = action;
	}
	if (strcmp(word, "list") == 0 || strcmp(word, "show") == 0) {
		return print_partitions(*word == 's', argc - 1, argv + 1);
	}
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(word, actions[i].name) == 0) {
			return run_action(&actions[i], argc - 1, argv + 1);
		}
	}
	return usage(name, stderr);
}

/* --- jobs of a batch system, which have partitions of their own ---------------------------- */

static const char jobs_doc[] =
	"Jobs of a batch system that have a partition of their own, one per line. With JOB, the paths between its ports, the busiest and the degraded links on them, what is wrong there, and its hosts; --csv and --field print its hosts.";

static void print_jobs_head(const json_t *body)
{
	(void)body;
	printf("%-16s  %-6s  %6s  %6s  %6s\n", "job", "P_Key", "hosts", "ports", "absent");
}

static void print_job_line(const json_t *j)
{
	printf("%-16s  0x%04llx  %6lld  %6lld  %6lld\n", member_text(j, "id"),
	       (unsigned long long)member_int(j, "p_key"), member_int(j, "host_count"),
	       member_int(j, "port_count"), member_int(j, "absent_count"));
}

static double real_of(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

static void print_paths(const json_t *p)
{
	const json_t *lanes = json_object_get(p, "lanes");

	printf("paths\n  %lld, %lld of them without a route; %lld to %lld switches, %.2f on average; lanes",
	       member_int(p, "pairs"), member_int(p, "unreachable"),
	       member_int(p, "hops_min"), member_int(p, "hops_max"),
	       real_of(p, "hops_mean"));
	for (size_t i = 0; i < json_array_size(lanes); i++) {
		printf(" %lld",
		       (long long)json_integer_value(json_array_get(lanes, i)));
	}
	printf("\n  %lld links between switches; at most %lld paths on one, %.2f on average\n",
	       member_int(p, "links"), member_int(p, "job_routes_max"),
	       real_of(p, "job_routes_mean"));
}

static void print_links(const json_t *list)
{
	size_t i;
	json_t *l;

	json_array_foreach(list, i, l)
	{
		const json_t *from = json_object_get(l, "from"),
			     *to = json_object_get(l, "to");

		printf("%s  %5lld  %s:%lld -> %s:%lld%s\n", i == 0 ? "links\n" : "",
		       member_int(l, "job_routes"), member_text(from, "name"),
		       member_int(from, "port"), member_text(to, "name"),
		       member_int(to, "port"),
		       json_is_true(json_object_get(l, "degraded")) ? "  degraded" : "");
	}
}

static void print_texts(const json_t *list, const char *head, const char *member)
{
	size_t i;
	json_t *x;

	json_array_foreach(list, i, x)
	{
		printf("%s  %s\n", i == 0 ? head : "",
		       member != NULL ? member_text(x, member) : json_string_value(x));
	}
}

static int print_job(const struct client *s, const json_t *body, bool first)
{
	size_t i, k;
	json_t *h, *p;

	(void)s;
	if (first) {
		print_jobs_head(body);
		print_job_line(body);
		print_paths(json_object_get(body, "paths"));
		print_links(json_object_get(body, "links"));
		print_texts(json_object_get(body, "alarms"), "alarms\n", "text");
		print_texts(json_object_get(body, "absent"), "not in the fabric\n", NULL);
		printf("hosts\n");
	}
	json_array_foreach(json_object_get(body, "hosts"), i, h)
	{
		json_array_foreach(json_object_get(h, "ports"), k, p)
		{
			const json_t *peer = json_object_get(p, "peer");

			printf("  %-16s  %s  %6lld  %s:%lld%s\n",
			       k == 0 ? member_text(h, "name") : "",
			       member_text(p, "port_guid"), member_int(p, "lid"),
			       member_text(peer, "name"), member_int(peer, "port"),
			       json_is_true(json_object_get(p, "degraded")) ? "  degraded"
			                                                    : "");
		}
	}
	return EXIT_GOOD;
}

static const struct list jobs = { "jobs", "Job", .above = print_jobs_head,
	                          .below = print_job_line };
static const struct list hosts = { "hosts", "JobHost", .print = print_job };

int cmd_jobs(int argc, char **argv)
{
	struct client s;
	int status = client_init(&s, list_rows, jobs_doc, "[JOB]", CLIENT_MAY_HAVE_ONE, argc,
	                         argv);

	if (status == EXIT_GOOD && s.first < argc) {
		status = list_print(&s, &hosts,
		                    arena_printf(s.arena, "/v1/jobs/%s",
		                                 client_escape(&s, argv[s.first])));
	} else if (status == EXIT_GOOD) {
		status = list_print(&s, &jobs, "/v1/jobs");
	}
	return client_done(&s, status);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* saguaro why SRC DST: a path hop by hop, and why each hop is what it is. */
#include <stdio.h>
#include <string.h>

#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/path_flags.h"

static double gbps(const json_t *o)
{
	return json_number_value(json_object_get(o, "rate_gbps"));
}

static void print_end(const char *word, const json_t *end)
{
	printf("%s %s port %lld", word, member_text(end, "name"),
	       member_int(end, "port"));
	if (strcmp(member_text(end, "state"), "active") != 0) {
		printf(" (%s: no packet passes before it is active)",
		       member_text(end, "state"));
	}
}

/* "100 Gb/s, because the cable from leaf-1 port 3 to spine-2 port 7 is no faster" */
static void print_limit(const json_t *limit, const char *less)
{
	const char *by = member_text(limit, "by");
	const json_t *from = json_object_get(limit, "from"),
		     *to = json_object_get(limit, "to");

	if (strcmp(by, "cable") == 0) {
		printf("as the cable from %s port %lld to %s port %lld",
		       member_text(from, "name"), member_int(from, "port"),
		       member_text(to, "name"), member_int(to, "port"));
	} else if (strcmp(by, "port-0") == 0) {
		printf("as the port 0 of a switch at one end");
	} else {
		printf("as the policy or the request says; the path could %s", less);
	}
	printf("\n");
}

static void print_candidates(const json_t *hop)
{
	const json_t *list = json_object_get(hop, "candidates");
	size_t i;
	json_t *c;

	json_array_foreach(list, i, c)
	{
		const json_t *to = json_object_get(c, "to");

		printf("       %c port %3lld  %4.4g Gb/s  %6lld routes  to %s port %lld\n",
		       json_is_true(json_object_get(c, "taken")) ? '*' : ' ',
		       member_int(c, "port"), gbps(c), member_int(c, "routes"),
		       member_text(to, "name"), member_int(to, "port"));
	}
}

static void print_hop(const json_t *hop, size_t number, bool all)
{
	const json_t *vl = json_object_get(hop, "vl");

	printf("  %zu. %s: in by port %lld, out by port %lld", number,
	       member_text(hop, "name"), member_int(hop, "in_port"),
	       member_int(hop, "out_port"));
	if (json_is_integer(vl)) {
		printf(", VL %lld", (long long)json_integer_value(vl));
	}
	printf("\n     %s\n", member_text(hop, "why"));
	if (all) {
		print_candidates(hop);
	}
}

static void print_path(const json_t *path, bool all)
{
	const json_t *why = json_object_get(path, "why");
	const json_t *rate = json_object_get(why, "rate_limited");
	size_t i;
	json_t *hop;

	print_end("From", json_object_get(why, "src"));
	printf(", LID %lld\n", member_int(path, "slid"));
	print_end("to", json_object_get(why, "dst"));
	printf(", LID %lld: SL %lld, P_Key 0x%04llx, routed by %s\n",
	       member_int(path, "dlid"), member_int(path, "sl"),
	       member_int(path, "p_key"), member_text(why, "engine"));
	json_array_foreach(json_object_get(path, "hops"), i, hop)
	{
		print_hop(hop, i + 1, all);
	}
	if (rate != NULL) {
		printf("  rate %.4g Gb/s, ", gbps(path));
		print_limit(rate, "do more");
		printf("  MTU %lld, ", member_int(path, "mtu_bytes"));
		print_limit(json_object_get(why, "mtu_limited"), "do more");
	}
	if (member_int(path, "reversible") == 0) {
		printf("  there is no route back\n");
	}
}

static int print_all(const struct client *s, const json_t *body)
{
	const json_t *excluded = json_object_get(body, "excluded_by");
	size_t i;
	json_t *o;

	if (s->flags.json) {
		int status = client_print_json(body);
		return status == EXIT_GOOD && excluded != NULL ? EXIT_BAD : status;
	}
	json_array_foreach(json_object_get(body, "paths"), i, o)
	{
		print_path(o, s->flags.all);
	}
	if (excluded == NULL) {
		return EXIT_GOOD;
	}
	printf("There are routes, but the request leaves out all of them:\n");
	json_array_foreach(excluded, i, o)
	{
		printf("  %s\n", member_text(o, "why"));
	}
	return EXIT_BAD;
}

int cmd_why(int argc, char **argv)
{
	struct client s;
	json_t *body = NULL;
	int status = client_init(
		&s, why_rows,
		"Why the path from SRC to DST goes where it goes: at each switch the ports of equal cost and the routes on them, the VL, and the cable that limits rate and MTU; or why there is no path. SRC and DST are each a LID, GUID, GID, node description or name:port; '*' is every end port, and then the answer is JSON, one path or one reason per line.",
		"SRC DST", 2, argc, argv);
	bool many = status == EXIT_GOOD &&
	            (!strcmp(argv[s.first], "*") || !strcmp(argv[s.first + 1], "*"));

	if (many) {
		status = client_stream(&s, path_target(&s, argv, "&why=1"));
	} else if (status == EXIT_GOOD) {
		status = client_get(&s, path_target(&s, argv, "&why=1"), &body);
		if (status == EXIT_GOOD) {
			status = print_all(&s, body);
		}
	}
	json_decref(body);
	return client_done(&s, status);
}

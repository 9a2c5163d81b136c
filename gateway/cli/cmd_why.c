/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* saguaro why SRC DST: a path hop by hop, and why each hop is what it is. saguaro why NODE:PORT: the health of
 * a cable, and why it is in use or out of service. */
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/text.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
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

/* --- a cable ---------------------------------------------------------------------------- */

static bool has_end(const json_t *link, const char *which, const char *guid, long port)
{
	const json_t *end = json_object_get(link, which);

	return member_int(end, "port") == port && strcmp(member_text(end, "guid"), guid) == 0;
}

/* The cable at a port, in an answer with a list of cables; NULL: it is not there. */
static const json_t *cable_at(const json_t *body, const char *guid, long port)
{
	size_t i;
	json_t *link;

	json_array_foreach(json_object_get(body, "links"), i, link)
	{
		if (has_end(link, "a", guid, port) || has_end(link, "b", guid, port)) {
			return link;
		}
	}
	return NULL;
}

/* Three digits are enough of a rate, but none of a large one is left out. */
static void print_number(double n)
{
	printf(n >= 100 ? "%.0f" : "%.3g", n);
}

static void print_span(const char *name, const json_t *span)
{
	long long bad = member_int(span, "bad_minutes");
	const char *metric, *comma = "";
	json_t *rate;

	printf("    %-6s", name);
	json_object_foreach((json_t *)json_object_get(span, "per_hour"), metric, rate)
	{
		if (json_number_value(rate) > 0) {
			printf("%s %s ", comma, metric);
			print_number(json_number_value(rate));
			printf(" an hour");
			comma = ",";
		}
	}
	printf("%s; allowed ", *comma != '\0' ? "" : " no errors");
	print_number(json_number_value(json_object_get(span, "allowed_errors")));
	printf(" in the %.0f s seen", json_number_value(json_object_get(span, "seconds")));
	if (bad > 0) {
		printf(", %lld bad minute%s", bad, bad == 1 ? "" : "s");
	}
	printf("\n");
}

static void print_cable(const json_t *link, const json_t *health)
{
	const json_t *a = json_object_get(link, "a"), *b = json_object_get(link, "b");
	size_t i;
	json_t *side, *name;

	printf("%s port %lld - %s port %lld is ", member_text(a, "name"), member_int(a, "port"),
	       member_text(b, "name"), member_int(b, "port"));
	if (health == NULL) {
		printf("well: neither end counted more errors than are allowed, as far as its counters are read\n");
		return;
	}
	printf("%s: %s\n  %s\n", member_text(health, "state"), member_text(health, "text"),
	       member_text(health, "decision_text"));
	json_array_foreach(json_object_get(health, "sides"), i, side)
	{
		bool is_a = has_end(health, "a", member_text(side, "guid"), member_int(side, "port"));

		printf("  %s port %lld counts%s:\n", member_text(is_a ? a : b, "name"),
		       member_int(side, "port"),
		       json_is_true(json_object_get(side, "fec")) ? ", behind error correction" : "");
		print_span("minute", json_object_get(side, "minute"));
		print_span("hour", json_object_get(side, "hour"));
		print_span("day", json_object_get(side, "day"));
		size_t k;
		json_array_foreach(json_object_get(side, "blind"), k, name)
		{
			printf("    %s is at its limit and says nothing until somebody clears it\n",
			       json_string_value(name));
		}
	}
}

static int explain_cable(struct client *s, const char *place)
{
	const char *colon = strrchr(place, ':');
	uint64_t port = 0;
	json_t *node = NULL, *links = NULL, *health = NULL;
	int status;

	if (colon == NULL || text_u64(colon + 1, 254, &port) != 0 || port == 0) {
		return help_usage(s->program, "expected SRC DST or NODE:PORT");
	}
	const char *name = client_escape(
		s, arena_printf(s->arena, "%.*s", (int)(colon - place), place));

	status = client_get(s, arena_printf(s->arena, "/v1/nodes/%s", name), &node);
	if (status == EXIT_GOOD) {
		status = client_get(
			s, arena_printf(s->arena, "/v1/links?limit=65536&node=%s", name), &links);
	}
	if (status == EXIT_GOOD) {
		status = client_get(s,
		                    arena_printf(s->arena,
		                                 "/v1/links/health?limit=65536&node=%s", name),
		                    &health);
	}
	if (status == EXIT_GOOD) {
		const char *guid = member_text(node, "guid");
		const json_t *link = cable_at(links, guid, (long)port);
		const json_t *entry = cable_at(health, guid, (long)port);

		if (link == NULL) {
			fprintf(stderr, "%s: there is no cable at %s\n", s->program, place);
			status = EXIT_BAD;
		} else if (s->flags.json) {
			status = client_print_json(entry != NULL ? entry : link);
		} else {
			print_cable(link, entry);
		}
	}
	json_decref(node);
	json_decref(links);
	json_decref(health);
	return status;
}

int cmd_why(int argc, char **argv)
{
	struct client s;
	json_t *body = NULL;
	int status = client_init(
		&s, why_rows,
		"Why the path from SRC to DST goes where it goes: at each switch the ports of equal cost and the routes on them, the VL, and the cable that limits rate and MTU; or why there is no path. SRC and DST are each a LID, GUID, GID, node description or name:port; '*' is every end port, and then the answer is JSON, one path or one reason per line. With NODE:PORT alone: what the ends of that cable count, and why it is in use or out of service.",
		"SRC DST | NODE:PORT", CLIENT_MAY_HAVE_TWO, argc, argv);

	if (status == EXIT_GOOD && argc - s.first < 2) {
		return client_done(&s, explain_cable(&s, s.first < argc ? argv[s.first] : ""));
	}
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>
#include <string.h>

#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"
#include "gateway/cli/path_flags.h"

static void print_paths(const json_t *paths)
{
	size_t i;
	json_t *p;

	printf("%6s %6s %6s %3s %5s %9s %5s\n", "SLID", "DLID", "P_Key", "SL", "MTU",
	       "rate", "hops");
	json_array_foreach(paths, i, p)
	{
		printf("%6lld %6lld 0x%04llx %3lld %5lld %4.4g Gb/s %5lld\n",
		       member_int(p, "slid"), member_int(p, "dlid"),
		       member_int(p, "p_key"), member_int(p, "sl"),
		       member_int(p, "mtu_bytes"),
		       json_number_value(json_object_get(p, "rate_gbps")),
		       member_int(p, "hop_count"));
	}
}

static void print_hops(const json_t *path)
{
	size_t i;
	json_t *h;

	printf("SLID %lld to DLID %lld\n", member_int(path, "slid"),
	       member_int(path, "dlid"));
	json_array_foreach(json_object_get(path, "hops"), i, h)
	{
		printf("  %2zu  in %3lld  out %3lld  LID %5lld  %s  %s\n", i + 1,
		       member_int(h, "in_port"), member_int(h, "out_port"),
		       member_int(h, "lid"), member_text(h, "guid"),
		       member_text(h, "name"));
	}
}

static int print_all(const struct client *s, const json_t *body, bool hops)
{
	const json_t *paths = json_object_get(body, "paths");
	size_t i;
	json_t *p;

	if (s->flags.json) {
		return client_print_json(body);
	}
	if (list_of_fields(s)) {
		list_head(s);
		json_array_foreach(paths, i, p)
		{
			list_row(s, p);
		}
		return EXIT_GOOD;
	}
	if (!hops) {
		print_paths(paths);
		return EXIT_GOOD;
	}
	json_array_foreach(paths, i, p)
	{
		print_hops(p);
	}
	return EXIT_GOOD;
}

static int request_paths(int argc, char **argv, const char *doc, bool hops)
{
	static const struct list list = { "paths", "Path", .columns = NULL };
	const struct option_row *own[] = { paths_rows, hops ? NULL : list_rows, NULL };
	struct client s;
	json_t *body = NULL;
	bool done = false;
	int status = client_init_rows(&s, own, doc, "SRC DST", 2, argc, argv);

	if (status == EXIT_GOOD) {
		status = list_open(&s, &list, NULL, &done);
	}

	/* from or to every end port: a stream */
	bool all = status == EXIT_GOOD &&
	           (!strcmp(argv[s.first], "*") || !strcmp(argv[s.first + 1], "*"));
	if (done) {
		all = false;
	} else if (all && list_of_fields(&s)) {
		fprintf(stderr,
		        "%s: a stream of all paths is JSON; --csv and --field need one SRC and DST\n",
		        s.program);
		status = EXIT_USAGE;
	} else if (all) {
		status = client_stream(&s, path_target(&s, argv, hops ? "&hops=1" : ""));
	} else if (status == EXIT_GOOD) {
		status = client_get(&s, path_target(&s, argv, hops ? "&hops=1" : ""),
		                    &body);
		if (status == EXIT_GOOD) {
			status = print_all(&s, body, hops);
		}
	}
	json_decref(body);
	list_close(&s);
	return client_done(&s, status);
}

int cmd_paths(int argc, char **argv)
{
	return request_paths(
		argc, argv,
		"Paths from one end port to another, in the order in which the SA gives them. SRC and DST are each a LID, GUID, GID, node description or name:port; '*' is every end port, and then the paths come as JSON, one per line.",
		false);
}

int cmd_trace(int argc, char **argv)
{
	return request_paths(
		argc, argv,
		"The switches, ports and LIDs that a packet passes on each path. SRC and DST are each a LID, GUID, GID, node description or name:port.",
		true);
}

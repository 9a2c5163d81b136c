/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro plan FILE: the cables of the running fabric, or of a topology file, against a plan: a
 * topology file or a list of cables. It only reads.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/route_job.h"
#include "gateway/view/json_text.h"
#include "routing/graph/cabling.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/text/cable_list.h"

/* clang-format off */
static const struct option_row plan_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct route_flags, json), "FALSE", .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "the answer as JSON" },
	{ "strict", OPT_BOOL, offsetof(struct route_flags, strict), "FALSE", .flags_long = "strict",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "a line of FILE that is not understood is an error" },
	{ "against", OPT_STRING, offsetof(struct route_flags, fabric), NULL, .flags_long = "against",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "a topology file instead of the running fabric" },
	{ NULL }
};
/* clang-format on */

static const char doc[] =
	"Compares the cables of the running fabric with a plan: a topology file such as ibnetdiscover, saguaro topo or saguaro export topology write, or a list of cables (CSV) with a node and a port at each end. Nodes and cables that are missing or extra, cables whose ends are swapped, that lead elsewhere, or that are slower than planned are listed. A node is found by its GUID, else by its name.";

struct plan {
	const struct graph *plan, *found;
	struct cabling c;
};

/* --- JSON --------------------------------------------------------------------------------- */

static json_t *end_json_of(const struct graph *g, uint32_t port)
{
	if (port == GRAPH_NONE) {
		return json_null();
	}
	const struct node *n = &g->nodes[g->ports[port].node];

	return json_pack("{s:o, s:o, s:i}", "guid", guid_json(n->guid), "name",
	                 text_json(node_name(n)), "port", (int)g->ports[port].num);
}

static json_t *ends_json(const struct graph *g, const uint32_t ends[2])
{
	return json_pack("[o, o]", end_json_of(g, ends[0]), end_json_of(g, ends[1]));
}

static json_t *node_json_of(const struct plan *p, const struct cabling_row *r)
{
	const struct graph *g = r->kind == CABLING_NODE_EXTRA ? p->found : p->plan;
	const struct node *n = &g->nodes[r->node];

	return json_pack("{s:o, s:o}", "guid", guid_json(n->guid), "name",
	                 text_json(node_name(n)));
}

static json_t *row_json(const struct plan *p, const struct cabling_row *r)
{
	json_t *o = json_pack("{s:s}", "kind", cabling_kind_name(r->kind));

	if (r->node != GRAPH_NONE) {
		json_object_set_new(o, "node", node_json_of(p, r));
	}
	if (r->plan[0] != GRAPH_NONE) {
		json_object_set_new(o, "planned", ends_json(p->plan, r->plan));
	}
	if (r->other[0] != GRAPH_NONE) {
		json_object_set_new(o, "swapped_with", ends_json(p->plan, r->other));
	}
	if (r->kind == CABLING_EXTRA || r->kind == CABLING_SLOWER) {
		json_object_set_new(o, "found", ends_json(p->found, r->found));
	}
	if (r->kind == CABLING_WRONG) {
		json_object_set_new(o, "found_peers", ends_json(p->found, r->at_peer));
	}
	return o;
}

static json_t *answer_json(const struct plan *p, uint64_t epoch)
{
	json_t *counts = json_object(), *rows = json_array();

	for (unsigned k = 0; k < CABLING_KINDS; k++) {
		json_object_set_new(counts, cabling_kind_name(k),
		                    json_integer(p->c.count[k]));
	}
	for (uint32_t i = 0; i < p->c.n_rows; i++) {
		json_array_append_new(rows, row_json(p, &p->c.row[i]));
	}
	return json_pack("{s:I, s:b, s:I, s:I, s:o, s:o}", "epoch", (json_int_t)epoch,
	                 "as_planned", (int)(p->c.n_rows == 0), "planned_cables",
	                 (json_int_t)p->c.n_planned, "good_cables",
	                 (json_int_t)p->c.n_good, "counts", counts, "differences", rows);
}

/* --- text --------------------------------------------------------------------------------- */

static void print_end(const struct graph *g, uint32_t port)
{
	if (port == GRAPH_NONE) {
		printf("nothing");
	} else {
		const struct port *p = &g->ports[port];

		printf("%s:%u", node_name(&g->nodes[p->node]), p->num);
	}
}

static void print_cable(const struct graph *g, const uint32_t ends[2])
{
	print_end(g, ends[0]);
	printf(" to ");
	print_end(g, ends[1]);
}

static void print_row(const struct plan *p, const struct cabling_row *r)
{
	printf("%-12s  ", cabling_kind_name(r->kind));
	switch (r->kind) {
	case CABLING_NODE_MISSING:
		printf("%s is planned and was not found",
		       node_name(&p->plan->nodes[r->node]));
		break;
	case CABLING_NODE_EXTRA:
		printf("%s was found and is not planned",
		       node_name(&p->found->nodes[r->node]));
		break;
	case CABLING_SWAPPED:
		print_cable(p->plan, r->plan);
		printf(" and ");
		print_cable(p->plan, r->other);
		printf(": their ends are exchanged");
		break;
	case CABLING_WRONG:
		print_cable(p->plan, r->plan);
		for (unsigned i = 0; i < 2; i++) {
			printf("%s", i == 0 ? ": " : "; ");
			print_end(p->plan, r->plan[i]);
			printf(" leads to ");
			print_end(p->found, r->at_peer[i]);
		}
		break;
	case CABLING_MISSING:
		print_cable(p->plan, r->plan);
		printf(": no cable");
		break;
	case CABLING_EXTRA:
		print_cable(p->found, r->found);
		printf(": not planned");
		break;
	case CABLING_SLOWER:
		print_cable(p->plan, r->plan);
		printf(": %s%s instead of %s%s",
		       link_width_name(p->found->ports[r->found[0]].width),
		       link_speed_name(p->found->ports[r->found[0]].speed),
		       link_width_name(p->plan->ports[r->plan[0]].width),
		       link_speed_name(p->plan->ports[r->plan[0]].speed));
		break;
	case CABLING_KINDS: break;
	}
	printf("\n");
}

static void print_answer(const struct plan *p)
{
	printf("%u of %u planned cables are there\n", p->c.n_good, p->c.n_planned);
	for (uint32_t i = 0; i < p->c.n_rows; i++) {
		print_row(p, &p->c.row[i]);
	}
}

/* The fabric that is held against the plan. */
static int read_found(struct route_job *j, struct plan *p, uint64_t *ret_epoch)
{
	struct route_job_running running = { .epoch = 0 };
	struct lft lft;
	struct lanes lanes;
	int status = j->flags.fabric != NULL
	                     ? route_job_read_fabric(j, j->flags.fabric, NULL, 0)
	                     : route_job_read_snapshot(j, &lft, &lanes, &running);

	p->found = j->g;
	*ret_epoch = running.epoch;
	return status;
}

static int read_list(struct route_job *j, const char *text, size_t len, struct plan *p)
{
	struct cable_list list;
	struct graph *g;
	struct diags d;

	diags_init(&d, j->arena);
	int ret = cable_list_parse(text, len, j->file, j->arena, &d, &list);
	if (ret == E_OK) {
		ret = cable_list_plan(&list, j->file, p->found, j->arena, &d, &g);
	}
	p->plan = ret == E_OK ? g : NULL;
	diags_print(&d, stderr, DIAG_WARNING);
	if (ret != E_OK && d.n_errors == 0) {
		fprintf(stderr, "%s: %s\n", j->file, err_text(ret));
	}
	if (ret == E_OK && j->flags.strict && d.n_warnings != 0) {
		return EXIT_USAGE;
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

/* The plan, after what it is held against: a list names nodes of that. */
static int read_plan(struct route_job *j, struct plan *p)
{
	const struct text_file_kind kind = { .what = "a plan", .max_bytes = SIZE_MAX };
	char *text = NULL;
	size_t len = 0;
	struct diags d;
	int status;

	diags_init(&d, j->arena);
	if (text_file_read(j->file, &kind, &d, &text, &len) != E_OK) {
		diags_print(&d, stderr, DIAG_WARNING);
		return EXIT_USAGE;
	}
	if (cable_list_is(text, len)) {
		status = read_list(j, text, len, p);
	} else {
		status = route_job_read_fabric(j, j->file, text, len);
		p->plan = j->g;
	}
	free(text);
	return status;
}

int cmd_plan(int argc, char **argv)
{
	struct route_job j;
	struct plan p = { .plan = NULL };
	uint64_t epoch = 0;
	int status = route_job_init(&j, plan_rows, doc, ROUTE_JOB_FILE_NAMED, argc, argv);

	if (status == EXIT_GOOD) {
		status = read_found(&j, &p, &epoch);
	}
	if (status == EXIT_GOOD) {
		status = read_plan(&j, &p);
	}
	if (status == EXIT_GOOD &&
	    cabling_compare(p.plan, p.found, j.arena, &p.c) != E_OK) {
		fprintf(stderr, "%s: out of memory\n", argv[0]);
		status = EXIT_USAGE;
	}
	if (status == EXIT_GOOD && j.flags.json) {
		json_t *o = answer_json(&p, epoch);

		status = client_print_json(o);
		json_decref(o);
	} else if (status == EXIT_GOOD) {
		print_answer(&p);
	}
	if (status == EXIT_GOOD && p.c.n_rows > 0) {
		status = EXIT_BAD;
	}
	return route_job_done(&j, status);
}

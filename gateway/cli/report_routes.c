/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* validateroutes: every route between end ports, walked on the tables. */
#include <errno.h>
#include <stdio.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/cli/client.h"
#include "gateway/cli/report.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/validate.h"

static json_t *end_json(const struct graph *g, uint32_t port)
{
	json_t *o = report_node(g, g->ports[port].node);

	json_object_set_new(o, "port", json_integer(g->ports[port].num));
	return o;
}

static json_t *faults_json(const struct report_in *in, const struct validation *v)
{
	json_t *faults = json_array();

	for (uint32_t i = 0; i < v->n_list; i++) {
		const struct validate_route *f = &v->list[i];

		json_array_append_new(
			faults,
			json_pack("{s:o, s:I, s:o, s:s, s:o}", "source",
		                  end_json(in->g, f->src), "dlid", (json_int_t)f->lid,
		                  "destination", end_json(in->g, in->lids->owner[f->lid]),
		                  "fault", f->fault == VALIDATE_LOOP ? "loop" : "no route",
		                  "at", report_node(in->g, in->g->switches[f->at])));
	}
	return faults;
}

static int build(const struct report_in *in, json_t **ret_json, bool *ret_good)
{
	struct validation v;
	int ret = validate_routes(in->g, in->lids, in->lft, in->limit, in->arena, &v);

	if (ret != E_OK) {
		return ret;
	}
	*ret_good = v.host_incomplete == 0 && (!in->strict || v.incomplete == 0);
	*ret_json = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "report",
		report_routes.name, "end_ports", (json_int_t)in->g->n_end_ports, "fis",
		(json_int_t)in->g->n_hosts, "switches", (json_int_t)in->g->n_switches,
		"analyzed_routes", (json_int_t)v.analyzed, "incomplete_routes",
		(json_int_t)v.incomplete, "fi_analyzed_routes",
		(json_int_t)v.host_analyzed, "fi_incomplete_routes",
		(json_int_t)v.host_incomplete, "incomplete_paths", faults_json(in, &v));
	return *ret_json ? E_OK : -ENOMEM;
}

static void print_end(const char *indent, const json_t *end)
{
	printf("%s%s %4lld %-4s %s\n", indent, member_text(end, "guid"),
	       member_int(end, "port"), member_text(end, "type"),
	       member_text(end, "name"));
}

static void print_fault(const json_t *f)
{
	const json_t *at = json_object_get(f, "at");

	print_end("              ", json_object_get(f, "source"));
	printf("-> 0x%08llx", (unsigned long long)member_int(f, "dlid"));
	print_end(" ", json_object_get(f, "destination"));
	printf("   %s at %s %s\n", member_text(f, "fault"), member_text(at, "guid"),
	       member_text(at, "name"));
}

static void print(const json_t *r)
{
	const json_t *faults = json_object_get(r, "incomplete_paths");
	const json_int_t incomplete = member_int(r, "incomplete_routes");
	size_t i;
	json_t *f;

	printf("Validate Routes\n%lld LID(s) in Fabric\n%lld Connected FIs in Fabric\n"
	       "%lld Connected Switch(es) in Fabric\n",
	       member_int(r, "end_ports"), member_int(r, "fis"),
	       member_int(r, "switches"));
	if (incomplete) {
		printf("Incomplete Paths:\n    DLID      NodeGUID           Port Type Name\n");
	}
	json_array_foreach(faults, i, f)
	{
		print_fault(f);
	}
	if (incomplete > (json_int_t)json_array_size(faults)) {
		printf("... and %lld more; --limit shows more of them\n",
		       incomplete - (json_int_t)json_array_size(faults));
	}
	printf("%lld Analyzed Routes\n%lld Incomplete Route(s)\n",
	       member_int(r, "analyzed_routes"), incomplete);
	if (incomplete && member_int(r, "fi_incomplete_routes") == 0) {
		printf("All of them begin or end at a switch's own port 0.\n");
	}
}

const struct report report_routes = {
	.name = "validateroutes",
	.help = "does every end port reach every LID? which routes end where",
	.build = build,
	.print = print,
};

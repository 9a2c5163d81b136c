/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro whatif [FILE] [changes] [routing flags]: routes a copy of the running fabric, or
 * of a topology file, after some changes, and says what would be different. It only reads.
 *
 * The copy is routed as the daemon would route it: with the options of the daemon, the LIDs
 * that ports have, and the present tables for engines that keep what they can of them. Where the
 * options stay and the switches, too, only what the change touches is routed and proven, as in a
 * local sweep (routing/route_base.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/planning/reroute.h"
#include "gateway/cli/planning/whatif_changes.h"
#include "gateway/cli/route_job.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/proof/compare.h"
#include "routing/route_base.h"

/* clang-format off */
#define CHANGE_ROW(name, words, text) \
	{ #name, OPT_STRING, offsetof(struct route_flags, src), NULL, .flags_long = #name, \
	  .flags = OPT_CLI_ONLY, .arg = words, .help = text }

static const struct option_row whatif_rows[] = {
	CHANGE_ROW(down, "NODE[:PORT]", "a switch, a host or one cable is taken away; as the next three, several times if need be"),
	CHANGE_ROW(link, "NODE:PORT=NODE:PORT", "a cable is added"),
	CHANGE_ROW(host, "NAME=NODE:PORT", "a host is added on a free port"),
	CHANGE_ROW(switch, "NAME=PORTS", "a switch is added"),
	{ "json", OPT_BOOL, offsetof(struct route_flags, json), "FALSE", .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "the answer as JSON" },
	{ "strict", OPT_BOOL, offsetof(struct route_flags, strict), "FALSE", .flags_long = "strict",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "management pairs count in the proof, too" },
	{ "lfts", OPT_STRING, offsetof(struct route_flags, lfts), NULL, .flags_long = "lfts",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "present tables of the topology file, as dump_lfts prints them; else the same flags route it before and after" },
	{ "sl", OPT_STRING, offsetof(struct route_flags, sl), NULL, .flags_long = "sl",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "SL per source switch and LID, in the same shape" },
	{ "limit", OPT_UINT, offsetof(struct route_flags, limit), "10", 0, 10000, .flags_long = "limit",
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "list so many links whose load grows most" },
	{ NULL }
};
/* clang-format on */

static const char doc[] =
	"What a change would do to the running fabric, or to a topology file: the pairs of hosts that get another route or none, load before and after, new credit loops. Routing flags (-R, --lmc, --root_guid_file, ...) are those after the change; the others are the daemon's. Nothing on the fabric is touched.";

struct whatif {
	struct route_job before, after;
	struct route_job_running running;
	struct whatif_changes *changes;
	/* its base holds the result before, and after a local run that after it */
	struct route_memory memory;
	bool local;     /* the run after may go on from the one before */
	struct lft lft; /* before */
	struct lanes lanes;
	struct comparison diff;
};

/* --- before --------------------------------------------------------------------------- */

static int route_before(struct whatif *x)
{
	struct route_job *j = &x->before;
	struct route_request request;
	int status = j->flags.lfts ? route_job_read_tables(j, &x->lft, &x->lanes)
	                           : route_job_assign_lids(j);

	if (status != EXIT_GOOD || j->flags.lfts) {
		return status;
	}
	route_job_request(j, &request);
	j->ret = route_run(&request, j->arena, &j->result);
	if (!j->result.out.lft.rows) {
		fprintf(stderr, "not routed before the change: %s\n%s\n",
		        err_text(j->ret), j->result.fallback_reason.text);
		return EXIT_BAD;
	}
	x->running.engine = j->result.used->name;
	x->lft = j->result.out.lft;
	x->lanes = j->result.out.lanes;
	return EXIT_GOOD;
}

/* As the run after the change, so that this can go on from the result. */
static void request_from_base(struct whatif *x, struct route_request *ret_request)
{
	route_job_request(&x->after, ret_request);
	ret_request->memory = &x->memory;
	ret_request->no_paths = false; /* paths say which load a change moves */
}

/* Proof and load of the tables before. What outlives a run that goes on from them is copied. */
static int prove_before(struct whatif *x)
{
	struct route_job *j = &x->before;
	/* nobody says which engine made the tables of --lfts */
	const struct engine *used =
		x->running.engine != NULL ? engine_find(x->running.engine) : NULL;
	struct route_request request;
	uint32_t *load;

	if (j->result.used != NULL) {
		return EXIT_GOOD;
	}
	x->local &= used != NULL;
	if (!x->local) {
		route_job_request(j, &request);
		j->ret = route_check(&request, &x->lft, &x->lanes, j->arena, &j->result);
		return j->ret == -ENOMEM ? EXIT_USAGE : EXIT_GOOD;
	}
	request_from_base(x, &request);
	request.g = j->g;
	request.lids = &j->lids;
	j->ret = route_resume(&request, used, &x->lft, &x->lanes, j->arena, &j->result);
	load = arena_array(j->arena, j->g->n_adj, sizeof(*load));
	if (j->ret == -ENOMEM || load == NULL) {
		return EXIT_USAGE;
	}
	if (j->result.load.all != NULL) {
		memcpy(load, j->result.load.all, j->g->n_adj * sizeof(*load));
		j->result.load.all = load;
	}
	return EXIT_GOOD;
}

/* Reads the flags once more, over the options of the daemon. */
static int read_after(struct whatif *x, int argc, char **argv)
{
	return route_job_read_again(&x->after, &x->before, x->running.options, whatif_rows, doc,
	                            argc, argv);
}

/* malloc; NULL: out of memory. */
static char *options_text(struct route_job *j)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL) {
		return NULL;
	}
	if (config_dump(&j->config, &j->engines.sets, j->arena, false, f) != E_OK) {
		fclose(f);
		free(text);
		return NULL;
	}
	return fclose(f) == 0 ? text : NULL;
}

/* Do flags leave the options as the daemon has them? */
static bool options_stay(struct whatif *x, char *program)
{
	struct route_job daemon;
	char *args[] = { program, arena_strdup(x->before.arena, "--config"),
		         arena_strdup(x->before.arena,
		                      route_job_options_file(x->running.options,
		                                             x->before.arena)),
		         NULL };
	char *now, *then;
	bool stay;

	if (!args[1] || !args[2] ||
	    route_job_init(&daemon, whatif_rows, doc, ROUTE_JOB_FILE_OPTIONAL, 3, args) !=
	            EXIT_GOOD) {
		return false;
	}
	daemon.config.instance = x->after.config.instance;
	daemon.config.snapshot_dir = x->after.config.snapshot_dir;
	now = options_text(&x->after);
	then = options_text(&daemon);
	stay = now && then && strcmp(now, then) == 0;
	free(now);
	free(then);
	(void)route_job_done(&daemon, EXIT_GOOD);
	return stay;
}

/* A set of switches that stays is what a run needs that goes on from the one before. */
static bool switches_stay(const struct whatif *x)
{
	for (uint32_t i = 0; i < x->changes->n; i++) {
		const struct alteration *a = &x->changes->change[i];

		if (a->kind == ALTER_SWITCH ||
		    (a->kind == ALTER_NODE_DOWN &&
		     x->before.g->nodes[a->node].type == NODE_SWITCH)) {
			return false;
		}
	}
	return x->changes->n != 0;
}

/* --- after ---------------------------------------------------------------------------- */

static int route_after(struct whatif *x)
{
	struct route_job *j = &x->after;
	struct route_request request;
	struct route_memory kept;
	int ret = graph_altered(x->before.g, x->changes->change, x->changes->n, j->arena,
	                        &j->diags, &j->g);

	if (ret != E_OK) {
		fprintf(stderr, "saguaro whatif: %s\n",
		        ret == E_DUPLICATE
		                ? "a port for a new cable has a cable already; take that away with --down first"
		                : err_text(ret));
		return EXIT_USAGE;
	}
	reroute_keep_lids(x->before.g, &x->before.lids, x->after.g);
	if (route_job_assign_lids(j) != EXIT_GOOD) {
		return EXIT_USAGE;
	}
	if (x->local) {
		request_from_base(x, &request);
		request.incremental = true;
	} else {
		route_job_request(j, &request);
	}
	const struct reroute_tables was = { x->before.g, &x->lft, &x->lanes };

	kept = x->local ? x->memory : (struct route_memory){ .base = NULL };
	if (reroute_keep_tables(&was, j->g, &j->lids, j->arena, &kept) != E_OK) {
		return EXIT_USAGE;
	}
	request.memory = &kept;
	j->ret = route_run(&request, j->arena, &j->result);
	return j->ret == -ENOMEM ? EXIT_USAGE : EXIT_GOOD;
}

static int compare(struct whatif *x)
{
	const struct compared_tables before = { x->before.g, &x->before.lids, &x->lft };
	const struct compared_tables after = { x->after.g, &x->after.lids,
		                               &x->after.result.out.lft };

	int ret = compare_tables(&before, &after, x->after.arena, &x->diff);
	if (ret == E_OK && lids_have_lmc(&x->before.lids, x->before.g)) {
		ret = disjoint_count(before.g, before.lids, before.lft,
		                     &x->before.disjoint);
	}
	if (ret == E_OK && lids_have_lmc(&x->after.lids, x->after.g)) {
		ret = disjoint_count(after.g, after.lids, after.lft, &x->after.disjoint);
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

/* --- the answer ----------------------------------------------------------------------- */

static json_t *port_json(const struct graph *g, uint32_t node, unsigned num)
{
	const struct node *n = &g->nodes[node];

	return json_pack("{s:o, s:o, s:i}", "guid", guid_json(n->guid), "name",
	                 text_json(node_name(n)), "port", (int)num);
}

/* A link between switches whose load grows. */
struct grown {
	uint32_t link; /* index of graph.adj after */
	uint32_t sw, before, after;
};

static int by_growth(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;
	int64_t d = ((int64_t)y->after - y->before) - ((int64_t)x->after - x->before);

	return d != 0 ? (d > 0 ? 1 : -1) : x->link < y->link ? -1 : x->link > y->link;
}

/* Routes before on the link of a switch port. \return 0: there was none. */
static uint32_t load_before(const struct whatif *x, uint64_t guid, uint8_t port)
{
	const struct graph *g = x->before.g;
	uint32_t node = graph_node_by_guid(g, guid);

	if (node == GRAPH_NONE) {
		return 0;
	}
	uint32_t s = g->nodes[node].sw;
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		if (g->adj[i].port == port) {
			return x->before.result.load.all[i];
		}
	}
	return 0;
}

static json_t *grown_json(const struct whatif *x)
{
	const struct graph *g = x->after.g;
	const struct load *load = &x->after.result.load;
	struct grown *list = arena_array(x->after.arena, g->n_adj + 1, sizeof(*list));
	json_t *o = json_array();
	uint32_t n = 0;

	if (!load->all || !x->before.result.load.all || !list) {
		return o;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t before = load_before(x, g->nodes[g->switches[s]].guid,
			                              g->adj[i].port);
			if (load->all[i] > before) {
				list[n++] = (struct grown){ i, s, before, load->all[i] };
			}
		}
	}
	qsort(list, n, sizeof(*list), by_growth);
	for (uint32_t i = 0; i < n && i < x->after.flags.limit; i++) {
		const struct sw_link *l = &g->adj[list[i].link];
		json_array_append_new(
			o, json_pack("{s:o, s:o, s:I, s:I}", "from",
		                     port_json(g, g->switches[list[i].sw], l->port), "to",
		                     port_json(g, g->switches[l->to], l->to_port),
		                     "before", (json_int_t)list[i].before, "after",
		                     (json_int_t)list[i].after));
	}
	return o;
}

static json_t *state_json(const struct route_job *j, const char *engine)
{
	const struct proof *p = &j->result.proof;

	return json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o}",
	                 "engine", engine, "lmc", (int)j->config.lmc, "switches",
	                 (json_int_t)j->g->n_switches, "hosts", (json_int_t)j->g->n_hosts,
	                 "cables", (json_int_t)j->g->n_links, "pairs",
	                 (json_int_t)p->pairs, "unreachable_pairs",
	                 (json_int_t)p->unreachable_pairs, "forwarding_loops",
	                 (json_int_t)p->forwarding_loops, "credit_loops",
	                 (json_int_t)p->credit_loops, "proven",
	                 (int)proof_passed(p, j->flags.strict), "load",
	                 route_job_load_json(&j->result.load), "disjoint_routes",
	                 route_job_disjoint_json(&j->disjoint));
}

static json_t *lost_json(const struct whatif *x)
{
	const struct graph *g = x->before.g;
	json_t *o = json_array();

	for (unsigned i = 0; i < x->diff.n_lost; i++) {
		const struct port *src = &g->ports[x->diff.lost_pair[i].src];
		uint32_t lid = x->diff.lost_pair[i].lid;
		const struct port *dst = &g->ports[x->before.lids.owner[lid]];

		json_array_append_new(o,
		                      json_pack("{s:o, s:o, s:I}", "src",
		                                port_json(g, src->node, src->num), "dst",
		                                port_json(g, dst->node, dst->num), "dlid",
		                                (json_int_t)lid));
	}
	return o;
}

static int64_t new_credit_loops(const struct whatif *x)
{
	int64_t more = (int64_t)x->after.result.proof.credit_loops -
	               (int64_t)x->before.result.proof.credit_loops;

	return more > 0 ? more : 0;
}

static json_t *answer_json(const struct whatif *x)
{
	const struct route_result *r = &x->after.result;
	const struct comparison *d = &x->diff;
	json_t *changes = json_array();

	for (uint32_t i = 0; i < x->changes->n; i++) {
		json_array_append_new(changes,
		                      json_pack("{s:s, s:o}", "change",
		                                x->changes->word[i].flag, "what",
		                                text_json(x->changes->word[i].text)));
	}
	json_t *o = json_pack("{s:I, s:o, s:o, s:o}", "epoch",
	                      (json_int_t)x->running.epoch, "changes", changes, "before",
	                      state_json(&x->before, x->running.engine), "after",
	                      state_json(&x->after, r->used ? r->used->name : "none"));
	json_object_set_new(o, "pairs",
	                    json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "compared",
	                              (json_int_t)d->pairs, "moved", (json_int_t)d->moved,
	                              "longer", (json_int_t)d->longer, "shorter",
	                              (json_int_t)d->shorter, "lost", (json_int_t)d->lost,
	                              "gained", (json_int_t)d->gained, "gone",
	                              (json_int_t)d->gone));
	json_object_set_new(o, "hosts",
	                    json_pack("{s:I, s:I, s:I}", "gone",
	                              (json_int_t)d->hosts_gone, "new",
	                              (json_int_t)d->hosts_new, "lid_changes",
	                              (json_int_t)d->lids_moved));
	json_object_set_new(
		o, "tables",
		json_pack("{s:I, s:I, s:I}", "entries", (json_int_t)d->entries, "blocks",
	                  (json_int_t)d->blocks, "switches", (json_int_t)d->switches));
	json_object_set_new(o, "new_credit_loops", json_integer(new_credit_loops(x)));
	json_object_set_new(o, "lost", lost_json(x));
	json_object_set_new(o, "links", grown_json(x));
	json_object_set_new(o, "fallback", text_json(r->fallback_reason.text));
	json_object_set_new(o, "warning", text_json(r->warning.text));
	json_object_set_new(o, "notes", text_json(r->out.notes.text));
	json_object_set_new(o, "culprit",
	                    text_json(proof_text(&r->proof, x->after.g, x->after.arena)));
	json_object_set_new(o, "seconds_route", json_real(r->seconds_route));
	return o;
}

static void print_state(const char *name, const json_t *s)
{
	const json_t *load = json_object_get(s, "load");

	printf("%-8s %s: %lld switches, %lld hosts, %lld cables, LMC %lld; %lld pairs unreachable, %lld credit loops; ",
	       name, member_text(s, "engine"), member_int(s, "switches"),
	       member_int(s, "hosts"), member_int(s, "cables"), member_int(s, "lmc"),
	       member_int(s, "unreachable_pairs"), member_int(s, "credit_loops"));
	if (json_is_object(load)) {
		printf("routes per link max %lld, mean %.1f, 99th percentile %lld\n",
		       member_int(load, "max"),
		       json_real_value(json_object_get(load, "mean")),
		       member_int(load, "p99"));
	} else {
		printf("load not counted, the proof failed\n");
	}
}

static void print_links(const json_t *links)
{
	size_t i;
	json_t *l;

	if (json_array_size(links) > 0) {
		printf("links    that get most routes more:\n");
	}
	json_array_foreach(links, i, l)
	{
		const json_t *from = json_object_get(l, "from"),
			     *to = json_object_get(l, "to");

		printf("         %lld -> %lld  %s:%lld to %s:%lld\n",
		       member_int(l, "before"), member_int(l, "after"),
		       member_text(from, "name"), member_int(from, "port"),
		       member_text(to, "name"), member_int(to, "port"));
	}
}

static void print_answer(const json_t *o)
{
	const json_t *p = json_object_get(o, "pairs"), *t = json_object_get(o, "tables"),
		     *h = json_object_get(o, "hosts");
	size_t i;
	json_t *l;

	print_state("before", json_object_get(o, "before"));
	print_state("after", json_object_get(o, "after"));
	printf("pairs    %lld of %lld get another route (%lld longer, %lld shorter), %lld lose theirs, %lld get one\n",
	       member_int(p, "moved"), member_int(p, "compared"), member_int(p, "longer"),
	       member_int(p, "shorter"), member_int(p, "lost"), member_int(p, "gained"));
	printf("hosts    %lld gone and %lld pairs with them, %lld new, %lld with another LID\n",
	       member_int(h, "gone"), member_int(p, "gone"), member_int(h, "new"),
	       member_int(h, "lid_changes"));
	printf("tables   %lld entries differ, in %lld blocks of %lld switches\n",
	       member_int(t, "entries"), member_int(t, "blocks"),
	       member_int(t, "switches"));
	printf("loops    %lld new credit loops\n", member_int(o, "new_credit_loops"));
	json_array_foreach(json_object_get(o, "lost"), i, l)
	{
		printf("lost     %s to %s (LID %lld)\n",
		       member_text(json_object_get(l, "src"), "name"),
		       member_text(json_object_get(l, "dst"), "name"),
		       member_int(l, "dlid"));
	}
	print_links(json_object_get(o, "links"));
	if (*member_text(o, "fallback")) {
		printf("fallback %s\n", member_text(o, "fallback"));
	}
	if (*member_text(o, "culprit")) {
		printf("proof    %s\n", member_text(o, "culprit"));
	}
}

static int report(const struct whatif *x)
{
	bool good = x->after.ret == E_OK && x->diff.lost == 0 && new_credit_loops(x) == 0;
	json_t *o = answer_json(x);
	int status = EXIT_GOOD;

	if (x->after.flags.json) {
		status = client_print_json(o);
	} else {
		print_answer(o);
	}
	json_decref(o);
	return status != EXIT_GOOD ? status : good ? EXIT_GOOD : EXIT_BAD;
}

/* --- together ------------------------------------------------------------------------- */

static int run(struct whatif *x, int argc, char **argv, char **again)
{
	int status = route_job_init(&x->before, whatif_rows, doc, ROUTE_JOB_FILE_OPTIONAL,
	                            argc, argv);

	if (status == EXIT_GOOD) {
		status = x->before.file ? route_before(x)
		                        : route_job_read_snapshot(&x->before, &x->lft,
		                                                  &x->lanes, &x->running);
	}
	if (status == EXIT_GOOD) {
		status = whatif_resolve(x->changes, x->before.g, x->before.arena);
	}
	if (status == EXIT_GOOD) {
		status = read_after(x, argc, again);
	}
	if (status == EXIT_GOOD) {
		x->local = x->before.file == NULL && switches_stay(x) &&
		           options_stay(x, argv[0]);
		status = prove_before(x);
	}
	if (status == EXIT_GOOD) {
		status = route_after(x);
	}
	if (status != EXIT_GOOD) {
		return status;
	}
	if (!x->after.result.out.lft.rows) {
		fprintf(stderr, "not routed after the change: %s\n%s\n",
		        err_text(x->after.ret), x->after.result.fallback_reason.text);
		return EXIT_BAD;
	}
	status = compare(x);
	return status == EXIT_GOOD ? report(x) : status;
}

int cmd_whatif(int argc, char **argv)
{
	struct whatif *x = calloc(1, sizeof(*x));
	struct whatif_changes *changes = calloc(1, sizeof(*changes));
	int status = EXIT_USAGE;

	if (x != NULL && changes != NULL) {
		x->changes = changes;
		x->lanes.n = 1;
		x->memory.base = route_base_new();
		status = whatif_take_flags(changes, &argc, argv);
		char **again = status == EXIT_GOOD ? route_job_copy_words(argc, argv) : NULL;

		if (again) {
			status = run(x, argc, argv, again);
		} else if (status == EXIT_GOOD) {
			fprintf(stderr, "%s: %s\n", argv[0], err_text(-ENOMEM));
			status = EXIT_USAGE;
		}
		route_base_free(x->memory.base);
		(void)route_job_done(&x->after, status);
		status = route_job_done(&x->before, status);
		route_job_free_words(again);
	}
	free(changes);
	free(x);
	return status;
}

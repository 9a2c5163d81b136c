/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/route_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/snapshot/fabric.h"
#include "db/snapshot/reader.h"
#include "db/stats/stats.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/view/json_text.h"
#include "gateway/view/ready.h"
#include "gateway/view/source.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/text/lftfile.h"
#include "routing/text/topofile.h"

enum { PIN_TRIES = 5 };

/* Wall clock for durations, in seconds. */
static double route_job_now(void)
{
	return (double)monotonic_ns() * 1e-9;
}

static int read_arguments(struct route_job *j, const struct option_row *own,
                          const char *doc, enum route_job_file file, int argc,
                          char **argv)
{
	const char *args = file == ROUTE_JOB_FILE_OPTIONAL ? "[FILE]" : "FILE";
	int first = argc;
	int ret = engine_options_init(&j->engines, j->arena);
	if (ret != E_OK) {
		return ret;
	}
	ret = option_sets_add(&j->engines.sets, own, &j->flags);
	if (ret != E_OK) {
		return ret;
	}
	ret = config_read_args(&j->config, &j->engines.sets, j->arena, argc, argv,
	                       help_doc(j->arena, argv[0], doc),
	                       args, &first, &j->diags);
	if (ret != E_OK) {
		return ret;
	}
	config_hide_keys(&j->engines.sets, j->arena, argc, argv, args, &j->diags);
	ret = engine_options_bind(&j->engines, j->arena, &j->diags);
	if (ret == E_OK) {
		ret = route_list_read(&j->config, &j->engines, j->arena, &j->diags,
		                      &j->list);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (argc == first && file == ROUTE_JOB_FILE_OPTIONAL) {
		return E_OK;
	}
	if (argc - first != 1) {
		if (argc == first) {
			help_usage(argv[0], "expected FILE, a topology file");
		} else {
			help_usage(argv[0], "unexpected argument '%s'", argv[first + 1]);
		}
		return E_SYNTAX;
	}
	if (file != ROUTE_JOB_FILE_OPTIONAL || strcmp(argv[first], "running") != 0) {
		j->file = argv[first];
	}
	return E_OK;
}

/* Shows nodes by what a terminal does not obey; they are still found by their descriptions. */
static int make_names_printable(struct graph *g, struct arena *a)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct node *n = &g->nodes[i];
		char *name = arena_strdup(a, node_name(n));

		if (name == NULL) {
			return -ENOMEM;
		}
		text_printable(name);
		if (strcmp(name, node_name(n)) != 0) {
			n->name = name;
		}
	}
	return E_OK;
}

/* text: NULL: file is read */
static int read_fabric(struct route_job *j, const char *file, const char *text, size_t len,
                       struct diags *d)
{
	const double start = route_job_now();
	int ret = text != NULL ? topo_parse(text, len, file, j->flags.strict, j->arena, d,
	                                    &j->g)
	                       : topo_read(file, j->flags.strict, j->arena, d, &j->g);

	if (ret != E_OK) {
		return ret;
	}
	(void)graph_set_aggregation(j->g, j->config.aggregation_node_guids);
	ret = graph_set_names(j->g, j->config.node_names);
	if (ret == E_OK) {
		ret = make_names_printable(j->g, j->arena);
	}
	j->seconds_parse = route_job_now() - start;
	return ret;
}

int route_job_init(struct route_job *j, const struct option_row *own, const char *doc,
                   enum route_job_file file, int argc, char **argv)
{
	memset(j, 0, sizeof(*j));
	j->program = argv[0];
	j->arena = arena_new();
	if (!j->arena) {
		fprintf(stderr, "%s: %s\n", argv[0], err_text(-ENOMEM));
		return EXIT_USAGE;
	}
	diags_init(&j->diags, j->arena);
	int ret = read_arguments(j, own, doc, file, argc, argv);
	if (ret == E_OK && j->file && file != ROUTE_JOB_FILE_NAMED) {
		ret = read_fabric(j, j->file, NULL, 0, &j->diags);
	}
	diags_print(&j->diags, stderr, DIAG_WARNING);
	/* of a wrong command line a sentence was printed */
	if (ret != E_OK && ret != E_SYNTAX && j->diags.n_errors == 0) {
		fprintf(stderr, "%s: %s\n", argv[0], err_text(ret));
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

int route_job_read_fabric(struct route_job *j, const char *file, const char *text,
                          size_t len)
{
	struct diags d;

	diags_init(&d, j->arena);
	int ret = read_fabric(j, file, text, len, &d);
	diags_print(&d, stderr, DIAG_WARNING);
	if (ret != E_OK && d.n_errors == 0) {
		fprintf(stderr, "%s: %s\n", file, err_text(ret));
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

void route_job_free_words(char **words)
{
	for (char **w = words; w && *w; w++) {
		free(*w);
	}
	free(words);
}

char **route_job_copy_words(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	for (int i = 0; copy && i < argc; i++) {
		copy[i] = strdup(argv[i]);
		if (!copy[i]) {
			route_job_free_words(copy);
			return NULL;
		}
	}
	return copy;
}

const char *route_job_options_file(const char *options, struct arena *a)
{
	size_t len = strlen(options), at = 0;
	int fd = memfd_create("saguaro-options", MFD_CLOEXEC);

	while (fd >= 0 && at < len) {
		ssize_t n = write(fd, options + at, len - at);
		if (n <= 0 && errno != EINTR) {
			close(fd);
			return NULL;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	return fd >= 0 ? arena_printf(a, "/proc/self/fd/%d", fd) : NULL;
}

int route_job_read_again(struct route_job *j, const struct route_job *first,
                         const char *options, const struct option_row *own,
                         const char *doc, int argc, char **argv)
{
	bool own_file = first->file != NULL || first->config.config_file != NULL;
	char **args = arena_array(first->arena, (size_t)argc + 3, sizeof(*args));
	const char *path = own_file ? "" : route_job_options_file(options, first->arena);

	if (!args || !path) {
		fprintf(stderr, "%s: %s\n", argv[0], err_text(-ENOMEM));
		return EXIT_USAGE;
	}
	args[0] = argv[0];
	int n = 1;
	if (!own_file) {
		args[n++] = arena_strdup(first->arena, "--config");
		args[n++] = arena_strdup(first->arena, path);
	}
	for (int i = 1; i < argc; i++) {
		args[n++] = argv[i];
	}
	return route_job_init(j, own, doc, ROUTE_JOB_FILE_OPTIONAL, n, args);
}

int route_job_assign_lids(struct route_job *j)
{
	const struct config *c = &j->config;
	const struct lids_in in = {
		.g = j->g,
		.lmc = c->lmc,
		.lmc_esp0 = c->lmc_esp0 == UINT32_MAX ? c->lmc : c->lmc_esp0,
		.max_lid = c->unicast_lid_limit,
		.reassign = c->reassign_lids,
	};
	struct diags d;

	diags_init(&d, j->arena);
	int ret = lids_assign(&in, j->arena, &d, &j->lids, NULL, NULL);
	diags_print(&d, stderr, DIAG_NOTE);
	if (ret != E_OK && d.n_errors == 0) {
		fprintf(stderr, "%s: %s\n", j->file, err_text(ret));
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

/* Copies the newest epoch; \a what: its engine and options, or NULL. */
static int copy_snapshot(struct route_job *j, struct snap_reader *r,
                         struct snap_fabric *ret_fabric, struct route_job_running *what)
{
	int ret = E_STALE;

	for (unsigned i = 0; ret == E_STALE && i < PIN_TRIES; i++) {
		ret = snap_pin(r);
		if (ret == E_OK && what != NULL) {
			const char *options = snap_options(r);
			const char *engine = snap_meta(r)->engine_used;

			what->epoch = snap_meta(r)->epoch;
			what->options = arena_strdup(j->arena, options ? options : "");
			what->engine = arena_strdup(j->arena, engine);
			ret = what->options && what->engine ? E_OK : -ENOMEM;
		}
		if (ret == E_OK) {
			ret = snap_fabric(r, j->arena, ret_fabric);
		}
		if (ret == E_OK) {
			ret = make_names_printable(ret_fabric->g, j->arena);
		}
	}
	return ret;
}

/* Is the daemon that wrote the snapshot gone? */
static bool is_stale(struct route_job *j, const char *dir)
{
	struct stats_reader *r = NULL;
	struct stats_copy copy = { .heartbeat_ms = 0 };

	if (stats_reader_open(dir, &r) == E_OK) {
		(void)stats_read(r, j->arena, &copy);
	}
	stats_reader_close(r);
	return !heartbeat_fresh(copy.heartbeat_ms, boottime_ms());
}

int route_job_read_snapshot(struct route_job *j, struct lft *ret_lft,
                            struct lanes *ret_lanes,
                            struct route_job_running *ret_job_running)
{
	const char *dir = getenv("SAGUARO_SNAPSHOT_DIR"), *why = "";
	struct snap_reader *r = NULL;
	struct snap_fabric f;

	dir = j->config.snapshot_dir
	              ? j->config.snapshot_dir
	              : config_dir(dir, SAGUARO_RUNDIR, j->config.instance, j->arena);
	int ret = snap_reader_open(dir, j->arena, &why, &r);
	if (ret == E_OK) {
		ret = copy_snapshot(j, r, &f, ret_job_running);
	}
	snap_reader_close(r);
	if (ret != E_OK) {
		fprintf(stderr,
		        "%s: no running fabric in %s: %s%s%s; start saguarod, give --snapshot-dir, or name a topology file\n",
		        j->program, dir, err_text(ret), *why ? ": " : "", why);
		return EXIT_USAGE;
	}
	j->g = f.g;
	j->lids = f.lids;
	*ret_lft = f.lft;
	*ret_lanes = f.lanes;
	j->stale = is_stale(j, dir);
	if (j->stale) {
		client_print_stale(j->program);
	}
	return EXIT_GOOD;
}

/* Tables and LIDs of one dump, lanes when \a sl names one. */
static int read_dump(struct route_job *j, const char *file, const char *sl,
                     struct lft *ret_lft, struct lanes *ret_lanes, struct lids *ret_lids)
{
	struct diags d;
	int ret;

	diags_init(&d, j->arena);
	ret = lftfile_read(file, j->g, j->config.unicast_lid_limit, j->arena, &d, ret_lft,
	                   ret_lids);
	if (ret == E_OK && sl) {
		ret = lftfile_read_sl(sl, j->g, ret_lft, j->arena, &d, ret_lanes);
	}
	diags_print(&d, stderr, DIAG_WARNING);
	if (ret != E_OK && d.n_errors == 0) {
		fprintf(stderr, "%s: %s\n", file, err_text(ret));
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

int route_job_read_tables(struct route_job *j, struct lft *ret_lft,
                          struct lanes *ret_lanes)
{
	return read_dump(j, j->flags.lfts, j->flags.sl, ret_lft, ret_lanes, &j->lids);
}

int route_job_read_next(struct route_job *j, struct lft *ret_lft, struct lanes *ret_lanes)
{
	struct lids next;
	int status = read_dump(j, j->flags.to, j->flags.to_sl, ret_lft, ret_lanes, &next);

	for (uint32_t lid = 1;
	     status == EXIT_GOOD && lid <= next.top && lid <= j->lids.top; lid++) {
		if (next.owner[lid] != GRAPH_NONE && j->lids.owner[lid] != GRAPH_NONE &&
		    next.owner[lid] != j->lids.owner[lid]) {
			fprintf(stderr,
			        "%s: LID %u belongs to another port than in %s; a transition needs the same LIDs\n",
			        j->flags.to, lid, j->flags.lfts);
			status = EXIT_USAGE;
		}
	}
	if (status == EXIT_GOOD && next.top > j->lids.top) {
		j->lids = next; /* the old tables have no routes to the new LIDs */
	}
	return status;
}

void route_job_request(const struct route_job *j, struct route_request *ret_request)
{
	memset(ret_request, 0, sizeof(*ret_request));
	ret_request->list = j->list;
	ret_request->g = j->g;
	ret_request->lids = &j->lids;
	ret_request->options = &j->engines;
	ret_request->credit_loops = j->config.credit_loops;
	ret_request->adaptive = &j->config.adaptive;
	ret_request->strict = j->flags.strict;
	ret_request->max_lanes = config_lanes(&j->config);
	ret_request->threads = j->config.routing_threads_num;
	ret_request->no_paths = true; /* no command needs them */
	ret_request->now = route_job_now;
}

static uint64_t peak_rss_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

static json_t *cycle_json(const struct route_job *j, const struct proof_cycle *c)
{
	json_t *channels = json_array();

	for (uint32_t i = 0; i < c->n; i++) {
		const struct proof_channel *ch = &c->channels[i];
		const struct node *sw = &j->g->nodes[j->g->switches[ch->sw]];
		const struct node *src = &j->g->nodes[j->g->switches[ch->src_sw]];
		json_array_append_new(
			channels,
			json_pack("{s:o, s:o, s:i, s:i, s:{s:o, s:o, s:I}}", "switch",
		                  text_json(node_name(sw)), "guid", guid_json(sw->guid),
		                  "port", (int)ch->port, "vl", (int)ch->vl, "route",
		                  "source_switch", text_json(node_name(src)),
		                  "source_guid", guid_json(src->guid), "lid",
		                  (json_int_t)ch->lid));
	}
	return json_pack("{s:i, s:b, s:I, s:o}", "vl", (int)c->vl, "management",
	                 (int)c->management, "component_channels",
	                 (json_int_t)c->component_channels, "channels", channels);
}

static json_t *culprits_json(const struct route_job *j)
{
	const struct proof *p = &j->result.proof;
	json_t *holes = json_array(), *loops = json_array(), *cycles = json_array();

	for (unsigned i = 0; i < p->n_hole; i++) {
		const struct node *sw = &j->g->nodes[j->g->switches[p->hole[i].sw]];
		json_array_append_new(holes, json_pack("{s:o, s:o, s:I, s:i}", "switch",
		                                       text_json(node_name(sw)), "guid",
		                                       guid_json(sw->guid), "lid",
		                                       (json_int_t)p->hole[i].lid, "port",
		                                       (int)p->hole[i].port));
	}
	for (unsigned i = 0; i < p->n_loop; i++) {
		json_t *switches = json_array();
		for (uint32_t k = 0; k < p->loop[i].n_loop; k++) {
			const struct node *sw =
				&j->g->nodes[j->g->switches[p->loop[i].loop[k]]];
			json_array_append_new(switches, text_json(node_name(sw)));
		}
		json_array_append_new(loops, json_pack("{s:I, s:o}", "lid",
		                                       (json_int_t)p->loop[i].lid,
		                                       "switches", switches));
	}
	for (unsigned i = 0; i < p->n_cycle; i++) {
		json_array_append_new(cycles, cycle_json(j, &p->cycle[i]));
	}
	return json_pack(
		"{s:o, s:o, s:o, s:{s:I, s:I, s:I}}", "holes", holes, "forwarding_loops",
		loops, "credit_loops", cycles, "not_listed", "holes",
		(json_int_t)(p->holes - p->n_hole), "forwarding_loops",
		(json_int_t)(p->forwarding_loops - p->n_loop), "credit_loops",
		(json_int_t)(p->credit_loops + p->management_credit_loops - p->n_cycle));
}

static json_t *disjoint_sum_json(const struct disjoint_sum *x, uint64_t pairs)
{
	return json_pack("{s:f, s:I, s:I}", "mean", (double)x->sum / (double)pairs,
	                 "least", (json_int_t)x->least, "pairs_all", (json_int_t)x->all);
}

/* null where every port has one LID. */
json_t *route_job_disjoint_json(const struct disjoint *d)
{
	json_t *o;

	if (!d->pairs) {
		return json_null();
	}
	o = json_pack("{s:I, s:I, s:o, s:o}", "pairs", (json_int_t)d->pairs, "routes",
	              (json_int_t)d->routes, "unique",
	              disjoint_sum_json(&d->unique, d->pairs), "first_links",
	              disjoint_sum_json(&d->first, d->pairs));
	for (unsigned k = 0; k < DISJOINT_COUNT; k++) {
		json_object_set_new(o, disjoint_names[k],
		                    disjoint_sum_json(&d->level[k], d->pairs));
	}
	return o;
}

static json_t *alternates_json(const struct route_result *r)
{
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:f}", "routes", (json_int_t)r->alternates.routes,
		"served", (json_int_t)r->alternates.served, "no_room",
		(json_int_t)r->alternates.full, "left_out",
		(json_int_t)r->alternates.thinned, "seconds", r->seconds_alternates);
}

/* Routes are counted only in tables that may be used. */
json_t *route_job_load_json(const struct load *l)
{
	return l->all ? json_pack("{s:I, s:f, s:I}", "max", (json_int_t)l->max, "mean",
	                          l->mean, "p99", (json_int_t)l->p99)
	              : json_null();
}

/* Figures as JSON; keys are stable. */
static json_t *route_job_json(const struct route_job *j)
{
	const struct route_result *r = &j->result;
	const struct proof *p = &r->proof;
	json_t *o = json_object();

	json_object_set_new(o, "engine_asked", json_string(r->engine_asked));
	json_object_set_new(o, "engine_used",
	                    r->used ? json_string(r->used->name) : json_null());
	json_object_set_new(o, "fallback_reason",
	                    r->fallback_reason.text[0]
	                            ? json_string(r->fallback_reason.text)
	                            : json_null());
	json_object_set_new(o, "switches", json_integer(j->g->n_switches));
	json_object_set_new(o, "end_ports", json_integer(j->g->n_end_ports));
	json_object_set_new(o, "aggregation_nodes", json_integer(j->g->n_aggregation));
	json_object_set_new(o, "lids", json_integer(j->lids.count));
	json_object_set_new(o, "links", json_integer(j->g->n_links));
	json_object_set_new(o, "lmc", json_integer(j->config.lmc));
	json_object_set_new(o, "seconds",
	                    json_pack("{s:f, s:f, s:f}", "parse", j->seconds_parse,
	                              "route", r->seconds_route, "prove",
	                              r->seconds_prove));
	json_object_set_new(o, "unreachable_pairs",
	                    json_integer((json_int_t)p->unreachable_pairs));
	json_object_set_new(o, "forwarding_loops",
	                    json_integer((json_int_t)p->forwarding_loops));
	json_object_set_new(o, "credit_loops", json_integer((json_int_t)p->credit_loops));
	json_object_set_new(o, "management_pairs",
	                    json_pack("{s:I, s:I, s:I}", "unreachable",
	                              (json_int_t)p->management_unreachable,
	                              "credit_loops",
	                              (json_int_t)p->management_credit_loops, "vls",
	                              (json_int_t)p->management_vls));
	json_object_set_new(o, "vls_used", json_integer(p->vls_used));
	json_object_set_new(o, "load", route_job_load_json(&r->load));
	json_object_set_new(o, "disjoint_routes", route_job_disjoint_json(&j->disjoint));
	if (r->alternates.rows) {
		json_object_set_new(o, "alternates", alternates_json(r));
	}
	json_object_set_new(o, "peak_rss_bytes",
	                    json_integer((json_int_t)peak_rss_bytes()));
	json_object_set_new(o, "culprits", culprits_json(j));
	return o;
}

static void print_disjoint(const struct disjoint *d)
{
	double pairs = (double)d->pairs;

	if (!d->pairs) {
		return;
	}
	printf("unique routes     of %.4g per leaf and port: %.2f (least %u) by %.2f first links (least %u)\n",
	       (double)d->routes / pairs, (double)d->unique.sum / pairs, d->unique.least,
	       (double)d->first.sum / pairs, d->first.least);
	printf("disjoint routes   of %.4g per leaf and port:", (double)d->routes / pairs);
	for (unsigned k = 0; k < DISJOINT_COUNT; k++) {
		printf("%s %s %.2f (least %u)", k ? "," : "", disjoint_names[k],
		       (double)d->level[k].sum / pairs, d->level[k].least);
	}
	printf("\n");
}

static void print_figures(const struct route_job *j)
{
	const struct route_result *r = &j->result;
	const struct proof *p = &r->proof;

	printf("engine            %s", r->used ? r->used->name : "none");
	if (r->engine_asked &&
	    (!r->used || strcmp(r->engine_asked, r->used->name) != 0)) {
		printf(" (asked: %s)", r->engine_asked);
	}
	printf("\nfabric            %u switches, %u end ports, %u cables, %u LIDs, LMC %u",
	       j->g->n_switches, j->g->n_end_ports, j->g->n_links, j->lids.count,
	       j->config.lmc);
	if (j->g->n_aggregation) {
		printf(", %u aggregation nodes", j->g->n_aggregation);
	}
	printf("\n");
	printf("seconds           parse %.3f, route %.3f, prove %.3f\n", j->seconds_parse,
	       r->seconds_route, r->seconds_prove);
	printf("unreachable pairs %llu of %llu\n",
	       (unsigned long long)p->unreachable_pairs, (unsigned long long)p->pairs);
	printf("forwarding loops  %llu\n", (unsigned long long)p->forwarding_loops);
	printf("credit loops      %llu (virtual lanes used: %u)\n",
	       (unsigned long long)p->credit_loops, p->vls_used);
	printf("management pairs  %llu unreachable, %llu credit loops",
	       (unsigned long long)p->management_unreachable,
	       (unsigned long long)p->management_credit_loops);
	if (p->management_vls) {
		printf(" (further virtual lanes: %u)", p->management_vls);
	}
	if (p->management_unreachable != 0 || p->management_credit_loops != 0) {
		printf("\n                  these are paths from or to a switch itself, for traffic of managers; they fail the proof with --strict only");
	}
	printf("\n");
	if (r->load.all) {
		printf("routes per link   max %u, mean %.1f, 99th percentile %u\n",
		       r->load.max, r->load.mean, r->load.p99);
	} else {
		printf("routes per link   not counted, the proof failed\n");
	}
	print_disjoint(&j->disjoint);
	if (r->alternates.rows) {
		printf("alternates        %llu of %llu routes, %.3f s",
		       (unsigned long long)r->alternates.served,
		       (unsigned long long)r->alternates.routes, r->seconds_alternates);
		if (r->alternates.full) {
			printf("; %llu had no room in their switch",
			       (unsigned long long)r->alternates.full);
		}
		printf("\n");
	}
	printf("peak memory       %.1f MB\n", (double)peak_rss_bytes() / 1e6);
}

static void print_lines(const char *lead, const char *text)
{
	for (size_t len; *text; text += len + (text[len] != '\0')) {
		len = strcspn(text, "\n");
		fprintf(stderr, "%s: %.*s\n", lead, (int)len, text);
	}
}

int route_job_report(struct route_job *j)
{
	const bool computed = j->ret != E_UNSUITABLE && j->ret != -ENOMEM;
	const bool passed = computed && proof_passed(&j->result.proof, j->flags.strict);

	print_lines("fallback", j->result.fallback_reason.text);
	print_lines("note", j->result.out.notes.text);
	print_lines("warning", j->result.warning.text);
	if (!computed) {
		fprintf(stderr, "not routed: %s\n", err_text(j->ret));
		return j->ret == E_UNSUITABLE ? EXIT_BAD : EXIT_USAGE;
	}
	if (j->result.out.lft.rows &&
	    disjoint_count(j->g, &j->lids, &j->result.out.lft, &j->disjoint) != E_OK) {
		fprintf(stderr, "%s\n", err_text(-ENOMEM));
		return EXIT_USAGE;
	}
	if (j->flags.json) {
		json_t *o = route_job_json(j);
		int ret = json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		json_decref(o);
		printf("\n");
		if (ret != 0) {
			return EXIT_USAGE;
		}
	} else {
		print_figures(j);
	}
	if (!passed) {
		fprintf(stderr, "not proven: %s\n",
		        proof_text(&j->result.proof, j->g, j->arena));
	}
	return passed ? EXIT_GOOD : EXIT_BAD;
}

int route_job_done(struct route_job *j, int status)
{
	const bool stale = j->stale;

	arena_free(j->arena);
	memset(j, 0, sizeof(*j));
	return status == EXIT_GOOD && stale ? EXIT_STALE : status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro compare [FILE|running] [-R LIST]: routing engines side by side on one fabric. It only
 * reads.
 *
 * Each engine routes the fabric alone, as if the list of the daemon had no other, and is measured
 * by what measures the tables of the daemon: the proof, the routes per link, and the moved routes
 * of a what-if. Patterns of traffic are counted in routing/proof/traffic.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"
#include "gateway/cli/planning/compared.h"
#include "gateway/cli/planning/reroute.h"
#include "gateway/cli/route_job.h"
#include "gateway/view/json_text.h"
#include "routing/graph/alter.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/proof/compare.h"
#include "routing/route_base.h"

/* clang-format off */
static const struct option_row compare_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct route_flags, json), "FALSE", .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "the answer as JSON" },
	LIST_ROWS(struct route_flags),
	{ "strict", OPT_BOOL, offsetof(struct route_flags, strict), "FALSE", .flags_long = "strict",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "management pairs count in the proof, too" },
	{ "seconds", OPT_UINT, offsetof(struct route_flags, seconds), "0", 0, 1000000, .flags_long = "seconds",
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "give up an engine after so many seconds; 0: no limit" },
	{ "within", OPT_UINT, offsetof(struct route_flags, within), "0", 0, 1000000, .flags_long = "within",
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "begin no engine after so many seconds, and give up the one that runs; 0: no limit" },
	{ NULL }
};
/* clang-format on */

static const char doc[] =
	"Routing engines side by side on the running fabric, or on a topology file: whether each can route it, its proof, virtual lanes, load of links, what patterns of traffic get, and how many routes move when a host or a cable is lost. -R names the engines; the default is all. Nothing on the fabric is touched.";

struct comparing {
	struct route_job *j;
	struct route_job_running running; /* epoch 0: a file */
	struct compared_list list;
	uint32_t lost_host, lost_cable; /* port index, GRAPH_NONE: there is none */
	double begun;
};

/* --- a limit of time ---------------------------------------------------------------------- */

/* Sets a flag, unless it is stopped before. */
struct alarm_clock {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct timespec until;
	bool stopped, runs;
	_Atomic bool rung;
};

static void *wait_for_time(void *arg)
{
	struct alarm_clock *c = arg;

	pthread_mutex_lock(&c->lock);
	while (!c->stopped &&
	       pthread_cond_timedwait(&c->changed, &c->lock, &c->until) != ETIMEDOUT) {
	}
	if (!c->stopped) {
		c->rung = true;
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* \a seconds: 0: no limit */
static void clock_start(struct alarm_clock *c, double seconds)
{
	pthread_condattr_t attr;

	memset(c, 0, sizeof(*c));
	if (seconds <= 0) {
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &c->until);
	c->until.tv_sec += (time_t)seconds;
	c->until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	c->until.tv_sec += c->until.tv_nsec / 1000000000;
	c->until.tv_nsec %= 1000000000;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&c->lock, NULL);
	c->runs = pthread_create(&c->thread, NULL, wait_for_time, c) == 0;
}

static void clock_stop(struct alarm_clock *c)
{
	if (!c->runs) {
		return;
	}
	pthread_mutex_lock(&c->lock);
	c->stopped = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
}

/* --- one engine --------------------------------------------------------------------------- */

static double now(void)
{
	return (double)monotonic_ns() * 1e-9;
}

/* The engine alone, whose tables are shown also where they have a credit loop. */
static void request_engine(const struct comparing *x, const struct engine *e,
                           const struct alarm_clock *c, struct route_request *ret_request)
{
	route_job_request(x->j, ret_request);
	ret_request->list = (struct route_list){ .engine = { e }, .n = 1, .no_fallback = true };
	ret_request->list.adaptive = x->j->list.adaptive;
	ret_request->credit_loops = CREDIT_PROGRAM;
	ret_request->cancel = &c->rung;
}

/* Routes the fabric after a change as the daemon would, from the tables \a was of the same
 * engine, and counts what moves. */
static int count_moved(const struct comparing *x, const struct engine *e,
                       const struct alarm_clock *c, const struct route_out *was,
                       const struct alteration *change, struct arena *a,
                       struct compared_change *ret_change)
{
	const struct route_job *j = x->j;
	const struct reroute_tables tables = { j->g, &was->lft, &was->lanes };
	struct route_memory memory = { .base = route_base_new() };
	struct route_request request;
	struct route_result *result = arena_alloc(a, sizeof(*result));
	struct comparison diff;
	struct graph *g;
	struct lids lids;
	struct diags d;

	diags_init(&d, a);
	int ret = memory.base && result ? E_OK : -ENOMEM;
	if (ret == E_OK) {
		ret = graph_altered(j->g, change, 1, a, &d, &g);
	}
	if (ret == E_OK) {
		reroute_keep_lids(j->g, &j->lids, g);
		ret = lids_as_found(g, 0, a, &d, &lids);
	}
	if (ret == E_OK) {
		request_engine(x, e, c, &request);
		request.memory = &memory;
		request.no_paths = false; /* paths say which load a change moves */
		ret = route_resume(&request, e, &was->lft, &was->lanes, a, result);
		ret = ret == -ENOMEM || ret == -ECANCELED ? ret : E_OK;
	}
	if (ret == E_OK) {
		ret = reroute_keep_tables(&tables, g, &lids, a, &memory);
	}
	if (ret == E_OK) {
		request.g = g;
		request.lids = &lids;
		request.incremental = true;
		memset(result, 0, sizeof(*result));
		ret = route_run(&request, a, result);
		ret = ret == -ENOMEM || ret == -ECANCELED ? ret : E_OK;
	}
	/* without tables, the engine does not suit what is left */
	if (ret == E_OK && result->out.lft.rows != NULL) {
		const struct compared_tables before = { j->g, &j->lids, &was->lft };
		const struct compared_tables after = { g, &lids, &result->out.lft };

		ret = compare_tables(&before, &after, a, &diff);
		if (ret == E_OK) {
			*ret_change = (struct compared_change){ .known = true,
				                                .moved = diff.moved,
				                                .lost = diff.lost,
				                                .pairs = diff.pairs };
		}
	}
	route_base_free(memory.base);
	return ret;
}

static int measure_changes(const struct comparing *x, struct compared *row,
                           const struct alarm_clock *c, const struct route_out *was,
                           struct arena *a)
{
	const struct graph *g = x->j->g;
	struct alteration change = { .kind = ALTER_NODE_DOWN };
	int ret = E_OK;

	if (x->lost_host != GRAPH_NONE) {
		change.node = g->ports[x->lost_host].node;
		ret = count_moved(x, row->engine, c, was, &change, a, &row->host);
	}
	if (ret == E_OK && x->lost_cable != GRAPH_NONE) {
		change = (struct alteration){ .kind = ALTER_PORT_DOWN,
			                      .a = { x->lost_cable, 0,
			                             g->ports[x->lost_cable].num } };
		ret = count_moved(x, row->engine, c, was, &change, a, &row->cable);
	}
	return ret;
}

/* The reason without the name of the engine in front, which stands beside it. */
static const char *bare_reason(const struct engine *e, const char *text)
{
	size_t len = strlen(e->name);

	return strncmp(text, e->name, len) == 0 && strncmp(text + len, ": ", 2) == 0
	               ? text + len + 2
	               : text;
}

/* Sets what the row says of an engine that made tables. */
static int measure(const struct comparing *x, struct compared *row, const struct alarm_clock *c,
                   const struct route_result *result, struct arena *a)
{
	const struct route_job *j = x->j;
	const struct proof *p = &result->proof;
	int ret;

	row->routed = true;
	row->proven = proof_passed(p, j->flags.strict);
	row->vls = p->vls_used;
	row->unreachable = p->unreachable_pairs;
	row->loops = p->forwarding_loops;
	row->credit_loops = p->credit_loops;
	row->seconds = result->seconds_route + result->seconds_prove;
	row->why = row->proven ? bare_reason(row->engine, result->out.notes.text)
	                       : proof_text(p, j->g, a);
	row->why = arena_strdup(j->arena, row->why);
	if (row->why == NULL) {
		return -ENOMEM;
	}
	if (result->load.all == NULL) {
		return E_OK;
	}
	row->loaded = true;
	row->load = result->load;
	row->load.all = row->load.base = NULL; /* they go with the arena of the engine */
	ret = traffic_measure(j->g, &j->lids, &result->out.lft, a, &row->traffic);
	return ret == E_OK ? measure_changes(x, row, c, &result->out, a) : ret;
}

/* Seconds that an engine may take. \return below 0: no time is left; 0: no limit. */
static double time_limit(const struct comparing *x)
{
	const struct route_flags *f = &x->j->flags;
	double left = f->within != 0 ? x->begun + f->within - now() : 0;

	if (f->within != 0 && left <= 0) {
		return -1;
	}
	return f->seconds != 0 && (f->within == 0 || f->seconds < left) ? f->seconds : left;
}

static int run_engine(const struct comparing *x, struct compared *row)
{
	struct arena *a = arena_new();
	struct route_result *result = a ? arena_alloc(a, sizeof(*result)) : NULL;
	double limit = time_limit(x);
	struct route_request request;
	struct alarm_clock c;
	int ret = E_OK;

	if (result == NULL) {
		arena_free(a);
		return -ENOMEM;
	}
	if (limit < 0) {
		row->why = "no time was left";
		arena_free(a);
		return E_OK;
	}
	clock_start(&c, limit);
	request_engine(x, row->engine, &c, &request);
	ret = route_run(&request, a, result);
	if (ret != -ENOMEM && ret != -ECANCELED && result->out.lft.rows != NULL) {
		ret = measure(x, row, &c, result, a);
	} else if (ret == E_UNSUITABLE) {
		row->why = arena_strdup(x->j->arena,
		                        bare_reason(row->engine,
		                                    result->fallback_reason.text));
		ret = row->why != NULL ? E_OK : -ENOMEM;
	} else if (ret != -ENOMEM && ret != -ECANCELED) {
		row->why = err_text(ret);
		ret = E_OK;
	}
	clock_stop(&c);
	if (ret == -ECANCELED) {
		row->late = true;
		row->why = arena_printf(x->j->arena, "not done after %.0f s", limit);
		ret = row->why != NULL ? E_OK : -ENOMEM;
	}
	arena_free(a);
	return ret;
}

/* --- all of them -------------------------------------------------------------------------- */

/* Does the command line name engines? The list of a daemon or of a file of options is not meant. */
static bool names_engines(const struct config *c)
{
	const struct option_seen *seen = option_trace_find(c->trace, "routing_engine");

	return c->routing_engine != NULL &&
	       (seen == NULL || strcmp(seen->value, c->routing_engine) != 0);
}

static void choose_engines(struct comparing *x, bool named)
{
	const struct route_list *l = &x->j->list;

	for (unsigned i = 0; engines[i] && x->list.n < COMPARED_MAX; i++) {
		bool wanted = !named;

		for (unsigned k = 0; k < l->n; k++) {
			wanted = wanted || l->engine[k] == engines[i];
		}
		if (wanted) {
			x->list.row[x->list.n++] = (struct compared){ .engine = engines[i] };
		}
	}
}

/* The same for all engines: from the middle, so that they are no special case. */
static void choose_losses(struct comparing *x)
{
	const struct graph *g = x->j->g;
	uint32_t n = g->host_first[g->n_switches], at = g->n_adj / 2;

	x->lost_host = n > 1 ? g->hosts[n / 2] : GRAPH_NONE;
	x->lost_cable = GRAPH_NONE;
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (at >= g->adj_first[s] && at < g->adj_first[s + 1]) {
			x->lost_cable = graph_port(g, g->switches[s], g->adj[at].port);
		}
	}
}

static void show_progress(const struct comparing *x, unsigned i)
{
	if (isatty(STDERR_FILENO) && i < x->list.n) {
		fprintf(stderr, "\r\033[K%u of %u: %s, %.0f s so far", i + 1, x->list.n,
		        x->list.row[i].engine->name, now() - x->begun);
	} else if (isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r\033[K");
	}
}

static int run_all(struct comparing *x)
{
	int ret = E_OK;

	x->begun = now();
	for (unsigned i = 0; ret == E_OK && i < x->list.n; i++) {
		show_progress(x, i);
		ret = run_engine(x, &x->list.row[i]);
	}
	show_progress(x, x->list.n);
	if (ret != E_OK) {
		fprintf(stderr, "%s: %s\n", x->j->program, err_text(ret));
		return EXIT_USAGE;
	}
	compared_recommend(&x->list, x->j->arena);
	return EXIT_GOOD;
}

/* --- the answer --------------------------------------------------------------------------- */

static json_t *end_json_of(const struct graph *g, uint32_t port)
{
	const struct node *n = &g->nodes[g->ports[port].node];

	return json_pack("{s:o, s:o, s:i}", "guid", guid_json(n->guid), "name",
	                 text_json(node_name(n)), "port", (int)g->ports[port].num);
}

static json_t *answer_json(const struct comparing *x)
{
	const struct graph *g = x->j->g;
	json_t *cable = json_null(), *host = json_null();

	if (x->lost_cable != GRAPH_NONE) {
		cable = json_pack("[o, o]", end_json_of(g, x->lost_cable),
		                  end_json_of(g, g->ports[x->lost_cable].peer));
	}
	if (x->lost_host != GRAPH_NONE) {
		host = end_json_of(g, x->lost_host);
	}
	json_t *o = json_pack("{s:I, s:{s:I, s:I, s:I, s:I, s:i}, s:o, s:o}", "epoch",
	                      (json_int_t)x->running.epoch, "fabric", "switches",
	                      (json_int_t)g->n_switches, "hosts", (json_int_t)g->n_hosts,
	                      "cables", (json_int_t)g->n_links, "lids",
	                      (json_int_t)x->j->lids.count, "lmc", (int)x->j->config.lmc,
	                      "lost_host", host, "lost_cable", cable);
	json_object_set_new(o, "seconds", json_real(now() - x->begun));
	compared_json(&x->list, o);
	return o;
}

static int print_table(const struct client *s, const json_t *body, bool first)
{
	(void)s;
	(void)first;
	compared_print(body);
	return EXIT_GOOD;
}

static const struct list list = { "engines", NULL, .print = print_table };

/* As lists see the flags. */
static struct client list_client(const struct route_job *j)
{
	return (struct client){ .arena = j->arena,
		                .program = j->program,
		                .flags = { .csv = j->flags.csv,
		                           .field = j->flags.field,
		                           .json = j->flags.json } };
}

/* Wrong fields are refused, and their names printed, before anything is computed. */
static int check_fields(const struct route_job *j, bool *ret_done)
{
	struct client s = list_client(j);
	int status = list_open(&s, &list, compared_fields, ret_done);

	list_close(&s);
	return status;
}

static int report(const struct comparing *x)
{
	const struct route_job *j = x->j;
	struct client s = list_client(j);
	json_t *o = answer_json(x);
	int status = j->flags.json && !list_of_fields(&s)
	                     ? client_print_json(o)
	                     : list_print_body(&s, &list, compared_fields, o);

	json_decref(o);
	return status != EXIT_GOOD          ? status
	       : x->list.recommended != NULL ? EXIT_GOOD
	                                     : EXIT_BAD;
}

static int run(struct comparing *x, struct route_job *first, struct route_job *over,
               int argc, char **argv, char **words)
{
	struct lft lft;
	struct lanes lanes;
	bool done = false;
	int status = route_job_init(first, compare_rows, doc, ROUTE_JOB_FILE_OPTIONAL,
	                            argc, argv);

	x->j = first;
	if (status == EXIT_GOOD) {
		status = check_fields(first, &done);
	}
	if (status == EXIT_GOOD && first->file != NULL && !done) {
		status = route_job_assign_lids(first);
	} else if (status == EXIT_GOOD && !done) {
		status = route_job_read_snapshot(first, &lft, &lanes, &x->running);
		if (status == EXIT_GOOD) {
			status = route_job_read_again(over, first, x->running.options,
			                              compare_rows, doc, argc, words);
			over->g = first->g;
			over->lids = first->lids;
			x->j = over;
		}
	}
	if (status == EXIT_GOOD && !done) {
		choose_engines(x, names_engines(&first->config));
		choose_losses(x);
		status = run_all(x);
		status = status == EXIT_GOOD ? report(x) : status;
	}
	return status;
}

int cmd_compare(int argc, char **argv)
{
	struct comparing *x = calloc(1, sizeof(*x));
	struct route_job *jobs = calloc(2, sizeof(*jobs));
	char **words = route_job_copy_words(argc, argv);
	int status = EXIT_USAGE;

	if (x != NULL && jobs != NULL && words != NULL) {
		status = run(x, &jobs[0], &jobs[1], argc, argv, words);
		(void)route_job_done(&jobs[1], status);
		status = route_job_done(&jobs[0], status);
	} else {
		fprintf(stderr, "%s: %s\n", argv[0], err_text(-ENOMEM));
	}
	route_job_free_words(words);
	free(jobs);
	free(x);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/planning/compared.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/view/json_text.h"
#include "routing/engine.h"

const char *const compared_fields[] = {
	"engine",          "routed",           "proven",
	"late",            "why",              "vls",
	"unreachable_pairs", "forwarding_loops", "credit_loops",
	"load.max",        "load.p99",         "load.mean",
	"load.idle",       "bisection.mean",   "bisection.least",
	"shift.mean",      "shift.least",      "permutation.mean",
	"permutation.least", "host_lost.moved", "host_lost.lost",
	"host_lost.pairs", "cable_lost.moved", "cable_lost.lost",
	"cable_lost.pairs", "seconds",          NULL
};

/* --- recommendation ----------------------------------------------------------------------- */

/* A figure by which engines are told apart; less is better. */
struct figure {
	double (*of)(const struct compared *c);
	double least;    /* differences below it do not count */
	double fraction; /* nor those below this part of the best value */
	double sign;     /* by which of() is multiplied for the reader */
	const char *has; /* what an engine has that is best in it, */
	int decimals;     /* of the value of sign other than 0, */
	const char *unit; /* and its unit */
};

static double of_permutation(const struct compared *c)
{
	return -c->traffic.permutation.mean;
}

static double of_shift(const struct compared *c)
{
	return -c->traffic.shift.mean;
}

static double of_load(const struct compared *c)
{
	return c->load.max;
}

static double of_design(const struct compared *c)
{
	return (c->engine->flags & ENGINE_DEADLOCK_FREE) == 0;
}

static double of_lanes(const struct compared *c)
{
	return c->vls;
}

static double of_moved(const struct compared *c)
{
	return (double)(c->host.moved + c->cable.moved);
}

static double of_seconds(const struct compared *c)
{
	return c->seconds;
}

/* clang-format off */
static const struct figure figures[] = {
	{ of_permutation, .01, 0,   -100, "the largest share of their rate for hosts in random permutations", 0, " %" },
	{ of_shift,       .01, 0,   -100, "the largest share in shifts", 0, " %" },
	{ of_load,        0,   .05, 1,    "the fewest routes on the busiest link", 0, "" },
	{ of_design,      .5,  0,   0,    "no credit loops by design, whatever is lost", 0, "" },
	{ of_lanes,       .5,  0,   1,    "the fewest virtual lanes", 0, "" },
	{ of_moved,       0,   .10, 1,    "the fewest routes that move for a lost host and a lost cable", 0, "" },
	{ of_seconds,     .01, .50, 1,    "the least time", 3, " s" },
};
/* clang-format on */

enum { N_FIGURES = sizeof(figures) / sizeof(*figures) };

struct choice {
	const struct compared *left[COMPARED_MAX];
	unsigned n;
};

/* Keeps those that are as good as the best. */
static void keep_best(struct choice *c, const struct figure *f)
{
	double best = f->of(c->left[0]), slack;
	unsigned n = 0;

	for (unsigned i = 1; i < c->n; i++) {
		double value = f->of(c->left[i]);

		best = value < best ? value : best;
	}
	slack = best < 0 ? -best * f->fraction : best * f->fraction;
	slack = slack > f->least ? slack : f->least;
	for (unsigned i = 0; i < c->n; i++) {
		if (f->of(c->left[i]) <= best + slack) {
			c->left[n++] = c->left[i];
		}
	}
	c->n = n;
}

/* "as good" others, by name. \return NULL: out of memory. */
static const char *equals_text(const struct choice *c, struct arena *a)
{
	const char *text = "";

	for (unsigned i = 1; text != NULL && i < c->n; i++) {
		text = arena_printf(a, "%s%s%s", text,
		                    i == 1 ? "" : i + 1 == c->n ? " and " : ", ",
		                    c->left[i]->engine->name);
	}
	return text;
}

void compared_recommend(struct compared_list *l, struct arena *a)
{
	const struct figure *by = NULL;
	struct choice c = { .n = 0 };
	unsigned candidates, told_apart = 0;
	char value[32] = "";

	for (unsigned i = 0; i < l->n; i++) {
		if (l->row[i].proven && !l->row[i].late) {
			c.left[c.n++] = &l->row[i];
		}
	}
	candidates = c.n;
	l->recommended = NULL;
	l->reason = "no engine made tables whose proof holds";
	if (candidates == 0) {
		return;
	}
	for (unsigned i = 0; c.n > 1 && i < N_FIGURES; i++) {
		unsigned n = c.n;

		keep_best(&c, &figures[i]);
		if (c.n < n) {
			by = &figures[i];
			told_apart = n;
		}
	}
	l->recommended = c.left[0];
	if (candidates == 1) {
		l->reason = "it is the only one whose proof holds";
		return;
	}
	if (by != NULL && by->sign != 0) {
		snprintf(value, sizeof(value), " (%.*f%s)", by->decimals,
		         by->of(c.left[0]) * by->sign, by->unit);
	}
	l->reason = arena_printf(
		a, "of %u engines whose proof holds, %s%s%s%s%s%s%s", candidates,
		told_apart == candidates || by == NULL
			? ""
			: arena_printf(
				  a, "%u are as good in what counts before, and of these ",
				  told_apart),
		by != NULL ? "it has " : "none is better", by != NULL ? by->has : "", value,
		c.n > 1 ? "; " : "", c.n > 1 ? equals_text(&c, a) : "",
		c.n == 2 ? " is as good" : c.n > 2 ? " are as good" : "");
	l->reason = l->reason != NULL ? l->reason : "";
}

/* --- JSON --------------------------------------------------------------------------------- */

static json_t *share_json(const struct compared *c, const struct traffic_share *s)
{
	return c->loaded ? json_pack("{s:f, s:f}", "mean", s->mean, "least", s->least)
	                 : json_null();
}

static json_t *change_json(const struct compared_change *d)
{
	return d->known ? json_pack("{s:I, s:I, s:I}", "moved", (json_int_t)d->moved,
	                            "lost", (json_int_t)d->lost, "pairs",
	                            (json_int_t)d->pairs)
	                : json_null();
}

static json_t *count_json(bool known, uint64_t n)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

static json_t *row_json(const struct compared *c)
{
	json_t *load = json_null();

	if (c->loaded) {
		load = json_pack("{s:I, s:I, s:f, s:I}", "max", (json_int_t)c->load.max,
		                 "p99", (json_int_t)c->load.p99, "mean", c->load.mean,
		                 "idle", (json_int_t)c->load.idle);
	}
	return json_pack(
		"{s:s, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"engine", c->engine->name, "routed", (int)c->routed, "proven",
		(int)c->proven, "late", (int)c->late, "why",
		c->why != NULL && *c->why ? text_json(c->why) : json_null(), "vls",
		count_json(c->routed, c->vls), "unreachable_pairs",
		count_json(c->routed, c->unreachable), "forwarding_loops",
		count_json(c->routed, c->loops), "credit_loops",
		count_json(c->routed, c->credit_loops), "load", load, "bisection",
		share_json(c, &c->traffic.bisection), "shift",
		share_json(c, &c->traffic.shift), "permutation",
		share_json(c, &c->traffic.permutation), "host_lost",
		change_json(&c->host), "cable_lost", change_json(&c->cable), "seconds",
		c->routed ? json_real(c->seconds) : json_null());
}

void compared_json(const struct compared_list *l, json_t *to)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < l->n; i++) {
		json_array_append_new(rows, row_json(&l->row[i]));
	}
	json_object_set_new(to, "engines", rows);
	json_object_set_new(to, "recommended",
	                    l->recommended ? json_string(l->recommended->engine->name)
	                                   : json_null());
	json_object_set_new(to, "reason", json_string(l->reason));
}

/* --- table -------------------------------------------------------------------------------- */

static void print_count(const json_t *of, const char *name, int width)
{
	const json_t *v = json_object_get(of, name);

	if (json_is_integer(v)) {
		printf(" %*lld", width, json_integer_value(v));
	} else {
		printf(" %*s", width, "-");
	}
}

static void print_share(const json_t *row, const char *name)
{
	const json_t *mean = json_object_get(json_object_get(row, name), "mean");

	if (json_is_real(mean)) {
		printf(" %7.0f%%", json_real_value(mean) * 100);
	} else {
		printf(" %8s", "-");
	}
}

/* The first line of a text. */
static void print_why(const char *lead, const char *why)
{
	printf("%s%.*s\n", lead, (int)strcspn(why, "\n"), why);
}

static void print_row(const json_t *row)
{
	printf("%-14s", member_text(row, "engine"));
	if (!json_is_true(json_object_get(row, "routed"))) {
		print_why(json_is_true(json_object_get(row, "late")) ? " given up: "
		                                                     : " not routed: ",
		          member_text(row, "why"));
		return;
	}
	printf(" %-10s", json_is_true(json_object_get(row, "proven")) ? "holds" : "fails");
	print_count(row, "vls", 5);
	print_count(json_object_get(row, "load"), "max", 8);
	print_count(json_object_get(row, "load"), "p99", 8);
	print_count(json_object_get(row, "load"), "idle", 6);
	print_share(row, "bisection");
	print_share(row, "shift");
	print_share(row, "permutation");
	print_count(json_object_get(row, "host_lost"), "moved", 10);
	print_count(json_object_get(row, "cable_lost"), "moved", 11);
	printf(" %8.3f\n", json_real_value(json_object_get(row, "seconds")));
	if (!json_is_true(json_object_get(row, "proven"))) {
		print_why("               ", member_text(row, "why"));
	}
}

void compared_print(const json_t *body)
{
	const json_t *f = json_object_get(body, "fabric");
	const char *recommended = member_text(body, "recommended");
	size_t i;
	json_t *row;

	printf("%lld switches, %lld hosts, %lld cables, %lld LIDs, LMC %lld\n",
	       member_int(f, "switches"), member_int(f, "hosts"), member_int(f, "cables"),
	       member_int(f, "lids"), member_int(f, "lmc"));
	printf("%-14s %-10s %5s %8s %8s %6s %8s %8s %8s %10s %11s %8s\n", "engine",
	       "proof", "lanes", "busiest", "p99", "idle", "bisect", "shift", "random",
	       "host lost", "cable lost", "seconds");
	json_array_foreach(json_object_get(body, "engines"), i, row)
	{
		print_row(row);
	}
	printf("\n%s%s: %s\n", *recommended ? "recommended: " : "none recommended",
	       recommended, member_text(body, "reason"));
}

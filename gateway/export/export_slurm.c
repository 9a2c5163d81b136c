/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Slurm's topology files. Slurm wants a tree in which a switch has one parent, and a fabric is
 * none. So the tree is what packets see: leaves with their hosts, the pods of leaves (or groups
 * of a dragonfly), and above them one switch per connected part, which stands for all the
 * spines or cores.
 *
 * A Slurm node is the first word of a host's name, which hosts set to their host name. A host
 * with several ports counts at the first switch it hangs on. A name that no Slurm node can have
 * is left out with a comment.
 *
 * Where the adapters of a host hang on leaves of their own (rails), these leaves are one to Slurm:
 * leaves are joined if they share more than half of the hosts of each. So a host whose first rail is
 * down stays with the others. The joined leaf has the name of the first one.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/export/export_int.h"
#include "gateway/inventory/topology.h"
#include "gateway/view/body.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

enum { DIGITS_MAX = 9, NAME_MAX_BYTES = 64 };

/* A name and what it belongs to. */
struct named {
	const char *name;
	uint32_t sw, at; /* switch, and place in the order of the fabric */
};

struct tree {
	const struct graph *g;
	struct arena *arena;
	const char **sw_name;   /* [n_switches] */
	const char **host_name; /* by place in g->hosts; NULL: it has none here */
	uint32_t *top;          /* [n_switches] pod, or GRAPH_NONE: under the root */
	uint32_t *part;         /* [n_switches] connected part */
	uint32_t *unit;         /* [n_switches] first of the leaves that it is joined with, or itself */
	uint32_t n_pods, n_parts;
	const char **word; /* room for a list of names */
};

/* --- names ------------------------------------------------------------------------------- */

static bool usable(char ch)
{
	return isalnum((unsigned char)ch) || ch == '-' || ch == '_' || ch == '.';
}

/* The name of a host, if a Slurm node can have it. */
static const char *host_word(struct arena *a, const struct node *host)
{
	const char *name = node_name(host);
	size_t n = node_host_length(host);

	for (size_t i = 0; i < n; i++) {
		if (!usable(name[i])) {
			return NULL;
		}
	}
	return n > 0 ? arena_printf(a, "%.*s", (int)n, name) : NULL;
}

static const char *switch_word(struct arena *a, const char *name)
{
	char *word = arena_strdup(a, name);

	for (char *at = word; at != NULL && *at != '\0'; at++) {
		*at = usable(*at) ? *at : '_';
	}
	return word;
}

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d != 0 ? d : x->at < y->at ? -1 : x->at > y->at;
}

/* Could it be the name of a pod or of a root? */
static bool is_reserved(const char *name)
{
	return *name == '\0' || strncmp(name, "pod-", 4) == 0 ||
	       strncmp(name, "fabric-", 7) == 0;
}

/* Names of switches, each its own: where it would not be, with the GUID. */
static int name_switches(struct tree *t)
{
	const struct graph *g = t->g;
	struct named *list = arena_array(t->arena, g->n_switches + 1, sizeof(*list));

	t->sw_name = arena_array(t->arena, g->n_switches + 1, sizeof(*t->sw_name));
	if (list == NULL || t->sw_name == NULL) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];

		list[s] = (struct named){ switch_word(t->arena, node_name(n)), s, s };
		if (list[s].name == NULL) {
			return -ENOMEM;
		}
	}
	qsort(list, g->n_switches, sizeof(*list), by_name);
	for (uint32_t i = 0; i < g->n_switches; i++) {
		const struct named *x = &list[i];
		bool alone = !is_reserved(x->name) &&
		             (i == 0 || strcmp(x->name, x[-1].name) != 0) &&
		             (i + 1 == g->n_switches || strcmp(x->name, x[1].name) != 0);

		t->sw_name[x->sw] =
			alone ? x->name
			      : arena_printf(t->arena, "%s-%" PRIx64, x->name,
		                             g->nodes[g->switches[x->sw]].guid);
		if (t->sw_name[x->sw] == NULL) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

/* The first of the switches that one is joined with. */
static uint32_t unit_of(const struct tree *t, uint32_t s)
{
	while (t->unit[s] != s) {
		s = t->unit[s];
	}
	return s;
}

/* Two leaves, the lower one first, with a host in common. */
struct shared {
	uint32_t a, b;
};

static int by_leaves(const void *a, const void *b)
{
	const struct shared *x = a, *y = b;

	return x->a != y->a ? (x->a < y->a ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

/* Joins leaves by the pairs of them that hosts have, and by how many hosts each has. */
static void join_leaves(struct tree *t, struct shared *pair, uint32_t n,
                        const uint32_t *n_hosts)
{
	qsort(pair, n, sizeof(*pair), by_leaves);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t a = pair[i].a, b = pair[i].b, x, y;

		for (end = i + 1; end < n && by_leaves(&pair[i], &pair[end]) == 0; end++) {
		}
		if (2 * (end - i) <= n_hosts[a] || 2 * (end - i) <= n_hosts[b]) {
			continue;
		}
		x = unit_of(t, a);
		y = unit_of(t, b);
		t->unit[x < y ? y : x] = x < y ? x : y;
	}
}

/* Finds leaves that are rails of the same hosts. \param list  [n] by name, then by place. */
static int find_units(struct tree *t, const struct named *list, uint32_t n)
{
	const struct graph *g = t->g;
	uint32_t n_pairs = 0, cap = 0, first = 0;
	uint32_t *n_hosts = arena_array(t->arena, g->n_switches + 1, sizeof(*n_hosts));
	struct shared *pair;

	t->unit = arena_array(t->arena, g->n_switches + 1, sizeof(*t->unit));
	if (n_hosts == NULL || t->unit == NULL) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		t->unit[s] = s;
		n_hosts[s] = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		first = i > 0 && strcmp(list[i].name, list[i - 1].name) == 0 ? first : i;
		cap += i - first;
	}
	pair = arena_array(t->arena, cap + 1, sizeof(*pair));
	if (pair == NULL) {
		return -ENOMEM;
	}
	first = 0;
	for (uint32_t i = 0; i < n; i++) {
		first = i > 0 && strcmp(list[i].name, list[i - 1].name) == 0 ? first : i;
		if (i > first && list[i].sw == list[i - 1].sw) {
			continue; /* a second port at the same switch */
		}
		n_hosts[list[i].sw]++;
		for (uint32_t k = first; k < i; k++) {
			if (list[k].sw != list[i].sw &&
			    (k == first || list[k].sw != list[k - 1].sw)) {
				pair[n_pairs++] =
					(struct shared){ list[k].sw, list[i].sw };
			}
		}
	}
	join_leaves(t, pair, n_pairs, n_hosts);
	return E_OK;
}

/* Names of hosts, each at the first of its ports. */
static int name_hosts(struct tree *t)
{
	const struct graph *g = t->g;
	uint32_t n = g->host_first[g->n_switches], used = 0, sw = 0;
	struct named *list = arena_array(t->arena, n + 1, sizeof(*list));

	t->host_name = arena_array(t->arena, n + 1, sizeof(*t->host_name));
	if (list == NULL || t->host_name == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct node *host = &g->nodes[g->ports[g->hosts[i]].node];
		const char *word = host_word(t->arena, host);

		while (i >= g->host_first[sw + 1]) {
			sw++;
		}
		t->host_name[i] = NULL;
		if (word != NULL && strlen(word) <= NAME_MAX_BYTES) {
			list[used++] = (struct named){ word, sw, i };
		}
	}
	qsort(list, used, sizeof(*list), by_name);
	for (uint32_t i = 0; i < used; i++) {
		if (i == 0 || strcmp(list[i].name, list[i - 1].name) != 0) {
			t->host_name[list[i].at] = list[i].name;
		}
	}
	return find_units(t, list, used);
}

/* --- the tree ---------------------------------------------------------------------------- */

/* Numbers the connected parts. */
static int find_parts(struct tree *t)
{
	const struct graph *g = t->g;
	uint32_t *queue = arena_array(t->arena, g->n_switches + 1, sizeof(*queue));

	t->part = arena_array(t->arena, g->n_switches + 1, sizeof(*t->part));
	if (queue == NULL || t->part == NULL) {
		return -ENOMEM;
	}
	memset(t->part, 0xff, (g->n_switches + 1) * sizeof(*t->part));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t from = 0, to = 0;

		if (t->part[s] != GRAPH_NONE) {
			continue;
		}
		queue[to++] = s;
		t->part[s] = t->n_parts;
		while (from < to) {
			uint32_t at = queue[from++];

			for (uint32_t i = g->adj_first[at]; i < g->adj_first[at + 1];
			     i++) {
				if (t->part[g->adj[i].to] == GRAPH_NONE) {
					t->part[g->adj[i].to] = t->n_parts;
					queue[to++] = g->adj[i].to;
				}
			}
		}
		t->n_parts++;
	}
	return E_OK;
}

static int tree_build(const struct export_fabric *x, struct arena *a, struct tree *t)
{
	const struct graph *g = x->g;
	int ret;

	*t = (struct tree){ .g = g, .arena = a };
	t->word = arena_array(a, g->n_hosts + g->n_switches + 2, sizeof(*t->word));
	t->top = x->shape->group;
	t->n_pods = x->shape->n_groups;
	ret = t->word != NULL ? name_switches(t) : -ENOMEM;
	if (ret == E_OK) {
		ret = name_hosts(t);
	}
	return ret == E_OK ? find_parts(t) : ret;
}

/* Names of the hosts of a leaf and of those that are joined with it; none of one that stands behind
 * another. \return How many. */
static uint32_t hosts_of(const struct tree *t, uint32_t s)
{
	uint32_t n = 0;

	for (uint32_t k = s; t->unit[s] == s && k < t->g->n_switches; k++) {
		if (unit_of(t, k) != s) {
			continue;
		}
		for (uint32_t i = t->g->host_first[k]; i < t->g->host_first[k + 1]; i++) {
			if (t->host_name[i] != NULL) {
				t->word[n++] = t->host_name[i];
			}
		}
	}
	return n;
}

/* Has a leaf, or one that is joined with it, a host? */
static bool has_hosts(const struct tree *t, uint32_t s)
{
	for (uint32_t k = s; t->unit[s] == s && k < t->g->n_switches; k++) {
		for (uint32_t i = t->g->host_first[k];
		     unit_of(t, k) == s && i < t->g->host_first[k + 1]; i++) {
			if (t->host_name[i] != NULL) {
				return true;
			}
		}
	}
	return false;
}

/* Names of the leaves of a pod, or of a part those without a pod. \return How many. */
static uint32_t leaves_of(const struct tree *t, uint32_t pod, uint32_t part, uint32_t n)
{
	for (uint32_t s = 0; s < t->g->n_switches; s++) {
		bool here = pod != GRAPH_NONE
		                    ? t->top[s] == pod
		                    : t->top[s] == GRAPH_NONE && t->part[s] == part;

		if (here && has_hosts(t, s)) {
			t->word[n++] = t->sw_name[s];
		}
	}
	return n;
}

/* --- lists of names ---------------------------------------------------------------------- */

/* Digits at the end of a name, those that fit a number. */
static size_t digits_of(const char *name)
{
	size_t len = strlen(name), n = 0;

	while (n < len && n < DIGITS_MAX && isdigit((unsigned char)name[len - 1 - n])) {
		n++;
	}
	return n;
}

/* By what stands in front of the number, its digits, the number. */
static int by_number(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	size_t nx = strlen(x) - digits_of(x), ny = strlen(y) - digits_of(y);
	int d = strncmp(x, y, nx < ny ? nx : ny);

	if (d != 0 || nx != ny) {
		return d != 0 ? d : nx < ny ? -1 : 1;
	}
	d = (int)strlen(x) - (int)strlen(y);
	return d != 0 ? d : strcmp(x, y);
}

static bool same_kind(const char *x, const char *y)
{
	size_t n = strlen(x) - digits_of(x);

	return strlen(x) == strlen(y) && digits_of(x) == digits_of(y) &&
	       strncmp(x, y, n) == 0;
}

static unsigned long long number_of(const char *x)
{
	return strtoull(x + strlen(x) - digits_of(x), NULL, 10);
}

/* Names as Slurm's host lists have them: leaf-[0000-0035,0040],login. They are sorted. */
static void put_names(struct body *out, const char **word, uint32_t n)
{
	qsort(word, n, sizeof(*word), by_number);
	for (uint32_t i = 0, end; i < n; i = end) {
		size_t digits = digits_of(word[i]);

		for (end = i + 1; digits > 0 && end < n && same_kind(word[i], word[end]);
		     end++) {
		}
		body_printf(out, "%s", i > 0 ? "," : "");
		if (end == i + 1) {
			body_printf(out, "%s", word[i]);
			continue;
		}
		body_printf(out, "%.*s[", (int)(strlen(word[i]) - digits), word[i]);
		for (uint32_t k = i, last; k < end; k = last + 1) {
			for (last = k;
			     last + 1 < end &&
			     number_of(word[last + 1]) == number_of(word[last]) + 1;
			     last++) {
			}
			body_printf(out, "%s%s", k > i ? "," : "",
			            word[k] + strlen(word[k]) - digits);
			if (last > k) {
				body_printf(out, "-%s",
				            word[last] + strlen(word[last]) - digits);
			}
		}
		body_printf(out, "]");
	}
}

/* --- the files --------------------------------------------------------------------------- */

/* How a line of one file looks; the names stand between its two texts. */
struct style {
	const char *leaf, *leaf_hosts, *inner, *inner_children, *end;
};

static const struct style conf_style = { "SwitchName=", " Nodes=", "SwitchName=",
	                                 " Switches=", "\n" };
static const struct style yaml_style = { "      - switch: ", "\n        nodes: ",
	                                 "      - switch: ", "\n        children: ",
	                                 "\n" };

static void put_line(struct body *out, const char *begin, const char *name,
                     const char *middle, const struct tree *t, uint32_t n,
                     const char *end)
{
	body_printf(out, "%s%s%s", begin, name, middle);
	put_names(out, t->word, n);
	body_printf(out, "%s", end);
}

/* Hosts that are in no line, as comments. */
static void put_left_out(struct body *out, const struct tree *t)
{
	const struct graph *g = t->g;
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->host_first[g->n_switches]; i++) {
		const struct node *host = &g->nodes[g->ports[g->hosts[i]].node];

		if (t->host_name[i] == NULL &&
		    host_word(t->arena, host) == NULL) {
			n++;
		}
	}
	if (n > 0) {
		body_printf(
			out,
			"# %" PRIu32
			" host ports are left out, because their names are no names of Slurm nodes\n",
			n);
	}
}

static void put_tree(struct body *out, const struct tree *t, const struct style *s)
{
	char name[32];

	for (uint32_t i = 0; i < t->g->n_switches; i++) {
		uint32_t n = hosts_of(t, i);

		if (n > 0) {
			put_line(out, s->leaf, t->sw_name[i], s->leaf_hosts, t, n,
			         s->end);
		}
	}
	for (uint32_t pod = 0; pod < t->n_pods; pod++) {
		uint32_t n = leaves_of(t, pod, 0, 0);

		snprintf(name, sizeof(name), "pod-%" PRIu32, pod);
		if (n > 0) {
			put_line(out, s->inner, name, s->inner_children, t, n, s->end);
		}
	}
	for (uint32_t part = 0; part < t->n_parts; part++) {
		uint32_t n = 0;

		for (uint32_t pod = 0; pod < t->n_pods; pod++) {
			uint32_t lowest = 0;

			while (t->top[lowest] != pod) {
				lowest++;
			}
			if (t->part[lowest] == part && leaves_of(t, pod, 0, n) > n) {
				t->word[n++] =
					arena_printf(t->arena, "pod-%" PRIu32, pod);
			}
		}
		n = leaves_of(t, GRAPH_NONE, part, n);
		snprintf(name, sizeof(name), "fabric-%" PRIu32, part);
		if (n > 0) {
			put_line(out, s->inner, name, s->inner_children, t, n, s->end);
		}
	}
}

/* Nodes of the smallest leaf that has any: the least size of a block. */
static uint32_t smallest_leaf(const struct tree *t)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t s = 0; s < t->g->n_switches; s++) {
		uint32_t n = hosts_of(t, s);

		least = n > 0 && n < least ? n : least;
	}
	return least == UINT32_MAX ? 1 : least;
}

static void put_blocks(struct body *out, const struct tree *t, const char *begin,
                       const char *middle)
{
	for (uint32_t s = 0; s < t->g->n_switches; s++) {
		uint32_t n = hosts_of(t, s);

		if (n > 0) {
			put_line(out, begin, t->sw_name[s], middle, t, n, "\n");
		}
	}
}

enum slurm_file { SLURM_TREE, SLURM_BLOCK, SLURM_YAML };

static void put_file(struct body *out, const struct tree *t, enum slurm_file file)
{
	switch (file) {
	case SLURM_TREE: put_tree(out, t, &conf_style); break;
	case SLURM_BLOCK:
		put_blocks(out, t, "BlockName=", " Nodes=");
		body_printf(out, "BlockSizes=%" PRIu32 "\n", smallest_leaf(t));
		break;
	case SLURM_YAML:
		body_printf(out, "---\n- topology: tree\n  cluster_default: true\n"
		                 "  tree:\n    switches:\n");
		put_tree(out, t, &yaml_style);
		body_printf(out,
		            "- topology: block\n  cluster_default: false\n"
		            "  block:\n    block_sizes:\n      - %" PRIu32
		            "\n    blocks:\n",
		            smallest_leaf(t));
		put_blocks(out, t, "      - block: ", "\n        nodes: ");
		break;
	}
}

static int write_slurm(const struct export_fabric *x, enum slurm_file file,
                       struct body *out)
{
	struct arena *a = arena_new();
	struct tree t;
	int ret = a != NULL ? tree_build(x, a, &t) : -ENOMEM;

	if (ret == E_OK) {
		put_left_out(out, &t);
		put_file(out, &t, file);
		ret = body_done(out);
	}
	arena_free(a);
	return ret;
}

int export_slurm_tree(const struct export_fabric *x, uint32_t part, struct body *out)
{
	(void)part;
	return write_slurm(x, SLURM_TREE, out);
}

int export_slurm_block(const struct export_fabric *x, uint32_t part, struct body *out)
{
	(void)part;
	return write_slurm(x, SLURM_BLOCK, out);
}

int export_slurm_yaml(const struct export_fabric *x, uint32_t part, struct body *out)
{
	(void)part;
	return write_slurm(x, SLURM_YAML, out);
}

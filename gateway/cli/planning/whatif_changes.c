/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/planning/whatif_changes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/cli/help/command.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

static const char *const flags[] = { "down", "switch", "host", "link" };

enum { N_FLAGS = sizeof(flags) / sizeof(flags[0]) };

/* --- the command line ----------------------------------------------------------------- */

/* The flag that a word is, and its value behind '='. \return NULL: none. */
static const char *flag_of(const char *word, const char **ret_value)
{
	if (strncmp(word, "--", 2) != 0) {
		return NULL;
	}
	for (unsigned i = 0; i < N_FLAGS; i++) {
		size_t len = strlen(flags[i]);

		if (strncmp(word + 2, flags[i], len) == 0 &&
		    (word[2 + len] == '\0' || word[2 + len] == '=')) {
			*ret_value = word[2 + len] == '=' ? word + 3 + len : NULL;
			return flags[i];
		}
	}
	return NULL;
}

int whatif_take_flags(struct whatif_changes *w, int *argc, char **argv)
{
	int kept = 0;
	bool plain = false; /* behind "--" there are no flags */

	for (int i = 0; i < *argc; i++) {
		const char *value = NULL, *flag = NULL;

		plain |= strcmp(argv[i], "--") == 0;
		if (i > 0 && !plain) {
			flag = flag_of(argv[i], &value);
		}
		if (flag == NULL) {
			argv[kept++] = argv[i];
			continue;
		}
		if (value == NULL && i + 1 < *argc) {
			value = argv[++i];
		}
		if (value == NULL) {
			fprintf(stderr, "saguaro whatif: --%s needs a value\n", flag);
			return EXIT_USAGE;
		}
		if (w->n == WHATIF_CHANGES_MAX) {
			fprintf(stderr, "saguaro whatif: more than %d changes at once\n",
			        WHATIF_CHANGES_MAX);
			return EXIT_USAGE;
		}
		w->word[w->n].flag = flag;
		w->word[w->n++].text = value;
	}
	argv[kept] = NULL;
	*argc = kept;
	return EXIT_GOOD;
}

/* --- what the words name -------------------------------------------------------------- */

/* A node of the fabric, or a switch that an earlier word adds. */
struct named {
	uint32_t node; /* GRAPH_NONE: new, */
	uint32_t made; /* by this change */
	unsigned n;    /* how many have the name */
};

struct resolving {
	struct whatif_changes *w;
	const struct graph *g;
	struct arena *a;
	uint32_t at; /* the change that is looked up */
};

static int refuse_word(const struct resolving *x, const char *what, const char *why)
{
	fprintf(stderr, "saguaro whatif: --%s %s: '%s' %s\n", x->w->word[x->at].flag,
	        x->w->word[x->at].text, what, why);
	return EXIT_USAGE;
}

static struct named find_node(const struct resolving *x, const char *text)
{
	struct named found = { .node = GRAPH_NONE };
	uint64_t guid;

	if (text_guid(text, &guid) == E_OK) {
		found.node = graph_node_by_guid(x->g, guid);
		found.n = found.node != GRAPH_NONE;
	}
	bool by_guid = found.n != 0;
	for (uint32_t i = 0; !by_guid && i < x->g->n_nodes; i++) {
		const struct node *n = &x->g->nodes[i];

		if (strcmp(node_name(n), text) == 0 ||
		    strcmp(n->description, text) == 0) {
			found.node = i;
			found.n++;
		}
	}
	for (uint32_t i = 0; found.n == 0 && i < x->at; i++) {
		const struct alteration *c = &x->w->change[i];
		if (c->kind == ALTER_SWITCH && strcmp(c->name, text) == 0) {
			found.made = i;
			found.n = 1;
		}
	}
	return found;
}

static int find_one_node(const struct resolving *x, const char *text,
                         struct named *ret_named)
{
	*ret_named = find_node(x, text);
	return ret_named->n == 1 ? EXIT_GOOD
	       : ret_named->n > 1
	               ? refuse_word(x, text, "names several nodes; use the GUID")
	               : refuse_word(
				 x, text,
				 "is no node of this fabric; 'saguaro nodes' or the topology file has the names");
}

/* "NODE:PORT" */
static int find_port(const struct resolving *x, const char *text,
                     struct altered_port *ret_port)
{
	const char *colon = strrchr(text, ':');
	struct named node;
	uint64_t num;

	if (colon == NULL || text_u64(colon + 1, UINT8_MAX, &num) != E_OK || num == 0) {
		return refuse_word(x, text, "is no port; expected NODE:PORT");
	}
	const char *name = arena_printf(x->a, "%.*s", (int)(colon - text), text);
	if (name == NULL || find_one_node(x, name, &node) != EXIT_GOOD) {
		return EXIT_USAGE;
	}
	unsigned n_ports = node.node != GRAPH_NONE ? x->g->nodes[node.node].n_ports
	                                           : x->w->change[node.made].n_ports;
	if (num > n_ports) {
		return refuse_word(x, text, "is beyond the last port of the node");
	}
	*ret_port = (struct altered_port){
		.port = node.node != GRAPH_NONE
		                ? graph_port(x->g, node.node, (unsigned)num)
		                : GRAPH_NONE,
		.new_node = node.made,
		.num = (uint8_t)num,
	};
	return EXIT_GOOD;
}

/* A node; where none has this name, a port. */
static int resolve_down(struct resolving *x, const char *text, struct alteration *c)
{
	struct named node = find_node(x, text);

	if (node.n == 0 && strrchr(text, ':') != NULL) {
		c->kind = ALTER_PORT_DOWN;
		if (find_port(x, text, &c->a) != EXIT_GOOD) {
			return EXIT_USAGE;
		}
		if (c->a.port == GRAPH_NONE) {
			return refuse_word(x, text, "is a port of a new switch");
		}
		return x->g->ports[c->a.port].peer != GRAPH_NONE
		               ? EXIT_GOOD
		               : refuse_word(x, text, "has no cable");
	}
	if (find_one_node(x, text, &node) != EXIT_GOOD) {
		return EXIT_USAGE;
	}
	c->kind = ALTER_NODE_DOWN;
	c->node = node.node;
	return node.node != GRAPH_NONE ? EXIT_GOOD
	                               : refuse_word(x, text, "is a new switch");
}

/* "NAME=REST" of --switch and --host. */
static int resolve_new(struct resolving *x, const char *text, struct alteration *c)
{
	const char *equals = strrchr(text, '=');
	uint64_t ports;

	if (equals == NULL || equals == text || equals - text > 64) {
		return refuse_word(x, text,
		                   "is not NAME=..., with a name of 1 to 64 bytes");
	}
	c->name = arena_printf(x->a, "%.*s", (int)(equals - text), text);
	if (c->name == NULL) {
		return EXIT_USAGE;
	}
	if (strcmp(x->w->word[x->at].flag, "host") == 0) {
		c->kind = ALTER_HOST;
		return find_port(x, equals + 1, &c->a);
	}
	if (text_u64(equals + 1, 254, &ports) != E_OK || ports == 0) {
		return refuse_word(x, equals + 1, "is no number of ports, 1-254");
	}
	c->kind = ALTER_SWITCH;
	c->n_ports = (uint8_t)ports;
	return EXIT_GOOD;
}

static int resolve_link(struct resolving *x, const char *text, struct alteration *c)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL) {
		return refuse_word(x, text, "is no cable; expected NODE:PORT=NODE:PORT");
	}
	c->kind = ALTER_CABLE;
	const char *a = arena_printf(x->a, "%.*s", (int)(equals - text), text);
	return a != NULL && find_port(x, a, &c->a) == EXIT_GOOD
	               ? find_port(x, equals + 1, &c->b)
	               : EXIT_USAGE;
}

int whatif_resolve(struct whatif_changes *w, const struct graph *g, struct arena *a)
{
	struct resolving x = { .w = w, .g = g, .a = a };
	int status = EXIT_GOOD;

	for (; status == EXIT_GOOD && x.at < w->n; x.at += status == EXIT_GOOD) {
		const char *flag = w->word[x.at].flag, *text = w->word[x.at].text;
		struct alteration *c = &w->change[x.at];

		*c = (struct alteration){ .node = GRAPH_NONE };
		status = strcmp(flag, "down") == 0   ? resolve_down(&x, text, c)
		         : strcmp(flag, "link") == 0 ? resolve_link(&x, text, c)
		                                     : resolve_new(&x, text, c);
	}
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/device_group.h"
#include "routing/engines/dmodc/fattree.h"
#include "routing/graph/node_text.h"

enum { NAMED_MAX = 3, LISTED_MAX = 480 };

/* ---- options without effect ---- */

/* Tiers are found; a count that says otherwise changes nothing. */
static void note_tiers(const struct fattree *f, const struct dmodc_tree *t,
                       struct why *notes)
{
	uint32_t given = f->opt->tier_count;

	/* switches that join nothing are in a tier above or in none */
	if (!given || (given >= t->tiers && given <= t->height + 1)) {
		return;
	}
	why_add(notes,
	        "fattree: fattree_tier_count is %" PRIu32
	        " and is not used, because the fabric has %u tiers%s",
	        given, t->tiers,
	        f->opt->same_tier ? " above its hosts" : " below its core switches");
}

/* ---- what has no tier, or not the one it should ---- */

static void note_high_hosts(const struct fattree *f, const struct dmodc_job *j,
                            struct why *notes)
{
	uint32_t n = 0, first = 0;

	for (uint32_t s = 0; f->opt->same_tier && s < j->t.n; s++) {
		if (j->t.rank[s] && dmodc_hosts_on(j->g, s)) {
			first = n ? first : s;
			n += dmodc_hosts_on(j->g, s);
		}
	}
	if (n) {
		why_add(notes,
		        "fattree: %" PRIu32 " hosts hang above the lowest tier, such as "
		        "those of %s on tier %u; fattree_core_switches with "
		        "fattree_on_same_tier FALSE says where the top is",
		        n, switch_text(j->g, j->lids, first).text, j->t.rank[first] + 1U);
	}
}

/* ---- pairs without a way up and down ---- */

struct unjoined {
	uint64_t switches, hosts; /* pairs */
	uint64_t high;            /* of switches: both above the lowest tier */
	char list[LISTED_MAX];    /* pairs of switches */
	uint64_t n_listed;
};

static void note_unjoined(const struct dmodc_job *j, struct why *notes)
{
	const struct dmodc_tree *t = &j->t;
	struct unjoined u = { .switches = 0 };
	char more[64] = "";

	for (uint32_t i = 0; j->n_unjoined && i < t->n_homes; i++) {
		for (uint32_t k = 0; k < i; k++) {
			uint32_t a = t->home[k], b = t->home[i];

			if (t->part[a] == t->part[b] && !dmodc_reaches(&j->reach, a, b)) {
				size_t at = strlen(u.list);
				int n;

				u.switches++;
				u.hosts += (uint64_t)dmodc_hosts_on(j->g, a) *
				           dmodc_hosts_on(j->g, b);
				u.high += j->t.rank[a] && j->t.rank[b];
				if (u.n_listed + 1 != u.switches) {
					continue; /* some are left out already */
				}
				n = snprintf(u.list + at, sizeof(u.list) - at,
				             "%s%s and %s", at ? ", " : "",
				             switch_text(j->g, j->lids, a).text,
				             switch_text(j->g, j->lids, b).text);
				if ((size_t)n >= sizeof(u.list) - at) {
					u.list[at] = '\0';
				} else {
					u.n_listed++;
				}
			}
		}
	}
	if (u.switches == 0) {
		return;
	}
	if (u.n_listed < u.switches) {
		snprintf(more, sizeof(more), " and %" PRIu64 " more",
		         u.switches - u.n_listed);
	}
	why_add(notes,
	        "fattree: %" PRIu64 " pairs of hosts have no route that climbs, then "
	        "descends; they are led over a line of switches, which has no credit "
	        "loops but few links%s. Between these switches: %s%s",
	        u.hosts,
	        u.high ? "; hosts on core switches should not talk to each other" : "",
	        u.list, more);
}

void fattree_note(const struct fattree *f, const struct dmodc_job *j, struct why *notes)
{
	const struct fattree_options *o = f->opt;
	uint32_t n, first;

	if (o->core && o->same_tier) {
		why_add(notes, "fattree: fattree_core_switches is not used, because "
		               "fattree_on_same_tier is TRUE");
	}
	if (o->last && f->n_last == 0) {
		why_add(notes,
		        "fattree: no host of group '%s' (fattree_route_last) is in the "
		        "fabric",
		        o->last->text);
	}
	note_tiers(f, &j->t, notes);
	n = 0;
	first = 0;
	for (uint32_t s = 0; s < j->t.n; s++) {
		if (j->t.bare[s]) {
			first = n++ ? first : s;
		}
	}
	if (n) {
		why_add(notes,
		        "fattree: %" PRIu32 " switches without hosts join nothing and "
		        "are in no tier, such as %s; traffic passes them only where "
		        "there is no other way",
		        n, switch_text(j->g, j->lids, first).text);
	}
	note_high_hosts(f, j, notes);
	dmodc_note(j, notes);
	note_unjoined(j, notes);
}

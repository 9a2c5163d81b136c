/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/discover/senders.h"

#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "sa/sm/discover/trap.h"

static struct sender *new_sender(struct senders *s, uint32_t lid)
{
	struct sender *new = calloc(1, sizeof(*new));

	if (new == NULL || VECTOR_RESERVE(s->at, s->cap, s->n + 1) != E_OK ||
	    hash_put(&s->by_lid, lid, s->n) != E_OK) {
		free(new);
		return NULL;
	}
	new->lid = lid;
	return s->at[s->n++] = new;
}

struct sender *senders_get(struct senders *s, const struct lids *l, uint32_t lid)
{
	uint32_t port = l != NULL ? trap_owner(l, lid) : GRAPH_NONE;
	struct sender *known;
	uint32_t i;

	if (port == GRAPH_NONE) {
		return &s->others;
	}
	i = hash_get(&s->by_lid, l->of[port].base);
	known = i != HASH_NONE ? s->at[i] : new_sender(s, l->of[port].base);
	return known != NULL ? known : &s->others; /* out of memory */
}

bool senders_milestone(uint32_t n)
{
	while (n > 1 && n % 10 == 0) {
		n /= 10;
	}
	return n == 1;
}

bool senders_forged(struct sender *s)
{
	s->n_forged += s->n_forged < UINT32_MAX;
	return s->n_forged >= 10 && senders_milestone(s->n_forged);
}

void senders_done(struct senders *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->at[i]);
	}
	free(s->at);
	hash_done(&s->by_lid);
	*s = (struct senders){ .n = 0 };
}

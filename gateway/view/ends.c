/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/ends.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/digest.h"
#include "conf/base/err.h"

enum { WAYS = 4 /* places of a text */ };

struct ends_slots {
	uint64_t tag[ENDS_SLOTS]; /* digest of snapshot and text; 0: empty */
	struct {
		struct endpoint found;
		char text[ENDS_TEXT];
	} slot[ENDS_SLOTS];
};

/* Transaction ids begin anew with a new file, but epochs never repeat. */
static void follow(struct ends *e, const struct snap_meta *m)
{
	if (m->epoch != e->epoch || m->txn != e->txn || e->stamp == 0) {
		e->epoch = m->epoch;
		e->txn = m->txn;
		e->stamp++;
	}
}

int ends_find(struct ends *e, struct snap_reader *r, const char *text,
              struct endpoint *ret_endpoint)
{
	size_t len = strlen(text);
	uint64_t tag;
	unsigned at, way;

	follow(e, snap_meta(r));
	if (e->slots == NULL) {
		e->slots = calloc(1, sizeof(*e->slots));
	}
	if (e->slots == NULL || len >= ENDS_TEXT) {
		return endpoint_find(r, text, ret_endpoint);
	}
	tag = digest_bytes(e->stamp, text, len) | 1;
	at = (unsigned)(tag / 2 % (ENDS_SLOTS / WAYS) * WAYS);
	for (way = 0; way < WAYS; way++) {
		if (e->slots->tag[at + way] == tag &&
		    memcmp(e->slots->slot[at + way].text, text, len + 1) == 0) {
			*ret_endpoint = e->slots->slot[at + way].found;
			return E_OK;
		}
	}
	int ret = endpoint_find(r, text, ret_endpoint);
	if (ret == E_OK) {
		at += e->n_kept++ % WAYS;
		e->slots->tag[at] = tag;
		memcpy(e->slots->slot[at].text, text, len + 1);
		e->slots->slot[at].found = *ret_endpoint;
	}
	return ret;
}

void ends_done(struct ends *e)
{
	free(e->slots);
	*e = (struct ends){ .slots = NULL };
}

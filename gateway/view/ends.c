/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/ends.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/digest.h"
#include "conf/base/err.h"

struct ends_slot {
	uint64_t stamp; /* of the snapshot that it was found in; 0: empty */
	char text[ENDS_TEXT];
	struct endpoint found;
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

/* \return NULL: this text is not kept. */
static struct ends_slot *slot_of(struct ends *e, const char *text, size_t len)
{
	if (len >= ENDS_TEXT) {
		return NULL;
	}
	if (e->slot == NULL) {
		e->slot = calloc(ENDS_SLOTS, sizeof(*e->slot));
	}
	return e->slot != NULL ? &e->slot[digest_bytes(0, text, len) % ENDS_SLOTS] : NULL;
}

int ends_find(struct ends *e, struct snap_reader *r, const char *text,
              struct endpoint *ret)
{
	size_t len = strlen(text);
	struct ends_slot *slot = slot_of(e, text, len);

	follow(e, snap_meta(r));
	if (slot != NULL && slot->stamp == e->stamp &&
	    memcmp(slot->text, text, len + 1) == 0) {
		*ret = slot->found;
		return E_OK;
	}
	int err = endpoint_find(r, text, ret);
	if (err == E_OK && slot != NULL) {
		slot->stamp = e->stamp;
		memcpy(slot->text, text, len + 1);
		slot->found = *ret;
	}
	return err;
}

void ends_done(struct ends *e)
{
	free(e->slot);
	*e = (struct ends){ .slot = NULL };
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A copy that cannot be stored, because the disk of the standby is full or broken, pauses. The
 * link is closed, so that the master does not wait, and what could not be stored waits in
 * memory. The standby tries to store it again, more and more seldom. When that succeeds there
 * is room, and it connects again for a new copy, because the master has gone on.
 *
 * The copy is of no use from its pause until it is in step again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "sa/standby/standby_int.h"

void standby_pause_begin(struct standby *l, int ret)
{
	bool is_new;

	l->pause_ms = l->pause_ms ? l->pause_ms : LINK_PAUSE_MIN_MS;
	pthread_mutex_lock(&l->lock);
	is_new = !l->status.paused;
	l->status.paused = true;
	if (is_new) {
		l->news = STANDBY_PAUSED;
	}
	if (ret == E_FULL) {
		snprintf(l->status.trouble, sizeof(l->status.trouble),
		         "the disk is full; free space in the state folder");
	} else {
		snprintf(l->status.trouble, sizeof(l->status.trouble),
		         "it cannot be stored in the state folder: %s", err_text(ret));
	}
	pthread_mutex_unlock(&l->lock);
	if (is_new && l->o.changed != NULL) {
		l->o.changed(l->o.ctx);
	}
}

bool standby_pause_end(struct standby *l, bool in_step)
{
	bool was = l->status.paused, unsaid = l->news == STANDBY_PAUSED;

	l->pause_ms = 0;
	if (was) {
		l->news = in_step && !unsaid ? STANDBY_RESUMED : STANDBY_NO_NEWS;
		l->status.paused = false;
		l->status.tries = 0;
		l->status.trouble[0] = '\0';
	}
	return was && in_step;
}

bool standby_pause_over(struct standby *l)
{
	int ret;

	if (l->pause_ms == 0) {
		return true;
	}
	pthread_mutex_lock(&l->applying);
	ret = l->role == STANDBY_TAKES ? taker_retry(&l->taker, (uint64_t)time(NULL))
	                               : E_OK;
	pthread_mutex_unlock(&l->applying);
	pthread_mutex_lock(&l->lock);
	l->status.tries++;
	pthread_mutex_unlock(&l->lock);
	l->try_ms = monotonic_ms() + l->pause_ms;
	l->pause_ms =
		l->pause_ms < LINK_PAUSE_MAX_MS / 2 ? 2 * l->pause_ms : LINK_PAUSE_MAX_MS;
	return ret == E_OK;
}

enum standby_news standby_news(struct standby *l, char *why, size_t why_bytes)
{
	enum standby_news news;

	if (l == NULL) {
		return STANDBY_NO_NEWS;
	}
	pthread_mutex_lock(&l->lock);
	news = l->news;
	l->news = STANDBY_NO_NEWS;
	if (news == STANDBY_PAUSED) {
		snprintf(why, why_bytes, "%s", l->status.trouble);
	} else if (news == STANDBY_RESUMED) {
		snprintf(why, why_bytes, "%" PRIu64 " rows are copied and stored",
		         l->status.rows);
	}
	pthread_mutex_unlock(&l->lock);
	return news;
}

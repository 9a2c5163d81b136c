/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/standby/standby.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "sa/standby/secret.h"
#include "sa/standby/standby_int.h"

/* --- life cycle ---------------------------------------------------------------------------- */

/* Splits standby_peer into its names. */
static int read_peers(struct standby *l, const char *peers, struct arena *a,
                      const char **ret_why)
{
	char *text = peers != NULL ? arena_strdup(a, peers) : NULL;
	char *rest = NULL;

	for (char *name = text ? strtok_r(text, ", ", &rest) : NULL; name != NULL;
	     name = strtok_r(NULL, ", ", &rest)) {
		const char *colon = strrchr(name, ':');
		char **more =
			realloc(l->peer_names, (l->n_peer_names + 1) * sizeof(*more));

		if (more == NULL) {
			return -ENOMEM;
		}
		l->peer_names = more;
		if (colon == NULL || colon == name || colon[1] == '\0' ||
		    strlen(name) > 250) {
			*ret_why = arena_printf(
				a, "standby_peer '%s': expected HOST:PORT[,HOST:PORT...]",
				name);
			return E_SYNTAX;
		}
		more[l->n_peer_names] = strdup(name);
		if (more[l->n_peer_names] == NULL) {
			return -ENOMEM;
		}
		l->n_peer_names++;
	}
	return E_OK;
}

static int read_secret(struct standby *l, struct arena *a, const char **ret_why)
{
	const uint8_t *secret;
	size_t len;
	int ret;

	if (l->o.secret == NULL) {
		*ret_why =
			"standby_listen and standby_peer need standby_secret, a file with the secret that all subnet managers of the subnet share";
		return E_SYNTAX;
	}
	ret = secret_read(l->o.secret, a, ret_why, &secret, &len);
	if (ret == E_OK) {
		ret = tls_keys_new(secret, len, &l->keys);
		explicit_bzero((void *)secret, len);
	}
	if (ret == -ENOTSUP) {
		*ret_why =
			"this saguarod was built without GnuTLS, so it has no link to a standby; build it with GnuTLS, or take out standby_listen and standby_peer";
	}
	return ret;
}

static void free_parts(struct standby *l)
{
	for (unsigned i = 0; i < l->n_peer_names; i++) {
		free(l->peer_names[i]);
	}
	free(l->peer_names);
	tls_keys_free(l->keys);
	conn_set_free(l->set);
	if (l->listening.fd >= 0) {
		close(l->listening.fd);
	}
	taker_done(&l->taker);
	join_log_done(&l->log);
	conn_bytes_done(&l->txn);
	free(l);
}

static int start(struct standby *l)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&l->applying, NULL);
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->acked, &attr);
	pthread_condattr_destroy(&attr);
	return standby_link_start(l);
}

int standby_new(const struct standby_options *o, struct arena *a, const char **ret_why,
                struct standby **ret_standby)
{
	struct standby *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL) {
		return -ENOMEM;
	}
	l->o = *o;
	l->follower = (struct state_follower){ standby_link_write, standby_link_committed,
		                               standby_link_settle, l };
	l->listening.fd = -1;
	ret = read_secret(l, a, ret_why);
	if (ret == E_OK) {
		ret = read_peers(l, o->peers, a, ret_why);
	}
	if (ret == E_OK && o->listen != NULL) {
		ret = listen_on(o->listen, "standby_listen", a, ret_why, &l->listening);
	}
	if (ret == E_OK) {
		ret = start(l);
	}
	if (ret != E_OK) {
		free_parts(l);
		return ret;
	}
	if (o->listen != NULL) {
		log_info("standby", "standbys may connect to %s", l->listening.address);
	}
	*ret_standby = l;
	return E_OK;
}

void standby_free(struct standby *l)
{
	if (l == NULL) {
		return;
	}
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_cond_broadcast(&l->acked);
	pthread_mutex_unlock(&l->lock);
	conn_set_stop(l->set);
	state_follow_end(l->o.state);
	state_flush(l->o.state); /* whose thread calls the link when rows are stored */
	conn_set_free(l->set);
	l->set = NULL;
	pthread_cond_destroy(&l->acked);
	pthread_mutex_destroy(&l->lock);
	pthread_mutex_destroy(&l->applying);
	free_parts(l);
}

unsigned standby_port(const struct standby *l)
{
	return l->listening.port;
}

/* --- what the fabric thread asks ---------------------------------------------------------- */

void standby_set_role(struct standby *l, enum standby_role role)
{
	if (l != NULL) {
		if (role == STANDBY_GIVES) {
			l->role = (int)role;
			standby_join_follow(l);
		}
		l->role = (int)role;
		loop_wake(conn_loop(l->set));
	}
}

bool standby_hears(struct standby *l)
{
	bool hears;

	if (l == NULL) {
		return false;
	}
	pthread_mutex_lock(&l->lock);
	l->n_heard_at_poll = l->n_heard;
	hears = l->heard_ms != 0 && monotonic_ms() <= l->heard_ms + LINK_HEARD_MS;
	pthread_mutex_unlock(&l->lock);
	return hears;
}

/* Reads a flag under the lock, and clears it. */
static bool take_flag(struct standby *l, bool *flag)
{
	bool was;

	pthread_mutex_lock(&l->lock);
	was = *flag;
	*flag = false;
	pthread_mutex_unlock(&l->lock);
	return was;
}

bool standby_lost(struct standby *l)
{
	return l != NULL && take_flag(l, &l->lost);
}

bool standby_joined(struct standby *l)
{
	return l != NULL && take_flag(l, &l->joined);
}

bool standby_arrived(struct standby *l)
{
	return l != NULL && take_flag(l, &l->arrived);
}

void standby_outlived(struct standby *l)
{
	bool heard;

	if (l == NULL) {
		return;
	}
	pthread_mutex_lock(&l->applying);
	pthread_mutex_lock(&l->lock);
	heard = l->n_heard != l->n_heard_at_poll;
	pthread_mutex_unlock(&l->lock);
	if (heard) { /* since the poll was sent, so the copy is in step again */
		pthread_mutex_unlock(&l->applying);
		return;
	}
	if (l->current) {
		log_message(
			MSG_STANDBY_SILENT, "standby",
			"the master is alive but its link is silent, so the copy of its state lags and is of no use until the link is back");
	}
	l->current = false;
	pthread_mutex_unlock(&l->applying);
}

bool standby_take_over(struct standby *l, uint64_t from, char *why, size_t why_bytes)
{
	const struct taker *t = &l->taker;
	char trouble[sizeof(l->status.trouble)];
	bool usable, paused;

	standby_join_follow(l);
	pthread_mutex_lock(&l->applying);
	l->role = STANDBY_GIVES;
	pthread_mutex_lock(&l->lock);
	paused = l->status.paused;
	memcpy(trouble, l->status.trouble, sizeof(trouble));
	if (paused) { /* there is nothing to copy any more */
		l->status.paused = false;
		l->status.trouble[0] = '\0';
		l->news = STANDBY_NO_NEWS;
	}
	pthread_mutex_unlock(&l->lock);
	usable = l->current && t->guid == from;
	if (usable) {
		snprintf(why, why_bytes,
		         "%" PRIu64 " rows and %" PRIu64 " later transactions",
		         t->copied_rows, t->sequence);
	} else if (t->guid == 0) {
		snprintf(why, why_bytes, "no master has given its state since the start");
	} else if (t->guid != from) {
		snprintf(why, why_bytes,
		         "the last copy is of another master, 0x%016" PRIx64, t->guid);
	} else if (paused) {
		snprintf(why, why_bytes, "the copy pauses, because %s", trouble);
	} else {
		snprintf(
			why, why_bytes,
			t->complete
				? "the copy lags, because the link was lost while the master lived"
				: "the copy is not complete");
	}
	l->current = false;
	if (!usable) { /* the caller drops what clients registered */
		pthread_mutex_lock(&l->lock);
		join_log_drop(
			&l->log,
			": it was registered while we were master before, and no master has taken it");
		pthread_mutex_unlock(&l->lock);
	}
	pthread_mutex_unlock(&l->applying);
	loop_wake(conn_loop(l->set));
	return usable;
}

void standby_status(struct standby *l, struct standby_status *ret_status)
{
	if (l == NULL) {
		*ret_status = (struct standby_status){ 0 };
		return;
	}
	pthread_mutex_lock(&l->lock);
	*ret_status = l->status;
	ret_status->role = (enum standby_role)(int)l->role;
	ret_status->sequence = l->sequence;
	for (const struct peer *p = l->attached; p != NULL; p = p->next) {
		ret_status->n_standbys++;
		ret_status->n_in_step += p->complete && p->acked == l->sequence;
	}
	ret_status->connected = ret_status->n_standbys > 0;
	ret_status->in_step =
		ret_status->connected && ret_status->n_in_step == ret_status->n_standbys;
	if (ret_status->role == STANDBY_TAKES) {
		ret_status->connected = l->heard_ms != 0;
		ret_status->in_step =
			l->heard_ms != 0 && monotonic_ms() <= l->heard_ms + LINK_HEARD_MS;
	}
	pthread_mutex_unlock(&l->lock);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The control socket.
 *
 * The control thread (conf/base/conn.h) appends each line of a connection as a request to `asked`,
 * under a lock. The fabric thread takes them, runs the verb and posts the reply. A
 * request holds the number of its connection, so a reply to a connection that has gone is
 * dropped.
 *
 * A request whose verb waits goes to a list of the fabric thread, which tries it again. While
 * there are any, the control thread wakes the fabric thread at times, so that a time-out is
 * noticed.
 *
 * A connection has at most one request at work. This keeps replies in order and limits what
 * one client can queue.
 */
#include "sa/control/control.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/conn.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "conf/base/log.h"
#include "conf/base/text.h"

static const char source[] = "control";

enum { USER_BYTES = 64 };

struct request {
	struct request *next;
	uint32_t connection;
	char *text; /* the line */
	size_t len;
	uint64_t taken_ms; /* when the fabric thread took it */
	bool unsettled;    /* its reply holds if settle() succeeds */
	char user[USER_BYTES]; /* of the client's process */
};

struct list {
	struct request *first, **end;
};

struct connection {
	struct conn conn; /* first */
	char user[USER_BYTES];
};

struct control {
	struct control_options o;
	char *path;
	gid_t group;
	bool has_group;
	struct conn_set *conns;
	uint64_t checked_ms; /* when requests that wait were looked after; 0: none wait */
	pthread_mutex_t lock;
	struct list asked;  /* under the lock */
	unsigned n_waiting; /* likewise */
	/* of the fabric thread: */
	struct list waiting;
	unsigned waiting_now; /* how many there are */
	uint64_t recheck_ms;  /* when they are tried again */
	uint64_t waited_ms;   /* of the request at work */
	const char *user;     /* likewise */
	bool unsettled;       /* likewise */
	struct list done;     /* replies that wait for settle() */
};

static void list_add(struct list *l, struct request *r)
{
	if (l->end == NULL) {
		l->end = &l->first;
	}
	r->next = NULL;
	*l->end = r;
	l->end = &r->next;
}

static struct request *list_take_all(struct list *l)
{
	struct request *r = l->first;

	l->first = NULL;
	l->end = &l->first;
	return r;
}

static void free_requests(struct request *r)
{
	while (r != NULL) {
		struct request *next = r->next;

		free(r->text);
		free(r);
		r = next;
	}
}

/* ---- who may connect ---- */

/* Is the peer root, the daemon's user, or a member of the group? */
static bool may_connect(const struct control *c, const struct ucred *peer)
{
	char buffer[4096];
	struct passwd pw, *found = NULL;
	gid_t groups[256];
	int n = 256;

	if (peer->uid == 0 || peer->uid == geteuid()) {
		return true;
	}
	if (!c->has_group) {
		return false;
	}
	if (peer->gid == c->group) {
		return true;
	}
	if (getpwuid_r(peer->uid, &pw, buffer, sizeof(buffer), &found) != 0 ||
	    found == NULL || getgrouplist(pw.pw_name, peer->gid, groups, &n) < 0) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (groups[i] == c->group) {
			return true;
		}
	}
	return false;
}

/* The name of the peer's user, or its number where there is no name. */
static void tell_user(const struct ucred *peer, char ret_user[USER_BYTES])
{
	char buffer[4096];
	struct passwd pw, *found = NULL;

	if (getpwuid_r(peer->uid, &pw, buffer, sizeof(buffer), &found) == 0 &&
	    found != NULL) {
		snprintf(ret_user, USER_BYTES, "%s", pw.pw_name);
	} else {
		snprintf(ret_user, USER_BYTES, "user %u", (unsigned)peer->uid);
	}
}

/* ---- the control thread ---- */

static bool admit(struct conn *n)
{
	const struct control *c = conn_ctx(n);
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(n->watch.fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 ||
	    !may_connect(c, &peer)) {
		log_message(
			MSG_CONTROL_REFUSED, source,
			"refused process %d of user %u: only root, the daemon's user and members of the group %s may connect",
			(int)peer.pid, peer.uid, c->o.group ? c->o.group : "(none)");
		return false;
	}
	tell_user(&peer, ((struct connection *)n)->user);
	return true;
}

/* Hands the next whole line of a connection to the fabric thread. */
static int take_line(struct conn *n, uint8_t *data, size_t len, size_t *ret_bytes)
{
	static const char too_long[] =
		"{\"ok\":false,\"error\":\"the request is longer than 1 MiB\"}\n";
	struct control *c = conn_ctx(n);
	const uint8_t *end = memchr(data, '\n', len);
	struct request *r;

	if (end == NULL && len > CONTROL_LINE_BYTES) {
		conn_send(n, too_long, sizeof(too_long) - 1);
		return E_FULL;
	}
	if (end == NULL) {
		return -EAGAIN;
	}
	r = calloc(1, sizeof(*r));
	if (r != NULL) {
		r->text = strndup((const char *)data, (size_t)(end - data));
	}
	if (r == NULL || r->text == NULL) {
		free(r);
		return -ENOMEM;
	}
	r->len = (size_t)(end - data);
	r->connection = n->number;
	memcpy(r->user, ((struct connection *)n)->user, sizeof(r->user));
	*ret_bytes = r->len + 1;
	conn_wait(n);
	pthread_mutex_lock(&c->lock);
	list_add(&c->asked, r);
	pthread_mutex_unlock(&c->lock);
	c->o.wake(c->o.ctx);
	return E_OK;
}

/* While requests wait, the fabric thread is woken at times to try them again. */
static uint64_t turn(void *ctx)
{
	struct control *c = ctx;
	uint64_t now = monotonic_ms();
	bool waits;

	pthread_mutex_lock(&c->lock);
	waits = c->n_waiting > 0;
	pthread_mutex_unlock(&c->lock);
	if (!waits) {
		c->checked_ms = 0;
		return UINT64_MAX;
	}
	if (c->checked_ms != 0 && now >= c->checked_ms + CONTROL_RECHECK_MS) {
		c->o.wake(c->o.ctx);
		c->checked_ms = 0;
	}
	c->checked_ms = c->checked_ms != 0 ? c->checked_ms : now;
	return c->checked_ms + CONTROL_RECHECK_MS;
}

static const struct conn_type lines = {
	.bytes = sizeof(struct connection),
	.most = CONTROL_CONNECTIONS,
	.refusal = "{\"ok\":false,\"error\":\"too many connections; try again later\"}\n",
	.ahead = true,
	.in_bytes = 2 * CONTROL_LINE_BYTES, /* later requests may wait behind one */
	.out_bytes = CONTROL_UNREAD_BYTES,
	.idle_ms = CONTROL_IDLE_S * 1000,
	.stall_ms = CONTROL_IDLE_S * 1000,
	.least_rate = CONTROL_LEAST_RATE,
	.admit = admit,
	.message = take_line,
	.turn = turn,
};

/* ---- the fabric thread ---- */

/* A reply as one line. NULL: out of memory. */
static char *reply_line(json_t *reply, int ret, const char *why)
{
	if (ret != E_OK) {
		json_object_set_new(reply, "error",
		                    json_string(why[0] ? why : err_text(ret)));
	}
	json_object_set_new(reply, "ok", json_boolean(ret == E_OK));
	return json_dumps(reply, JSON_COMPACT);
}

/* The reply to a request, as one line. NULL: out of memory, or (with \a ret_waits) there is none
 * yet. */
static char *run_request(struct control *c, const char *text, size_t len, bool *ret_waits)
{
	char why[400] = "";
	json_error_t error;
	json_t *request = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	json_t *reply = json_object();
	const char *verb = json_string_value(json_object_get(request, "verb"));
	const struct control_verb *v = c->o.verbs;
	int ret = E_SYNTAX;
	char *line = NULL;

	if (request == NULL) {
		snprintf(why, sizeof(why), "not JSON: %s (column %d)", error.text,
		         error.column);
	} else if (!json_is_object(request) || verb == NULL) {
		snprintf(
			why, sizeof(why),
			"a request is an object with a member \"verb\", for instance {\"verb\": \"status\"}");
	} else {
		while (v->name != NULL && strcmp(v->name, verb) != 0) {
			v++;
		}
		if (v->name == NULL) {
			snprintf(why, sizeof(why), "there is no verb '%.60s'", verb);
		} else {
			ret = v->run(c->o.ctx, request, reply, why, sizeof(why));
		}
	}
	*ret_waits = ret == CONTROL_WAIT;
	if (!*ret_waits) {
		line = reply_line(reply, ret, why);
	}
	json_decref(reply);
	json_decref(request);
	return line;
}

void control_unsettled(struct control *c)
{
	c->unsettled = true;
}

uint64_t control_waited_ms(const struct control *c)
{
	return c->waited_ms;
}

void control_user(const struct control *c, const json_t *request, char *ret_text,
                  size_t size)
{
	const char *by = json_string_value(json_object_get(request, "by"));

	if (by != NULL && *by != '\0') {
		snprintf(ret_text, size, "%.63s, HTTP by way of %s", by, c->user);
	} else {
		snprintf(ret_text, size, "%s, control socket", c->user);
	}
	text_printable(ret_text);
}

static char *give_up_waiting(void)
{
	return strdup(
		"{\"ok\":false,\"error\":\"too many requests wait; try again later\",\"code\":\"busy\"}");
}

/* Takes a reply. \param line  malloc; NULL: out of memory. */
static void set_reply(struct request *r, char *line)
{
	static const char out_of_memory[] = "{\"ok\":false,\"error\":\"out of memory\"}";

	line = line != NULL ? line : strdup(out_of_memory);
	free(r->text);
	r->text = line;
	r->len = line ? strlen(line) + 1 : 0;
	if (line != NULL) {
		line[r->len - 1] = '\n'; /* in place of the NUL: the length counts */
	}
}

/* Runs a request. \return false: it waits. */
static bool run_one(struct control *c, struct request *r, unsigned n_waiting)
{
	bool waits;
	char *line;

	c->waited_ms = monotonic_ms() - r->taken_ms;
	c->user = r->user;
	c->unsettled = false;
	line = run_request(c, r->text, r->len, &waits);
	if (waits && n_waiting < CONTROL_WAITING) {
		return false;
	}
	r->unsettled = c->unsettled;
	set_reply(r, waits ? give_up_waiting() : line);
	return true;
}

/* Runs requests; those that wait go to the list of waiting ones. */
static void run_requests(struct control *c, struct request *r)
{
	while (r != NULL) {
		struct request *next = r->next;

		if (!run_one(c, r, c->waiting_now)) {
			list_add(&c->waiting, r);
			c->waiting_now++;
		} else {
			list_add(&c->done, r);
		}
		r = next;
	}
}

/* Keeps the changes of the requests, or makes their replies refusals. */
static void settle_requests(struct control *c)
{
	struct request *r = list_take_all(&c->done), *next;
	json_t *reply = json_object();
	char why[400] = "";
	int ret = c->o.settle != NULL ? c->o.settle(c->o.ctx, reply, why, sizeof(why))
	                              : E_OK;

	for (; r != NULL; r = next) {
		next = r->next;
		if (ret != E_OK && r->unsettled) {
			set_reply(r, reply_line(reply, ret, why));
		}
		(void)conn_post(c->conns, r->connection, r->text, r->len);
		free(r);
	}
	json_decref(reply);
}

void control_dispatch(struct control *c)
{
	const uint64_t now = monotonic_ms();
	struct request *fresh;
	bool begins;

	if (c == NULL) {
		return;
	}
	pthread_mutex_lock(&c->lock);
	fresh = list_take_all(&c->asked);
	pthread_mutex_unlock(&c->lock);
	for (struct request *r = fresh; r != NULL; r = r->next) {
		r->taken_ms = now;
	}
	if (c->o.begin != NULL) {
		c->o.begin(c->o.ctx);
	}
	if (c->waiting_now > 0 && now >= c->recheck_ms) {
		c->recheck_ms = now + CONTROL_RECHECK_MS;
		c->waiting_now = 0;
		run_requests(c, list_take_all(&c->waiting));
	}
	run_requests(c, fresh);
	settle_requests(c);
	pthread_mutex_lock(&c->lock);
	begins = c->waiting_now > 0 && c->n_waiting == 0;
	c->n_waiting = c->waiting_now;
	pthread_mutex_unlock(&c->lock);
	if (begins) {
		loop_wake(conn_loop(c->conns));
	}
}

/* ---- begin and end ---- */

static int open_listener(struct control *c, struct arena *a, const char **ret_why,
                         struct listening *ret_listening)
{
	int ret = listen_on_path(c->path, 0600, "control_socket", a, ret_why,
	                         ret_listening);

	if (ret != E_OK || !c->has_group) {
		return ret;
	}
	if (chown(c->path, (uid_t)-1, c->group) != 0) {
		log_message(
			MSG_CONTROL_NO_GROUP, source,
			"cannot give %s to the group %s: %s; only root and the daemon's user can use it",
			c->path, c->o.group, strerror(errno));
		return E_OK;
	}
	return chmod(c->path, 0660) == 0 ? E_OK : -errno;
}

int control_new(const struct control_options *o, struct arena *a, const char **ret_why,
                struct control **ret_control)
{
	struct control *c = calloc(1, sizeof(*c));
	struct group *group = o->group ? getgrnam(o->group) : NULL;
	struct listening listening = { .fd = -1 };
	int ret;

	*ret_why = NULL;
	if (c == NULL) {
		return -ENOMEM;
	}
	c->o = *o;
	c->path = strdup(o->path);
	c->has_group = group != NULL;
	c->group = group ? group->gr_gid : 0;
	pthread_mutex_init(&c->lock, NULL);
	ret = c->path == NULL ? -ENOMEM : open_listener(c, a, ret_why, &listening);
	if (ret == E_OK) {
		ret = conn_set_new(&lines, c, listening.fd, &c->conns);
		listening.fd = -1;
	}
	if (ret == E_OK) {
		ret = loop_start(conn_loop(c->conns));
	}
	if (ret != E_OK) {
		if (listening.fd >= 0) {
			close(listening.fd);
		}
		conn_set_free(c->conns);
		pthread_mutex_destroy(&c->lock);
		free(c->path);
		free(c);
		return ret;
	}
	*ret_control = c;
	return E_OK;
}

void control_free(struct control *c)
{
	if (c == NULL) {
		return;
	}
	conn_set_stop(c->conns);
	unlink(c->path); /* before its socket is closed, as a new one may come then */
	conn_set_free(c->conns);
	free_requests(c->asked.first);
	free_requests(c->waiting.first);
	free_requests(c->done.first);
	pthread_mutex_destroy(&c->lock);
	free(c->path);
	free(c);
}

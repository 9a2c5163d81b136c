/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The control socket.
 *
 * Two threads meet in two lists under one lock. The control thread (conf/base/loop.h) splits the
 * bytes of a connection into lines and appends each as a request to `asked`. The fabric
 * thread takes them, runs the verb and appends the reply to `answered`. It wakes
 * the control thread, which writes the replies. A request holds the number of its
 * connection, so a reply to a connection that has gone is dropped.
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
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/loop.h"
#include "conf/base/text.h"
#include "conf/base/vector.h"

static const char source[] = "control";

enum { USER_BYTES = 64 };

struct request {
	struct request *next;
	uint64_t connection;
	char *text; /* the line; later the reply with its newline */
	size_t len;
	uint64_t taken_ms; /* when the fabric thread took it */
	bool unsettled;    /* its reply holds if settle() succeeds */
	char user[USER_BYTES]; /* of the client's process */
};

struct list {
	struct request *first, **end;
};

struct connection {
	struct loop_watch watch; /* first */
	struct control *control;
	uint64_t number; /* 0: free */
	bool busy;       /* a request is at work */
	char user[USER_BYTES];
	char *in;
	size_t n_in, cap_in;
	char *out;
	size_t n_out, cap_out;
};

struct control {
	struct control_options o;
	char *path;
	gid_t group;
	bool has_group;
	struct loop *loop;
	struct loop_watch listener;
	uint64_t checked_ms; /* when requests that wait were looked after; 0: none wait */
	pthread_mutex_t lock;
	struct list asked, answered; /* under the lock */
	unsigned n_waiting;          /* likewise */
	/* of the fabric thread: */
	struct list waiting;
	unsigned waiting_now; /* how many there are */
	uint64_t recheck_ms;  /* when they are tried again */
	uint64_t waited_ms;   /* of the request at work */
	const char *user;     /* likewise */
	bool unsettled;       /* likewise */
	struct list done;     /* replies that wait for settle() */
	uint64_t last_number;
	struct connection conn[CONTROL_CONNECTIONS];
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

static void close_connection(struct connection *n)
{
	int fd = n->watch.fd;

	loop_remove(&n->watch);
	close(fd);
	free(n->in);
	free(n->out);
	*n = (struct connection){ .number = 0 };
}

/* Waits for what there is to do. A client whose requests pile up is not read further. */
static void watch_connection(struct connection *n)
{
	loop_events(&n->watch, (n->n_in > CONTROL_LINE_BYTES ? 0U : LOOP_READ) |
	                               (n->n_out > 0 ? LOOP_WRITE : 0U));
}

static void send_now(struct connection *n)
{
	while (n->n_out > 0) {
		ssize_t sent = send(n->watch.fd, n->out, n->n_out,
		                    MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
			break;
		}
		if (sent <= 0) {
			close_connection(n);
			return;
		}
		n->n_out -= (size_t)sent;
		memmove(n->out, n->out + sent, n->n_out);
	}
	watch_connection(n);
}

static void reply_text(struct connection *n, const char *text, size_t len)
{
	if (n->n_out + len > CONTROL_UNREAD_BYTES ||
	    VECTOR_RESERVE(n->out, n->cap_out, n->n_out + len) != E_OK) {
		close_connection(n);
		return;
	}
	memcpy(n->out + n->n_out, text, len);
	n->n_out += len;
	send_now(n);
}

static void reply_error(struct connection *n, const char *why)
{
	json_t *o = json_pack("{s:b, s:s}", "ok", false, "error", why);
	char *text = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	if (text == NULL) {
		close_connection(n);
		return;
	}
	size_t len = strlen(text);

	text[len++] = '\n'; /* in place of the NUL: the length counts */
	reply_text(n, text, len);
	free(text);
}

/* Hands the next whole line of a connection to the fabric thread. */
static void take_line(struct control *c, struct connection *n)
{
	char *end = n->n_in ? memchr(n->in, '\n', n->n_in) : NULL;
	struct request *r;
	size_t len;

	if (n->busy || end == NULL) {
		return;
	}
	len = (size_t)(end - n->in);
	r = calloc(1, sizeof(*r));
	if (r != NULL) {
		r->text = strndup(n->in, len);
	}
	if (r == NULL || r->text == NULL) {
		free(r);
		close_connection(n);
		return;
	}
	r->len = len;
	r->connection = n->number;
	memcpy(r->user, n->user, sizeof(r->user));
	n->busy = true;
	n->n_in -= len + 1;
	memmove(n->in, end + 1, n->n_in);
	pthread_mutex_lock(&c->lock);
	list_add(&c->asked, r);
	pthread_mutex_unlock(&c->lock);
	c->o.wake(c->o.ctx);
	watch_connection(n);
}

static void read_connection(struct control *c, struct connection *n)
{
	ssize_t got;

	if (VECTOR_RESERVE(n->in, n->cap_in, n->n_in + 4096) != E_OK) {
		close_connection(n);
		return;
	}
	got = recv(n->watch.fd, n->in + n->n_in, n->cap_in - n->n_in, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (got <= 0) {
		close_connection(n);
		return;
	}
	n->n_in += (size_t)got;
	loop_deadline(&n->watch, monotonic_ms() + CONTROL_IDLE_S * UINT64_C(1000));
	if (n->n_in > CONTROL_LINE_BYTES && memchr(n->in, '\n', n->n_in) == NULL) {
		reply_error(n, "the request is longer than 1 MiB");
		if (n->number != 0) {
			close_connection(n);
		}
		return;
	}
	take_line(c, n);
	if (n->number != 0) {
		watch_connection(n);
	}
}

static void on_ready(struct loop_watch *w, unsigned events)
{
	struct connection *n = (struct connection *)w;

	if ((events & LOOP_TIME) != 0) {
		if (!n->busy) {
			close_connection(n);
		} else {
			loop_deadline(w, monotonic_ms() + CONTROL_IDLE_S * UINT64_C(1000));
		}
		return;
	}
	if ((events & LOOP_WRITE) != 0) {
		send_now(n);
	}
	if (n->number != 0 && (events & (LOOP_READ | LOOP_HANGUP)) != 0) {
		read_connection(n->control, n);
	}
}

static void accept_connection(struct loop_watch *w, unsigned events)
{
	struct control *c = (struct control *)((char *)w - offsetof(struct control, listener));
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	static const char refusal[] =
		"{\"ok\":false,\"error\":\"too many connections; try again later\"}\n";
	struct ucred peer;
	socklen_t len = sizeof(peer);

	(void)events;
	if (fd < 0) {
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 ||
	    !may_connect(c, &peer)) {
		log_message(
			MSG_CONTROL_REFUSED, source,
			"refused process %d of user %u: only root, the daemon's user and members of the group %s may connect",
			(int)peer.pid, peer.uid, c->o.group ? c->o.group : "(none)");
		close(fd);
		return;
	}
	for (unsigned i = 0; i < CONTROL_CONNECTIONS; i++) {
		struct connection *n = &c->conn[i];

		if (n->number != 0) {
			continue;
		}
		*n = (struct connection){ .watch.ready = on_ready, .control = c };
		if (loop_add(c->loop, &n->watch, fd, LOOP_READ) != E_OK) {
			break;
		}
		n->number = ++c->last_number;
		tell_user(&peer, n->user);
		loop_deadline(&n->watch,
		              monotonic_ms() + CONTROL_IDLE_S * UINT64_C(1000));
		return;
	}
	(void)send(fd, refusal, sizeof(refusal) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static void deliver_replies(struct control *c)
{
	struct request *r, *next;

	pthread_mutex_lock(&c->lock);
	r = list_take_all(&c->answered);
	pthread_mutex_unlock(&c->lock);
	for (; r != NULL; r = next) {
		next = r->next;
		for (unsigned i = 0; i < CONTROL_CONNECTIONS; i++) {
			struct connection *n = &c->conn[i];

			if (n->number != r->connection) {
				continue;
			}
			n->busy = false;
			reply_text(n, r->text, r->len);
			if (n->number != 0) {
				take_line(c, n);
			}
		}
		free(r->text);
		free(r);
	}
}

/* While requests wait, the fabric thread is woken at times to try them again. */
static uint64_t turn(void *ctx)
{
	struct control *c = ctx;
	uint64_t now = monotonic_ms();
	bool waits;

	deliver_replies(c);
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
		line[r->len - 1] = '\n';
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

/* What the requests changed is kept, or their replies become refusals. */
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
		pthread_mutex_lock(&c->lock);
		list_add(&c->answered, r);
		pthread_mutex_unlock(&c->lock);
		loop_wake(c->loop);
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
		loop_wake(c->loop);
	}
}

/* ---- begin and end ---- */

/* Does a process listen on the socket file? */
static bool is_served(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool served =
		fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0;

	if (fd >= 0) {
		close(fd);
	}
	return served;
}

/* \param ret  Closed by the caller, also on failure; -1: none. */
static int open_listener(struct control *c, struct arena *a, const char **ret_why, int *ret_fd)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	mode_t mode = c->has_group ? 0660 : 0600, old;
	int ret;

	if (strlen(c->path) >= sizeof(at.sun_path)) {
		*ret_why = arena_printf(
			a,
			"the path of the control socket is longer than %zu bytes: %s; name another with control_socket",
			sizeof(at.sun_path) - 1, c->path);
		return -ENAMETOOLONG;
	}
	strcpy(at.sun_path, c->path);
	if (is_served(&at)) {
		*ret_why = arena_printf(a, "another process listens on %s", c->path);
		return -EADDRINUSE;
	}
	unlink(c->path);
	*ret_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The file must never be open to more than it should, not even for a moment. */
	old = umask(0177);
	ret = *ret_fd < 0 ? -errno
	      : bind(*ret_fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	                      listen(*ret_fd, 16) != 0
	              ? -errno
	              : E_OK;
	umask(old);
	if (ret != E_OK) {
		*ret_why = arena_printf(a, "cannot listen on %s: %s", c->path,
		                        strerror(-ret));
		return ret;
	}
	if (c->has_group && chown(c->path, (uid_t)-1, c->group) != 0) {
		log_message(
			MSG_CONTROL_NO_GROUP, source,
			"cannot give %s to the group %s: %s; only root and the daemon's user can use it",
			c->path, c->o.group, strerror(errno));
		mode = 0600;
	}
	return chmod(c->path, mode) == 0 ? E_OK : -errno;
}

int control_new(const struct control_options *o, struct arena *a, const char **ret_why,
                struct control **ret_control)
{
	struct control *c = calloc(1, sizeof(*c));
	struct group *group = o->group ? getgrnam(o->group) : NULL;
	int ret, fd = -1;

	*ret_why = NULL;
	if (c == NULL) {
		return -ENOMEM;
	}
	c->o = *o;
	c->path = strdup(o->path);
	c->has_group = group != NULL;
	c->group = group ? group->gr_gid : 0;
	c->listener.ready = accept_connection;
	pthread_mutex_init(&c->lock, NULL);
	ret = c->path == NULL ? -ENOMEM : open_listener(c, a, ret_why, &fd);
	if (ret == E_OK) {
		ret = loop_new(&(struct loop_options){ .turn = turn, .ctx = c }, &c->loop);
	}
	if (ret == E_OK) {
		ret = loop_add(c->loop, &c->listener, fd, LOOP_READ);
	}
	if (ret == E_OK) {
		ret = loop_start(c->loop);
	}
	if (ret != E_OK) {
		if (fd >= 0) {
			close(fd);
		}
		loop_free(c->loop);
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
	loop_stop(c->loop);
	for (unsigned i = 0; i < CONTROL_CONNECTIONS; i++) {
		if (c->conn[i].number != 0) {
			close_connection(&c->conn[i]);
		}
	}
	free_requests(c->asked.first);
	free_requests(c->waiting.first);
	free_requests(c->done.first);
	free_requests(c->answered.first);
	unlink(c->path);
	close(c->listener.fd);
	loop_free(c->loop);
	pthread_mutex_destroy(&c->lock);
	free(c->path);
	free(c);
}

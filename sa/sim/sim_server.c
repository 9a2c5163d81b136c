/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "sa/sim/sim_control.h"
#include "sa/sim/sim_server_int.h"
#include "sa/sim/sim_socket.h"
#include "sa/sim/sim_state.h"

/*
 * The server of saguaro-sim. One turn of its loop reads the sockets, handles the events of the
 * fabric that are due, writes the files of hosts that changed, and then delivers MADs to
 * programs. So a program that is notified of a change finds it in its files.
 */

/* --- connections ------------------------------------------------------------------ */

struct sim_conn *sim_conn_new(struct sim_server *v, int fd, enum conn_kind kind)
{
	struct sim_conn *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		return NULL;
	}
	c->kind = (uint8_t)kind;
	if (conn_add(v->conns, &c->conn, fd, NULL) != E_OK) {
		free(c);
		return NULL;
	}
	return c;
}

static int on_opened(struct conn *conn)
{
	struct sim_conn *c = (struct sim_conn *)conn;

	c->v = conn_ctx(conn);
	c->port = GRAPH_NONE;
	return E_OK;
}

static struct sim_conn *issm_holder(struct sim_server *v, uint32_t port, bool waits)
{
	for (struct conn *n = conn_first(v->conns); n != NULL; n = n->next) {
		struct sim_conn *c = (struct sim_conn *)n;

		if (c->kind == CONN_ISSM && c->port == port && c->waits == waits) {
			return c;
		}
	}
	return NULL;
}

static void issm_gone(struct sim_conn *c)
{
	struct sim_server *v = c->v;
	if (c->waits) {
		return;
	}
	c->kind = CONN_INFO;
	struct sim_conn *next = issm_holder(v, c->port, true);
	if (next == NULL) {
		kernel_issm(v->kernel, c->port, false);
		return;
	}
	next->waits = false;
	sim_conn_welcome(next, 0, "", -1);
}

static void on_closed(struct conn *conn, int ret)
{
	struct sim_conn *c = (struct sim_conn *)conn;

	(void)ret;
	if (c->kind == CONN_ISSM) {
		issm_gone(c);
	}
	if (c->device != NULL) {
		device_gone(c);
	}
}

void sim_conn_close(struct sim_conn *c)
{
	conn_close(&c->conn, -ECONNRESET);
}

void sim_conn_welcome(struct sim_conn *c, int ret, const char *text, int along)
{
	struct sim_welcome w = { .error = ret };
	snprintf(w.text, sizeof(w.text), "%s", text);
	if (sim_socket_put(c->conn.watch.fd, &w, sizeof(w), NULL, 0, along,
	                   MSG_DONTWAIT) != 0) {
		sim_conn_close(c);
	}
}

/* --- hosts ------------------------------------------------------------------------ */

static struct sim_host *host_add(struct sim_server *v, const uint32_t *nodes, unsigned n,
                                 char *why)
{
	char dir[160];
	struct sim_host *h;

	if (VECTOR_RESERVE(v->hosts, v->cap_hosts, v->n_hosts + 1) != E_OK) {
		snprintf(why, SIM_NAME_WHY, "the simulator is out of memory");
		return NULL;
	}
	snprintf(dir, sizeof(dir), "%s/%u", v->dir, v->n_hosts);
	int ret = sim_host_new(v->s, dir, nodes, n, &h);
	if (ret != E_OK) {
		snprintf(why, SIM_NAME_WHY, "cannot write the host's files in %s: %s",
		         dir, err_text(ret));
		return NULL;
	}
	v->hosts[v->n_hosts++] = h;
	return h;
}

static struct sim_host *host_of(struct sim_server *v, const struct sim_hello *h,
                                char *why)
{
	uint32_t nodes[SIM_HOST_NODES];
	unsigned n;
	if (sim_name_host(v->g, h->host, nodes, &n, why) != E_OK) {
		return NULL;
	}
	for (unsigned i = 0; i < v->n_hosts; i++) {
		if (sim_host_is(v->hosts[i], nodes, n)) {
			return v->hosts[i];
		}
	}
	return host_add(v, nodes, n, why);
}

static void issm_open(struct sim_conn *c, uint32_t port, bool wait)
{
	bool busy = issm_holder(c->v, port, false) != NULL;
	if (busy && !wait) {
		sim_conn_welcome(c, EAGAIN, "another subnet manager has the device open",
		                 -1);
		return;
	}
	c->kind = CONN_ISSM;
	c->port = port;
	c->waits = busy;
	if (!busy) {
		kernel_issm(c->v->kernel, port, true);
		sim_conn_welcome(c, 0, "", -1);
	}
}

static void open_host(struct sim_conn *c, const struct sim_hello *h)
{
	char why[SIM_NAME_WHY];
	struct sim_host *host = host_of(c->v, h, why);
	if (host == NULL) {
		sim_conn_welcome(c, ENODEV, why, -1);
		return;
	}
	uint32_t port = sim_host_port(host, h->number);
	if (h->kind == SIM_HOST_INFO) {
		c->kind = CONN_INFO;
		sim_conn_welcome(c, 0, sim_host_dir(host), -1);
	} else if (port == GRAPH_NONE) {
		sim_conn_welcome(c, ENXIO, "this host has no device of that number", -1);
	} else if (h->kind == SIM_UMAD) {
		device_open(c, port);
	} else {
		issm_open(c, port, h->wait != 0);
	}
}

static void read_hello(struct sim_conn *c)
{
	struct sim_hello h;
	struct ucred cred;
	socklen_t size = sizeof(cred);
	ssize_t n = sim_socket_get(c->conn.watch.fd, &h, sizeof(h), NULL, 0, NULL,
	                           MSG_DONTWAIT);

	if (n == -EAGAIN || n == -EINTR) {
		return;
	}
	if (n != sizeof(h) || h.magic != SIM_MAGIC) {
		sim_conn_close(c);
		return;
	}
	h.host[sizeof(h.host) - 1] = '\0';
	if (getsockopt(c->conn.watch.fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0) {
		c->pid = cred.pid;
	}
	if (h.version != SIM_VERSION) {
		sim_conn_welcome(
			c, EPROTO,
			"saguaro-sim and its preload library are of different versions; install both from one build",
			-1);
	} else if (h.kind == SIM_CONTROL) {
		c->kind = CONN_CONTROL;
		sim_conn_welcome(c, 0, "", -1);
	} else if (h.kind <= SIM_ISSM) {
		open_host(c, &h);
	} else {
		sim_conn_close(c);
	}
}

/* --- control ---------------------------------------------------------------------- */

static void list_clients(void *ctx, FILE *out)
{
	const struct sim_server *v = ctx;
	for (const struct conn *conn = conn_first(v->conns); conn != NULL;
	     conn = conn->next) {
		const struct sim_conn *c = (const struct sim_conn *)conn;

		if (c->kind != CONN_UMAD && c->kind != CONN_ISSM) {
			continue;
		}
		const struct port *p = &v->g->ports[c->port];
		const struct node *n = &v->g->nodes[p->node];
		fprintf(out, "%s process %d at \"%s\"[%u]\n",
		        c->kind == CONN_UMAD ? "umad" : "issm", (int)c->pid,
		        n->id != NULL ? n->id : n->description, p->num);
	}
}

static void stop_from_control(void *ctx)
{
	conn_set_stop(((struct sim_server *)ctx)->conns);
}

static void refresh_hosts(struct sim_server *v)
{
	uint64_t changes = sim_changes(v->s);
	if (changes == v->changes) {
		return;
	}
	v->changes = changes;
	for (unsigned i = 0; i < v->n_hosts; i++) {
		sim_host_refresh(v->hosts[i]);
	}
}

/* Runs a command. The reply is an int32_t, 0 or 1, and a memory file with the text. */
static void run_control(struct sim_conn *c, const char *line)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct sim_control control = {
		.sim = c->v->s,
		.g = c->v->g,
		.clients = list_clients,
		.stop = stop_from_control,
		.ctx = c->v,
	};
	if (out == NULL) {
		sim_conn_close(c);
		return;
	}
	int32_t bad = sim_control(&control, line, out) != E_OK;
	fclose(out);
	refresh_hosts(
		c->v); /* before the reply, so that it finds the change in the files */
	int memory = sim_socket_memory(text, len);
	if (memory < 0 || sim_socket_put(c->conn.watch.fd, &bad, sizeof(bad), NULL, 0,
	                                 memory, MSG_DONTWAIT) != 0) {
		sim_conn_close(c);
	}
	if (memory >= 0) {
		close(memory);
	}
	free(text);
}

static void control(struct sim_conn *c)
{
	static char line[SIM_LINE_BYTES + 1];
	ssize_t n = sim_socket_get(c->conn.watch.fd, line, SIM_LINE_BYTES, NULL, 0, NULL,
	                           MSG_DONTWAIT);

	if (n == -EAGAIN || n == -EINTR) {
		return;
	}
	if (n <= 0 || n > SIM_LINE_BYTES) {
		sim_conn_close(c);
		return;
	}
	line[n] = '\0';
	run_control(c, line);
}

/* --- the loop --------------------------------------------------------------------- */

static void on_more(struct conn *conn)
{
	struct sim_conn *c = (struct sim_conn *)conn;

	if (c->device != NULL) {
		device_readable(c->device);
	}
}

static void on_readable(struct conn *conn)
{
	struct sim_conn *c = (struct sim_conn *)conn;

	switch ((enum conn_kind)c->kind) {
	case CONN_NEW: read_hello(c); break;
	case CONN_UMAD: device_call(c); break;
	case CONN_DATA: device_data(c); break;
	case CONN_CONTROL: control(c); break;
	case CONN_INFO:
	case CONN_ISSM: sim_conn_close(c); break; /* the other end closed it */
	}
}

/* What is due on the fabric, and the programs that get something of it. */
static uint64_t turn(void *ctx)
{
	struct sim_server *v = ctx;
	uint64_t next_us = kernel_run(v->kernel, UINT64_MAX);

	refresh_hosts(v);
	for (struct sim_device *d; (d = v->ready) != NULL;) {
		v->ready = d->next_ready;
		d->ready = false;
		device_flush(d);
	}
	return next_us < UINT64_MAX - 999 ? (next_us + 999) / 1000 : UINT64_MAX;
}

static const struct conn_type packets = {
	.bytes = sizeof(struct sim_conn),
	.opened = on_opened,
	.readable = on_readable,
	.more = on_more,
	.closed = on_closed,
	.turn = turn,
};

int sim_server_run(struct sim_server *v)
{
	return loop_run(conn_loop(v->conns));
}

void sim_server_stop(struct sim_server *v)
{
	conn_set_stop(v->conns);
}

/* --- start and end ---------------------------------------------------------------- */

/* Removes what a killed server left. \retval E_LOCKED  A server uses the socket. */
static int clear_path(struct sim_server *v)
{
	struct sim_hello h = { .kind = SIM_CONTROL };
	struct sim_welcome w;
	int fd = sim_socket_call(v->path, &h, &w, NULL);
	if (fd >= 0) {
		close(fd);
		return E_LOCKED;
	}
	if (fd == -ECONNREFUSED) {
		unlink(v->path);
	} else if (fd != -ENOENT) {
		return E_LOCKED;
	}
	sim_tree_remove(v->dir);
	return E_OK;
}

static int start_server(struct sim_server *v, const char *path, char *why)
{
	enum { BACKLOG = 1024 };
	if (strlen(path) >= sizeof(v->path)) {
		snprintf(
			why, SIM_SERVER_WHY,
			"the socket's path is longer than %zu characters; choose a shorter one with --socket",
			sizeof(v->path) - 1);
		return -ENAMETOOLONG;
	}
	snprintf(v->path, sizeof(v->path), "%s", path);
	snprintf(v->dir, sizeof(v->dir), "%s.hosts", path);
	int ret = clear_path(v);
	if (ret != E_OK) {
		snprintf(
			why, SIM_SERVER_WHY,
			"%s is in use by another simulator; choose another with --socket",
			path);
		v->path[0] = '\0'; /* not ours to remove */
		return ret;
	}
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	memcpy(address.sun_path, v->path, sizeof(v->path));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, BACKLOG) != 0 || mkdir(v->dir, 0755) != 0) {
		ret = -errno;
	}
	if (ret == E_OK) {
		ret = conn_set_new(&packets, v, fd, &v->conns);
	} else if (fd >= 0) {
		close(fd);
	}
	if (ret != E_OK) {
		snprintf(why, SIM_SERVER_WHY, "cannot listen on %s: %s", path,
		         err_text(ret));
	}
	return ret;
}

int sim_server_new(struct sim *s, const struct graph *g, const char *path, char *ret_why,
                   struct sim_server **ret_server)
{
	struct sim_server *v = calloc(1, sizeof(*v));
	if (v == NULL) {
		snprintf(ret_why, SIM_SERVER_WHY, "out of memory");
		return -ENOMEM;
	}
	v->s = s;
	v->g = g;
	int r = kernel_new(s, device_readable, &v->kernel);
	if (r != E_OK) {
		snprintf(ret_why, SIM_SERVER_WHY, "out of memory");
	} else {
		r = start_server(v, path, ret_why);
	}
	if (r != E_OK) {
		sim_server_free(v);
		return r;
	}
	*ret_server = v;
	return E_OK;
}

void sim_server_free(struct sim_server *v)
{
	if (v == NULL) {
		return;
	}
	conn_set_free(v->conns);
	for (unsigned i = 0; i < v->n_hosts; i++) {
		sim_host_free(v->hosts[i]);
	}
	free(v->hosts);
	kernel_free(v->kernel);
	if (v->path[0] != '\0') {
		unlink(v->path);
		sim_tree_remove(v->dir);
	}
	free(v);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"

enum { BACKLOG = 512 };

/* Cuts "ADDR:PORT" or "[ADDR]:PORT". */
static int split(const char *text, char *host, size_t room, char *port, size_t port_room)
{
	const char *colon = strrchr(text, ':');
	const char *begin = text, *end = colon;
	uint64_t number;

	if (colon == NULL || colon == text ||
	    text_u64(colon + 1, UINT16_MAX, &number) != E_OK) {
		return E_SYNTAX;
	}
	if (text[0] == '[') {
		begin++;
		end--;
		if (*end != ']') {
			return E_SYNTAX;
		}
	} else if (memchr(text, ':', (size_t)(colon - text)) != NULL) {
		return E_SYNTAX; /* an IPv6 address without brackets */
	}
	if (end <= begin || (size_t)(end - begin) >= room) {
		return E_SYNTAX;
	}
	snprintf(host, room, "%.*s", (int)(end - begin), begin);
	snprintf(port, port_room, "%u", (unsigned)number);
	return E_OK;
}

static const char *remedy(int ret)
{
	switch (ret) {
	case EADDRINUSE:
		return "another program listens there; stop it, or give another ADDR:PORT with";
	case EACCES: return "ports under 1024 need a privilege; give a higher port with";
	case EADDRNOTAVAIL:
		return "this machine has no such address; give one of its own with";
	}
	return "give another ADDR:PORT with";
}

static void describe(struct listening *l)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage room;
	} a = { .room = { .ss_family = AF_UNSPEC } };
	socklen_t len = sizeof(a);
	char text[INET6_ADDRSTRLEN] = "?";

	getsockname(l->fd, &a.any, &len);
	if (a.any.sa_family == AF_UNIX) { /* whoever may open it is on this machine */
		l->port = 0;
		l->loopback = true;
		snprintf(l->address, sizeof(l->address), "localhost (a Unix socket)");
		return;
	}
	if (a.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof(text));
		l->port = ntohs(a.v6.sin6_port);
		l->loopback = IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
		snprintf(l->address, sizeof(l->address), "[%s]:%u", text, l->port);
		return;
	}
	inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof(text));
	l->port = ntohs(a.v4.sin_port);
	l->loopback = ntohl(a.v4.sin_addr.s_addr) >> 24 == 127;
	snprintf(l->address, sizeof(l->address), "%s:%u", text, l->port);
}

static int bind_one(const struct addrinfo *ai, int *ret_fd)
{
	int one = 1;
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0) {
		return -errno;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
		int ret = -errno;
		close(fd);
		return ret;
	}
	*ret_fd = fd;
	return E_OK;
}

int listen_on(const char *text, const char *option, struct arena *a, const char **ret_why,
              struct listening *ret_listening)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	struct listening l = { .fd = -1 };
	char host[256], port[8];

	if (split(text, host, sizeof(host), port, sizeof(port)) != E_OK) {
		*ret_why = arena_printf(
			a,
			"cannot listen on '%s': expected ADDR:PORT, for instance 127.0.0.1:8620 or [::1]:8620",
			text);
		return E_SYNTAX;
	}
	int ret = getaddrinfo(host, port, &hints, &list);
	if (ret != 0) {
		*ret_why = arena_printf(
			a,
			"cannot listen on %s: '%s' is no address or host name of this machine (%s)",
			text, host, gai_strerror(ret));
		return E_SYNTAX;
	}
	ret = -EADDRNOTAVAIL;
	for (const struct addrinfo *ai = list; ai != NULL && l.fd < 0; ai = ai->ai_next) {
		ret = bind_one(ai, &l.fd);
	}
	freeaddrinfo(list);
	if (ret != E_OK) {
		*ret_why = arena_printf(a, "cannot listen on %s: %s; %s %s", text,
		                        strerror(-ret), remedy(-ret), option);
		return ret;
	}
	describe(&l);
	*ret_listening = l;
	return E_OK;
}

/* Removes the file of a socket on which nobody listens. */
static int remove_stale(const struct sockaddr_un *at)
{
	struct stat st;

	if (lstat(at->sun_path, &st) != 0) {
		return errno == ENOENT ? E_OK : -errno;
	}
	if (!S_ISSOCK(st.st_mode)) {
		return -EEXIST;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool served = fd >= 0 &&
	              connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0;

	if (fd >= 0) {
		close(fd);
	}
	if (served) {
		return -EADDRINUSE;
	}
	return unlink(at->sun_path) == 0 ? E_OK : -errno;
}

int listen_on_path(const char *path, mode_t mode, const char *option, struct arena *a,
                   const char **ret_why, struct listening *ret_listening)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct listening l = { .fd = -1 };
	int ret = strlen(path) < sizeof(at.sun_path) ? E_OK : -ENAMETOOLONG;

	if (ret == E_OK) {
		strcpy(at.sun_path, path);
		ret = remove_stale(&at);
	}
	if (ret == E_OK) {
		l.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		mode_t old = umask(0177); /* never open to more than it should be */
		ret = l.fd < 0 || bind(l.fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
		                      chmod(path, mode) != 0 || listen(l.fd, BACKLOG) != 0
		              ? -errno
		              : E_OK;
		umask(old);
	}
	if (ret != E_OK) {
		if (l.fd >= 0) {
			close(l.fd);
		}
		*ret_why =
			ret == -EADDRINUSE
				? arena_printf(
					  a,
					  "another process listens on %s; give another path with %s",
					  path, option)
				: arena_printf(
					  a,
					  "cannot listen on %s: %s; give another path with %s",
					  path, strerror(-ret), option);
		return ret;
	}
	describe(&l);
	*ret_listening = l;
	return E_OK;
}

void listen_take(int fd, struct listening *ret_listening)
{
	*ret_listening = (struct listening){ .fd = fd };
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	describe(ret_listening);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/control_client.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"

enum { REPLY_MAX = 64 << 20, STEP = 16384 };

struct text {
	char *data;
	size_t len, cap;
};

static int connect_to(const char *path, int *ret_fd)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(at.sun_path)) {
		return -ENAMETOOLONG;
	}
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
		int ret = -errno;

		if (fd >= 0) {
			close(fd);
		}
		return ret;
	}
	*ret_fd = fd;
	return E_OK;
}

/* Waits until the socket can be read or written. deadline_ms 0: for ever. */
static int wait_until(int fd, short events, uint64_t deadline_ms)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = events };
		uint64_t now = monotonic_ms();
		int timeout = -1;

		if (deadline_ms != 0) {
			timeout = deadline_ms > now ? (int)(deadline_ms - now) : 0;
		}
		int n = poll(&p, 1, timeout);
		if (n > 0) {
			return E_OK;
		}
		if (n == 0) {
			return E_TIMEOUT;
		}
		if (errno != EINTR) {
			return -errno;
		}
	}
}

static int send_all(int fd, const char *data, size_t len, uint64_t deadline_ms)
{
	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
			continue;
		}
		int ret = errno == EAGAIN  ? wait_until(fd, POLLOUT, deadline_ms)
		          : errno == EINTR ? E_OK
		                           : -errno;
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

/* Reads the line of the reply. */
static int receive_line(int fd, uint64_t deadline_ms, struct text *t)
{
	for (;;) {
		if (t->len > REPLY_MAX) {
			return E_FULL;
		}
		if (VECTOR_RESERVE(t->data, t->cap, t->len + STEP) != E_OK) {
			return -ENOMEM;
		}
		int ret = wait_until(fd, POLLIN, deadline_ms);
		if (ret != E_OK) {
			return ret;
		}
		ssize_t n = recv(fd, t->data + t->len, t->cap - t->len, MSG_DONTWAIT);
		if (n == 0) {
			return E_MALFORMED;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			return -errno;
		}
		if (n > 0) {
			bool whole = memchr(t->data + t->len, '\n', (size_t)n) != NULL;

			t->len += (size_t)n;
			if (whole) {
				return E_OK;
			}
		}
	}
}

int control_ask(const char *path, const json_t *request, unsigned timeout_ms,
                json_t **ret_reply)
{
	uint64_t deadline_ms = timeout_ms != 0 ? monotonic_ms() + timeout_ms : 0;
	char *line = json_dumps(request, JSON_COMPACT);
	struct text t = { .len = 0 };
	json_t *reply;
	int fd = -1, ret;

	if (line == NULL) {
		return -ENOMEM;
	}
	ret = connect_to(path, &fd);
	if (ret != E_OK) {
		free(line);
		return ret;
	}
	ret = send_all(fd, line, strlen(line), deadline_ms);
	if (ret == E_OK) {
		ret = send_all(fd, "\n", 1, deadline_ms);
	}
	if (ret == E_OK) {
		ret = receive_line(fd, deadline_ms, &t);
	}
	close(fd);
	free(line);
	if (ret == E_OK) {
		reply = json_loadb(t.data, t.len, JSON_DISABLE_EOF_CHECK, NULL);
		if (json_is_object(reply)) {
			*ret_reply = reply;
		} else {
			json_decref(reply);
			ret = E_MALFORMED;
		}
	}
	free(t.data);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATH_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path) };

void sim_socket_path(char *buf)
{
	const char *own = getenv(SIM_SOCKET_ENV);
	const char *dir = getenv("XDG_RUNTIME_DIR");

	if (own != NULL && own[0] != '\0') {
		snprintf(buf, PATH_BYTES, "%s", own);
	} else if (dir != NULL && dir[0] != '\0') {
		snprintf(buf, PATH_BYTES, "%s/saguaro-sim.sock", dir);
	} else {
		snprintf(buf, PATH_BYTES, "/tmp/saguaro-sim-%u.sock", (unsigned)getuid());
	}
}

int sim_socket_put(int fd, const void *head, size_t head_len, const void *body,
                   size_t body_len, int along, int flags)
{
	struct iovec iov[2] = { { (void *)head, head_len }, { (void *)body, body_len } };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = body_len > 0 ? 2 : 1 };

	if (along >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &along, sizeof(along));
	}
	ssize_t n;
	do {
		n = sendmsg(fd, &m, flags | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

ssize_t sim_socket_get(int fd, void *head, size_t head_len, void *body, size_t body_len,
                       int *ret_along, int flags)
{
	struct iovec iov[2] = { { head, head_len }, { body, body_len } };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = body_len > 0 ? 2 : 1 };

	if (ret_along != NULL) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		*ret_along = -1;
	}
	ssize_t n = recvmsg(fd, &m, flags | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	if (n < 0) {
		return -errno;
	}
	if (ret_along != NULL) {
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
			    c->cmsg_len == CMSG_LEN(sizeof(int))) {
				memcpy(ret_along, CMSG_DATA(c), sizeof(*ret_along));
			}
		}
	}
	return n;
}

int sim_socket_memory(const void *data, size_t len)
{
	int fd = memfd_create("saguaro-sim", MFD_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	for (size_t done = 0; done < len;) {
		ssize_t n =
			pwrite(fd, (const char *)data + done, len - done, (off_t)done);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			int ret = n < 0 ? errno : ENOSPC;
			close(fd);
			return -ret;
		}
		done += (size_t)n;
	}
	return fd;
}

int sim_socket_memory_read(int fd, size_t most, void **ret_data, size_t *ret_len)
{
	struct stat st;
	if (fstat(fd, &st) != 0) {
		return -errno;
	}
	if (st.st_size < 0 || (uint64_t)st.st_size > most) {
		return -EFBIG;
	}
	size_t len = (size_t)st.st_size;
	char *data = malloc(len + 1);
	if (data == NULL) {
		return -ENOMEM;
	}
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, data + done, len - done, (off_t)done);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) { /* the file was truncated while it was read */
			free(data);
			return -EIO;
		}
		done += (size_t)n;
	}
	data[len] = '\0';
	*ret_data = data;
	*ret_len = len;
	return 0;
}

int sim_socket_put_mad(int fd, const void *header, const void *mad, size_t len, int flags)
{
	if (len <= SIM_INLINE_BYTES) {
		return sim_socket_put(fd, header, SIM_HEADER_BYTES, mad, len, -1, flags);
	}
	int memory = sim_socket_memory(mad, len);
	if (memory < 0) {
		return memory;
	}
	int ret = sim_socket_put(fd, header, SIM_HEADER_BYTES, NULL, 0, memory, flags);
	close(memory);
	return ret;
}

static int explain_failure(struct sim_welcome *w, int ret, const char *path)
{
	const char *remedy =
		ret == ENOENT || ret == ECONNREFUSED
			? "start one with 'saguaro-sim FILE', or name its socket in " SIM_SOCKET_ENV
			: "see " SIM_SOCKET_ENV " and the socket's permissions";
	w->error = ret;
	snprintf(w->text, sizeof(w->text), "no simulator at %s (%s): %s", path,
	         strerror(ret), remedy);
	return -ret;
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(a.sun_path)) {
		return -ENAMETOOLONG;
	}
	memcpy(a.sun_path, path, strlen(path));
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) != 0) {
		int ret = errno;
		close(fd);
		return -ret;
	}
	return fd;
}

int sim_socket_call(const char *path, const struct sim_hello *hello,
                    struct sim_welcome *ret_welcome, int *ret_data)
{
	struct sim_hello h = *hello;
	int along = -1;
	int fd = connect_to(path);

	if (fd < 0) {
		return explain_failure(ret_welcome, -fd, path);
	}
	h.magic = SIM_MAGIC;
	h.version = SIM_VERSION;
	int ret = sim_socket_put(fd, &h, sizeof(h), NULL, 0, -1, 0);
	ssize_t n = ret == 0 ? sim_socket_get(fd, ret_welcome, sizeof(*ret_welcome), NULL,
	                                      0, &along, 0)
	                     : ret;
	if (n != sizeof(*ret_welcome)) {
		ret = n < 0 ? (int)-n : EPROTO;
		explain_failure(ret_welcome, ret, path);
	} else {
		ret = ret_welcome->error;
		ret_welcome->text[sizeof(ret_welcome->text) - 1] = '\0';
	}
	if (ret_data != NULL && ret == 0) {
		*ret_data = along;
	} else if (along >= 0) {
		close(along);
	}
	if (ret != 0) {
		close(fd);
		return -ret;
	}
	return fd;
}

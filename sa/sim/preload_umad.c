/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_mad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sa/sim/sim_socket.h"

/*
 * umad devices of a program under the simulator.
 *
 * The program's descriptor is the data socket itself. A table by descriptor has the rest: the
 * connection for calls, the registered agents (so that write() can refuse what the kernel
 * would refuse), and the size of the header that the program uses. Only descriptors below
 * TABLE can be devices, which is enough for programs that use umad.
 *
 * read() peeks at a packet first, because a packet that does not fit has to stay, as in the
 * kernel. The lock of a device makes both steps one.
 */

enum { TABLE = 65536, AGENTS = 32, AGENT_RMPP = 2, AGENT_USED = 1 };

struct device {
	int calls;
	size_t header; /* bytes: 64, or 56 if the program did not enable P_Key indices */
	uint8_t agents[AGENTS]; /* AGENT_USED, AGENT_RMPP */
	pthread_mutex_t read, call;
};

static struct device *_Atomic devices[TABLE];

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char host_dir[sizeof(((struct sim_welcome *)0)->text)];

static void fill_hello(struct sim_hello *h, enum sim_hello_kind kind)
{
	const char *host = getenv(SIM_HOST_ENV);
	memset(h, 0, sizeof(*h));
	h->kind = kind;
	snprintf(h->host, sizeof(h->host), "%s", host != NULL ? host : "");
}

static void find_host(void)
{
	char path[128];
	struct sim_hello h;
	struct sim_welcome w;

	fill_hello(&h, SIM_HOST_INFO);
	sim_socket_path(path);
	int fd = sim_socket_call(path, &h, &w, NULL);
	if (fd < 0) {
		fprintf(stderr, "saguaro-sim: %s\n", w.text);
		return;
	}
	preload_real_close(fd);
	memcpy(host_dir, w.text, sizeof(host_dir));
}

static bool has_prefix(const char *path, const char *with)
{
	return strncmp(path, with, strlen(with)) == 0;
}

const char *preload_path(const char *path, char *buf)
{
	static const char sys_class[] = "/sys/class/infiniband";
	static const char dev[] = "/dev/infiniband";

	if (path == NULL || path[0] != '/' ||
	    (!has_prefix(path, sys_class) && !has_prefix(path, dev))) {
		return path;
	}
	int ret = errno;
	pthread_once(&once, find_host);
	errno = ret;
	const char *below = path[1] == 's' ? path + strlen("/sys") : path;
	snprintf(buf, PRELOAD_PATH, "%s%s",
	         host_dir[0] != '\0' ? host_dir : "/proc/no-simulator", below);
	return buf;
}

/* The number of the device with this path, -1: it is not a device. */
static int device_number(const char *path, enum sim_hello_kind *ret_kind)
{
	static const char dir[] = "/dev/infiniband/";
	char *end;

	if (path == NULL || !has_prefix(path, dir)) {
		return -1;
	}
	path += strlen(dir);
	if (!has_prefix(path, "umad") && !has_prefix(path, "issm")) {
		return -1;
	}
	*ret_kind = path[0] == 'u' ? SIM_UMAD : SIM_ISSM;
	long n = strtol(path + 4, &end, 10);
	return *end == '\0' && end != path + 4 && n >= 0 && n < 1 << 20 ? (int)n : -1;
}

static int add_device(int data, int calls)
{
	struct device *d = data < TABLE ? calloc(1, sizeof(*d)) : NULL;
	if (d == NULL) {
		preload_real_close(data);
		preload_real_close(calls);
		errno = data < TABLE ? ENOMEM : EMFILE;
		return -1;
	}
	d->calls = calls;
	d->header = sizeof(struct ib_user_mad_hdr_old);
	pthread_mutex_init(&d->read, NULL);
	pthread_mutex_init(&d->call, NULL);
	devices[data] = d;
	return data;
}

bool preload_open(const char *path, int flags, int *ret_fd)
{
	char socket_path[128];
	struct sim_hello h;
	struct sim_welcome w;
	enum sim_hello_kind kind;
	int number = device_number(path, &kind);
	int data = -1;

	if (number < 0) {
		return false;
	}
	fill_hello(&h, kind);
	h.number = (uint32_t)number;
	h.wait = (flags & O_NONBLOCK) == 0;
	sim_socket_path(socket_path);
	int fd = sim_socket_call(socket_path, &h, &w, &data);
	if (fd < 0) {
		errno = -fd;
		*ret_fd = -1;
		return true;
	}
	int own = kind == SIM_UMAD ? data : fd;
	if (flags & O_NONBLOCK) {
		fcntl(own, F_SETFL, fcntl(own, F_GETFL) | O_NONBLOCK);
	}
	if ((flags & O_CLOEXEC) == 0) {
		fcntl(own, F_SETFD, 0);
	}
	*ret_fd = kind == SIM_UMAD ? add_device(data, fd) : fd;
	return true;
}

static struct device *device_of(int fd)
{
	return fd >= 0 && fd < TABLE ? devices[fd] : NULL;
}

bool preload_is_umad(int fd)
{
	return device_of(fd) != NULL;
}

__attribute__((visibility("default"))) int close(int fd)
{
	struct device *d = device_of(fd);

	if (d != NULL) {
		devices[fd] = NULL;
		preload_real_close(d->calls);
		pthread_mutex_destroy(&d->read);
		pthread_mutex_destroy(&d->call);
		free(d);
	}
	return preload_real_close(fd);
}

/* --- agents ---------------------------------------------------------------------- */

static int call_simulator(struct device *d, const struct sim_agent_call *c,
                          uint32_t *ret_id)
{
	struct sim_agent_reply r;
	pthread_mutex_lock(&d->call);
	ssize_t n = sim_socket_put(d->calls, c, sizeof(*c), NULL, 0, -1, 0);
	while (n == 0 || n == -EINTR) {
		n = sim_socket_get(d->calls, &r, sizeof(r), NULL, 0, NULL, 0);
		n = n == 0 ? -ENODEV : n;
	}
	pthread_mutex_unlock(&d->call);
	if (n != sizeof(r) || r.error != 0) {
		errno = n == sizeof(r) ? r.error : ENODEV;
		return -1;
	}
	*ret_id = r.id;
	return 0;
}

static int register_agent(struct device *d, const struct sim_agent_call *c,
                          uint32_t *ret_id)
{
	uint32_t id;
	if (call_simulator(d, c, &id) != 0) {
		return -1;
	}
	if (id < AGENTS) {
		bool rmpp = c->rmpp_version != 0 && !c->user_rmpp;
		d->agents[id] = (uint8_t)(AGENT_USED | (rmpp ? AGENT_RMPP : 0));
	}
	*ret_id = id;
	return 0;
}

static int register_1(struct device *d, struct ib_user_mad_reg_req *q)
{
	struct sim_agent_call c = {
		.qpn = q->qpn,
		.mgmt_class = q->mgmt_class,
		.mgmt_class_version = q->mgmt_class_version,
		.rmpp_version = q->rmpp_version,
		.oui = (uint32_t)q->oui[0] << 16 | (uint32_t)q->oui[1] << 8 | q->oui[2],
	};
	enum { LONG_BITS = 8 * sizeof(long) };
	for (unsigned bit = 0; bit < 128; bit++) {
		uint64_t on = q->method_mask[bit / LONG_BITS] >> bit % LONG_BITS & 1;
		c.method_mask[bit / 64] |= on << bit % 64;
	}
	uint32_t id;
	if (register_agent(d, &c, &id) != 0) {
		return -1;
	}
	q->id = id;
	return 0;
}

static int register_2(struct device *d, struct ib_user_mad_reg_req2 *q)
{
	if (q->flags & ~(uint32_t)IB_USER_MAD_REG_FLAGS_CAP) {
		q->flags = IB_USER_MAD_REG_FLAGS_CAP;
		errno = EINVAL;
		return -1;
	}
	struct sim_agent_call c = {
		.qpn = q->qpn,
		.mgmt_class = q->mgmt_class,
		.mgmt_class_version = q->mgmt_class_version,
		.rmpp_version = q->rmpp_version,
		.user_rmpp = (q->flags & IB_USER_MAD_USER_RMPP) != 0,
		.oui = q->oui,
		.method_mask = { q->method_mask[0], q->method_mask[1] },
	};
	uint32_t id;
	if (register_agent(d, &c, &id) != 0) {
		return -1;
	}
	q->id = id;
	return 0;
}

static int unregister_agent(struct device *d, uint32_t id)
{
	struct sim_agent_call c = { .unregister = 1, .id = id };
	uint32_t unused;
	if (call_simulator(d, &c, &unused) != 0) {
		return -1;
	}
	if (id < AGENTS) {
		d->agents[id] = 0;
	}
	return 0;
}

int preload_ioctl(int fd, unsigned long request, void *arg)
{
	struct device *d = device_of(fd);
	uint32_t id;

	/* programs pass the number as an int, so its upper half may be all ones */
	switch ((uint32_t)request) {
	case IB_USER_MAD_REGISTER_AGENT: return register_1(d, arg);
	case IB_USER_MAD_REGISTER_AGENT2: return register_2(d, arg);
	case IB_USER_MAD_UNREGISTER_AGENT:
		memcpy(&id, arg, sizeof(id));
		return unregister_agent(d, id);
	case IB_USER_MAD_ENABLE_PKEY:
		d->header = sizeof(struct ib_user_mad_hdr);
		return 0;
	default: errno = ENOTTY; return -1;
	}
}

/* --- MADs ------------------------------------------------------------------------ */

static int fail(int ret)
{
	errno = ret;
	return -1;
}

ssize_t preload_write(int fd, const void *buf, size_t count)
{
	enum { LEAST = 36, MAD_BYTES = 256, OPA_BYTES = 2048, OPA_BASE_VERSION = 0x80 };
	struct device *d = device_of(fd);
	struct ib_user_mad_hdr h = { 0 };

	if (count < d->header + LEAST) {
		return fail(EINVAL);
	}
	memcpy(&h, buf, d->header);
	if (h.id >= AGENTS) {
		return fail(EINVAL);
	}
	if ((d->agents[h.id] & AGENT_USED) == 0) {
		return fail(EIO);
	}
	const uint8_t *mad = (const uint8_t *)buf + d->header;
	size_t len = count - d->header;
	size_t most = mad[0] == OPA_BASE_VERSION ? OPA_BYTES : MAD_BYTES;
	if (len > most && (d->agents[h.id] & AGENT_RMPP) == 0) {
		return fail(EINVAL);
	}
	/* a device always accepts a MAD; the socket may have to wait */
	int ret;
	while ((ret = sim_socket_put_mad(fd, &h, mad, len, 0)) == -EAGAIN) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		poll(&p, 1, -1);
	}
	if (ret != 0) {
		return fail(ret == -EPIPE || ret == -ECONNRESET ? ENODEV : -ret);
	}
	return (ssize_t)count;
}

/* Reads a long MAD, which is in a memory file. */
static ssize_t read_long(int fd, uint8_t *buf, size_t header, size_t count, size_t len)
{
	struct ib_user_mad_hdr h;
	void *mad;
	size_t got;
	int memory;
	ssize_t n = sim_socket_get(fd, &h, sizeof(h), NULL, 0, &memory, 0);

	if (n <= 0 || memory < 0) {
		return fail(n < 0 ? (int)-n : ENODEV);
	}
	int ret = sim_socket_memory_read(memory, count - header, &mad, &got);
	preload_real_close(memory);
	if (ret != 0) {
		return fail(-ret);
	}
	memcpy(buf, &h, header);
	memcpy(buf + header, mad, got < len ? got : len);
	free(mad);
	return (ssize_t)(header + got);
}

static ssize_t read_locked(int fd, struct device *d, uint8_t *buf, size_t count)
{
	struct ib_user_mad_hdr h;
	ssize_t n = sim_socket_get(fd, &h, sizeof(h), NULL, 0, NULL, MSG_PEEK);

	if (n <= 0) {
		return fail(n < 0 && n != -ECONNRESET ? (int)-n : ENODEV);
	}
	size_t len = h.length - sizeof(h);
	h.length = (uint32_t)(d->header + len);
	if (len > SIM_INLINE_BYTES || count < d->header + len) {
		enum { FIRST = 256 };
		if (count < d->header + (len < FIRST ? len : FIRST)) {
			return fail(EINVAL);
		}
		memcpy(buf, &h, d->header);
		if (count < d->header + len) {
			return fail(
				ENOSPC); /* the packet stays; length says how many bytes it needs */
		}
		ssize_t all = read_long(fd, buf, d->header, count, len);
		memcpy(buf, &h, d->header);
		return all;
	}
	n = sim_socket_get(fd, &h, sizeof(h), buf + d->header, count - d->header, NULL,
	                   0);
	if (n <= 0) {
		return fail(n < 0 ? (int)-n : ENODEV);
	}
	h.length = (uint32_t)(d->header + len);
	memcpy(buf, &h, d->header);
	return (ssize_t)(d->header + len);
}

ssize_t preload_read(int fd, void *buf, size_t count)
{
	struct device *d = device_of(fd);
	if (count < d->header) {
		return fail(EINVAL);
	}
	pthread_mutex_lock(&d->read);
	ssize_t n = read_locked(fd, d, buf, count);
	pthread_mutex_unlock(&d->read);
	return n;
}

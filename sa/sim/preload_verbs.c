/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/preload.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * The functions of libibverbs that Omni-Path's tools call before they send MADs. The tools open
 * the device that libibumad named and poll its descriptor for events. On a simulated Omni-Path
 * host these functions provide such a device, which never has an event. On any other host they
 * call the library's functions.
 *
 * The structures are those of the library's binary interface (IBVERBS_1.1), as far as programs
 * use them, so the library's header is not needed.
 */
#define EXPORT __attribute__((visibility("default")))

enum { NAME = 64, PATH = 256, OPERATIONS = 32, DEVICES = 32 };

struct ibv_device {
	void *ops[2];
	int32_t node_type, transport_type;
	char name[NAME], dev_name[NAME], dev_path[PATH], ibdev_path[PATH];
};

struct ibv_context {
	struct ibv_device *device;
	void *ops[OPERATIONS];
	int cmd_fd, async_fd;
	int num_comp_vectors;
	uint64_t rest[16]; /* a lock, and fields that only the library uses */
};

_Static_assert(offsetof(struct ibv_device, name) == 2 * sizeof(void *) + 8, "name");
_Static_assert(offsetof(struct ibv_context, async_fd) == 33 * sizeof(void *) + 4,
               "async_fd");

struct ibv_async_event;

enum { NODE_TYPE_CA = 1, TRANSPORT_IB = 0 };

/* Whether the program runs on a simulated Omni-Path host. */
static bool is_omni_path(void)
{
	char path[PRELOAD_PATH];

	return access(preload_path("/sys/class/infiniband_omnipath", path), F_OK) == 0;
}

/* The library's function; sets errno if the program is linked without the library. */
#define REAL(name, type)                                                                 \
	PRELOAD_REAL(name, type);                                                        \
	if (real == NULL) {                                                              \
		errno = ENOSYS;                                                          \
	}

EXPORT struct ibv_device **ibv_get_device_list(int *num);
EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	if (!is_omni_path()) {
		REAL(ibv_get_device_list, struct ibv_device * *real_f(int *));
		return real != NULL ? real(num) : NULL;
	}
	struct ibv_device **list = calloc(DEVICES + 1, sizeof(*list));
	int n = 0;
	while (list != NULL && n < DEVICES) {
		char name[NAME], path[PATH], buf[PRELOAD_PATH];
		snprintf(name, sizeof(name), "sim%d", n);
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s", name);
		if (access(preload_path(path, buf), F_OK) != 0 ||
		    (list[n] = calloc(1, sizeof(**list))) == NULL) {
			break;
		}
		list[n]->node_type = NODE_TYPE_CA;
		list[n]->transport_type = TRANSPORT_IB;
		snprintf(list[n]->name, NAME, "%s", name);
		snprintf(list[n]->ibdev_path, PATH, "%s", path);
		n++;
	}
	if (num != NULL) {
		*num = n;
	}
	return list;
}

/* An open device outlives its list, so devices are not freed; there are few. */
EXPORT void ibv_free_device_list(struct ibv_device **list);
EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	if (!is_omni_path()) {
		REAL(ibv_free_device_list, void real_f(struct ibv_device **));
		if (real != NULL) {
			real(list);
		}
		return;
	}
	free(list);
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device);
EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	if (!is_omni_path()) {
		REAL(ibv_open_device, struct ibv_context * real_f(struct ibv_device *));
		return real != NULL ? real(device) : NULL;
	}
	struct ibv_context *c = calloc(1, sizeof(*c));
	if (c == NULL) {
		return NULL;
	}
	c->device = device;
	c->cmd_fd = -1;
	c->num_comp_vectors = 1;
	c->async_fd = eventfd(0, EFD_CLOEXEC); /* never readable */
	if (c->async_fd < 0) {
		free(c);
		return NULL;
	}
	return c;
}

EXPORT int ibv_close_device(struct ibv_context *c);
EXPORT int ibv_close_device(struct ibv_context *c)
{
	if (!is_omni_path()) {
		REAL(ibv_close_device, int real_f(struct ibv_context *));
		return real != NULL ? real(c) : -1;
	}
	preload_real_close(c->async_fd);
	free(c);
	return 0;
}

EXPORT int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *event);
EXPORT int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *event)
{
	uint64_t n;

	if (!is_omni_path()) {
		REAL(ibv_get_async_event,
		     int real_f(struct ibv_context *, struct ibv_async_event *));
		return real != NULL ? real(c, event) : -1;
	}
	/* blocks like the library, unless the descriptor is nonblocking */
	ssize_t got = read(c->async_fd, &n, sizeof(n));
	(void)got;
	return -1;
}

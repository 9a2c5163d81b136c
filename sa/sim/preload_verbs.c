/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * What Omni-Path's tools want of libibverbs before they speak MADs: a device of the name
 * that libibumad told them, opened, whose descriptor for events they poll. On a simulated
 * host that presents itself as Omni-Path's these functions give them that, and nothing
 * ever happens there. On any other host, where a verbs device would only disappoint, they
 * are the library's.
 *
 * The structures are those of the library's binary interface (IBVERBS_1.1), as far as
 * programs look into them; the library's own header is not needed.
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
	uint64_t rest[16]; /* a lock and what only the library looks at */
};

_Static_assert(offsetof(struct ibv_device, name) == 2 * sizeof(void *) + 8, "name");
_Static_assert(offsetof(struct ibv_context, async_fd) == 33 * sizeof(void *) + 4,
               "async_fd");

struct ibv_async_event;

enum { NODE_TYPE_CA = 1, TRANSPORT_IB = 0 };

/* Is the program on a simulated host that says it is Omni-Path's? */
static bool is_omni_path(void)
{
	char path[PRELOAD_PATH];

	return access(preload_path("/sys/class/infiniband_omnipath", path), F_OK) == 0;
}

static void *next_of(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (f == NULL) {
		errno = ENOSYS;
	}
	return f;
}

EXPORT struct ibv_device **ibv_get_device_list(int *num);
EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	if (!is_omni_path()) {
		struct ibv_device **(*real)(int *);
		*(void **)&real = next_of("ibv_get_device_list");
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

/* An open device stays after its list: devices are few, and are not freed. */
EXPORT void ibv_free_device_list(struct ibv_device **list);
EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	if (!is_omni_path()) {
		void (*real)(struct ibv_device **);
		*(void **)&real = next_of("ibv_free_device_list");
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
		struct ibv_context *(*real)(struct ibv_device *);
		*(void **)&real = next_of("ibv_open_device");
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
		int (*real)(struct ibv_context *);
		*(void **)&real = next_of("ibv_close_device");
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
		int (*real)(struct ibv_context *, struct ibv_async_event *);
		*(void **)&real = next_of("ibv_get_async_event");
		return real != NULL ? real(c, event) : -1;
	}
	/* waits as the library does, or says that there is nothing */
	ssize_t got = read(c->async_fd, &n, sizeof(n));
	(void)got;
	return -1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/conn.h"
#include "sa/sim/sim_kernel.h"
#include "sa/sim/sim_server.h"
#include "sa/sim/sim_tree.h"
#include "sa/sim/sim_wire.h"

/*!
 * What sim_server.c and sim_device.c share.
 */
enum conn_kind { CONN_NEW, CONN_INFO, CONN_UMAD, CONN_DATA, CONN_ISSM, CONN_CONTROL };

struct sim_device;

struct sim_conn {
	struct conn conn; /* first; .more: its program takes messages again */
	struct sim_server *v;
	uint8_t kind;   /* enum conn_kind */
	bool waits;     /* CONN_ISSM: for the device */
	uint32_t port;  /* end port of UMAD, DATA, ISSM */
	pid_t pid;
	struct sim_device *device; /* UMAD, DATA */
};

/* An open umad device: two connections of one program. */
struct sim_device {
	struct sim_device *next_ready;
	struct kernel_file *file;
	struct sim_conn *calls, *data;
	bool ready; /* in the list of devices with messages for their program */
};

struct sim_server {
	struct sim *s;
	const struct graph *g;
	struct kernel *kernel;
	char path[108], dir[128];
	struct conn_set *conns;
	struct sim_device *ready;
	struct sim_host **hosts; /* [n_hosts] */
	unsigned n_hosts;
	size_t cap_hosts;
	uint64_t changes; /* of the fabric, when the hosts' files were last written */
};

/* sim_server.c */
struct sim_conn *sim_conn_new(struct sim_server *v, int fd, enum conn_kind kind);
void sim_conn_close(struct sim_conn *c);
void sim_conn_welcome(struct sim_conn *c, int ret, const char *text, int along);

/* sim_device.c: umad devices */
void device_open(struct sim_conn *c, uint32_t port);
void device_call(struct sim_conn *c); /* a packet on the connection for calls */
void device_data(struct sim_conn *c); /* packets on the data socket */
void device_flush(struct sim_device *d);
void device_gone(struct sim_conn *c); /* one of its connections is closed */
void device_readable(void *owner);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*!
 * Inside of the preload library libsaguaro-umad-sim.so. preload.c stands in front of the
 * C library's functions on files and sends what concerns InfiniBand devices here.
 *
 * Functions set errno and return as the calls that they stand for.
 */

/*! \brief Where a path leads: itself, or below the host's folder when it is one of
 * /sys/class/infiniband*, /dev/infiniband. Without a simulator there is nothing at such a
 * path: never the machine's own adapters. \param buf [PRELOAD_PATH] */
const char *preload_path(const char *path, char *buf);
enum { PRELOAD_PATH = 1024 };

/*! \brief Is the path an umad or issm device? Then it is opened: \a ret_fd is the
 * descriptor, or -1 with errno. */
bool preload_open(const char *path, int flags, int *ret_fd);

bool preload_is_umad(int fd);
/*! \brief The descriptor is about to be closed. */
void preload_close(int fd);
int preload_ioctl(int fd, unsigned long request, void *arg);
ssize_t preload_read(int fd, void *buf, size_t count);
ssize_t preload_write(int fd, const void *buf, size_t count);

/*! \brief The C library's close(). */
int preload_real_close(int fd);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*!
 * What the files of the preload library libsaguaro-umad-sim.so share. preload.c replaces
 * functions of the C library on files and passes calls on InfiniBand devices to
 * preload_umad.c.
 *
 * Functions set errno and return as the calls that they replace.
 */

/*! \brief Translates a path below /sys/class/infiniband* or /dev/infiniband to the folder of
 * the simulated host; other paths stay. Without a simulator such a path leads to nothing, and
 * never to the adapters of the machine. \param buf [PRELOAD_PATH] */
const char *preload_path(const char *path, char *buf);
enum { PRELOAD_PATH = 1024 };

/*! \brief Opens the path if it is an umad or issm device. \a ret_fd is the descriptor, or -1
 * with errno. \return false: it is another path. */
bool preload_open(const char *path, int flags, int *ret_fd);

bool preload_is_umad(int fd);
int preload_ioctl(int fd, unsigned long request, void *arg);
ssize_t preload_read(int fd, void *buf, size_t count);
ssize_t preload_write(int fd, const void *buf, size_t count);

/*! \brief The next function of this name: that of the C library or of libibverbs. \return NULL:
 * the program has none. */
static inline void *preload_next(void *_Atomic *slot, const char *name)
{
	void *f = *slot;

	if (f == NULL) {
		f = dlsym(RTLD_NEXT, name);
		*slot = f;
	}
	return f;
}

/*! Defines `real`, the next function with the name and type; real_f is the name in the type. */
#define PRELOAD_REAL(name, type)                                                         \
	static void *_Atomic slot_##name;                                                \
	typedef type;                                                                    \
	real_f *real = (real_f *)preload_next(&slot_##name, #name)

/*! \brief The C library's close(). */
static inline int preload_real_close(int fd)
{
	PRELOAD_REAL(close, int real_f(int));
	return real(fd);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sa/sim/preload.h"

/*
 * The functions that replace those of the C library on files, in a program that runs under
 * saguaro-sim --run. (close() is in preload_umad.c.)
 *
 * There are two kinds. Functions with a path translate it by preload_path() and call the
 * library's function. Functions with a descriptor check whether it is an open umad device.
 * Functions that wait are not replaced: such a descriptor is a socket, and poll(), select()
 * and epoll work on it.
 *
 * Not covered, because no client of umad uses them on its device: dup(), readv(), sendfile()
 * and similar functions, io_uring, programs that make system calls themselves, and programs
 * that are linked statically.
 */

#define EXPORT __attribute__((visibility("default")))

#define REAL PRELOAD_REAL

static mode_t mode_of(int flags, va_list ap)
{
	return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(ap, mode_t) : 0;
}

/* functions that differ only in their name */
#define DEFINE_OPEN(name)                                                                \
	EXPORT int name(const char *path, int flags, ...);                               \
	EXPORT int name(const char *path, int flags, ...)                                \
	{                                                                                \
		REAL(name, int real_f(const char *, int, ...));                          \
		char buf[PRELOAD_PATH];                                                  \
		va_list ap;                                                              \
		int fd;                                                                  \
		va_start(ap, flags);                                                     \
		mode_t mode = mode_of(flags, ap);                                        \
		va_end(ap);                                                              \
		if (preload_open(path, flags, &fd)) {                                    \
			return fd;                                                       \
		}                                                                        \
		return real(preload_path(path, buf), flags, mode);                       \
	}

#define DEFINE_OPENAT(name)                                                              \
	EXPORT int name(int dir, const char *path, int flags, ...);                      \
	EXPORT int name(int dir, const char *path, int flags, ...)                       \
	{                                                                                \
		REAL(name, int real_f(int, const char *, int, ...));                     \
		char buf[PRELOAD_PATH];                                                  \
		va_list ap;                                                              \
		int fd;                                                                  \
		va_start(ap, flags);                                                     \
		mode_t mode = mode_of(flags, ap);                                        \
		va_end(ap);                                                              \
		if (preload_open(path, flags, &fd)) {                                    \
			return fd;                                                       \
		}                                                                        \
		return real(dir, preload_path(path, buf), flags, mode);                  \
	}

/* variants without a mode, which fortified programs call */
#define DEFINE_OPEN_2(name)                                                              \
	EXPORT int name(const char *path, int flags);                                    \
	EXPORT int name(const char *path, int flags)                                     \
	{                                                                                \
		REAL(name, int real_f(const char *, int));                               \
		char buf[PRELOAD_PATH];                                                  \
		int fd;                                                                  \
		if (preload_open(path, flags, &fd)) {                                    \
			return fd;                                                       \
		}                                                                        \
		return real(preload_path(path, buf), flags);                             \
	}

#define DEFINE_OPENAT_2(name)                                                            \
	EXPORT int name(int dir, const char *path, int flags);                           \
	EXPORT int name(int dir, const char *path, int flags)                            \
	{                                                                                \
		REAL(name, int real_f(int, const char *, int));                          \
		char buf[PRELOAD_PATH];                                                  \
		int fd;                                                                  \
		if (preload_open(path, flags, &fd)) {                                    \
			return fd;                                                       \
		}                                                                        \
		return real(dir, preload_path(path, buf), flags);                        \
	}

/* functions with a path: DEFINE_PATH(result, name, (parameters), (arguments)) */
#define DEFINE_PATH(result, name, params, args)                                          \
	EXPORT result name params;                                                       \
	EXPORT result name params                                                        \
	{                                                                                \
		REAL(name, result real_f params);                                        \
		char buf[PRELOAD_PATH];                                                  \
		path = preload_path(path, buf);                                          \
		return real args;                                                        \
	}

/* clang-format off */
DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)
DEFINE_OPEN_2(__open_2)
DEFINE_OPEN_2(__open64_2)
DEFINE_OPENAT_2(__openat_2)
DEFINE_OPENAT_2(__openat64_2)

DEFINE_PATH(FILE *, fopen, (const char *path, const char *mode), (path, mode))
DEFINE_PATH(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
DEFINE_PATH(DIR *, opendir, (const char *path), (path))
DEFINE_PATH(int, scandir, (const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	int (*compare)(const struct dirent **, const struct dirent **)), (path, list, filter, compare))
DEFINE_PATH(int, scandir64, (const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
	int (*compare)(const struct dirent64 **, const struct dirent64 **)), (path, list, filter, compare))
DEFINE_PATH(int, access, (const char *path, int mode), (path, mode))
DEFINE_PATH(int, faccessat, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags))
DEFINE_PATH(int, stat, (const char *path, struct stat *st), (path, st))
DEFINE_PATH(int, stat64, (const char *path, struct stat64 *st), (path, st))
DEFINE_PATH(int, lstat, (const char *path, struct stat *st), (path, st))
DEFINE_PATH(int, lstat64, (const char *path, struct stat64 *st), (path, st))
DEFINE_PATH(int, fstatat, (int dir, const char *path, struct stat *st, int flags), (dir, path, st, flags))
DEFINE_PATH(int, fstatat64, (int dir, const char *path, struct stat64 *st, int flags), (dir, path, st, flags))
DEFINE_PATH(int, statx, (int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict st), (dir, path, flags, mask, st))
DEFINE_PATH(int, __xstat, (int version, const char *path, struct stat *st), (version, path, st))
DEFINE_PATH(int, __xstat64, (int version, const char *path, struct stat64 *st), (version, path, st))
DEFINE_PATH(int, __lxstat, (int version, const char *path, struct stat *st), (version, path, st))
DEFINE_PATH(int, __lxstat64, (int version, const char *path, struct stat64 *st), (version, path, st))
DEFINE_PATH(ssize_t, readlink, (const char *path, char *buf_out, size_t size), (path, buf_out, size))
DEFINE_PATH(char *, realpath, (const char *path, char *resolved), (path, resolved))
/* clang-format on */

EXPORT ssize_t read(int fd, void *buf, size_t count)
{
	REAL(read, ssize_t real_f(int, void *, size_t));
	return preload_is_umad(fd) ? preload_read(fd, buf, count) : real(fd, buf, count);
}

EXPORT ssize_t __read_chk(int fd, void *buf, size_t count, size_t size);
EXPORT ssize_t __read_chk(int fd, void *buf, size_t count, size_t size)
{
	REAL(__read_chk, ssize_t real_f(int, void *, size_t, size_t));
	return preload_is_umad(fd) && count <= size ? preload_read(fd, buf, count)
	                                            : real(fd, buf, count, size);
}

EXPORT ssize_t write(int fd, const void *buf, size_t count)
{
	REAL(write, ssize_t real_f(int, const void *, size_t));
	return preload_is_umad(fd) ? preload_write(fd, buf, count) : real(fd, buf, count);
}

EXPORT int ioctl(int fd, unsigned long request, ...);
EXPORT int ioctl(int fd, unsigned long request, ...)
{
	REAL(ioctl, int real_f(int, unsigned long, ...));
	va_list ap;
	va_start(ap, request);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	return preload_is_umad(fd) ? preload_ioctl(fd, request, arg)
	                           : real(fd, request, arg);
}

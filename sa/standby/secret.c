/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/standby/secret.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

static int check_file(const char *file, int fd, struct arena *a, const char **ret_why)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		*ret_why = arena_printf(a, "standby_secret %s is not a file", file);
		return -EPERM;
	}
	if (st.st_uid != 0 && st.st_uid != geteuid()) {
		*ret_why = arena_printf(
			a,
			"standby_secret %s belongs to user %u; it has to belong to root or to user %u, as whom saguarod runs",
			file, (unsigned)st.st_uid, (unsigned)geteuid());
		return -EPERM;
	}
	if ((st.st_mode & 077) != 0) {
		*ret_why = arena_printf(
			a,
			"standby_secret %s has mode %04o, so others could read it; chmod 0600 %s",
			file, (unsigned)st.st_mode & 07777, file);
		return -EPERM;
	}
	return E_OK;
}

int secret_read(const char *file, struct arena *a, const char **ret_why,
                const uint8_t **ret_secret, size_t *ret_len)
{
	uint8_t *bytes = arena_alloc(a, SECRET_BYTES_MAX + 2);
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t begin = 0, len = 0;
	ssize_t n = 1;
	int ret;

	if (fd < 0) {
		ret = -errno;
		*ret_why = arena_printf(a, "standby_secret %s cannot be read: %s", file,
		                        strerror(-ret));
		return ret;
	}
	ret = bytes != NULL ? check_file(file, fd, a, ret_why) : -ENOMEM;
	while (ret == E_OK && n > 0 && len <= SECRET_BYTES_MAX) {
		n = read(fd, bytes + len, SECRET_BYTES_MAX + 1 - len);
		ret = n < 0 ? -errno : E_OK;
		len += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (ret != E_OK) {
		return ret;
	}
	while (len > begin && isspace(bytes[len - 1])) {
		len--;
	}
	while (begin < len && isspace(bytes[begin])) {
		begin++;
	}
	len -= begin;
	if (len < SECRET_BYTES_MIN || len > SECRET_BYTES_MAX) {
		*ret_why = arena_printf(
			a,
			"standby_secret %s holds %zu bytes, and %d to %d are needed; make one with: (umask 077; head -c 32 /dev/urandom | base64 >%s)",
			file, len, SECRET_BYTES_MIN, SECRET_BYTES_MAX, file);
		return E_RANGE;
	}
	*ret_secret = bytes + begin;
	*ret_len = len;
	return E_OK;
}

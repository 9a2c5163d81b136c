/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"

struct buffer {
	char *data;
	size_t len, cap;
};

/* Room for \a want bytes or what may be, with one more to see the end and the zero. */
static int grow(struct buffer *b, size_t want, size_t max)
{
	const size_t most = want < max ? want : max;
	const size_t cap = most < SIZE_MAX - 2 ? most + 2 : SIZE_MAX;
	char *more = realloc(b->data, cap);

	if (more == NULL) {
		return -ENOMEM;
	}
	b->data = more;
	b->cap = cap;
	return E_OK;
}

/* Size of a regular file; other files report none. */
static size_t size_of(int fd)
{
	enum { SOME = 1 << 14 };
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) {
		return SOME;
	}
	/* a size_t of 32 bits does not hold the size of every file */
	return (uint64_t)st.st_size < SIZE_MAX ? (size_t)st.st_size : SIZE_MAX;
}

/* Bytes of a text that are looked at before the rest is read. */
enum { HEAD = 1 << 16 };

/* To the end, or one byte past \a max. E_SYNTAX: binary data. */
static int read_all(int fd, const struct text_file_kind *kind, struct buffer *b)
{
	const size_t max = kind->max_bytes, size = size_of(fd);
	int ret;

	if (size > max) {
		b->len = size;
		return E_OK;
	}
	ret = grow(b, kind->text_only && size > HEAD ? HEAD : size, max);
	while (ret == E_OK && b->len <= max) {
		const ssize_t n = read(fd, b->data + b->len, b->cap - 1 - b->len);
		const bool first = b->len == 0;
		if (n == 0) {
			b->data[b->len] = '\0';
			return E_OK;
		}
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		b->len += n > 0 ? (size_t)n : 0;
		if (kind->text_only && first && memchr(b->data, '\0', b->len)) {
			return E_SYNTAX;
		}
		if (b->len + 1 == b->cap && b->len <= max) {
			ret = grow(b, b->len < size ? size : 2 * b->cap, max);
		}
	}
	return ret; /* E_OK: too many */
}

int text_file_fits(const char *path, const struct text_file_kind *kind, size_t len,
                   struct diags *d)
{
	if (len <= kind->max_bytes) {
		return E_OK;
	}
	diag_add(d, DIAG_ERROR, path, 0, "larger than %zu bytes: not %s", kind->max_bytes,
	         kind->what);
	return E_SYNTAX;
}

void text_file_unreadable(const char *path, const char *what, int ret, struct diags *d)
{
	switch (-ret) {
	case ENOENT:
	case ENOTDIR:
		diag_add(d, DIAG_ERROR, path, 0,
		         "cannot be read: %s; correct the name, or write %s there",
		         err_text(ret), what);
		break;
	case EACCES:
	case EPERM:
		diag_add(d, DIAG_ERROR, path, 0,
		         "cannot be read: %s; let user %u read it", err_text(ret),
		         (unsigned)geteuid());
		break;
	case EISDIR:
		diag_add(d, DIAG_ERROR, path, 0, "cannot be read: %s; expected %s",
		         err_text(ret), what);
		break;
	default: diag_add(d, DIAG_ERROR, path, 0, "cannot be read: %s", err_text(ret));
	}
}

/* The last two components of a path that has more; NULL: it has not. */
static const char *tail_of(const char *path)
{
	const char *last = strrchr(path, '/');

	for (const char *p = last; p != NULL && p > path;) {
		if (*--p == '/') {
			return p;
		}
	}
	return NULL;
}

bool text_file_is_usual(const char *path, const char *usual)
{
	const char *mine = tail_of(path), *theirs = tail_of(usual);

	return strcmp(path, usual) == 0 || (path[0] == '/' && mine != NULL &&
	                                    theirs != NULL && strcmp(mine, theirs) == 0);
}

bool text_file_is_missing(const char *path)
{
	return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

void text_file_binary(const char *path, const char *what, struct diags *d)
{
	diag_add(d, DIAG_ERROR, path, 0, "holds binary data, not text: expected %s",
	         what);
}

/* May there be none? Says what that means. */
static bool may_lack(const char *path, const struct text_file_kind *kind, struct diags *d)
{
	if (kind->usual != NULL && strcmp(path, kind->usual) == 0) {
		return true;
	}
	if (kind->usual != NULL && text_file_is_usual(path, kind->usual)) {
		diag_add(
			d, DIAG_NOTE, path, 0,
			"there is no such file, at the usual place of another installation: as if there were none at %s",
			kind->usual);
		return true;
	}
	if (kind->without != NULL) {
		diag_add(d, DIAG_WARNING, path, 0, "there is no such file: %s",
		         kind->without);
	}
	return kind->without != NULL;
}

int text_file_read(const char *path, const struct text_file_kind *kind, struct diags *d,
                   char **ret_text, size_t *ret_len)
{
	struct buffer b = { .data = NULL };
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = fd >= 0 ? read_all(fd, kind, &b) : -errno;

	if (fd >= 0) {
		close(fd);
	}
	if (ret == -ENOENT && may_lack(path, kind, d)) {
		*ret_text = NULL;
		*ret_len = 0;
		return E_OK;
	}
	if (ret == E_SYNTAX) {
		text_file_binary(path, kind->what, d);
	} else if (ret != E_OK) {
		text_file_unreadable(path, kind->what, ret, d);
	} else {
		ret = text_file_fits(path, kind, b.len, d);
	}
	if (ret != E_OK) {
		free(b.data);
		return ret;
	}
	*ret_text = b.data;
	*ret_len = b.len;
	return E_OK;
}

int text_file_replace(const char *path, const char *text, size_t len)
{
	return text_file_replace_as(path, text, len, 0600, (gid_t)-1);
}

int text_file_replace_as(const char *path, const char *text, size_t len, mode_t mode,
                         gid_t group)
{
	char temp[4096];
	size_t at = 0;

	if ((size_t)snprintf(temp, sizeof(temp), "%s.tmp", path) >= sizeof(temp)) {
		return -ENAMETOOLONG;
	}
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	(void)fchmod(fd, 0600); /* the temporary file may be there already */
	while (at < len) {
		ssize_t n = write(fd, text + at, len - at);
		if (n <= 0) {
			break;
		}
		at += (size_t)n;
	}
	/* The group first, so that the mode never lets another group in. */
	int ret = (group == (gid_t)-1 || fchown(fd, (uid_t)-1, group) == 0) &&
	                          (mode == 0600 || fchmod(fd, mode) == 0) && at == len &&
	                          fsync(fd) == 0
	                  ? E_OK
	          : errno ? -errno
	                  : -EIO;
	if (close(fd) != 0 && ret == E_OK) {
		ret = -errno;
	}
	if (ret == E_OK && rename(temp, path) != 0) {
		ret = -errno;
	}
	if (ret != E_OK) {
		unlink(temp);
	}
	return ret;
}

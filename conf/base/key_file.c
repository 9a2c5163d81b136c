/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/key_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"

enum { LARGEST_KNOWN = 1 /* 0 is no key, 1 that of OpenSM */, TEXT_BYTES = 64 };

static int make_file(const char *option, const char *file, struct arena *a,
                     const char **ret_why, uint64_t *ret_key)
{
	char text[TEXT_BYTES];
	uint64_t key = 0;
	int ret = E_OK;

	while (ret == E_OK && key <= LARGEST_KNOWN) {
		ret = getrandom(&key, sizeof(key), 0) == sizeof(key) ? E_OK : -errno;
	}
	if (ret == E_OK) {
		snprintf(text, sizeof(text), "0x%016" PRIx64 "\n", key);
		ret = text_file_replace(file, text, strlen(text));
		explicit_bzero(text, sizeof(text));
	}
	if (ret != E_OK) {
		*ret_why = arena_printf(a, "%s %s cannot be made: %s", option, file,
		                        err_text(ret));
		return ret;
	}
	*ret_key = key;
	return E_OK;
}

static int check_file(const char *option, const char *file, int fd, struct arena *a,
                      const char **ret_why)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		return -errno;
	}
	if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid())) {
		*ret_why = arena_printf(
			a,
			"%s %s is not a file of root or of the user as whom this program runs",
			option, file);
		return -EPERM;
	}
	if ((st.st_mode & 077) != 0) {
		*ret_why = arena_printf(
			a, "%s %s has mode %04o, so others could read it; chmod 0600 %s",
			option, file, (unsigned)st.st_mode & 07777, file);
		return -EPERM;
	}
	return E_OK;
}

/* \param text  NUL-terminated; wiped. */
static int parse_key(char *text, uint64_t *ret_key)
{
	char *end = text + strlen(text);
	uint64_t key = 0;
	int ret;

	while (end > text && isspace((unsigned char)end[-1])) {
		*--end = '\0';
	}
	ret = text_u64(text, UINT64_MAX, &key);
	explicit_bzero(text, (size_t)(end - text));
	if (ret != E_OK || key <= LARGEST_KNOWN) {
		return E_SYNTAX;
	}
	*ret_key = key;
	return E_OK;
}

int key_file_read(const char *option, const char *file, struct arena *a,
                  const char **ret_why, uint64_t *ret_key, bool *ret_new)
{
	char text[TEXT_BYTES + 1] = "";
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), ret;
	ssize_t n;

	*ret_why = err_text(-ENOMEM);
	if (fd < 0 && errno == ENOENT) {
		ret = make_file(option, file, a, ret_why, ret_key);
		*ret_new = ret == E_OK;
		return ret;
	}
	if (fd < 0) {
		ret = -errno;
		*ret_why = arena_printf(a, "%s %s cannot be read: %s", option, file,
		                        err_text(ret));
		return ret;
	}
	ret = check_file(option, file, fd, a, ret_why);
	if (ret == E_OK) {
		n = read(fd, text, TEXT_BYTES);
		ret = n < 0 ? -errno : parse_key(text, ret_key);
		if (ret != E_OK) {
			*ret_why = arena_printf(
				a,
				"%s %s holds no key: expected one number above 1; remove the file to have one made",
				option, file);
		}
	}
	close(fd);
	*ret_new = false;
	return ret;
}

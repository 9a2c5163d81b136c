/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/admin/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "gateway/view/json_text.h"

struct audit {
	pthread_mutex_t lock;
	char *path; /* NULL: no file */
	int fd;
	unsigned long long number;
};

int audit_new(const char *path, struct audit **ret_audit)
{
	struct audit *a = calloc(1, sizeof(*a));
	int ret;

	if (a == NULL) {
		return -ENOMEM;
	}
	pthread_mutex_init(&a->lock, NULL);
	a->fd = -1;
	/* Numbers of two runs of the program do not meet. */
	a->number = (unsigned long long)time(NULL) << 20;
	a->path = path != NULL ? strdup(path) : NULL;
	ret = path != NULL && a->path == NULL ? -ENOMEM : audit_reopen(a);
	if (ret != E_OK) {
		audit_free(a);
		return ret;
	}
	*ret_audit = a;
	return E_OK;
}

void audit_free(struct audit *a)
{
	if (a != NULL) {
		if (a->fd >= 0) {
			close(a->fd);
		}
		pthread_mutex_destroy(&a->lock);
		free(a->path);
		free(a);
	}
}

int audit_reopen(struct audit *a)
{
	int fd;

	if (a->path == NULL) {
		return E_OK;
	}
	fd = open(a->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	if (fd < 0) {
		return -errno;
	}
	pthread_mutex_lock(&a->lock);
	if (a->fd >= 0) {
		close(a->fd);
	}
	a->fd = fd;
	pthread_mutex_unlock(&a->lock);
	return E_OK;
}

unsigned long long audit_number(struct audit *a)
{
	pthread_mutex_lock(&a->lock);
	unsigned long long n = ++a->number;
	pthread_mutex_unlock(&a->lock);
	return n;
}

int audit_write(struct audit *a, json_t *line)
{
	json_t *whole = json_pack("{s:o}", "time", time_json((int64_t)time(NULL)));
	int ret = E_OK;
	char *text;

	json_object_update(whole, line);
	json_decref(line);
	text = a->path != NULL ? json_dumps(whole, JSON_COMPACT) : NULL;
	json_decref(whole);
	if (a->path == NULL) {
		return E_OK;
	}
	if (text == NULL) {
		return -ENOMEM;
	}
	size_t len = strlen(text);

	text[len++] = '\n'; /* in place of the NUL: the length counts */
	pthread_mutex_lock(&a->lock);
	for (size_t at = 0; at < len && ret == E_OK;) {
		ssize_t n = write(a->fd, text + at, len - at);

		if (n > 0) {
			at += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			ret = n == 0 ? -EIO : -errno;
		}
	}
	pthread_mutex_unlock(&a->lock);
	free(text);
	return ret;
}

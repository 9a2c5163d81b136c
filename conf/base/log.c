/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "conf/base/text.h"

/*
 * A line is put together in a buffer of the calling thread and leaves with one write(2),
 * so lines of several threads never mix and no lock is held while a slow terminal or disk
 * takes them. The file's descriptor number is fixed by the first log_open(); opening
 * again (after a rotation) replaces what it refers to with dup3(), which a writing thread
 * cannot notice.
 */

enum { LINE_BYTES = 2048 };

enum style { STYLE_PLAIN, STYLE_COLOUR, STYLE_JOURNAL };

static _Atomic int level_max = LOG_LEVEL_INFO;
static _Atomic int file_fd = -1;
/* Errors are seldom, so a lock around their text costs nothing. */
static pthread_mutex_t last_error_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[LINE_BYTES];

/* clang-format off */
static const struct {
	const char *name;
	const char *colour;  /* terminal escape around the name */
	const char *journal; /* syslog priority prefix that journald reads */
} levels[] = {
	[LOG_LEVEL_ERROR]   = { "error",   "\033[1;31m", "<3>" },
	[LOG_LEVEL_WARNING] = { "warning", "\033[1;33m", "<4>" },
	[LOG_LEVEL_INFO]    = { "info",    "\033[32m",   "<6>" },
	[LOG_LEVEL_DEBUG]   = { "debug",   "\033[36m",   "<7>" },
};
/* clang-format on */

void log_set_level(enum log_level level)
{
	level_max = (int)level;
}

/* Standard error is the journal if it is the socket that systemd names in JOURNAL_STREAM.
 */
static enum style stderr_style(void)
{
	const char *journal = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	if (isatty(STDERR_FILENO)) {
		return getenv("NO_COLOR") == NULL ? STYLE_COLOUR : STYLE_PLAIN;
	}
	if (journal != NULL && sscanf(journal, "%llu:%llu", &dev, &ino) == 2 &&
	    fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino) {
		return STYLE_JOURNAL;
	}
	return STYLE_PLAIN;
}

int log_open(const char *path)
{
	if (path == NULL || strcmp(path, "-") == 0) {
		path = "/dev/null"; /* the number stays in use by other threads */
		if (file_fd < 0) {
			return E_OK;
		}
	}
	int fd = strcmp(path, "stdout") == 0
	                 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
	                 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
	if (fd < 0) {
		return -errno;
	}
	int old = -1;
	if (atomic_compare_exchange_strong(&file_fd, &old, fd)) {
		return E_OK;
	}
	int ret = dup3(fd, old, O_CLOEXEC) < 0 ? -errno : E_OK;
	close(fd);
	return ret;
}

static void write_all(int fd, const char *buf, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, buf, len);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return; /* nowhere left to say that the log cannot be written */
		}
		buf += n;
		len -= (size_t)n;
	}
}

__attribute__((format(printf, 2, 3))) static void write_line(int fd, const char *fmt, ...)
{
	char line[LINE_BYTES + 256];
	va_list ap;
	va_start(ap, fmt);
	int len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (len < 0) {
		return;
	}
	if ((size_t)len >= sizeof(line)) {
		len = sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	write_all(fd, line, (size_t)len);
}

static void write_stderr(enum log_level level, const char *source, const char *text)
{
	const char *name = levels[level].name;

	switch (stderr_style()) {
	case STYLE_COLOUR:
		write_line(STDERR_FILENO, "%s%s\033[0m %s: %s\n", levels[level].colour,
		           name, source, text);
		break;
	case STYLE_JOURNAL:
		write_line(STDERR_FILENO, "%s%s: %s\n", levels[level].journal, source,
		           text);
		break;
	case STYLE_PLAIN:
		write_line(STDERR_FILENO, "%s %s: %s\n", name, source, text);
		break;
	}
}

static void write_file(int fd, enum log_level level, const char *source, const char *text)
{
	struct timespec now;
	struct tm tm;
	char stamp[32];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	write_line(fd, "%s.%03ldZ %s %s: %s\n", stamp, now.tv_nsec / 1000000,
	           levels[level].name, source, text);
}

__attribute__((format(printf, 3, 0))) static void
log_va(enum log_level level, const char *source, const char *fmt, va_list ap)
{
	char text[LINE_BYTES];
	int saved = errno;

	if ((int)level > level_max) {
		return;
	}
	if (vsnprintf(text, sizeof(text), fmt, ap) >= (int)sizeof(text)) {
		memcpy(text + sizeof(text) - 4, "...", 4);
	}
	text_printable(text); /* names come from the fabric: they must not forge lines */
	if (level == LOG_LEVEL_ERROR) {
		pthread_mutex_lock(&last_error_lock);
		snprintf(last_error, sizeof(last_error), "%s", text);
		pthread_mutex_unlock(&last_error_lock);
	}
	write_stderr(level, source, text);
	int fd = file_fd;
	if (fd >= 0) {
		write_file(fd, level, source, text);
	}
	errno = saved;
}

void log_last_error(char *buf, size_t size)
{
	pthread_mutex_lock(&last_error_lock);
	snprintf(buf, size, "%s", last_error);
	pthread_mutex_unlock(&last_error_lock);
}

#define LOG_FUNCTION(function, level)                                                    \
	void function(const char *source, const char *fmt, ...)                          \
	{                                                                                \
		va_list ap;                                                              \
		va_start(ap, fmt);                                                       \
		log_va((level), source, fmt, ap);                                        \
		va_end(ap);                                                              \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)

__attribute__((format(printf, 3, 4))) static void
log_at(enum log_level level, const char *source, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(level, source, fmt, ap);
	va_end(ap);
}

void log_lines(enum log_level level, const char *source, const char *lead,
               const char *text)
{
	for (const char *end; text != NULL; text = end) {
		size_t len = strcspn(text, "\n");

		log_at(level, source, "%s%.*s", lead, (int)len, text);
		end = text[len] != '\0' && text[len + 1] != '\0' ? text + len + 1 : NULL;
	}
}

bool log_allowed(struct log_limit *l, uint64_t now_ms, unsigned burst,
                 unsigned interval_ms, unsigned *ret_skipped)
{
	if (l->shown == 0 || now_ms - l->window_ms >= interval_ms) {
		l->window_ms = now_ms;
		l->shown = 0;
	}
	if (l->shown >= burst) {
		l->skipped++;
		return false;
	}
	l->shown++;
	if (ret_skipped != NULL) {
		*ret_skipped = l->skipped;
	}
	l->skipped = 0;
	return true;
}

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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
 *
 * Where standard error is the journal, a line goes to it as a datagram of its native protocol
 * (systemd.journal-fields(7)), so that it keeps what the message is about. That needs no library.
 * Where that socket does not take it, it goes to standard error with a priority in front.
 */

enum { LINE_BYTES = 2048 };

static const char code_end[] = ": "; /* between code and text */

enum style { STYLE_PLAIN, STYLE_COLOUR, STYLE_JOURNAL };

static _Atomic int level_max = LOG_LEVEL_INFO;
static _Atomic int file_fd = -1;
static _Atomic int format_now = LOG_FORMAT_TEXT;
static const char *_Atomic journal_path = "/run/systemd/journal/socket";
static _Atomic int journal_fd = -1;
/* Errors are seldom, so a lock around their text costs nothing. */
static pthread_mutex_t last_error_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[LINE_BYTES];

/* clang-format off */
static const struct {
	const char *name;
	const char *colour;  /* terminal escape around the name */
	const char *journal; /* syslog priority prefix that journald reads, <N> */
} levels[] = {
	[LOG_LEVEL_ERROR]   = { "error",   "\033[1;31m", "<3>" },
	[LOG_LEVEL_WARNING] = { "warning", "\033[1;33m", "<4>" },
	[LOG_LEVEL_INFO]    = { "info",    "\033[32m",   "<6>" },
	[LOG_LEVEL_DEBUG]   = { "debug",   "\033[36m",   "<7>" },
};

static const struct message_type {
	const char *code; /* "SAG-SM-001"; NULL: none */
	enum log_level level;
} message_types[MSG_COUNT] = {
	[MSG_NONE] = { NULL, LOG_LEVEL_INFO },
#define MESSAGE(area, number, level_, name, meaning, cause, remedy) \
	[MSG_##area##_##name] = { "SAG-" #area "-" #number, LOG_LEVEL_##level_ },
#define EVENT_MESSAGE(number, level_, kind, alarm, cause, remedy) \
	[MSG_EVENT_##kind] = { "SAG-EVENT-" #number, LOG_LEVEL_##level_ },
#include "conf/base/messages.def"
};
/* clang-format on */

const char *log_message_code(enum message message)
{
	return message_types[message].code;
}

void log_set_level(enum log_level level)
{
	level_max = (int)level;
}

void log_set_format(enum log_format format)
{
	format_now = (int)format;
}

void log_set_journal(const char *path)
{
	journal_path = path;
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

/* --- lines ------------------------------------------------------------------------------ */

/* A message on its way. */
struct entry {
	enum log_level level;
	const char *source;
	const char *code;               /* NULL: none */
	const char *text;               /* with the code in front, and printable */
	const struct log_field *fields; /* NULL: none */
};

/* The text without the code, which has a member of its own in JSON. */
static const char *bare_text(const struct entry *m)
{
	return m->text + (m->code != NULL ? strlen(m->code) + strlen(code_end) : 0);
}

/* A line that is put together; what does not fit is cut off. */
struct line {
	char text[2 * LINE_BYTES];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *fmt,
                                                      ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len, fmt, ap);
	va_end(ap);
	if (n > 0) {
		l->len += (size_t)n < sizeof(l->text) - l->len
		                  ? (size_t)n
		                  : sizeof(l->text) - 1 - l->len;
	}
}

/* A character of a value from outside. \return Its length. */
static unsigned add_character(struct line *l, const char *p)
{
	unsigned n = text_utf8_length(p), kept = text_printable_length(p);

	add(l, "%.*s", kept > 0 ? (int)kept : 1, kept > 0 ? p : "?");
	return n > 0 ? n : 1;
}

/* A member of an object. Room for its end stays. */
static void add_member(struct line *l, const char *name, const char *value)
{
	enum { END_BYTES = 8 };
	const char *p = value;

	add(l, "%s\"%s\":\"", l->len > 1 ? "," : "", name);
	while (*p != '\0' && l->len < sizeof(l->text) - LINE_BYTES / 4 - END_BYTES) {
		if (*p == '"' || *p == '\\') {
			add(l, "\\%c", *p++);
		} else {
			p += add_character(l, p);
		}
	}
	add(l, "\"");
}

/* "2026-11-23T04:05:06.789Z" */
static void time_stamp(char *buf, size_t size)
{
	struct timespec now;
	struct tm tm;
	char seconds[24];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, size, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
}

static void write_json(int fd, const struct entry *m)
{
	struct line l = { .len = 0 };
	char stamp[40];

	time_stamp(stamp, sizeof(stamp));
	add(&l, "{");
	add_member(&l, "time", stamp);
	add_member(&l, "level", levels[m->level].name);
	add_member(&l, "source", m->source);
	if (m->code != NULL) {
		add_member(&l, "code", m->code);
	}
	for (unsigned i = 0;
	     m->fields != NULL && i < LOG_FIELDS_MAX && m->fields[i].name != NULL; i++) {
		if (m->fields[i].value != NULL) {
			add_member(&l, m->fields[i].name, m->fields[i].value);
		}
	}
	add_member(&l, "text", bare_text(m));
	add(&l, "}\n");
	write_all(fd, l.text, l.len);
}

/* --- the journal -------------------------------------------------------------------------- */

static int journal_socket(void)
{
	int fd = journal_fd, none = -1;

	if (fd >= 0) {
		return fd;
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !atomic_compare_exchange_strong(&journal_fd, &none, fd)) {
		close(fd); /* another thread was first */
		fd = none;
	}
	return fd;
}

static void add_journal_field(struct line *l, const struct log_field *f)
{
	add(l, "SAGUARO_");
	for (const char *p = f->name; *p != '\0'; p++) {
		add(l, "%c", *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
	}
	add(l, "=");
	for (const char *p = f->value; *p != '\0';) { /* a new line would end it */
		p += add_character(l, p);
	}
	add(l, "\n");
}

/* \return false: nobody takes it. */
static bool write_journal(const struct entry *m)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct line l = { .len = 0 };
	int fd = journal_socket();

	if (fd < 0 || strlen(journal_path) >= sizeof(to.sun_path)) {
		return false;
	}
	strcpy(to.sun_path, journal_path);
	add(&l, "PRIORITY=%c\nSAGUARO_SOURCE=%s\n", levels[m->level].journal[1],
	    m->source);
	if (m->code != NULL) {
		add(&l, "SAGUARO_CODE=%s\n", m->code);
	}
	for (unsigned i = 0;
	     m->fields != NULL && i < LOG_FIELDS_MAX && m->fields[i].name != NULL; i++) {
		if (m->fields[i].value != NULL) {
			add_journal_field(&l, &m->fields[i]);
		}
	}
	add(&l, "MESSAGE=%s: %s\n", m->source, m->text);
	return sendto(fd, l.text, l.len, MSG_NOSIGNAL, (const struct sockaddr *)&to,
	              sizeof(to)) == (ssize_t)l.len;
}

static void write_stderr(const struct entry *m)
{
	const char *name = levels[m->level].name;
	enum style style = stderr_style();

	if (style == STYLE_JOURNAL) {
		if (!write_journal(m)) {
			write_line(STDERR_FILENO, "%s%s: %s\n", levels[m->level].journal,
			           m->source, m->text);
		}
	} else if (format_now == LOG_FORMAT_JSON) {
		write_json(STDERR_FILENO, m);
	} else if (style == STYLE_COLOUR) {
		write_line(STDERR_FILENO, "%s%s\033[0m %s: %s\n", levels[m->level].colour,
		           name, m->source, m->text);
	} else {
		write_line(STDERR_FILENO, "%s %s: %s\n", name, m->source, m->text);
	}
}

static void write_file(int fd, const struct entry *m)
{
	char stamp[40];

	if (format_now == LOG_FORMAT_JSON) {
		write_json(fd, m);
		return;
	}
	time_stamp(stamp, sizeof(stamp));
	write_line(fd, "%s %s %s: %s\n", stamp, levels[m->level].name, m->source,
	           m->text);
}

/* The message of a \a code, which may be NULL, on its way to all targets. */
__attribute__((format(printf, 5, 0))) static void
log_with(enum log_level level, const char *code, const char *source,
         const struct log_field *fields, const char *fmt, va_list ap)
{
	char text[LINE_BYTES];
	int saved = errno;

	if ((int)level > level_max) {
		return;
	}
	size_t lead = code != NULL ? (size_t)snprintf(text, sizeof(text), "%s%s", code,
	                                              code_end)
	                           : 0;
	if (vsnprintf(text + lead, sizeof(text) - lead, fmt, ap) >=
	    (int)(sizeof(text) - lead)) {
		memcpy(text + sizeof(text) - 4, "...", 4);
	}
	text_printable(text); /* names come from the fabric: they must not forge lines */
	if (level == LOG_LEVEL_ERROR) {
		pthread_mutex_lock(&last_error_lock);
		snprintf(last_error, sizeof(last_error), "%s", text);
		pthread_mutex_unlock(&last_error_lock);
	}
	const struct entry m = { level, source, code, text, fields };
	write_stderr(&m);
	int fd = file_fd;
	if (fd >= 0) {
		write_file(fd, &m);
	}
	errno = saved;
}

void log_last_error(char *buf, size_t size)
{
	pthread_mutex_lock(&last_error_lock);
	snprintf(buf, size, "%s", last_error);
	pthread_mutex_unlock(&last_error_lock);
}

void log_message(enum message message, const char *source, const char *fmt, ...)
{
	const struct message_type *type = &message_types[message];
	va_list ap;

	va_start(ap, fmt);
	log_with(type->level, type->code, source, NULL, fmt, ap);
	va_end(ap);
}

#define LOG_FUNCTION(function, level)                                                    \
	void function(const char *source, const char *fmt, ...)                          \
	{                                                                                \
		va_list ap;                                                              \
		va_start(ap, fmt);                                                       \
		log_with((level), NULL, source, NULL, fmt, ap);                          \
		va_end(ap);                                                              \
	}

LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)

__attribute__((format(printf, 4, 5))) static void log_at(const struct message_type *type,
                                                         const char *source,
                                                         const struct log_field *fields,
                                                         const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_with(type->level, type->code, source, fields, fmt, ap);
	va_end(ap);
}

static void log_each_line(const struct message_type *type, const char *source,
                          const struct log_field *fields, const char *lead,
                          const char *text)
{
	for (const char *end; text != NULL; text = end) {
		size_t len = strcspn(text, "\n");

		log_at(type, source, fields, "%s%.*s", lead, (int)len, text);
		end = text[len] != '\0' && text[len + 1] != '\0' ? text + len + 1 : NULL;
	}
}

void log_lines(enum log_level level, const char *source, const char *lead,
               const char *text)
{
	log_each_line(&(struct message_type){ NULL, level }, source, NULL, lead, text);
}

void log_message_lines(enum message message, const char *source, const char *lead,
                       const char *text)
{
	log_each_line(&message_types[message], source, NULL, lead, text);
}

void log_fields(enum message message, const char *source, const struct log_field *fields,
                const char *text)
{
	log_each_line(&message_types[message], source, fields, "", text);
}

bool log_allowed(struct log_limit *l, uint64_t now_ms, unsigned burst,
                 unsigned interval_ms, char ret_skipped[LOG_SKIPPED_BYTES])
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
	ret_skipped[0] = '\0';
	if (l->skipped > 0) {
		snprintf(ret_skipped, LOG_SKIPPED_BYTES, "; %u more such line%s skipped",
		         l->skipped, l->skipped == 1 ? " was" : "s were");
	}
	l->skipped = 0;
	return true;
}

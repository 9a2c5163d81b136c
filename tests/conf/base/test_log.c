/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "tests/lib/suite.h"

/* Standard error goes to a file or terminal for a while. */
struct capture {
	int old;
	int fd;
};

static struct capture capture_fd(int fd)
{
	struct capture c = { .old = dup(STDERR_FILENO), .fd = fd };
	ck_assert_int_ge(fd, 0);
	dup2(fd, STDERR_FILENO);
	return c;
}

static struct capture capture_file(void)
{
	char path[] = "/tmp/test_log.XXXXXX";
	int fd = mkstemp(path);
	unlink(path);
	return capture_fd(fd);
}

static void capture_end(struct capture *c, char *ret_text, size_t bytes)
{
	dup2(c->old, STDERR_FILENO);
	close(c->old);
	ssize_t n = pread(c->fd, ret_text, bytes - 1, 0);
	ret_text[n > 0 ? n : 0] = '\0';
	close(c->fd);
}

START_TEST(test_lines)
{
	char text[8192], big[5000];
	struct capture c = capture_file();

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	errno = EBADF;
	log_info("sweep", "SUBNET UP, %d nodes", 3);
	log_debug("sweep", "not shown");
	log_message(MSG_LOG_NO_FILE, "umad", "node '%s'",
	            "evil\nerror forged: \033[31mline");
	log_set_level(LOG_LEVEL_ERROR);
	log_message(MSG_LOG_NO_FILE, "sweep", "not shown");
	log_message(MSG_LOG_NO_PORT_FILE, "sweep", "%s", big);
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("sweep", "shown");
	ck_assert_int_eq(errno, EBADF);
	capture_end(&c, text, sizeof(text));

	char *rest = strstr(text, "error sweep: SAG-LOG-003: xxx");
	ck_assert_ptr_nonnull(rest);
	char *end = strchr(rest, '\n');
	ck_assert_ptr_nonnull(end);
	ck_assert_int_eq(strncmp(end - 3, "...", 3), 0);
	ck_assert_str_eq(end, "\ndebug sweep: shown\n");
	*rest = '\0';
	ck_assert_str_eq(
		text, "info sweep: SUBNET UP, 3 nodes\n"
		      "warning umad: SAG-LOG-001: node 'evil?error forged: ?[31mline'\n");
}
END_TEST

/* A text of several lines is so many messages. */
START_TEST(test_several)
{
	char text[256];
	struct capture c = capture_file();

	log_message_lines(MSG_LOG_NO_FILE, "sweep",
	                  "routing: ", "one\ntwo 100 %s\n\nfour\n");
	log_lines(LOG_LEVEL_INFO, "sweep", "", "alone");
	log_lines(LOG_LEVEL_DEBUG, "sweep", "", "not\nshown");
	capture_end(&c, text, sizeof(text));
	ck_assert_str_eq(text, "warning sweep: SAG-LOG-001: routing: one\n"
	                       "warning sweep: SAG-LOG-001: routing: two 100 %s\n"
	                       "warning sweep: SAG-LOG-001: routing: \n"
	                       "warning sweep: SAG-LOG-001: routing: four\n"
	                       "info sweep: alone\n");
}
END_TEST

/* Colours on a terminal, unless NO_COLOR asks for none. */
START_TEST(test_terminal)
{
	char text[256] = "";
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);

	struct capture c = capture_fd(terminal);
	unsetenv("NO_COLOR");
	log_message(MSG_LOG_NO_PORT_FILE, "a", "b");
	setenv("NO_COLOR", "1", 1);
	log_message(MSG_LOG_NO_PORT_FILE, "c", "d");
	dup2(c.old, STDERR_FILENO);
	/* A terminal gives what was written in pieces of its own choice. */
	for (size_t len = 0; strstr(text, "d\r\n") == NULL;) {
		ssize_t n = read(master, text + len, sizeof(text) - 1 - len);
		ck_assert_int_gt(n, 0);
		len += (size_t)n;
	}
	ck_assert_str_eq(
		text,
		"\033[1;31merror\033[0m a: SAG-LOG-003: b\r\nerror c: SAG-LOG-003: d\r\n");
	close(terminal);
	close(master);
}
END_TEST

/* Priorities for journald when standard error is the stream that systemd named. */
START_TEST(test_journal)
{
	char text[256], env[64], other[64];
	struct stat st;
	struct capture c = capture_file();

	log_set_journal("/none/journal"); /* so lines stay here */
	fstat(STDERR_FILENO, &st);
	snprintf(env, sizeof(env), "%llu:%llu", (unsigned long long)st.st_dev,
	         (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", env, 1);
	log_message(MSG_LOG_NO_PORT_FILE, "a", "b");
	setenv("JOURNAL_STREAM", "1:1", 1);
	log_message(MSG_LOG_NO_PORT_FILE, "c", "d");
	snprintf(other, sizeof(other), "%llu:%llu", (unsigned long long)st.st_dev + 1,
	         (unsigned long long)st.st_ino); /* the same number elsewhere */
	setenv("JOURNAL_STREAM", other, 1);
	log_message(MSG_LOG_NO_PORT_FILE, "e", "f");
	capture_end(&c, text, sizeof(text));
	ck_assert_str_eq(text, "<3>a: SAG-LOG-003: b\nerror c: SAG-LOG-003: d\n"
	                       "error e: SAG-LOG-003: f\n");
}
END_TEST

static const struct log_field some[] = { { "event", "cable_lost" },
	                                 { "node", "evil\nPRIORITY=0 \"x\\" },
	                                 { "peer", NULL },
	                                 { NULL, NULL } };

/* The journal gets what a message is about, and nobody can forge a field. */
START_TEST(test_journal_fields)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/test_log.XXXXXX", text[1024], env[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct capture c;
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	log_set_journal(at.sun_path);
	c = capture_file();
	fstat(STDERR_FILENO, &st);
	snprintf(env, sizeof(env), "%llu:%llu", (unsigned long long)st.st_dev,
	         (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", env, 1);
	log_fields(MSG_EVENT_CABLE_LOST, "sweep", some, "cable lost");
	capture_end(&c, text, sizeof(text));
	ck_assert_str_eq(text, "");
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	ck_assert_str_eq(text,
	                 "PRIORITY=4\nSAGUARO_SOURCE=sweep\nSAGUARO_CODE=SAG-EVENT-004\n"
	                 "SAGUARO_EVENT=cable_lost\n"
	                 "SAGUARO_NODE=evil?PRIORITY=0 \"x\\\n"
	                 "MESSAGE=sweep: SAG-EVENT-004: cable lost\n");
	close(fd);
	unlink(at.sun_path);
	rmdir(dir);
}
END_TEST

/* How often a text has another one. */
static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		n++;
	}
	return n;
}

/* Fields beyond the most that count are not looked at: there need be no end of the list then. */
START_TEST(test_most_fields)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/test_log.XXXXXX", text[8192], env[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct log_field many[LOG_FIELDS_MAX + 2];
	struct capture c;
	struct stat st;

	for (unsigned i = 0; i < LOG_FIELDS_MAX + 2; i++) {
		many[i] = (struct log_field){ "many", "x" };
	}
	c = capture_file();
	log_set_format(LOG_FORMAT_JSON);
	log_fields(MSG_EVENT_CABLE_LOST, "sweep", many, "cable lost");
	log_set_format(LOG_FORMAT_TEXT);
	capture_end(&c, text, sizeof(text));
	ck_assert_uint_eq(count_of(text, "\"many\":\"x\""), LOG_FIELDS_MAX);

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	log_set_journal(at.sun_path);
	c = capture_file();
	fstat(STDERR_FILENO, &st);
	snprintf(env, sizeof(env), "%llu:%llu", (unsigned long long)st.st_dev,
	         (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", env, 1);
	log_fields(MSG_EVENT_CABLE_LOST, "sweep", many, "cable lost");
	capture_end(&c, text, sizeof(text));
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	ck_assert_uint_eq(count_of(text, "SAGUARO_MANY=x\n"), LOG_FIELDS_MAX);
	close(fd);
	unlink(at.sun_path);
	rmdir(dir);
}
END_TEST

static bool matches(const char *text, const char *pattern);

START_TEST(test_json)
{
	char text[8192], big[5000];
	struct capture c = capture_file();

	memset(big, '"', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	log_set_format(LOG_FORMAT_JSON);
	log_fields(MSG_EVENT_CABLE_LOST, "sweep", some, "cable lost\nand found");
	log_message(MSG_LOG_NO_PORT_FILE, "umad", "caf\xc3\xa9 \xff");
	log_message(MSG_LOG_NO_PORT_FILE, "umad", "%s", big);
	log_set_format(LOG_FORMAT_TEXT);
	capture_end(&c, text, sizeof(text));

	char *second = strchr(text, '\n') + 1, *third = strchr(second, '\n') + 1;
	char *fourth = strchr(third, '\n') + 1;
	ck_assert(matches(
		text,
		"^\\{\"time\":\"[0-9T:.-]+Z\",\"level\":\"warning\",\"source\":\"sweep\",\"code\":\"SAG-EVENT-004\",\"event\":\"cable_lost\",\"node\":\"evil[?]PRIORITY=0 \\\\\"x\\\\\\\\\",\"text\":\"cable lost\"[}]"));
	ck_assert_ptr_nonnull(strstr(second, "\"text\":\"and found\"}\n"));
	ck_assert_ptr_nonnull(strstr(third, "\"code\":\"SAG-LOG-003\",\"text\":"));
	ck_assert_int_eq(
		strncmp(strstr(third, "\"text\""), "\"text\":\"caf\xc3\xa9 ?\"}\n", 18),
		0);
	ck_assert_str_eq(fourth + strlen(fourth) - 3, "\"}\n");
}
END_TEST

static bool matches(const char *text, const char *pattern)
{
	regex_t re;
	ck_assert_int_eq(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	bool ok = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return ok;
}

static size_t read_file(const char *path, char *buf, size_t bytes)
{
	FILE *f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	size_t n = fread(buf, 1, bytes - 1, f);
	buf[n] = '\0';
	fclose(f);
	return n;
}

START_TEST(test_file)
{
	char dir[] = "/tmp/test_log.XXXXXX", path[64], moved[64], text[512], sink[512];
	struct capture c = capture_file();

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	snprintf(moved, sizeof(moved), "%s/log.1", dir);
	ck_assert_int_eq(log_open("/nonexistent/folder/log"), -ENOENT);
	ck_assert_int_eq(log_open(NULL), E_OK);
	ck_assert_int_eq(log_open(path), E_OK);
	log_info("a", "one");
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_int_eq(log_open(path), E_OK); /* as after a rotation */
	log_info("a", "two");
	ck_assert_int_eq(log_open("-"), E_OK);
	log_info("a", "three");
	capture_end(&c, sink, sizeof(sink));
	ck_assert_str_eq(sink, "info a: one\ninfo a: two\ninfo a: three\n");

	static const char stamp[] =
		"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z info a: ";
	read_file(moved, text, sizeof(text));
	ck_assert_msg(matches(text, stamp) && strstr(text, "Z info a: one\n"), "%s",
	              text);
	read_file(path, text, sizeof(text));
	ck_assert_msg(matches(text, stamp) && strstr(text, "Z info a: two\n"), "%s",
	              text);
	ck_assert_ptr_null(strstr(text, "three"));
	unlink(path);
	unlink(moved);
	rmdir(dir);
}
END_TEST

enum { THREADS = 4, LINES = 300, WIDTH = 400 };

static void *writer(void *arg)
{
	char text[WIDTH + 1];
	memset(text, 'a' + *(int *)arg, WIDTH);
	text[WIDTH] = '\0';
	for (int i = 0; i < LINES; i++) {
		log_info("t", "%s", text);
	}
	return NULL;
}

/* Lines of several threads: each arrives whole. */
START_TEST(test_threads)
{
	static char text[THREADS * LINES * (WIDTH + 64)];
	char path[] = "/tmp/test_log.XXXXXX";
	pthread_t id[THREADS];
	int arg[THREADS];
	struct capture c = capture_file();

	close(mkstemp(path));
	ck_assert_int_eq(log_open(path), E_OK);
	for (int i = 0; i < THREADS; i++) {
		arg[i] = i;
		pthread_create(&id[i], NULL, writer, &arg[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(id[i], NULL);
	}
	char sink[16];
	capture_end(&c, sink, sizeof(sink));
	read_file(path, text, sizeof(text));
	unlink(path);

	unsigned n = 0;
	char *save = NULL;
	for (char *p = text, *line; (line = strtok_r(p, "\n", &save)) != NULL; p = NULL) {
		char *body = strstr(line, "Z info t: ");
		ck_assert_ptr_nonnull(body);
		body += strlen("Z info t: ");
		ck_assert_uint_eq(strlen(body), WIDTH);
		ck_assert_uint_eq(strspn(body, (char[]){ body[0], '\0' }), WIDTH);
		n++;
	}
	ck_assert_uint_eq(n, THREADS * LINES);
}
END_TEST

START_TEST(test_limit)
{
	struct log_limit l = { 0 };
	char skipped[LOG_SKIPPED_BYTES];

	ck_assert(log_allowed(&l, 0, 2, 1000, skipped));
	ck_assert_str_eq(skipped, "");
	ck_assert(log_allowed(&l, 10, 2, 1000, skipped));
	ck_assert(!log_allowed(&l, 20, 2, 1000, skipped));
	ck_assert(!log_allowed(&l, 999, 2, 1000, skipped));
	ck_assert(log_allowed(&l, 1000, 2, 1000, skipped));
	ck_assert_str_eq(skipped, "; 2 more such lines were skipped");
	ck_assert(log_allowed(&l, 1001, 2, 1000, skipped));
	ck_assert_str_eq(skipped, "");
	ck_assert(!log_allowed(&l, 1002, 2, 1000, skipped));
	ck_assert(log_allowed(&l, 2000, 2, 1000, skipped));
	ck_assert_str_eq(skipped, "; 1 more such line was skipped");
	l.skipped = UINT32_MAX;
	ck_assert(log_allowed(&l, 3000, 2, 1000, skipped));
	ck_assert_str_eq(skipped, "; 4294967295 more such lines were skipped");
}
END_TEST

static const struct {
	const char *area, *code, *text[3];
	bool alarm; /* has the remedy */
} rows[] = {
#define AREA(area_, title) { .area = #area_ },
#define MESSAGE(area_, number, level, name, meaning, cause, remedy)                      \
	{ #area_, "SAG-" #area_ "-" #number, { meaning, cause, remedy }, false },
#define EVENT_MESSAGE(number, level, kind, alarm_, cause, remedy)                        \
	{ "EVENT",                                                                       \
	  "SAG-EVENT-" #number,                                                          \
	  { "The meaning is in db/stats/events.def.", cause, remedy },                         \
	  strcmp(#alarm_, "none") != 0 },
#include "conf/base/messages.def"
};

/* No code is there twice, and each stands below the heading of its area. */
START_TEST(test_codes)
{
	const unsigned n = sizeof(rows) / sizeof(rows[0]);
	const char *area = "";

	for (unsigned i = 0; i < n; i++) {
		if (rows[i].code == NULL) {
			area = rows[i].area;
			continue;
		}
		ck_assert_str_eq(rows[i].area, area);
		ck_assert_msg(matches(rows[i].code, "^SAG-[A-Z]+-[0-9]{3}$"), "%s",
		              rows[i].code);
		for (unsigned k = 0; k < i; k++) {
			ck_assert_msg(rows[k].code == NULL ||
			                      strcmp(rows[k].code, rows[i].code) != 0,
			              "%s is there twice", rows[i].code);
		}
	}
}
END_TEST

/* Meaning, cause and remedy are sentences: at least four words and a full stop. */
START_TEST(test_sentences)
{
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned k = 0; rows[i].code != NULL && k < 3; k++) {
			const char *text = rows[i].text[k];

			if (k == 2 && rows[i].alarm) {
				ck_assert_str_eq(text, ""); /* said once */
				continue;
			}
			ck_assert_msg(matches(text, "^['A-Z]([^ ]* ){3,}.*[.]$"),
			              "%s: '%s' is no sentence", rows[i].code, text);
			ck_assert_msg(strstr(text, "  ") == NULL, "%s: two blanks",
			              rows[i].code);
		}
	}
}
END_TEST

static char *printed(const struct diags *d, enum diag_level least)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	diags_print(d, f, least);
	fclose(f);
	return text;
}

START_TEST(test_diags)
{
	struct arena *a = arena_new();
	struct diags d;
	char file[] = "x.conf";

	diags_init(&d, a);
	ck_assert_str_eq(diags_first_error(&d), "");
	diag_add(NULL, DIAG_ERROR, "f", 1, "kept nowhere");
	diag_add(&d, DIAG_NOTE, NULL, 0, "a note");
	diag_add(&d, DIAG_WARNING, file, 3, "key '%s'", "a\033b");
	file[0] = 'y'; /* the list has its own copy */
	diag_add(&d, DIAG_ERROR, file, 0, "cannot be read");
	ck_assert_uint_eq(d.n_errors, 1);
	ck_assert_uint_eq(d.n_warnings, 1);
	ck_assert_str_eq(diags_first_error(&d), "cannot be read");

	char *all = printed(&d, DIAG_NOTE), *errors = printed(&d, DIAG_ERROR);
	ck_assert_str_eq(all, "note: a note\n"
	                      "x.conf:3: warning: key 'a?b'\n"
	                      "y.conf: error: cannot be read\n");
	ck_assert_str_eq(errors, "y.conf: error: cannot be read\n");
	free(all);
	free(errors);
	arena_free(a);
}
END_TEST

/* However many warnings come first, errors are kept; what is not kept is counted. */
START_TEST(test_diags_full)
{
	struct arena *a = arena_new();
	struct diags d;

	diags_init(&d, a);
	for (unsigned i = 0; i < 1000; i++) {
		diag_add(&d, DIAG_WARNING, "f", i + 1, "w");
	}
	for (unsigned i = 0; i < 1000; i++) {
		diag_add(&d, DIAG_ERROR, "f", i + 1, "e%u", i);
	}
	ck_assert_uint_eq(d.n_errors, 1000);
	ck_assert_uint_eq(d.n_warnings, 1000);
	ck_assert_uint_eq(d.n, DIAG_MAX);
	ck_assert_str_eq(diags_first_error(&d), "e0");
	/* what is not kept is of a level that was asked for, or not mentioned */
	for (int least = DIAG_NOTE; least <= DIAG_ERROR; least++) {
		char *text = printed(&d, (enum diag_level)least);
		const char *end = strstr(text, "error: 900 more errors are not shown\n");

		ck_assert_ptr_nonnull(end);
		ck_assert_str_eq(end, least > DIAG_WARNING
		                              ? "error: 900 more errors are not shown\n"
		                              : "error: 900 more errors are not shown\n"
		                                "warning: 900 more warnings are not shown\n");
		free(text);
	}
	arena_free(a);
}
END_TEST

/* The log counts repeated messages of the whole process. */
TEST_SUITE_FORKED(log)
{
	TCase *tc = tcase_create("log");
	tcase_add_test(tc, test_lines);
	tcase_add_test(tc, test_several);
	tcase_add_test(tc, test_terminal);
	tcase_add_test(tc, test_journal);
	tcase_add_test(tc, test_journal_fields);
	tcase_add_test(tc, test_most_fields);
	tcase_add_test(tc, test_json);
	tcase_add_test(tc, test_file);
	tcase_add_test(tc, test_threads);
	tcase_add_test(tc, test_limit);
	tcase_add_test(tc, test_codes);
	tcase_add_test(tc, test_sentences);
	tcase_add_test(tc, test_diags);
	tcase_add_test(tc, test_diags_full);
	suite_add_tcase(suite, tc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What `saguaro` prints, as a whole: each command of tests/golden/saguaro is run, and its text and
 * exit status are those of the file. The values come from fabrics that are drawn in
 * tests/lib/query_fixture.h (rich; broken has a loop and a dead end) or generated (tree: ft2 3 2 2), and were compared with them by hand
 * when they were written down. Where a text changes on purpose, GOLDEN=write writes the file anew, and
 * its difference is to be read as code is.
 *
 *	= rich               the commands that follow read its snapshot
 *	> {"ok":true}        what saguarod replies to the next command, a line for each of its requests; without
 *	                     such a line there is no saguarod
 *	$ nodes --type ca    a command; @ is a folder with the files of write_files()
 *	saguarod: {...}      what it asks saguarod
 *	...                  what it prints, standard error behind standard output
 *	exit 0
 *
 * JSON is folded: a line for each element. Durations and the memory that was used are not compared.
 */
#include <ctype.h>
#include <jansson.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "routing/text/lftfile.h"
#include "routing/text/topofile.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/golden.h"
#include "tests/lib/rich_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture tree;
static struct query_fixture *rich, *broken;
static struct stats *rich_stats;

/* Puts \a to for each \a from. */
static void replace(char **text, const char *from, const char *to)
{
	char *all = NULL, *at = *text, *next;
	size_t len = 0;
	FILE *f = open_memstream(&all, &len);

	for (; (next = strstr(at, from)) != NULL; at = next + strlen(from)) {
		fprintf(f, "%.*s%s", (int)(next - at), at, to);
	}
	fputs(at, f);
	fclose(f);
	free(*text);
	*text = all;
}

/* A topology with a name that a terminal would obey. */
static void write_hostile(void)
{
	char path[128], *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	ck_assert_int_eq(topo_write(tree.g, f), E_OK);
	fclose(f);
	replace(&text, "# \"leaf-0000\" base", "# \"bad\033[31m\xc2\x9bname\" base");
	snprintf(path, sizeof(path), "%s/hostile", tree.dir);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	free(text);
}

static void write_lfts(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tree.dir, name);
	f = fopen(path, "w");
	ck_assert_int_eq(lftfile_write(tree.g, &tree.lids, &tree.route.out.lft, f), E_OK);
	fclose(f);
}

/* The fabric and its tables, and the same tables but for a route that is missing and one that leads to
 * the wrong host. */
static void write_files(void)
{
	uint8_t *row = lft_row(&tree.route.out.lft, 0);
	const uint8_t was[2] = { row[1], row[11] };
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/topo", tree.dir);
	f = fopen(path, "w");
	ck_assert_int_eq(topo_write(tree.g, f), E_OK);
	fclose(f);
	write_lfts("lfts");
	row[1] = 2;
	row[11] = LFT_NO_ROUTE;
	write_lfts("broken");
	row[1] = was[0];
	row[11] = was[1];
}

/* A configuration with all that a check tells apart: good values, one without effect, a wrong one and a key
 * that does not exist. */
static void write_config(void)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/opensm.conf", tree.dir);
	f = fopen(path, "w");
	fputs("# routes\nrouting_engine updn,minhop\nlmc 1\nsweep_interval 10\n"
	      "force_log_flush TRUE\nmax_wire_smps many\nno_such_option 1\n",
	      f);
	fclose(f);
}

/* The small fabric with tables that lead into a loop of sw-a and sw-c, and to a switch
 * without a route. */
static void start_broken(void)
{
	struct lft *lft;
	uint32_t loop, dead;

	broken = query_fixture_small(0, 0, PATH_MINIMAL);
	lft = &broken->route.out.lft;
	loop = query_fixture_end(broken, DUAL + 2).base_lid;
	dead = query_fixture_end(broken, TWIN_2 + 1).base_lid;
	for (uint32_t s = 0; s < broken->g->n_switches; s++) {
		if (broken->g->nodes[broken->g->switches[s]].guid == SW_C) {
			lft_row(lft, s)[loop] = 1;
			lft_row(lft, s)[dead] = LFT_NO_ROUTE;
		}
	}
	query_fixture_publish(broken, PATH_MINIMAL);
}

/* A folder without keys, and one with a key that others could read. */
static void make_folders(void)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/keys", tree.dir);
	ck_assert_int_eq(mkdir(path, 0750), 0);
	snprintf(path, sizeof(path), "%s/open", tree.dir);
	ck_assert_int_eq(mkdir(path, 0750), 0);
	snprintf(path, sizeof(path), "%s/open/m_key", tree.dir);
	f = fopen(path, "w");
	fputs("0x0123456789abcdef\n", f);
	fclose(f);
	ck_assert_int_eq(chmod(path, 0644), 0);
}

static void start(void)
{
	static char *args[] = { (char *)"3", (char *)"2", (char *)"2" };

	unsetenv("SAGUARO_URL");
	gateway_fixture_init(&tree, "ft2", 3, args);
	gateway_fixture_route(&tree, 1);
	gateway_fixture_open(&tree);
	gateway_fixture_publish(&tree, 6);
	gateway_fixture_route(&tree, 0);
	gateway_fixture_publish(&tree, 7);
	gateway_fixture_heartbeat(&tree, 0, true);
	write_files();
	write_config();
	make_folders();
	write_hostile();
	start_broken();
	rich_fixture_start(&rich, &rich_stats);
}

static void stop(void)
{
	gateway_fixture_done(&tree);
	rich_fixture_stop(rich, rich_stats);
	query_fixture_free(broken);
}

/* Puts 0 for the digits of a duration. */
static void mask(char *text, const char *before, const char *behind)
{
	for (char *p = text; *p != '\0'; p++) {
		size_t n = strspn(p, "0123456789.e-");

		if (isdigit((unsigned char)*p) &&
		    strncmp(p + n, behind, strlen(behind)) == 0 &&
		    (size_t)(p - text) >= strlen(before) &&
		    strncmp(p - strlen(before), before, strlen(before)) == 0) {
			memset(p, '0', n);
			memmove(p + 1, p + n, strlen(p + n) + 1);
		}
		p += n > 1 ? n - 1 : 0;
		if (*p == '\0') {
			break;
		}
	}
}

/* Puts 0.000 for a number of seconds at the end of a line. */
static void mask_last_column(char *text)
{
	for (char *p = text; (p = strchr(p, '\n')) != NULL; p++) {
		char *from = p;

		while (from > text &&
		       (isdigit((unsigned char)from[-1]) || from[-1] == '.')) {
			from--;
		}
		for (bool is_it = p - from > 4 && p[-4] == '.'; is_it && from < p;
		     from++) {
			*from = *from == '.' ? '.' : '0';
		}
	}
}

/* JSON with a line for each element, as a difference is read best. Sentences may stand before it. */
static void fold_json(char **text)
{
	char *from = **text == '{' ? *text : strstr(*text, "\n{\n"), *compact,
	     *all = NULL;
	json_error_t e;
	json_t *o;
	size_t len = 0;
	FILE *f;

	from = from == NULL || from == *text ? from : from + 1;
	o = from != NULL ? json_loads(from, JSON_DISABLE_EOF_CHECK, &e) : NULL;
	if (o == NULL) {
		return;
	}
	compact = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	replace(&compact, "},{", "},\n{");
	replace(&compact, "],\"", "],\n\"");
	f = open_memstream(&all, &len);
	fprintf(f, "%.*s%s%s", (int)(from - *text), *text, compact, from + e.position);
	fclose(f);
	free(compact);
	free(*text);
	*text = all;
}

/* --- saguarod, as far as a command sees it
 * -------------------------------------------------- */

enum { REPLIES = 4 };

static struct {
	char *reply[REPLIES]; /* for the next command */
	unsigned n, n_asked;
	int listener; /* -1: there is none */
	char path[128];
} control = { .listener = -1 };

static void daemon_listen(const char *snapshot)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (control.n == 0) {
		return;
	}
	snprintf(control.path, sizeof(control.path), "%s.control", snapshot);
	ck_assert_uint_lt(strlen(control.path), sizeof(at.sun_path));
	strcpy(at.sun_path, control.path);
	control.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(control.listener, (struct sockaddr *)&at, sizeof(at)),
	                 0);
	ck_assert_int_eq(listen(control.listener, REPLIES), 0);
}

/* Takes a request, writes it down, and replies; without a further reply it closes the
 * connection. */
static void daemon_serve(FILE *to)
{
	int fd = accept(control.listener, NULL, NULL);
	const char *reply = control.n_asked < control.n
	                            ? control.reply[control.n_asked]
	                            : "";
	char c = 0;

	ck_assert_int_ge(fd, 0);
	fputs("saguarod: ", to);
	while (c != '\n' && read(fd, &c, 1) == 1) {
		fputc(c, to);
	}
	if (*reply != '\0') {
		ck_assert_int_gt(dprintf(fd, "%s\n", reply), 0);
	}
	close(fd);
	control.n_asked++;
}

/* Each reply was asked for. */
static void daemon_end(const char *words)
{
	if (control.n == 0) {
		return;
	}
	close(control.listener);
	unlink(control.path);
	control.listener = -1;
	ck_assert_msg(control.n_asked >= control.n, "%s: %u requests, not %u",
	              words, control.n_asked, control.n);
	for (unsigned i = 0; i < control.n; i++) {
		free(control.reply[i]);
	}
	control.n = control.n_asked = 0;
}

/* Reads what a command prints until its end. */
static void read_output(FILE *f, FILE *to, FILE *asked)
{
	struct pollfd p[] = { { .fd = fileno(f), .events = POLLIN },
		              { .fd = control.listener, .events = POLLIN } };
	char buf[4096];
	ssize_t n = 1;

	while (n > 0) {
		ck_assert_int_gt(poll(p, 2, -1), 0);
		if ((p[1].revents & POLLIN) != 0) {
			daemon_serve(asked);
		} else if (p[0].revents != 0) {
			n = read(p[0].fd, buf, sizeof(buf));
			fwrite(buf, 1, n > 0 ? (size_t)n : 0, to);
		}
	}
}

/* Runs a command. \return What it prints, and its exit status as last line. */
static char *run(const char *words, const char *snapshot)
{
	const char *top = getenv("top_builddir");
	char command[2048], *text = strdup(words), *all = NULL, *asked = NULL;
	size_t len = 0, asked_len = 0;
	FILE *f, *to, *asked_to;
	int status;

	replace(&text, "@", tree.dir);
	setenv("SAGUARO_SNAPSHOT_DIR", snapshot, 1);
	snprintf(command, sizeof(command), "%s/saguaro %s 2>&1", top ? top : ".", text);
	free(text);
	daemon_listen(snapshot);
	f = popen(command, "r");
	to = open_memstream(&all, &len);
	asked_to = open_memstream(&asked, &asked_len);
	read_output(f, to, asked_to);
	status = pclose(f);
	daemon_end(words);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 127);
	fprintf(to, "exit %d\n", WEXITSTATUS(status));
	fclose(to);
	replace(&all, tree.dir, "@");
	replace(&all, rich->dir, "@");
	replace(&all, broken->dir, "@");
	fold_json(&all);
	mask(all, "\"seconds_route\":", "");
	mask(all, "\"parse\":", ",\"route");
	mask(all, "\"route\":", ",\"prove");
	mask(all, "\"prove\":", "}");
	mask(all, "peak memory       ", " MB");
	mask(all, "\"peak_rss_bytes\":", "");
	/* durations of route and status, as text and as JSON */
	mask(all, "parse ", ", route ");
	mask(all, "route ", ", prove ");
	mask(all, "prove ", "\n");
	if (strncmp(words, "compare", 7) == 0) {
		mask_last_column(all);
	}
	fputs(all, asked_to);
	fclose(asked_to);
	free(all);
	return asked;
}

START_TEST(test_texts)
{
	const bool writes = golden_writes();
	char *path = golden_path("saguaro"), *golden = golden_read(path), *fresh = NULL;
	const char *snapshot = tree.dir;
	unsigned n = 0;
	size_t len = 0;
	FILE *to = open_memstream(&fresh, &len);

	for (char *line = golden; *line != '\0';) {
		char *end = strchr(line, '\n'), *last;

		*end = '\0';
		fprintf(to, "%s\n", line);
		if (strncmp(line, "= ", 2) == 0) {
			snapshot = strcmp(line + 2, "rich") == 0     ? rich->dir
			           : strcmp(line + 2, "broken") == 0 ? broken->dir
			                                             : tree.dir;
		}
		if (*line == '>') {
			ck_assert_uint_lt(control.n, REPLIES);
			control.reply[control.n++] =
				strdup(line + 1 + (line[1] == ' '));
		}
		if (strncmp(line, "$ ", 2) != 0) {
			line = end + 1;
			continue;
		}
		char *is = run(line + 2, snapshot);

		last = end + 1;
		while (*last != '\0' && strncmp(last, "exit ", 5) != 0 &&
		       strncmp(last, "$ ", 2) != 0) {
			last += strcspn(last, "\n");
			last += *last == '\n';
		}
		/* of a new command nothing stands there */
		last = *last == 'e' ? strchr(last, '\n') : end;
		fputs(is, to);
		if (!writes) {
			char kept = last[1];

			last[1] = '\0';
			ck_assert_msg(strcmp(is, end + 1) == 0, "%s\n%s", line,
			              golden_difference(is, end + 1));
			last[1] = kept;
		}
		free(is);
		n++;
		line = last + 1;
	}
	fclose(to);
	ck_assert_uint_gt(n, 50);
	if (writes) {
		golden_write(path, fresh);
	}
	free(fresh);
	free(golden);
	free(path);
}
END_TEST

TEST_SUITE(texts)
{
	TCase *t = tcase_create("texts");

	tcase_set_timeout(t, 400); /* a program per line, beside other work */
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, test_texts);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro complete WORD...: what may stand in place of the last word, a line each. Completion of
 * bash and zsh asks it (dist/saguaro, dist/zsh), so it knows the fabric and is never out of date:
 * flags come from the command's --help, names and fields from the lists.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/stats/stats.h"
#include "gateway/cli/help/command.h"
#include "gateway/view/diff_json.h"
#include "routing/engine.h"

extern char **environ;

enum { ARGS_MAX = 16, LINE_MAX_BYTES = 4096 };

/* The command line up to the cursor. */
struct completion {
	int n; /* words, the last is to be completed */
	char **word;
	const char *last;
	const char *origin
		[6]; /* flags that name the fabric, with their values; NULL at the end */
};

static void offer(const struct completion *c, const char *candidate)
{
	if (strncmp(candidate, c->last, strlen(c->last)) == 0) {
		puts(candidate);
	}
}

static void offer_all(const struct completion *c, const char *const *list)
{
	for (; *list != NULL; list++) {
		offer(c, *list);
	}
}

/* --- what other commands print ------------------------------------------------------------- */

/* Runs this program. \param with_origin  On the fabric that the command line names.
 * \return Its standard output, NULL: none. End with close_output(). */
static FILE *open_output(const struct completion *c, const char *const *args,
                         bool with_origin, pid_t *ret_pid)
{
	char *argv[ARGS_MAX + 8] = { (char *)"saguaro" };
	posix_spawn_file_actions_t actions;
	int fd[2], n = 1;

	for (; *args != NULL && n < ARGS_MAX; args++) {
		argv[n++] = (char *)*args;
	}
	for (int i = 0; with_origin && c->origin[i] != NULL; i++) {
		argv[n++] = (char *)c->origin[i];
	}
	if (pipe(fd) != 0) {
		return NULL;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1,
	                                 0); /* O_WRONLY */
	posix_spawn_file_actions_adddup2(&actions, fd[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, fd[0]);
	posix_spawn_file_actions_addclose(&actions, fd[1]);
	int ret = posix_spawn(ret_pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[1]);
	FILE *f = ret == 0 ? fdopen(fd[0], "r") : NULL;
	if (f == NULL) {
		close(fd[0]);
	}
	return f;
}

static void close_output(FILE *f, pid_t pid)
{
	fclose(f);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
}

/* Offers what a command prints: each line up to \a end, behind \a before. */
static void offer_output(const struct completion *c, const char *const *args,
                         bool with_origin, const char *before, const char *end)
{
	char line[LINE_MAX_BYTES], text[LINE_MAX_BYTES + 256];
	pid_t pid;
	FILE *f = open_output(c, args, with_origin, &pid);

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, end)] = '\0';
		if (line[0] != '\0') {
			snprintf(text, sizeof(text), "%.200s%s", before, line);
			offer(c, text);
		}
	}
	if (f != NULL) {
		close_output(f, pid);
	}
}

/* Does a first word of the command choose the flags? */
static bool has_actions(const char *command)
{
	return strcmp(command, "report") == 0 || strcmp(command, "partition") == 0;
}

/* Does an action of `saguaro partition` name hosts? */
static bool takes_members(const char *action)
{
	return strcmp(action, "create") == 0 || strcmp(action, "add") == 0 ||
	       strcmp(action, "remove") == 0 || strcmp(action, "set") == 0;
}

/* Flags of a command as its help lists them, or the words that open other lines of it. */
static void offer_help(const struct completion *c, const char *command, bool flags)
{
	const char *action =
		flags && has_actions(command) && c->n > 2 ? c->word[1] : "--help";
	const char *args[] = { command, action, "--help", NULL };
	char line[LINE_MAX_BYTES];
	pid_t pid;
	FILE *f = open_output(c, args, false, &pid);

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char *word = flags ? strstr(line, "--") : line + 2;

		if (strncmp(line, "  ", 2) != 0 || word == NULL || word - line > 6 ||
		    (!flags && (*word < 'a' || *word > 'z'))) {
			continue;
		}
		word[strcspn(word, "[= ,\n")] = '\0';
		offer(c, word);
	}
	if (f != NULL) {
		close_output(f, pid);
	}
}

/* --- names of the fabric ------------------------------------------------------------------- */

/* Nodes, and their ports once a name and a colon are there. */
static void offer_ports(struct completion *c, bool ports)
{
	const char *colon = ports ? strrchr(c->last, ':') : NULL;
	const char *all[] = { "nodes", "--field", "name", NULL };
	char name[200], before[256];

	if (colon == NULL) {
		offer_output(c, all, true, "", "\n");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(colon - c->last), c->last);
	snprintf(before, sizeof(before), "%s:", name);
	const char *of_node[] = { "ports", "--node", name, "--field", "port", NULL };
	offer_output(c, of_node, true, before, "\n");
}

/* Flags without a value that choose the list, as first words of a command do. */
static bool chooses_list(const char *flag)
{
	return strcmp(flag, "--gone") == 0 || strcmp(flag, "--sick") == 0;
}

/* Fields behind the last comma. Words of the command come along, since they choose the list. */
static void offer_fields(struct completion *c, const char *command)
{
	const char *comma = strrchr(c->last, ',');
	const char *args[ARGS_MAX] = { command };
	char before[256];
	int n = 1;

	for (int i = 1; i < c->n - 1 && n < ARGS_MAX - 3; i++) {
		if (c->word[i][0] == '-' && !chooses_list(c->word[i])) {
			break;
		}
		args[n++] = c->word[i];
	}
	args[n++] = "--field";
	args[n++] = "list";
	snprintf(before, sizeof(before), "%.*s",
	         comma != NULL ? (int)(comma + 1 - c->last) : 0, c->last);
	offer_output(c, args, true, before, "\n");
}

static void offer_engines(const struct completion *c)
{
	const char *comma = strrchr(c->last, ',');
	char text[512];

	for (const struct engine *const *e = engines; *e != NULL; e++) {
		snprintf(text, sizeof(text), "%.*s%s",
		         comma != NULL ? (int)(comma + 1 - c->last) : 0, c->last,
		         (*e)->name);
		offer(c, text);
	}
}

static void offer_kinds(const struct completion *c, const char *command)
{
	bool diff = strcmp(command, "diff") == 0;

	for (unsigned k = 0; diff && k < DIFF_KIND_COUNT; k++) {
		offer(c, diff_kind_names[k]);
	}
	for (unsigned k = 0; !diff && k < EVENT_KINDS; k++) {
		offer(c, event_types[k].name);
	}
}

/* --- which of them ------------------------------------------------------------------------- */

/* The value of a flag. \return false: it is a file, a number, or anything. */
static bool offer_value(struct completion *c, const char *command, const char *flag)
{
	static const char *const types[] = { "ca", "switch", "router", NULL };
	static const char *const states[] = { "down", "init", "armed", "active", NULL };
	static const char *const modes[] = { "minimal", "pairwise", "orderall",
		                             "srcdstall", NULL };

	if (strcmp(flag, "--field") == 0) {
		offer_fields(c, command);
	} else if (strcmp(flag, "--type") == 0 || strcmp(flag, "-t") == 0) {
		offer_all(c, types);
	} else if (strcmp(flag, "--state") == 0) {
		offer_all(c, states);
	} else if (strcmp(flag, "--mode") == 0 || strcmp(flag, "-m") == 0) {
		offer_all(c, modes);
	} else if (strcmp(flag, "--kind") == 0 || strcmp(flag, "-k") == 0) {
		offer_kinds(c, command);
	} else if (strcmp(flag, "-R") == 0 || strcmp(flag, "--routing_engine") == 0 ||
	           strcmp(flag, "--routing-engine") == 0) {
		offer_engines(c);
	} else if (strcmp(flag, "--node") == 0 || strcmp(flag, "--name") == 0) {
		offer_ports(c, false);
	} else if (strcmp(flag, "--src") == 0 || strcmp(flag, "--dst") == 0 ||
	           strcmp(flag, "--down") == 0) {
		offer_ports(c, true);
	} else {
		return false;
	}
	return true;
}

/* The word of a command that is no flag. \param at  0: the first. */
static void offer_word(struct completion *c, const char *command, int at)
{
	static const char *const levels[] = { "error", "warning", "info", "debug", NULL };
	static const char *const on_off[] = { "disable", "enable", NULL };
	static const char *const acks[] = { "ack", "unack", NULL };
	static const char *const config[] = { "check", NULL };
	static const char *const keys[] = { "init", NULL };
	const char *records[] = { "records", "list", NULL };
	const char *ids[] = { "alarms", "--all", "--field", "id", NULL };
	const char *codes[] = { "explain", "--field", "name", NULL };
	const char *partitions[] = { "partition", "list", "--field", "name", NULL };

	if (strcmp(command, "paths") == 0 || strcmp(command, "trace") == 0 ||
	    strcmp(command, "why") == 0 || strcmp(command, "doctor") == 0) {
		offer_ports(c, true);
	} else if (strcmp(command, "lft") == 0) {
		offer_ports(c, false);
	} else if (strcmp(command, "records") == 0 && at == 0) {
		offer_output(c, records, true, "", "\n");
	} else if ((has_actions(command) || strcmp(command, "topo") == 0) && at == 0) {
		offer_help(c, command, false);
	} else if (strcmp(command, "explain") == 0 && at == 0) {
		offer_output(c, codes, false, "", "\n");
	} else if (strcmp(command, "config") == 0 && at == 0) {
		offer_all(c, config);
	} else if (strcmp(command, "keys") == 0 && at == 0) {
		offer_all(c, keys);
	} else if (strcmp(command, "partition") == 0 && at == 1) {
		offer_output(c, partitions, true, "", "\n");
	} else if (strcmp(command, "partition") == 0 && takes_members(c->word[1])) {
		offer_ports(c, true);
	} else if (strcmp(command, "port") == 0) {
		if (at == 0) {
			offer_all(c, on_off);
		} else {
			offer_ports(c, true);
		}
	} else if (strcmp(command, "alarm") == 0 && at == 0) {
		offer_all(c, acks);
	} else if (strcmp(command, "alarm") == 0) {
		offer_output(c, ids, true, "", "\n");
	} else if (strcmp(command, "loglevel") == 0) {
		offer_all(c, levels);
	} else if (strcmp(command, "help") == 0 && at == 0) {
		command_each(c->last, puts);
	}
}

/* Keeps the flags that name the fabric for the lists that are asked. */
static void keep_origin(struct completion *c)
{
	static const char *const flags[] = { "--instance", "--snapshot-dir", "--url",
		                             "-u", NULL };
	int n = 0;

	for (int i = 1; i + 1 < c->n - 1 && n < 4; i++) {
		for (const char *const *f = flags; *f != NULL && n < 4; f++) {
			if (strcmp(c->word[i], *f) == 0) {
				c->origin[n++] = c->word[i];
				c->origin[n++] = c->word[i + 1];
				break;
			}
		}
	}
}

int cmd_complete(int argc, char **argv)
{
	struct completion c = { .n = argc - 1, .word = argv + 1 };
	const char *command = c.n > 1 ? c.word[0] : "";
	int words = 0;

	c.last = c.n > 0 ? c.word[c.n - 1] : "";
	if (c.n <= 1) {
		command_each(c.last, puts);
		return EXIT_GOOD;
	}
	keep_origin(&c);
	for (int i = 1; i < c.n - 1; i++) {
		words += c.word[i][0] != '-';
	}
	if (c.last[0] == '-') {
		offer_help(&c, command, true);
	} else if (c.n == 2 || c.word[c.n - 2][0] != '-' ||
	           !offer_value(&c, command, c.word[c.n - 2])) {
		offer_word(&c, command, words);
	}
	return EXIT_GOOD;
}

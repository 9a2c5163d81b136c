/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro-sim: a simulated fabric for real programs. The program serves a topology file, runs a
 * command on one of its hosts (--run), or sends a command to a running simulation (ctl).
 */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/graph/graph.h"
#include "routing/text/topofile.h"
#include "sa/sim/sim.h"
#include "sa/sim/sim_server.h"
#include "sa/sim/sim_socket.h"

enum { EXIT_GOOD, EXIT_FAILED, EXIT_USAGE, EXIT_NOT_FOUND = 127 };

/* Of the command line. */
struct args {
	const char *socket;
	const char *host;
	bool keep_lids, quiet, omni_path, strict, slvl_one_by_one;
	uint32_t guids, vports, lft_cap;
	char **rest; /* FILE, COMMAND ARGS or words for ctl */
};

#define MEMBER(m) .offset = offsetof(struct args, m)

/* clang-format off */
#define SOCKET_ROW \
	{ .name = "socket", .type = OPT_STRING, MEMBER(socket), .flags_long = "socket", .arg = "PATH", .flags = OPT_CLI_ONLY, \
	  .help = "Socket of the simulator; default: SAGUARO_SIM_SOCKET, else saguaro-sim.sock in XDG_RUNTIME_DIR, else in /tmp with your user number", \
	  .more = "Each simulator needs a socket of its own. The folder PATH.hosts beside it holds the files that programs see in " \
	          "place of /sys/class/infiniband. Both are removed when the simulator ends." }

static const struct option_row serve_rows[] = {
	SOCKET_ROW,
	{ .name = "keep_lids", .type = OPT_BOOL, MEMBER(keep_lids), .def = "FALSE", .flags_long = "keep-lids",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "Ports start with the LIDs and states of the file, as if a subnet manager had set them" },
	{ .name = "guid_cap", .type = OPT_UINT, MEMBER(guids), .def = "8", .min = 1, .max = UINT8_MAX, .flags_long = "guid-cap",
	  .arg = "N", .flags = OPT_CLI_ONLY, .help = "Number of GUIDs that each end port can hold" },
	{ .name = "vports", .type = OPT_UINT, MEMBER(vports), .def = "0", .min = 0, .max = 1024, .flags_long = "vports",
	  .arg = "N", .flags = OPT_CLI_ONLY, .help = "Number of virtual ports that each port of a host can have, as an adapter with SR-IOV has them",
	  .more = "There are none at first; see vport below. With 0 hosts do not show the capability." },
	{ .name = "omnipath", .type = OPT_BOOL, MEMBER(omni_path), .def = "FALSE", .flags_long = "omnipath",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "The nodes are Omni-Path devices: their agents answer SMPs and counters of class version 0x80, too",
	  .more = "Omni-Path's tools (opainfo, opasmaquery, opapmaquery, opasaquery) and its fabric manager run on it; see OMNI-PATH below. SMPs of InfiniBand are answered as before." },
	{ .name = "lft_cap", .type = OPT_UINT, MEMBER(lft_cap), .def = "0xc000", .min = 1, .max = 0xf00000, .flags_long = "lft-cap",
	  .arg = "N", .flags = OPT_CLI_ONLY, .help = "LIDs that a switch of Omni-Path has routes for, from 0 on; with --omnipath",
	  .more = "The field is SwitchInfo.LinearFDBCap. A subnet manager gives no port a LID that a switch cannot route." },
	{ .name = "strict", .type = OPT_BOOL, MEMBER(strict), .def = "FALSE", .flags_long = "strict",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "A line of the topology file that is not understood is an error, not a warning" },
	{ .name = "no_optimized_slvl", .type = OPT_BOOL, MEMBER(slvl_one_by_one), .def = "FALSE", .flags_long = "no-optimized-slvl",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "Switches do not support one Set for several SL-to-VL tables, and refuse it",
	  .more = "The field is SwitchInfo.OptimizedSLtoVLMappingProgramming." },
	{ .name = "quiet", .type = OPT_BOOL, MEMBER(quiet), .def = "FALSE", .flags_long = "quiet",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "Do not print the line that says that the simulator is ready" },
	{ .name = NULL },
};

static const struct option_row run_rows[] = {
	SOCKET_ROW,
	{ .name = "host", .type = OPT_STRING, MEMBER(host), .flags_long = "host", .arg = "NAME", .flags = OPT_CLI_ONLY,
	  .help = "Host of the command: id in the file, description or GUID; several adapters with commas; default: SIM_HOST, else the first host",
	  .more = "The GUID is that of a node or a port, and the first word of the descriptions of several adapters names all of them. The command sees them as sim0, sim1 and so on. A switch is a host, too." },
	{ .name = NULL },
};

static const struct option_row ctl_rows[] = {
	SOCKET_ROW,
	{ .name = NULL },
};
/* clang-format on */

/* A form of the command line. */
static const struct form {
	const char *word; /* that chooses it */
	const char *program, *args, *doc;
	const struct option_row *rows;
} serve_form = { NULL, "saguaro-sim", "FILE",
	         "Serves the fabric of a topology file (what ibnetdiscover prints) to programs that use libibumad.\v'saguaro-sim --run COMMAND' runs such a program on one of the hosts, and 'saguaro-sim ctl WORDS' changes the fabric; each of them has --help.\n\nManual: man saguaro-sim",
	         serve_rows },
  run_form = { "--run", "saguaro-sim --run", "COMMAND [ARGS]",
	       "Runs a program that uses libibumad on a host of a simulated fabric.",
	       run_rows },
  ctl_form = {
	  "ctl", "saguaro-sim ctl", "WORDS",
	  "Changes or shows a simulated fabric. 'saguaro-sim ctl help' lists the words.",
	  ctl_rows
  };

static int usage_error(const char *text, const char *word)
{
	fprintf(stderr, "saguaro-sim: %s%s\nTry 'saguaro-sim --help'.\n", text, word);
	return EXIT_USAGE;
}

/* Reads the command line of a form. In argv its word is left out. */
static int read_args(const struct form *form, int argc, char **argv, struct arena *a,
                     struct args *ret_args)
{
	struct option_sets sets = { .flags_first = form->word != NULL };
	char socket[128], *program = arena_strdup(a, form->program);
	struct diags d;
	int first = argc;

	if (program == NULL) {
		return -ENOMEM;
	}
	argv[0] = program;
	diags_init(&d, a);
	int ret = option_sets_add(&sets, form->rows, ret_args);
	if (ret == E_OK) {
		ret = option_read_argv(&sets, a, argc, argv, form->doc, form->args,
		                       &first, &d);
	}
	diags_print(&d, stderr, DIAG_WARNING);
	if (ret != E_OK) {
		return ret;
	}
	if (ret_args->socket == NULL) {
		sim_socket_path(socket);
		ret_args->socket = arena_strdup(a, socket);
	}
	ret_args->rest = argv + first;
	return ret_args->socket != NULL ? E_OK : -ENOMEM;
}

/* The form of a command line; its word is taken out. */
static const struct form *take_form(int *argc, char **argv)
{
	const struct form *form = &serve_form;
	int at = 1;

	if (*argc > 1 && strcmp(argv[1], ctl_form.word) == 0) {
		form = &ctl_form;
	} else {
		while (at < *argc && strcmp(argv[at], run_form.word) != 0) {
			at++;
		}
		form = at < *argc ? &run_form : form;
	}
	if (form->word != NULL) {
		(*argc)--;
		memmove(&argv[at], &argv[at + 1],
		        (size_t)(*argc - at + 1) * sizeof(*argv));
	}
	return form;
}

/* --run */

/* Finds the preload library: beside this program if not installed, else where it is
 * installed. */
static bool find_preload(char *path, size_t size)
{
	static const char name[] = "libsaguaro-umad-sim.so";
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	if (n > 0) {
		path[n] = '\0';
		char *slash = strrchr(path, '/');
		snprintf(slash + 1, size - (size_t)(slash + 1 - path), "%s", name);
		if (access(path, R_OK) == 0) {
			return true;
		}
	}
	snprintf(path, size, "%s/%s", SAGUARO_LIBDIR, name);
	return access(path, R_OK) == 0;
}

static int check_host(const struct args *a)
{
	struct sim_hello h = { .kind = SIM_HOST_INFO };
	struct sim_welcome w;
	const char *host = getenv(SIM_HOST_ENV);

	if (host != NULL && strlen(host) >= sizeof(h.host)) {
		return usage_error("the host's name is too long: ", host);
	}
	snprintf(h.host, sizeof(h.host), "%s", host != NULL ? host : "");
	int fd = sim_socket_call(a->socket, &h, &w, NULL);
	if (fd < 0) {
		fprintf(stderr, "saguaro-sim: %s\n", w.text);
		return EXIT_FAILED;
	}
	close(fd);
	return EXIT_GOOD;
}

static int run_command(const struct args *a)
{
	char preload[4096];
	const char *before = getenv("LD_PRELOAD");

	if (a->rest[0] == NULL) {
		return usage_error("--run needs a command", "");
	}
	if (a->host != NULL) {
		setenv(SIM_HOST_ENV, a->host, 1);
	}
	setenv(SIM_SOCKET_ENV, a->socket, 1);
	int ret = check_host(a);
	if (ret != EXIT_GOOD) {
		return ret;
	}
	if (!find_preload(preload, sizeof(preload))) {
		fprintf(stderr,
		        "saguaro-sim: no %s; run 'make install', or run this program where it was built\n",
		        preload);
		return EXIT_FAILED;
	}
	if (before != NULL && before[0] != '\0') {
		size_t n = strlen(preload);
		snprintf(preload + n, sizeof(preload) - n, ":%s", before);
	}
	setenv("LD_PRELOAD", preload, 1);
	execvp(a->rest[0], a->rest);
	fprintf(stderr, "saguaro-sim: cannot run '%s': %s\n", a->rest[0],
	        strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILED;
}

/* ctl */

static int print_reply(int memory, bool bad)
{
	void *text;
	size_t len;
	int ret = sim_socket_memory_read(memory, SIZE_MAX, &text, &len);

	close(memory);
	if (ret != 0) {
		fprintf(stderr, "saguaro-sim: cannot read the reply: %s\n",
		        strerror(-ret));
		return EXIT_FAILED;
	}
	FILE *f = bad ? stderr : stdout;
	fprintf(f, "%s", bad ? "saguaro-sim: " : "");
	fwrite(text, 1, len, f);
	fprintf(f, "%s", bad ? "\n" : "");
	free(text);
	return bad ? EXIT_FAILED : EXIT_GOOD;
}

static int control(const struct args *a)
{
	static char line[SIM_LINE_BYTES];
	struct sim_hello h = { .kind = SIM_CONTROL };
	struct sim_welcome w;
	int32_t bad;
	int memory = -1;

	size_t len = 0;
	for (char **word = a->rest; *word != NULL; word++) {
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%s%s",
		                        len > 0 ? " " : "", *word);
		if (len >= sizeof(line)) {
			return usage_error("the line is too long", "");
		}
	}
	int fd = sim_socket_call(a->socket, &h, &w, NULL);
	if (fd < 0) {
		fprintf(stderr, "saguaro-sim: %s\n", w.text);
		return EXIT_FAILED;
	}
	const char *text = line[0] != '\0' ? line : "help";
	int ret = sim_socket_put(fd, text, strlen(text), NULL, 0, -1, 0);
	ssize_t n =
		ret == 0 ? sim_socket_get(fd, &bad, sizeof(bad), NULL, 0, &memory, 0) : 0;
	close(fd);
	if (n != sizeof(bad) || memory < 0) {
		fputs("saguaro-sim: the simulator has ended\n", stderr);
		return EXIT_FAILED;
	}
	return print_reply(memory, bad != 0);
}

/* Serving */

static _Atomic(struct sim_server *) serving;

static void on_signal(int number)
{
	struct sim_server *v = atomic_load(&serving);
	(void)number;
	if (v != NULL) {
		sim_server_stop(v);
	}
}

static int serve_fabric(const struct args *a, struct sim *s, const struct graph *g)
{
	char why[SIM_SERVER_WHY];
	struct sim_server *v;

	if (sim_server_new(s, g, a->socket, why, &v) != E_OK) {
		fprintf(stderr, "saguaro-sim: %s\n", why);
		return EXIT_FAILED;
	}
	atomic_store(&serving, v);
	struct sigaction action = { .sa_handler = on_signal };
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (!a->quiet) {
		printf("%u switches, %u hosts, %u cables; serving at %s\n", g->n_switches,
		       g->n_hosts, g->n_links, a->socket);
		fflush(stdout);
	}
	int ret = sim_server_run(v);
	atomic_store(&serving, NULL);
	sim_server_free(v);
	if (ret != E_OK) {
		fprintf(stderr, "saguaro-sim: %s\n", err_text(ret));
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_FAILED;
}

static int serve_file(const struct args *a, struct arena *arena)
{
	const char *file = a->rest[0];
	struct graph *g;
	struct sim *s;
	struct diags d;

	if (file == NULL) {
		return usage_error(
			"which fabric? Name a topology file; 'saguaro topo' makes one",
			"");
	}
	if (a->rest[1] != NULL) {
		return usage_error("one topology file only, not also ", a->rest[1]);
	}
	diags_init(&d, arena);
	int ret = topo_read(file, a->strict, arena, &d, &g);
	diags_print(&d, stderr, DIAG_WARNING);
	if (ret != E_OK) {
		return EXIT_USAGE;
	}
	/* the port itself counts */
	const uint16_t vport_cap = a->vports > 0 ? (uint16_t)(a->vports + 1) : 0;
	const struct sim_options options = { .seed = 1,
		                             .guid_cap = (uint8_t)a->guids,
		                             .vport_cap = vport_cap,
		                             .omni_path = a->omni_path,
		                             .lft_cap = a->lft_cap,
		                             .slvl_one_by_one = a->slvl_one_by_one };
	ret = sim_new(g, &options, a->keep_lids, &s);
	if (ret != E_OK) {
		fprintf(stderr, "saguaro-sim: %s: %s\n", file,
		        ret == E_NOTFOUND
		                ? "there is no end port in this fabric; add a host"
		                : err_text(ret));
		return EXIT_FAILED;
	}
	struct rlimit l; /* each open device of a program takes two descriptors here */
	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
	int exit_status = serve_fabric(a, s, g);
	sim_free(s);
	return exit_status;
}

int main(int argc, char **argv)
{
	struct args a = { .host = NULL };
	struct arena *arena = arena_new();
	const struct form *form = take_form(&argc, argv);

	if (arena == NULL) {
		fputs("saguaro-sim: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	int status = EXIT_USAGE;
	if (read_args(form, argc, argv, arena, &a) == E_OK) {
		status = form == &run_form   ? run_command(&a)
		         : form == &ctl_form ? control(&a)
		                             : serve_file(&a, arena);
	}
	arena_free(arena);
	return status;
}

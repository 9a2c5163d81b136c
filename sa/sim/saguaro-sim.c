/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro-sim: a simulated fabric for real programs. The program serves a topology file, runs a
 * command on one of its hosts (--run), or sends a command to a running simulation (ctl).
 */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"
#include "routing/text/topofile.h"
#include "sa/sim/sim.h"
#include "sa/sim/sim_server.h"
#include "sa/sim/sim_socket.h"

enum { EXIT_GOOD, EXIT_FAILED, EXIT_USAGE, EXIT_NOT_FOUND = 127 };

struct args {
	char socket[128];
	const char *host;
	bool run, keep_lids, quiet, omni_path, strict, slvl_one_by_one;
	uint8_t guid_cap; /* 0: the default */
	uint16_t vport_cap;
	const char *file;
	char **rest; /* COMMAND ARGS or words for ctl */
};

static const char usage_text[] =
	"Usage: saguaro-sim FILE [--socket PATH] [--keep-lids] [--guid-cap N] "
	"[--omnipath]\n"
	"                   [--vports N] [--no-optimized-slvl] [--strict] [--quiet]\n"
	"       saguaro-sim --run [--socket PATH] [--host NAME] COMMAND [ARGS]\n"
	"       saguaro-sim ctl [--socket PATH] WORDS\n"
	"\n"
	"Serves the fabric of a topology file (what ibnetdiscover prints) to programs "
	"that use\n"
	"libibumad; --run starts such a program on one of its hosts; ctl changes it.\n"
	"\n"
	"  --socket PATH  where the simulator is; default: SAGUARO_SIM_SOCKET, else\n"
	"                 saguaro-sim.sock in XDG_RUNTIME_DIR, else in /tmp with your "
	"user number\n"
	"  --host NAME    the command's host: id in the file, description or GUID; "
	"several\n"
	"                 adapters with commas; default: SIM_HOST, else the first host\n"
	"  --keep-lids    LIDs and port states of the file, as if an SM had been there\n"
	"  --guid-cap N   GUIDs that each end port can hold, 1 to 255; default: 8\n"
	"  --vports N     virtual ports that each port of a host can have, 1 to "
	"1024; default: 0\n"
	"  --omnipath     hosts appear as Omni-Path hosts, for its tools "
	"(opasaquery);\n"
	"                 subnet management is that of InfiniBand\n"
	"  --strict       refuses a file with an unknown line, instead of\n"
	"                 skipping the line with a warning\n"
	"  --no-optimized-slvl\n"
	"                 switches do not support one Set for several SL-to-VL tables\n"
	"  --quiet        prints nothing when it is ready\n"
	"  --help, --version\n"
	"\n"
	"'saguaro-sim ctl help' lists the words for ctl.\n";

static int usage_error(const char *text, const char *word)
{
	fprintf(stderr, "saguaro-sim: %s%s\nTry 'saguaro-sim --help'.\n", text, word);
	return EXIT_USAGE;
}

/* \return 0: continue; else the exit status + 1. */
static int parse_flags(int argc, char **argv, struct args *a)
{
	enum {
		FLAG_SOCKET = 256,
		FLAG_HOST,
		FLAG_RUN,
		FLAG_KEEP,
		FLAG_GUID_CAP,
		FLAG_VPORTS,
		FLAG_OMNIPATH,
		FLAG_STRICT,
		FLAG_SLVL,
		FLAG_QUIET,
		FLAG_HELP,
		FLAG_VERSION
	};
	static const struct option flags[] = {
		{ "socket", required_argument, NULL, FLAG_SOCKET },
		{ "host", required_argument, NULL, FLAG_HOST },
		{ "run", no_argument, NULL, FLAG_RUN },
		{ "keep-lids", no_argument, NULL, FLAG_KEEP },
		{ "guid-cap", required_argument, NULL, FLAG_GUID_CAP },
		{ "vports", required_argument, NULL, FLAG_VPORTS },
		{ "omnipath", no_argument, NULL, FLAG_OMNIPATH },
		{ "strict", no_argument, NULL, FLAG_STRICT },
		{ "no-optimized-slvl", no_argument, NULL, FLAG_SLVL },
		{ "quiet", no_argument, NULL, FLAG_QUIET },
		{ "help", no_argument, NULL, FLAG_HELP },
		{ "version", no_argument, NULL, FLAG_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t number;
	int flag;

	while ((flag = getopt_long(argc, argv, "+h", flags, NULL)) != -1) {
		switch (flag) {
		case FLAG_SOCKET:
			snprintf(a->socket, sizeof(a->socket), "%s", optarg);
			break;
		case FLAG_HOST: a->host = optarg; break;
		case FLAG_RUN: a->run = true; break;
		case FLAG_KEEP: a->keep_lids = true; break;
		case FLAG_GUID_CAP:
			if (text_u64(optarg, UINT8_MAX, &number) != E_OK || number == 0) {
				return usage_error(
					       "--guid-cap is a number from 1 to 255: ",
					       optarg) +
				       1;
			}
			a->guid_cap = (uint8_t)number;
			break;
		case FLAG_VPORTS:
			if (text_u64(optarg, 1024, &number) != E_OK || number == 0) {
				return usage_error(
					       "--vports is a number from 1 to 1024: ",
					       optarg) +
				       1;
			}
			a->vport_cap = (uint16_t)(number + 1); /* and the port itself */
			break;
		case FLAG_OMNIPATH: a->omni_path = true; break;
		case FLAG_STRICT: a->strict = true; break;
		case FLAG_SLVL: a->slvl_one_by_one = true; break;
		case FLAG_QUIET: a->quiet = true; break;
		case 'h':
		case FLAG_HELP: fputs(usage_text, stdout); return EXIT_GOOD + 1;
		case FLAG_VERSION:
			printf("saguaro-sim %s\n", PACKAGE_VERSION);
			return EXIT_GOOD + 1;
		default:
			fputs("Try 'saguaro-sim --help'.\n", stderr);
			return EXIT_USAGE + 1;
		}
	}
	a->rest = argv + optind;
	return 0;
}

/* Reads flags, and the topology file, which may be between flags. */
static int parse_args(int argc, char **argv, struct args *a, bool words)
{
	sim_socket_path(a->socket);
	optind = 1;
	int stop = parse_flags(argc, argv, a);
	if (stop == 0 && !a->run && !words && a->rest[0] != NULL) {
		a->file = a->rest[0];
		optind++;
		stop = parse_flags(argc, argv, a);
	}
	return stop;
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
		        "saguaro-sim: no %s; run 'make install', or run this program "
		        "where "
		        "it was built\n",
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

static int control(struct args *a, int argc, char **argv)
{
	static char line[SIM_LINE_BYTES];
	struct sim_hello h = { .kind = SIM_CONTROL };
	struct sim_welcome w;
	int32_t bad;
	int memory = -1;

	int stop = parse_args(argc, argv, a, true);
	if (stop != 0) {
		return stop - 1;
	}
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

static int serve_file(const struct args *a)
{
	struct graph *g;
	struct sim *s;
	struct diags d;
	struct arena *arena = arena_new();

	diags_init(&d, arena);
	int ret = topo_read(a->file, a->strict, arena, &d, &g);
	diags_print(&d, stderr, DIAG_WARNING);
	if (ret != E_OK) {
		arena_free(arena);
		return EXIT_USAGE;
	}
	const struct sim_options options = { .seed = 1,
		                             .guid_cap = a->guid_cap,
		                             .vport_cap = a->vport_cap,
		                             .omni_path = a->omni_path,
		                             .slvl_one_by_one = a->slvl_one_by_one };
	ret = sim_new(g, &options, a->keep_lids, &s);
	if (ret != E_OK) {
		fprintf(stderr, "saguaro-sim: %s: %s\n", a->file,
		        ret == E_NOTFOUND
		                ? "there is no end port in this fabric; add a host"
		                : err_text(ret));
		arena_free(arena);
		return EXIT_FAILED;
	}
	struct rlimit l; /* each open device of a program takes two descriptors here */
	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
	int exit_status = serve_fabric(a, s, g);
	sim_free(s);
	arena_free(arena);
	return exit_status;
}

int main(int argc, char **argv)
{
	struct args a = { .host = NULL };

	if (argc > 1 && strcmp(argv[1], "ctl") == 0) {
		return control(&a, argc - 1, argv + 1);
	}
	int stop = parse_args(argc, argv, &a, false);
	if (stop != 0) {
		return stop - 1;
	}
	if (a.run) {
		return run_command(&a);
	}
	if (a.file == NULL) {
		return usage_error(
			"which fabric? Name a topology file; 'saguaro topo' makes one",
			"");
	}
	if (a.rest[0] != NULL) {
		return usage_error("one topology file only, not also ", a.rest[0]);
	}
	return serve_file(&a);
}

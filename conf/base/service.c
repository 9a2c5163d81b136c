/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <config.h>

#include "conf/base/service.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"

#if HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#include <time.h>

static struct {
	char status[200];
	uint64_t alive_ms; /* when the watchdog heard of us */
} said;

static uint64_t watchdog_ms(void)
{
	uint64_t usec = 0;

	return sd_watchdog_enabled(0, &usec) > 0 ? usec / 1000 : 0;
}

void service_ready(void)
{
	sd_notify(0, "READY=1");
}

void service_status(const char *text)
{
	if (strncmp(said.status, text, sizeof(said.status) - 1) == 0) {
		return;
	}
	snprintf(said.status, sizeof(said.status), "%s", text);
	sd_notifyf(0, "STATUS=%s", said.status);
}

void service_reloading(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
	           (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000);
}

void service_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

/* Three times in each period, so that one late turn does no harm. */
void service_alive(uint64_t now_ms)
{
	uint64_t period = watchdog_ms();

	if (period == 0 || now_ms < said.alive_ms + period / 3) {
		return;
	}
	said.alive_ms = now_ms;
	sd_notify(0, "WATCHDOG=1");
}

int service_socket(void)
{
	return sd_listen_fds(0) > 0 ? SD_LISTEN_FDS_START : -1;
}

#else

void service_ready(void)
{
}

void service_status(const char *text)
{
	(void)text;
}

void service_reloading(void)
{
}

void service_stopping(void)
{
}

void service_alive(uint64_t now_ms)
{
	(void)now_ms;
}

int service_socket(void)
{
	return -1;
}

#endif

void service_open_log(const char *source, const char *path, bool verbose)
{
	log_set_level(verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	int ret = log_open(path);

	if (ret != E_OK) {
		log_open(NULL); /* not on into the file of the configuration before */
		log_message(
			MSG_LOG_NO_FILE, source,
			"cannot write the log file %s: %s; the log goes to standard error only; choose another file with --log-file",
			path, err_text(ret));
	}
}

int service_reopen_log(const char *source, const char *path)
{
	if (path == NULL) {
		return E_OK;
	}
	int ret = log_open(path);
	if (ret != E_OK) {
		log_message(MSG_LOG_NOT_REOPENED, source,
		            "cannot open the log file %s again: %s", path, err_text(ret));
	} else {
		log_info(source, "log file opened again");
	}
	return ret;
}

static sigset_t server_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	return set;
}

void service_block_signals(void)
{
	const sigset_t set = server_signals();

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
}

static int write_port_file(const struct service_server *s)
{
	FILE *f = fopen(s->options->port_file, "w");
	int ret = f != NULL ? E_OK : -errno;

	if (f != NULL) {
		bool bad = fprintf(f, "%u\n", s->port) < 0;

		ret = fclose(f) != 0 || bad ? -EIO : E_OK;
	}
	if (ret != E_OK) {
		log_message(MSG_LOG_NO_PORT_FILE, s->source,
		            "cannot write the port to %s: %s", s->options->port_file,
		            err_text(ret));
	}
	return ret;
}

int service_run_server(const struct service_server *s)
{
	const sigset_t set = server_signals();
	const struct timespec second = { .tv_sec = 1 };
	int sig, ret = s->options->port_file != NULL ? write_port_file(s) : E_OK;

	if (ret != E_OK) {
		return ret;
	}
	service_ready();
	service_status(s->address);
	do {
		if (s->look != NULL) {
			s->look(s->ctx);
		}
		sig = s->look != NULL ? sigtimedwait(&set, NULL, &second)
		                      : sigwaitinfo(&set, NULL);
		if (sig == SIGHUP || sig == SIGUSR1) {
			(void)service_reopen_log(s->source,
			                         s->options->log_file); /* it logs */
			if (s->reopen != NULL) {
				s->reopen(s->ctx);
			}
		}
	} while (sig != SIGTERM && sig != SIGINT);
	log_info(s->source, "signal %s: stopping", sig == SIGINT ? "INT" : "TERM");
	service_stopping();
	return E_OK;
}

int service_main(const struct service_program *p, int argc, char **argv)
{
	enum { EXIT_USAGE = 2 };
	struct arena *a = arena_new();
	struct diags d;

	if (a == NULL) {
		fprintf(stderr, "%s: out of memory\n", p->name);
		return EXIT_FAILURE;
	}
	diags_init(&d, a);
	int ret = p->read(p->config, a, argc, argv, &d);
	int failed = ret != E_OK ? EXIT_USAGE : EXIT_FAILURE;
	bool serves = ret == E_OK && (p->is_command == NULL || !p->is_command(p->config));
	if (ret == E_OK && !serves) {
		ret = p->command(p->config, a, &d);
	}
	diags_print(&d, stderr, DIAG_WARNING);
	if (serves) {
		log_set_format((enum log_format)p->options->log_format);
		service_open_log(p->source, p->options->log_file,
		                 p->options->verbose > 0);
		service_block_signals();
		ret = p->serve(p->config, a);
	}
	arena_free(a);
	return ret == E_OK ? EXIT_SUCCESS : failed;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * The calls of a daemon to systemd, if systemd started it: sd_notify(3) and sd_listen_fds(3).
 * Otherwise, or built --without-systemd, nothing happens. From one thread.
 */

/*! \brief Start-up is over: "systemctl start" returns. */
void service_ready(void);

/*! \brief One line that "systemctl status" shows. Sent only if it differs from the last one. */
void service_status(const char *text);

/*! \brief SIGHUP is being obeyed, until service_ready(). */
void service_reloading(void);

/*! \brief The daemon ends. */
void service_stopping(void);

/*!
 * \brief The main loop still turns: call it in each turn. Tells the watchdog of the unit
 *        (WatchdogSec) as often as it must hear it.
 * \param now_ms  Monotonic clock.
 */
void service_alive(uint64_t now_ms);

/*! \brief The listening socket of the socket unit. \retval -1  None was passed. */
int service_socket(void);

/* --- servers ------------------------------------------------------------------------ */

/*! \brief Sets the level of the log and opens its file, also anew; NULL: standard error only. If
 *  the file cannot be written, a warning says so, and the log goes to standard error only. */
void service_open_log(const char *source, const char *path, bool verbose);

/*! \brief Opens the log file again, so that a rotated one gets a new one. NULL: there is none.
 *  \retval -errno  Logged; the old one is written on. */
int service_reopen_log(const char *source, const char *path);

/*! \brief Blocks the signals of service_run_server(). Before threads start, so that they inherit
 *  it. A connection that is gone raises no SIGPIPE from here on. */
void service_block_signals(void);

/*! Options that all servers have; their rows are SERVER_LOG_ROWS and the port file. */
struct service_options {
	const char *log_file;  /*!< NULL: none */
	const char *port_file; /*!< gets the port, once the server answers; NULL: none */
	uint32_t log_format;   /*!< enum log_format */
	uint32_t verbose;
};

/*! A program that is a server. */
struct service_program {
	const char *name;                      /*!< "saguaro-gateway" */
	const char *source;                    /*!< of its log lines */
	void *config;                          /*!< struct of its options, */
	const struct service_options *options; /*!< and these in it */
	/*! Reads the command line. \retval others  In \a d or already said on standard error. */
	int (*read)(void *config, struct arena *a, int argc, char **argv,
	            struct diags *d);
	/*! Does the command line ask for something else than to serve? NULL: never. */
	bool (*is_command)(const void *config);
	int (*command)(const void *config, struct arena *a, struct diags *d);
	/*! Listens and calls service_run_server(). Signals are blocked. */
	int (*serve)(const void *config, struct arena *a);
};

/*!
 * \brief Runs a program from its command line to its end.
 * \return Exit status; 2: the command line is wrong.
 */
int service_main(const struct service_program *p, int argc, char **argv);

/*! A server that answers on threads of its own. */
struct service_server {
	const char *source; /*!< of its log lines */
	const struct service_options *options;
	const char *address; /*!< "systemctl status" shows it */
	unsigned port;
	void (*reopen)(void *ctx); /*!< on SIGHUP, after the log file; NULL: nothing else */
	void (*look)(void *ctx); /*!< at the start, and then each second; NULL: nothing */
	void *ctx;
};

/*!
 * \brief Says that the server answers, and returns when SIGTERM or SIGINT comes. SIGHUP opens files
 *        again.
 * \retval -errno -EIO  The port file cannot be written: logged.
 */
int service_run_server(const struct service_server *s);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

/*! A server that answers on threads of its own. */
struct service_server {
	const char *source;   /*!< of its log lines */
	const char *log_file; /*!< NULL: none */
	const char *address;  /*!< "systemctl status" shows it */
	const char *port_file; /*!< gets the port, because this shows that the server answers; NULL: none */
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

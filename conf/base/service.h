/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*!
 * What a daemon says to systemd, if systemd started it: sd_notify(3) and sd_listen_fds(3).
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <config.h>

#include "conf/base/service.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

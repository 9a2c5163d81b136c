/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "conf/base/service.h"
#include "conf/option.h"

struct arena;
struct diags;

/*! Options of saguaro-gateway, one member per row of gw_config_rows. */
struct gw_config {
	const char *listen; /*!< "ADDR:PORT" */
	const char *instance;
	const char *snapshot_dir; /*!< after gw_config_read(): never NULL */
	struct service_options server;
	uint32_t threads;
	uint32_t per_address; /*!< connections from one address, 0: no limit */
	uint32_t listeners;   /*!< to events, at a time */
	uint32_t listeners_per_address; /*!< of them, 0: no limit */
	const char *program;  /*!< path of `saguaro`; after gw_config_read(): never NULL */
	const char *web_dir;  /*!< folder of the page; likewise */
	const char *admin_url; /*!< where browsers reach saguaro-admin; NULL: nowhere */
	const char *hosts, *origins; /*!< with commas between; NULL: none */
};

extern const struct option_row gw_config_rows[];

/*!
 * \brief Reads the command line into a struct gw_config; strings are in \a a.
 * \retval E_SYNTAX E_RANGE E_UNKNOWN  In \a d or already said on standard error.
 */
int gw_config_read(void *config, struct arena *a, int argc, char **argv, struct diags *d);

/*!
 * \brief Fills in the program and the folder of the page where the command line names none.
 *
 * If config.status stands beside \a self, this is the folder of a build: the program is the one
 * beside it, and the page is that of its sources. Otherwise they are where 'make install' puts them.
 *
 * \param self  Path of the running program.
 * \retval -ENOMEM
 */
int gw_config_fill(struct gw_config *c, const char *self, struct arena *a);

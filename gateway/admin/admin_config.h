/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/service.h"
#include "conf/option.h"
#include "gateway/admin/admin.h"

struct arena;
struct diags;

/*! Options of saguaro-admin, one member per row of admin_config_rows. */
struct admin_config {
	const char *listen; /*!< "ADDR:PORT", or the path of a Unix socket */
	const char *tls_certificate, *tls_key, *client_ca, *hosts,
		*origins;
	const char *users;   /*!< after admin_config_read(): never NULL, as listen */
	const char *fabrics; /*!< "NAME,NAME=SOCKET" */
	const char *audit_log;
	struct service_options server;
	uint32_t connections, per_address, request_s, saguarod_s;
	uint32_t failures_per_minute, requests_per_minute;
	/* commands instead of serving */
	const char *add_token, *add_password, *add_certificate, *remove;
	const char *role, *expires;
	bool list;

	bool is_unix;               /*!< listen is a path */
	struct admin_fabric *fabric; /*!< [n_fabrics], at least one */
	unsigned n_fabrics;
};

extern const struct option_row admin_config_rows[];

/*!
 * \brief Reads the command line into a struct admin_config; strings are in \a a.
 * \retval E_SYNTAX E_RANGE E_UNKNOWN  In \a d or already said on standard error.
 */
int admin_config_read(void *config, struct arena *a, int argc, char **argv,
                      struct diags *d);

/*! \brief Does the command line of a struct admin_config ask for a change of the file of users, or its list? */
bool admin_config_is_command(const void *config);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/config.h"
#include "routing/engine_options.h"
#include "routing/route_list.h"
#include "sa/control/control.h"

/*! The state of the daemon, for its two files: saguarod.c and saguarod_verbs.c. */

/* The configuration as it was read at the start or at the last SIGHUP. */
struct configuration {
	struct arena *arena;
	struct config config;
	struct engine_options engines;
	struct route_list list;
};

struct daemon {
	struct configuration *now;
	struct arena *arena; /* of the process */
	struct sim *sim;     /* NULL on umad */
	struct transport *transport;
	struct state *state;
	struct snap_writer *snap;
	struct stats *stats;
	struct sa_server *sa;
	struct standby *standby; /* NULL: no link to other saguarods */
	struct oob *oob; /* NULL: no requests over TCP */
	struct sweep *sweep;
	const char *state_dir;
	const char *key_file;    /* M_Keys of ports */
	struct control *control; /* NULL: no control socket */
	int argc; /* of the command line, for reading the configuration again */
	char **argv;
};

extern const struct control_verb saguarod_verbs[]; /* their context is a struct daemon */

/*! \brief Around the requests that are carried out together; as in struct control_options. */
void saguarod_begin(void *ctx);
int saguarod_settle(void *ctx, json_t *reply, char *why, size_t why_bytes);

/*! \brief Reads the configuration again, and logs what is wrong with it.
 *  \retval E_OK  The new one is in force. \retval Others  The running one stays. */
int saguarod_reload(struct daemon *d);

/*! \brief Opens the log file again, so that a rotated one gets a new one. \retval -errno */
int saguarod_reopen_log(struct daemon *d);

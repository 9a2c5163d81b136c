/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "conf/option.h"

struct arena;

/*!
 * What commands share that send a request to the control socket of a running saguarod
 * (sa/control/control.h has its protocol).
 */
struct control_flags {
	bool json;
	const char *instance, *snapshot_dir, *control_socket;
	bool heavy;                       /*!< of `sweep` */
	bool force;                       /*!< of `port` */
	bool all;                         /*!< of `forget` */
	bool dry_run;                     /*!< of `maintenance` */
	const char *until, *note;         /*!< of `maintenance` and `alarm` */
	bool ipoib, index0, create, wait; /*!< of `partition`, like those below */
	const char *name, *membership, *from, *sl, *mtu, *rate, *if_version;
	uint32_t timeout;
};

struct control_call {
	struct arena *a;
	struct control_flags flags;
	const char *path; /*!< of the socket */
	const char *name; /*!< argv[0], in front of messages */
	char **arg;       /*!< [n_args] */
	int n_args;
	const char *done; /*!< what is printed when it is done */
};

/*!
 * \brief Reads the command line.
 * \param own       Further rows over struct control_flags, or NULL.
 * \param args      What follows the flags, for --help; NULL: nothing.
 * \param min, max  How many arguments there are to be; max -1: any number from \a min.
 * \return EXIT_GOOD to go on, else the exit status, with a sentence printed.
 */
int control_call_begin(struct control_call *c, const struct option_row *own,
                       const char *doc, const char *args, int min, int max, int argc,
                       char **argv);

/*! \brief Sends a request and reads the reply, which is the caller's. \return NULL: a sentence
 *         was printed. */
json_t *control_call_ask(const struct control_call *c, const json_t *request);

/*!
 * \brief Prints a reply, as JSON if that is asked for, or its error. Takes it.
 * \param print  Prints a good one for people. \return The exit status.
 */
int control_call_print(const struct control_call *c, json_t *reply,
                       void (*print)(const struct control_call *c, const json_t *reply));

void control_call_done(struct control_call *c);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "conf/option.h"

struct arena;

/*!
 * Where the reading commands get their answers: the resources of the HTTP API, computed in
 * this process from the snapshot if it is readable, else requested from a gateway. Both
 * are the same JSON, so a command has one way to print it.
 */
struct client_flags {
	const char *instance, *snapshot_dir, *url;
	const char *mode;
	const char *service_id, *qos_class, *p_key, *sl, *mtu, *rate,
		*life;            /*!< of `paths`, `trace` and `why` */
	const char *type, *field; /*!< of `nodes` */
	const char *since, *last, *kind, *node; /*!< of `events`; node also of lists, */
	const char *name, *state;               /*!< as these */
	uint32_t numb_path;
	bool csv, degraded, errors, gone, check, sick;
	bool known, present; /*!< of `export` */
	bool json, stream, follow, all;
};

/*! Rows over struct client_flags that every reading command has: --json, --url,
 * --snapshot-dir, --instance. */
extern const struct option_row client_rows[];

enum { CLIENT_MAY_HAVE_ONE = -1, CLIENT_MAY_HAVE_TWO = -2 };

struct client {
	struct arena *arena;
	struct client_flags flags;
	const char *program;        /*!< argv[0], in front of messages */
	int first;                  /*!< first positional argument */
	const struct list *list;    /*!< that is printed, */
	struct list_fields *fields; /*!< and its fields (list.c) */
	uint64_t rows;                    /*!< of the lists printed */
	bool stale;                 /*!< the last answer was, and the user was told */
	bool explains; /*!< the command itself tells why there is no answer; so nothing is printed, */
	char why[1024];       /*!< but kept here */
	int no_snapshot;      /*!< -errno: that of \a snapshot cannot be read */
	const char *snapshot; /*!< its folder; NULL: none was looked for, or it is read */
	struct client_local *local; /*!< NULL: by HTTP */
	const char *url;            /*!< base URL */
};

/*!
 * \brief Reads flags and environment and chooses the origin.
 *
 * --url, --snapshot-dir and --instance name it, in their absence SAGUARO_URL and
 * SAGUARO_SNAPSHOT_DIR. The daemon named there is asked, or none. Otherwise it is the
 * snapshot of the instance main where it can be read, else the gateway of this machine.
 *
 * \param own   Further rows over struct client_flags, or NULL.
 * \param n_args  How many positional arguments there must be; CLIENT_MAY_HAVE_ONE: none or one;
 *                CLIENT_MAY_HAVE_TWO: at most two.
 * \return EXIT_GOOD, or EXIT_USAGE with a sentence printed.
 */
int client_init(struct client *s, const struct option_row *own, const char *doc,
                const char *args, int n_args, int argc, char **argv);

/*! \brief The same with several arrays of further rows, the last of them NULL. */
int client_init_rows(struct client *s, const struct option_row *const *own,
                     const char *doc, const char *args, int n_args, int argc,
                     char **argv);

/*!
 * \brief The same for a command that explains why there is nobody to ask: no failure of an
 * origin or of an answer is printed, see \a explains.
 */
int client_init_explaining(struct client *s, const char *doc, const char *args,
                           int n_args, int argc, char **argv);

/*! \brief The same for a command that asks nobody: it has no flags but its own. */
int client_init_alone(struct client *s, const struct option_row *const *own,
                      const char *doc, const char *args, int n_args, int argc,
                      char **argv);

/*! \brief Nothing names an origin, and no snapshot can be read here. */
bool client_is_default(const struct client *s);

/*! \brief Says on standard error that what is read may be old, because saguarod is gone. */
void client_print_stale(const char *program);

/*! \brief Frees. \return The exit status: EXIT_STALE instead of EXIT_GOOD where the last
 * answer was stale. */
int client_done(struct client *s, int status);

/*!
 * \brief Gets a resource such as "/v1/routing".
 *
 * A problem body is printed as one sentence on standard error, with the candidates it
 * names.
 *
 * \param ret_json  Body; caller owns.
 * \return EXIT_GOOD, EXIT_BAD for an answer such as "no path" or "not ready", EXIT_USAGE
 * else.
 */
int client_get(struct client *s, const char *target, json_t **ret_json);

/*!
 * \brief Prints one page of a list.
 * \param body   Borrowed.
 * \param first  It is the first page of the list, before which the table head is printed.
 * \return EXIT_GOOD; anything else ends the list.
 */
typedef int client_print_f(const struct client *s, const json_t *body, bool first);

/*!
 * \brief Gets a list such as "/v1/nodes?type=ca" page by page and prints each as it
 * comes. \param target  NULL: it could not be made for lack of memory; prints so.
 * \return EXIT_GOOD, or the first failure of client_get() or \a print.
 */
int client_print_list(struct client *s, const char *target, client_print_f *print);

/*!
 * \brief Copies a stream (gateway/api/stream.h) to standard output as it comes.
 * \return EXIT_GOOD when it is complete; EXIT_BAD when it ended early, as its last line
 *         says; EXIT_USAGE else.
 */
int client_stream(struct client *s, const char *target);

/*!
 * \brief Copies a text to standard output as it comes.
 * \return EXIT_GOOD when it is complete; EXIT_BAD when it ended early; EXIT_USAGE else.
 */
int client_copy(struct client *s, const char *target);

/*! \brief Percent-encodes a query value. Arena string. */
const char *client_escape(struct client *s, const char *text);

/*! \brief Prints a body as indented JSON. \return EXIT_GOOD or EXIT_USAGE. */
int client_print_json(const json_t *body);

/*! \brief String member for a table: "" when it is missing. */
const char *member_text(const json_t *object, const char *name);
json_int_t member_int(const json_t *object, const char *name);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "conf/base/diag.h"
#include "conf/config.h"
#include "routing/engine_options.h"
#include "routing/graph/lids.h"
#include "routing/proof/disjoint.h"
#include "routing/route.h"

struct arena;
struct graph;

/*!
 * What `saguaro route`, `check` and `report` share: a topology file, LIDs, a routing
 * result, its figures as text and JSON. Needs no daemon and no database.
 */
struct route_job {
	const char *program; /*!< argv[0], in front of messages */
	struct arena *arena;
	struct diags diags;
	struct config config;
	struct engine_options engines;
	struct route_list list;
	struct route_flags {
		bool json, strict;
		const char *dump_lfts, *dump_sl, *dump_lid_matrix, *dump_cn_order, *lfts,
			*sl, *to, *to_sl;
		const char *src, *dst;
		const char *field, *fabric;
		bool csv;
		uint32_t limit, seconds, within;
	} flags;
	const char *file; /*!< the topology file, NULL: none */
	struct graph *g;
	struct lids lids;
	struct route_result result;
	struct disjoint disjoint; /*!< of the tables; set by route_job_report() */
	int ret;                  /*!< of route_run() or route_check() */
	double seconds_parse;
	bool stale; /*!< the fabric is that of a daemon that is gone, and the user was told */
};

/* clang-format off */
/*! Rows that several commands have. */
#define ROUTE_FIGURES_ROWS \
	{ "json", OPT_BOOL, offsetof(struct route_flags, json), "FALSE", .flags_long = "json", \
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "figures as JSON" }, \
	{ "strict", OPT_BOOL, offsetof(struct route_flags, strict), "FALSE", .flags_long = "strict", \
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "management pairs count in the proof, too; " \
	  "a line of FILE that is not understood is an error" }
#define ROUTE_SL_ROW \
	{ "sl", OPT_STRING, offsetof(struct route_flags, sl), NULL, .flags_long = "sl", \
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "SL per source switch and LID, in the same shape" }
/* clang-format on */

/*! Where a file is optional, the word "running" is the same as none: the running fabric. */
enum route_job_file {
	ROUTE_JOB_FILE_NEEDED,
	ROUTE_JOB_FILE_OPTIONAL,
	ROUTE_JOB_FILE_NAMED /*!< needed, but route_job_init() does not read it */
};

/*!
 * \brief Reads the command line and the topology file; prints what is wrong on standard
 * error. \param own  Rows of the command's own flags over struct route_flags. \return
 * EXIT_GOOD to go on, else the exit status.
 */
int route_job_init(struct route_job *j, const struct option_row *own, const char *doc,
                   enum route_job_file file, int argc, char **argv);

/*!
 * \brief Reads a topology file as the fabric; prints what is wrong.
 * \param text  Of the file; NULL: it is read here.
 * \return likewise
 */
int route_job_read_fabric(struct route_job *j, const char *file, const char *text,
                          size_t len);

/*!
 * \brief Copies a command line, because route_job_init() overwrites its keys.
 * \return [argc + 1] the last is NULL; for route_job_free_words(). NULL: out of memory.
 */
char **route_job_copy_words(int argc, char **argv);
void route_job_free_words(char **words);

/*! \brief A file that exists in memory alone. \return Its path in \a a; NULL: there is no room. */
const char *route_job_options_file(const char *options, struct arena *a);

/*!
 * \brief Reads a command line once more, over the options of a running daemon, unless \a first
 *        works on a file or names a file of options.
 *
 * \param j      Has to be freed by route_job_done().
 * \param first  Read by route_job_init() from the same words.
 * \param argv   A copy of them.
 * \return likewise
 */
int route_job_read_again(struct route_job *j, const struct route_job *first,
                         const char *options, const struct option_row *own,
                         const char *doc, int argc, char **argv);

/*! \brief LIDs by the options. \return EXIT_GOOD, or EXIT_USAGE with a sentence printed. */
int route_job_assign_lids(struct route_job *j);

/*! \brief Tables and LIDs from flags.lfts; lanes from flags.sl, if set. \return likewise */
int route_job_read_tables(struct route_job *j, struct lft *ret_lft, struct lanes *ret_lanes);

/*!
 * \brief Tables of flags.to, with the LIDs of \a lids; lanes when flags.to_sl was given.
 * \return likewise; EXIT_USAGE too where a LID has another owner than in \a lids.
 */
int route_job_read_next(struct route_job *j, struct lft *ret_lft,
                        struct lanes *ret_lanes);

/*! A running fabric. */
struct route_job_running {
	uint64_t epoch;
	const char *engine;  /*!< that made the tables; arena */
	const char *options; /*!< effective ones of its daemon, as a file; arena */
};

/*!
 * \brief Fabric, LIDs and tables of a running daemon, from its snapshot; says so if it is gone.
 * \param ret_job_running  NULL: not wanted. \return likewise
 */
int route_job_read_snapshot(struct route_job *j, struct lft *ret_lft,
                            struct lanes *ret_lanes,
                            struct route_job_running *ret_job_running);

/*! \brief The request that belongs to the configuration. */
void route_job_request(const struct route_job *j, struct route_request *ret_request);

/*! \brief Prints the figures (text or JSON) and gives the exit status of the proof. */
int route_job_report(struct route_job *j);

/*! \brief {"max","mean","p99"} or null. */
json_t *route_job_load_json(const struct load *l);

/*! \brief Figures of struct disjoint, or null. */
json_t *route_job_disjoint_json(const struct disjoint *d);

/*! \return \a status; EXIT_STALE instead of EXIT_GOOD where the fabric is stale. */
int route_job_done(struct route_job *j, int status);

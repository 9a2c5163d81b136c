/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/credit_loops.h"
#include "conf/option.h"
#include "conf/policy/adaptive.h"
#include "conf/policy/congestion.h"
#include "conf/policy/qos.h"

struct arena;
struct device_groups;
struct diags;
struct guid_file;
struct node_names;
struct partitions;
struct prefix_routes;

/*! Path-selection modes, in the order of their names in the option table. */
enum path_selection { PATH_MINIMAL, PATH_PAIRWISE, PATH_ORDERALL, PATH_SRCDSTALL, PATH_SELECTION_COUNT };

/*! Names of enum path_selection, NULL-terminated: "minimal", "pairwise", "orderall", "srcdstall". */
extern const char *const path_selection_names[];

/*! Names of enum credit_loops, NULL-terminated: "fallback", "refuse", "program". */
extern const char *const credit_loops_names[];
extern const char *const log_format_names[]; /*!< by enum log_format */

/* clang-format off */
#define LOG_FORMAT_HELP \
	"Lines of the log on standard error and in the log file: text, or JSON with code, event, epoch, node, port and so on as members. The journal always has these as fields, SAGUARO_CODE and so on"

/*! The rows of a server for its log; its struct has a struct service_options server. */
#define SERVER_LOG_ROWS(type_) \
	{ .name = "log_file", .type = OPT_STRING, .offset = offsetof(type_, server.log_file), .letter = 'f', \
	  .flags_long = "log-file", .arg = "FILE", .flags = OPT_CLI_ONLY, \
	  .help = "Append the log to FILE as well as to standard error" }, \
	{ .name = "log_format", .type = OPT_ENUM, .offset = offsetof(type_, server.log_format), .def = "text", \
	  .names = log_format_names, .flags_long = "log-format", .arg = "text|json", .flags = OPT_CLI_ONLY, .help = LOG_FORMAT_HELP }, \
	{ .name = "verbose", .type = OPT_UINT, .offset = offsetof(type_, server.verbose), .def = "0", .min = 0, .max = 1, \
	  .letter = 'v', .flags_long = "verbose", .arg = "0|1", .flags = OPT_CLI_ONLY, .help = "1: log debug lines too" }
/* clang-format on */

/*! How switches change from old to new tables (routing/proof/transition.h). */
enum { TRANSITION_SAFE, TRANSITION_ANY };
/*! SM_Key and SA_Key that every subnet has where nobody has set one. */
enum { KEY_OF_ALL = 1 };
enum sm_trust { SM_TRUST_ANNOUNCED, SM_TRUST_ANY };
enum smp_routing { SMP_ROUTING_DIRECTED, SMP_ROUTING_LID, SMP_ROUTING_AUTO };
extern const char *const transition_names[];
extern const char *const sm_trust_names[]; /*!< enum sm_trust */
extern const char *const smp_routing_names[]; /*!< enum smp_routing */

/*! Answers to links that err too often (sa/perf/link_verdict.h). */
enum link_health_mode { LINK_HEALTH_OFF, LINK_HEALTH_WATCH, LINK_HEALTH_ISOLATE };
extern const char *const link_health_names[];

/*! Reactions to routes that load links unevenly (sa/sm/routes.h). */
enum { REBALANCE_AUTO, REBALANCE_ASK, REBALANCE_NEVER };
extern const char *const rebalance_names[];

/*! Where OpenSM keeps the LIDs of ports. */
#define OPENSM_GUID2MKEY "/var/cache/opensm/guid2mkey"
#define OPENSM_GUID2LID "/var/cache/opensm/guid2lid"

/*! Directions in which switches enforce partitions at their ports to CAs and routers. */
enum { PART_ENFORCE_BOTH, PART_ENFORCE_IN, PART_ENFORCE_OUT, PART_ENFORCE_OFF };
extern const char *const part_enforce_names[];
extern const char *const hm_ca_action_names[]; /* by enum health_action */
extern const char *const hm_sw_action_names[];

/*!
 * Effective configuration of saguarod: a member for each option of conf/options.def, and
 * what was read with the options.
 */
struct config {
	bool opafm; /*!< config_file is an opafm.xml */
	const struct option_trace
		*trace; /*!< settings of config_file, NULL: none was read */
	const struct virtual_fabrics *virtual_fabrics; /*!< of opafm.xml, NULL: none */
#define MEMBER(declaration) declaration;
#define VALUE(type, key, ...) type key;
#include "conf/options.def"
};

/*! Rows of struct config, including every key of OpenSM's file that has no effect here. */
extern const struct option_row config_rows[];

/*! \brief diags_init() for a configuration: what it prints has the codes SAG-CONF-001 and 002. */
void config_diags_init(struct diags *d, struct arena *a);

/*!
 * \brief Reads the command line and the file it names; command line wins over the file.
 *
 * The file has lines of a key and a value, or is an opafm.xml; its first character shows which.
 *
 * Without -F the file is saguaro.conf in the configuration folder of the instance, if there
 * is one. It can be called again with the same \a argv.
 *
 * \param extra  Further sets (the engines' rows) with fresh bases, or NULL.
 * \param c      Set on success only: defaults, then file, then command line. Strings are in
 *               \a a or static.
 *
 * \retval E_OK      No errors; warnings in \a d.
 * \retval E_SYNTAX  Errors in \a d, or a usage error that was printed.
 * \retval -errno    The file cannot be read; also in \a d.
 */
int config_read(struct config *c, const struct option_sets *extra, struct arena *a,
                int argc, char **argv, struct diags *d);

/*!
 * \brief The same for a command with positional arguments; only -F names a file.
 * \param text       For --help. \param args  Usage of the positional arguments.
 * \param ret_first  Index of the first of them in \a argv.
 */
int config_read_args(struct config *c, const struct option_sets *extra, struct arena *a,
                     int argc, char **argv, const char *text, const char *args,
                     int *ret_first, struct diags *d);

/*!
 * \brief Overwrites the keys of a command line, which every user of the machine can read as long as the program
 *        runs, and warns of each of them.
 * \param argv  That of main(). It was good, and nobody reads its keys again.
 * \param args  Usage of the positional arguments; NULL: there are none.
 */
void config_hide_keys(const struct option_sets *extra, struct arena *a, int argc, char **argv,
                      const char *args, struct diags *d);

/*! \brief Writes \a c and the \a extra sets (or NULL) as a file that config_read() accepts.
 *  \param secrets  With keys; false: a comment stands in place of each that is set. */
int config_dump(const struct config *c, const struct option_sets *extra, struct arena *a,
                bool secrets, FILE *f);

/*! \brief config_dump() with keys into a file at \a path, which nobody else may read from then
 *  on. \retval -errno also in \a d */
int config_dump_file(const struct config *c, const struct option_sets *extra,
                     struct arena *a, const char *path, struct diags *d);

/*! \brief After a second config_read(): copies to \a next the values that only a restart can
 *         change. */
int config_keep(const struct config *now, struct config *next, struct arena *a,
                struct diags *d);

/*!
 * \brief Path of the control socket: what the option says, else beside the snapshot folder.
 * \param dir  Snapshot folder in use. \return NULL: none is wanted, or out of memory.
 */
const char *config_control_socket(const char *option, const char *dir, struct arena *a);

/*! \brief M_KeyProtectBits of all end ports. */
uint32_t config_m_key_level(const struct config *c);

/*! \brief After how many light sweeps in a row a heavy one is due; 0: always, -1: never. */
int32_t config_heavy_after(const struct config *c);

/*! \brief VLCap code that limits ports of one kind: QOS_CA, QOS_SWE or QOS_RTR. */
uint32_t config_max_op_vls(const struct config *c, enum qos_class of);

/*! \brief Most lanes that routing may use by max_op_vls, the qos keys of switches and qos FALSE: 1-15. */
uint8_t config_lanes(const struct config *c);

/*!
 * \brief Adds an error about the value of a key, with its place and its name there.
 *
 * For errors that conf cannot find, such as an engine that does not exist.
 */
void config_refuse(const struct config *c, const char *key, const char *value,
                   const char *why, struct diags *d);

/*! Findings of config_check_file() in a file. */
struct config_file {
	bool opafm;                       /*!< else keys and values */
	bool unreadable;                  /*!< the file could not be read */
	const char *instance;             /*!< Name of the Fm that was read, or NULL */
	struct option_trace trace;
	unsigned n_ignored;               /*!< settings without effect here */
	unsigned n_unknown;               /*!< settings of unknown keys and elements */
};

/*!
 * \brief Reads a file without a command line, to report what it contains.
 *
 * \param c         In: only strict_config is used. Out: set even if there are errors, so it
 *                  is for display only.
 * \param instance  NULL: main.
 * \param ret_file       What was understood, also after E_SYNTAX. Borrowed by \a c.
 * \retval E_SYNTAX  Errors in \a d. \retval -errno  Likewise.
 */
int config_check_file(struct config *c, const struct option_sets *extra, const char *path,
                      const char *instance, struct arena *a, struct diags *d,
                      struct config_file *ret_file);

/*!
 * \brief A warning for each unknown key of a file; elements of an opafm.xml have theirs already.
 *
 * There may be hundreds of them, so call it after all other messages.
 */
void config_warn_unknown(const struct config_file *f, const struct option_sets *s,
                         const char *path, struct diags *d);

/*! \brief Folder of an instance: \a dir when set, else "root/instance". Arena string. */
const char *config_dir(const char *dir, const char *root, const char *instance,
                       struct arena *a);

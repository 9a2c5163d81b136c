/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

/*!
 * Commands of the `saguaro` program: one row per command, each in a cmd_*.c file.
 *
 * Exit status of every command: EXIT_GOOD, EXIT_BAD when the answer is "no" (the proof
 * fails, no path, not ready), EXIT_USAGE for wrong usage or bad input, or when there is
 * nobody to ask; EXIT_STALE when the answer is good but stale, because the daemon is gone.
 */
enum command_exit { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_USAGE = 2, EXIT_STALE = 3 };

struct command {
	const char *name;
	const char *args;                  /*!< usage of what follows the name */
	const char *help;                  /*!< one sentence */
	int (*run)(int argc, char **argv); /*!< argv[0] is "saguaro NAME" */
	bool parallel;                     /*!< computes with several threads */
};

/*! \brief Calls \a use with the name of each command that begins so. */
void command_each(const char *prefix, int (*use)(const char *name));

int cmd_alarms(int argc, char **argv);
int cmd_lft(int argc, char **argv);
int cmd_lids(int argc, char **argv);
int cmd_links(int argc, char **argv);
int cmd_load(int argc, char **argv);
int cmd_ports(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_complete(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_counters(int argc, char **argv);
int cmd_engines(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_partition(int argc, char **argv);
int cmd_groups(int argc, char **argv);
int cmd_handover(int argc, char **argv);
int cmd_rebalance(int argc, char **argv);
int cmd_loglevel(int argc, char **argv);
int cmd_nodes(int argc, char **argv);
int cmd_port(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_paths(int argc, char **argv);
int cmd_reload(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_records(int argc, char **argv);
int cmd_route(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_services(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_sweeps(int argc, char **argv);
int cmd_topo(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_whatif(int argc, char **argv);
int cmd_why(int argc, char **argv);

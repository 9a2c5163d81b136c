/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdio.h>

struct graph;
struct sim;

/*!
 * Commands that change or show a running simulation, one line of text each:
 *
 *   link down "leaf 3"[7]      reboot h00001        list switches
 *   node deaf "S-0002c9"       drop 1000            help
 *
 * A node is its id in the topology file, its description, a node or a port GUID; quotes
 * are needed only if something follows it. The command is done before the reply is written.
 */
struct sim_control {
	struct sim *sim;
	const struct graph *g;
	void (*clients)(void *ctx, FILE *out); /*!< lists attached programs; NULL: none */
	void (*stop)(void *ctx);               /*!< ends the simulation; NULL: cannot */
	void *ctx;
};

/*!
 * \brief Executes a line.
 * \param out  Receives the reply, or on failure a message that says what to do.
 * \retval E_OK E_SYNTAX E_UNKNOWN E_NOTFOUND E_AMBIGUOUS E_RANGE
 */
int sim_control(const struct sim_control *c, const char *line, FILE *out);

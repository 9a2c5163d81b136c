/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct graph;
struct sim;
struct sim_server;

/*!
 * Serves a simulated fabric to any number of programs over a Unix socket: one thread, one
 * event loop. What goes over the socket is in sa/sim/sim_wire.h, what the programs' kernels
 * do in sa/sim/sim_kernel.h, what their hosts look like in sa/sim/sim_tree.h.
 *
 * Beside the socket SOCKET there is a folder SOCKET.hosts with the hosts' files. Both go
 * with the server; what a killed one left is removed by the next on the same socket.
 */
enum { SIM_SERVER_WHY = 400 };

/*!
 * \brief Listens on \a path.
 * \param s, g     Borrowed until sim_server_free(); the fabric is on the real clock.
 * \param ret_why  [SIM_SERVER_WHY] sentence on failure.
 * \retval E_LOCKED  Another server has the socket. \retval -errno
 */
int sim_server_new(struct sim *s, const struct graph *g, const char *path, char *ret_why,
                   struct sim_server **ret);

/*! \brief Serves until sim_server_stop(). \retval -errno */
int sim_server_run(struct sim_server *v);
/*! \brief Ends sim_server_run(). Any thread; async-signal-safe. */
void sim_server_stop(struct sim_server *v);
void sim_server_free(struct sim_server *v);

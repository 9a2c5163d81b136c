/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct graph;
struct sim;
struct sim_server;

/*!
 * Serves a simulated fabric to any number of programs over a Unix socket, with one thread and one
 * event loop. sim_wire.h has the protocol, sim_kernel.h the kernels of the programs, and
 * sim_tree.h the files of their hosts.
 *
 * Beside the socket SOCKET there is a folder SOCKET.hosts with the files of the hosts. The
 * server removes both when it ends, and those that a killed server left when it starts.
 */
enum { SIM_SERVER_WHY = 400 };

/*!
 * \brief Listens on \a path.
 * \param s, g     Borrowed until sim_server_free(); the fabric is on the real clock.
 * \param ret_why  [SIM_SERVER_WHY] message on failure.
 * \retval E_LOCKED  Another server has the socket. \retval -errno
 */
int sim_server_new(struct sim *s, const struct graph *g, const char *path, char *ret_why,
                   struct sim_server **ret_server);

/*! \brief Serves until sim_server_stop(). \retval -errno */
int sim_server_run(struct sim_server *v);
/*! \brief Ends sim_server_run(). Any thread; async-signal-safe. */
void sim_server_stop(struct sim_server *v);
void sim_server_free(struct sim_server *v);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sim/sim_name.h"

struct sim;
struct sim_host;

/*!
 * The files of a host of the simulated fabric: a folder with the contents of
 * /sys/class/infiniband, /sys/class/infiniband_mad and /dev/infiniband. Adapters are called
 * sim0, sim1, ... in the order of their names. Umad and issm devices are numbered across all
 * ports. sim_host_refresh() rewrites the files whose values changed.
 */

/*!
 * \brief Makes the folder \a dir, which must not exist, and fills it.
 * \param nodes  [n] node indices, copied. \retval -errno
 */
int sim_host_new(struct sim *s, const char *dir, const uint32_t *nodes, unsigned n,
                 struct sim_host **ret_host);
/*! \brief Removes the folder too. */
void sim_host_free(struct sim_host *h);

const char *sim_host_dir(const struct sim_host *h);
bool sim_host_is(const struct sim_host *h, const uint32_t *nodes, unsigned n);
/*! \brief End port of umad device \a number, GRAPH_NONE: there is none. */
uint32_t sim_host_port(const struct sim_host *h, uint32_t number);
void sim_host_refresh(struct sim_host *h);

/*! \brief Removes a folder and its contents, if it exists. */
void sim_tree_remove(const char *dir);

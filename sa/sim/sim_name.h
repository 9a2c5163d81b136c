/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct graph;

/*!
 * Finds nodes of a simulated fabric by a name: the ID in the topology file, the node description,
 * a node GUID or a port GUID. Error messages say what to do.
 */
enum { SIM_NAME_WHY = 400, SIM_HOST_NODES = 16 };

/*! \brief Finds one node. \param ret_why [SIM_NAME_WHY]. \retval E_NOTFOUND E_AMBIGUOUS */
int sim_name_node(const struct graph *g, const char *name, uint32_t *ret_node,
                  char *ret_why);

/*!
 * \brief Finds the adapters of a host, for SIM_HOST.
 *
 * "" is the node of graph.sm_port, or the first channel adapter. Else a list with commas;
 * each part names one node, or is the first word of the descriptions of several adapters
 * ("node1" for "node1 HCA-1" and "node1 HCA-2"). A description may hold commas when it is
 * the whole name.
 *
 * \param ret_nodes [SIM_HOST_NODES]
 * \retval E_NOTFOUND E_AMBIGUOUS \retval E_FULL  More adapters than that.
 */
int sim_name_host(const struct graph *g, const char *name, uint32_t *ret_nodes,
                  unsigned *ret_n, char *ret_why);

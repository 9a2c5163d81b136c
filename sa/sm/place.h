/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct job;

/*!
 * Nodes and ports that an operator names.
 */

/*!
 * \brief The node that a text names: by name, description, GUID or LID.
 *
 * \param ret_port  Untouched, unless the text is a port GUID or a LID: then that port.
 * \param ret_n     How many nodes have that name.
 * \return GRAPH_NONE: none, or more than one.
 */
uint32_t place_node(const struct job *j, const char *text, uint8_t *ret_port,
                    uint32_t *ret_n);

/*!
 * \brief Reads NAME:PORT, GUID:PORT or LID:PORT; the port may be left out where there is only one with a
 *        cable.
 * \param ret_port  Index in the graph of the job.
 * \param why       Sentence on failure.
 * \retval E_NOTFOUND E_AMBIGUOUS E_RANGE
 */
int place_port(const struct job *j, const char *place, uint32_t *ret_port, char *why,
               size_t why_bytes);

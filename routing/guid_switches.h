/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct graph;
struct guid_file;
struct guid_record;
struct why;

/*! A record of the list stands for switch \a sw; called once for each such switch. */
typedef void guid_switch_f(void *ctx, uint32_t sw, const struct guid_record *r);

/*!
 * \brief Looks up the switches that the GUIDs of a list stand for
 *        (graph_switches_by_guid()), in the order of the list.
 *
 * The first few GUIDs that are on no switch are named in \a why by file and line, the
 * others counted.
 *
 * \return How many records stand for a switch.
 */
uint32_t guid_switches(const struct graph *g, const struct guid_file *f,
                       guid_switch_f *found, void *ctx, struct why *why);

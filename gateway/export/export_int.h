/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "gateway/export/export.h"

/*! Writers of forms, one file per family. */
uint32_t export_node_parts(const struct export_fabric *x);
int export_dot(const struct export_fabric *x, uint32_t part, struct body *out);
int export_graphml(const struct export_fabric *x, uint32_t part, struct body *out);
int export_slurm_tree(const struct export_fabric *x, uint32_t part, struct body *out);
int export_slurm_block(const struct export_fabric *x, uint32_t part, struct body *out);
int export_slurm_yaml(const struct export_fabric *x, uint32_t part, struct body *out);
uint32_t export_opareport_parts(const struct export_fabric *x);
int export_opareport(const struct export_fabric *x, uint32_t part, struct body *out);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

struct arena;
struct device_groups;
struct diags;
struct option_sets;
struct virtual_fabrics;
struct xml_element;

/*!
 * opafm.xml, the configuration file of opa-fm, in place of a file of keys and values.
 *
 *   <Config>
 *     <Common>  for all instances: Applications, DeviceGroups, QOSGroups, VirtualFabrics,
 *               Shared (of all managers), Sm (the subnet manager), Fe, Pm
 *     <Fm>      one per instance, named by Shared/Name; the same sections
 *
 * A setting of the instance overrides that of Common, and one in Sm overrides one in Shared.
 * The rows of the option tables (struct option_row.xml) say which settings have an effect.
 * Known settings without effect are listed, unknown ones cause a warning with their line,
 * and a wrong value is an error with line and element.
 */

/*! Contents of the file that are no option values. */
struct opafm {
	const char *instance;                 /*!< Name of the Fm that was read; NULL: the file has none */
	const struct device_groups *groups;
	const struct virtual_fabrics *fabrics;
	unsigned n_ignored;                   /*!< settings without effect here */
};

/*!
 * \brief Stores the settings of a file.
 *
 * Without a RoutingAlgorithm the key routing_engine becomes shortestpath. subnet_timeout becomes 17, which opa-fm
 * writes and has no element for.
 *
 * \param instance  Name of the Fm to read. "main", where no Fm has that name, is the first one.
 * \param s    Fresh values; s->trace gets every setting, by section.
 * \param ret_opafm  Set on success only.
 * \retval E_SYNTAX  Errors in \a d. \retval -ENOMEM
 */
int opafm_apply(struct xml_element *root, const char *path, const char *instance,
                const struct option_sets *s, struct arena *a, struct diags *d,
                struct opafm *ret_opafm);

/*! A known setting of opafm.xml. */
enum opafm_known { OPAFM_UNKNOWN, OPAFM_IGNORED, OPAFM_IGNORED_SECTION };

/*! \brief Is an element known to opa-fm? \param path  Below Common or Fm ("Sm/LidStrategy"). */
enum opafm_known opafm_known(const char *path);

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
 * opafm.xml, the configuration of opa-fm: as good as a file of keys and values.
 *
 *   <Config>
 *     <Common>  for all instances: Applications, DeviceGroups, QOSGroups, VirtualFabrics,
 *               Shared (of all managers), Sm (the subnet manager), Fe, Pm
 *     <Fm>      one per instance, named by Shared/Name; the same sections
 *
 * A setting of the instance wins over that of Common, one in Sm over one in Shared. Which
 * settings mean something here stands in the rows of the option tables (struct
 * option_row.xml); a setting that is known but has no effect here is listed, one that nobody
 * knows is warned about with its line, a wrong value is an error with line and element.
 */

/*! What is no value of an option. */
struct opafm {
	const char *instance;                 /*!< Name of the Fm that was read; NULL: the file has none */
	const struct device_groups *groups;
	const struct virtual_fabrics *fabrics;
	unsigned n_ignored;                   /*!< settings without effect here */
};

/*!
 * \brief Stores what a file says.
 *
 * Without a RoutingAlgorithm the key routing_engine becomes shortestpath.
 *
 * \param instance  Name of the Fm to read. "main", where no Fm has that name, is the first one.
 * \param s    Fresh values; s->trace gets every setting, by section.
 * \param ret  Set on success only.
 * \retval E_SYNTAX  Errors in \a d. \retval -ENOMEM
 */
int opafm_apply(struct xml_element *root, const char *path, const char *instance,
                const struct option_sets *s, struct arena *a, struct diags *d,
                struct opafm *ret);

/*! How opafm.xml's settings without effect here are known. */
enum opafm_known { OPAFM_UNKNOWN, OPAFM_IGNORED, OPAFM_IGNORED_SECTION };

/*! \brief Is an element known to opa-fm? \param path  Below Common or Fm ("Sm/LidStrategy"). */
enum opafm_known opafm_known(const char *path);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/device_pattern.h"

struct arena;
struct diags;
struct xml_element;

/*!
 * Device groups: named sets of ports, as an operator writes them. Which ports of a fabric
 * belong to a group is worked out by routing/graph/device_set.h.
 *
 * A group is the union of its rules, each an element of the file:
 *
 *   NodeGUID, SystemImageGUID  a node with all its ports; nodes of that system
 *   PortGUID      one port
 *   NodeDesc      nodes, or with :port some of their ports, by a pattern (conf/device_pattern.h)
 *   NodeType      FI (also HFI, CA), SW, RT
 *   IncludeGroup  another group, wherever in the file it stands
 *   Select        All; Self: the node of the subnet manager; SWE0: enhanced switch ports 0;
 *                 AllMgmtAllowed (also AllSMs): ports that may run a subnet manager;
 *                 HFIDirectConnect: channel adapters of a fabric without switches;
 *                 TFIs: channel adapters with a device manager, that is, storage targets
 *
 * Groups that always exist, unless the file defines one of that name itself: All, AllFIs,
 * AllTFIs, AllSWs, AllSWE0s, AllEndNodes, HFIDirectConnect, AllMgmtAllowed, Self.
 *
 * How an engine gets groups: it has a row of type OPT_DEVICE_GROUP or OPT_DEVICE_GROUPS
 * (conf/option.h) whose member is "const struct device_list *". The value is a name, or
 * names with commas between; config_read() binds them to the groups there are, and refuses
 * unknown ones with their place. The engine hands the list to routing/graph/device_set.h.
 */
enum device_rule_kind {
	DEVICE_NODE_GUID,
	DEVICE_SYSTEM_IMAGE_GUID,
	DEVICE_PORT_GUID,
	DEVICE_NODE_DESC,
	DEVICE_NODE_TYPE,
	DEVICE_INCLUDE_GROUP,
	DEVICE_SELECT
};

enum device_select {
	DEVICE_ALL,
	DEVICE_SELF,
	DEVICE_SWE0,
	DEVICE_MGMT_ALLOWED,
	DEVICE_DIRECT_CONNECT,
	DEVICE_TFI
};

struct device_rule {
	enum device_rule_kind kind;
	unsigned line;       /*!< in the group's file */
	uint64_t guid;       /*!< the three kinds of GUID, host order */
	uint32_t value;      /*!< enum device_select; NodeInfo.NodeType; index of the included group */
	const char *name;    /*!< of the included group */
	const struct device_pattern *pattern;
};

struct device_group {
	const char *name;
	unsigned line; /*!< where it is defined, 0: always there */
	const struct device_rule *rules;
	uint32_t n_rules;
};

struct device_groups {
	const char *path;                  /*!< as device_groups_read() takes it, NULL: only the groups that always exist */
	const struct device_group *groups; /*!< [n] by name; includes without cycles */
	uint32_t n;
};

enum { DEVICE_GROUPS_MAX = 4096, DEVICE_GROUP_NONE = UINT32_MAX };

/*! \brief The groups that always exist. */
const struct device_groups *device_groups_builtin(void);

/*! \brief Index by name, upper and lower case apart. O(log n). \return DEVICE_GROUP_NONE */
uint32_t device_group_find(const struct device_groups *g, const char *name);

/*!
 * \brief Reads DeviceGroups sections, and adds the groups that always exist.
 *
 * Every error is reported by line and element: unknown and circular IncludeGroup, a bad
 * GUID or pattern, two groups of a name. A group of a later section replaces one of an
 * earlier section.
 *
 * \param sections  Elements whose children are DeviceGroup elements; all are marked used.
 * \retval E_SYNTAX \retval -ENOMEM
 * Cost: O(n log n).
 */
int device_groups_parse(const char *path, struct xml_element *const *sections, unsigned n,
                        struct arena *a, struct diags *d,
                        const struct device_groups **ret_groups);

/*!
 * \brief Reads the groups of a file: a DeviceGroups element, or an opafm.xml (of Common and
 *        of the first Fm, or with "FILE#NAME" of the Fm of that Name). An option_read_f:
 *        \a ret_value is a struct device_groups.
 */
int device_groups_read(const char *path, struct arena *a, struct diags *d,
                       const void **ret_value);

/*! The value of an option: groups in the order written. */
struct device_list {
	const char *text;         /*!< as written */
	const char *file;         /*!< where, for messages; NULL: the command line */
	unsigned line;
	const char *what;         /*!< key, flag or element there; NULL: the caller's name for it */
	const char *const *names; /*!< [n] */
	const unsigned *lines;    /*!< [n] of each name; NULL: all in line */
	uint32_t n;               /*!< 1 at least */
	const struct device_groups *groups; /*!< set by device_list_bind() */
	const uint32_t *index;    /*!< [n] in groups->groups */
};

/*!
 * \brief Splits names at commas; blanks around them do not count.
 * \retval E_SYNTAX  None, an empty one, one twice, or more than \a most. \retval -ENOMEM
 */
int device_list_parse(const char *text, uint32_t most, struct arena *a,
                      struct device_list **ret_list);

/*!
 * \brief Looks the names up.
 * \param key  Name of the option, for messages when list->what is NULL.
 * \retval E_UNKNOWN  At least one is unknown; \a d has its place and the nearest known name.
 */
int device_list_bind(struct device_list *list, const char *key,
                     const struct device_groups *groups, struct arena *a, struct diags *d);

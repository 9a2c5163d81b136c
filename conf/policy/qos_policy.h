/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/policy/qos_range.h"

struct arena;
struct diags;

/*!
 * qos-policy.conf: which quality of service a path gets that somebody asks for.
 *
 *   port-groups       named sets of ports
 *     port-group          name, use, port-guid, port-name ("description/P1"), pkey,
 *                         partition, node-type (CA, SWITCH, ROUTER, SELF, ALL)
 *   qos-setup         sl2vl-tables and vlarb-tables: read and checked, no effect
 *   qos-levels        what a path gets
 *     qos-level           name, use, sl, mtu-limit, rate-limit, packet-life, path-bits
 *                         (no effect), pkey
 *   qos-match-rules   who gets it: the first rule that fits a request decides
 *     qos-match-rule      use, service-id, qos-class, source, destination, pkey,
 *                         qos-level-name
 *   qos-ulps          "ulp, selector numbers : SL": short rules, after those above
 *
 * Each section ends with its keyword after "end-". A '#' begins a comment. Numbers are lists
 * of ranges (conf/policy/qos_range.h). A rule fits when everything that it names does; what it names
 * of ServiceID, QoSClass and P_Key has to be asked for. A query that no rule fits gets the level
 * named DEFAULT, or the SL of "default" in qos-ulps: one of both there must be. Names are compared
 * in any case.
 *
 * This file names ports; which ports of a fabric they are works sa/sm/policy/policy_compile.h out.
 */
enum { QOS_LEVEL_NONE = UINT32_MAX };

enum qos_node_type {
	QOS_NODE_CA = 1,
	QOS_NODE_SWITCH = 2,
	QOS_NODE_ROUTER = 4,
	QOS_NODE_SELF = 8 /*!< the port of the subnet manager */
};

struct qos_port_name {
	const char *description; /*!< of the node */
	uint32_t port;
};

struct qos_port_group {
	const char *name; /*!< NULL: of a rule of qos-ulps */
	unsigned line;
	struct qos_ranges port_guids;
	struct qos_ranges p_keys; /*!< without the membership bit */
	const struct qos_port_name *names;
	uint32_t n_names;
	unsigned node_types; /*!< bits of enum qos_node_type */
};

struct qos_level {
	const char *name; /*!< NULL: of rules of qos-ulps */
	unsigned line;
	int32_t sl;          /*!< 0-15, -1: not given */
	int32_t packet_life; /*!< code 0-63, -1: not given */
	uint32_t mtu_limit, rate_limit; /*!< codes, 0: none */
	struct qos_ranges p_keys;       /*!< one of these; empty: any */
};

struct qos_match_rule {
	unsigned line;
	struct qos_ranges service_ids, qos_classes, p_keys; /*!< empty: any, also none */
	const uint32_t *sources, *destinations; /*!< port groups, one of them; none: any */
	uint32_t n_sources, n_destinations;
	uint32_t level;
};

struct qos_policy {
	const char *path;
	const struct qos_port_group *groups;
	const struct qos_level *levels;
	const struct qos_match_rule *rules;
	uint32_t n_groups, n_levels, n_rules;
	uint32_t default_level; /*!< QOS_LEVEL_NONE: there is no policy, that is, no file */
};

/*!
 * \brief Reads a file (see option_read_f). One that does not exist has no policy: the usual
 *        path stands in every opensm.conf. Another path is warned about.
 * \retval E_SYNTAX  Every bad line is in \a d. \retval -errno
 */
int qos_policy_read(const char *path, struct arena *a, struct diags *d,
                    const void **ret_value);

/*! \brief qos_policy_read() over \a len bytes in memory. */
int qos_policy_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct qos_policy **ret_policy);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

#include "db/snapshot/policy.h"
#include "db/snapshot/snapshot.h"

struct arena;
struct diags;
struct graph;
struct lanes;
struct qos_policy;
struct virtual_fabrics;

/*!
 * Compiles what an operator wrote to the policy of a fabric (db/snapshot/policy.h): port groups, device
 * groups and P_Keys become sets of ports, SLs become QoS classes of the routing.
 */
struct policy_in {
	const struct graph *g;
	const struct snap_attr *attrs; /*!< as in snap_content; P_KeyTable rows are read */
	size_t n_attrs;
	const struct lanes *lanes;
	uint16_t free_sls;             /*!< as in snap_content */
	bool qos;                      /*!< ports have SL-to-VL tables; false: virtual fabrics have SL 0 */
	bool enforce;                  /*!< virtual fabrics: members and ServiceIDs count */
	const struct qos_policy *policy;       /*!< NULL or without a default level: none */
	const struct virtual_fabrics *fabrics; /*!< NULL, or none of them active: none */
	struct diags *d; /*!< warnings about what has no ports, no paths or no effect; may be NULL */
};

/*! \brief Would there be a policy that gives SLs other than 0? Then ports need tables. */
bool policy_needs_qos(const struct qos_policy *policy, const struct virtual_fabrics *fabrics);

/*!
 * \param ret_policy  In \a a, sets by index of graph.ports; NULL: there is no policy.
 *             Virtual fabrics come before a qos-policy.conf, which then has no effect.
 * \retval E_FULL  More than POLICY_RULES_MAX rules. \retval -ENOMEM
 * Cost: O(rules * end ports + groups * (N + P)).
 */
int policy_compile(const struct policy_in *in, struct arena *a,
                   const struct policy **ret_policy);

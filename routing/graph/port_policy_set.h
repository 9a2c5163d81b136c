/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/policy/port_policy.h"
#include "routing/graph/device_set.h"

/*!
 * \brief Ports of a fabric that belong to a port group of a policy file.
 *
 * A GUID is that of a node or of a port of a CA; of a switch all ports are meant, or those
 * listed. A rule that names ports of a switch puts its port 0 in, too: the switch takes
 * part, through these ports.
 *
 * \param group  Index in p->groups.
 * \param ret_set    In \a a.
 * \retval -ENOMEM
 * Cost: O(N + P) per rule that is involved, a regular expression more per node.
 */
int port_policy_set(const struct graph *g, const struct port_policy *p, uint32_t group,
                    struct arena *a, struct device_set *ret_set);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/snapshot/policy.h"
#include "sa/path/path_query.h"

/*!
 * \brief What the policy gives to a query: first, and with virtual fabrics what comes next.
 *
 * \param p        Of the pinned epoch.
 * \param at       0 at first; where it goes on.
 * \retval E_NOTFOUND   No more.
 * \retval E_POLICY     Nothing at all: no rule fits, or nothing leads to its level.
 * \retval E_PARTITION  No P_Key of that level. \retval -errno E_MALFORMED E_STALE
 * Cost: a word per 64 rules, and those that fit by source and destination are looked at.
 * Private to the query core.
 */
int path_policy_next(struct snap_reader *r, const struct policy *p,
                     const struct path_query *q, uint32_t *at,
                     struct path_level *ret_level);

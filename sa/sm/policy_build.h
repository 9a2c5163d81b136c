/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/policy/qos_range.h"
#include "sa/sm/policy_compile.h"

/*! A policy being made, in an arena. A failure sticks. Private to policy_*.c. */
struct policy_build {
	const struct policy_in *in;
	struct arena *arena;
	struct policy_head head;
	struct policy_level *levels; /*!< [head.n_levels], rules alike: sized before */
	struct policy_rule *rules;
	struct policy_fabric *fabrics;
	struct policy_range *ranges; /*!< grow */
	struct policy_id *ids;
	uint32_t room_ranges, room_ids;
	uint64_t *sets; /*!< [graph.n_ports][POLICY_SETS][words] */
	int ret;
};

/*! \brief Room for so many rules. \return false: out of memory, or too many */
bool build_rules(struct policy_build *b, uint32_t n_rules, uint32_t n_levels);

void build_range(struct policy_build *b, struct policy_list *to, struct policy_range r);
void build_ranges(struct policy_build *b, struct policy_list *to, const struct qos_ranges *r);

/*! \brief A port is of bitmap \a set (0 source, 1 destination, 2 full member) of a rule. */
static inline void build_member(struct policy_build *b, uint32_t port, unsigned set,
                                uint32_t rule)
{
	b->sets[((size_t)port * POLICY_SETS + set) * b->head.words + rule / 64] |=
		UINT64_C(1) << rule % 64;
}

/*! \brief QoS class of an SL in the routing's `vls`. \return POLICY_NO_QOS */
uint8_t build_qos_of(const struct policy_in *in, unsigned sl);

/*! \brief Virtual fabrics that are enabled and not on standby, in the order of the file. */
void build_fabrics(struct policy_build *b);

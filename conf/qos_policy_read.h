/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/qos_policy.h"

/*!
 * Inside of conf/: a qos-policy.conf while it is read. Line by line; a wrong line is told
 * and left out, so all errors are seen at once.
 */

/*! A rule's names, until all that they can name is read. */
struct qos_names {
	const char *level; /*!< NULL: rule.level is set */
	unsigned level_line;
	char *sources, *destinations; /*!< lists, NULL: none */
	unsigned sources_line, destinations_line;
};

struct qos_reader {
	struct arena *arena;
	struct diags *d;
	const char *path;
	unsigned line;
	unsigned at;   /*!< the block that is open */
	unsigned seen; /*!< names that stand in it, as bits */
	int ret;
	struct qos_port_group *groups;
	struct qos_level *levels;
	struct qos_match_rule *rules;
	struct qos_names *names; /*!< [n_rules] */
	uint32_t n_groups, n_levels, n_rules;
	uint32_t room; /*!< of each list: lines of the file */
	/* rules of qos-ulps come after all others: kept apart until the end */
	struct qos_match_rule *ulps;
	uint32_t n_ulps;
	uint32_t level_of_sl[16]; /*!< QOS_LEVEL_NONE: not made yet */
	uint32_t ulp_default;
	unsigned setup_line; /*!< of qos-setup, 0: none */
};

/*! \brief Tells an error at the present line. */
void qos_refuse(struct qos_reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*! \brief qos_ranges_add() with its errors told. \return false: not added */
bool qos_read_ranges(struct qos_reader *r, const char *what, const char *text,
                     uint64_t max, uint64_t mask, struct qos_ranges *ret);

/*! \brief A new group, level. \return Its index. There is always room. */
uint32_t qos_new_group(struct qos_reader *r, const char *name);
uint32_t qos_new_level(struct qos_reader *r, const char *name);

/*! \brief A line of qos-ulps. */
void qos_read_ulp(struct qos_reader *r, char *text);

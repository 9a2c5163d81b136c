/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/policy/qos_policy.h"

/*!
 * Inside of conf/: a qos-policy.conf while it is read. Line by line; a wrong line is told
 * and left out, so all errors are seen at once.
 *
 *   qos_policy.c        blocks, and at the end names become indices
 *   qos_policy_field.c  lines "name: value"
 *   qos_policy_ulp.c    lines of qos-ulps
 */

/*! What a line may stand in. */
enum qos_block {
	QOS_TOP,
	QOS_ULPS,
	QOS_GROUPS,
	QOS_GROUP,
	QOS_SETUP,
	QOS_VLARB_TABLES,
	QOS_VLARB_SCOPE,
	QOS_SL2VL_TABLES,
	QOS_SL2VL_SCOPE,
	QOS_LEVELS,
	QOS_LEVEL,
	QOS_RULES,
	QOS_RULE,
	QOS_BLOCKS
};

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
	unsigned at;   /*!< enum qos_block: the one that is open */
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

/*! \brief The group, level, rule that is being read: the last one. */
static inline struct qos_port_group *qos_group(struct qos_reader *r)
{
	return &r->groups[r->n_groups - 1];
}

static inline struct qos_level *qos_level(struct qos_reader *r)
{
	return &r->levels[r->n_levels - 1];
}

static inline struct qos_match_rule *qos_rule(struct qos_reader *r)
{
	return &r->rules[r->n_rules - 1];
}

/*! \brief The one of this name among the first \a n. \return Its index or QOS_LEVEL_NONE. */
uint32_t qos_find_group(const struct qos_reader *r, const char *name, uint32_t n);
uint32_t qos_find_level(const struct qos_reader *r, const char *name, uint32_t n);

/*! \brief How the block that is open is called, for messages. */
const char *qos_block_keyword(const struct qos_reader *r);

/*! \brief A line "name: value" in the block that is open. */
void qos_read_field(struct qos_reader *r, char *line);

/*! \brief A line of qos-ulps. */
void qos_read_ulp(struct qos_reader *r, char *text);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/policy/qos_policy.h"

/*!
 * Inside of conf/policy: a qos-policy.conf while it is read, line by line. A wrong line is
 * reported and left out, so one run reports all errors.
 *
 *   qos_policy_read.c   blocks, and lists of groups and levels
 *   qos_policy_field.c  lines "name: value"
 *   qos_policy_ulp.c    lines of qos-ulps
 *   qos_policy.c        the whole file; at the end, names become indices
 */

/*! Blocks of the file. */
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

/*! Names with commas between; text NULL: none. */
struct qos_name_list {
	char *text;
	unsigned line;
};

/*! Names that a rule refers to; they become indices when the whole file is read. */
struct qos_names {
	const char *level; /*!< NULL: rule.level is set */
	unsigned level_line;
	struct qos_name_list sources, destinations;
};

struct qos_reader {
	struct arena *arena;
	struct diags *d;
	const char *path;
	unsigned line;
	unsigned at;   /*!< enum qos_block: the current one */
	unsigned seen; /*!< fields that the current block has had, as bits */
	int ret;
	struct qos_port_group *groups;
	struct qos_level *levels;
	struct qos_match_rule *rules;
	struct qos_names *names; /*!< [n_rules] */
	uint32_t n_groups, n_levels, n_rules;
	uint32_t room; /*!< of each list: lines of the file */
	/* Rules of qos-ulps come after all others, so they wait here until the end. */
	struct qos_match_rule *ulps;
	uint32_t n_ulps;
	uint32_t level_of_sl
		[16]; /*!< level of an SL in qos-ulps; QOS_LEVEL_NONE: none yet */
	uint32_t ulp_default;
	unsigned setup_line; /*!< of qos-setup, 0: none */
};

/*! \brief Reports an error in the current line. */
void qos_refuse(struct qos_reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*! \brief qos_ranges_add() that reports its errors. \return false: not added */
bool qos_read_ranges(struct qos_reader *r, const char *what, const char *text,
                     uint64_t max, uint64_t mask, struct qos_ranges *ret_ranges);

/*! \brief Adds a group, a level. \return Its index. There is always room. */
uint32_t qos_new_group(struct qos_reader *r, const char *name);
uint32_t qos_new_level(struct qos_reader *r, const char *name);

/*! \brief The current group, level, rule: the last one. */
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

/*! \brief Finds a name among the first \a n. \return Its index or QOS_LEVEL_NONE. */
uint32_t qos_find_group(const struct qos_reader *r, const char *name, uint32_t n);
uint32_t qos_find_level(const struct qos_reader *r, const char *name, uint32_t n);

/*! \brief Keyword of the current block, for messages. */
const char *qos_block_keyword(const struct qos_reader *r);

/*! \brief Reads a line that is a keyword alone. \return false: it is another line. */
bool qos_read_keyword(struct qos_reader *r, const char *line);

/*! \brief Reads a line "name: value" of the current block. */
void qos_read_field(struct qos_reader *r, char *line);

/*! \brief Reads a line of qos-ulps. */
void qos_read_ulp(struct qos_reader *r, char *text);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/qos_policy_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"

void qos_refuse(struct qos_reader *r, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(r->d, DIAG_ERROR, r->path, r->line, "%s", text);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

bool qos_read_ranges(struct qos_reader *r, const char *what, const char *text,
                     uint64_t max, uint64_t mask, struct qos_ranges *ret_ranges)
{
	int ret = qos_ranges_add(text, max, mask, r->arena, ret_ranges);

	if (ret == -ENOMEM) {
		r->ret = ret;
	} else if (ret != E_OK) {
		qos_refuse(r,
		           "'%.128s': expected %s up to 0x%llx, or several: 1, 0x10-0x1f",
		           text, what, (unsigned long long)max);
	}
	return ret == E_OK;
}

uint32_t qos_new_group(struct qos_reader *r, const char *name)
{
	r->groups[r->n_groups] = (struct qos_port_group){ .name = name, .line = r->line };
	return r->n_groups++;
}

uint32_t qos_new_level(struct qos_reader *r, const char *name)
{
	r->levels[r->n_levels] = (struct qos_level){
		.name = name, .line = r->line, .sl = -1, .packet_life = -1
	};
	return r->n_levels++;
}

uint32_t qos_find_group(const struct qos_reader *r, const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (r->groups[i].name != NULL &&
		    strcasecmp(r->groups[i].name, name) == 0) {
			return i;
		}
	}
	return QOS_LEVEL_NONE;
}

uint32_t qos_find_level(const struct qos_reader *r, const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (r->levels[i].name != NULL &&
		    strcasecmp(r->levels[i].name, name) == 0) {
			return i;
		}
	}
	return QOS_LEVEL_NONE;
}

/* --- blocks ----------------------------------------------------------------------- */

/* clang-format off */
static const struct {
	const char *keyword; /* its end is the same after "end-" */
	enum qos_block in;
} blocks[QOS_BLOCKS] = {
	[QOS_TOP] =          { "the file", QOS_TOP },
	[QOS_ULPS] =         { "qos-ulps", QOS_TOP },
	[QOS_GROUPS] =       { "port-groups", QOS_TOP },
	[QOS_GROUP] =        { "port-group", QOS_GROUPS },
	[QOS_SETUP] =        { "qos-setup", QOS_TOP },
	[QOS_VLARB_TABLES] = { "vlarb-tables", QOS_SETUP },
	[QOS_VLARB_SCOPE] =  { "vlarb-scope", QOS_VLARB_TABLES },
	[QOS_SL2VL_TABLES] = { "sl2vl-tables", QOS_SETUP },
	[QOS_SL2VL_SCOPE] =  { "sl2vl-scope", QOS_SL2VL_TABLES },
	[QOS_LEVELS] =       { "qos-levels", QOS_TOP },
	[QOS_LEVEL] =        { "qos-level", QOS_LEVELS },
	[QOS_RULES] =        { "qos-match-rules", QOS_TOP },
	[QOS_RULE] =         { "qos-match-rule", QOS_RULES },
};
/* clang-format on */

const char *qos_block_keyword(const struct qos_reader *r)
{
	return blocks[r->at].keyword;
}

static void begin_block(struct qos_reader *r, enum qos_block b)
{
	if (blocks[b].in != r->at) {
		qos_refuse(r, "'%s' inside of %s: it belongs in %s", blocks[b].keyword,
		           qos_block_keyword(r), blocks[blocks[b].in].keyword);
	}
	r->at = b;
	r->seen = 0;
	if (b == QOS_GROUP) {
		(void)qos_new_group(r, NULL);
	} else if (b == QOS_LEVEL) {
		(void)qos_new_level(r, NULL);
	} else if (b == QOS_RULE) {
		r->rules[r->n_rules++] = (struct qos_match_rule){ .line = r->line };
	} else if (b == QOS_SETUP) {
		r->setup_line = r->line;
	}
}

static void end_block(struct qos_reader *r, enum qos_block b)
{
	if (b != r->at) {
		qos_refuse(r, "'end-%s' inside of %s", blocks[b].keyword,
		           qos_block_keyword(r));
	} else if ((b == QOS_GROUP && qos_group(r)->name == NULL) ||
	           (b == QOS_LEVEL && qos_level(r)->name == NULL)) {
		qos_refuse(r, "the %s that ends here has no name", blocks[b].keyword);
	} else if (b == QOS_RULE && r->names[r->n_rules - 1].level == NULL) {
		qos_refuse(r, "the qos-match-rule that ends here has no qos-level-name");
	}
	r->at = blocks[b].in;
}

bool qos_read_keyword(struct qos_reader *r, const char *line)
{
	bool is_end = strncasecmp(line, "end-", 4) == 0;

	for (enum qos_block b = QOS_TOP + 1; b < QOS_BLOCKS; b++) {
		if (strcasecmp(line + (is_end ? 4 : 0), blocks[b].keyword) == 0) {
			if (is_end) {
				end_block(r, b);
			} else {
				begin_block(r, b);
			}
			return true;
		}
	}
	return false;
}

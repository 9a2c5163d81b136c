/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * qos-ulps: short rules "ulp, selector numbers : SL", each a match rule with one
 * criterion and a level that has an SL alone.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "conf/policy/qos_policy_read.h"

enum criterion { BY_SERVICE, BY_PORT_NUM, BY_P_KEY, BY_TARGET, BY_SOURCE };

/* The meaning of a protocol's rule: with a selector the numbers are written, without
 * one it has its own. Service IDs of a protocol end in the port number of TCP. */
static const struct {
	const char *name, *selector;
	enum criterion by;
	uint64_t from,
		to; /* without a selector; BY_PORT_NUM: from is added to the port */
} ulps[] = {
	{ "sdp", NULL, BY_SERVICE, 0x10000, 0x1ffff },
	{ "sdp", "port-num", BY_PORT_NUM, 0x10000, 0 },
	{ "rds", NULL, BY_SERVICE, 0x10648ca, 0x10648ca },
	{ "rds", "port-num", BY_PORT_NUM, 0x1060000, 0 },
	{ "iser", NULL, BY_SERVICE, 0x1060cbc, 0x1060cbc },
	{ "iser", "port-num", BY_PORT_NUM, 0x1060000, 0 },
	{ "ipoib", NULL, BY_P_KEY, P_KEY_BASE, P_KEY_BASE },
	{ "ipoib", "pkey", BY_P_KEY, 0, 0 },
	{ "srp", "target-port-guid", BY_TARGET, 0, 0 },
	{ "any", "service-id", BY_SERVICE, 0, 0 },
	{ "any", "pkey", BY_P_KEY, 0, 0 },
	{ "any", "target-port-guid", BY_TARGET, 0, 0 },
	{ "any", "source-port-guid", BY_SOURCE, 0, 0 },
};

enum { N_ULPS = sizeof(ulps) / sizeof(ulps[0]), SL_MAX = 15 };

/* The level with this SL alone. */
static uint32_t level_of(struct qos_reader *r, unsigned sl)
{
	if (r->level_of_sl[sl] == QOS_LEVEL_NONE) {
		r->level_of_sl[sl] = qos_new_level(r, NULL);
		r->levels[r->level_of_sl[sl]].sl = (int32_t)sl;
	}
	return r->level_of_sl[sl];
}

/* One port group, of GUIDs. */
static bool read_ports(struct qos_reader *r, const char *text, const uint32_t **ret_ports,
                       uint32_t *ret_n)
{
	uint32_t *list = arena_array(r->arena, 1, sizeof(*list));
	struct qos_ranges guids = { NULL, 0 };

	if (list == NULL) {
		r->ret = -ENOMEM;
		return false;
	}
	if (!qos_read_ranges(r, "a port GUID", text, UINT64_MAX, UINT64_MAX, &guids)) {
		return false;
	}
	*list = qos_new_group(r, NULL);
	r->groups[*list].port_guids = guids;
	*ret_ports = list;
	*ret_n = 1;
	return true;
}

/* Port numbers as service IDs. */
static bool read_port_nums(struct qos_reader *r, const char *text, uint64_t base,
                           struct qos_ranges *ret_ranges)
{
	struct qos_ranges nums = { NULL, 0 };

	if (!qos_read_ranges(r, "a port number", text, 0xffff, 0xffff, &nums)) {
		return false;
	}
	struct qos_range *ids = arena_array(r->arena, nums.n, sizeof(*ids));
	if (ids == NULL) {
		r->ret = -ENOMEM;
		return false;
	}
	for (uint32_t i = 0; i < nums.n; i++) {
		ids[i].from = base + nums.range[i].from;
		ids[i].to = base + nums.range[i].to;
	}
	*ret_ranges = (struct qos_ranges){ ids, nums.n };
	return true;
}

static bool read_criterion(struct qos_reader *r, unsigned u, const char *text,
                           struct qos_match_rule *rule)
{
	char own[48];

	if (text == NULL) {
		snprintf(own, sizeof(own), "0x%llx-0x%llx",
		         (unsigned long long)ulps[u].from,
		         (unsigned long long)ulps[u].to);
		text = own;
	}
	switch (ulps[u].by) {
	case BY_SERVICE:
		return qos_read_ranges(r, "a service ID", text, UINT64_MAX, UINT64_MAX,
		                       &rule->service_ids);
	case BY_PORT_NUM:
		return read_port_nums(r, text, ulps[u].from, &rule->service_ids);
	case BY_P_KEY:
		return qos_read_ranges(r, "a P_Key", text, 0xffff, P_KEY_BASE,
		                       &rule->p_keys);
	case BY_TARGET:
		return read_ports(r, text, &rule->destinations, &rule->n_destinations);
	case BY_SOURCE: return read_ports(r, text, &rule->sources, &rule->n_sources);
	}
	return false;
}

/* The word before blanks, which is cut off. \return What follows. */
static char *cut_word(char *text)
{
	char *rest = text + strcspn(text, " \t");

	if (*rest != '\0') {
		*rest++ = '\0';
	}
	return text_trim(rest);
}

static unsigned find_ulp(const char *name, const char *selector)
{
	unsigned u = 0;

	while (u < N_ULPS &&
	       (strcasecmp(ulps[u].name, name) != 0 ||
	        (ulps[u].selector == NULL) != (selector == NULL) ||
	        (selector != NULL && strcasecmp(ulps[u].selector, selector) != 0))) {
		u++;
	}
	return u;
}

/* "ulp" or "ulp, selector numbers". */
static void read_rule(struct qos_reader *r, char *who, unsigned sl)
{
	struct qos_match_rule rule = { .line = r->line };
	char *selector = strchr(who, ','), *numbers = NULL;

	if (selector != NULL) {
		*selector++ = '\0';
		selector = text_trim(selector);
		numbers = cut_word(selector);
		selector = *selector != '\0' ? selector : NULL; /* "rds, : 1" */
		numbers = selector != NULL ? numbers : NULL;
	}
	unsigned u = find_ulp(text_trim(who), selector);
	if (u == N_ULPS) {
		qos_refuse(
			r,
			"'%.64s%s%.64s': expected default, sdp, rds, iser, ipoib, srp or any, with port-num, pkey, service-id, target-port-guid or source-port-guid where it takes one",
			who, selector ? ", " : "", selector ? selector : "");
		return;
	}
	if (read_criterion(r, u, numbers, &rule)) {
		rule.level = level_of(r, sl);
		r->ulps[r->n_ulps++] = rule;
	}
}

void qos_read_ulp(struct qos_reader *r, char *text)
{
	char *colon = strrchr(text, ':');
	uint64_t sl = 0;

	if (colon == NULL) {
		qos_refuse(r, "'%.128s': expected an upper layer protocol, ':' and an SL",
		           text);
		return;
	}
	*colon = '\0';
	char *number = text_trim(colon + 1);
	if (text_u64(number, SL_MAX, &sl) != E_OK) {
		qos_refuse(r, "'%.64s': expected an SL from 0 to 15", number);
		return;
	}
	char *who = text_trim(text);
	if (strcasecmp(who, "default") != 0) {
		read_rule(r, who, (unsigned)sl);
	} else if (r->ulp_default != QOS_LEVEL_NONE) {
		qos_refuse(r, "default stands here twice");
	} else {
		r->ulp_default = level_of(r, (unsigned)sl);
	}
}

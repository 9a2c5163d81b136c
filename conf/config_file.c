/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/config_file.h"

#include <config.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "conf/base/xml.h"
#include "conf/device_group.h"
#include "conf/opafm.h"
#include "conf/policy/partitions.h"

enum { LID_MOST = 0xbfff }; /* of a port */

int config_sets(struct config *c, const struct option_sets *extra,
                struct option_sets *ret_sets)
{
	struct option_sets s = { .n = 0 };
	int ret = option_sets_add(&s, config_rows, c);

	for (unsigned i = 0; ret == E_OK && extra != NULL && i < extra->n; i++) {
		ret = option_sets_add_group(&s, extra->set[i].rows, extra->set[i].base,
		                            extra->set[i].group);
	}
	if (ret == E_OK) {
		*ret_sets = s;
	}
	return ret;
}

/* --- after reading --------------------------------------------------------------- */

bool config_is_instance(const char *name)
{
	if (name == NULL || name[0] == '.' || strlen(name) > 64) {
		return false;
	}
	for (; *name != '\0'; name++) {
		if (!isalnum((unsigned char)*name) && strchr("._-", *name) == NULL) {
			return false;
		}
	}
	return true;
}

static bool is_fabric(const char *fabric)
{
	if (fabric == NULL) {
		return false;
	}
	if (strncmp(fabric, "sim:", 4) == 0) {
		return fabric[4] != '\0';
	}
	return strcmp(fabric, "umad") == 0 ||
	       (strncmp(fabric, "umad:", 5) == 0 && fabric[5] != '\0');
}

/* Protection that another setting makes useless. An error, or a warning with
 * --ignore-unsupported. */
static int check_protection(const struct config *c, const struct option_sets *s,
                            struct diags *d)
{
	enum diag_level level = s->ignore_unsupported ? DIAG_WARNING : DIAG_ERROR;
	const char *anyway = s->ignore_unsupported
	                             ? ""
	                             : ", or give --ignore-unsupported to run without it";
	bool enforce = c->part_enforce == PART_ENFORCE_IN ||
	               c->part_enforce == PART_ENFORCE_OUT;
	bool has_m_key = c->m_key != 0 || c->m_key_file != NULL;
	bool weak = !has_m_key && c->m_key_protection_level > 1;
	bool shown = c->m_key_per_port && has_m_key && c->m_key_protection_level > 1;
	bool idle = enforce && !c->no_partition_enforcement && c->partitions == NULL && !c->opafm;

	if (weak) {
		diag_add(
			d, level, c->config_file, 0,
			"m_key_protection_level %u protects nothing without an m_key; set m_key%s",
			c->m_key_protection_level, anyway);
	}
	if (shown) {
		diag_add(
			d, level, c->config_file, 0,
			"m_key_protection_level %u: with m_key_per_port it is 1, because the key of a node that shows nothing cannot be found; set it to 1, or m_key_per_port FALSE%s",
			c->m_key_protection_level, anyway);
	}
#ifndef HAVE_GNUTLS
	if (c->m_key_per_port && has_m_key) {
		weak = true;
		diag_add(
			d, level, c->config_file, 0,
			"m_key_per_port: this saguarod is built without GnuTLS, which derives the keys; set it to FALSE, and all ports get m_key%s",
			anyway);
	}
#endif
	if (idle) {
		diag_add(
			d, level, c->config_file, 0,
			"part_enforce %s: switches enforce nothing without a file of partitions; name one in partition_config_file%s",
			part_enforce_names[c->part_enforce], anyway);
	}
	return (weak || idle || shown) && !s->ignore_unsupported ? E_RANGE : E_OK;
}

/* The file that counts when none is named. Virtual fabrics are partitions of their own. */
static int read_usual_partitions(struct config *c, struct arena *a, struct diags *d)
{
	const void *file = NULL;
	int ret = E_OK;

	if (c->partitions == NULL && !c->opafm && !text_file_is_missing(PARTITIONS_USUAL)) {
		ret = partitions_read(PARTITIONS_USUAL, a, d, &file);
		c->partitions = file;
	}
	return ret;
}

int config_settle(struct config *c, const struct option_sets *s, struct arena *a,
                  struct diags *d)
{
	const struct device_groups *groups =
		c->device_groups != NULL ? c->device_groups : device_groups_builtin();
	int ret = option_bind_groups(s, groups, a, d);

	if (ret == E_OK) {
		ret = read_usual_partitions(c, a, d);
	}
	if (!config_is_instance(c->instance)) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"instance '%.64s': expected 1 to 64 letters, digits, '-', '_' or '.'",
			c->instance != NULL ? c->instance : "");
		ret = ret == -ENOMEM ? ret : E_SYNTAX;
	}
	if (!is_fabric(c->fabric)) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"fabric '%.64s': expected umad, umad:CA, umad:CA:PORT or sim:FILE",
			c->fabric != NULL ? c->fabric : "");
		ret = ret == -ENOMEM ? ret : E_SYNTAX;
	} else if (s->must_exist && strncmp(c->fabric, "sim:", 4) == 0 &&
	           text_file_is_missing(c->fabric + 4)) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "fabric '%.200s': there is no such topology file; correct the name",
		         c->fabric);
		ret = ret == -ENOMEM ? ret : E_SYNTAX;
	}
	if (c->adaptive.enable) {
		diag_add(
			d, DIAG_NOTE, c->config_file, 0,
			"adaptive routing (adaptive_routing, Enable): switches of Omni-Path are programmed with alternates; for those of InfiniBand these are computed and shown only");
	}
	if (c->adaptive.enable && c->adaptive.fine_grained) {
		diag_add(
			d, DIAG_WARNING, c->config_file, 0,
			"fine-grained adaptive routing (adaptive_fine_grained, FineGrained): switches get a port group for each LID in the tables that are public; how CN5000 chooses for each packet, and static dispersive routing, have no public format and are not programmed");
	}
	if (c->adaptive.fine_grained && !c->adaptive.enable) {
		diag_add(
			d, DIAG_WARNING, c->config_file, 0,
			"fine-grained adaptive routing (adaptive_fine_grained, FineGrained) is off, because adaptive routing itself (adaptive_routing, Enable) is off");
		c->adaptive.fine_grained = false;
	}
	if (c->unicast_lid_limit > LID_MOST) {
		diag_add(
			d, DIAG_WARNING, c->config_file, 0,
			"unicast_lid_limit is above 0xbfff: only ports of an Omni-Path fabric get such LIDs, up to 0xefffff and to what all its switches can route; on InfiniBand, where LIDs have 16 bits, the limit is 0xbfff");
	}
	if (ret == E_OK) {
		ret = check_protection(c, s, d);
	}
	return ret == E_UNKNOWN ? E_SYNTAX : ret;
}

/* --- one file -------------------------------------------------------------------- */

/* In opafm.xml, LmcE0 is at most Lmc; in a file of keys it may be larger. */
static int check_lmc(const struct config *c, const char *path,
                     const struct option_trace *t, struct diags *d)
{
	const struct option_seen *e0 = option_trace_find(t, "lmc_esp0");

	if (e0 == NULL || c->lmc_esp0 == UINT32_MAX || c->lmc_esp0 <= c->lmc) {
		return E_OK;
	}
	diag_add(d, DIAG_ERROR, path, e0->line,
	         "%s '%.64s': expected a number not above Lmc, which is %u", e0->element,
	         e0->value, c->lmc);
	return E_SYNTAX;
}

/* The groups of an opafm.xml, with the path by which device_groups_file reads them again. */
static const struct device_groups *groups_of(const struct opafm *got, const char *path,
                                             struct arena *a)
{
	struct device_groups *groups = arena_alloc(a, sizeof(*groups));

	if (groups == NULL) {
		return NULL;
	}
	*groups = *got->groups;
	groups->path = got->instance != NULL && *got->instance != '\0'
	                       ? arena_printf(a, "%s#%s", path, got->instance)
	                       : path;
	return groups->path != NULL ? groups : NULL;
}

static int read_opafm(struct config *c, const struct option_sets *s, const char *path,
                      const char *text, size_t len, struct arena *a, struct diags *d,
                      struct config_file *ret_file)
{
	struct xml_element *root = NULL;
	struct opafm got = { .instance = NULL };
	int ret = xml_parse(path, text, len, a, d, &root);

	ret_file->opafm = true;
	if (ret == E_OK) {
		ret = opafm_apply(root, path, c->instance, s, a, d, &got);
	}
	if (ret == E_OK) {
		ret = check_lmc(c, path, s->trace, d);
	}
	if (ret != E_OK) {
		return ret;
	}
	c->device_groups = groups_of(&got, path, a);
	if (c->device_groups == NULL) {
		return -ENOMEM;
	}
	c->virtual_fabrics = got.fabrics;
	c->opafm = true;
	ret_file->instance = got.instance;
	return E_OK;
}

int config_file_read(struct config *c, const struct option_sets *s, const char *path,
                     struct arena *a, struct diags *d, struct config_file *ret_file)
{
	struct option_sets traced = *s;
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &xml_file, d, &text, &len);

	*ret_file = (struct config_file){ .trace = { .arena = a },
		                          .unreadable = ret != E_OK };
	traced.trace = &ret_file->trace;
	traced.lenient = !c->strict_config;
	if (ret == E_OK) {
		ret = xml_looks_like(text, len)
		              ? read_opafm(c, &traced, path, text, len, a, d, ret_file)
		              : option_read_text(&traced, a, path, text, len, d);
	}
	for (unsigned i = 0; i < ret_file->trace.n; i++) {
		ret_file->n_ignored += ret_file->trace.seen[i].fate == OPTION_NO_EFFECT ||
		                       ret_file->trace.seen[i].fate == OPTION_HARMLESS;
		ret_file->n_unknown += ret_file->trace.seen[i].fate == OPTION_UNKNOWN;
	}
	if (ret == E_OK && !ret_file->opafm && ret_file->n_unknown > 0 &&
	    ret_file->n_unknown == ret_file->trace.n) {
		diag_add(
			d, DIAG_ERROR, path, ret_file->trace.seen[0].line,
			"unknown key '%.64s', and no other key of the file is known: expected a file of options; partitions, policies and lists of GUIDs have keys that name their files",
			ret_file->trace.seen[0].key);
		ret = E_SYNTAX;
	}
	free(text);
	return ret;
}

int config_check_file(struct config *c, const struct option_sets *extra, const char *path,
                      const char *instance, struct arena *a, struct diags *d,
                      struct config_file *ret_file)
{
	struct option_sets sets;
	int ret = config_sets(c, extra, &sets);
	bool strict = c->strict_config, ignore_unsupported = c->ignore_unsupported;

	*ret_file = (struct config_file){ .instance = NULL };
	sets.ignore_unsupported = ignore_unsupported;
	sets.must_exist = true;
	if (ret == E_OK) {
		ret = option_set_defaults(&sets, a);
	}
	if (ret != E_OK) {
		return ret;
	}
	c->instance = instance != NULL ? instance : c->instance;
	c->config_file = path;
	c->strict_config = strict;
	c->ignore_unsupported = ignore_unsupported;
	ret = config_file_read(c, &sets, path, a, d, ret_file);
	c->trace = &ret_file->trace;
	int of_check = config_settle(c, &sets, a, d);
	return ret != E_OK ? ret : of_check;
}

void config_refuse(const struct config *c, const char *key, const char *value,
                   const char *why, struct diags *d)
{
	const struct option_seen *seen = option_trace_find(c->trace, key);

	/* The value may be that of a flag, which overrides the file. */
	if (seen == NULL || value == NULL || strcasecmp(seen->value, value) != 0) {
		diag_add(d, DIAG_ERROR, NULL, 0, "%s: %s", key, why);
		return;
	}
	diag_add(d, DIAG_ERROR, c->config_file, seen->line, "%s: %s",
	         seen->element != NULL ? seen->element : key, why);
}

void config_warn_unknown(const struct config_file *f, const struct option_sets *s,
                         const char *path, struct diags *d)
{
	for (unsigned i = 0; i < f->trace.n; i++) {
		const struct option_seen *seen = &f->trace.seen[i];
		if (seen->fate != OPTION_UNKNOWN || seen->key == NULL) {
			continue;
		}
		const char *hint = option_nearest(s, seen->key);
		diag_add(d, DIAG_WARNING, path, seen->line,
		         "unknown key '%.64s': no effect%s%s%s", seen->key,
		         hint != NULL ? "; did you mean '" : "", hint != NULL ? hint : "",
		         hint != NULL ? "'?" : "");
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/config.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "conf/arena.h"
#include "conf/device_group.h"
#include "conf/diag.h"
#include "conf/err.h"

static const char doc[] = "Subnet manager and subnet administration server for "
			  "InfiniBand and Omni-Path fabrics."
			  "\vThe file of -F holds 'key value' lines in the syntax of "
			  "opensm.conf; flags of the "
			  "command line win over it. --dump-config prints every key with "
			  "its present value.";

/* The rows of \a c first, then the further sets. */
static int all_sets(struct config *c, const struct option_sets *extra,
                    struct option_sets *ret)
{
	struct option_sets s = { .n = 0 };
	int err = option_sets_add(&s, config_rows, c);
	for (unsigned i = 0; err == E_OK && extra != NULL && i < extra->n; i++) {
		err = option_sets_add(&s, extra->set[i].rows, extra->set[i].base);
	}
	if (err == E_OK) {
		*ret = s;
	}
	return err;
}

/* The instance becomes a folder's name: one path component, nothing odd. */
static bool is_instance(const char *name)
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

/* What a row alone cannot say. */
static int check(const struct config *c, struct diags *d)
{
	int ret = E_OK;
	if (!is_instance(c->instance)) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "instance '%.64s': expected 1 to 64 letters, digits, '-', '_' "
		         "or '.'",
		         c->instance != NULL ? c->instance : "");
		ret = E_SYNTAX;
	}
	if (!is_fabric(c->fabric)) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "fabric '%.64s': expected umad, umad:CA, umad:CA:PORT or "
		         "sim:FILE",
		         c->fabric != NULL ? c->fabric : "");
		ret = E_SYNTAX;
	}
	return ret;
}

/* Defaults and the command line: gives the name of the file to read, NULL for none. */
static int find_file(const struct option_sets *s, const struct config *c, bool site_file,
                     const struct option_argv *given, struct arena *a,
                     const char **ret_file)
{
	int ret = option_set_defaults(s, a);
	if (ret != E_OK) {
		return ret;
	}
	/* Problems are not kept: the flags are applied once more, over the file. */
	ret = option_apply_argv(s, a, given, NULL);
	if (ret == -ENOMEM) {
		return ret;
	}
	if (c->config_file != NULL) {
		*ret_file = c->config_file;
		return E_OK;
	}
	if (!site_file || !is_instance(c->instance)) {
		*ret_file = NULL;
		return E_OK;
	}
	const char *dir = config_dir(NULL, SAGUARO_SYSCONFDIR, c->instance, a);
	const char *file = dir != NULL ? arena_printf(a, "%s/saguaro.conf", dir) : NULL;
	if (file == NULL) {
		return -ENOMEM;
	}
	*ret_file = access(file, F_OK) == 0 ? file : NULL;
	return E_OK;
}

static int read_layers(const struct option_sets *s, struct config *c, bool site_file,
                       struct arena *a, const struct option_argv *given, struct diags *d)
{
	const char *file;
	int ret = find_file(s, c, site_file, given, a, &file);
	if (ret == E_OK) {
		ret = option_set_defaults(s, a);
	}
	if (ret != E_OK) {
		return ret;
	}
	/* All three run even after an error, so that all errors are seen at once. */
	int of_file = file != NULL ? option_read_file(s, a, file, d) : E_OK;
	int of_argv = option_apply_argv(s, a, given, d);
	int of_check = check(c, d);
	int of_groups = option_bind_groups(
		s, c->device_groups != NULL ? c->device_groups : device_groups_builtin(),
		a, d);
	c->config_file = file;
	return of_file != E_OK   ? of_file
	       : of_argv != E_OK ? of_argv
	       : of_check != E_OK ? of_check
	                          : of_groups;
}

static int read_config(struct config *c, const struct option_sets *extra, struct arena *a,
                       int argc, char **argv, const char *text, const char *args,
                       int *ret_first, struct diags *d)
{
	struct config fresh = { .config_file = NULL };
	struct option_sets sets;
	struct option_argv given;

	int ret = all_sets(&fresh, extra, &sets);
	if (ret == E_OK) {
		ret = option_parse_argv(&sets, a, argc, argv, text, args, &given);
	}
	if (ret == E_OK) {
		ret = read_layers(&sets, &fresh, args == NULL, a, &given, d);
	}
	if (ret == E_OK) {
		*c = fresh;
		*ret_first = given.first;
	}
	return ret;
}

int config_read(struct config *c, const struct option_sets *extra, struct arena *a,
                int argc, char **argv, struct diags *d)
{
	int first;

	return read_config(c, extra, a, argc, argv, doc, NULL, &first, d);
}

int config_read_args(struct config *c, const struct option_sets *extra, struct arena *a,
                     int argc, char **argv, const char *text, const char *args,
                     int *ret_first, struct diags *d)
{
	return read_config(c, extra, a, argc, argv, text, args, ret_first, d);
}

int config_dump(const struct config *c, const struct option_sets *extra, struct arena *a,
                FILE *f)
{
	struct config copy = *c;
	struct option_sets sets;
	int ret = all_sets(&copy, extra, &sets);
	return ret == E_OK ? option_dump(&sets, a, f) : ret;
}

int config_dump_file(const struct config *c, const struct option_sets *extra,
                     struct arena *a, const char *path, struct diags *d)
{
	FILE *f = fopen(path, "we");
	int ret = f != NULL ? config_dump(c, extra, a, f) : -errno;

	if (f != NULL && fclose(f) != 0 && ret == E_OK) {
		ret = -errno;
	}
	if (ret != E_OK) {
		diag_add(d, DIAG_ERROR, path, 0, "cannot be written: %s", err_text(ret));
	}
	return ret;
}

int config_keep(const struct config *now, struct config *next, struct arena *a,
                struct diags *d)
{
	struct config running = *now;
	struct option_sets old = { .n = 0 }, new = { .n = 0 };
	int ret = option_sets_add(&old, config_rows, &running);
	if (ret == E_OK) {
		ret = option_sets_add(&new, config_rows, next);
	}
	return ret == E_OK ? option_keep(&old, &new, a, d) : ret;
}

uint8_t config_lanes(const struct config *c)
{
	struct qos_setup between;
	unsigned lanes = c->max_op_vls < 5 ? 1U << (c->max_op_vls - 1) : 15;

	if (c->qos == QOS_OFF) {
		return 1;
	}
	qos_setup_of(c->qos_keys, QOS_SWE, &between);
	return (uint8_t)(between.max_vls < lanes ? between.max_vls : lanes);
}

const char *config_dir(const char *dir, const char *root, const char *instance,
                       struct arena *a)
{
	return dir != NULL ? arena_strdup(a, dir)
	                   : arena_printf(a, "%s/%s", root, instance);
}

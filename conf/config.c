/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config_file.h"

static const char doc[] =
	"Subnet manager and subnet administration server for InfiniBand and Omni-Path fabrics.\vThe file of -F holds 'key value' lines in the syntax of opensm.conf, or is an opafm.xml; flags of the command line win over it. --dump-config prints every key with its present value.";

/* Finds the file to read, from the command line or the instance; NULL: none. */
static int find_file(const struct option_sets *s, const struct config *c, bool site_file,
                     const struct option_argv *cmdline, struct arena *a,
                     const char **ret_file)
{
	int ret = option_set_defaults(s, a);
	if (ret != E_OK) {
		return ret;
	}
	/* Errors are not reported yet, because the flags are applied again after the file. */
	ret = option_apply_argv(s, a, cmdline, NULL);
	if (ret == -ENOMEM) {
		return ret;
	}
	if (c->config_file != NULL) {
		*ret_file = c->config_file;
		return E_OK;
	}
	if (!site_file || !config_is_instance(c->instance)) {
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

/* Reports the first unknown keys by name with the nearest known key, and their number. */
static void warn_unknown(const struct config_file *of, const struct option_sets *s,
                         const char *path, struct arena *a, struct diags *d)
{
	enum { NAMED_MAX = 4 };
	const char *list = "";
	unsigned n = 0;

	for (unsigned i = 0; i < of->trace.n && n < NAMED_MAX && list != NULL; i++) {
		const struct option_seen *seen = &of->trace.seen[i];
		if (seen->fate != OPTION_UNKNOWN || seen->key == NULL) {
			continue;
		}
		const char *hint = option_nearest(s, seen->key);
		list = arena_printf(a, "%s%s%.64s (line %u%s%s)", list, n > 0 ? ", " : "",
		                    seen->key, seen->line,
		                    hint != NULL ? ", did you mean " : "",
		                    hint != NULL ? hint : "");
		n++;
	}
	if (list == NULL || n == 0) {
		return;
	}
	diag_add(
		d, DIAG_WARNING, path, 0,
		"%u unknown key%s without effect: %s%s; 'saguaro config check' lists them, --strict-config refuses them",
		of->n_unknown, of->n_unknown == 1 ? "" : "s", list,
		n < of->n_unknown ? ", ..." : "");
}

/* Reads the file; its values override the defaults. */
static int read_file(struct config *c, const struct option_sets *s, const char *path,
                     struct arena *a, struct diags *d)
{
	struct config_file *of = arena_alloc(a, sizeof(*of));
	int ret = of != NULL ? config_file_read(c, s, path, a, d, of) : -ENOMEM;

	if (ret == E_OK) {
		c->trace = &of->trace;
	}
	if (ret == E_OK && of->n_unknown > 0) {
		warn_unknown(of, s, path, a, d);
	}
	if (ret == E_OK && of->opafm && of->n_ignored > 0) {
		diag_add(
			d, DIAG_NOTE, path, 0,
			"%u settings have no effect here; 'saguaro config check' lists them",
			of->n_ignored);
	}
	return ret;
}

static int read_layers(struct option_sets *s, struct config *c, bool site_file,
                       struct arena *a, const struct option_argv *cmdline,
                       struct diags *d)
{
	const char *file;
	int ret = find_file(s, c, site_file, cmdline, a, &file);
	const char *instance = c->instance; /* selects a section of the file */
	bool strict = c->strict_config;
	s->ignore_unsupported = c->ignore_unsupported;
	s->must_exist = c->check;
	if (ret == E_OK) {
		ret = option_set_defaults(s, a);
	}
	if (ret != E_OK) {
		return ret;
	}
	c->instance = instance;
	c->strict_config = strict;
	/* Each step runs even after an error, so that one run reports all errors. */
	int of_file = file != NULL ? read_file(c, s, file, a, d) : E_OK;
	int of_argv = option_apply_argv(s, a, cmdline, d);
	c->config_file = file;
	int of_check = config_settle(c, s, a, d);
	return of_file != E_OK ? of_file : of_argv != E_OK ? of_argv : of_check;
}

static int read_config(struct config *c, const struct option_sets *extra, struct arena *a,
                       int argc, char **argv, const char *text, const char *args,
                       int *ret_first, struct diags *d)
{
	struct config fresh = { .config_file = NULL };
	struct option_sets sets;
	struct option_argv cmdline;

	int ret = config_sets(&fresh, extra, &sets);
	if (ret == E_OK) {
		ret = option_parse_argv(&sets, a, argc, argv, text, args, &cmdline);
	}
	if (ret == E_OK) {
		ret = read_layers(&sets, &fresh, args == NULL, a, &cmdline, d);
	}
	if (ret == E_OK) {
		*c = fresh;
		*ret_first = cmdline.first;
	}
	return ret;
}

void config_diags_init(struct diags *d, struct arena *a)
{
	diags_init(d, a);
	d->codes[DIAG_ERROR] = log_message_code(MSG_CONF_ERROR);
	d->codes[DIAG_WARNING] = log_message_code(MSG_CONF_WARNING);
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

void config_hide_keys(const struct option_sets *extra, struct arena *a, int argc, char **argv,
                      const char *args, struct diags *d)
{
	struct config any = { .config_file = NULL };
	struct option_sets sets;
	struct option_argv cmdline;

	if (config_sets(&any, extra, &sets) != E_OK ||
	    option_parse_argv(&sets, a, argc, argv, doc, args, &cmdline) != E_OK) {
		return;
	}
	for (unsigned i = 0; i < cmdline.n; i++) {
		const struct option_flag_value *f = &cmdline.flags[i];
		const struct option_row *row = option_find(&sets, f->key);

		if (row != NULL && (row->flags & OPT_SECRET) != 0 && f->value != NULL) {
			memset(f->value, 'x', strlen(f->value));
			diag_add(
				d, DIAG_WARNING, NULL, 0,
				"%s on the command line: every user of this machine could read it until now; put it into a configuration file that only root may read",
				f->key);
		}
	}
}

int config_dump(const struct config *c, const struct option_sets *extra, struct arena *a,
                bool secrets, FILE *f)
{
	struct config copy = *c;
	struct option_sets sets;
	int ret = config_sets(&copy, extra, &sets);
	return ret == E_OK ? option_dump(&sets, a, secrets, f) : ret;
}

int config_dump_file(const struct config *c, const struct option_sets *extra,
                     struct arena *a, const char *path, struct diags *d)
{
	/* It holds keys, so a file that others may read is closed to them first. */
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct stat st;
	bool is_ours = fd >= 0 && fstat(fd, &st) == 0 &&
	               (!S_ISREG(st.st_mode) ||
	                (fchmod(fd, 0600) == 0 && ftruncate(fd, 0) == 0));
	FILE *f = is_ours ? fdopen(fd, "w") : NULL;
	int ret = f != NULL ? config_dump(c, extra, a, true, f) : -errno;

	if (f == NULL && fd >= 0) {
		close(fd);
	} else if (f != NULL && fclose(f) != 0 && ret == E_OK) {
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

uint32_t config_max_op_vls(const struct config *c, enum qos_class of)
{
	return c->max_op_vls_of[of] != 0 ? c->max_op_vls_of[of] : c->max_op_vls;
}

uint32_t config_m_key_level(const struct config *c)
{
	return c->m_key == 0 ? 0 : c->m_key_per_port ? 1 : c->m_key_protection_level;
}

int32_t config_heavy_after(const struct config *c)
{
	return c->force_heavy_sweep ? 0 : c->force_heavy_sweep_window;
}

uint8_t config_lanes(const struct config *c)
{
	struct qos_setup between;
	uint32_t code = config_max_op_vls(c, QOS_SWE);
	unsigned lanes = code < 5 ? 1U << (code - 1) : 15;

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

const char *config_control_socket(const char *option, const char *dir, struct arena *a)
{
	if (option != NULL) {
		return strcmp(option, "none") == 0 ? NULL : option;
	}
	return arena_printf(a, "%s.control", dir);
}

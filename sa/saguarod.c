/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguarod: the subnet manager and subnet administration daemon. This file only composes:
 * configuration, transport, databases, SA thread and the sweep's loop, which is the
 * fabric thread. SIGHUP reads the configuration again and asks for a heavy sweep; a
 * configuration with errors is refused as a whole and the running one stays. SIGUSR1 opens
 * the log file again. Verbs of the control socket run on the fabric thread, too.
 */
#include <config.h>

#include "sa/saguarod_int.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/key_file.h"
#include "conf/base/log.h"
#include "conf/base/openmp.h"
#include "conf/base/service.h"
#include "conf/holes.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "db/stats/stats.h"
#include "routing/text/topofile.h"
#include "sa/control/control.h"
#include "sa/mad/umad.h"
#include "sa/server/oob.h"
#include "sa/server/server.h"
#include "sa/sim/sim.h"
#include "sa/sm/sweep.h"
#include "sa/standby/standby.h"
#include "sa/store/dump.h"

static const char *const source = "saguarod";

/* Signal handlers use only these: flags and the transport to wake. */
static volatile sig_atomic_t stop_asked, reload_asked, reopen_asked;
static _Atomic(struct transport *) wake_target;

static void on_signal(int number)
{
	struct transport *t = atomic_load(&wake_target);

	if (number == SIGHUP) {
		reload_asked = 1;
	} else if (number == SIGUSR1) {
		reopen_asked = 1;
	} else {
		stop_asked = 1;
	}
	if (t) {
		t->ops->wake(t);
	}
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigemptyset(&action.sa_mask);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
}

static int64_t wall_clock(void)
{
	return (int64_t)time(NULL);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu_clock(void)
{
	return seconds(CLOCK_MONOTONIC);
}

static double thread_clock(void)
{
	return seconds(CLOCK_THREAD_CPUTIME_ID);
}

static void configuration_free(struct configuration *g)
{
	if (g) {
		arena_free(g->arena);
		free(g);
	}
}

/* Reads all sources. Problems are in the diagnostics, which the caller prints. Takes the arena
 * of the diagnostics on success. */
static int configuration_read(int argc, char **argv, struct diags *d,
                              struct configuration **ret_gen)
{
	struct configuration *g = calloc(1, sizeof(*g));
	int ret;

	if (!g) {
		return -ENOMEM;
	}
	g->arena = d->arena;
	ret = engine_options_init(&g->engines, g->arena);
	if (ret == E_OK) {
		ret = config_read(&g->config, &g->engines.sets, g->arena, argc, argv, d);
	}
	if (ret == E_OK) {
		ret = engine_options_bind(&g->engines, g->arena, d);
	}
	if (ret == E_OK) {
		ret = route_list_read(&g->config, &g->engines, g->arena, d, &g->list);
	}
	if (ret != E_OK) {
		free(g);
		return ret;
	}
	*ret_gen = g;
	return E_OK;
}

/* --- SIGHUP ---------------------------------------------------------------------------
 */

static void log_diags(const struct diags *d)
{
	char place[DIAG_PLACE_MAX];

	for (unsigned i = 0; i < d->n; i++) {
		const struct diag *item = &d->items[i];

		diag_place(item, place, sizeof(place));
		if (item->level == DIAG_ERROR) {
			log_message(MSG_CONF_ERROR, source, "%s%s", place, item->text);
		} else if (item->level == DIAG_WARNING) {
			log_message(MSG_CONF_WARNING, source, "%s%s", place, item->text);
		} else {
			log_info(source, "%s%s", place, item->text);
		}
	}
}

static void fill_deps(struct daemon *d, const struct configuration *g,
                      struct sweep_deps *ret_deps)
{
	*ret_deps = (struct sweep_deps){
		.transport = d->transport,
		.state = d->state,
		.snap = d->snap,
		.stats = d->stats,
		.sa = d->sa,
		.standby = d->standby,
		.key_file = d->key_file,
		.other_key_file = g->config.m_key_lookup ? OPENSM_GUID2MKEY : NULL,
		.config = &g->config,
		.engines = &g->engines,
		.list = g->list,
		.wall_clock = wall_clock,
		.cpu_clock = cpu_clock,
		.thread_clock = thread_clock,
	};
}

/* Keys out of files are read at the start. */
static void keep_keys(const struct config *now, struct config *fresh)
{
	fresh->m_key = now->m_key_file != NULL ? now->m_key : fresh->m_key;
	fresh->sm_key = now->sm_key_file != NULL ? now->sm_key : fresh->sm_key;
	fresh->sa_key = now->sa_key_file != NULL ? now->sa_key : fresh->sa_key;
}

int saguarod_reload(struct daemon *d)
{
	struct configuration *fresh;
	struct sweep_deps deps;
	struct arena *a = arena_new();
	struct diags *diags = a ? arena_alloc(a, sizeof(*diags)) : NULL;

	if (!diags) {
		arena_free(a);
		log_message(MSG_CONF_REFUSED, source, "configuration not read again: %s",
		            err_text(-ENOMEM));
		return -ENOMEM;
	}
	diags_init(diags, a);
	int ret = configuration_read(d->argc, d->argv, diags, &fresh);
	log_diags(diags);
	if (ret != E_OK) {
		log_message(MSG_CONF_REFUSED, source,
		            "configuration refused, the running one stays");
		arena_free(a);
		return ret;
	}
	diags_init(diags, a);
	keep_keys(&d->now->config, &fresh->config);
	if (config_keep(&d->now->config, &fresh->config, a, diags) != E_OK) {
		log_message(MSG_CONF_REFUSED, source, "configuration refused: %s",
		            err_text(-ENOMEM));
		configuration_free(fresh);
		return -ENOMEM;
	}
	log_diags(diags);
	char why[300] = "out of memory";
	ret = sweep_suits(d->sweep, &fresh->config, why, sizeof(why));
	if (ret != E_OK) {
		log_message(MSG_CONF_REFUSED, source,
		            "configuration refused, the running one stays: %s", why);
		configuration_free(fresh);
		return ret;
	}
	fill_deps(d, fresh, &deps);
	sweep_reconfigure(d->sweep, &deps);
	sweep_request_audit(d->sweep, NULL);
	configuration_free(d->now);
	d->now = fresh;
	service_open_log(source, fresh->config.log_file, fresh->config.verbose);
	log_info(source, "configuration read again, heavy sweep asked for");
	return E_OK;
}

int saguarod_reopen_log(struct daemon *d)
{
	reopen_asked = 0;
	return service_reopen_log(source, d->now->config.log_file);
}

static void wake_fabric_thread(void *ctx)
{
	struct transport *t = atomic_load(&wake_target);

	(void)ctx;
	if (t != NULL) {
		t->ops->wake(t);
	}
}

/* --- start and stop -------------------------------------------------------------------
 */

static int open_sim(struct daemon *d, const char *file)
{
	const struct option_guids *guids = &d->now->config.guid;
	struct sim_options options = { .sm_port_guid = 0 };
	struct diags *diags = arena_alloc(d->arena, sizeof(*diags));
	struct graph *g;

	if (!diags) {
		return -ENOMEM;
	}
	diags_init(diags, d->arena);
	int ret = topo_read(file, d->now->config.strict_config, d->arena, diags, &g);
	log_diags(diags);
	if (ret != E_OK) {
		log_message(MSG_START_NO_SIM, source, "no simulated fabric from %s: %s",
		            file, err_text(ret));
		return ret;
	}
	ret = E_UNKNOWN;
	for (uint32_t i = 0; ret != E_OK && i < guids->n; i++) {
		options.sm_port_guid = guids->guid[i];
		ret = sim_new(g, &options, false, &d->sim);
	}
	if (ret != E_OK) {
		log_message(MSG_START_NO_SIM, source, "simulated fabric %s: %s", file,
		            err_text(ret));
		return ret;
	}
	d->transport = sim_transport(d->sim);
	return E_OK;
}

static int open_umad(struct daemon *d, const char *spec)
{
	const char *why = NULL;
	char ca[64] = "";
	unsigned port = 0;
	const char *name = spec + strlen("umad");

	if (*name && (*name != ':' || sscanf(name, ":%63[^:]:%u", ca, &port) < 1)) {
		log_message(MSG_START_FABRIC, source,
		            "fabric '%s': expected umad, umad:CA or umad:CA:PORT", spec);
		return E_SYNTAX;
	}
	const struct option_guids *guids = &d->now->config.guid;
	int ret = E_UNKNOWN;
	for (uint32_t i = 0; ret != E_OK && i < guids->n; i++) {
		if (i > 0) {
			log_message(MSG_START_NEXT_PORT, source,
			            "port GUID 0x%016" PRIx64
			            ": %s; the next one is tried",
			            guids->guid[i - 1], why ? why : err_text(ret));
		}
		ret = umad_transport_open(ca, port, guids->guid[i], d->arena, &why,
		                          &d->transport);
	}
	if (ret != E_OK) {
		log_message(MSG_START_NO_PORT, source, "%s", why ? why : err_text(ret));
	}
	return ret;
}

static int open_fabric(struct daemon *d)
{
	const char *spec = d->now->config.fabric;

	if (!strncmp(spec, "sim:", 4)) {
		return open_sim(d, spec + 4);
	}
	if (!strncmp(spec, "umad", 4)) {
		return open_umad(d, spec);
	}
	log_message(MSG_START_FABRIC, source,
	            "fabric '%s': expected umad[:CA[:PORT]] or sim:FILE", spec);
	return E_SYNTAX;
}

static int open_databases(struct daemon *d)
{
	const struct config *c = &d->now->config;
	const struct snap_options options = {
		.grace_ms = c->snapshot_grace,
		.history_bytes = (uint64_t)c->epoch_history << 20,
	};
	const char *why = NULL;
	const char *state_dir = d->state_dir =
		config_dir(c->state_dir, SAGUARO_STATEDIR, c->instance, d->arena);
	const char *run_dir =
		config_dir(c->snapshot_dir, SAGUARO_RUNDIR, c->instance, d->arena);

	if (!state_dir || !run_dir) {
		return -ENOMEM;
	}
	d->key_file = c->guid2mkey_file != NULL
	                      ? arena_strdup(d->arena, c->guid2mkey_file)
	                      : arena_printf(d->arena, "%s/guid2mkey", state_dir);
	int ret = d->key_file != NULL ? state_open(state_dir, d->arena, &why, &d->state)
	                              : -ENOMEM;
	if (ret == E_OK) {
		ret = snap_writer_open(run_dir, &options, d->arena, &why, &d->snap);
	}
	if (ret == E_OK && why != NULL) {
		log_message(MSG_START_DAMAGED, source, "%s", why);
		why = NULL;
	}
	if (ret == E_OK) {
		ret = stats_open(run_dir, d->arena, &why, &d->stats);
	}
	if (ret == E_OK && why != NULL) {
		log_message(MSG_START_DAMAGED, source, "%s", why);
	}
	if (ret == E_OK && geteuid() == 0 && !snap_has_group()) {
		log_info(
			source,
			"only root reads %s, because there is no group saguaro; 'groupadd --system saguaro' makes it",
			run_dir);
	}
	if (ret == E_OK) {
		stats_text(d->stats, "ended", "");
	} else {
		log_message(MSG_START_NO_DATABASE, source, "%s",
		            why ? why : err_text(ret));
	}
	return ret;
}

/* Imports a dump of OpenSM before the first request is answered. The fabric is managed even if
 * the dump cannot be read. */
static int import_dump(struct daemon *d)
{
	const char *path = d->now->config.sa_db_file;
	struct dump_counts c;
	struct diags *diags;

	if (path == NULL) {
		return E_OK;
	}
	struct arena *a = arena_new();
	diags = a != NULL ? arena_alloc(a, sizeof(*diags)) : NULL;
	if (diags == NULL) {
		arena_free(a);
		return -ENOMEM;
	}
	diags_init(diags, a);
	int ret = dump_import(d->state, path, wall_clock(), diags, &c);
	log_diags(diags);
	arena_free(a);
	if (ret != E_OK) {
		log_message(MSG_START_NO_IMPORT, source,
		            "nothing of %s is taken over: %s", path, err_text(ret));
		return E_OK;
	}
	log_info(
		source,
		"%s: %zu groups, %zu members, %zu services, %zu subscriptions, %zu blocks of alias GUIDs taken over; %zu there already, %zu left out",
		path, c.groups, c.members, c.services, c.subscriptions, c.guids, c.kept,
		c.left_out);
	return E_OK;
}

static int open_oob(struct daemon *d)
{
	const struct oob_options options = { .listen = d->now->config.oob_listen };
	const char *why = NULL;

	if (options.listen == NULL) {
		return E_OK;
	}
	int ret = oob_new(&options, d->sa, d->arena, &why, &d->oob);
	if (ret != E_OK && why != NULL) {
		log_message(MSG_START_NO_TCP, source, "%s", why);
	}
	return ret;
}

/* The link to the other saguarods of the subnet. */
static int open_standby(struct daemon *d)
{
	const struct config *c = &d->now->config;
	const struct standby_options options = { .listen = c->standby_listen,
		                                 .peers = c->standby_peer,
		                                 .secret = c->standby_secret,
		                                 .wait_ms = c->standby_wait,
		                                 .guid = d->transport->local.port_guid,
		                                 .prefix = c->subnet_prefix,
		                                 .state = d->state,
		                                 .changed = wake_fabric_thread };
	const char *why = NULL;

	if (c->standby_listen == NULL && c->standby_peer == NULL) {
		return E_OK;
	}
	int ret = standby_new(&options, d->arena, &why, &d->standby);
	if (ret != E_OK) {
		log_message(MSG_START_NO_STANDBY, source, "%s",
		            why ? why : err_text(ret));
	}
	return ret;
}

static int open_control(struct daemon *d)
{
	const struct config *c = &d->now->config;
	const char *dir =
		config_dir(c->snapshot_dir, SAGUARO_RUNDIR, c->instance, d->arena);
	struct control_options o = { .group = "saguaro-admin",
		                     .verbs = saguarod_verbs,
		                     .ctx = d,
		                     .begin = saguarod_begin,
		                     .settle = saguarod_settle,
		                     .wake = wake_fabric_thread };
	const char *why = NULL;
	int ret;

	o.path = dir ? config_control_socket(c->control_socket, dir, d->arena) : NULL;
	if (o.path == NULL) {
		return E_OK;
	}
	ret = control_new(&o, d->arena, &why, &d->control);
	if (ret != E_OK) {
		log_message(MSG_START_NO_CONTROL, source, "control socket: %s",
		            why ? why : err_text(ret));
	}
	return ret;
}

/* A key that may be in a file of its own. */
struct key_choice {
	const char *option, *name; /* of the option, and of the file that auto makes */
	const char *file;
	uint64_t *key;
};

static int choose_key(struct daemon *d, const struct key_choice *k)
{
	const char *file = k->file, *why = "out of memory";
	bool made = false;
	int ret = E_OK;

	if (file != NULL && strcmp(file, "auto") == 0) {
		file = arena_printf(d->arena, "%s/%s", d->state_dir, k->name);
		ret = file != NULL ? E_OK : -ENOMEM;
	}
	if (ret == E_OK && file != NULL) {
		ret = key_file_read(k->option, file, d->arena, &why, k->key, &made);
	}
	if (ret != E_OK) {
		log_message(MSG_START_NO_KEY_FILE, source, "%s", why);
	} else if (made) {
		log_info(source, "a random %s is in %s; other saguarods of the subnet need a copy",
		         k->name, file);
	}
	return ret;
}

static int choose_keys(struct daemon *d)
{
	struct config *c = &d->now->config;
	const struct key_choice keys[] = {
		{ "m_key_file", "m_key", c->m_key_file, &c->m_key },
		{ "sm_key_file", "sm_key", c->sm_key_file, &c->sm_key },
		{ "sa_key_file", "sa_key", c->sa_key_file, &c->sa_key },
	};
	int ret = E_OK;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && ret == E_OK; i++) {
		ret = choose_key(d, &keys[i]);
	}
	return ret;
}

static void log_holes(const struct config *c)
{
	for (unsigned i = 0; i < CONFIG_HOLE_COUNT; i++) {
		if (config_has_hole(c, i)) {
			log_message(MSG_START_OPEN_TO_HOSTS, source, "open to hosts: %s; %s",
			            config_holes[i].what, config_holes[i].remedy);
		}
	}
}

static int start_daemon(struct daemon *d)
{
	struct sa_limits limits = {
		.max_response = (size_t)d->now->config.sa_max_response << 20,
		.records_of_a_port = d->now->config.sa_records_per_port,
		.groups_of_port = d->now->config.sa_groups_per_port,
		.groups_of_partition = d->now->config.sa_groups_per_partition,
		.own_records = d->now->config.sa_own_records,
		.sm_assigned_guid = (uint8_t)d->now->config.sm_assigned_guid
	};
	struct sweep_deps deps;
	int ret;

	ret = open_databases(d); /* first: its lock says whether another daemon runs */

	if (ret == E_OK) {
		ret = import_dump(d);
	}
	if (ret == E_OK) {
		ret = choose_keys(d);
	}
	if (ret == E_OK) {
		ret = open_fabric(d);
	}
	if (ret != E_OK) {
		return ret;
	}
	log_holes(&d->now->config);
	limits.sa_key = d->now->config.sa_key;
	atomic_store(&wake_target, d->transport);
	ret = sa_server_new(d->transport, d->snap, d->state, &limits, &d->sa);
	if (ret == E_OK) {
		ret = open_standby(d);
	}
	if (ret == E_OK) {
		fill_deps(d, d->now, &deps);
		ret = sweep_new(&deps, &d->sweep);
	}
	if (ret == E_OK) {
		ret = open_oob(d);
	}
	if (ret == E_OK) {
		ret = open_control(d);
	}
	if (ret != E_OK) {
		log_message(MSG_START_FAILED, source, "cannot start: %s", err_text(ret));
	}
	return ret;
}

/* Readers are told why nobody gives a sign of life any more. */
static void note_end(struct daemon *d, int ret)
{
	enum { LONG_AGO_MS = 1 }; /* the heartbeat of a daemon that ended is not fresh */
	char why[STATS_TEXT_MAX] = "it was stopped";

	if (d->stats == NULL || d->now->config.once) {
		return;
	}
	if (ret != E_OK) {
		log_last_error(why, sizeof(why));
	}
	stats_text(d->stats, "ended", why);
	if (stats_commit(d->stats, LONG_AGO_MS) != E_OK) {
		log_message(MSG_START_END_UNTOLD, source,
		            "cannot tell readers that this saguarod ended");
	}
}

static void stop_daemon(struct daemon *d)
{
	control_free(d->control);
	atomic_store(&wake_target, NULL);
	oob_stop(d->oob);
	sweep_free(d->sweep);
	sa_server_free(d->sa);
	oob_free(d->oob);
	standby_free(d->standby);
	if (d->transport) {
		d->transport->ops->close(d->transport);
	}
	sim_free(d->sim);
	stats_close(d->stats);
	snap_writer_close(d->snap);
	state_close(d->state);
	configuration_free(d->now);
	arena_free(d->arena);
}

/* What "systemctl status" shows: what the sweep does, or why the subnet is not up. */
static void tell_service(const struct daemon *d)
{
	const struct sweep_status *st = sweep_status(d->sweep);
	char text[160];

	if (st->progress[0] != '\0') {
		snprintf(text, sizeof(text), "%s", st->progress);
	} else if (st->up) {
		snprintf(text, sizeof(text), "SUBNET UP: %u switches, %u hosts, epoch %" PRIu64,
		         st->switches, st->hosts, st->epoch);
	} else {
		snprintf(text, sizeof(text), "%.150s", st->not_ready);
	}
	service_status(text);
	service_alive(d->transport->ops->now_ms(d->transport));
}

static int run_fabric_thread(struct daemon *d)
{
	int ret = E_OK;

	service_ready();
	while (!stop_asked && ret == E_OK) {
		if (reload_asked) {
			reload_asked = 0;
			service_reloading();
			(void)saguarod_reload(d); /* it logs what is wrong */
			service_ready();
		}
		if (reopen_asked) {
			(void)saguarod_reopen_log(d);
		}
		control_dispatch(d->control);
		ret = sweep_run_once(d->sweep);
		tell_service(d);
		if (d->now->config.once && sweep_status(d->sweep)->heavy_sweeps > 0) {
			break;
		}
	}
	if (ret != E_OK) {
		log_message(MSG_START_PORT_GONE, source, "the fabric port is gone: %s",
		            err_text(ret));
	}
	if (d->now->config.once && ret == E_OK && !sweep_status(d->sweep)->up) {
		ret = E_NOTREADY;
	}
	return ret;
}

/* A configuration that leaves something open to hosts is accepted, and not called good. */
static void print_check(const struct config *c, unsigned n_warnings)
{
	unsigned n_holes = config_count_holes(c);

	for (unsigned i = 0; i < CONFIG_HOLE_COUNT; i++) {
		if (config_has_hole(c, i)) {
			printf("open to hosts: %s; %s\n", config_holes[i].what,
			       config_holes[i].remedy);
		}
	}
	printf("configuration is %s, %u warning%s", n_holes == 0 ? "good" : "accepted",
	       n_warnings, n_warnings == 1 ? "" : "s");
	if (n_holes != 0) {
		printf(", open to hosts in %u place%s", n_holes, n_holes == 1 ? "" : "s");
	}
	printf("\n");
}

/* --check, --dump-config and --create-config. \return Exit status; -1: none of them is asked
 * for. */
static int run_without_fabric(const struct configuration *g, struct diags *d)
{
	if (g->config.dump_config) {
		return config_dump(&g->config, &g->engines.sets, g->arena, false,
		                   stdout) == E_OK
		               ? 0
		               : 1;
	}
	if (g->config.create_config) {
		int ret = config_dump_file(&g->config, &g->engines.sets, g->arena,
		                           g->config.create_config, d);
		diags_print(d, stderr, DIAG_ERROR);
		return ret == E_OK ? 0 : 1;
	}
	if (g->config.check) {
		print_check(&g->config, d->n_warnings);
		return 0;
	}
	return -1;
}

/* The configuration is read from a copy, again and again, because keys vanish from the original. */
static char **copy_argv(struct arena *a, int argc, char **argv)
{
	char **copy = arena_array(a, (size_t)argc + 1, sizeof(*copy));

	for (int i = 0; copy != NULL && i < argc; i++) {
		copy[i] = arena_strdup(a, argv[i]);
		if (copy[i] == NULL) {
			return NULL;
		}
	}
	return copy;
}

int main(int argc, char **argv)
{
	openmp_wait_passively(argv);

	struct daemon d = { .arena = arena_new(), .argc = argc };
	struct arena *a = arena_new();
	struct diags *diags = a ? arena_alloc(a, sizeof(*diags)) : NULL;

	d.argv = d.arena ? copy_argv(d.arena, argc, argv) : NULL;
	if (!d.argv || !diags) {
		fprintf(stderr, "saguarod: %s\n", err_text(-ENOMEM));
		return 1;
	}
	umask(0027);
	config_diags_init(diags, a);
	int ret = configuration_read(argc, d.argv, diags, &d.now);
	if (ret == E_OK) {
		config_hide_keys(&d.now->engines.sets, a, argc, argv, NULL, diags);
	}
	diags_print(diags, stderr, DIAG_NOTE);
	if (ret != E_OK) {
		arena_free(a);
		arena_free(d.arena);
		return 2;
	}
	const int status = run_without_fabric(d.now, diags);
	if (status >= 0) {
		stop_daemon(&d);
		return status;
	}
	log_set_format((enum log_format)d.now->config.log_format);
	log_info(source, "saguaro %s starts", PACKAGE_VERSION);
	service_open_log(source, d.now->config.log_file, d.now->config.verbose);
	catch_signals();
	ret = start_daemon(&d);
	if (ret == E_OK) {
		ret = run_fabric_thread(&d);
		log_info(source, "ends");
	}
	service_stopping();
	note_end(&d, ret);
	stop_daemon(&d);
	return ret == E_OK ? 0 : 1;
}

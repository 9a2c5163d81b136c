/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Verbs of the control socket, called as its thread calls them, on a daemon that manages a
 * simulated fabric: what each does, and its reply as a whole.
 */
#include "sa/saguarod_int.h"

#include <errno.h>

#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

static struct sweep_fixture *fixture;
static struct configuration now;
static struct daemon process;
static json_t *reply;
static char why[256];

/* What saguarod.c does for two of the verbs is played by the test. */
static int reload_ret, reopen_ret;
static unsigned n_reloads;

int saguarod_reload(struct daemon *d)
{
	ck_assert_ptr_eq(d, &process);
	n_reloads++;
	return reload_ret;
}

int saguarod_reopen_log(struct daemon *d)
{
	ck_assert_ptr_eq(d, &process);
	return reopen_ret;
}

static void wake(void *ctx)
{
	(void)ctx;
}

static void setup(void)
{
	const char *trouble = "";

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 2 2 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.sweep_interval = 0;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	fixture_log(fixture);
	process = (struct daemon){ .now = &now, .sweep = fixture->sweep };
	const struct control_options o = { .path = arena_printf(fixture->a, "%s/control",
		                                                fixture->dir),
		                           .verbs = saguarod_verbs,
		                           .ctx = &process,
		                           .wake = wake };
	ck_assert_msg(control_new(&o, fixture->a, &trouble, &process.control) == E_OK,
	              "%s", trouble);
	reply = NULL;
	reload_ret = reopen_ret = E_OK;
	n_reloads = 0;
}

static void teardown(void)
{
	json_decref(reply);
	control_free(process.control);
	fixture_free(fixture);
}

/* Runs the verb that the request names. */
static int ask(const char *text)
{
	json_t *request = json_loads(text, 0, NULL);
	const char *name = json_string_value(json_object_get(request, "verb"));
	int ret = E_NOTFOUND;

	ck_assert_msg(name != NULL, "%s", text);
	json_decref(reply);
	reply = json_object();
	why[0] = '\0';
	for (const struct control_verb *v = saguarod_verbs; v->name != NULL; v++) {
		if (strcmp(v->name, name) == 0) {
			ret = v->run(&process, request, reply, why, sizeof(why));
		}
	}
	json_decref(request);
	return ret;
}

static unsigned n_requests(const char *kind)
{
	char text[100];

	snprintf(text, sizeof(text), " sweep: %s sweep: operator request; by eve, HTTP",
	         kind);
	return fixture_logged(fixture, text);
}

/* The reply of status, sweep, rebalance and handover: the figures of the sweep, and no others. */
static void assert_status(void)
{
	const struct sweep_status *st = sweep_status(fixture->sweep);
	json_t *want = json_object();

	json_object_set_new(want, "phase", json_string(st->phase));
	json_object_set_new(want, "up", json_boolean(st->up));
	json_object_set_new(want, "master", json_boolean(st->master));
	json_object_set_new(want, "not_ready", json_string(st->not_ready));
	json_object_set_new(want, "progress", json_string(st->progress));
	json_object_set_new(want, "epoch", json_integer((json_int_t)st->epoch));
	json_object_set_new(want, "heavy_sweeps", json_integer(st->heavy_sweeps));
	json_object_set_new(want, "light_sweeps", json_integer(st->light_sweeps));
	json_object_set_new(want, "failed_sweeps", json_integer(st->failed_sweeps));
	json_object_set_new(want, "switches", json_integer(st->switches));
	json_object_set_new(want, "hosts", json_integer(st->hosts));
	json_object_set_new(want, "routes_per_link_max",
	                    json_integer(st->routes_per_link_max));
	json_object_set_new(want, "routes_per_link_fresh",
	                    json_integer(st->routes_per_link_fresh));
	json_object_set_new(want, "isolated_ports", json_integer(st->isolated_ports));
	ck_assert_msg(json_equal(reply, want), "%s", json_dumps(reply, 0));
	json_decref(want);
}

START_TEST(status)
{
	ck_assert_int_eq(ask("{\"verb\":\"status\"}"), E_OK);
	assert_status();
	ck_assert_int_eq(json_integer_value(json_object_get(reply, "switches")), 4);
	ck_assert_int_eq(json_integer_value(json_object_get(reply, "hosts")), 4);
	ck_assert(json_is_true(json_object_get(reply, "up")));
	ck_assert(json_is_true(json_object_get(reply, "master")));
}
END_TEST

/* A light sweep looks for changes; a heavy one reads everything. Who asks for one does not get
 * the other. */
START_TEST(light)
{
	ck_assert_int_eq(ask(_i ? "{\"verb\":\"sweep\",\"heavy\":false,\"by\":\"eve\"}"
	                        : "{\"verb\":\"sweep\",\"by\":\"eve\"}"),
	                 E_OK);
	assert_status();
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->light_sweeps, 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
	ck_assert_uint_eq(n_requests("light"), 1);
	ck_assert_uint_eq(n_requests("heavy"), 0);
}
END_TEST

START_TEST(heavy)
{
	ck_assert_int_eq(ask("{\"verb\":\"sweep\",\"heavy\":true,\"by\":\"eve\"}"), E_OK);
	assert_status();
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->light_sweeps, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 2);
	ck_assert_uint_eq(n_requests("light"), 0);
	ck_assert_uint_eq(n_requests("heavy"), 1);
}
END_TEST

START_TEST(rebalance)
{
	ck_assert_int_eq(ask("{\"verb\":\"rebalance\",\"by\":\"eve\"}"), E_OK);
	assert_status();
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(
		fixture_logged(fixture,
	                       "rebalance: the routes stay: the routes are balanced"),
		1);
	ck_assert_uint_ne(sweep_status(fixture->sweep)->routes_per_link_fresh, 0);
}
END_TEST

/* What cannot be done: a sentence, and an empty reply. */
static const struct {
	const char *request;
	int ret;
	const char *says;
} refused[] = {
	{ "{\"verb\":\"sweep\",\"heavy\":1}", E_SYNTAX, "'heavy' must be true or false" },
	{ "{\"verb\":\"handover\"}", E_NOTREADY,
	  "there is no other subnet manager on the fabric that could be master; start one, and see its state with sminfo" },
	{ "{\"verb\":\"port\"}", E_SYNTAX,
	  "'action' must be disable or enable, and 'port' name a port" },
	{ "{\"verb\":\"port\",\"action\":\"disable\"}", E_SYNTAX,
	  "'action' must be disable or enable, and 'port' name a port" },
	{ "{\"verb\":\"port\",\"port\":\"leaf-0000:1\"}", E_SYNTAX,
	  "'action' must be disable or enable, and 'port' name a port" },
	{ "{\"verb\":\"port\",\"action\":\"cut\",\"port\":\"leaf-0000:1\"}", E_SYNTAX,
	  "'action' must be disable or enable, and 'port' name a port" },
	{ "{\"verb\":\"loglevel\"}", E_SYNTAX,
	  "'level' must be error, warning, info or debug" },
	{ "{\"verb\":\"loglevel\",\"level\":\"loud\"}", E_SYNTAX,
	  "'level' must be error, warning, info or debug" },
};

START_TEST(refusals)
{
	ck_assert_int_eq(ask(refused[_i].request), refused[_i].ret);
	ck_assert_str_eq(why, refused[_i].says);
	ck_assert_uint_eq(json_object_size(reply), 0);
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->light_sweeps, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
}
END_TEST

static void assert_reply(const char *want)
{
	json_t *o = json_loads(want, 0, NULL);

	ck_assert_msg(o != NULL && json_equal(reply, o), "%s, not %s",
	              json_dumps(reply, 0), want);
	json_decref(o);
}

/* The cable of a host: that host is cut off as long as the port is disabled. */
START_TEST(port)
{
	const uint32_t host = fixture_host(fixture, 1),
		       far = fixture->g->ports[host].peer;
	const struct graph *g = fixture->g;
	const char *name = g->nodes[g->ports[far].node].description,
		   *peer = g->nodes[g->ports[host].node].description;
	char request[200], want[200];

	snprintf(
		request, sizeof(request),
		"{\"verb\":\"port\",\"action\":\"disable\",\"port\":\"%s:%u\",\"by\":\"eve\"}",
		name, g->ports[far].num);
	ck_assert_msg(ask(request) == E_OK, "%s", why);
	snprintf(
		want, sizeof(want),
		"{\"node\":\"'%s'\",\"port\":%u,\"peer\":\"'%s'\",\"peer_port\":%u,\"cut_off\":1}",
		name, g->ports[far].num, peer, g->ports[host].num);
	assert_reply(want);
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, 3);
	ck_assert_uint_eq(
		fixture_logged(fixture, "is disabled: operator request; by eve, HTTP"),
		1);
	/* its peer is not known any more, and a port that is switched on cuts off nobody */
	snprintf(
		request, sizeof(request),
		"{\"verb\":\"port\",\"action\":\"enable\",\"port\":\"%s:%u\",\"by\":\"eve\"}",
		name, g->ports[far].num);
	ck_assert_msg(ask(request) == E_OK, "%s", why);
	snprintf(want, sizeof(want), "{\"node\":\"'%s'\",\"port\":%u,\"cut_off\":0}",
	         name, g->ports[far].num);
	assert_reply(want);
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, 4);
	ck_assert_uint_eq(
		fixture_logged(fixture, "is enabled: operator request; by eve, HTTP"), 1);
	ck_assert_int_eq(
		ask("{\"verb\":\"port\",\"action\":\"disable\",\"port\":\"nobody:1\"}"),
		E_NOTFOUND);
	assert_reply("{}");
	ck_assert_ptr_nonnull(strstr(why, "there is no 'nobody:1'"));
}
END_TEST

/* The last link of the SM's own port is disabled only by force. */
START_TEST(own_port)
{
	const struct graph *g = fixture->g;
	char request[200];

	for (unsigned force = 0; force < 2; force++) {
		snprintf(
			request, sizeof(request),
			"{\"verb\":\"port\",\"action\":\"disable\",\"port\":\"%s:%u\",\"force\":%s}",
			g->nodes[g->ports[g->sm_port].node].description,
			g->ports[g->sm_port].num, force ? "true" : "false");
		ck_assert_int_eq(ask(request) == E_OK, force);
	}
}
END_TEST

START_TEST(reload)
{
	ck_assert_int_eq(ask("{\"verb\":\"reload\"}"), E_OK);
	assert_reply("{}");
	ck_assert_uint_eq(n_reloads, 1);
	reload_ret = E_SYNTAX;
	ck_assert_int_eq(ask("{\"verb\":\"reload\"}"), E_SYNTAX);
	assert_reply("{}");
	ck_assert_str_eq(
		why,
		"the configuration is refused and the running one stays; the log says why, and so does saguarod --check");
}
END_TEST

START_TEST(reopen_log)
{
	now.config.log_file = NULL;
	ck_assert_int_eq(ask("{\"verb\":\"reopen-log\"}"), E_OK);
	assert_reply("{\"log_file\":null}");
	now.config.log_file = "/some/file";
	ck_assert_int_eq(ask("{\"verb\":\"reopen-log\"}"), E_OK);
	assert_reply("{\"log_file\":\"/some/file\"}");
	reopen_ret = -EACCES;
	ck_assert_int_eq(ask("{\"verb\":\"reopen-log\"}"), -EACCES);
	ck_assert_str_eq(why, "cannot open /some/file: Permission denied");
}
END_TEST

/* Each level lets its own lines through and those above, not those below. */
START_TEST(loglevel)
{
	static const char *const names[] = { "error", "warning", "info", "debug" };
	char request[80], want[40];

	snprintf(request, sizeof(request), "{\"verb\":\"loglevel\",\"level\":\"%s\"}",
	         names[_i]);
	ck_assert_int_eq(ask(request), E_OK);
	snprintf(want, sizeof(want), "{\"level\":\"%s\"}", names[_i]);
	assert_reply(want);
	log_info("test", "line of level info");
	log_debug("test", "line of level debug");
	ck_assert_uint_eq(fixture_logged(fixture, "line of level info"),
	                  _i >= LOG_LEVEL_INFO);
	ck_assert_uint_eq(fixture_logged(fixture, "line of level debug"),
	                  _i >= LOG_LEVEL_DEBUG);
	ck_assert_uint_eq(fixture_logged(fixture, " is now"), 0);
	ck_assert_uint_eq(fixture_logged(fixture, "log level is"), _i >= LOG_LEVEL_INFO);
}
END_TEST

TEST_SUITE(verbs)
{
	TCase *t = tcase_create("verbs");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, status);
	tcase_add_loop_test(t, light, 0, 2);
	tcase_add_test(t, heavy);
	tcase_add_test(t, rebalance);
	tcase_add_loop_test(t, refusals, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(t, port);
	tcase_add_test(t, own_port);
	tcase_add_test(t, reload);
	tcase_add_test(t, reopen_log);
	tcase_add_loop_test(t, loglevel, 0, LOG_LEVEL_DEBUG + 1);
	suite_add_tcase(suite, t);
}

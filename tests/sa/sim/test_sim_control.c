/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What the commands of a running simulation print and do, as a whole:
 * tests/golden/simulator has each line with its reply and, behind a command that changes
 * something, what is different from before then: the ports as `show` prints them, and
 * counters. Where that changes on purpose, GOLDEN=write writes the file anew, and its
 * difference is to be read as code is. The fabric is that of sim_fixture.h.
 */
#include <config.h>

#include "tests/lib/sim_fixture.h"

#include "sa/sim/sim_control.h"
#include "sa/sim/sim_state.h"
#include "tests/lib/golden.h"
#include "tests/lib/suite.h"

/* "@ N": N seconds pass. */
static const char *const lines[] = {
	"",
	"help",
	"nothing",
	"lnk down h1",
	"stop",
	"stop now",
	"clients",
	"clients x",
	"list",
	"list all",
	"list switches",
	"list hosts",
	"list x",
	"list all x",
	"show",
	"show h1",
	"show \"switch a\"",
	"show 0xa0",
	"show 0x101",
	"show h1[1]",
	"show h9",
	"show switch",
	"link",
	"link down",
	"link up h1",
	"link down h1[2]",
	"link down h1[x]",
	"link down h1[0]",
	"link down switch a[2]",
	"link down switch a[3]",
	"link down switch a[3]",
	"link up \"switch b\"[3]",
	"link worn switch a[4]",
	"link worn switch a[4]",
	"link up switch a[4]",
	"link sideways h1[1]",
	"node",
	"node down",
	"node down h2",
	"node up h2",
	"node deaf switch b",
	"node awake switch b",
	"node directed switch b",
	"node routed switch b",
	"node hostile h2",
	"node honest h2",
	"node down h2[1]",
	"node asleep h2",
	"reboot",
	"reboot h2",
	"reboot h9",
	"describe",
	"describe h2",
	"describe h2 \"new name\"",
	"describe \"new name\" h2 again",
	"describe \"h2 again\" h2",
	"describe h9 x",
	"drop",
	"drop x",
	"drop 1000001",
	"drop 1000000",
	"drop 0",
	"drop 0 0",
	"vport",
	"vport h1",
	"vport h1 grow",
	"vport \"switch a\" add",
	"vport h1[2] add",
	"vport h1[x] add",
	"vport h1 add",
	"vport h1[1] add own",
	"vport h1 add shared",
	"vport h1 add shared 0x9001",
	"vport h1 add own 0x9002",
	"vport h1 add own x",
	"vport h1 add theirs",
	"vport h1 guid 1 0x9003",
	"vport h1 guid 1 x",
	"vport h1 guid x 0x9003",
	"vport h1 guid 99 0x9003",
	"vport h1 remove 2",
	"vport h1 remove 2",
	"vport h1 remove 70000",
	"vport h1 remove",
	"vport h1 lie many",
	"vport h1 lie nonsense",
	"vport h1 lie no",
	"vport h1 lie big",
	"counter",
	"counter SymbolErrorCounter",
	"counter SymbolErrorCounter 3 h1[1]",
	"counter symbolerrorcounter 4 h1[1]",
	"counter LinkDownedCounter 300 switch b[3]",
	"counter Nothing 3 h1[1]",
	"counter SymbolErrorCounter x h1[1]",
	"counter SymbolErrorCounter 4294967296 h1[1]",
	"counter SymbolErrorCounter 1 h1",
	"errors PortRcvErrors 7380 h2[1]",
	"@ 10",
	"errors PortRcvErrors 0 h2[1]",
	"@ 10",
	"errors Nothing 1 h2[1]",
	"errors PortRcvErrors x h2[1]",
	"errors PortRcvErrors 1 h2[9]",
	"traffic 1 h1[1]",
	"@ 2",
	"traffic 0 h1[1]",
	"@ 2",
	"traffic x h1[1]",
	"traffic 1000001 h1[1]",
	"traffic 1 h1",
	"lanes 1 switch a[3]",
	"lanes 5 switch a[3]",
	"lanes 4 switch a[3]",
	"lanes 2 switch a",
	"lie MTUCap 1 switch a[3]",
	"lie Nothing 1 switch a[3]",
	"lie MTUCap x switch a[3]",
	"lie MTUCap",
	"busy 50 switch a[3]",
	"busy 101 switch a[3]",
	"busy 100 h1[1]",
	"moves",
	"packets",
	"packets x",
	"tables",
	"tables switch a",
	"tables h9",
	"smps",
};

static void list_counters(FILE *f)
{
	for (uint32_t p = 0; p < fixture.g->n_ports; p++) {
		const struct port *port = &fixture.g->ports[p];

		sim_perf_settle(fixture.s, p);
		for (unsigned i = 0; sim_perf_name(i) != NULL; i++) {
			uint64_t n = fixture.s->ports[p].perf.count[i];

			if (n != 0) {
				fprintf(f, "%s[%u] %s %llu\n",
				        fixture.g->nodes[port->node].description,
				        port->num, sim_perf_name(i),
				        (unsigned long long)n);
			}
		}
	}
}

/* The state, a line for each thing. */
static char *state(const struct sim_control *c)
{
	char *text = NULL, line[32];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	fputc('\n', f);
	for (uint32_t i = 0; i < fixture.g->n_nodes; i++) {
		const struct sim_node *n = &fixture.s->nodes[i];

		fprintf(f, "%s: life %u%s%s%s%s\n", fixture.g->nodes[i].description,
		        n->life, n->down ? " down" : "", n->deaf ? " deaf" : "",
		        n->directed ? " directed" : "", n->hostile ? " hostile" : "");
		snprintf(line, sizeof(line), "show 0x%llx",
		         (unsigned long long)fixture.g->nodes[i].guid);
		ck_assert_int_eq(sim_control(c, line, f), E_OK);
	}
	list_counters(f);
	fprintf(f, "drop %u\n", fixture.s->o.drop_ppm);
	fclose(f);
	return text;
}

/* Lines of \a now that \a before does not have. */
static void print_difference(FILE *f, const char *before, char *now)
{
	char *save = NULL, with_ends[512];

	for (char *line = strtok_r(now, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		snprintf(with_ends, sizeof(with_ends), "\n%s\n", line);
		if (strstr(before, with_ends) == NULL) {
			fprintf(f, "  now %s\n", line);
		}
	}
}

static void run_lines(const char *golden_name)
{
	const struct sim_control c = { .sim = fixture.s, .g = fixture.g };
	struct golden golden;

	golden_begin(&golden, golden_name);
	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *before = state(&c), *now;
		struct mad_msg unused;

		fprintf(golden.f, "> %s\n", lines[i]);
		if (lines[i][0] == '@') {
			uint64_t until = fixture.t->ops->now_ms(fixture.t) +
			                 1000 * strtoull(lines[i] + 1, NULL, 10);

			while (fixture.t->ops->recv(fixture.t, until, &unused) == E_OK) {
			}
		} else {
			int ret = sim_control(&c, lines[i], golden.f);

			fprintf(golden.f, "%s= %s\n", ret == E_OK ? "" : "\n",
			        ret == E_OK ? "good" : err_text(ret));
		}
		now = state(&c);
		print_difference(golden.f, before, now);
		free(before);
		free(now);
	}
	golden_end(&golden);
}

START_TEST(test_infiniband)
{
	run_lines("simulator");
}
END_TEST

START_TEST(test_omni_path)
{
	run_lines("simulator-opa");
}
END_TEST

static void setup_infiniband(void)
{
	open_fixture(&(struct sim_options){
		.virtual_clock = true, .delay_us = 10, .seed = 1 });
	program();
	activate();
}

static void setup_opa(void)
{
	open_fixture(&(struct sim_options){
		.virtual_clock = true, .delay_us = 10, .seed = 1, .omni_path = true });
}

TEST_SUITE(sim_control)
{
	TCase *t = tcase_create("infiniband");

	tcase_add_checked_fixture(t, setup_infiniband, teardown);
	tcase_add_test(t, test_infiniband);
	suite_add_tcase(suite, t);
	t = tcase_create("omni_path");
	tcase_add_checked_fixture(t, setup_opa, teardown);
	tcase_add_test(t, test_omni_path);
	suite_add_tcase(suite, t);
}

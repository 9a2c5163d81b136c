/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * judge_links [RUNS [SEED [INTERVAL [DAYS]]]]: how links whose truth is known are judged; the table that
 * `make judge-links` prints. Exit status 1: a good link was called sick, or a bad one was not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sa/perf/link_health.h"
#include "tests/sa/perf/link_judge.h"

static uint32_t number(int argc, char **argv, int i, uint32_t usual)
{
	return argc > i ? (uint32_t)strtoul(argv[i], NULL, 10) : usual;
}

/* What a sweep of counters costs a fabric of 11,664 hosts: 69,984 ports, some of which err. */
static void print_cost(void)
{
	enum { PORTS = 69984, SWEEPS = 20 };
	const struct link_rules rules = { .incident_s = 60, .calm_s = 3600 };
	struct link_health *h = calloc(PORTS, sizeof(*h));
	struct timespec from, to;
	uint32_t sick = 0;

	if (h == NULL) {
		return;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (uint32_t t = 0; t < SWEEPS; t++) {
		for (uint32_t i = 0; i < PORTS; i++) {
			struct link_reading r = { .interval_ms = 180000,
				                  .time_s = t * 180,
				                  .known = (1u << LINK_METRICS) - 1 };

			h[i].gbps = 40;
			r.rise[LINK_SYMBOL_ERRORS] = i % 1000 == 0 ? 1000 : i % 10 < 7 ? 0 : t % 12;
			(void)link_health_take(&h[i], &rules, &r);
		}
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	for (uint32_t i = 0; i < PORTS; i++) {
		sick += h[i].state == LINK_SICK;
	}
	printf("%d ports (11,664 hosts): %.1f ms of processor time for a sweep, %zu bytes a port, %.1f MB; %u sick\n",
	       PORTS,
	       ((double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6) /
	               SWEEPS,
	       sizeof(*h), PORTS * (double)sizeof(*h) / 1e6, sick);
	free(h);
}

int main(int argc, char **argv)
{
	enum { CABLES = 36 };
	uint32_t runs = number(argc, argv, 1, 200), seed = number(argc, argv, 2, 1);
	uint32_t interval = number(argc, argv, 3, 180), days = number(argc, argv, 4, 7);
	uint32_t bad = 0, blamed;

	printf("%u runs of %u days each, read every %u s, seed %u\n", runs, days, interval, seed);
	printf("%-16s %-5s %6s %6s %6s %6s %6s %6s %9s %9s %10s  %s\n", "process", "truth", "sick",
	       "wrong", "missed", "out", "flaps", "stuck", "median", "95 %", "back", "what it is");
	for (unsigned i = 0; i < link_processes(); i++) {
		const struct link_process *p = link_process(i);
		struct judged j = link_judge(i, runs, seed, interval, days);

		printf("%-16s %-5s %6u %6u %6u %6u %6u %6u ", p->name, p->is_bad ? "bad" : "good",
		       j.sick, j.wrong, j.missed, j.taken, j.flaps, j.stuck);
		if (p->is_bad && j.sick > 0) {
			printf("%5.0f min %5.0f min", j.median_min, j.p95_min);
		} else {
			printf("%9s %9s", "-", "-");
		}
		if (j.back_min > 0) {
			printf(" %6.0f min", j.back_min);
		} else {
			printf("%11s", "-");
		}
		printf("  %s\n", p->what);
		bad += j.wrong + j.missed + j.stuck;
	}
	uint32_t taken = link_judge_switch(CABLES, seed, &blamed);

	printf("a bad switch with %d cables: %u were taken out, of %u the switch is blamed\n", CABLES,
	       taken, blamed);
	print_cost();
	return bad + taken != 0;
}

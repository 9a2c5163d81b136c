/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * judge_links [RUNS [SEED [INTERVAL [DAYS]]]]: how links whose truth is known are judged; the table that
 * `make judge-links` prints. Exit status 1: a good link was called sick, or a bad one was not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sa/perf/link_judge.h"

static uint32_t number(int argc, char **argv, int i, uint32_t usual)
{
	return argc > i ? (uint32_t)strtoul(argv[i], NULL, 10) : usual;
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
	return bad + taken != 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Which functions does a test enter? make mutate compiles its copy with -finstrument-functions
 * and links this file into each program. With MUTATE_ENTERED=FILE in the environment, a
 * program and the processes that it forks append a line for each function when it is first
 * entered: the program's name, and the address as nm shows it. Without it they do nothing.
 *
 * make walks wants those between two points. With WALK_MARKS=ADDRESS,ADDRESS... lines begin
 * when the first address is entered and the file WALK_ARMED exists; they end when the last
 * address, entered after all others in their order, returns. With WALK_THREAD only the
 * thread that entered the first address counts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOT_INSTRUMENTED __attribute__((no_instrument_function))
#define TEXT_MAX (64 << 20) /* bytes of a program */

void __cyg_profile_func_enter(void *function, void *from) NOT_INSTRUMENTED;
void __cyg_profile_func_exit(void *function, void *from) NOT_INSTRUMENTED;

static unsigned char
	*is_known; /* by address; shared by processes that the program forks */
static uintptr_t base;
static const char *list; /* file */
static uintptr_t mark[8];
static unsigned n_marks;
static atomic_uint passed; /* marks; more than n_marks: the walk is over */
static const char *armed;  /* file */
static bool one_thread;
static pthread_t walker;

NOT_INSTRUMENTED static int get_base(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	base = info->dlpi_addr;
	return 1; /* the program is the first */
}

__attribute__((constructor(101))) NOT_INSTRUMENTED static void open_list(void)
{
	list = getenv("MUTATE_ENTERED");
	if (list == NULL) {
		return;
	}
	for (const char *p = getenv("WALK_MARKS"); p != NULL && *p != '\0' && n_marks < 8;
	     p += *p == ',') {
		mark[n_marks++] = strtoul(p, (char **)&p, 16);
	}
	armed = getenv("WALK_ARMED");
	one_thread = getenv("WALK_THREAD") != NULL;
	dl_iterate_phdr(get_base, NULL);
	is_known = mmap(NULL, TEXT_MAX, PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (is_known == MAP_FAILED) {
		abort();
	}
}

/* Is a function that is entered part of the walk? */
NOT_INSTRUMENTED static bool is_on_walk(uintptr_t at)
{
	unsigned n = passed;

	if (n == 0 && at == mark[0] && access(armed, F_OK) == 0) {
		walker = pthread_self();
		passed = n = 1;
	} else if (n > 0 && n < n_marks && at == mark[n]) {
		passed = ++n;
	}
	return n > 0 && n <= n_marks &&
	       (!one_thread || pthread_equal(walker, pthread_self()));
}

/* The file is opened each time, because a test may close all descriptors. */
void __cyg_profile_func_enter(void *function, void *from)
{
	uintptr_t at = (uintptr_t)function - base;
	int error = errno, fd;

	(void)from;
	if (is_known == NULL || at >= TEXT_MAX || (n_marks == 0 && is_known[at])) {
		return;
	}
	if ((n_marks > 0 && !is_on_walk(at)) || is_known[at]) {
		errno = error;
		return;
	}
	is_known[at] = 1;
	fd = open(list, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0) {
		dprintf(fd, "%s 0x%lx\n", program_invocation_short_name, (unsigned long)at);
		close(fd);
	}
	errno = error;
}

void __cyg_profile_func_exit(void *function, void *from)
{
	(void)from;
	if (n_marks > 0 && passed == n_marks &&
	    (uintptr_t)function - base == mark[n_marks - 1]) {
		passed = n_marks + 1;
	}
}

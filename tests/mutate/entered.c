/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Which functions does a test enter? make mutate compiles its copy with -finstrument-functions
 * and links this file into each program. With MUTATE_ENTERED=FILE in the environment, a
 * program and the processes that it forks append a line for each function when it is first
 * entered: the program's name, and the address as nm shows it. Without it they do nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
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
	dl_iterate_phdr(get_base, NULL);
	is_known = mmap(NULL, TEXT_MAX, PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (is_known == MAP_FAILED) {
		abort();
	}
}

/* The file is opened each time, because a test may close all descriptors. */
void __cyg_profile_func_enter(void *function, void *from)
{
	uintptr_t at = (uintptr_t)function - base;
	int error = errno, fd;

	(void)from;
	if (is_known == NULL || at >= TEXT_MAX || is_known[at]) {
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
	(void)function;
	(void)from;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Threads that wait at the end of a parallel region spin by default. On a machine with
 * other work they take the processor from the thread that they wait for: routing then
 * lasts several times as long, and a hundred times at low priority.
 *
 * There is no call that changes this. libgomp reads the environment in a constructor,
 * before main() and before constructors of the program itself; functions in
 * .preinit_array run earlier, but the C library then sets the environment anew. So the
 * program sets the variable and executes itself once more. This costs about a
 * millisecond, at start only.
 */
#include "conf/base/openmp.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* The file that runs, even when another one has taken its place. */
static const char self[] = "/proc/self/exe";

static unsigned threads(void)
{
#ifdef _OPENMP
	return (unsigned)omp_get_max_threads();
#else
	return 1;
#endif
}

/* Is this file what runs? Not when the dynamic loader was started with it as an argument:
 * then the kernel knows of no loader. */
static bool is_self(void)
{
	return getauxval(AT_BASE) != 0;
}

/* The kernel names a process after the file that it executes. */
static void restore_name(const char *program)
{
	const char *file = (const char *)getauxval(AT_EXECFN);
	const char *slash = strrchr(program, '/');

	if (file && !strcmp(file, self)) {
		prctl(PR_SET_NAME, slash ? slash + 1 : program);
	}
}

void openmp_wait_passively(char **argv)
{
	bool has_policy = getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") ||
	                  getenv("KMP_BLOCKTIME");

	if (threads() == 1 || has_policy) {
		restore_name(argv[0]);
		return;
	}
	errno = ENOEXEC;
	if (is_self() && setenv("OMP_WAIT_POLICY", "passive", 0) == 0) {
		execv(self, argv);
	}
	fprintf(stderr,
	        "%s: cannot start again with OMP_WAIT_POLICY=passive: %s; threads that wait will spin, set OMP_WAIT_POLICY to avoid this\n",
	        argv[0], strerror(errno));
}

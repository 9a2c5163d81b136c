/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The handler of SIGBUS. It has no argument of ours, so the maps stand in a table of the process,
 * whose slots are taken and read without a lock: a slot is free while its end is 0, and its
 * beginning is set before its end.
 */
#include "db/lmdb/cut.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "conf/base/log.h"

enum { WATCHES_MAX = 256 };

struct cut_watch {
	_Atomic uintptr_t begin, end;
	_Atomic bool taken;
	_Atomic uint64_t n,
		n_mended; /* faults; of these before the file was mapped again */
};

/* Writable and global, as a handler of signals can find nothing else. */
static struct cut_watch watches[WATCHES_MAX];
static struct sigaction before;
static _Atomic bool ends_process;
static pthread_once_t installed = PTHREAD_ONCE_INIT;

static struct cut_watch *find_watch(uintptr_t at)
{
	for (unsigned i = 0; i < WATCHES_MAX; i++) {
		if (at < atomic_load(&watches[i].end) &&
		    at >= atomic_load(&watches[i].begin)) {
			return &watches[i];
		}
	}
	return NULL;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const uintptr_t at = (uintptr_t)info->si_addr;
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct cut_watch *w = find_watch(at);
	int saved = errno;

	(void)context;
	if (w != NULL &&
	    mmap((void *)(at - at % page), page, PROT_READ,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
		atomic_fetch_add(&w->n, 1);
		errno = saved;
		return;
	}
	if (w == NULL && atomic_load(&ends_process) && info->si_code == BUS_ADRERR) {
		log_message(
			MSG_START_BROKEN, "database",
			"a file was cut short while saguarod had it mapped, most likely a database in the state folder or the snapshot folder, so saguarod ends; its next start finds out which, and says what to do");
		_exit(EXIT_FAILURE);
	}
	/* the instruction is repeated, and meets whoever was there before */
	sigaction(number, &before, NULL);
	errno = saved;
}

static void install(void)
{
	struct sigaction a = { .sa_flags = SA_SIGINFO };

	a.sa_sigaction = on_fault;
	sigemptyset(&a.sa_mask);
	sigaction(SIGBUS, &a, &before);
}

struct cut_watch *cut_watch(const void *map, size_t bytes)
{
	pthread_once(&installed, install);
	for (unsigned i = 0; i < WATCHES_MAX; i++) {
		struct cut_watch *w = &watches[i];

		if (!atomic_exchange(&w->taken, true)) {
			atomic_store(&w->n, 0);
			atomic_store(&w->n_mended, 0);
			atomic_store(&w->begin, (uintptr_t)map);
			atomic_store(&w->end, (uintptr_t)map + bytes);
			return w;
		}
	}
	return NULL;
}

void cut_unwatch(struct cut_watch *w)
{
	if (w != NULL) {
		atomic_store(&w->end, 0);
		atomic_store(&w->taken, false);
	}
}

uint64_t cut_count(const struct cut_watch *w)
{
	return w == NULL ? 0 : atomic_load_explicit(&w->n, memory_order_acquire);
}

int cut_mend(struct cut_watch *w, int fd)
{
	uint64_t n = cut_count(w);
	uintptr_t begin;

	if (n == 0 || n == atomic_load(&w->n_mended)) {
		return E_OK;
	}
	begin = atomic_load(&w->begin);
	if (mmap((void *)begin, atomic_load(&w->end) - begin, PROT_READ,
	         MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		return -errno;
	}
	atomic_store(&w->n_mended, n);
	return E_OK;
}

void cut_end_process_on_fault(void)
{
	pthread_once(&installed, install);
	atomic_store(&ends_process, true);
}

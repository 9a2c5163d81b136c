/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*!
 * Faults of the databases: the linker puts these functions in front of LMDB's
 * (-Wl,--wrap), so the code that writes is that of the daemon.
 */
enum disk_fault {
	DISK_GOOD,
	DISK_MAP_FULL,  /*!< no row fits any more */
	DISK_NO_SPACE,  /*!< no commit does */
	DISK_SOMETIMES, /*!< each fourth commit fails with an error of the disk */
	DISK_FAULTS
};

void disk_set(enum disk_fault fault);
enum disk_fault disk_fault(void);

/*!
 * \brief The process whose databases are below \a dir crashes after so many steps. A step is a
 * row put, a commit, or a disk_step(). NULL: none does.
 */
void disk_crash_soon(const char *dir, unsigned steps);

/*! \brief A step of the process at \a dir that is no write. */
void disk_step(const char *dir);

/*! \brief Has the process at \a dir crashed? Nothing that it writes from then on is kept. */
bool disk_crashed(const char *dir);

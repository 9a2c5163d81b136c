/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * \brief Makes OpenMP threads sleep while they wait for each other:
 * OMP_WAIT_POLICY=passive.
 *
 * To be called first in main(), by programs that compute in parallel. Restarts the
 * program once, unless there is one thread only or the environment already says how
 * threads wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME). The process keeps its
 * ID, its name, its arguments and its open files. When it cannot restart, it says so on
 * standard error and goes on with threads that spin.
 *
 * \param argv  Of main(), unchanged.
 */
void openmp_wait_passively(char **argv);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * Bits of a P_Key (IBA vol. 1, 10.9.1.1): bit 15 is set in full members of a partition, and the
 * others, the base, identify the partition. A base of 0 is no partition.
 */
enum { P_KEY_FULL = 0x8000, P_KEY_BASE = 0x7fff };

/*! The name of the partition of a job of a batch system is this and the job's number. */
#define PARTITION_JOB "job-"

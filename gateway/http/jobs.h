/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "gateway/view/body.h"

/*!
 * Runs of the program `saguaro` that answer requests which take too long for a thread of
 * the server: what-ifs and proofs. A run reads the snapshot, so it touches neither the
 * fabric nor this process. One thread starts the runs, collects what they print and ends
 * those that take too long.
 *
 * Everything is bounded: runs at a time, requests that wait, time, memory and output.
 */
enum {
	JOBS_RUNNING = 2,
	JOBS_WAITING = 8,
	JOB_SECONDS = 30,
	JOB_OUTPUT_BYTES = 4 << 20,
	JOB_FILE = 3 /*!< descriptor of job_spec.file in the run */
};

struct jobs;

struct job_result {
	int ret; /*!< E_OK: it ended by itself; E_TIMEOUT, E_FULL: too much output or
	                      too many jobs, -ECANCELED: the server stops, -errno: no start */
	int exit_status; /*!< of E_OK; below 0: the signal that ended it, negated */
	struct body out, error; /*!< standard output, standard error */
};

/*! \brief Called once, from the thread of the jobs or from jobs_start(); \a r is taken. */
typedef void job_done_f(void *arg, struct job_result *r);

struct jobs_options {
	const char *program;      /*!< path of `saguaro` */
	const char *snapshot_dir; /*!< handed to each run */
	unsigned seconds;         /*!< of a run, 0: JOB_SECONDS */
};

/*! \retval -ENOMEM -errno */
int jobs_new(const struct jobs_options *o, struct jobs **ret_jobs);

/*!
 * \brief Starts `saguaro WORDS... --json --snapshot_dir DIR`, or lets it wait.
 * \param words  NULL-terminated; copied.
 * \param file   Text that the run finds at /proc/self/fd/JOB_FILE, or NULL; copied.
 */
void jobs_start(struct jobs *j, const char *const *words, const char *file,
                job_done_f *done, void *arg);

/*! \brief Ends all runs and answers all that wait; later ones are refused. */
void jobs_stop(struct jobs *j);

/*! \brief After jobs_stop(); NULL is fine. */
void jobs_free(struct jobs *j);

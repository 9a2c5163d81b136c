/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/http/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/loop.h"

enum {
	JOB_WORDS_MAX = 1024,
	JOB_NICE = 10,
	JOB_DATA_BYTES_MIB = 4096,
	EXIT_MS = 2, /* from one look for the end of a silent run to the next */
	OUT = 0,     /* of job.pipe */
	ERROR = 1
};

struct child_run {
	struct child_run *next;
	char **argv; /* of malloc(), as its strings */
	int file;    /* descriptor, -1: none */
	job_done_f *done;
	void *arg;
	/* while it runs */
	pid_t pid;
	struct loop_watch pipe[2]; /* whose other end is closed when all of it is read */
	uint64_t until_ms;
	struct job_result result;
};

struct jobs {
	pthread_mutex_t lock;
	struct loop *loop;
	bool stopping;
	char *program, *snapshot_dir;
	unsigned seconds;
	struct child_run *waiting; /* in order */
	unsigned n_waiting, n_running;
	struct child_run *running[JOBS_RUNNING]; /* of the thread; NULL: free */
};

/* --- one job -------------------------------------------------------------------------- */

static void job_free(struct child_run *job)
{
	for (char **p = job->argv; p != NULL && *p != NULL; p++) {
		free(*p);
	}
	free(job->argv);
	if (job->file >= 0) {
		close(job->file);
	}
	free(job);
}

/* Answers and frees it. */
static void finish(struct child_run *job, int ret)
{
	job->result.ret = ret;
	job->done(job->arg, &job->result);
	job_free(job);
}

static int memory_file(const char *text)
{
	size_t len = strlen(text), at = 0;
	int fd = memfd_create("saguaro-job", MFD_CLOEXEC);

	while (fd >= 0 && at < len) {
		ssize_t n = write(fd, text + at, len - at);
		if (n < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	return fd;
}

static struct child_run *job_new(const struct jobs *j, const char *const *words,
                                 const char *file)
{
	const char *const more[] = { "--json", "--snapshot_dir", j->snapshot_dir };
	struct child_run *job = calloc(1, sizeof(*job));
	size_t n = 0, at = 0;

	while (words[n] != NULL) {
		n++;
	}
	if (job == NULL) {
		return NULL;
	}
	job->file = -1;
	job->argv = n < JOB_WORDS_MAX ? calloc(n + 5, sizeof(*job->argv)) : NULL;
	bool good = job->argv != NULL && (job->argv[at++] = strdup(j->program)) != NULL;
	for (size_t i = 0; good && i < n + 3; i++) {
		/* the flags stand behind the name of the command */
		const char *word = i == 0   ? words[0]
		                   : i <= 3 ? more[i - 1]
		                            : words[i - 3];
		job->argv[at] = strdup(word);
		good = job->argv[at++] != NULL;
	}
	if (good && file != NULL) {
		job->file = memory_file(file);
		good = job->file >= 0;
	}
	if (!good) {
		job_free(job);
		return NULL;
	}
	return job;
}

/* --- starting ------------------------------------------------------------------------- */

/* The descriptor of the file keeps its number where it has the wanted one, so it needs one
 * above; those of the pipes are moved likewise. */
static int above(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, JOB_FILE + 1);

	close(fd);
	return high;
}

static int make_pipe(int ret_ends[2])
{
	if (pipe2(ret_ends, O_CLOEXEC) != 0) {
		return -errno;
	}
	ret_ends[0] = above(ret_ends[0]);
	ret_ends[1] = above(ret_ends[1]);
	return ret_ends[0] >= 0 && ret_ends[1] >= 0 &&
	                       fcntl(ret_ends[0], F_SETFL, O_NONBLOCK) == 0
	               ? E_OK
	               : -EMFILE;
}

/* What a run may use. It has begun already, but it reads a snapshot first. */
static void limit(pid_t pid, unsigned seconds)
{
	const struct rlimit core = { 0, 0 }, cpu = { seconds * 4UL, seconds * 4UL };

	(void)prlimit(pid, RLIMIT_CORE, &core, NULL);
	(void)prlimit(pid, RLIMIT_CPU, &cpu, NULL);
#ifndef __SANITIZE_ADDRESS__
	const struct rlimit64 data = { (rlim64_t)JOB_DATA_BYTES_MIB << 20,
		                       (rlim64_t)JOB_DATA_BYTES_MIB << 20 };
	(void)prlimit64(pid, RLIMIT_DATA, &data, NULL);
#endif
	(void)setpriority(PRIO_PROCESS, (id_t)pid, JOB_NICE);
}

static int spawn(struct child_run *job, const int out[2], const int error[2])
{
	char *env[] = { (char *)"OMP_WAIT_POLICY=passive", (char *)"LC_ALL=C", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, defaults;

	sigemptyset(&none);
	sigfillset(&defaults);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
	                                        POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	int ret = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	ret = ret ? ret : posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	ret = ret ? ret : posix_spawn_file_actions_adddup2(&actions, error[1], 2);
	if (job->file >= 0) {
		job->file = above(job->file);
		ret = ret ? ret
		          : posix_spawn_file_actions_adddup2(&actions, job->file,
		                                             JOB_FILE);
	}
	ret = ret ? ret
	          : posix_spawn(&job->pid, job->argv[0], &actions, &attr, job->argv, env);
	if (ret == 0) {
		/* posix_spawn() may return before the child has its group, by which it is
		 * ended. This fails, rightly, when the child executes its program already. */
		setpgid(job->pid, job->pid);
	}
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

static void close_fd(int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
	*fd = -1;
}

/* A pipe that the loop watches. jobs_turn() reads it, so ready() has nothing to do. */
static void on_output(struct loop_watch *w, unsigned events)
{
	(void)w;
	(void)events;
}

static void close_pipe(struct loop_watch *pipe)
{
	if (pipe->loop != NULL) {
		loop_remove(pipe);
		close(pipe->fd);
	}
}

static int open_pipe(struct jobs *j, struct loop_watch *pipe, int ret_ends[2])
{
	int ret = make_pipe(ret_ends);

	pipe->ready = on_output;
	ret = ret == E_OK ? loop_add(j->loop, pipe, ret_ends[0], LOOP_READ) : ret;
	if (ret != E_OK) {
		close_fd(&ret_ends[0]);
	}
	return ret;
}

static int job_run(struct jobs *j, struct child_run *job)
{
	int out[2] = { -1, -1 }, error[2] = { -1, -1 };
	int ret = open_pipe(j, &job->pipe[OUT], out);

	if (ret == E_OK) {
		ret = open_pipe(j, &job->pipe[ERROR], error);
	}
	if (ret == E_OK) {
		ret = spawn(job, out, error);
	}
	close_fd(&out[1]);
	close_fd(&error[1]);
	if (ret != E_OK) {
		close_pipe(&job->pipe[OUT]);
		close_pipe(&job->pipe[ERROR]);
		return ret;
	}
	limit(job->pid, j->seconds);
	job->until_ms = monotonic_ms() + j->seconds * UINT64_C(1000);
	return E_OK;
}

/* --- ending --------------------------------------------------------------------------- */

/* Ends the process, if need be, and answers. \a status: of waitpid(). */
static void end_job(struct child_run *job, int ret, int status)
{
	close_pipe(&job->pipe[OUT]);
	close_pipe(&job->pipe[ERROR]);
	if (ret != E_OK) {
		kill(-job->pid, SIGKILL);
		while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR) {
		}
	}
	job->result.exit_status = WIFEXITED(status)     ? WEXITSTATUS(status)
	                          : WIFSIGNALED(status) ? -WTERMSIG(status)
	                                                : -1;
	/* posix_spawn() may leave it to the child to tell that there is no such program. */
	if (ret == E_OK && job->result.exit_status == 127) {
		ret = -ENOENT;
	}
	finish(job, ret);
}

/* Reads what is there. \retval E_FULL  Too much. \retval E_NOTFOUND  That was all. */
static int read_some(struct loop_watch *pipe, struct body *to)
{
	char block[16384];
	ssize_t n;

	while (pipe->loop != NULL && (n = read(pipe->fd, block, sizeof(block))) != 0) {
		if (n < 0) {
			return errno == EAGAIN || errno == EINTR ? E_OK : -errno;
		}
		if (to->len + (size_t)n > JOB_OUTPUT_BYTES) {
			return E_FULL;
		}
		body_write(to, block, (size_t)n);
	}
	close_pipe(pipe);
	return body_done(to);
}

static bool is_silent(const struct child_run *job)
{
	return job->pipe[OUT].loop == NULL && job->pipe[ERROR].loop == NULL;
}

/* \return Has it ended? */
static bool job_turn(struct child_run *job)
{
	int status = 0, ret = read_some(&job->pipe[OUT], &job->result.out);

	if (ret == E_OK) {
		ret = read_some(&job->pipe[ERROR], &job->result.error);
	}
	if (ret == E_OK && is_silent(job) && waitpid(job->pid, &status, WNOHANG) > 0) {
		end_job(job, E_OK, status);
		return true;
	}
	if (ret == E_OK && monotonic_ms() >= job->until_ms) {
		ret = E_TIMEOUT;
	}
	if (ret != E_OK) {
		end_job(job, ret, 0);
	}
	return ret != E_OK;
}

/* --- the thread ----------------------------------------------------------------------- */

/* Takes the first that waits. \return NULL: none does. */
static struct child_run *take_waiting(struct jobs *j)
{
	pthread_mutex_lock(&j->lock);
	struct child_run *job = j->stopping ? NULL : j->waiting;
	if (job != NULL) {
		j->waiting = job->next;
		j->n_waiting--;
		j->n_running++;
	}
	pthread_mutex_unlock(&j->lock);
	return job;
}

static void leave(struct jobs *j)
{
	pthread_mutex_lock(&j->lock);
	j->n_running--;
	pthread_mutex_unlock(&j->lock);
}

static void fill_places(struct jobs *j)
{
	for (unsigned i = 0; i < JOBS_RUNNING; i++) {
		struct child_run *job;

		while (j->running[i] == NULL && (job = take_waiting(j)) != NULL) {
			int ret = job_run(j, job);
			if (ret == E_OK) {
				j->running[i] = job;
			} else {
				leave(j);
				finish(job, ret);
			}
		}
	}
}

/* Reads what runs printed, and starts others. \return When to look again. */
static uint64_t jobs_turn(void *ctx)
{
	struct jobs *j = ctx;
	uint64_t until = UINT64_MAX;

	for (unsigned i = 0; i < JOBS_RUNNING; i++) {
		if (j->running[i] != NULL && job_turn(j->running[i])) {
			j->running[i] = NULL;
			leave(j);
		}
	}
	fill_places(j);
	for (unsigned i = 0; i < JOBS_RUNNING; i++) {
		const struct child_run *job = j->running[i];
		/* if its output is complete, its end is near */
		uint64_t exit_ms = job != NULL && is_silent(job)
		                           ? monotonic_ms() + EXIT_MS
		                           : UINT64_MAX;

		until = exit_ms < until ? exit_ms : until;
		until = job != NULL && job->until_ms < until ? job->until_ms : until;
	}
	return until;
}

/* --- from outside --------------------------------------------------------------------- */

int jobs_new(const struct jobs_options *o, struct jobs **ret_jobs)
{
	struct jobs *j = calloc(1, sizeof(*j));

	if (j == NULL) {
		return -ENOMEM;
	}
	pthread_mutex_init(&j->lock, NULL);
	j->program = strdup(o->program);
	j->snapshot_dir = strdup(o->snapshot_dir);
	j->seconds = o->seconds ? o->seconds : JOB_SECONDS;
	int ret = j->program == NULL || j->snapshot_dir == NULL
	                  ? -ENOMEM
	                  : loop_new(&(struct loop_options){ jobs_turn, j }, &j->loop);
	if (ret == E_OK) {
		ret = loop_start(j->loop);
	}
	if (ret != E_OK) {
		jobs_free(j);
		return ret;
	}
	*ret_jobs = j;
	return E_OK;
}

void jobs_start(struct jobs *j, const char *const *words, const char *file,
                job_done_f *done, void *arg)
{
	struct job_result refused = { .ret = -ENOMEM };
	struct child_run *job = job_new(j, words, file), **last = &j->waiting;
	bool taken = false;

	if (job != NULL) {
		job->done = done;
		job->arg = arg;
		pthread_mutex_lock(&j->lock);
		taken = !j->stopping &&
		        j->n_waiting + j->n_running < JOBS_RUNNING + JOBS_WAITING;
		if (taken) {
			while (*last != NULL) {
				last = &(*last)->next;
			}
			*last = job;
			j->n_waiting++;
		}
		pthread_mutex_unlock(&j->lock);
		refused.ret = E_FULL;
	}
	if (taken) {
		loop_wake(j->loop);
		return;
	}
	if (job != NULL) {
		job_free(job);
	}
	done(arg, &refused);
}

void jobs_stop(struct jobs *j)
{
	if (j == NULL || j->loop == NULL) {
		return;
	}
	pthread_mutex_lock(&j->lock);
	j->stopping = true;
	struct child_run *waiting = j->waiting;
	j->waiting = NULL;
	pthread_mutex_unlock(&j->lock);
	loop_stop(j->loop);
	for (unsigned i = 0; i < JOBS_RUNNING; i++) {
		if (j->running[i] != NULL) {
			end_job(j->running[i], -ECANCELED, 0);
			j->running[i] = NULL;
		}
	}
	while (waiting != NULL) {
		struct child_run *next = waiting->next;
		finish(waiting, -ECANCELED);
		waiting = next;
	}
}

void jobs_free(struct jobs *j)
{
	if (j == NULL) {
		return;
	}
	jobs_stop(j);
	loop_free(j->loop);
	pthread_mutex_destroy(&j->lock);
	free(j->program);
	free(j->snapshot_dir);
	free(j);
}

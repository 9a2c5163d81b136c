/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The disk of a standby is full in the middle of a copy.
 */
#include <config.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tests/lib/suite.h"

#ifdef HAVE_GNUTLS

#include "tests/lib/standby_fixture.h"

/* --- full disks --------------------------------------------------------------------------- */

/* How the disk is full: a limit of this process, or a small file system of its own. */
enum full { FULL_LIMIT, FULL_FILE_SYSTEM, N_FULL };

/* Far more than the reserve of a state file, and room for copies of the largest state. */
enum { LIDS = 10000, MANY_LIDS = 60000, DISK_BYTES = 16 << 20 };

static const char *disk; /* folder of the standby's file system */

static const char *in_disk(const char *name)
{
	return arena_printf(arena, "%s/%s", disk, name);
}

/* Only this process sees the file system, so nothing is left of it. */
static bool mount_disk(void)
{
	disk = arena_printf(arena, "%s/disk", dir);
	ck_assert_int_eq(mkdir(disk, 0700), 0);
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("saguaro", disk, "tmpfs", 0,
	          arena_printf(arena, "size=%d", DISK_BYTES)) != 0) {
		fprintf(stderr, "skipped: only root can mount a small file system\n");
		return false;
	}
	state_close(to);
	to = open_state("disk/to");
	return true;
}

static void fill_file_system(void)
{
	static const char block[4096];
	int fd = open(in_disk("filler"), O_WRONLY | O_CREAT | O_APPEND, 0600);

	ck_assert_int_ge(fd, 0);
	while (write(fd, block, sizeof(block)) > 0) {
	}
	close(fd);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit r;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static off_t state_bytes(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(arena_printf(arena, "%s/%s/data.mdb", dir, name), &st), 0);
	return st.st_size;
}

static void fill_disk(enum full kind)
{
	if (kind == FULL_FILE_SYSTEM) {
		fill_file_system();
	} else {
		ck_assert_int_gt(state_bytes("from"), state_bytes("to"));
		limit_files((rlim_t)state_bytes("to"));
	}
}

static void make_room(enum full kind)
{
	if (kind == FULL_FILE_SYSTEM) {
		ck_assert_int_eq(unlink(in_disk("filler")), 0);
	} else {
		limit_files(RLIM_INFINITY);
	}
}

static void put_lids(uint64_t first, uint32_t n, uint32_t base)
{
	struct lid_memory *m = calloc(n, sizeof(*m));

	for (uint32_t i = 0; i < n; i++) {
		m[i] = (struct lid_memory){ .guid = first + i,
			                    .range = { base ? base + i : 0, 0 } };
	}
	ck_assert_int_eq(state_put_lids(from, m, n, false), E_OK);
	free(m);
}

static uint64_t free_bytes(void)
{
	struct statvfs v;

	ck_assert_int_eq(statvfs(disk, &v), 0);
	return (uint64_t)v.f_bavail * v.f_frsize;
}

/* The link says once that it pauses, tries again, and leaves the state as it was. */
static void check_pause(const char *before)
{
	char text[200] = "";

	WAIT_UNTIL(status(standby).paused);
	ck_assert_int_eq(standby_news(standby, text, sizeof(text)), STANDBY_PAUSED);
	ck_assert_msg(strstr(text, "free space in the state folder") != NULL, "%s", text);
	WAIT_UNTIL(status(standby).tries >= 2);
	ck_assert_int_eq(standby_news(standby, text, sizeof(text)), STANDBY_NO_NEWS);
	ck_assert(!status(standby).in_step);
	ck_assert(strstr(status(standby).trouble, "state folder") != NULL);
	WAIT_UNTIL(status(master).n_standbys == 0); /* nobody waits for it */
	ck_assert_str_eq(dump(to), before);
}

static void check_resumed(void)
{
	char text[200] = "";

	WAIT_UNTIL(status(standby).in_step);
	ck_assert_int_eq(standby_news(standby, text, sizeof(text)), STANDBY_RESUMED);
	ck_assert_int_eq(standby_news(standby, text, sizeof(text)), STANDBY_NO_NEWS);
	ck_assert(!status(standby).paused);
	ck_assert_str_eq(status(standby).trouble, "");
	WAIT_UNTIL(status(master).n_in_step == 1);
	ck_assert_str_eq(dump(to), dump(from));
}

START_TEST(test_full_disk)
{
	const char *before;

	signal(SIGXFSZ, SIG_IGN);
	if (_i == FULL_FILE_SYSTEM && !mount_disk()) {
		return;
	}
	change_service(to, 9, 9);
	put_lids(1, MANY_LIDS, 1);
	put_lids(1, MANY_LIDS - LIDS, 0); /* leaves room in the master's own file */
	before = dump(to);
	fill_disk(_i);
	open_standby(standby_port(open_master(60000)), secret_text, PREFIX);
	check_pause(before);
	make_room(_i);
	check_resumed();
	if (_i == FULL_LIMIT) {
		return; /* the master's own file has the limit, too */
	}
	before = dump(to); /* and now transactions */
	fill_disk(_i);
	put_lids(1, MANY_LIDS - LIDS, 1);
	check_pause(before);
	make_room(_i);
	check_resumed();
}
END_TEST

/* The master dies while the copy pauses: nothing of it is used. */
START_TEST(test_takeover_while_full)
{
	const struct state_copy_mark ours = { 0 };
	const struct state_write clear = { .table = COPIED_RECORDS + RECORDS_SERVICES,
		                           .clears = true };
	struct state_copy_mark mark;
	char text[200] = "";
	uint64_t epoch = 0, last = 0;

	signal(SIGXFSZ, SIG_IGN);
	if (!mount_disk()) {
		return;
	}
	change_service(to, 9, 9);
	put_lids(1, LIDS, 1);
	fill_file_system();
	open_standby(standby_port(open_master(0)), secret_text, PREFIX);
	WAIT_UNTIL(status(standby).tries >= 1);
	ck_assert(!standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	ck_assert_msg(strstr(text, "state folder") != NULL, "%s", text);
	ck_assert_int_eq(state_copy_mark(to, &mark), E_OK);
	ck_assert_uint_eq(mark.guid, 0);
	ck_assert(!status(standby).paused); /* there is nothing to copy any more */
	/* Small changes have a reserve, so this one can be master. */
	ck_assert_int_eq(state_apply(to, &clear, 1, false, &ours), E_OK);
	for (unsigned i = 0; i < 1000; i++) {
		ck_assert_int_eq(state_next_epoch(to, 0, &epoch), E_OK);
		ck_assert_uint_gt(epoch, last);
		last = epoch;
	}
	ck_assert_str_eq(dump(to), "");
}
END_TEST

static void put_services(struct state *s, uint32_t n)
{
	uint8_t key[26] = { 0xee }, row[192] = { 0 };
	atomic_int done = 0;
	struct state_batch *b;

	ck_assert_int_eq(state_batch_new(&b), E_OK);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(key + 1, &i, sizeof(i));
		ck_assert_int_eq(state_batch_put(b, RECORDS_SERVICES, key, sizeof(key),
		                                 row, sizeof(row)),
		                 E_OK);
	}
	state_batch_commit(s, b, on_done, &done);
	state_flush(s);
	ck_assert_int_eq(done, 1);
}

/* A standby that was master gives what it was told, and the disk of the master is full: the
 * standby keeps that and gives it again, so that nothing is lost when there is room. */
START_TEST(test_join_on_full_disk)
{
	char text[200] = "";

	signal(SIGXFSZ, SIG_IGN);
	change_service(from, 9, 9);
	open_standby(standby_port(open_master(60000)), secret_text, PREFIX);
	WAIT_UNTIL(standby_hears(standby));
	ck_assert(standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	WAIT_UNTIL(status(master).n_standbys == 0);
	put_services(to, LIDS);
	const char *told = dump(to), *before = dump(from);
	keep_log();
	limit_files((rlim_t)state_bytes("from"));
	standby_set_role(standby, STANDBY_TAKES);
	WAIT_UNTIL(logged("what another master was told could not be stored"));
	WAIT_UNTIL(strstr(status(standby).trouble, "did not store") != NULL);
	ck_assert_uint_eq(status(master).n_standbys, 0);
	ck_assert_str_eq(dump(from), before);
	ck_assert_str_eq(dump(to), told);
	limit_files(RLIM_INFINITY);
	WAIT_UNTIL(status(master).n_in_step == 1);
	ck_assert_str_eq(dump(from), told);
	ck_assert_str_eq(dump(to), told);
}
END_TEST

/* The master dies before it could store them: each is named. */
START_TEST(test_takeover_before_the_join)
{
	char text[200] = "";

	signal(SIGXFSZ, SIG_IGN);
	open_standby(standby_port(open_master(60000)), secret_text, PREFIX);
	WAIT_UNTIL(standby_hears(standby));
	ck_assert(standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	WAIT_UNTIL(status(master).n_standbys == 0);
	put_services(to, LIDS);
	keep_log();
	limit_files((rlim_t)state_bytes("from"));
	standby_set_role(standby, STANDBY_TAKES);
	WAIT_UNTIL(logged("what another master was told could not be stored"));
	limit_files(RLIM_INFINITY);
	standby_set_role(master, STANDBY_IDLE);
	ck_assert(!standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	ck_assert(logged("dropped service 0xee00000000000000"));
	ck_assert(logged("no master has taken it"));
}
END_TEST

/* What a copy that does not fit has taken is given back, because others need the disk, too. */
START_TEST(test_space_is_given_back)
{
	uint64_t had;

	if (!mount_disk()) {
		return;
	}
	put_lids(1, MANY_LIDS, 1);
	fill_file_system();
	ck_assert_int_eq(truncate(in_disk("filler"), DISK_BYTES / 16 * 15), 0);
	had = free_bytes();
	ck_assert_uint_gt(had, DISK_BYTES / 32);
	open_standby(standby_port(open_master(60000)), secret_text, PREFIX);
	WAIT_UNTIL(status(standby).paused);
	standby_free(standby);
	standby = NULL;
	ck_assert_uint_eq(free_bytes(), had);
}
END_TEST

/* Cases leave limits and mounts behind. */
TEST_SUITE_FORKED(standby_disk)
{
	TCase *t = tcase_create("standby_disk");

	tcase_add_checked_fixture(t, open_states, close_links);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_full_disk, 0, N_FULL);
	tcase_add_test(t, test_takeover_while_full);
	tcase_add_test(t, test_join_on_full_disk);
	tcase_add_test(t, test_takeover_before_the_join);
	tcase_add_test(t, test_space_is_given_back);
	suite_add_tcase(suite, t);
}

#else

START_TEST(test_without_gnutls)
{
	ck_assert(true);
}
END_TEST

/* Cases leave limits and mounts behind. */
TEST_SUITE_FORKED(standby_disk)
{
	TCase *t = tcase_create("standby_disk");

	tcase_add_test(t, test_without_gnutls);
	suite_add_tcase(suite, t);
}

#endif

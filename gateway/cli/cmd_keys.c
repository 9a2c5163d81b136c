/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro keys init: makes the keys of a subnet in the state folder, where `auto` looks for them,
 * and says what to do with them. It prints no key, and replaces none.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/key_file.h"
#include "conf/base/text_file.h"
#include "conf/config.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/view/json_text.h"

enum { SECRET_BYTES = 32, FOLDER_MODE = 0750 };

static const char user[] =
	"saguaro"; /* as whom saguarod runs, see dist/saguaro.sysusers */

struct keys_flags {
	bool json;
	const char *dir, *instance;
};

/* clang-format off */
static const struct option_row keys_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct keys_flags, json), "FALSE", .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "the answer as JSON" },
	{ "dir", OPT_STRING, offsetof(struct keys_flags, dir), NULL, .flags_long = "dir",
	  .flags = OPT_CLI_ONLY, .arg = "DIR",
	  .help = "state_dir of saguarod; default: " SAGUARO_STATEDIR "/NAME" },
	{ "instance", OPT_STRING, offsetof(struct keys_flags, instance), "main", .flags_long = "instance",
	  .flags = OPT_CLI_ONLY, .arg = "NAME", .help = "name of the instance of saguarod" },
	{ NULL }
};
/* clang-format on */

static const struct {
	const char *name, *option, *value; /* value NULL: the path */
} files[] = {
	{ "m_key", "m_key_file", "auto" },
	{ "sm_key", "sm_key_file", "auto" },
	{ "sa_key", "sa_key_file", "auto" },
	{ "standby.secret", "standby_secret", NULL },
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

struct keys_job {
	struct arena *a;
	struct keys_flags flags;
	const char *dir, *path[FILES];
	bool made[FILES];
	const char *why; /* it failed */
};

/* --- the folder -------------------------------------------------------------------------- */

/* The folder of a service that has not run yet; it is for the user of saguarod. */
static int make_folder(struct keys_job *j, const char *dir)
{
	const char *slash = strrchr(dir, '/');
	const struct passwd *owner = geteuid() == 0 ? getpwnam(user) : NULL;
	int fd, ret = E_OK;

	if (mkdir(dir, FOLDER_MODE) == 0) {
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 ||
		    (owner != NULL && fchown(fd, owner->pw_uid, owner->pw_gid) != 0)) {
			ret = -errno;
		}
		if (fd >= 0) {
			close(fd);
		}
		return ret;
	}
	if (errno != ENOENT || slash == NULL || slash == dir) {
		return errno == EEXIST ? E_OK : -errno;
	}
	ret = make_folder(j, arena_printf(j->a, "%.*s", (int)(slash - dir), dir));
	return ret == E_OK ? make_folder(j, dir) : ret;
}

/* Files belong to the owner of the folder, who is the user of saguarod: root makes them in his name.
 * So nothing that he puts into the folder makes root write elsewhere. */
static int become_owner(const char *dir)
{
	struct stat st;

	if (stat(dir, &st) != 0) {
		return -errno;
	}
	if (!S_ISDIR(st.st_mode)) {
		return -ENOTDIR;
	}
	if (geteuid() == 0 && st.st_uid != 0 &&
	    (setegid(st.st_gid) != 0 || seteuid(st.st_uid) != 0)) {
		return -errno;
	}
	return E_OK;
}

static int open_folder(struct keys_job *j)
{
	int ret = make_folder(j, j->dir);

	if (ret == E_OK) {
		ret = become_owner(j->dir);
	}
	if (ret != E_OK) {
		j->why = arena_printf(
			j->a,
			"no keys can be made in %s: %s; become root, or name the state_dir of saguarod with --dir",
			j->dir, err_text(ret));
	}
	return ret;
}

/* --- files ------------------------------------------------------------------------------- */

static void encode_base64(const uint8_t bytes[SECRET_BYTES], char *to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned i = 0; i < SECRET_BYTES; i += 3) {
		unsigned n = SECRET_BYTES - i < 3 ? SECRET_BYTES - i : 3;
		uint32_t word = (uint32_t)bytes[i] << 16 |
		                (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
		                (n > 2 ? (uint32_t)bytes[i + 2] : 0);

		for (unsigned k = 0; k < 4; k++) {
			*to++ = k <= n ? digits[word >> (18 - 6 * k) & 63] : '=';
		}
	}
	*to++ = '\n';
	*to = '\0';
}

static int make_secret(const char *path)
{
	uint8_t bytes[SECRET_BYTES];
	char text[SECRET_BYTES * 2];
	int ret = getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes) ? E_OK : -errno;

	if (ret == E_OK) {
		encode_base64(bytes, text);
		ret = text_file_replace(path, text, strlen(text));
	}
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(text, sizeof(text));
	return ret;
}

/* Can saguarod use the file that is there, and nobody else? */
static int check_there(struct keys_job *j, const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0) {
		j->why = arena_printf(j->a, "%s: %s", path, strerror(errno));
		return -errno;
	}
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		j->why = arena_printf(
			j->a,
			"%s is not a file of user %u, to whom the folder belongs; give it to him with chown, or remove it to have one made",
			path, (unsigned)geteuid());
		return -EPERM;
	}
	if ((st.st_mode & 077) != 0) {
		j->why = arena_printf(
			j->a,
			"%s has mode %04o, so others could read it; chmod 0600 %s, or remove it to have one made",
			path, (unsigned)st.st_mode & 07777, path);
		return -EPERM;
	}
	return E_OK;
}

static int make_or_keep(struct keys_job *j, unsigned i)
{
	uint64_t key = 0;
	bool made;
	int ret;

	j->path[i] = arena_printf(j->a, "%s/%s", j->dir, files[i].name);
	if (j->path[i] == NULL) {
		return -ENOMEM;
	}
	j->made[i] = text_file_is_missing(j->path[i]);
	ret = j->made[i] ? E_OK : check_there(j, j->path[i]);
	if (ret == E_OK && files[i].value != NULL) {
		ret = key_file_read(files[i].option, j->path[i], j->a, &j->why, &key,
		                    &made);
		explicit_bzero(&key, sizeof(key));
	} else if (ret == E_OK && j->made[i]) {
		ret = make_secret(j->path[i]);
		j->why = arena_printf(j->a, "%s cannot be made: %s", j->path[i],
		                      err_text(ret));
	}
	return ret;
}

/* --- what is printed ---------------------------------------------------------------------- */

static const char *line_of(struct keys_job *j, unsigned i)
{
	return arena_printf(j->a, "%s %s", files[i].option,
	                    files[i].value != NULL ? files[i].value : j->path[i]);
}

static const char *copy_command(struct keys_job *j)
{
	return arena_printf(
		j->a,
		"tar -C %s -c m_key sm_key sa_key standby.secret | ssh root@OTHER tar -C %s -xp",
		j->dir, j->dir);
}

static int print_json(struct keys_job *j)
{
	json_t *list = json_array(), *lines = json_array();
	json_t *all = json_pack("{s:o, s:o, s:o}", "files", list, "lines", lines, "copy",
	                        text_json(copy_command(j)));
	int status;

	for (unsigned i = 0; i < FILES; i++) {
		json_array_append_new(list, json_pack("{s:o, s:b}", "path",
		                                      text_json(j->path[i]), "made",
		                                      (int)j->made[i]));
		json_array_append_new(lines, text_json(line_of(j, i)));
	}
	status = client_print_json(all);
	json_decref(all);
	return status;
}

static int print_text(struct keys_job *j)
{
	for (unsigned i = 0; i < FILES; i++) {
		printf("%s: %s\n", j->path[i],
		       j->made[i] ? "made" : "was there, and is as it was");
	}
	printf("\nLines for saguaro.conf:\n");
	for (unsigned i = 0; i < FILES; i++) {
		printf("  %s\n", line_of(j, i));
	}
	printf("\nThe other subnet manager of the subnet needs a copy of all four files:\n"
	       "  %s\n",
	       copy_command(j));
	return EXIT_GOOD;
}

static int init_keys(struct keys_job *j)
{
	int ret;

	j->dir = config_dir(j->flags.dir, SAGUARO_STATEDIR, j->flags.instance, j->a);
	j->why = "out of memory";
	ret = j->dir != NULL ? open_folder(j) : -ENOMEM;
	for (unsigned i = 0; i < FILES && ret == E_OK; i++) {
		ret = make_or_keep(j, i);
	}
	if (ret != E_OK) {
		fprintf(stderr, "saguaro keys: %s\n", j->why);
		return EXIT_BAD;
	}
	return j->flags.json ? print_json(j) : print_text(j);
}

static int read_arguments(struct keys_job *j, int argc, char **argv)
{
	struct option_sets own = { .n = 0 };
	struct diags diags;
	int first = argc;

	config_diags_init(&diags, j->a);
	if (option_sets_add(&own, keys_rows, &j->flags) != E_OK ||
	    option_read_argv(
		    &own, j->a, argc, argv,
		    help_doc(
			    j->a, argv[0],
			    "Makes the keys of a subnet, each in a file in the state folder of saguarod, and says which lines of saguaro.conf name them. It prints no key."),
		    "init", &first, &diags) != E_OK) {
		return EXIT_USAGE;
	}
	if (argc - first != 1 || strcmp(argv[first], "init") != 0) {
		return help_usage(argv[0], "expected init");
	}
	return EXIT_GOOD;
}

int cmd_keys(int argc, char **argv)
{
	struct keys_job j = { .a = arena_new() };
	int status = EXIT_USAGE;

	if (j.a != NULL) {
		status = read_arguments(&j, argc, argv);
	}
	if (status == EXIT_GOOD) {
		status = init_keys(&j);
	}
	arena_free(j.a);
	return status;
}

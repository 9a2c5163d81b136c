/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/client.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "gateway/api/api.h"
#include "gateway/api/metrics.h"
#include "gateway/api/stream.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/view/json_text.h"
#include "gateway/view/source.h"

static const char default_url[] = "http://127.0.0.1:8620";

/* clang-format off */
const struct option_row client_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct client_flags, json), "FALSE", .letter = 'j', .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "the answer as JSON" },
	{ "instance", OPT_STRING, offsetof(struct client_flags, instance), NULL, .flags_long = "instance",
	  .flags = OPT_CLI_ONLY, .arg = "NAME", .help = "which saguarod, when there are several; main by default" },
	{ "snapshot_dir", OPT_STRING, offsetof(struct client_flags, snapshot_dir), NULL, .flags_long = "snapshot_dir",
	  .flags = OPT_CLI_ONLY, .arg = "DIR", .help = "its snapshot folder; also SAGUARO_SNAPSHOT_DIR" },
	{ "url", OPT_STRING, offsetof(struct client_flags, url), NULL, .letter = 'u', .flags_long = "url",
	  .flags = OPT_CLI_ONLY, .arg = "URL", .help = "ask this gateway instead of reading the snapshot; also SAGUARO_URL" },
	{ NULL }
};
/* clang-format on */

/* The snapshot opened in this process. */
struct client_local {
	struct api_thread thread;
	struct http_stats stats; /* the resources count; nothing reads it here */
};

/* Says what is wrong, or keeps it for a command that explains it. */
__attribute__((format(printf, 2, 3))) static void say(struct client *s, const char *fmt,
                                                      ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->why, sizeof(s->why), fmt, ap);
	va_end(ap);
	if (!s->explains) {
		fprintf(stderr, "%s: %s\n", s->program, s->why);
	}
}

/* `origin`: also the flags that name whom to ask. */
static int read_flags(struct client *s, const struct option_row *const *own, bool origin,
                      const char *doc, const char *args, int n_args, int argc,
                      char **argv)
{
	struct diags *d = arena_alloc(s->arena, sizeof(*d));
	struct option_sets sets = { .n = 0 };

	if (!d) {
		return EXIT_USAGE;
	}
	diags_init(d, s->arena);
	int ret = E_OK;
	for (; *own != NULL && ret == E_OK; own++) {
		ret = option_sets_add(&sets, *own, &s->flags);
	}
	if (ret == E_OK && origin) {
		ret = option_sets_add(&sets, client_rows, &s->flags);
	}
	if (ret == E_OK) {
		ret = option_read_argv(&sets, s->arena, argc, argv,
		                       help_doc(s->arena, s->program, doc), args,
		                       &s->first, d);
	}
	diags_print(d, stderr, DIAG_WARNING);
	int n = argc - s->first, most = n_args < 0 ? -n_args : n_args;
	if (ret == E_OK && n > most) {
		return help_usage(s->program, "unexpected argument '%s'",
		                  argv[s->first + most]);
	}
	if (ret == E_OK && n < n_args) {
		return help_usage(s->program, "expected %s", args ? args : "no arguments");
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

/* Reads the snapshot here. \retval -errno  Its file cannot be read. */
static int open_local(struct client *s, const char *dir)
{
	const char *instance = s->flags.instance != NULL ? s->flags.instance : "main";

	dir = config_dir(dir, SAGUARO_RUNDIR, instance, s->arena);
	const char *file =
		dir ? arena_printf(s->arena, "%s/snapshot/data.mdb", dir) : NULL;
	if (!file) {
		return -ENOMEM;
	}
	s->url = dir; /* for the message */
	if (access(file, R_OK) != 0) {
		return -errno;
	}
	s->local = arena_alloc(s->arena, sizeof(*s->local));
	if (!s->local) {
		return -ENOMEM;
	}
	s->local->thread.source = source_new(dir);
	s->local->thread.stats = &s->local->stats;
	return s->local->thread.source ? E_OK : -ENOMEM;
}

/* The snapshot that was named, and no other answer. */
static int open_named(struct client *s, const char *dir)
{
	int ret = open_local(s, dir);

	if (ret == E_OK) {
		return EXIT_GOOD;
	}
	say(s,
	    "cannot read the snapshot in %s: %s; is this saguarod running, and may you read its files?",
	    s->url ? s->url : "", strerror(-ret));
	s->no_snapshot = ret;
	s->snapshot = s->url;
	s->local = NULL;
	return s->explains ? EXIT_GOOD : EXIT_USAGE;
}

/* NULL: unset or empty. */
static const char *from_environment(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

static int choose_origin(struct client *s)
{
	const char *dir = s->flags.snapshot_dir;

	s->url = s->flags.url;
	if (s->url != NULL && (dir != NULL || s->flags.instance != NULL)) {
		fprintf(stderr,
		        "%s: --url and --%s name two different origins; give one\n",
		        s->program, dir != NULL ? "snapshot-dir" : "instance");
		return EXIT_USAGE;
	}
	if (s->url != NULL) {
		return EXIT_GOOD;
	}
	if (dir != NULL || s->flags.instance != NULL) {
		return open_named(s, dir);
	}
	s->url = from_environment("SAGUARO_URL");
	dir = from_environment("SAGUARO_SNAPSHOT_DIR");
	if (s->url != NULL) {
		return EXIT_GOOD;
	}
	if (dir != NULL) {
		return open_named(s, dir);
	}
	s->no_snapshot = open_local(s, NULL);
	if (s->no_snapshot != E_OK) {
		s->local = NULL;
		s->snapshot = s->url;
		s->url = default_url;
	}
	return EXIT_GOOD;
}

static int begin(struct client *s, const struct option_row *const *own, const char *doc,
                 const char *args, int n_args, int argc, char **argv)
{
	s->program = argv[0];
	s->arena = arena_new();
	if (!s->arena ||
	    read_flags(s, own, true, doc, args, n_args, argc, argv) != EXIT_GOOD) {
		return EXIT_USAGE;
	}
	return choose_origin(s);
}

int client_init_alone(struct client *s, const struct option_row *const *own,
                      const char *doc, const char *args, int n_args, int argc,
                      char **argv)
{
	memset(s, 0, sizeof(*s));
	s->program = argv[0];
	s->arena = arena_new();
	return s->arena ? read_flags(s, own, false, doc, args, n_args, argc, argv)
	                : EXIT_USAGE;
}

int client_init_rows(struct client *s, const struct option_row *const *own,
                     const char *doc, const char *args, int n_args, int argc, char **argv)
{
	memset(s, 0, sizeof(*s));
	return begin(s, own, doc, args, n_args, argc, argv);
}

int client_init_explaining(struct client *s, const char *doc, const char *args,
                           int n_args, int argc, char **argv)
{
	const struct option_row *none[] = { NULL };

	memset(s, 0, sizeof(*s));
	s->explains = true;
	return begin(s, none, doc, args, n_args, argc, argv);
}

bool client_is_default(const struct client *s)
{
	return s->url == default_url;
}

int client_init(struct client *s, const struct option_row *own, const char *doc,
                const char *args, int n_args, int argc, char **argv)
{
	const struct option_row *rows[] = { own, NULL };

	return client_init_rows(s, rows, doc, args, n_args, argc, argv);
}

int client_done(struct client *s, int status)
{
	const bool stale = s->stale;

	if (s->local) {
		api_thread_done(&s->local->thread);
		source_free(s->local->thread.source);
	}
	arena_free(s->arena);
	memset(s, 0, sizeof(*s));
	return status == EXIT_GOOD && stale ? EXIT_STALE : status;
}

const char *client_escape(struct client *s, const char *text)
{
	char *out = arena_alloc(s->arena, 3 * strlen(text) + 1);
	char *o = out;

	for (; out && *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (isalnum(c) || strchr("-._~:", c)) {
			*o++ = (char)c;
		} else {
			o += sprintf(o, "%%%02X", c);
		}
	}
	return out ? out : "";
}

/* --- the two origins of an answer; each returns an HTTP status, 0: no answer ---------- */

static void serve_local(struct client *s, const char *target, struct api_reply *ret_reply)
{
	const struct api_request request = { .method = "GET", .target = target };

	api_serve(&s->local->thread, &request, ret_reply);
}

static size_t collect(char *data, size_t size, size_t n, void *ctx)
{
	body_write(ctx, data, size * n);
	return size * n;
}

/* One request; \a take gets the body and may read the status from the handle. */
static unsigned request_http(struct client *s, const char *target, CURL *curl,
                             curl_write_callback take, void *ctx)
{
	const char *url = arena_printf(s->arena, "%s%s", s->url, target);
	long status = 0;

	if (!curl || !url) {
		return 0;
	}
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, ctx);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 5L);
	CURLcode code = curl_easy_perform(curl);
	if (code == CURLE_OK || code == CURLE_WRITE_ERROR) {
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	} else if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST) {
		if (s->url == default_url) {
			say(s,
			    "no snapshot can be read here and no gateway answers at %s (%s); start saguarod and saguaro-gateway, or give --snapshot-dir or --url",
			    s->url, curl_easy_strerror(code));
		} else {
			say(s, "no gateway answers at %s (%s)", s->url,
			    curl_easy_strerror(code));
		}
	} else {
		say(s, "asking %s: %s", s->url, curl_easy_strerror(code));
	}
	return (unsigned)status;
}

static unsigned request(struct client *s, const char *target, struct body *ret_body)
{
	memset(ret_body, 0, sizeof(*ret_body));
	if (s->local) {
		struct api_reply reply = { 0 };

		serve_local(s, target, &reply);
		stream_free(reply.stream);
		*ret_body = reply.base.body;
		return reply.base.status;
	}
	CURL *curl = curl_easy_init();
	unsigned status = request_http(s, target, curl, collect, ret_body);
	curl_easy_cleanup(curl);
	return status;
}

/* --- answers -------------------------------------------------------------------------- */

/* The flags of a list for the filters of its path: "?ports=0&type=switch". \return Bytes of that. */
static size_t put_filters(FILE *out, const char *query)
{
	static const char *const filters[] = { "type=", "name=" };
	size_t end = *query == '?' ? strcspn(query, " ;,") : 0;

	for (size_t at = 0; at < end;) {
		const char *word = query + at + 1; /* behind '?' or '&' */
		size_t n = strcspn(word, "& ;,");

		for (unsigned i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
			size_t len = strlen(filters[i]);

			if (strncmp(word, filters[i], len) == 0) {
				fprintf(out, " --%.*s %.*s", (int)len - 1, word, (int)(n - len),
				        word + len);
			}
		}
		at += 1 + n;
	}
	return end;
}

/* A sentence of the API with commands in place of paths: "'saguaro groups' lists them" for "/v1/groups lists
 * them". \return malloc; NULL: out of memory. */
static char *with_commands(const char *text)
{
	static const char root[] = "/v1/";
	static const char path_letters[] = "abcdefghijklmnopqrstuvwxyz/-";
	char *to = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&to, &bytes);

	for (const char *at; out != NULL && (at = strstr(text, root)) != NULL;) {
		const char *path = at + sizeof(root) - 1;
		size_t n = strspn(path, path_letters), words_len = 0;
		const char *words = "", *name = help_command_for(path, n, &words, &words_len);

		fprintf(out, "%.*s", (int)(at - text), text);
		text = path + n;
		if (name == NULL) { /* no command shows it */
			fprintf(out, "%s%.*s", root, (int)n, path);
			continue;
		}
		fprintf(out, "'saguaro %s%s%.*s", name, words_len > 0 ? " " : "", (int)words_len,
		        words);
		text += put_filters(out, text);
		fputc('\'', out);
	}
	if (out != NULL) {
		fputs(text, out);
		fclose(out);
	}
	return to;
}

static void print_problem(struct client *s, const json_t *problem)
{
	size_t i;
	json_t *item;
	const char *detail = *member_text(problem, "detail") ? member_text(problem, "detail")
	                                                     : member_text(problem, "title");
	char *text = with_commands(detail);

	say(s, "%s", text != NULL ? text : detail);
	free(text);
	json_array_foreach(json_object_get(problem, "candidates"), i, item)
	{
		if (!s->explains) {
			fprintf(stderr, "  %s\n", json_string_value(item));
		}
	}
}

/* Wrong input is an error of usage; "no path", "ambiguous", "not ready" are answers. */
static int exit_of(unsigned status)
{
	if (status >= 200 && status < 300) {
		return EXIT_GOOD;
	}
	return status == 422 || status == 503 ? EXIT_BAD : EXIT_USAGE;
}

/* Prints the problem of an answer that is no success. */
static int print_refusal(struct client *s, const struct body *body, unsigned status)
{
	json_t *problem = body->data ? json_loadb(body->data, body->len, 0, NULL) : NULL;

	if (problem) {
		json_make_printable(problem);
		print_problem(s, problem);
	} else if (status != 0) {
		say(s, "the answer has status %u and no reason", status);
	}
	json_decref(problem);
	return status == 0 ? EXIT_USAGE : exit_of(status);
}

void client_print_stale(const char *program)
{
	fprintf(stderr,
	        "%s: stale: saguarod does not report any more, and the fabric may have changed since; 'saguaro status' says why\n",
	        program);
}

/* Tells the user when the answers begin to be old. */
static void note_stale(struct client *s, bool stale)
{
	if (stale && !s->stale && !s->explains) {
		client_print_stale(s->program);
	}
	s->stale = stale;
}

int client_get(struct client *s, const char *target, json_t **ret_json)
{
	struct body body;
	const unsigned status = request(s, target, &body);
	int exit_code = exit_of(status);

	if (exit_code != EXIT_GOOD) {
		exit_code = print_refusal(s, &body, status);
		body_clear(&body);
		return exit_code;
	}
	json_t *value = body.data ? json_loadb(body.data, body.len, 0, NULL) : NULL;
	body_clear(&body);
	if (!value) {
		say(s, "the answer to %s is not JSON", target);
		return EXIT_USAGE;
	}
	note_stale(s, json_is_true(json_object_get(value, "stale")));
	if (!s->flags.json) {
		json_make_printable(value);
	}
	*ret_json = value;
	return EXIT_GOOD;
}

int client_print_list(struct client *s, const char *target, client_print_f *print)
{
	const char *page = target;
	bool more = true;
	int status = EXIT_GOOD;

	while (page != NULL && more && status == EXIT_GOOD) {
		json_t *body = NULL;
		status = client_get(s, page, &body);
		if (status == EXIT_GOOD) {
			status = print(s, body, page == target);
			s->rows = (uint64_t)member_int(body, "total");
		}
		const char *cursor = member_text(body, "next_cursor");
		more = *cursor != '\0';
		if (more) {
			page = arena_printf(s->arena, "%s%ccursor=%s", target,
			                    strchr(target, '?') != NULL ? '&' : '?',
			                    client_escape(s, cursor));
		}
		json_decref(body);
	}
	if (page == NULL) {
		fprintf(stderr, "%s: out of memory\n", s->program);
		status = EXIT_USAGE;
	}
	return status;
}

/* --- streams ---------------------------------------------------------------------------
 */

/* A stream that is copied to standard output. */
struct sink {
	CURL *curl;          /* NULL: it is made in this process */
	struct body refusal; /* instead of a stream */
	bool failed;         /* standard output is closed */
	bool broken;         /* a text without a last line ended early */
	bool begun, stale;   /* the first line was seen; it says stale */
	char last[512];      /* the line that is being written, as far as it fits */
	size_t len;
	bool line_ended;
};

/* Writes a block and remembers its end, which may be the last line. */
static bool copy_block(struct sink *k, const char *data, size_t len)
{
	size_t tail = len < sizeof(k->last) ? len : sizeof(k->last);
	static const char stale[] = "\"stale\":true";

	if (!k->begun && len > 0) { /* the first line is short, and comes as a whole */
		const char *end = memchr(data, '\n', len);

		k->begun = true;
		k->stale = memmem(data, end != NULL ? (size_t)(end - data) : len, stale,
		                  sizeof(stale) - 1) != NULL;
	}
	for (size_t i = len - tail; i < len; i++) {
		if (k->line_ended) {
			k->len = 0;
		}
		k->line_ended = data[i] == '\n';
		if (k->len < sizeof(k->last) - 1) {
			k->last[k->len++] = data[i];
		}
	}
	k->failed = k->failed || fwrite(data, 1, len, stdout) != len;
	return !k->failed;
}

static size_t copy_http(char *data, size_t size, size_t n, void *ctx)
{
	struct sink *k = ctx;
	long status = 0;

	curl_easy_getinfo(k->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200) {
		return collect(data, size, n, &k->refusal);
	}
	return copy_block(k, data, size * n) ? size * n : 0;
}

static unsigned stream_local(struct client *s, const char *target, struct sink *k)
{
	struct api_reply reply = { 0 };
	char block[16384];
	size_t n;

	serve_local(s, target, &reply);
	k->refusal = reply.base.body;
	while (reply.stream &&
	       (n = stream_read(reply.stream, block, sizeof(block))) > 0 &&
	       copy_block(k, block, n)) {
	}
	k->broken = reply.stream && stream_broken(reply.stream);
	stream_free(reply.stream);
	return reply.base.status;
}

/* Does the last line say that the stream is complete? */
static int outcome_of(struct client *s, struct sink *k)
{
	k->last[k->len] = '\0';
	json_t *last = json_loads(k->last, 0, NULL);
	bool is_end = last && strcmp(member_text(last, "stream"), "end") == 0;
	bool complete = is_end && json_is_true(json_object_get(last, "complete"));

	if (!is_end) {
		say(s, "the connection broke before the end of the stream");
	} else if (!complete) {
		say(s,
		    "the stream ended early (%s); its last line has the key to continue at",
		    member_text(last, "reason"));
	}
	json_decref(last);
	return complete ? EXIT_GOOD : EXIT_BAD;
}

/* \param lines  The last line says whether it is complete. */
static int copy_stream(struct client *s, const char *target, struct sink *k, bool lines)
{
	const unsigned status = s->local ? stream_local(s, target, k)
	                                 : request_http(s, target, k->curl, copy_http, k);
	int exit_code;

	k->failed |= fflush(stdout) != 0;
	if (status != 200) {
		exit_code = k->begun ? EXIT_BAD : print_refusal(s, &k->refusal, status);
	} else if (k->failed) {
		exit_code = EXIT_BAD;
	} else if (lines) {
		exit_code = outcome_of(s, k);
	} else if (k->broken) {
		fprintf(stderr, "%s: the fabric changed before the end; ask again\n",
		        s->program);
		exit_code = EXIT_BAD;
	} else {
		exit_code = EXIT_GOOD;
	}
	note_stale(s, lines && k->stale);
	body_clear(&k->refusal);
	curl_easy_cleanup(k->curl);
	return exit_code;
}

int client_stream(struct client *s, const char *target)
{
	struct sink k = { .curl = s->local ? NULL : curl_easy_init() };
	return copy_stream(s, target, &k, true);
}

int client_copy(struct client *s, const char *target)
{
	struct sink k = { .curl = s->local ? NULL : curl_easy_init() };

	return copy_stream(s, target, &k, false);
}

int client_print_json(const json_t *body)
{
	const int failed = json_dumpf(body, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);

	printf("\n");
	return failed == 0 && fflush(stdout) == 0 ? EXIT_GOOD : EXIT_USAGE;
}

const char *member_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

json_int_t member_int(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

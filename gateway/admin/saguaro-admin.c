/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/service.h"
#include "gateway/admin/admin_config.h"
#include "gateway/admin/admin_http.h"
#include "gateway/admin/audit.h"
#include "gateway/admin/auth.h"
#include "gateway/admin/limits.h"
#include "gateway/admin/secret.h"
#include "gateway/view/body.h"
#include "gateway/view/control_client.h"

static const char me[] = "admin";

/* ---- commands on the file of users ---- */

static int print_users(const struct admin_config *c, struct arena *a, struct diags *d)
{
	struct users users;
	char expires[32];
	int ret = users_read(c->users, a, d, &users);

	for (unsigned i = 0; ret == E_OK && i < users.n; i++) {
		const struct user *u = &users.user[i];

		user_expiry_text(u->expires, expires);
		printf("%-24s %-16s %-21s %s%s\n", u->name, role_name(u->role), expires,
		       u->hash != NULL ? "secret" : "certificate",
		       u->expires != 0 && u->expires <= (int64_t)time(NULL) ? ", expired"
		                                                            : "");
	}
	return ret;
}

/* The first line of standard input, without echo on a terminal. */
static int read_password(char *ret_text, size_t room, struct diags *d)
{
	struct termios old, quiet;
	bool terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &old) == 0;
	char *line;

	if (terminal) {
		fputs("Password: ", stderr);
		quiet = old;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	}
	line = fgets(ret_text, (int)room, stdin);
	if (terminal) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
		fputc('\n', stderr);
	}
	if (line == NULL || strchr(line, '\n') == NULL) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"--add-password needs a line of at most %d bytes on standard input",
			SECRET_MAX);
		return E_SYNTAX;
	}
	line[strcspn(line, "\r\n")] = '\0';
	if (strlen(line) < SECRET_MIN) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"the password has less than %d bytes; --add-token makes a good one",
			SECRET_MIN);
		return E_RANGE;
	}
	return E_OK;
}

static int add_user(const struct admin_config *c, struct diags *d)
{
	char secret[SECRET_MAX + 2] = "", hash[SECRET_HASH_BYTES];
	struct user user = { .name = c->add_token      ? c->add_token
		                     : c->add_password ? c->add_password
		                                       : c->add_certificate };
	int ret = E_OK;

	if (!user_name_is_good(user.name)) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "'%.80s' is no name: 1-%d letters, digits and -_@", user.name,
		         USER_NAME_MAX);
		return E_SYNTAX;
	}
	if (c->role == NULL || role_parse(c->role, &user.role) != E_OK) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "--role is needed: viewer, partition-admin or operator");
		return E_SYNTAX;
	}
	if (c->expires == NULL ||
	    user_expiry_parse(c->expires, (int64_t)time(NULL), &user.expires) != E_OK) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"--expires: '%.40s' is no time: 2027-01-31, 2027-01-31T12:00:00Z, 90d or never",
			c->expires != NULL ? c->expires : "");
		return E_SYNTAX;
	}
	if (c->add_token != NULL) {
		ret = secret_make(secret);
	} else if (c->add_password != NULL) {
		ret = read_password(secret, sizeof(secret), d);
	}
	if (ret == E_OK && c->add_certificate == NULL) {
		ret = secret_hash(secret, hash);
		user.hash = hash;
	}
	if (ret == E_OK) {
		ret = users_add(c->users, &user, d);
	}
	if (ret == E_OK && c->add_token != NULL) {
		printf("%s\n", secret);
		fprintf(stderr,
		        "The secret of %s is shown this once. Use it with Basic as password, or with Bearer as %s.SECRET.\n",
		        user.name, user.name);
	}
	return ret;
}

static int run_command(const void *config, struct arena *a, struct diags *d)
{
	const struct admin_config *c = config;
	unsigned n = (c->add_token != NULL) + (c->add_password != NULL) +
	             (c->add_certificate != NULL) + (c->remove != NULL) + c->list;
	int ret;

	if (n != 1) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"only one of --add-token, --add-password, --add-certificate, --remove and --list at a time");
		ret = E_SYNTAX;
	} else if (c->list) {
		ret = print_users(c, a, d);
	} else if (c->remove != NULL) {
		ret = users_remove(c->users, c->remove, d);
	} else {
		ret = add_user(c, d);
	}
	if (ret != E_OK && d->n_errors == 0) {
		diag_add(d, DIAG_ERROR, NULL, 0, "%s", err_text(ret));
	}
	return ret;
}

/* ---- the server ---- */

/* saguarod takes 32 connections at its control socket, and others need some. */
enum { ASK_AT_A_TIME = 16 };

struct asking {
	sem_t free;
	unsigned timeout_ms;
};

static int ask(void *ctx, const char *socket, const json_t *request, json_t **ret_reply)
{
	struct asking *q = ctx;
	struct timespec until;
	int ret;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += q->timeout_ms / 1000;
	while (sem_timedwait(&q->free, &until) != 0) {
		if (errno != EINTR) {
			return E_TIMEOUT;
		}
	}
	ret = control_ask(socket, request, q->timeout_ms, ret_reply);
	sem_post(&q->free);
	return ret;
}

struct audit_file {
	struct audit *audit;
	const char *path;
};

static void reopen_audit(void *ctx)
{
	const struct audit_file *f = ctx;
	int ret = audit_reopen(f->audit);

	if (ret != E_OK) {
		log_message(MSG_ADMIN_AUDIT_NOT_REOPENED, me,
		            "cannot open the audit log %s: %s; the old one is written on",
		            f->path, err_text(ret));
	} else {
		log_info(me, "audit log opened again");
	}
}

static int run_server(const struct admin_config *c, struct admin *admin, struct arena *a)
{
	struct admin_http_options o = { .listen = c->listen,
		                        .tls = { .certificate = c->tls_certificate,
		                                 .key = c->tls_key,
		                                 .client_ca = c->client_ca },
		                        .connections = c->connections,
		                        .per_address = c->per_address,
		                        .request_s = c->request_s,
		                        .admin = admin };
	struct admin_http *h = NULL;
	const char *why = NULL;
	int ret = E_OK;

	if (!c->is_unix) {
		ret = tls_names(c->tls_certificate, c->hosts, a, &why, &admin->hosts);
	}
	if (ret == E_OK) {
		ret = admin_http_start(&o, a, &why, &h);
	}
	if (ret != E_OK) {
		log_message(MSG_ADMIN_NO_ADDRESS, me, "%s",
		            why != NULL ? why : err_text(ret));
		return ret;
	}
	log_info(me, "answering on %s for %u fabric%s", admin_http_address(h),
	         c->n_fabrics, c->n_fabrics == 1 ? "" : "s");
	struct audit_file audit = { .audit = admin->audit, .path = c->audit_log };
	const struct service_server s = { .source = me,
		                          .options = &c->server,
		                          .address = admin_http_address(h),
		                          .port = admin_http_port(h),
		                          .reopen = reopen_audit,
		                          .ctx = &audit };
	ret = service_run_server(&s);
	admin_http_stop(h);
	return ret;
}

static int serve(const void *config, struct arena *a)
{
	const struct admin_config *c = config;
	struct auth_options auth = { .users = c->users,
		                     .failures = c->failures_per_minute,
		                     .per_minute = c->failures_per_minute };
	struct asking asking = { .timeout_ms = c->saguarod_s * 1000 };
	struct admin admin = {
		.fabric = c->fabric, .n_fabrics = c->n_fabrics, .origins = c->origins,
		.ask = ask, .ctx = &asking
	};
	int ret;

	sem_init(&asking.free, 0, ASK_AT_A_TIME);
	ret = audit_new(c->audit_log, &admin.audit);
	if (ret != E_OK) {
		log_message(
			MSG_ADMIN_NO_AUDIT, me,
			"cannot open the audit log %s: %s; name another with --audit-log",
			c->audit_log, err_text(ret));
	}
	if (ret == E_OK) {
		ret = auth_new(&auth, &admin.auth);
	}
	if (ret == E_OK) {
		/* A tenth of a minute's requests may come at once. */
		admin.rate = limits_new(c->requests_per_minute / 10 + 1,
		                        c->requests_per_minute);
		admin.lines = limits_new(5, 5);
		ret = admin.rate != NULL && admin.lines != NULL ? run_server(c, &admin, a)
		                                                : -ENOMEM;
	}
	limits_free(admin.rate);
	limits_free(admin.lines);
	auth_free(admin.auth);
	audit_free(admin.audit);
	sem_destroy(&asking.free);
	return ret;
}

int main(int argc, char **argv)
{
	struct admin_config c;

	const struct service_program program = { .name = "saguaro-admin",
		                                 .source = me,
		                                 .config = &c,
		                                 .options = &c.server,
		                                 .read = admin_config_read,
		                                 .is_command = admin_config_is_command,
		                                 .command = run_command,
		                                 .serve = serve };

	body_watch_json();
	return service_main(&program, argc, argv);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/admin/admin_config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "gateway/view/origin.h"

#define MEMBER(m) .offset = offsetof(struct admin_config, m)

enum { FABRICS_MAX = 64 };

/* clang-format off */
const struct option_row admin_config_rows[] = {
	{ .name = "listen", .type = OPT_STRING, MEMBER(listen), .def = SAGUARO_RUNDIR "-admin/http.sock",
	  .flags_long = "listen", .arg = "PLACE", .flags = OPT_CLI_ONLY,
	  .help = "Where to answer: the path of a Unix socket, or ADDR:PORT with TLS; port 0 takes any free one",
	  .more = "The socket has mode 0660. An IPv6 address stands in brackets." },
	{ .name = "port_file", .type = OPT_STRING, MEMBER(server.port_file), .flags_long = "port-file",
	  .arg = "FILE", .flags = OPT_CLI_ONLY,
	  .help = "Write the port in use to FILE once requests are answered; 0 for a Unix socket" },
	{ .name = "tls_certificate", .type = OPT_STRING, MEMBER(tls_certificate), .flags_long = "tls-certificate",
	  .arg = "FILE", .flags = OPT_CLI_ONLY,
	  .help = "Certificate of the server, then those of its signers, PEM; needed for ADDR:PORT" },
	{ .name = "tls_key", .type = OPT_STRING, MEMBER(tls_key), .flags_long = "tls-key",
	  .arg = "FILE", .flags = OPT_CLI_ONLY, .help = "Private key of the certificate, PEM; mode 0640 or less" },
	{ .name = "client_ca", .type = OPT_STRING, MEMBER(client_ca), .flags_long = "client-ca",
	  .arg = "FILE", .flags = OPT_CLI_ONLY,
	  .help = "Certificates of those who sign certificates of clients, PEM; the common name of a client's certificate is the name of a user",
	  .more = "Without this option no client is asked for a certificate." },
	{ .name = "hosts", .type = OPT_STRING, MEMBER(hosts), .flags_long = "hosts", .arg = "NAME,...", .flags = OPT_CLI_ONLY,
	  .help = "Further names of this server in requests, beside those of its certificate, localhost and addresses; *: any",
	  .more = "A request with another name in its Host header gets status 421, because a page of another site may have made a browser send it." },
	{ .name = "allow_origin", .type = OPT_STRING, MEMBER(origins), .flags_long = "allow-origin", .arg = "ORIGIN,...", .flags = OPT_CLI_ONLY,
	  .help = "Origins, such as https://fabric.example, whose pages may send requests of their users; none by default",
	  .more = "This is CORS, for the page of saguaro-gateway with --admin-url. Each is https://NAME[:PORT], or http:// with localhost, 127.0.0.1 or [::1]. Whoever can change such a page can use the secrets that are typed into it." },
	{ .name = "users", .type = OPT_STRING, MEMBER(users), .def = SAGUARO_SYSCONFDIR "-admin/users",
	  .flags_long = "users", .arg = "FILE", .flags = OPT_CLI_ONLY, .help = "File of users" },
	{ .name = "fabrics", .type = OPT_STRING, MEMBER(fabrics), .def = "main", .flags_long = "fabrics",
	  .arg = "NAME[=SOCKET],...", .flags = OPT_CLI_ONLY,
	  .help = "Instances of saguarod, with their control sockets if they are not the default ones; each is served below /NAME, the first one also at /",
	  .more = "With --fabrics main,ib1, /v1/partitions and /main/v1/partitions are the same. For clients that cannot be given a prefix, start a saguaro-admin with a --listen of its own for each fabric." },
	{ .name = "audit_log", .type = OPT_STRING, MEMBER(audit_log), .flags_long = "audit-log", .arg = "FILE", .flags = OPT_CLI_ONLY,
	  .help = "Append each change to FILE before and after it, as a line of JSON; without it, outcomes are in the log only",
	  .more = "The first line has all of the request, the second one the outcome, and both have the same number 'change'. If the first line cannot be written, the change is refused." },
	{ .name = "connections", .type = OPT_UINT, MEMBER(connections), .def = "128", .min = 1, .max = 4096,
	  .flags_long = "connections", .arg = "N", .flags = OPT_CLI_ONLY, .help = "Maximum number of connections at a time",
	  .more = "When nearly all places are taken, a connection gives its place to a new one: first one that no user has authenticated, then one without a request. So idle connections keep no user out." },
	{ .name = "connections_per_address", .type = OPT_UINT, MEMBER(per_address), .def = "32", .min = 0, .max = 4096,
	  .flags_long = "connections-per-address", .arg = "N", .flags = OPT_CLI_ONLY,
	  .help = "Maximum number of connections from one address at a time; 0: no limit" },
	{ .name = "request_seconds", .type = OPT_UINT, MEMBER(request_s), .def = "30", .min = 1, .max = 3600,
	  .flags_long = "request-seconds", .arg = "N", .flags = OPT_CLI_ONLY,
	  .help = "A connection is closed if the head of the next request, its body or its answer takes longer than this",
	  .more = "Bytes that come meanwhile do not extend it." },
	{ .name = "saguarod_seconds", .type = OPT_UINT, MEMBER(saguarod_s), .def = "20", .min = 1, .max = 3600,
	  .flags_long = "saguarod-seconds", .arg = "N", .flags = OPT_CLI_ONLY,
	  .help = "How long saguarod may take for an answer; after it the status is 504",
	  .more = "The change may have happened all the same." },
	{ .name = "failures_per_minute", .type = OPT_UINT, MEMBER(failures_per_minute), .def = "10", .min = 0, .max = 100000,
	  .flags_long = "failures-per-minute", .arg = "N", .flags = OPT_CLI_ONLY,
	  .help = "Wrong logins from one address or network of 64 bits; above them, only secrets that were right before are let in; 0: no limit",
	  .more = "Others get status 429." },
	{ .name = "requests_per_minute", .type = OPT_UINT, MEMBER(requests_per_minute), .def = "6000", .min = 0, .max = 1000000,
	  .flags_long = "requests-per-minute", .arg = "N", .flags = OPT_CLI_ONLY, .help = "Requests of one user; 0: no limit",
	  .more = "A tenth of them may come at once. The default is enough for 2,000 jobs of a batch system that start and end in a minute." },
	SERVER_LOG_ROWS(struct admin_config),
	{ .name = "add_token", .type = OPT_STRING, MEMBER(add_token), .flags_long = "add-token", .arg = "NAME",
	  .flags = OPT_CLI_ONLY | OPT_TASK, .help = "Add a user with a random secret, print the secret, and end",
	  .more = "The secret is stored nowhere else." },
	{ .name = "add_password", .type = OPT_STRING, MEMBER(add_password), .flags_long = "add-password", .arg = "NAME",
	  .flags = OPT_CLI_ONLY | OPT_TASK, .help = "Add a user whose password is the first line of standard input, and end",
	  .more = "The password has at least 12 bytes." },
	{ .name = "add_certificate", .type = OPT_STRING, MEMBER(add_certificate), .flags_long = "add-certificate",
	  .arg = "NAME", .flags = OPT_CLI_ONLY | OPT_TASK, .help = "Add a user who has only a client certificate, and end" },
	{ .name = "role", .type = OPT_STRING, MEMBER(role), .flags_long = "role", .arg = "ROLE", .flags = OPT_CLI_ONLY | OPT_TASK,
	  .help = "Role of the added user: viewer, partition-admin or operator; there is no default" },
	{ .name = "expires", .type = OPT_STRING, MEMBER(expires), .def = "365d", .flags_long = "expires", .arg = "WHEN",
	  .flags = OPT_CLI_ONLY | OPT_TASK, .help = "When the added user expires: 2027-01-31, 2027-01-31T12:00:00Z, 90d or never",
	  .more = "A date is its first moment, UTC." },
	{ .name = "remove", .type = OPT_STRING, MEMBER(remove), .flags_long = "remove", .arg = "NAME",
	  .flags = OPT_CLI_ONLY | OPT_TASK, .help = "Remove a user, and end" },
	{ .name = "list", .type = OPT_BOOL, MEMBER(list), .def = "FALSE", .flags_long = "list",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG | OPT_TASK, .help = "List the users without their hashes, and end" },
	{ .name = NULL },
};
/* clang-format on */

static const char doc[] =
	"The write door: changes of partitions and commands to saguarod over HTTP, by users with a role, over TLS or a Unix socket. It holds no data; it asks saguarod at its control socket.\vManual: man saguaro-admin";

bool admin_config_is_command(const void *config)
{
	const struct admin_config *c = config;

	return c->add_token != NULL || c->add_password != NULL ||
	       c->add_certificate != NULL || c->remove != NULL || c->list;
}

/* One fabric, "NAME" or "NAME=SOCKET". */
static int read_fabric(struct admin_config *c, char *text, struct arena *a,
                       struct diags *d)
{
	char *socket = strchr(text, '=');
	struct admin_fabric f = { .name = text };

	if (socket != NULL) {
		*socket++ = '\0';
		f.socket = socket;
	}
	if (text[0] == '\0' || strchr(text, '/') != NULL || strcmp(text, "v1") == 0 ||
	    strcmp(text, "ufmRest") == 0 || (socket != NULL && socket[0] != '/')) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"--fabrics: '%s' is no name of an instance, or its socket is no absolute path",
			text);
		return E_SYNTAX;
	}
	for (unsigned i = 0; i < c->n_fabrics; i++) {
		if (strcmp(c->fabric[i].name, text) == 0) {
			diag_add(d, DIAG_ERROR, NULL, 0, "--fabrics: %s is there twice",
			         text);
			return E_DUPLICATE;
		}
	}
	if (f.socket == NULL) {
		const char *dir = config_dir(NULL, SAGUARO_RUNDIR, text, a);

		f.socket = dir != NULL ? config_control_socket(NULL, dir, a) : NULL;
	}
	if (f.socket == NULL) {
		return -ENOMEM;
	}
	c->fabric[c->n_fabrics++] = f;
	return E_OK;
}

static int read_fabrics(struct admin_config *c, struct arena *a, struct diags *d)
{
	char *text = arena_strdup(a, c->fabrics != NULL ? c->fabrics : ""), *rest = NULL;
	int ret = E_OK;

	c->fabric = arena_array(a, FABRICS_MAX, sizeof(*c->fabric));
	if (text == NULL || c->fabric == NULL) {
		return -ENOMEM;
	}
	for (char *t = strtok_r(text, ",", &rest); t != NULL && ret == E_OK;
	     t = strtok_r(NULL, ",", &rest)) {
		if (c->n_fabrics == FABRICS_MAX) {
			diag_add(d, DIAG_ERROR, NULL, 0, "--fabrics: more than %d",
			         FABRICS_MAX);
			return E_RANGE;
		}
		ret = read_fabric(c, t, a, d);
	}
	if (ret == E_OK && c->n_fabrics == 0) {
		diag_add(d, DIAG_ERROR, NULL, 0, "--fabrics needs a name");
		ret = E_SYNTAX;
	}
	return ret;
}

int admin_config_read(void *config, struct arena *a, int argc, char **argv,
                      struct diags *d)
{
	struct admin_config *c = config;
	struct option_sets sets = { .n = 0 };
	int first, ret;

	memset(c, 0, sizeof(*c));
	ret = option_sets_add(&sets, admin_config_rows, c);
	if (ret == E_OK) {
		ret = option_read_argv(&sets, a, argc, argv, doc, NULL, &first, d);
	}
	if (ret == E_OK) {
		ret = read_fabrics(c, a, d);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (c->listen == NULL || c->users == NULL) {
		diag_add(d, DIAG_ERROR, NULL, 0, "--listen and --users need a value");
		return E_SYNTAX;
	}
	if (!origin_list_is_safe(c->origins)) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"--allow-origin '%.100s': each must be https://NAME[:PORT], or http:// with localhost, 127.0.0.1 or [::1]",
			c->origins);
		return E_SYNTAX;
	}
	c->is_unix = strchr(c->listen, '/') != NULL;
	if (!c->is_unix && !admin_config_is_command(c) &&
	    (c->tls_certificate == NULL || c->tls_key == NULL)) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"--listen %s needs TLS, also on the loopback address: give --tls-certificate and --tls-key, or listen on a Unix socket",
			c->listen);
		return E_SYNTAX;
	}
	return E_OK;
}

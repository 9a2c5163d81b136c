/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A reply that is queued in the first call of the access handler closes the connection. If the
 * client is still sending its body then, the kernel may reset the connection before the client
 * has read the reply. So a body that nobody wants is read to its end and dropped, unless it is
 * announced as very long, or the client waits for leave to send it, or where it ends is in doubt.
 */
#include "gateway/admin/admin_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "conf/base/vector.h"
#include "gateway/admin/users.h"
#include "gateway/httpd/connections.h"
#include "gateway/httpd/strict.h"

static const char me[] = "admin";
static const char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

enum {
	CONNECTION_BYTES = 48 * 1024, /* request head and reply head */
	STACK_BYTES = 1 << 20,
	IDLE_SECONDS = 15,
	ADDRESS_BYTES = 64,
	NAMES_MAX = 256,
	SPARE = 64, /* connections above their number, which have been cut off and end */
	DROP_MAX = 16 << 20 /* bytes of a body that is not wanted */
};

struct admin_http {
	struct MHD_Daemon *daemon;
	struct listening listening;
	const char *path; /* of the Unix socket, or NULL */
	char address[160];
	struct door *door;
	bool wants_certificates;
	struct connections *connections;
};

/* One request, from handler call to handler call. */
struct exchange {
	struct door_request request;
	struct door_call *call; /* NULL: the head has not come */
	char *body;
	size_t len, cap;
	bool too_large;
	uint64_t dropped; /* bytes of the body that were not kept */
	char address[ADDRESS_BYTES];
	char name[USER_NAME_MAX + 1]; /* of a client certificate */
	uintptr_t target_end;         /* where it came in */
	char target[];
};

/* ---- connections ---- */

static void on_connection(void *cls, struct MHD_Connection *conn, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
	struct admin_http *h = cls;
	const union MHD_ConnectionInfo *socket =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *from =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		connections_remove(h->connections, *context);
		*context = NULL;
	} else if (socket != NULL) {
		*context = connections_add(h->connections, socket->connect_fd,
		                           from != NULL ? from->client_addr : NULL,
		                           monotonic_ms());
	}
}

/* The place of a connection; NULL: none. */
static struct connection *place_of(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

static void enter(struct MHD_Connection *conn, enum connection_step step)
{
	connections_enter(place_of(conn), step, monotonic_ms());
}

/* ---- requests ---- */

/* Where a client is: its address, or the user of a process on this machine. */
static void tell_address(struct MHD_Connection *conn, char ret[ADDRESS_BYTES])
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *from = info != NULL ? info->client_addr : NULL;
	struct ucred peer;
	socklen_t len = sizeof(peer);

	strcpy(ret, "?");
	if (from != NULL && from->sa_family == AF_INET) {
		inet_ntop(AF_INET,
		          &((const struct sockaddr_in *)(const void *)from)->sin_addr,
		          ret, ADDRESS_BYTES);
	} else if (from != NULL && from->sa_family == AF_INET6) {
		const struct in6_addr *a =
			&((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
		bool mapped = IN6_IS_ADDR_V4MAPPED(a);

		inet_ntop(mapped ? AF_INET : AF_INET6,
		          mapped ? (const void *)(a->s6_addr + 12) : (const void *)a, ret,
		          ADDRESS_BYTES);
	} else {
		info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (info != NULL && getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED,
		                               &peer, &len) == 0) {
			snprintf(ret, ADDRESS_BYTES, "local-user-%u", (unsigned)peer.uid);
		}
	}
}

/* Common name of a certificate of the client that a trusted one signed for clients. */
static bool tell_certificate(struct MHD_Connection *conn, char ret[USER_NAME_MAX + 1])
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT
	};
	unsigned status = 1, n = 0;
	size_t room = USER_NAME_MAX + 1;
	const gnutls_datum_t *list;
	gnutls_x509_crt_t crt;
	bool good;

	if (info == NULL || info->tls_session == NULL) {
		return false;
	}
	gnutls_session_t session = info->tls_session;
	list = gnutls_certificate_get_peers(session, &n);
	if (list == NULL || n == 0 ||
	    gnutls_certificate_verify_peers(session, &purpose, 1, &status) != 0 ||
	    status != 0 || gnutls_x509_crt_init(&crt) != 0) {
		return false;
	}
	good = gnutls_x509_crt_import(crt, &list[0], GNUTLS_X509_FMT_DER) == 0 &&
	       gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, ret,
	                                     &room) == 0 &&
	       user_name_is_good(ret);
	gnutls_x509_crt_deinit(crt);
	return good;
}

static const char *header(struct MHD_Connection *conn, const char *name)
{
	return MHD_lookup_connection_value(conn, MHD_HEADER_KIND, name);
}

static void read_head(struct admin_http *h, struct MHD_Connection *conn,
                      const char *method, const char *version, struct exchange *x)
{
	const char *length = header(conn, MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t bytes = 0;

	if (length != NULL && text_u64(length, UINT64_MAX, &bytes) != E_OK) {
		bytes = UINT64_MAX;
	}
	tell_address(conn, x->address);
	x->request = (struct door_request){
		.method = method,
		.target = x->target,
		.authorization = header(conn, MHD_HTTP_HEADER_AUTHORIZATION),
		.host = h->path == NULL ? header(conn, MHD_HTTP_HEADER_HOST) : NULL,
		.origin = header(conn, "Origin"),
		.content_type = header(conn, MHD_HTTP_HEADER_CONTENT_TYPE),
		.if_match = header(conn, MHD_HTTP_HEADER_IF_MATCH),
		.if_none_match = header(conn, MHD_HTTP_HEADER_IF_NONE_MATCH),
		.address = x->address,
		.has_body = bytes > 0 ||
		            header(conn, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL,
		.body_bytes = bytes,
		.fault = strict_fault(conn, method, x->target_end, version),
		.now = (int64_t)time(NULL),
		.now_ms = monotonic_ms()
	};
	if (h->wants_certificates && tell_certificate(conn, x->name)) {
		x->request.certificate = x->name;
	}
}

static void add_header(struct MHD_Response *r, const char *name, const char *value)
{
	if (value != NULL && value[0] != '\0') {
		MHD_add_response_header(r, name, value);
	}
}

/* Sends a reply; its body is taken. */
static enum MHD_Result send_reply(struct MHD_Connection *conn, struct door_reply *reply)
{
	struct MHD_Response *r =
		reply->body.data != NULL
			? MHD_create_response_from_buffer(reply->body.len,
	                                                  reply->body.data,
	                                                  MHD_RESPMEM_MUST_FREE)
			: MHD_create_response_from_buffer(0, NULL,
	                                                  MHD_RESPMEM_PERSISTENT);
	char number[16] = "";

	if (r == NULL) {
		body_clear(&reply->body);
		return MHD_NO;
	}
	if (reply->status != 304) {
		add_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
	}
	add_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	add_header(r, "X-Content-Type-Options", "nosniff");
	add_header(r, MHD_HTTP_HEADER_ETAG, reply->etag);
	add_header(r, MHD_HTTP_HEADER_ALLOW, reply->allow);
	if (reply->retry_after != 0) {
		snprintf(number, sizeof(number), "%u", reply->retry_after);
	}
	add_header(r, MHD_HTTP_HEADER_RETRY_AFTER, number);
	if (reply->challenge) {
		add_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
		           "Basic realm=\"saguaro-admin\", charset=\"UTF-8\"");
		add_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	}
	enum MHD_Result queued = MHD_queue_response(conn, reply->status, r);
	MHD_destroy_response(r);
	return queued;
}

static enum MHD_Result answer(struct MHD_Connection *conn, struct exchange *x)
{
	struct door_reply reply;

	if (x->too_large && !door_is_refused(x->call)) {
		door_refuse_body(x->call, &reply);
	} else {
		door_answer(x->call, x->body != NULL ? x->body : "", x->len, &reply);
	}
	return send_reply(conn, &reply);
}

static enum MHD_Result take_body(struct exchange *x, const char *data, size_t *len)
{
	if (x->len + *len > DOOR_BODY_MAX) {
		x->too_large = true;
	}
	if (x->too_large || door_is_refused(x->call)) {
		x->dropped += *len;
	} else if (VECTOR_RESERVE(x->body, x->cap, x->len + *len) != E_OK) {
		return MHD_NO;
	} else {
		memcpy(x->body + x->len, data, *len);
		x->len += *len;
	}
	*len = 0;
	return x->dropped <= DROP_MAX ? MHD_YES : MHD_NO;
}

/* Is a refusal sent before the body has come? */
static bool refuses_now(struct MHD_Connection *conn, const struct exchange *x)
{
	return x->request.fault != NULL ||
	       (door_is_refused(x->call) && x->request.has_body &&
	        (x->request.body_bytes > DROP_MAX ||
	         header(conn, MHD_HTTP_HEADER_EXPECT) != NULL));
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *conn, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **con_cls)
{
	struct admin_http *h = cls;
	struct exchange *x = *con_cls;

	(void)url;
	if (x == NULL) {
		return MHD_NO; /* out of memory */
	}
	if (x->call == NULL) {
		enter(conn, CONNECTION_BODY);
		read_head(h, conn, method, version, x);
		x->call = door_begin(h->door, &x->request);
		if (x->call == NULL) {
			return MHD_NO;
		}
		if (door_has_user(x->call)) {
			connections_trust(place_of(conn));
		}
		return refuses_now(conn, x) ? answer(conn, x) : MHD_YES;
	}
	if (*upload_size != 0) {
		return take_body(x, upload, upload_size);
	}
	enter(conn, CONNECTION_ANSWER);
	return answer(conn, x);
}

static void *begin(void *cls, const char *target, struct MHD_Connection *conn)
{
	size_t bytes = strlen(target) + 1;
	struct exchange *x = calloc(1, sizeof(*x) + bytes);

	(void)cls;
	(void)conn;
	if (x != NULL) {
		memcpy(x->target, target, bytes);
		x->target_end = (uintptr_t)target + bytes - 1;
	}
	return x;
}

static void end(void *cls, struct MHD_Connection *conn, void **con_cls,
                enum MHD_RequestTerminationCode why)
{
	struct exchange *x = *con_cls;

	(void)cls;
	(void)why;
	enter(conn, CONNECTION_IDLE);
	if (x != NULL) {
		door_free(x->call);
		free(x->body);
		free(x);
	}
	*con_cls = NULL;
}

__attribute__((format(printf, 2, 0))) static void log_library(void *cls, const char *fmt,
                                                              va_list ap)
{
	char text[256];

	(void)cls;
	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\r\n")] = '\0';
	text_printable(text);
	log_debug(me, "libmicrohttpd: %s", text);
}

/* ---- certificates ---- */

/* A PEM file as a text in the arena. \param secret  Others must not be able to read it. */
static int read_pem(const char *path, const char *what, bool secret, struct arena *a,
                    const char **ret_why, const char **ret)
{
	const struct text_file_kind kind = { .what = what,
		                             .max_bytes = 1 << 20,
		                             .text_only = true };
	struct diags *d = arena_alloc(a, sizeof(*d));
	char *text = NULL;
	struct stat st;
	size_t len;
	int err;

	if (d == NULL) {
		return -ENOMEM;
	}
	if (secret && stat(path, &st) == 0 && (st.st_mode & 027) != 0) {
		*ret_why =
			arena_printf(a,
		                     "%s: mode %04o: others can read or change this key; "
		                     "chmod 0640 it",
		                     path, (unsigned)st.st_mode & 07777);
		return E_SYNTAX;
	}
	diags_init(d, a);
	err = text_file_read(path, &kind, d, &text, &len);
	if (err == E_OK && text == NULL) {
		err = -ENOENT;
	}
	if (err != E_OK) {
		*ret_why = arena_printf(a, "%s: %s", path, diags_first_error(d));
		return err;
	}
	*ret = arena_strdup(a, text);
	gnutls_memset(text, 0, len);
	free(text);
	return *ret != NULL ? E_OK : -ENOMEM;
}

/* Adds a name to a list. One that a list cannot hold, or that would stand for all names, is none
 * that a Host header has. \return NULL: out of memory. */
static const char *add_name(const char *list, const char *name, struct arena *a)
{
	return list == NULL || strpbrk(name, " ,*") != NULL || name[0] == '\0'
	               ? list
	               : arena_printf(a, "%s%s%s", list, list[0] != '\0' ? "," : "", name);
}

/* Adds the names of the first certificate of a text. \return NULL: out of memory. */
static const char *names_of(const char *pem, const char *list, struct arena *a)
{
	const gnutls_datum_t in = { (unsigned char *)pem, (unsigned)strlen(pem) };
	gnutls_x509_crt_t crt;
	char name[256];

	if (gnutls_x509_crt_init(&crt) != 0) {
		return list;
	}
	if (gnutls_x509_crt_import(crt, &in, GNUTLS_X509_FMT_PEM) == 0) {
		size_t room = sizeof(name);

		if (gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
		                                  name, &room) == 0) {
			list = add_name(list, name, a);
		}
		for (unsigned i = 0; i < NAMES_MAX; i++) {
			room = sizeof(name) - 1;
			int type = gnutls_x509_crt_get_subject_alt_name(crt, i, name,
			                                                &room, NULL);
			if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) {
				break;
			}
			if (type == GNUTLS_SAN_DNSNAME) {
				name[room] = '\0';
				list = add_name(list, name, a);
			}
		}
	}
	gnutls_x509_crt_deinit(crt);
	return list;
}

int admin_http_names(const char *certificate, const char *further, struct arena *a,
                     const char **ret_why, const char **ret)
{
	const char *names = further != NULL ? further : "";
	const char *pem = NULL;
	int err = E_OK;

	*ret_why = err_text(-ENOMEM);
	if (certificate != NULL) {
		err = read_pem(certificate, "a certificate", false, a, ret_why, &pem);
	}
	if (err == E_OK && pem != NULL) {
		names = names_of(pem, names, a);
		err = names != NULL ? E_OK : -ENOMEM;
	}
	if (err == E_OK) {
		*ret = names;
	}
	return err;
}

/* ---- begin and end ---- */

static int listen_there(struct admin_http *h, const struct admin_http_options *o,
                        struct arena *a, const char **ret_why)
{
	int err;

	if (strchr(o->listen, '/') != NULL) {
		err = listen_on_path(o->listen, "--listen", a, ret_why, &h->listening);
		if (err == E_OK) {
			h->path = arena_strdup(a, o->listen);
			snprintf(h->address, sizeof(h->address), "unix:%s", o->listen);
		}
		return err;
	}
	err = listen_on(o->listen, "--listen", a, ret_why, &h->listening);
	if (err == E_OK) {
		snprintf(h->address, sizeof(h->address), "https://%s",
		         h->listening.address);
	}
	return err;
}

static int start_daemon(struct admin_http *h, const struct admin_http_options *o,
                        struct arena *a, const char **ret_why)
{
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
	                 MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[6];
	const char *certificate = NULL, *key = NULL, *ca = NULL;
	unsigned n = 0;
	int err = E_OK;

	if (h->path == NULL) {
		flags |= MHD_USE_TLS;
		err = read_pem(o->certificate, "a certificate", false, a, ret_why,
		               &certificate);
		if (err == E_OK) {
			err = read_pem(o->key, "a private key", true, a, ret_why, &key);
		}
		if (err == E_OK && o->client_ca != NULL) {
			err = read_pem(o->client_ca, "certificates of those who sign",
			               false, a, ret_why, &ca);
		}
		if (err != E_OK) {
			return err;
		}
		tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0,
			                            (void *)certificate };
		tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0,
			                            (void *)key };
		tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0,
			                            (void *)priorities };
		if (ca != NULL) {
			tls[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_TRUST, 0,
				                            (void *)ca };
		}
	}
	tls[n] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	/* clang-format off */
	h->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, h,
		MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
		MHD_OPTION_LISTEN_SOCKET, h->listening.fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)o->connections + SPARE,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
		MHD_OPTION_STRICT_FOR_CLIENT, (int)STRICT_LEVEL,
		MHD_OPTION_URI_LOG_CALLBACK, begin, h,
		MHD_OPTION_NOTIFY_COMPLETED, end, h,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
		MHD_OPTION_ARRAY, tls,
		MHD_OPTION_END);
	/* clang-format on */
	if (h->daemon == NULL) {
		*ret_why = h->path == NULL
		                   ? arena_printf(a,
		                                  "cannot start the server; do the "
		                                  "certificate %s and the key %s belong "
		                                  "together?",
		                                  o->certificate, o->key)
		                   : "cannot start the server";
		return E_SYNTAX;
	}
	return E_OK;
}

int admin_http_start(const struct admin_http_options *o, struct arena *a,
                     const char **ret_why, struct admin_http **ret)
{
	struct admin_http *h = calloc(1, sizeof(*h));
	int err;

	*ret_why = err_text(-ENOMEM);
	if (h == NULL) {
		return -ENOMEM;
	}
	h->listening.fd = -1;
	h->door = o->door;
	h->wants_certificates = o->client_ca != NULL;
	json_object_seed(0); /* before threads make objects */
	err = listen_there(h, o, a, ret_why);
	if (err == E_OK) {
		const uint32_t ms = o->request_s * 1000;
		const struct connections_options places = {
			.most = o->connections,
			.spare = SPARE,
			.per_address = h->path == NULL ? o->per_address : 0,
			.fresh_ms = ms,
			.idle_ms = ms,
			.body_ms = ms,
			.answer_ms = ms,
			.has_users = true,
		};

		err = connections_new(&places, &h->connections);
	}
	if (err == E_OK) {
		err = start_daemon(h, o, a, ret_why);
	}
	if (err != E_OK) {
		admin_http_stop(h);
		return err;
	}
	*ret = h;
	return E_OK;
}

void admin_http_stop(struct admin_http *h)
{
	if (h == NULL) {
		return;
	}
	if (h->daemon != NULL) {
		MHD_stop_daemon(h->daemon); /* closes the listening socket, too */
	} else if (h->listening.fd >= 0) {
		close(h->listening.fd);
	}
	connections_free(h->connections);
	if (h->path != NULL) {
		unlink(h->path);
	}
	free(h);
}

const char *admin_http_address(const struct admin_http *h)
{
	return h->address;
}

unsigned admin_http_port(const struct admin_http *h)
{
	return h->path == NULL ? h->listening.port : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/httpd/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"

static const char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

enum { NAMES_MAX = 256 };

/* A PEM file as a text in the arena. \param secret  Others must not be able to read it. */
static int read_pem(const char *path, const char *what, bool secret, struct arena *a,
                    const char **ret_why, const char **ret_text)
{
	const struct text_file_kind kind = { .what = what,
		                             .max_bytes = 1 << 20,
		                             .text_only = true };
	struct diags *d = arena_alloc(a, sizeof(*d));
	char *text = NULL;
	struct stat st;
	size_t len;
	int ret;

	if (d == NULL) {
		return -ENOMEM;
	}
	if (secret && stat(path, &st) == 0 && (st.st_mode & 027) != 0) {
		*ret_why = arena_printf(
			a,
			"%s: mode %04o: others can read or change this key; chmod 0640 it",
			path, (unsigned)st.st_mode & 07777);
		return E_SYNTAX;
	}
	diags_init(d, a);
	ret = text_file_read(path, &kind, d, &text, &len);
	if (ret == E_OK && text == NULL) {
		ret = -ENOENT;
	}
	if (ret != E_OK) {
		*ret_why = arena_printf(a, "%s: %s", path, diags_first_error(d));
		return ret;
	}
	*ret_text = arena_strdup(a, text);
	gnutls_memset(text, 0, len);
	free(text);
	return *ret_text != NULL ? E_OK : -ENOMEM;
}

int tls_options(const struct tls_files *f, struct arena *a, const char **ret_why,
                struct MHD_OptionItem ret_options[TLS_OPTIONS])
{
	const struct {
		enum MHD_OPTION option;
		const char *path, *what;
		bool secret;
	} files[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, f->certificate, "a certificate", false },
		{ MHD_OPTION_HTTPS_MEM_KEY, f->key, "a private key", true },
		{ MHD_OPTION_HTTPS_MEM_TRUST, f->client_ca,
		  "certificates of those who sign", false },
	};
	unsigned n = 0;

	*ret_why = err_text(-ENOMEM);
	ret_options[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0,
		                                    (void *)priorities };
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *text = NULL;

		if (files[i].path == NULL) {
			continue;
		}
		int ret = read_pem(files[i].path, files[i].what, files[i].secret, a,
		                   ret_why, &text);
		if (ret != E_OK) {
			return ret;
		}
		ret_options[n++] =
			(struct MHD_OptionItem){ files[i].option, 0, (void *)text };
	}
	ret_options[n] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	return E_OK;
}

bool tls_client_name(struct MHD_Connection *conn, char *ret_text, size_t room)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT
	};
	unsigned status = 1, n = 0;
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
	       gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
	                                     ret_text, &room) == 0;
	gnutls_x509_crt_deinit(crt);
	return good;
}

/* Adds a name to a list. One that a list cannot hold, or that would stand for all names, is none
 * that a Host header has. \return NULL: out of memory. */
static const char *add_name(const char *list, const char *name, struct arena *a)
{
	return list == NULL || strpbrk(name, " ,*") != NULL || name[0] == '\0'
	               ? list
	               : arena_printf(a, "%s%s%s", list, list[0] != '\0' ? "," : "",
	                              name);
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

int tls_names(const char *certificate, const char *further, struct arena *a,
              const char **ret_why, const char **ret_text)
{
	const char *names = further != NULL ? further : "";
	const char *pem = NULL;
	int ret = E_OK;

	*ret_why = err_text(-ENOMEM);
	if (certificate != NULL) {
		ret = read_pem(certificate, "a certificate", false, a, ret_why, &pem);
	}
	if (ret == E_OK && pem != NULL) {
		names = names_of(pem, names, a);
		ret = names != NULL ? E_OK : -ENOMEM;
	}
	if (ret == E_OK) {
		*ret_text = names;
	}
	return ret;
}

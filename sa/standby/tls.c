/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/standby/tls.h"

#include <config.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"

#ifdef HAVE_GNUTLS

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

/* Only key exchanges that need the secret and give each connection keys of its own. */
static const char priorities[] =
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-PSK:+DHE-PSK";
static const char identity[] = "saguaro";

struct tls_keys {
	unsigned char key[32]; /* SHA-256 of the secret */
	gnutls_psk_server_credentials_t server;
	gnutls_psk_client_credentials_t client;
	gnutls_priority_t priority;
};

struct tls {
	gnutls_session_t session;
	bool again; /* it holds bytes that the socket did not take */
};

/* Called for a client's identity. GnuTLS frees the key. */
static int on_identity(gnutls_session_t session, const char *name, gnutls_datum_t *key)
{
	const struct tls_keys *k = gnutls_session_get_ptr(session);

	if (strcmp(name, identity) != 0) {
		return -1;
	}
	key->data = gnutls_malloc(sizeof(k->key));
	if (key->data == NULL) {
		return -1;
	}
	memcpy(key->data, k->key, sizeof(k->key));
	key->size = sizeof(k->key);
	return 0;
}

int tls_keys_new(const uint8_t *secret, size_t len, struct tls_keys **ret_keys)
{
	struct tls_keys *k = calloc(1, sizeof(*k));

	if (k == NULL) {
		return -ENOMEM;
	}
	const gnutls_datum_t key = { k->key, sizeof(k->key) };
	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, secret, len, k->key) != 0 ||
	    gnutls_psk_allocate_server_credentials(&k->server) != 0 ||
	    gnutls_psk_allocate_client_credentials(&k->client) != 0 ||
	    gnutls_psk_set_client_credentials(k->client, identity, &key,
	                                      GNUTLS_PSK_KEY_RAW) != 0 ||
	    gnutls_priority_init(&k->priority, priorities, NULL) != 0) {
		tls_keys_free(k);
		return -ENOMEM;
	}
	gnutls_psk_set_server_credentials_function(k->server, on_identity);
	*ret_keys = k;
	return E_OK;
}

void tls_keys_free(struct tls_keys *k)
{
	if (k == NULL) {
		return;
	}
	if (k->priority != NULL) {
		gnutls_priority_deinit(k->priority);
	}
	if (k->server != NULL) {
		gnutls_psk_free_server_credentials(k->server);
	}
	if (k->client != NULL) {
		gnutls_psk_free_client_credentials(k->client);
	}
	gnutls_memset(k->key, 0, sizeof(k->key));
	free(k);
}

int tls_new(const struct tls_keys *k, int fd, bool server, struct tls **ret_tls)
{
	const unsigned flags = (server ? GNUTLS_SERVER : GNUTLS_CLIENT) |
	                       GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS;
	struct tls *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		return -ENOMEM;
	}
	if (gnutls_init(&t->session, flags) != 0) {
		free(t);
		return -ENOMEM;
	}
	gnutls_session_set_ptr(t->session, (void *)k);
	if (gnutls_priority_set(t->session, k->priority) != 0 ||
	    gnutls_credentials_set(t->session, GNUTLS_CRD_PSK,
	                           server ? (void *)k->server : (void *)k->client) != 0) {
		tls_free(t);
		return -ENOMEM;
	}
	gnutls_transport_set_int(t->session, fd);
	*ret_tls = t;
	return E_OK;
}

void tls_free(struct tls *t)
{
	if (t != NULL) {
		gnutls_deinit(t->session);
		free(t);
	}
}

static bool is_again(ssize_t ret)
{
	return ret == GNUTLS_E_AGAIN || ret == GNUTLS_E_INTERRUPTED;
}

int tls_handshake(struct tls *t, const char **ret_why)
{
	int ret;

	do { /* warnings do not end it */
		ret = gnutls_handshake(t->session);
	} while (ret < 0 && !is_again(ret) && gnutls_error_is_fatal(ret) == 0);
	if (ret == 0) {
		return E_OK;
	}
	if (is_again(ret)) {
		return -EAGAIN;
	}
	*ret_why = gnutls_strerror(ret);
	return -EPROTO;
}

ssize_t tls_read(struct tls *t, void *to, size_t len)
{
	ssize_t n = gnutls_record_recv(t->session, to, len);

	return n >= 0 ? n : is_again(n) ? -EAGAIN : -EPROTO;
}

ssize_t tls_write(struct tls *t, const void *from, size_t len)
{
	size_t taken = 0;
	ssize_t n;

	do { /* a call takes one record */
		n = t->again ? gnutls_record_send(t->session, NULL, 0)
		             : gnutls_record_send(t->session, (const char *)from + taken,
		                                  len - taken);
		t->again = is_again(n);
		taken += n > 0 ? (size_t)n : 0;
	} while (n > 0 && taken < len);
	return taken > 0 ? (ssize_t)taken : t->again ? -EAGAIN : -EPROTO;
}

bool tls_wants_write(const struct tls *t)
{
	return gnutls_record_get_direction(t->session) == 1;
}

#else

int tls_keys_new(const uint8_t *secret, size_t len, struct tls_keys **ret_keys)
{
	(void)secret;
	(void)len;
	(void)ret_keys;
	return -ENOTSUP;
}

void tls_keys_free(struct tls_keys *k)
{
	(void)k;
}

int tls_new(const struct tls_keys *k, int fd, bool server, struct tls **ret_tls)
{
	(void)k;
	(void)fd;
	(void)server;
	(void)ret_tls;
	return -ENOTSUP;
}

void tls_free(struct tls *t)
{
	(void)t;
}

int tls_handshake(struct tls *t, const char **ret_why)
{
	(void)t;
	(void)ret_why;
	return -EPROTO;
}

ssize_t tls_read(struct tls *t, void *to, size_t len)
{
	(void)t;
	(void)to;
	(void)len;
	return -EPROTO;
}

ssize_t tls_write(struct tls *t, const void *from, size_t len)
{
	(void)t;
	(void)from;
	(void)len;
	return -EPROTO;
}

bool tls_wants_write(const struct tls *t)
{
	(void)t;
	return false;
}

#endif

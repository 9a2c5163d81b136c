/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/admin/secret.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"

static const char yescrypt[] = "$y$";
/* Of no secret; it makes a wrong name cost as much as a wrong secret. */
static const char nobody[] =
	"$y$j9T$AAAAAAAAAAAAAAAAAAAAA.$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/";

int secret_make(char ret_secret[SECRET_BYTES])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t bytes[43]; /* five bits and 42 times six */

	if (gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof(bytes)) != 0) {
		return -EIO;
	}
	for (size_t i = 0; i < sizeof(bytes); i++) {
		/* The first one is a letter, so that no program takes it for an option. */
		ret_secret[i] = digits[bytes[i] & (i == 0 ? 31 : 63)];
	}
	ret_secret[sizeof(bytes)] = '\0';
	gnutls_memset(bytes, 0, sizeof(bytes));
	return E_OK;
}

/* crypt(3) of the secret. NULL: failed. The caller frees. */
static struct crypt_data *run_crypt(const char *secret, const char *setting)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	char *out = data != NULL ? crypt_r(secret, setting, data) : NULL;

	if (out == NULL || out[0] == '*') {
		free(data);
		return NULL;
	}
	return data;
}

static void free_crypt(struct crypt_data *data)
{
	if (data != NULL) {
		gnutls_memset(data, 0, sizeof(*data));
		free(data);
	}
}

int secret_hash(const char *secret, char ret_hash[SECRET_HASH_BYTES])
{
	char setting[CRYPT_GENSALT_OUTPUT_SIZE], salt[32];
	struct crypt_data *data;

	if (gnutls_rnd(GNUTLS_RND_KEY, salt, sizeof(salt)) != 0) {
		return -EIO;
	}
	if (crypt_gensalt_rn(yescrypt, 0, salt, sizeof(salt), setting, sizeof(setting)) ==
	    NULL) {
		return -ENOSYS;
	}
	data = run_crypt(secret, setting);
	if (data == NULL || strlen(data->output) >= SECRET_HASH_BYTES) {
		free_crypt(data);
		return -ENOSYS;
	}
	strcpy(ret_hash, data->output);
	free_crypt(data);
	return E_OK;
}

bool secret_is_hash(const char *hash)
{
	/* yescrypt, gost-yescrypt, scrypt, bcrypt, SHA-512: the methods that crypt(5)
	 * recommends for new hashes or calls acceptable */
	static const char *const methods[] = { "$y$", "$gy$", "$7$", "$2b$", "$6$" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strncmp(hash, methods[i], strlen(methods[i])) == 0) {
			/* 60 bytes are those of bcrypt; the others are longer */
			return strlen(hash) >= 60 && strlen(hash) < SECRET_HASH_BYTES &&
			       crypt_checksalt(hash) == CRYPT_SALT_OK;
		}
	}
	return false;
}

bool secret_same(const void *a, const void *b, size_t len)
{
	return gnutls_memcmp(a, b, len) == 0;
}

bool secret_matches(const char *secret, const char *hash)
{
	struct crypt_data *data = run_crypt(secret, hash);
	size_t len = strlen(hash);
	bool same = data != NULL && strlen(data->output) == len &&
	            secret_same(data->output, hash, len);

	free_crypt(data);
	return same;
}

bool secret_mismatch(const char *secret)
{
	(void)secret_matches(secret, nobody);
	return false;
}

int secret_mac(const uint8_t key[SECRET_MAC_BYTES], const char *secret,
               uint8_t ret_mac[SECRET_MAC_BYTES])
{
	return gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, SECRET_MAC_BYTES, secret,
	                        strlen(secret), ret_mac) == 0
	               ? E_OK
	               : -EIO;
}

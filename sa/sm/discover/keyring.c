/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/discover/keyring.h"

#include <config.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef HAVE_GNUTLS
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#endif

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "conf/base/vector.h"
#include "sa/mad/fields.h"

/* --- keys of ports ---------------------------------------------------------------- */

#ifdef HAVE_GNUTLS

/* The root of all keys. A host knows the key of its own port, so guessing m_key by it has to be
 * slow: m_key has 64 bits only. */
static int derive_root(struct keyring *k)
{
	static unsigned char label[] = "saguaro: M_Keys of ports";
	uint8_t secret[8];
	const gnutls_datum_t key = { secret, sizeof(secret) };
	const gnutls_datum_t salt = { label, sizeof(label) - 1 };

	field_set(secret, 0, 64, k->m_key);
	return gnutls_pbkdf2(GNUTLS_MAC_SHA256, &key, &salt, KEYRING_ROOT_ROUNDS, k->root,
	                     sizeof(k->root)) == 0
	               ? E_OK
	               : -ENOMEM;
}

static uint64_t key_of_port(const struct keyring *k, uint64_t guid)
{
	uint8_t text[8], digest[32] = { 0 };
	uint64_t key;

	field_set(text, 0, 64, guid);
	/* It fails only for an unknown algorithm, which SHA-256 is not. */
	(void)gnutls_hmac_fast(GNUTLS_MAC_SHA256, k->root, sizeof(k->root), text,
	                       sizeof(text), digest);
	key = field_get(digest, 0, 64);
	return key != 0 ? key : 1; /* 0 would protect nothing */
}

#else

static int derive_root(struct keyring *k)
{
	(void)k;
	return E_UNKNOWN;
}

static uint64_t key_of_port(const struct keyring *k, uint64_t guid)
{
	(void)guid;
	return k->m_key;
}

#endif

int keyring_configure(struct keyring *k, uint64_t m_key, uint64_t m_key_old, bool per_port)
{
	bool derive = per_port && m_key != 0 && (!k->per_port || k->m_key != m_key);

	k->others_known &= k->m_key == m_key && k->per_port == per_port;
	k->shared &= k->m_key == m_key;
	k->m_key = m_key;
	k->m_key_old = m_key_old;
	k->per_port = per_port;
	return derive ? derive_root(k) : E_OK;
}

uint64_t keyring_wanted(const struct keyring *k, uint64_t guid)
{
	return k->per_port && k->m_key != 0 ? key_of_port(k, guid) : k->m_key;
}

/* --- notes ------------------------------------------------------------------------ */

uint64_t keyring_held(const struct keyring *k, uint64_t guid)
{
	uint32_t i = hash_get(&k->by_guid, guid);

	return i != HASH_NONE ? k->notes[i].key : keyring_wanted(k, guid);
}

bool keyring_is_own(const struct keyring *k, uint64_t guid)
{
	return k->per_port && k->m_key != 0 &&
	       keyring_held(k, guid) == keyring_wanted(k, guid);
}

int keyring_note(struct keyring *k, uint64_t guid, uint64_t key)
{
	uint32_t i = hash_get(&k->by_guid, guid);

	if (guid == 0 || (i == HASH_NONE && key == 0)) {
		return E_OK;
	}
	if (i == HASH_NONE) {
		if (VECTOR_RESERVE(k->notes, k->cap_notes, k->n_notes + 1) != E_OK ||
		    hash_put(&k->by_guid, guid, k->n_notes) != E_OK) {
			return -ENOMEM;
		}
		i = k->n_notes++;
		k->notes[i] = (struct key_note){ .guid = guid };
	}
	if (k->notes[i].key != key) {
		k->changed = true;
		k->others_known = false;
	}
	k->notes[i].key = key;
	return E_OK;
}

static void add_candidate(uint64_t ret_keys[KEYRING_TRIES], unsigned *n, uint64_t key)
{
	bool there = key == 0 || *n == KEYRING_TRIES;

	for (unsigned i = 0; i < *n; i++) {
		there |= ret_keys[i] == key;
	}
	if (!there) {
		ret_keys[(*n)++] = key;
	}
}

/* Trying a key shows it to who is asked. So only keys that several ports have, which many know
 * then, are tried on ports that need not have them. Out of memory there are none. */
static void find_others(struct keyring *k)
{
	struct hash_table seen = { 0 };

	k->n_others = 0;
	for (uint32_t i = 0; i < k->n_notes && k->n_others < KEYRING_TRIES; i++) {
		const struct key_note *n = &k->notes[i];

		if (n->key == keyring_wanted(k, n->guid)) {
			continue;
		}
		if (hash_get(&seen, n->key) != HASH_NONE) {
			add_candidate(k->others, &k->n_others, n->key);
		} else if (hash_put(&seen, n->key, i) != E_OK) {
			break;
		}
	}
	hash_done(&seen);
	k->others_known = true;
}

unsigned keyring_candidates(struct keyring *k, uint64_t guid, bool own,
                            uint64_t ret_keys[KEYRING_TRIES])
{
	unsigned n = 0;

	if (!k->others_known) {
		find_others(k);
	}

	if (guid != 0) {
		add_candidate(ret_keys, &n, keyring_held(k, guid));
		add_candidate(ret_keys, &n, keyring_wanted(k, guid));
	}
	if (!k->per_port || k->shared || own) {
		add_candidate(ret_keys, &n, k->m_key);
	}
	add_candidate(ret_keys, &n, k->m_key_old);
	for (unsigned i = 0; i < k->n_others; i++) {
		add_candidate(ret_keys, &n, k->others[i]);
	}
	return n;
}

bool keyring_next(struct keyring *k, unsigned *tried, uint64_t *ret_key)
{
	uint64_t keys[KEYRING_TRIES];
	unsigned n = keyring_candidates(k, 0, false, keys);

	if (*tried == 0 && n > 0 && !k->per_port && keys[0] == k->m_key) {
		++*tried;
	}
	if (*tried >= n) {
		return false;
	}
	*ret_key = keys[(*tried)++];
	return true;
}

bool keyring_is_hidden(const uint8_t *port_info)
{
	return field_get(port_info, PI_M_KEY) == 0 &&
	       field_get(port_info, PI_M_KEY_PROTECT_BITS) == 1;
}

/* --- the file --------------------------------------------------------------------- */

/* One line, NUL-terminated. \return false: it is none. */
static bool parse_line(char *line, uint64_t *ret_guid, uint64_t *ret_key)
{
	char *save = NULL;
	const char *guid = strtok_r(line, " \t\r", &save);
	const char *key = strtok_r(NULL, " \t\r", &save);

	return guid != NULL && key != NULL && strtok_r(NULL, " \t\r", &save) == NULL &&
	       text_u64(guid, UINT64_MAX, ret_guid) == E_OK && *ret_guid != 0 &&
	       text_u64(key, UINT64_MAX, ret_key) == E_OK;
}

/* Reads all lines. With \a add they are noted, else only checked. */
static int take_lines(struct keyring *k, const char *path, const char *text, size_t len,
                      bool add, struct diags *d)
{
	int ret = E_OK;
	unsigned line = 0;

	for (size_t at = 0; at < len && ret != -ENOMEM;) {
		const char *from = text + at;
		size_t n = text_line(text, len, &at);
		uint64_t guid = 0, key = 0;
		char copy[128];

		line++;
		snprintf(copy, sizeof(copy), "%.*s", (int)(n < 127 ? n : 127), from);
		if (copy[strspn(copy, " \t\r")] == '\0' ||
		    copy[strspn(copy, " \t")] == '#') {
			continue;
		}
		if (n >= sizeof(copy) || !parse_line(copy, &guid, &key)) {
			diag_add(d, DIAG_ERROR, path, line,
			         "expected a port GUID and its M_Key, two numbers");
			ret = E_SYNTAX;
		} else if (add && hash_get(&k->by_guid, guid) == HASH_NONE) {
			ret = keyring_note(k, guid, key);
		}
	}
	return ret;
}

int keyring_read(struct keyring *k, const char *path, const char *text, size_t len,
                 struct diags *d)
{
	int ret = take_lines(k, path, text, len, false, d);

	return ret == E_OK ? take_lines(k, path, text, len, true, d) : ret;
}

static int compare_notes(const void *a, const void *b)
{
	const struct key_note *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

void keyring_write(struct keyring *k, FILE *f)
{
	if (k->n_notes > 0) {
		qsort(k->notes, k->n_notes, sizeof(*k->notes), compare_notes);
	}
	hash_clear(&k->by_guid);
	for (uint32_t i = 0; i < k->n_notes; i++) {
		(void)hash_put(&k->by_guid, k->notes[i].guid, i); /* there is room */
		if (k->notes[i].key != 0) {
			fprintf(f, "0x%016" PRIx64 " 0x%016" PRIx64 "\n\n",
			        k->notes[i].guid, k->notes[i].key);
		}
	}
	k->changed = false;
}

int keyring_load(struct keyring *k, const char *path, struct diags *d)
{
	static const struct text_file_kind kind = { .what = "a guid2mkey file",
		                                    .max_bytes = 64 << 20,
		                                    .text_only = true };
	struct stat st;
	char *text = NULL;
	size_t len = 0;
	int ret = E_OK;

	if (text_file_is_missing(path)) {
		return E_OK;
	}
	if (stat(path, &st) == 0 && (st.st_mode & 077) != 0) {
		diag_add(
			d, DIAG_WARNING, path, 0,
			"M_Keys are in this file, and its mode %04o lets others read them; chmod 0600 it",
			(unsigned)st.st_mode & 07777);
	}
	ret = text_file_read(path, &kind, d, &text, &len);
	if (ret == E_OK) {
		ret = keyring_read(k, path, text, len, d);
	}
	if (text != NULL) {
		explicit_bzero(text, len);
	}
	free(text);
	return ret;
}

int keyring_save(struct keyring *k, const char *path)
{
	size_t len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);
	int ret = f == NULL ? -ENOMEM : E_OK;

	if (f != NULL) {
		keyring_write(k, f);
		ret = fclose(f) == 0 ? text_file_replace(path, text, len) : -ENOMEM;
	}
	if (text != NULL) {
		explicit_bzero(text, len);
	}
	free(text);
	k->changed |= ret != E_OK;
	return ret;
}

void keyring_done(struct keyring *k)
{
	if (k->notes != NULL) {
		explicit_bzero(k->notes, k->cap_notes * sizeof(*k->notes));
	}
	free(k->notes);
	hash_done(&k->by_guid);
	explicit_bzero(k, sizeof(*k));
}

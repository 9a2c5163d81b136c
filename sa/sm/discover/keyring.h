/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "conf/base/hash.h"

struct diags;

enum { KEYRING_TRIES = 6, KEYRING_ROOT_ROUNDS = 100000 };

/*!
 * M_Keys: which one each end port should hold, and which one it holds as far as that is known.
 *
 * A port should hold a key of its own, or without m_key_per_port the m_key of the configuration.
 * Keys of ports are derived from m_key and the PortGUID, so that another subnet manager with the same
 * configuration has the same keys without being told. m_key itself is shown to no port then, unless
 * our own one holds it: a subnet manager before us gave it to all ports.
 *
 * The key of a port is noted whenever its PortInfo shows it. The notes outlive the process in
 * a file in the format of OpenSM's guid2mkey, so that ports can still be changed after the operator
 * chose another key, or after another subnet manager chose one. A line is a PortGUID and a key,
 * "0x<16 digits> 0x<16 digits>", with an empty line behind it.
 *
 * Keys are never written to a log or to \a diags.
 *
 * Source: IBA vol. 1, 14.2.4 (M_Key), 14.2.5.6 (PortInfo); OpenSM 3.3.23, files of its cache folder.
 */
struct keyring {
	uint64_t m_key;   /*!< of the configuration, 0: ports are not protected */
	bool per_port;    /*!< each port has a key of its own */
	uint64_t m_key_old; /*!< that ports may hold from before; 0: none */
	bool shared; /*!< with per_port: our own port held m_key itself, as all do then; so hosts may know it */
	uint8_t root[32]; /*!< what keys of ports are derived from */
	struct key_note {
		uint64_t guid, key;
	} * notes; /*!< [n_notes] malloc */
	uint32_t n_notes;
	size_t cap_notes;
	struct hash_table by_guid; /*!< index in notes */
	uint64_t others
		[KEYRING_TRIES]; /*!< keys that several ports hold and should not; a cache */
	unsigned n_others;
	bool others_known;
	bool changed; /*!< since keyring_write() */
};

/*!
 * \brief Takes the key of the configuration. The notes stay.
 * \retval E_UNKNOWN  per_port, and the program is built without GnuTLS.
 * Cost: with \a per_port about 0.05 s when the key changes, which makes guessing it slow.
 */
int keyring_configure(struct keyring *k, uint64_t m_key, uint64_t m_key_old, bool per_port);

/*! \brief The key that a port should hold; 0: none. */
uint64_t keyring_wanted(const struct keyring *k, uint64_t guid);

/*! \brief The key that a port holds as far as known, else the wanted one. */
uint64_t keyring_held(const struct keyring *k, uint64_t guid);

/*! \brief Does a port hold the key that it should, and is it of no use elsewhere? Only such a key is
 *  shown to a program on its host. */
bool keyring_is_own(const struct keyring *k, uint64_t guid);

/*! \brief Notes that a port holds a key; 0: it is not protected. \retval -ENOMEM */
int keyring_note(struct keyring *k, uint64_t guid, uint64_t key);

/*!
 * \brief Keys that a port may hold which hides it, the most likely ones first.
 * \param guid  0: not known, as of a node that does not answer at all.
 * \param own   It is our own port, whose host knows m_key.
 * \return How many. Cost: O(ports) after a note changed, else O(1).
 */
unsigned keyring_candidates(struct keyring *k, uint64_t guid, bool own,
                            uint64_t ret_keys[KEYRING_TRIES]);

/*!
 * \brief The key with which a node is asked next that did not answer without a key, or with that of
 *        the configuration if there is one for all ports.
 * \param tried  0 at first; counts.
 * \return false: there is none left. Cost: that of keyring_candidates().
 */
bool keyring_next(struct keyring *k, unsigned *tried, uint64_t *ret_key);

/*! \brief Does this PortInfo hide an M_Key? So do ports without one whose protection is set. */
bool keyring_is_hidden(const uint8_t *port_info);

/*!
 * \brief Adds what a guid2mkey file says about ports that have no note yet.
 * \param path  Of the text, for messages.
 * \retval E_SYNTAX  A line is none; all such lines are in \a d, without the key. Nothing is added.
 * \retval -ENOMEM
 */
int keyring_read(struct keyring *k, const char *path, const char *text, size_t len,
                 struct diags *d);

/*! \brief Writes such a file. A failure shows in ferror(). */
void keyring_write(struct keyring *k, FILE *f);

/*!
 * \brief keyring_read() of a file; there may be none.
 * \retval E_SYNTAX -errno  As told in \a d, where is also said that others may read the file.
 */
int keyring_load(struct keyring *k, const char *path, struct diags *d);

/*! \brief keyring_write() to a file of mode 0600. \retval -errno -ENOMEM */
int keyring_save(struct keyring *k, const char *path);

/*! \brief Frees the notes and wipes all keys. Zeroed is fine. */
void keyring_done(struct keyring *k);

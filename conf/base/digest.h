/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*! Digest of memory contents in 64 bits, for use in one process. Different digests mean
 *  different contents. Equal digests mean equal contents, except with a chance of 1 in 2^64. */

/*! \brief Adds a number. */
static inline uint64_t digest_add(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/*! \brief Adds bytes and how many they are. */
static inline uint64_t digest_bytes(uint64_t h, const void *data, size_t len)
{
	enum { LANES = 4, LONG = 1024 };
	const uint8_t *p = data;
	uint64_t word;

	if (len >= LONG) { /* several at a time, because each step waits for the one before */
		uint64_t lane[LANES] = { h, 1, 2, 3 };

		for (; len >= sizeof(lane); len -= sizeof(lane), p += sizeof(lane)) {
			for (unsigned i = 0; i < LANES; i++) {
				memcpy(&word, p + i * sizeof(word), sizeof(word));
				lane[i] = digest_add(lane[i], word);
			}
		}
		h = lane[0];
		for (unsigned i = 1; i < LANES; i++) {
			h = digest_add(h, lane[i]);
		}
	}
	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = digest_add(h, word);
	}
	word = 0;
	if (len) {
		memcpy(&word, p, len);
	}
	return digest_add(h, word + len);
}

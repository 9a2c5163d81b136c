/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * Forwarding tables of a switch: LFT and port group forwarding table (PGFT), in blocks of 64 LIDs; multicast
 * forwarding table, in blocks of 8 masks of 64 ports; port group table (PGT), in blocks of 8 groups.
 *
 * Each LID has an egress port in the LFT, and may have a port group in the PGFT: the ports that adaptive routing may
 * put there instead (opa_adaptive.c).
 */

static int reserve_bytes(uint8_t **table, uint32_t *len, uint32_t want)
{
	if (want <= *len) {
		return E_OK;
	}
	uint8_t *grown = realloc(*table, want);
	if (grown == NULL) {
		return -ENOMEM;
	}
	memset(grown + *len, OPA_NO_PORT, want - *len);
	*table = grown;
	*len = want;
	return E_OK;
}

static uint32_t blocks_end(uint32_t entries)
{
	return (entries + OPA_BLOCK_BYTES - 1) / OPA_BLOCK_BYTES * OPA_BLOCK_BYTES;
}

int opa_lft_put(struct opa_device *d, uint32_t first, const uint8_t *ports, uint32_t n)
{
	int ret = reserve_bytes(&d->lft, &d->lft_len, blocks_end(first + n));

	if (ret == E_OK) {
		memcpy(d->lft + first, ports, n);
	}
	return ret;
}

uint8_t opa_route(const struct opa_device *d, uint32_t lid)
{
	return lid < d->lft_len && lid <= field_get(d->switch_info, OSI_LINEAR_FDB_TOP)
	               ? d->lft[lid]
	               : OPA_NO_PORT;
}

/* One of the two tables of a byte per LID. */
static uint16_t byte_table(struct opa_access *a, uint8_t **table, uint32_t *len,
                           uint32_t cap)
{
	const uint32_t block = a->mod & 0x3FFFF, n = opa_count(a);
	const bool all = a->set && (a->mod & OPA_MOD_ALL_BLOCKS);

	if (!a->d->is_switch) {
		return OPA_BAD_ATTRIBUTE;
	}
	/* bits 17:0 are the block; bit 18 is A, and a block above the capacity does not exist */
	if (n < 1 || (size_t)n * OPA_BLOCK_BYTES > a->room ||
	    (block + n) * OPA_BLOCK_BYTES > blocks_end(cap)) {
		return OPA_BAD_FIELD;
	}
	const uint32_t first = block * OPA_BLOCK_BYTES, bytes = n * OPA_BLOCK_BYTES;
	if (a->set) {
		const uint32_t end = all ? blocks_end(cap) : first + bytes;

		if (reserve_bytes(table, len, end) != E_OK) {
			return OPA_BAD_FIELD;
		}
		memcpy(*table + first, a->data, bytes);
		for (uint32_t at = first + bytes; at < end; at += OPA_BLOCK_BYTES) {
			memcpy(*table + at, a->data + bytes - OPA_BLOCK_BYTES,
			       OPA_BLOCK_BYTES);
		}
	} else {
		memset(a->data, OPA_NO_PORT, bytes);
		if (first < *len) {
			memcpy(a->data, *table + first,
			       first + bytes <= *len ? bytes : *len - first);
		}
	}
	a->len = bytes;
	return OPA_GOOD;
}

uint16_t opa_sma_linear_ft(struct opa_access *a)
{
	return byte_table(a, &a->d->lft, &a->d->lft_len, a->d->lft_cap);
}

uint16_t opa_sma_port_group_ft(struct opa_access *a)
{
	return byte_table(a, &a->d->pgft, &a->d->pgft_len, OPA_PGFT_CAP);
}

/* N | position 23:22 | A bit 20 | block 19:0 */
uint16_t opa_sma_multicast_ft(struct opa_access *a)
{
	const uint32_t n = opa_count(a), block = a->mod & 0xFFFFF,
		       position = a->mod >> 22 & 3;
	const uint32_t first = block * OPA_MASKS;

	if (!a->d->is_switch) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (n < 1 || (size_t)n * OPA_BLOCK_BYTES > a->room ||
	    first + n * OPA_MASKS > OPA_MFT_CAP || position * 64 > a->d->n_ports) {
		return OPA_BAD_FIELD;
	}
	if (a->d->mft[position] == NULL) {
		a->d->mft[position] = calloc(OPA_MFT_CAP, sizeof(uint64_t));
		if (a->d->mft[position] == NULL) {
			return OPA_BAD_FIELD;
		}
	}
	const uint32_t end = a->set && (a->mod & OPA_MOD_ALL_MFT) ? OPA_MFT_CAP
	                                                          : first + n * OPA_MASKS;
	for (uint32_t i = first; a->set && i < end; i++) {
		/* with A all further blocks get what the last one got */
		const uint32_t from = i - first < n * OPA_MASKS
		                              ? i - first
		                              : (n - 1) * OPA_MASKS + i % OPA_MASKS;

		a->d->mft[position][i] = field_get(a->data, 64 * from, 64);
	}
	for (uint32_t i = 0; i < n * OPA_MASKS; i++) {
		field_set(a->data, 64 * i, 64, a->d->mft[position][first + i]);
	}
	a->len = (size_t)n * OPA_BLOCK_BYTES;
	return OPA_GOOD;
}

/* N | position 23:22 | A bit 5 | block 4:0 */
uint16_t opa_sma_port_group_table(struct opa_access *a)
{
	const uint32_t n = opa_count(a), block = a->mod & 0x1F,
		       position = a->mod >> 22 & 3;
	const uint32_t first = block * OPA_MASKS;

	if (!a->d->is_switch) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (n < 1 || (size_t)n * OPA_BLOCK_BYTES > a->room ||
	    first + n * OPA_MASKS > OPA_PORT_GROUPS) {
		return OPA_BAD_FIELD;
	}
	const uint32_t end = a->set && (a->mod & OPA_MOD_ALL_GROUPS)
	                             ? OPA_PORT_GROUPS
	                             : first + n * OPA_MASKS;
	for (uint32_t i = first; a->set && i < end; i++) {
		const uint32_t from = i - first < n * OPA_MASKS
		                              ? i - first
		                              : (n - 1) * OPA_MASKS + i % OPA_MASKS;

		a->d->groups[i][position] = field_get(a->data, 64 * from, 64);
	}
	for (uint32_t i = 0; i < n * OPA_MASKS; i++) {
		field_set(a->data, 64 * i, 64, a->d->groups[first + i][position]);
	}
	a->len = (size_t)n * OPA_BLOCK_BYTES;
	return OPA_GOOD;
}

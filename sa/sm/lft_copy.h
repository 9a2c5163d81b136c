/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/guid_map.h"

/*!
 * What the switches' forwarding tables hold, as acknowledged or read back: kept by switch
 * GUID from sweep to sweep, so that only blocks that differ are ever sent.
 */
enum { LFT_BLOCK_LIDS = 64, LFT_BLOCKS = 0xC000 / LFT_BLOCK_LIDS, MFT_BLOCK_BYTES = 64 };

struct mft_copy {
	uint32_t mod; /*!< AttributeModifier: position << 28 | block */
	uint8_t data[MFT_BLOCK_BYTES]; /*!< wire order */
};

struct lft_copy {
	uint64_t guid;
	uint32_t top;               /*!< LinearFDBTop as acknowledged or read */
	uint8_t *block[LFT_BLOCKS]; /*!< 64 bytes, NULL: not known */
	uint8_t *lanes;             /*!< [n_lanes] by LID, as computed with the tables; NULL: not known */
	uint32_t n_lanes;
	struct mft_copy *mft;       /*!< [n_mft] known multicast blocks, by mod */
	size_t cap_mft;
	uint32_t n_mft;
};

struct lft_copies {
	struct lft_copy **items;
	size_t cap;
	uint32_t n;
	struct guid_map by_guid;
	uint8_t n_lanes; /*!< lanes of the routing that was programmed last; 0: not known */
};

/*! \brief Copy of a switch, made empty when there is none. NULL: out of memory. */
struct lft_copy *lft_copy_get(struct lft_copies *c, uint64_t guid);

/*! \brief Nothing is known of this switch any more (it was restarted). */
void lft_copy_forget(struct lft_copy *c);

/*! \brief Remembers a block. \retval -ENOMEM  The block is unknown then. */
int lft_copy_put(struct lft_copy *c, uint32_t block, const uint8_t *data);

/*! \brief The block is not known any more. */
void lft_copy_drop(struct lft_copy *c, uint32_t block);

/*! \brief Remembers the lane of each LID, or, NULL: nothing. \retval -ENOMEM  Nothing is known then. */
int lft_copy_put_lanes(struct lft_copy *c, const uint8_t *lanes, uint32_t n_lids);

/*! \brief The same of a multicast block. \return NULL: not known. Borrowed until the next change. */
struct mft_copy *mft_copy_find(const struct lft_copy *c, uint32_t mod);
int mft_copy_put(struct lft_copy *c, uint32_t mod, const uint8_t *data);
void mft_copy_drop(struct lft_copy *c, uint32_t mod);

void lft_copies_done(struct lft_copies *c);

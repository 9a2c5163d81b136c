/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/table/table.h"

struct arena;
struct disc_node;
struct smp;
struct smp_reply;
struct smp_request;
struct table_request;

/*!
 * Blocks of tables read and written. Each answer goes into the shadow copy:
 *
 *   Get or Set, good answer   the block is known, as the answer shows it
 *   Set, no or a bad answer   the block is unknown: it may or may not have arrived
 *   Get, no or a bad answer   the block is as it was
 *
 * A Set makes its block doubtful until it is answered. So a block whose Set was dropped, because a
 * sweep was given up, is sent again; and an answer that comes after the table was forgotten does not
 * count.
 */
struct table_io {
	struct smp *smp;
	struct table_store *store;
	struct arena *arena; /*!< of the requests that begin: until nothing is pending */
	unsigned retries;    /*!< tries after the first */
	/*! Each answer, good or bad, after the copy has it: counts and reports trouble. */
	void (*answered)(void *ctx, const struct table_request *q,
	                 const struct smp_reply *r);
	void *ctx;
	uint32_t n_sets[TABLE_KIND_COUNT]; /*!< Sets that were queued */
};

typedef void table_done_f(void *ctx, struct table_request *q, const struct smp_reply *r);

/*! A request for one block that waits for its answer. */
struct table_request {
	struct table_io *io;
	struct disc_node *node;
	struct table *t;
	uint32_t block;
	/*! Blocks, on Omni-Path: of one column in as many rows from there on if the rows are egress
	 *  ports, else those that follow. 0 is 1. */
	uint32_t n;
	table_done_f *done; /*!< after io->answered; NULL: none */
	void *ctx;
	uint32_t place; /*!< these two are used by table_io.c */
	struct table_request *next;
};

/*! \brief A table of the egress ports of a node. \return NULL: there is none, or it has another shape. */
struct table *table_find_egress(const struct table_store *s, enum table_kind_id kind,
                                const struct disc_node *n);

/*! \brief The same; a new one is empty. NULL: out of memory. */
struct table *table_get_egress(struct table_store *s, enum table_kind_id kind,
                               const struct disc_node *n);

/*! \brief Attribute, modifier, length and destination of a request for a block. */
void table_address(struct disc_node *n, const struct table *t, uint32_t block,
                   struct smp_request *ret_request);

/*! \brief AttributeModifier of a block. */
uint32_t table_mod(const struct disc_node *n, const struct table *t, uint32_t block);

/*! \brief Notes that a Set of a block begins. Those who submit it themselves call this. */
void table_begin_set(struct table_io *io, struct table *t, uint32_t block);

/*! \brief What an answer says of a block goes into the copy, as above. */
void table_take(struct table_store *s, const struct disc_node *n, struct table *t,
                uint32_t block, const struct smp_reply *r);

/*! \brief Bytes that a node has of a block; 0: it has no such block. */
size_t table_length(const struct disc_node *n, const struct table *t, uint32_t block);

/*! \brief Does a node hold these bytes of a block, as far as it has them and as is known? */
bool table_holds_at(const struct disc_node *n, const struct table *t, uint32_t block,
                    const uint8_t *want);

/*! \brief "Set(P_KeyTable)", as messages name it; in \a buf, which is returned. */
enum { TABLE_TEXT = 48 };
const char *table_request_text(const struct table_request *q, const struct smp_reply *r,
                               char buf[TABLE_TEXT]);

/*! \brief Port that a block belongs to; 0 for a table of the whole node. */
unsigned table_block_port(const struct table *t, uint32_t block);

/*! \brief Blocks of egress ports that one request has room for. 1: the kind shares none. */
unsigned table_run_most(enum table_kind_id kind);

/*! \brief The reply's bytes of block number \a i of a request; NULL: it has none. */
const uint8_t *table_reply_block(const struct table_request *q, const struct smp_reply *r,
                                 uint32_t i);

/*!
 * \brief Queues a request in the caller's memory.
 * \param set  Bytes of its blocks to be set, one behind the other; NULL: Get.
 * \retval -ENOMEM
 */
int table_submit(struct table_request *q, const uint8_t *set);

/*! \brief Queues a copy of a request, in io->arena. \retval -ENOMEM */
int table_ask(const struct table_request *q, const uint8_t *set);

/*! \brief Queues Gets of all unknown blocks of q->t. \param q  block is not used. \retval -ENOMEM */
int table_read(const struct table_request *q);

/*! \brief Queues Sets of all blocks of q->t that do not hold \a image. \retval -ENOMEM */
int table_write(const struct table_request *q, const uint8_t *image);

/*!
 * Goes over many blocks of one table with few requests in flight, so all nodes advance together and
 * no queue of blocks is ever built. A node that does not answer, or refuses a Set, is left alone
 * for the rest.
 */
struct table_cursor {
	struct table_request q; /*!< io, node, t, and what want() needs as ctx */
	uint32_t next, end;     /*!< places to look at; without want: blocks */
	unsigned in_flight;
	/*! Block and image of a place. \return false: there is nothing to do. NULL: Gets of unknown
	 *  blocks. */
	bool (*want)(struct table_cursor *c, uint32_t place, uint32_t *ret_block,
	             uint8_t *ret_bytes);
	/*! A block that is wanted and of which nothing is known is read before it is set. Then want() is
	 *  called for its place twice, in any order. */
	bool reads;
	struct table_request *spare; /*!< used by table_io.c */
	int *ret;                    /*!< takes the first error of ours */
};

/*! \brief Begins. Later the answers move it on. \param c  Stays until nothing is pending. */
void table_cursor_run(struct table_cursor *c);

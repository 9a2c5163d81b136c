/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "conf/base/conn.h"
#include "conf/base/listen.h"
#include "conf/base/log.h"
#include "sa/standby/frame.h"
#include "sa/standby/join.h"
#include "sa/standby/standby.h"
#include "sa/standby/taker.h"
#include "sa/standby/tls.h"

/*!
 * The inside of the link, for its files:
 *
 *   standby.c        life cycle, what the fabric thread asks
 *   standby_give.c   the master's side: copies, transactions, acknowledgements; what all share
 *   standby_join.c   rows of a master that becomes standby, on both sides
 *   standby_link.c   the loop's thread: connections and what they say
 *   standby_pause.c  copies that cannot be stored
 *
 * Locks, in the order in which they are taken: the state's, `applying`, `lock`.
 */
enum {
	LINK_KNOWN = 16,
	LINK_PEERS = 9, /*!< with the one that we connect to */
	LINK_OF_ADDRESS = 4, /*!< of one address, where places are short */
	LINK_TICK_MS = 250,
	LINK_HEARD_MS = 1000,  /*!< silent for longer: not heard */
	LINK_SILENT_MS = 5000, /*!< silent for longer: closed */
	LINK_STORING_MS =
		60000, /*!< a standby may be silent for so long while it stores a copy */
	LINK_OPENING_MS = 5000,  /*!< connect, handshake and HELLO */
	LINK_AGAIN_MS = 500,     /*!< until the next peer is tried */
	LINK_PAUSE_MIN_MS = 250, /*!< until a copy is stored again that could not be */
	LINK_PAUSE_MAX_MS = 30000,
	LINK_OUT_BYTES = 256 << 10, /*!< bytes made ahead of the socket */
	LINK_QUEUE_BYTES = 64 << 20 /*!< transactions that wait for a standby */
};

/*! The other end of a connection. */
struct peer {
	struct conn conn; /*!< first */
	bool outbound, connected;
	bool open; /*!< HELLO was said */
	struct tls *tls;
	char name[80]; /*!< address */
	uint64_t guid; /*!< after HELLO */
	uint64_t copied_ms, pinged_ms;
	struct state_copy *copy; /*!< giving: rows that are not sent yet */
	bool acks;               /*!< taking: there is something to acknowledge */
	/* under the lock; giving */
	struct peer *next; /*!< that is attached */
	bool attached;     /*!< gets transactions */
	bool complete;     /*!< acknowledged its copy */
	bool dropped;      /*!< too slow: to be closed */
	uint64_t first,
		acked; /*!< transaction that the copy ends with, last one acknowledged */
	struct conn_bytes queue;
	/* of the thread */
	bool joins; /*!< a standby that was master: its rows come before they are stored, and it gets a copy then;
	                 ours: we give them */
	struct conn_bytes joining; /*!< its rows */
	size_t n_joining;
};

struct standby {
	struct standby_options o;
	struct state_follower follower;
	struct listening listening; /*!< fd -1: none */
	struct tls_keys *keys;
	char **peer_names;
	unsigned n_peer_names, next_peer;
	struct conn_set *set;
	atomic_int role;
	enum standby_role role_of_peers; /*!< of the thread */
	uint64_t try_ms;
	uint64_t again_ms; /*!< until the next try after a master did not take our rows */
	uint64_t pause_ms; /*!< until the next try to store what waits; 0: nothing does */
	struct peer *master; /*!< that we connect to; of the thread. NULL: none */
	struct log_limit handshake_lines, lines;
	struct log_limit join_lines; /*!< of the state's writing thread */
	pthread_mutex_t applying; /*!< while a frame of the master is taken */
	struct taker taker;       /*!< under applying */
	bool current; /*!< under applying: the copy is in step, as far as we know */
	pthread_mutex_t lock;
	pthread_cond_t acked;
	/* under the lock */
	struct peer *attached;      /*!< standbys, go on by peer.next */
	uint64_t known[LINK_KNOWN]; /*!< GUIDs that said HELLO with our secret; 0: none */
	unsigned n_known;
	uint64_t sequence; /*!< of the last transaction */
	uint64_t
		heard_ms; /*!< taking: the master in step, 0: not connected or not in step */
	bool stop, lost, arrived, joined;
	struct join_log log; /*!< what others do not have */
	enum standby_news news;
	uint64_t n_heard,
		n_heard_at_poll; /*!< how often the master was heard; when standby_hears() was asked */
	struct standby_status status;
	/* of the state's writing thread */
	struct conn_bytes txn; /*!< frames of the transaction */
	size_t frame_at;  /*!< its last frame */
	bool txn_failed, unsettled;
	atomic_uint n_attached;
};

static inline struct standby *peer_link(const struct peer *p)
{
	return conn_ctx(&p->conn);
}

/* standby_pause.c; of the thread */

/*! \brief A copy cannot be stored. To be called before the peer is closed. */
void standby_pause_begin(struct standby *l, int ret);
/*! \brief There is no pause any more; under the lock. \param in_step  Because the copy is stored.
 *  \return The fabric thread has to be told. */
bool standby_pause_end(struct standby *l, bool in_step);
/*! \brief Tries to store what waits. \return true: there is room, or no pause. */
bool standby_pause_over(struct standby *l);

/* standby_join.c */

/*! \brief Our rows that the master may not know, for the peer that we connected to. */
int standby_join_give(struct peer *p);
/*! \brief A frame of a standby that gives such rows. \retval others  It has to be closed. */
int standby_join_take(struct peer *p, const struct frame *f);
/*! \brief All standbys have all that was committed; under the lock. */
void standby_join_settle(struct standby *l);
/*! \brief Notes all changes from now on. */
void standby_join_follow(struct standby *l);

/* standby_link.c */

/*! \brief Starts the loop on its thread. \retval -errno \retval -ENOMEM */
int standby_link_start(struct standby *l);

/* standby_give.c */

/*! \brief What the state shows to the link: struct state_follower. */
void standby_link_write(void *ctx, const struct state_write *w);
void standby_link_committed(void *ctx);
void standby_link_settle(void *ctx);

/*! \brief Begins to give to a standby that said HELLO. \retval others  It has to be closed. */
int standby_give_begin(struct peer *p);
/*! \brief Sends what there is, unless output waits. \retval others  It has to be closed. */
int standby_give_more(struct peer *p, uint64_t now);
int standby_give_acked(struct peer *p, const struct frame *f);
/*! \param ret  Why it ends. */
void standby_give_end(struct peer *p, int ret);

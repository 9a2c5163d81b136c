/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mad_addr;
struct mad_msg;
struct sa_store;
struct snap_reader;
struct snap_writer;
struct state;
struct transport;

/*!
 * SA answers: a request MAD in, a reply MAD out. Pure but for the snapshot reader.
 */
struct sa_limits {
	uint64_t sa_key;         /*!< requests with this SM_Key are trusted; another non-zero key is dropped; 0: all are */
	size_t max_response;     /*!< bytes of a table with its header, beyond: NO_RESOURCES; 0: 64 MiB */
	size_t records_of_a_port; /*!< as store_set_owner_limit(); of a server */
	uint8_t sm_assigned_guid; /*!< as the option */
	uint32_t act_count;      /*!< SMInfo.ActCount; of a server it is that of sa_server_activity() */
};

enum { SA_RESPONSE_BYTES = 64 << 20 };

struct sa_reply {
	uint8_t *data;           /*!< whole MAD incl. RMPP and SA header; grown by realloc, reuse it */
	size_t len, cap;
	const char *large;       /*!< name of the attribute whose table was refused for its size, NULL: none; static */
};

/*! \brief MAD status (with the SA class's upper byte) for any value of enum err or -errno. */
uint16_t sa_status(int ret);

/*!
 * \brief Answers one SA MAD.
 *
 * \param r    Pinned reader; borrowed for the call. NULL: nothing is published yet, the reply says BUSY.
 * \param mad  \a len bytes as received; any bytes are legal input. Of a longer one the first SA_REQUEST_BYTES count.
 * \param src_lid  Who asks.
 * \param ret  Zeroed or used before; sa_reply_done().
 * \retval E_OK          Send ret->data.
 * \retval E_MALFORMED   Not a request (a response, trap or RMPP control packet, too short, another base
 *                       version or class): drop and count.
 * \retval -EPERM        Wrong SM_Key: drop and count.
 * \retval -ENOMEM
 *
 * Unsupported attribute or method: status 0x000C; another class version: 0x0004. A Get reply is
 * 256 bytes; a GetTable reply has RMPP Active and 56 bytes and its records, none when empty.
 * Cost: no memory is taken once the reply has grown, but for tables over all end ports.
 */
int sa_answer(struct snap_reader *r, const struct sa_limits *l, const uint8_t *mad, size_t len,
              uint32_t src_lid, struct sa_reply *ret);
void sa_reply_done(struct sa_reply *r);

/*!
 * \brief The same with a store for what clients write, without which attributes of that kind are unsupported.
 * \param from  Who asks, and how it is reached.
 * A request that changed something leaves its changes in the store (store_take_changes()): the
 * reply has to wait until they are durable.
 */
int sa_serve(struct snap_reader *r, struct sa_store *st, const struct sa_limits *l,
             const uint8_t *mad, size_t len, const struct mad_addr *from, struct sa_reply *ret);

/*!
 * \brief The same in parts, so that others are answered between them. Begins.
 *
 * \retval -EINPROGRESS  The reply is made by sa_work_part() until that says E_OK, with the same
 *                       epoch pinned; nothing that was given here but \a st is needed any more.
 * \retval E_OK and others as sa_serve(): it is done.
 */
struct sa_work;
int sa_work_begin(struct sa_work *w, struct snap_reader *r, struct sa_store *st,
                  const struct sa_limits *l, const uint8_t *mad, size_t len,
                  const struct mad_addr *from, struct sa_reply *ret);
/*! \param steps  Places (end ports, pairs of them) to look at before it pauses; 0: all.
 *  \retval E_OK \retval -EINPROGRESS */
int sa_work_part(struct sa_work *w, struct snap_reader *r, size_t steps, struct sa_reply *reply);
int sa_work_new(struct sa_work **ret); /*!< \retval -ENOMEM */
void sa_work_free(struct sa_work *w);

/*! \brief The attribute, when a request asks for what is answered in no time; NULL: it
 * may take long, or is none. */
struct sa_attr;
const struct sa_attr *sa_brief(const uint8_t *mad, size_t len);
/*! \brief See struct sa_attr. \param attr  That of sa_brief(). */
void sa_soon(const struct sa_attr *attr, struct snap_reader *r, const uint8_t *mad,
             unsigned step);

/*! \brief Turns a reply that was made into one that says why not, by enum err or -errno. */
void sa_reply_refuse(struct sa_reply *reply, int why);

/*!
 * Another way in than the fabric. Requests that are pushed with mad_addr.door set are
 * answered through it; addr.lid then is a number of the requester that is no LID, for
 * fairness alone. They see every record and change none.
 */
struct sa_door {
	/*! Takes an answer, or NULL: there will be none. Borrowed for the call; must not wait.
	 *  Any thread, also inside sa_server_push(). \retval E_OK \retval -errno  It cannot take it. */
	int (*send)(struct sa_door *door, const struct mad_addr *to, const uint8_t *data, size_t len);
};

/*! SA answer thread: takes requests from a queue (pushed by the fabric thread), answers through the transport. */
struct sa_server;

struct sa_counters {
	uint64_t requests, answered, dropped_malformed, dropped_key, dropped_overload, dropped_standby,
		refused_large, no_records, records, services, subscriptions, groups, members,
		reports_sent,
		reports_answered, reports_given_up, reports_dropped;
};

/*!
 * \param state  Where the records that clients write are durable, borrowed; NULL: nowhere.
 * \retval -ENOMEM \retval others  The records that are there cannot be read.
 */
int sa_server_new(struct transport *t, struct snap_writer *w, struct state *state,
                  const struct sa_limits *l, struct sa_server **ret);
void sa_server_free(struct sa_server *s);

/*! \brief Queues a copy of a request. When the queue is full, replies BUSY at once, to it or to one of whoever has most waiting. Any thread. */
void sa_server_push(struct sa_server *s, const struct mad_msg *m);
/*! \brief The same for several in one step. */
void sa_server_push_all(struct sa_server *s, const struct mad_msg *m, unsigned n);
/*!
 * \brief The same, but what is soon answered may be answered before it returns, while
 * nobody waits. For the one thread of the transport that requests come in on.
 */
void sa_server_take(struct sa_server *s, const struct mad_msg *m, unsigned n);
/*! \brief Another subnet manager is master: requests are counted and dropped as long as \a on. Any thread. */
void sa_server_standby(struct sa_server *s, bool on);
/*! \brief A trap came in (64 bytes of Notice): reports it to those who subscribed. Any thread. */
void sa_server_trap(struct sa_server *s, const uint8_t notice[64]);
/*! \brief A sweep ended and published: reports ports that came or went. Any thread. */
void sa_server_swept(struct sa_server *s);
/*! \brief What SMInfo.ActCount is from now on. Any thread. */
void sa_server_activity(struct sa_server *s, uint64_t act_count);
void sa_server_counters(struct sa_server *s, struct sa_counters *ret);

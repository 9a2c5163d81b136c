/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mad_addr;
struct mad_msg;
struct sa_attr;
struct sa_store;
struct snap_reader;

/*!
 * SA answers: a request MAD in, a reply MAD out. Pure but for the snapshot reader and the
 * store of client records.
 */
struct sa_limits {
	uint64_t sa_key;         /*!< requests with this SM_Key are trusted; another non-zero key is dropped; 0: all are */
	size_t max_response;     /*!< bytes of a table with its header, beyond: NO_RESOURCES; 0: 64 MiB */
	size_t records_of_a_port; /*!< as store_set_owner_limit(); of a server */
	uint8_t sm_assigned_guid; /*!< as the option */
	bool own_records;       /*!< a port writes records of itself only: option sa_own_records */
	uint32_t groups_of_port, groups_of_partition; /*!< most when one is created; 0: no limit */
	uint32_t act_count;      /*!< SMInfo.ActCount; of a server it is that of sa_server_activity() */
};

enum { SA_RESPONSE_BYTES = 64 << 20 };

struct sa_reply {
	uint8_t *data;           /*!< whole MAD incl. RMPP and SA header; grown by realloc, reuse it */
	size_t len, cap;
	size_t n_records;        /*!< in it */
	uint16_t status;         /*!< of its header */
	const char *too_large;   /*!< name of the attribute whose table was refused for its size, NULL: none; static */
};

/*! A request that was read: what the walk and the encoding of the reply need of it. */
struct sa_request {
	const struct sa_attr *attr; /*!< NULL: status says why there is none */
	uint64_t comp_mask;
	uint32_t attr_mod;
	unsigned method;   /*!< enum sa_method */
	uint16_t status;   /*!< of the reply where there is nothing to walk, else 0 */
	bool trusted;      /*!< SM_Key given and right */
	bool is_report_resp; /*!< no request: the response to a report; the rest is 0 */
	bool is_short;     /*!< looks at two ports alone: see sa_attr.inline_answer */
	bool tables_read;  /*!< the SM has read the tables that the attribute needs */
};

/*! \brief MAD status (with the SA class's upper byte) for any value of enum err or -errno. */
uint16_t sa_status(int ret);

/*!
 * \brief Reads a request: is it one, may it be asked, for which attribute?
 *
 * \param m  m->len bytes as received; any bytes are legal input. m->addr says who asks.
 * \retval E_OK
 * \retval E_MALFORMED   Not a request (a response, trap or RMPP control packet, too short, another base
 *                       version or class): drop and count.
 * \retval -EPERM        Wrong SM_Key: drop and count.
 */
int sa_request_read(const struct mad_msg *m, const struct sa_limits *l,
                    struct sa_request *ret_request);

/*!
 * \brief Answers one SA MAD: reads the request, begins and ends the answer.
 *
 * \param r    Pinned reader; borrowed for the call. NULL: nothing is published yet, the reply says BUSY.
 * \param mad  \a len bytes as received. Of a longer one the first SA_REQUEST_BYTES count.
 * \param src_lid  Who asks.
 * \param ret_reply  Zeroed or used before; sa_reply_done().
 * \retval E_OK          Send ret->data.
 * \retval E_MALFORMED -EPERM  As sa_request_read(). \retval -ENOMEM
 *
 * Unsupported attribute or method: status 0x000C; another class version: 0x0004. A Get reply is
 * 256 bytes; a GetTable reply has RMPP Active and 56 bytes and its records, none when empty.
 * Cost: no memory is taken once the reply has grown, but for tables over all end ports.
 */
int sa_answer(struct snap_reader *r, const struct sa_limits *l, const uint8_t *mad,
              size_t len, uint32_t src_lid, struct sa_reply *ret_reply);
void sa_reply_done(struct sa_reply *r);

/*!
 * \brief The same with a store for client records, without which their attributes are unsupported.
 * \param from  Who asks, and how it is reached.
 * A request that changed something leaves its changes in the store (store_take_changes()): the
 * reply has to wait until they are durable.
 */
int sa_serve(struct snap_reader *r, struct sa_store *st, const struct sa_limits *l,
             const uint8_t *mad, size_t len, const struct mad_addr *from,
             struct sa_reply *ret_reply);

/*!
 * \brief Begins the answer to a request that was read.
 *
 * \retval -EINPROGRESS  The reply is made by sa_work_continue() until that says E_OK, with the same
 *                       epoch pinned; nothing that was given here but \a st is needed any more.
 * \retval E_OK          The reply is made. \retval -ENOMEM
 */
struct sa_work;
int sa_work_begin(struct sa_work *w, struct snap_reader *r, struct sa_store *st,
                  const struct sa_limits *l, const struct sa_request *request,
                  const struct mad_msg *m, struct sa_reply *ret_reply);
/*! \param steps  Places (end ports, pairs of them) to look at before it pauses; 0: all.
 *  \retval E_OK \retval -EINPROGRESS */
int sa_work_continue(struct sa_work *w, struct snap_reader *r, size_t steps, struct sa_reply *reply);
int sa_work_new(struct sa_work **ret_work); /*!< \retval -ENOMEM */
void sa_work_free(struct sa_work *w);

/*! \brief A reply without records that says why, by enum err or -errno. \param mad  The request, or
 *  a reply that was made, also the one in \a reply. \retval E_OK \retval -ENOMEM */
int sa_reply_refuse(const uint8_t *mad, int why, struct sa_reply *reply);

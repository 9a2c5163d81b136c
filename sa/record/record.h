/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/mad/fields.h"

struct sa_store;
struct snap_attr_row;
struct snap_end;
struct snap_reader;
struct sa_back;
struct sa_out;
struct sa_query;

/*!
 * SA attributes as rows. The generic part (sa/server/answer.c) checks method, version and trust,
 * compares components by the mask, sets AttributeOffset, status and RMPP, counts; an
 * attribute is a field table whose position is the component-mask bit, and a walk that
 * offers candidates. The same rows make JSON, documentation and fuzz dictionaries.
 */
enum sa_method {
	SA_GET = 1,
	SA_GETTABLE = 2,
	SA_SET = 4,
	SA_DELETE = 8,
	SA_GETMULTI = 16,
	SA_GETTRACETABLE = 32
};

enum {
	SA_NONE = -1,          /*!< no such component */
	SA_LID = 0,            /*!< component of attributes with rows or offer_end() */
	SA_ROW_KEY_BYTES = 44, /*!< longest key of a row that clients write */
	SA_CONVERTED_BYTES = 256, /*!< longest record that has a second layout */
	SA_PREFETCH_STEPS = 3,
	SA_ROW_BYTES = 208 /*!< longest record of an attribute with rows */
};

/*!
 * An attribute whose records are a record identifier and a payload of the snapshot's
 * `attrs`, whose rows are numbered port << shift | block. The first component is the LID.
 */
struct sa_rows {
	uint16_t attr;      /*!< UMAD_SM_ATTR_* */
	uint8_t shift;
	int8_t port, block; /*!< components that hold both; without a port component only the end port's own rows count */
	uint16_t at, bytes; /*!< the payload in the record */
	/*! Completes a record. \return false: there is none. May be NULL. */
	bool (*fit)(struct snap_reader *r, const struct sa_query *q, uint8_t *record);
};

typedef int sa_walk_f(struct snap_reader *r, const struct sa_query *q, struct sa_out *out);
/*! Offers the records of one end port. */
typedef int sa_end_f(struct snap_reader *r, const struct sa_query *q, const struct snap_end *end,
                     struct sa_out *out);

struct sa_attr {
	uint8_t version;       /*!< ClassVersion: 2 InfiniBand, 0x80 Omni-Path (sa/mad/wire.h) */
	uint16_t id;           /*!< UMAD_SA_ATTR_* */
	const char *name;      /*!< "PathRecord" */
	unsigned methods;      /*!< enum sa_method */
	uint16_t size;         /*!< bytes of a record on the wire, before padding to 8 */
	bool get_first;        /*!< Get answers with the first match where others say TOO_MANY_RECORDS */
	bool trusted;          /*!< only for clients that know the SM_Key */
	/*! Records are made of SL-to-VL or arbitration tables. Without quality of service
	 * the SM reads these from the fabric at the first request (sa/sm/sweep/qos_reads.c). */
	bool tables_on_request;
	bool of_vports; /*!< with enable_virt_rec_ext virtual ports with a LID have records */
	bool moves;            /*!< its records change within an epoch, too: q->act_count */
	const struct sa_field *fields;
	unsigned n_fields;
	/*! The attribute of the records in the reply, if that is another one (PathRecord for
	 *  MultiPathRecord); they are not compared with the request. NULL: this one. */
	const struct sa_attr *reply;
	/*! A request that names a component of each of these sets (bits of the component
	 * mask) is answered in no time: it may get an inline answer
	 * (sa/server/server_receive.c). 0: none does. */
	uint64_t inline_answer[2];
	/*! Prefetches what the answer to such a request will read, in SA_PREFETCH_STEPS
	 * steps from 0 on. Each step reads what the one before it prefetched, so a caller
	 * does one step for several requests and then the next. */
	void (*prefetch)(struct snap_reader *r, const struct sa_attr *attr,
	                 const uint8_t *record, uint64_t mask, unsigned step);
	/*! Its records are those of another attribute in another layout; instead of walk, set
	 *  and del. NULL: no. */
	const struct sa_conversion *converts;
	struct sa_rows rows;   /*!< instead of a walk */
	sa_end_f *offer_end;   /*!< instead of a walk, for attributes whose records belong to end ports; component 0 is the LID */
	bool client_records;   /*!< clients register them: they live in the store of the daemon that answers; the snapshot mirrors what is public of them */
	/*! Offers candidates. Returns E_OK, or why there can be none: E_NOTFOUND, E_RANGE ...
	 *  (sa_refuse() for a status of the specification's own). */
	sa_walk_f *walk;
	/*! Set and Delete: change q->store and offer the one record to reply with, or refuse and
	 *  change nothing. */
	sa_walk_f *set, *del;
};

/*!
 * A second layout of a record: components of the same name hold the same value, whatever
 * their place and width. The walk, set and del of the base attribute do the work.
 */
struct sa_conversion {
	const struct sa_attr *base;
	/*! Converts what differs by more than place and width: from the request \a q to
	 * \a record and \a mask in the layout of the base. May be NULL.
	 * \retval E_NOTFOUND  Nothing can match. */
	int (*ask)(struct snap_reader *r, const struct sa_query *q, uint8_t *record,
	           uint64_t *mask);
	/*! The same for a \a record of the base: fills it into \a shown. May be NULL. */
	void (*show)(struct snap_reader *r, const uint8_t *record, uint8_t *shown);
};

#define SA_FIELDS(table) .fields = (table), .n_fields = sizeof(table) / sizeof((table)[0])

/*! The request as the walk sees it. */
struct sa_query {
	const struct sa_attr *attr;
	uint64_t comp_mask;    /*!< host order */
	const uint8_t *record; /*!< attr->size bytes, wire order */
	uint32_t attr_mod;
	const struct snap_end *requester; /*!< it sees only what shares a P_Key with it; NULL: everything is visible */
	bool trusted;          /*!< SM_Key given and right */
	bool table;            /*!< GetTable: all; Get: two are enough to say "too many" */
	uint64_t from, from_sub; /*!< where to begin, a place of struct sa_out; 0: at the
	                            start */
	unsigned method;       /*!< enum sa_method, 0: one that reads */
	struct sa_store *store; /*!< of client records; NULL: they are read as the snapshot mirrors them */
	uint32_t act_count;    /*!< SMInfo.ActCount, 0: not known here */
	uint8_t sm_assigned_guid; /*!< a byte of the alias GUIDs that the SM assigns */
	bool own_records;     /*!< a port writes records of itself only: option sa_own_records */
	uint32_t groups_of_port, groups_of_partition; /*!< most when one is created; 0: no limit */
	int64_t now;           /*!< seconds since 1970, where there is no store */
	const uint8_t *from_key; /*!< of client records, instead of from; NULL: at the start */
	size_t from_key_len;
	const struct sa_back *back; /*!< how the requester is reached over the fabric; NULL: it is not */
	const struct sa_attr *shown; /*!< layout of the records in the reply, where attr is its
	                                base; NULL: that of attr */
};

/*! Where a request came from, besides the LID. */
struct sa_back {
	uint32_t qpn;
	uint16_t pkey_index;
	uint8_t sl;
};

/*! Sticky collector of records. */
struct sa_out {
	const struct sa_query *q;
	uint8_t *data;         /*!< head bytes, then n records of stride bytes; grown by realloc, caller owns */
	size_t head, cap;      /*!< bytes in front of the records; bytes allocated */
	size_t n, stride;      /*!< records; size padded to 8 */
	size_t max;            /*!< stop after this many matches */
	size_t max_bytes;      /*!< head included; a record beyond is E_FULL */
	uint16_t status;       /*!< UMAD_SA_STATUS_* of sa_refuse(), 0: none */
	size_t skip;           /*!< so many matches are left out at the start */
	/*! The place of the walk: what is offered now belongs to it (key: a LID or PortGUID;
	 * sub: a PortGUID, or 0). in_key: matches there, those left out included. A later
	 * walk can begin at this place, also in another epoch. */
	uint64_t key, sub;
	size_t in_key;
	size_t max_steps;      /*!< pause after so many places; 0: no limit */
	size_t steps;
	bool paused;           /*!< it stopped there */
	uint8_t row_key[SA_ROW_KEY_BYTES]; /*!< of client records, instead of key */
	size_t row_key_len;
	struct snap_reader *r; /*!< of the walk */
	int ret;               /*!< first error; then all calls are no-ops */
};

/*! \brief Is the component asked for? bit = position in the field table. */
static inline bool sa_asked(const struct sa_query *q, unsigned component)
{
	return q->comp_mask >> component & 1;
}

/*! \brief Value of a component of the request, at most 64 bits wide. */
static inline uint64_t sa_component(const struct sa_query *q, unsigned component)
{
	const struct sa_field *f = &q->attr->fields[component];

	return field_get(q->record, f->bit, f->width);
}

/*! \brief Adds a candidate of attr->size bytes if every masked SA_EQ component matches. */
void sa_offer(struct sa_out *out, const uint8_t *record);

/*! \brief No need to offer more? (max reached, steps used up, or error) */
static inline bool sa_full(const struct sa_out *out)
{
	return out->ret != 0 || out->n >= out->max || out->paused;
}

/*! \brief Records offered from here on belong to this place. */
static inline void sa_at(struct sa_out *out, uint64_t key, uint64_t sub)
{
	if (sa_full(out)) {
		return;
	}
	out->key = key;
	out->sub = sub;
	out->in_key = 0;
	out->paused = out->max_steps && out->steps++ >= out->max_steps;
}

/*! \brief The same for client records: the place is a row, by its key. */
void sa_at_row(struct sa_out *out, const uint8_t *key, size_t len);

/*! \brief Like sa_offer(), but clears a component of the record in the reply. \param hide  SA_NONE: none */
void sa_offer_without(struct sa_out *out, const uint8_t *record, int hide);

/*! \brief Ends the walk with a status of the SA class (UMAD_SA_STATUS_*). \return E_RANGE, to be returned on. */
int sa_refuse(struct sa_out *out, uint16_t status);

/*! \brief Runs the attribute's walk; \a out holds what matched. \return out->ret. */
int sa_collect(struct snap_reader *r, const struct sa_query *q, struct sa_out *out);

/*! \brief May the requester see what belongs to this end port? Both share a P_Key, or are one. */
bool sa_sees(struct snap_reader *r, const struct sa_query *q, const struct snap_end *end);

/*! \brief Are there records of this end port? Only attributes with of_vports have any of virtual ports. */
bool sa_has_records(struct snap_reader *r, const struct sa_query *q,
                    const struct snap_end *end);

/*! \brief Attribute of the records in the reply. */
static inline const struct sa_attr *sa_reply_attr(const struct sa_attr *attr)
{
	return attr->reply ? attr->reply : attr;
}

/* sa/record/layout_conversion.c: */

/*!
 * \brief Converts a request for an attribute with a second layout to one for its base.
 * \param record  [SA_CONVERTED_BYTES] for the request's record. \param ret_query  A copy
 *        of \a q but
 * for what differs. \retval E_NOTFOUND  Nothing can match. \retval E_RANGE  A value that
 * the record cannot hold.
 */
int sa_convert_request(struct snap_reader *r, const struct sa_query *q, uint8_t *record,
                       struct sa_query *ret_query);
/*! \brief Converts a record of the base to the layout of \a shown. */
void sa_convert_record(struct snap_reader *r, const struct sa_attr *shown,
                       const uint8_t *record, uint8_t *ret_record);
/*! \brief Component of \a to that has the name of one of \a from. SA_NONE: it has none.
 */
int sa_convert_component(const struct sa_attr *from, unsigned component,
                         const struct sa_attr *to);

/* For walks (sa/record/rec_walk.c): */

/*!
 * \brief The walk of attributes without one: offers the records of every end port that the
 *        requester may see, by LID. If the request has a LID, which may be any of an end port's
 *        range, only those of its owner.
 * \retval E_OK \retval E_NOTFOUND  No end port has the LID. \retval others  Of offer_end(), or of the snapshot.
 */
int sa_walk_ends(struct snap_reader *r, const struct sa_query *q, struct sa_out *out);

/*! \brief End port of the lowest LID from *lid on; *lid is where to go on, 0 at first. \retval E_NOTFOUND  no more. */
int sa_end_from(struct snap_reader *r, uint32_t *lid, struct snap_end *ret_end);

/*! A walk over rows of `attrs` that go under one end port: ports first to last, numbered port << shift | block. */
struct sa_row_walk {
	uint64_t guid, next;
	uint32_t last;
	uint16_t attr;
	uint8_t shift;
};

/*! \brief Begins at an end port; \a port is the component that names one port, or SA_NONE. As an SA_INPUT it counts for switches only. */
void sa_rows_begin(const struct sa_query *q, uint16_t attr, uint8_t shift, int port,
                   const struct snap_end *end, struct sa_row_walk *ret_row_walk);

/*! \brief SMInfo.ActCount of the SM with this PortGUID: the own one as the request brings
 * it, else \a read, as it answered the last sweep. */
uint32_t sa_act_count(struct snap_reader *r, const struct sa_query *q, uint64_t guid,
                      uint32_t read);

/*! \brief Next row. \retval E_NOTFOUND  no more */
int sa_rows_next(struct snap_reader *r, struct sa_row_walk *w,
                 struct snap_attr_row *ret_attr_row);

/*! \brief Writes a component of a record of \a attr; 0, which is no LID, if it has no room for the value. */
static inline void sa_put(const struct sa_attr *attr, uint8_t *record, int component, uint64_t value)
{
	const struct sa_field *f = &attr->fields[component];

	field_set(record, f->bit, f->width,
	          f->width < 64 && value >> f->width != 0 ? 0 : value);
}

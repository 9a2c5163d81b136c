/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/fields.h"

struct snap_reader;
struct sa_out;
struct sa_query;

/*!
 * SA attributes as rows. The generic part (sa/answer.c) checks method, version and trust,
 * compares components by the mask, sets AttributeOffset, status and RMPP, counts; an
 * attribute is a field table whose position is the component-mask bit, and a walk that
 * offers candidates. The same rows make JSON, documentation and fuzz dictionaries.
 */
enum sa_how {
	SA_EQ,       /*!< compared when its mask bit is set */
	SA_RESERVED, /*!< never compared */
	SA_INPUT     /*!< read by the walk itself (LIDs under LMC, selectors) */
};

struct sa_field {
	const char *name; /*!< spelling of the specification */
	uint16_t bit, width;
	uint8_t how;      /*!< enum sa_how */
};

/* A row of a field table out of "offset, width" macros of sa/fields.h, \a base bits in. */
#define SA_AT_(base, offset, width) (base) + (offset), (width)
#define SA_AT(base, ...) SA_AT_(base, __VA_ARGS__)

enum sa_method { SA_GET = 1, SA_GETTABLE = 2, SA_SET = 4, SA_DELETE = 8, SA_GETMULTI = 16 };

struct sa_attr {
	uint8_t version;       /*!< ClassVersion: 2 InfiniBand */
	uint16_t id;           /*!< UMAD_SA_ATTR_* */
	const char *name;      /*!< "PathRecord" */
	unsigned methods;      /*!< enum sa_method */
	uint16_t size;         /*!< bytes of a record on the wire, before padding to 8 */
	bool get_first;        /*!< Get answers with the first match where others say TOO_MANY_RECORDS */
	const struct sa_field *fields;
	unsigned n_fields;
	/*! Offers candidates. Returns E_OK, or why there can be none: E_NOTFOUND, E_RANGE ...
	 *  (sa_refuse() for a status of the specification's own). */
	int (*walk)(struct snap_reader *r, const struct sa_query *q, struct sa_out *out);
};

/*! The request as the walk sees it. */
struct sa_query {
	const struct sa_attr *attr;
	uint64_t comp_mask;    /*!< host order */
	const uint8_t *record; /*!< attr->size bytes, wire order */
	uint32_t attr_mod;
	uint32_t requester_lid;
	bool trusted;          /*!< SM_Key given and right */
	bool table;            /*!< GetTable: all; Get: two are enough to say "too many" */
};

/*! Sticky collector of records. */
struct sa_out {
	const struct sa_query *q;
	uint8_t *data;         /*!< head bytes, then n records of stride bytes; grown by realloc, caller owns */
	size_t head, cap;      /*!< bytes left free in front; bytes there are */
	size_t n, stride;      /*!< records; size padded to 8 */
	size_t max;            /*!< stop after this many matches */
	size_t max_bytes;      /*!< head included; a record beyond is E_FULL */
	uint16_t status;       /*!< UMAD_SA_STATUS_* of sa_refuse(), 0: none */
	int ret;               /*!< first error; then all calls are no-ops */
};

/*! \brief Is the component asked for? bit = position in the field table. */
static inline bool sa_asked(const struct sa_query *q, unsigned component)
{
	return q->comp_mask >> component & 1;
}

/*! \brief Value of a component of the request, at most 64 bits wide. */
static inline uint64_t sa_given(const struct sa_query *q, unsigned component)
{
	const struct sa_field *f = &q->attr->fields[component];

	return field_get(q->record, f->bit, f->width);
}

/*! \brief Adds a candidate of attr->size bytes if every masked SA_EQ component matches. */
void sa_offer(struct sa_out *out, const uint8_t *record);

/*! \brief No need to offer more? (max reached or error) */
bool sa_full(const struct sa_out *out);

/*! \brief Ends the walk with a status of the SA class (UMAD_SA_STATUS_*). \return E_RANGE, to be returned on. */
int sa_refuse(struct sa_out *out, uint16_t status);

/*! \brief Runs the attribute's walk; \a out holds what matched. \return out->ret. */
int sa_collect(struct snap_reader *r, const struct sa_query *q, struct sa_out *out);

/*! All attributes, by (version, id). */
extern const struct sa_attr *const sa_attrs[];
extern const unsigned n_sa_attrs;

/*! \return NULL: not served. */
const struct sa_attr *sa_attr_find(uint8_t version, uint16_t id);

extern const struct sa_attr rec_class_port_info, rec_node, rec_port_info, rec_slvl_table, rec_path,
	rec_vl_arb;

/*! End ports by LID, for walks: *lid is where to go on, 0 at first. \retval E_NOTFOUND  no more. */
struct snap_end;
int sa_end_from(struct snap_reader *r, uint32_t *lid, struct snap_end *ret);

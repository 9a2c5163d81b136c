/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/path/path_query.h"
#include "sa/record/record.h"

struct wire_path_record;

/*!
 * What PathRecord, MultiPathRecord and TraceRecord requests share: selectors, GIDs, and
 * the records that come back. Private to the record handlers.
 */
enum { LID_LOW_MAX = 0xbfff, LID_LOW_BITS = 0x3fff }; /*!< see path_request_high_lids() */

struct path_request_end {
	bool given;
	bool off_subnet;    /*!< the GID lies behind a router */
	const uint8_t *gid; /*!< as asked for, NULL: not by GID */
};

struct path_request {
	struct path_query q; /*!< ends, LIDs and selectors; ends only where given */
	struct path_request_end src, dst;
	struct path_record echo; /*!< what is repeated from the request */
	bool to_group;    /*!< the DGID is a multicast group; nothing else was read then */
	bool raw_traffic; /*!< raw packets have no P_Key: none is compared or shown */
};

/*! Where an attribute has the components; a selector's value follows it. */
struct path_components {
	uint8_t raw_traffic, service_id_msb, service_id_lsb, flow_label, t_class,
		reversible, numb_path, p_key, qos_class, sl, mtu_selector, rate_selector,
		packet_life_time_selector;
};

/*! \brief Reads all but the ends. \retval E_RANGE  Refused in \a out. */
int path_request_common(struct snap_reader *r, const struct sa_query *q,
                        const struct path_components *c, struct sa_out *out,
                        struct path_request *ret_request);

/*!
 * \brief The end port that a GID names: by PortGUID or alias GUID in this subnet, or by
 * LID as path_request_high_lids() makes one; with \a is_dst also the router port towards
 *        another subnet.
 * \param ret_lid  The LID in the GID, 0: it names none.
 * \retval E_NOTFOUND
 */
int path_request_gid(struct snap_reader *r, const struct sa_store *st,
                     const uint8_t gid[16], bool is_dst, struct snap_end *ret_end,
                     bool *ret_off_subnet, uint32_t *ret_lid);

/*! \brief A PathRecord of \a a as it goes on the wire: GIDs as they were asked for. */
void path_request_encode(const struct path_record *p, const struct path_request *a,
                         struct wire_path_record *w);

/*!
 * \brief LIDs above 0xbfff in a layout with room for 16 bits: both GIDs say the LIDs
 *        instead, (0x00066a << 40) | LID behind the subnet prefix, the LID components
 * have the low 14 bits of those that are high, HopLimit is 1, so that a global header is
 * made. Source: what opa-fm answers and Linux' opa_get_lid_from_gid() takes apart.
 */
void path_request_high_lids(const struct path_record *p, struct snap_reader *r,
                            struct wire_path_record *w);

/*! \brief Reads a request with the components of rec_path. \retval E_RANGE E_NOTFOUND */
int path_request_read(struct snap_reader *r, const struct sa_query *q, struct sa_out *out,
                      struct path_request *ret_request);

/*! Components of a PathRecord. */
enum path_component {
	PR_SERVICE_ID_MSB,
	PR_SERVICE_ID_LSB,
	PR_DGID,
	PR_SGID,
	PR_DLID,
	PR_SLID,
	PR_RAW_TRAFFIC,
	PR_RESERVED,
	PR_FLOW_LABEL,
	PR_HOP_LIMIT,
	PR_T_CLASS,
	PR_REVERSIBLE,
	PR_NUMB_PATH,
	PR_P_KEY,
	PR_QOS_CLASS,
	PR_SL,
	PR_MTU_SELECTOR,
	PR_MTU,
	PR_RATE_SELECTOR,
	PR_RATE,
	PR_PACKET_LIFE_TIME_SELECTOR,
	PR_PACKET_LIFE_TIME,
	PR_PREFERENCE,
	PATH_FIELDS
};
extern const struct sa_field path_fields[PATH_FIELDS];

/*!
 * \brief PathRecord to a multicast DGID: the group's values (sa/record/mcast_path.c).
 * \retval E_NOTFOUND  No such group for this requester and source, or it doesn't fit.
 */
int mcast_path(struct snap_reader *r, const struct sa_query *q, struct sa_out *out);

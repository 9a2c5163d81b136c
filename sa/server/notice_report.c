/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/server/notice_report.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "db/snapshot/reader.h"
#include "sa/mad/fields.h"
#include "sa/mad/notice.h"
#include "sa/mad/request.h"
#include "sa/mad/wire.h"
#include "sa/record/record.h"
#include "sa/server/port_watch.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"
#include "sa/store/subscription.h"

enum {
	SLOT_BITS = 16, /* of reports that wait to be sent, or for their answer */
	TRIES = 4,
	/* Longer than a transport holds a request as unanswered (the kernel refuses a
	 * second one with the same transaction id until then). */
	AGAIN_MS = 2500,
	LINES = 5,
	LINES_MS = 60000,
	METHOD_REPORT_RESP = UMAD_METHOD_REPORT | UMAD_METHOD_RESP_MASK,
	NOTICE_GID_AT = 16, /* of traps 64 to 67: what they are about */
	OPA_NOTICE_BYTES = 96,
	PRODUCER_CLASS_MANAGER = 4, /* IBA vol. 1, 13.4.8.2 */
	TYPE_SUBNET_MANAGEMENT = 3
};

/* clang-format off */
/* Details of traps 64 to 67 (IBA vol. 1, 15.2.1.4), 129 and 145 */
#define NTC_64_GID_PREFIX 128, 64
#define NTC_64_GID_GUID   192, 64
#define NTC_145_SYSTEM_IMAGE_GUID 128, 64
/* The same in Omni-Path's layout, 32 bytes of attributes in front of the details */
#define OPA_NTC_ISSUER_LID 64, 32
#define OPA_NTC_FIRST     256, 64
#define OPA_NTC_SECOND    320, 64
#define OPA_NTC_LID       256, 32
#define OPA_NTC_129_PORT  288,  8
#define OPA_NTC_144_MASK  288, 32
#define OPA_NTC_145_LID   320, 32
/* clang-format on */
enum { OPA_NTC_ISSUER_GID_AT = 16 };

static const char *const source = "sa";

struct reports {
	struct requests *requests;
	uint64_t now; /* ms */
	struct port_list ports;
	bool looked;
	struct log_limit lines;
	struct report_counters counters;
};

static const struct request_client client;

int reports_new(struct transport *t, struct reports **ret_reports)
{
	struct reports *rp = calloc(1, sizeof(*rp));

	if (rp == NULL || requests_new(t, &client, rp, &rp->requests) != E_OK) {
		free(rp);
		return -ENOMEM;
	}
	requests_set_limits(rp->requests, 1 << SLOT_BITS, AGAIN_MS);
	*ret_reports = rp;
	return E_OK;
}

void reports_free(struct reports *rp)
{
	if (rp != NULL) {
		requests_free(rp->requests);
		port_watch_done(&rp->ports);
		free(rp);
	}
}

const struct report_counters *reports_counters(const struct reports *rp)
{
	return &rp->counters;
}

/* --- subscribers of an event ---------------------------------------------------------------
 */

/* An event, and whose partitions may know of it. */
struct event {
	const uint8_t *notice;
	bool wide; /* LIDs are as sa/mad/notice.h has them; else as InfiniBand's device sent them */
	const uint16_t *group_p_key; /* of a multicast group */
	const uint16_t *p_keys;      /* of a port, which may be gone */
	size_t n_p_keys;
};

/* Number of a generic trap, UINT_MAX: of a vendor's own. */
static unsigned generic_trap(const uint8_t *notice)
{
	return field_get(notice, NTC_IS_GENERIC)
	               ? (unsigned)field_get(notice, NTC_TRAP_NUMBER)
	               : UINT_MAX;
}

/* Is the GID of a subscription that of the event? Ports are known by their GUID, under
 * whatever prefix; a multicast group is all of its GID. */
static bool is_about(const uint8_t *inform, const uint8_t *notice)
{
	unsigned trap = generic_trap(notice);

	if (trap == UMAD_SM_MGID_CREATED_TRAP || trap == UMAD_SM_MGID_DESTROYED_TRAP) {
		return memcmp(inform, notice + NOTICE_GID_AT, 16) == 0;
	}
	const uint8_t *gid =
		notice + (trap == UMAD_SM_GID_IN_SERVICE_TRAP ||
	                                  trap == UMAD_SM_GID_OUT_OF_SERVICE_TRAP
	                          ? NOTICE_GID_AT
	                          : NOTICE_ISSUER_GID_AT);
	return memcmp(inform + 8, gid + 8, 8) == 0;
}

/* Is the event about, or from, where the subscription looks? */
static bool in_scope(const uint8_t *inform, const struct event *e)
{
	uint32_t begin = inform_lid_begin(inform), end = inform_lid_end(inform);
	unsigned issuer = e->wide ? notice_issuer(e->notice)
	                          : (unsigned)field_get(e->notice, NTC_ISSUER_LID);

	if (field_get(inform, INF_GID_PREFIX) != 0 ||
	    field_get(inform, INF_GID_GUID) != 0) {
		return is_about(inform, e->notice);
	}
	end = end == 0 ? begin : end;
	return begin == INFORM_ALL_LIDS || (issuer >= begin && issuer <= end);
}

static bool wants(const uint8_t *inform, const struct event *e)
{
	const uint8_t *notice = e->notice;
	unsigned type = (unsigned)field_get(inform, INF_TYPE);
	unsigned trap = (unsigned)field_get(inform, INF_TRAP_NUMBER);
	unsigned producer = (unsigned)field_get(inform, INF_PRODUCER_TYPE);

	return (field_get(inform, INF_IS_GENERIC) != 0) ==
	               (field_get(notice, NTC_IS_GENERIC) != 0) &&
	       (type == INFORM_ALL_TYPES || type == field_get(notice, NTC_TYPE)) &&
	       (trap == INFORM_ALL_TRAPS || trap == field_get(notice, NTC_TRAP_NUMBER)) &&
	       (producer == INFORM_ALL_PRODUCERS ||
	        producer == field_get(notice, NTC_PRODUCER_TYPE)) &&
	       in_scope(inform, e);
}

/* Traps about keys are for clients that know the SM_Key. A client that subscribed to one by
 * number had to prove it then; a subscription to all traps says whether it was proven. */
static bool may_know_keys(const uint8_t *inform, const struct subscription *s,
                          const uint8_t *notice)
{
	unsigned trap = generic_trap(notice);

	return trap < UMAD_SM_BAD_MKEY_TRAP || trap > UMAD_SM_BAD_SWITCH_PKEY_TRAP ||
	       s->trusted || field_get(inform, INF_TRAP_NUMBER) == trap;
}

static bool may_know(struct snap_reader *r, const struct snap_end *who,
                     const struct event *e)
{
	const uint8_t *issuer = e->notice + NOTICE_ISSUER_GID_AT + 8;
	struct snap_end end;
	uint16_t p_key;

	if (e->group_p_key != NULL) {
		return mcast_has_p_key(r, who, *e->group_p_key);
	}
	if (e->p_keys != NULL) {
		return snap_shares_p_key(r, who, e->p_keys, e->n_p_keys) == E_OK;
	}
	return snap_port_guid(r, field_get(issuer, 0, 64), &end) != E_OK ||
	       snap_common_p_key(r, who, &end, 0, &p_key) == E_OK;
}

/* --- Omni-Path's layout ---------------------------------------------------------------
 */

/* Details of a generic trap; false: the layout of this one is not known. */
static bool opa_details(unsigned trap, const uint8_t *notice, uint8_t *ret_data)
{
	switch (trap) {
	case UMAD_SM_GID_IN_SERVICE_TRAP:
	case UMAD_SM_GID_OUT_OF_SERVICE_TRAP:
	case UMAD_SM_MGID_CREATED_TRAP:
	case UMAD_SM_MGID_DESTROYED_TRAP:
		field_set(ret_data, OPA_NTC_FIRST, field_get(notice, NTC_64_GID_PREFIX));
		field_set(ret_data, OPA_NTC_SECOND, field_get(notice, NTC_64_GID_GUID));
		return true;
	case UMAD_SM_LINK_STATE_CHANGED_TRAP:
		field_set(ret_data, OPA_NTC_LID, notice_lid(notice));
		return true;
	case UMAD_SM_LINK_INTEGRITY_THRESHOLD_TRAP:
	case UMAD_SM_BUFFER_OVERRUN_THRESHOLD_TRAP:
	case UMAD_SM_WATCHDOG_TIMER_EXPIRED_TRAP:
		field_set(ret_data, OPA_NTC_LID, notice_lid(notice));
		field_set(ret_data, OPA_NTC_129_PORT, field_get(notice, NTC_129_PORT));
		return true;
	case UMAD_SM_LOCAL_CHANGES_TRAP:
		field_set(ret_data, OPA_NTC_LID, notice_lid(notice));
		field_set(ret_data, OPA_NTC_144_MASK,
		          field_get(notice, NTC_144_CAPABILITY_MASK));
		return true;
	case UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP:
		field_set(ret_data, OPA_NTC_FIRST,
		          field_get(notice, NTC_145_SYSTEM_IMAGE_GUID));
		field_set(ret_data, OPA_NTC_145_LID, notice_lid(notice));
		return true;
	default: return false;
	}
}

static bool opa_notice(const uint8_t *notice, uint8_t ret_notice[OPA_NOTICE_BYTES])
{
	enum { ATTRIBUTES = 6, GID_BYTES = 16 };

	memset(ret_notice, 0, OPA_NOTICE_BYTES);
	memcpy(ret_notice, notice, ATTRIBUTES);
	field_set(ret_notice, OPA_NTC_ISSUER_LID, notice_issuer(notice));
	memcpy(ret_notice + OPA_NTC_ISSUER_GID_AT, notice + NOTICE_ISSUER_GID_AT,
	       GID_BYTES);
	return field_get(notice, NTC_IS_GENERIC) &&
	       opa_details((unsigned)field_get(notice, NTC_TRAP_NUMBER), notice,
	                   ret_notice);
}

/* --- what waits for its answer -------------------------------------------------------
 */

static void queue_report(struct reports *rp, const struct subscription *s, bool opa,
                         uint32_t lid, const struct event *e)
{
	uint8_t translated[OPA_NOTICE_BYTES], notice[NOTICE_BYTES];

	memcpy(notice, e->notice, sizeof(notice));
	if (e->wide && !opa) {
		notice_narrow(notice);
	} else if (!e->wide && opa) {
		notice_clear_high(notice);
	}
	if (opa && !opa_notice(notice, translated)) {
		return; /* cannot be said there */
	}
	struct mad_request *r =
		request_begin(rp->requests, UMAD_CLASS_SUBN_ADM,
	                      opa ? SA_OPA_VERSION : UMAD_SA_CLASS_VERSION,
	                      UMAD_METHOD_REPORT, UMAD_ATTR_NOTICE, 0);

	if (r == NULL) {
		rp->counters.dropped++;
		return;
	}
	if (opa) {
		r->len = SA_HDR_BYTES + OPA_NOTICE_BYTES;
	}
	memcpy(r->mad + SA_HDR_BYTES, opa ? translated : notice,
	       opa ? OPA_NOTICE_BYTES : NOTICE_BYTES);
	r->addr = (struct mad_addr){ .sl = s->sl,
		                     .pkey_index = s->pkey_index,
		                     .lid = lid,
		                     .qpn = s->qpn,
		                     .qkey = UMAD_QKEY };
	rp->counters.sent++;
}

static void queue_reports(struct reports *rp, struct snap_reader *r, const struct sa_store *st,
                 const struct event *e)
{
	const struct store_row *row = store_seek(st, RECORDS_SUBSCRIPTIONS, NULL, 0);

	for (; row != NULL; row = store_next(st, RECORDS_SUBSCRIPTIONS, row)) {
		const uint8_t *inform = row->bytes + 8;
		struct subscription s;
		struct snap_end who;

		if (row->key_len != SUBSCRIPTION_KEY_BYTES || row->len != sizeof(s) ||
		    !wants(inform, e) ||
		    snap_port_guid(r, field_get(row->bytes, 0, 64), &who) != E_OK ||
		    !may_know(r, &who, e)) {
			continue;
		}
		memcpy(&s, store_value(row), sizeof(s));
		if (may_know_keys(inform, &s, e->notice)) {
			queue_report(rp, &s, field_get(inform, INF_OMNI_PATH) != 0,
			             who.base_lid, e);
		}
	}
}

void reports_event(struct reports *rp, struct snap_reader *r, const struct sa_store *st,
                   const uint8_t notice[NOTICE_BYTES], bool wide)
{
	queue_reports(rp, r, st, &(struct event){ .notice = notice, .wide = wide });
}

bool reports_is_response(const uint8_t *mad, size_t len)
{
	return len >= SA_HDR_BYTES && field_get(mad, MAD_METHOD) == METHOD_REPORT_RESP &&
	       field_get(mad, MAD_MGMT_CLASS) == UMAD_CLASS_SUBN_ADM;
}

bool reports_answer(struct reports *rp, const uint8_t *mad, size_t len, uint32_t lid)
{
	if (!reports_is_response(mad, len)) {
		return false;
	}
	const struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                   .addr = { .lid = lid },
		                   .len = len,
		                   .data = (uint8_t *)mad }; /* which is only read */

	rp->counters.forged += requests_receive(rp->requests, &m) == MAD_FORGED;
	return true;
}

static void take_answer(void *ctx, struct mad_request *r, const struct mad_msg *m)
{
	struct reports *rp = ctx;

	(void)m;
	rp->counters.answered++;
	request_end(rp->requests, r);
}

/* Sends a report again, or gives it up. */
static void repeat(void *ctx, struct mad_request *r)
{
	struct reports *rp = ctx;
	char skipped[LOG_SKIPPED_BYTES];

	if (r->tries < TRIES) {
		rp->counters.sent++;
		(void)request_send(rp->requests, r, rp->now);
		return;
	}
	rp->counters.given_up++;
	if (log_allowed(&rp->lines, rp->now, LINES, LINES_MS, skipped)) {
		log_message(MSG_SA_NO_REPORT_ANSWER, source,
		            "LID %u QP %u does not answer to the report of trap %u%s",
		            r->addr.lid, r->addr.qpn,
		            (unsigned)field_get(r->mad + SA_HDR_BYTES, NTC_TRAP_NUMBER),
		            skipped);
	}
	request_end(rp->requests, r);
}

static const struct request_client client = {
	.mgmt_class = UMAD_CLASS_SUBN_ADM,
	.slot_bits = SLOT_BITS,
	.mad_bytes = MAD_BYTES,
	.answer_bytes = SA_HDR_BYTES,
	.keeps_id = true,
	.answered = take_answer,
	.unanswered = repeat,
};

uint64_t reports_run(struct reports *rp, uint64_t now_ms)
{
	rp->now = now_ms;
	requests_run(rp->requests, now_ms);
	return requests_deadline(rp->requests, now_ms);
}

/* --- events of the SM itself
 * ------------------------------------------------------------
 */

/* A notice about a GID, by us. */
static void fill_notice(struct snap_reader *r, unsigned trap, const uint8_t gid[16],
                        uint8_t notice[NOTICE_BYTES])
{
	const struct snap_meta *m = snap_meta(r);

	memset(notice, 0, NOTICE_BYTES);
	field_set(notice, NTC_IS_GENERIC, 1);
	field_set(notice, NTC_TYPE, TYPE_SUBNET_MANAGEMENT);
	field_set(notice, NTC_PRODUCER_TYPE, PRODUCER_CLASS_MANAGER);
	field_set(notice, NTC_TRAP_NUMBER, trap);
	notice_put_lids(notice, m->sm_lid, 0, 0);
	memcpy(notice + NOTICE_GID_AT, gid, 16);
	field_set(notice + NOTICE_ISSUER_GID_AT, 0, 64, m->subnet_prefix);
	field_set(notice + NOTICE_ISSUER_GID_AT, 64, 64, m->sm_port_guid);
}

void reports_group(struct reports *rp, struct snap_reader *r, const struct sa_store *st,
                   const struct store_event *e)
{
	uint8_t notice[NOTICE_BYTES];
	const struct event event = { .notice = notice, .wide = true, .group_p_key = &e->p_key };

	fill_notice(r,
	            e->created ? UMAD_SM_MGID_CREATED_TRAP : UMAD_SM_MGID_DESTROYED_TRAP,
	            e->mgid, notice);
	queue_reports(rp, r, st, &event);
}

struct port_events {
	struct reports *rp;
	struct snap_reader *r;
	const struct sa_store *st;
};

static void report_port(void *ctx, bool came, uint64_t guid, const uint16_t *keys, size_t n)
{
	const struct port_events *t = ctx;
	uint8_t notice[NOTICE_BYTES], gid[16];
	const struct event event = { .notice = notice, .wide = true, .p_keys = keys, .n_p_keys = n };

	field_set(gid, 0, 64, snap_meta(t->r)->subnet_prefix);
	field_set(gid, 64, 64, guid);
	fill_notice(t->r,
	            came ? UMAD_SM_GID_IN_SERVICE_TRAP : UMAD_SM_GID_OUT_OF_SERVICE_TRAP,
	            gid, notice);
	queue_reports(t->rp, t->r, t->st, &event);
}

static void drop_lost(struct sa_store *st, const struct port_list *now)
{
	const struct store_row *next,
		*row = store_seek(st, RECORDS_SUBSCRIPTIONS, NULL, 0);

	for (; row != NULL; row = next) {
		next = store_next(st, RECORDS_SUBSCRIPTIONS, row);
		uint64_t guid = field_get(row->bytes, 0, 64);
		uint8_t key[SUBSCRIPTION_KEY_BYTES];

		if (row->key_len != sizeof(key) || port_watch_has(now, guid)) {
			continue;
		}
		memcpy(key, row->bytes, sizeof(key));
		log_debug(source, "port 0x%016" PRIx64 " is gone, and its subscription",
		          guid);
		(void)store_drop(st, RECORDS_SUBSCRIPTIONS, key, sizeof(key));
	}
}

int reports_ports(struct reports *rp, struct snap_reader *r, struct sa_store *st)
{
	struct port_events port_events = { rp, r, st };
	struct port_list now;
	int ret = port_watch_read(r, &now);

	if (ret != E_OK) {
		return ret;
	}
	drop_lost(st, &now);
	if (rp->looked) {
		port_watch_compare(&rp->ports, &now, report_port, &port_events);
	}
	port_watch_done(&rp->ports);
	rp->ports = now;
	rp->looked = true;
	return E_OK;
}

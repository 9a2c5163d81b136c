/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/notice.h"

#include <infiniband/umad_sm.h>

#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"

enum { ISSUER_AT = 48, HIGH_BITS = 8, LOW_BITS = 16, LOW = 0xFFFF };

/* Where the LIDs of a trap are, and 8 reserved bits for each; bits 0: it has none there. */
struct places {
	uint16_t issuer_high, lid, lid_high, lid_2, lid_2_high;
};

/* The details begin with 16 reserved bits, or with the LID and reserved bits behind it. */
static struct places places_of(const uint8_t *notice)
{
	unsigned number = (unsigned)field_get(notice, NTC_TRAP_NUMBER);

	if (!field_get(notice, NTC_IS_GENERIC)) {
		return (struct places){ 0 };
	}
	switch (number) {
	case UMAD_SM_LINK_STATE_CHANGED_TRAP:
		return (struct places){ .issuer_high = 96, .lid = 80, .lid_high = 104 };
	case UMAD_SM_BAD_PKEY_TRAP:
	case UMAD_SM_BAD_QKEY_TRAP:
	case UMAD_SM_BAD_SWITCH_PKEY_TRAP:
		return (struct places){ .issuer_high = 80,
			                .lid = 96,
			                .lid_high = 88,
			                .lid_2 = 112,
			                .lid_2_high = 488 };
	case UMAD_SM_LINK_INTEGRITY_THRESHOLD_TRAP:
	case UMAD_SM_BUFFER_OVERRUN_THRESHOLD_TRAP:
	case UMAD_SM_WATCHDOG_TIMER_EXPIRED_TRAP:
	case UMAD_SM_LOCAL_CHANGES_TRAP:
	case UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP:
	case UMAD_SM_BAD_MKEY_TRAP:
		return (struct places){ .issuer_high = 80, .lid = 96, .lid_high = 88 };
	case UMAD_SM_GID_IN_SERVICE_TRAP:
	case UMAD_SM_GID_OUT_OF_SERVICE_TRAP:
	case UMAD_SM_MGID_CREATED_TRAP:
	case UMAD_SM_MGID_DESTROYED_TRAP: return (struct places){ .issuer_high = 80 };
	case VPORT_TRAP_P_KEY:
	case VPORT_TRAP_Q_KEY: return (struct places){ .lid = 96, .lid_2 = 112 };
	default:
		/* other traps of InfiniBand, virtual ports', say a LID at this place, or none */
		return (struct places){ .lid = 96 };
	}
}

static uint32_t get_lid(const uint8_t *notice, unsigned at, unsigned high)
{
	uint64_t lid = at != 0 ? field_get(notice, at, LOW_BITS) : 0;

	return (uint32_t)(high != 0 ? field_get(notice, high, HIGH_BITS) << LOW_BITS | lid
	                            : lid);
}

static void put_lid(uint8_t *notice, unsigned at, unsigned high, uint32_t lid)
{
	if (at != 0) {
		field_set(notice, at, LOW_BITS, high != 0 || lid <= LOW ? lid & LOW : 0);
	}
	if (high != 0) {
		field_set(notice, high, HIGH_BITS, lid >> LOW_BITS);
	}
}

uint32_t notice_issuer(const uint8_t *notice)
{
	return get_lid(notice, ISSUER_AT, places_of(notice).issuer_high);
}

uint32_t notice_lid(const uint8_t *notice)
{
	struct places p = places_of(notice);

	return get_lid(notice, p.lid, p.lid_high);
}

uint32_t notice_lid_2(const uint8_t *notice)
{
	struct places p = places_of(notice);

	return get_lid(notice, p.lid_2, p.lid_2_high);
}

void notice_put_lids(uint8_t *notice, uint32_t issuer, uint32_t lid, uint32_t lid_2)
{
	struct places p = places_of(notice);

	put_lid(notice, ISSUER_AT, p.issuer_high, issuer);
	put_lid(notice, p.lid, p.lid_high, lid);
	put_lid(notice, p.lid_2, p.lid_2_high, lid_2);
}

static uint32_t narrow(uint32_t lid)
{
	return lid < OPA_LID_END ? lid : 0;
}

void notice_narrow(uint8_t *notice)
{
	struct places p = places_of(notice);

	if (p.issuer_high != 0) { /* of others no LID can be that high */
		notice_put_lids(notice, narrow(notice_issuer(notice)),
		                narrow(notice_lid(notice)), narrow(notice_lid_2(notice)));
	}
}

void notice_clear_high(uint8_t *notice)
{
	struct places p = places_of(notice);
	const unsigned high[] = { p.issuer_high, p.lid_high, p.lid_2_high };

	for (unsigned i = 0; i < sizeof(high) / sizeof(high[0]); i++) {
		if (high[i] != 0) {
			field_set(notice, high[i], HIGH_BITS, 0);
		}
	}
}

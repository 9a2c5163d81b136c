/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/opa_lid.h"

#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/transport.h"

/* clang-format off */
#define GID_PREFIX 0, 64
#define GID_OUI   64, 24
#define GID_LID   96, 32
/* clang-format on */
enum { OUI = 0x00066A, PERMISSIVE = 0xFFFF };

uint32_t opa_lid_of_gid(const uint8_t gid[16])
{
	return field_get(gid, GID_OUI) == OUI ? (uint32_t)field_get(gid, GID_LID) : 0;
}

void opa_gid_of_lid(uint64_t prefix, uint32_t lid, uint8_t ret_gid[16])
{
	field_set(ret_gid, GID_PREFIX, prefix);
	field_set(ret_gid, 64, 64, (uint64_t)OUI << 40 | lid);
}

bool opa_addr_encode(uint32_t own, uint64_t prefix, struct mad_addr *addr)
{
	if (addr->lid == PERMISSIVE ||
	    (!opa_lid_is_high(own) && !opa_lid_is_high(addr->lid))) {
		return false;
	}
	if (!addr->has_grh || opa_lid_of_gid(addr->gid) != addr->lid) {
		addr->has_grh = true;
		opa_gid_of_lid(prefix, addr->lid, addr->gid);
	}
	return true;
}

void opa_addr_decode(struct mad_addr *addr)
{
	uint32_t lid = addr->has_grh ? opa_lid_of_gid(addr->gid) : 0;

	if (lid != 0) {
		addr->lid = lid;
	}
}

uint32_t opa_lid_of_port(const uint8_t *info, const uint8_t *native)
{
	return (uint32_t)(native != NULL ? field_get(native, OPA_PI_LID)
	                                 : field_get(info, PI_LID));
}

uint32_t opa_lid_of_sm(const uint8_t *info, const uint8_t *native)
{
	return (uint32_t)(native != NULL ? field_get(native, OPA_PI_MASTER_SM_LID)
	                                 : field_get(info, PI_MASTER_SM_LID));
}

uint32_t opa_lid_lft_top(const uint8_t *info, const uint8_t *native)
{
	return (uint32_t)(native != NULL ? field_get(native, OPA_SI_LINEAR_FDB_TOP)
	                                 : field_get(info, SI_LINEAR_FDB_TOP));
}

uint32_t opa_lid_lft_cap(const uint8_t *info, const uint8_t *native)
{
	return (uint32_t)(native != NULL ? field_get(native, OPA_SI_LINEAR_FDB_CAP)
	                                 : field_get(info, SI_LINEAR_FDB_CAP));
}

uint32_t opa_lid_shape(uint32_t lid)
{
	return lid < OPA_LID_END ? lid : 0;
}

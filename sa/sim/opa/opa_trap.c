/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <string.h>

#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * Traps of an agent: a Notice of 96 bytes by LID to the master SM. Its user sends and repeats them.
 */

size_t opa_trap(const struct opa_port *p, enum opa_trap number, uint64_t tid,
                unsigned flags, const uint8_t *request, uint8_t *mad)
{
	enum {
		URGENT = 1,
		SECURITY = 2,
		INFORMATIONAL = 4,
		NOTICE_BYTES = 96,
		HFI = 1,
		SWITCH = 2,
		CLASS_LR = 1
	};
	const uint64_t lid = field_get(p->info, OPI_LID);
	uint8_t *n = mad + OPA_LR_DATA_AT;

	field_set(mad, MAD_BASE_VERSION, OPA_VERSION);
	field_set(mad, MAD_MGMT_CLASS, CLASS_LR);
	field_set(mad, MAD_CLASS_VERSION, OPA_VERSION);
	field_set(mad, MAD_METHOD, OPA_TRAP);
	field_set(mad, MAD_TID, tid);
	field_set(mad, MAD_ATTR_ID, OPA_NOTICE);
	field_set(mad, OPA_SMP_M_KEY, field_get(p->info, OPI_M_KEY));
	field_set(n, ONT_GENERIC, 1);
	field_set(n, ONT_TYPE,
	          number == OPA_TRAP_PORT_STATE ? URGENT
	          : number == OPA_TRAP_M_KEY    ? SECURITY
	                                        : INFORMATIONAL);
	field_set(n, ONT_PRODUCER, p->device->is_switch ? SWITCH : HFI);
	field_set(n, ONT_NUMBER, number);
	field_set(n, ONT_ISSUER_LID, lid);
	field_set(n, ONT_ISSUER_GID, field_get(p->info, OPI_SUBNET_PREFIX));
	field_set(n, ONT_ISSUER_GUID, p->guid);
	field_set(n, ONT_LID, lid);
	if (number == OPA_TRAP_CAPABILITY) {
		field_set(n, ONT_CAPABILITY, field_get(p->info, OPI_CAPABILITY));
		field_set(n, ONT_CAPABILITY_3, field_get(p->info, OPI_CAPABILITY_3));
		field_set(n, ONT_CHANGES, flags);
	} else if (number == OPA_TRAP_M_KEY && request != NULL) {
		field_set(n, ONT_256_METHOD, request[3]);
		field_set(n, ONT_256_ATTRIBUTE, field_get(request, MAD_ATTR_ID));
		field_set(n, ONT_256_MODIFIER, field_get(request, MAD_ATTR_MOD));
		field_set(n, ONT_256_M_KEY, field_get(request, OPA_SMP_M_KEY));
	}
	return OPA_LR_DATA_AT + NOTICE_BYTES;
}

bool opa_source_allowed(const struct opa_port *p, uint32_t slid)
{
	const uint32_t lid = (uint32_t)field_get(p->info, OPI_LID);

	/* 0: the SM has not said yet; 0xFFFFFFFF: the check is off; a switch sends for others */
	return !p->device->is_switch || p->num == 0 || p->peer == NULL ||
	       p->peer->device->is_switch || lid == 0 || lid == UINT32_MAX ||
	       (lid ^ slid) >> field_get(p->info, OPI_LMC) == 0;
}

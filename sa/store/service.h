/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*! The row of a service as the store keeps it: ServiceID, ServiceGID and ServiceP_Key are its
 *  key and its record's first bytes; the value is the PortGUID of who set it and the record. */
enum {
	SERVICE_KEY_BYTES = 26,
	SERVICE_RECORD_BYTES = 176,
	SERVICE_OWNER_BYTES = 8,
	SERVICE_ROW_BYTES = SERVICE_OWNER_BYTES + SERVICE_RECORD_BYTES
};

/*! \brief Takes what is not public, the ServiceKey, out of a row's value. */
void service_hide(uint8_t *value, size_t len);

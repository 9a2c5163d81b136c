/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*! The row of a service in the store. The key is ServiceID, ServiceGID and ServiceP_Key, which
 *  are the first bytes of the record. The value is the PortGUID of the client, then the record. */
enum {
	SERVICE_KEY_BYTES = 26,
	SERVICE_RECORD_BYTES = 176,
	SERVICE_OWNER_BYTES = 8,
	SERVICE_ROW_BYTES = SERVICE_OWNER_BYTES + SERVICE_RECORD_BYTES
};

/*! \brief Clears the ServiceKey, which is not public, in a row's value. */
void service_hide(uint8_t *value, size_t len);

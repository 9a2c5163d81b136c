/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * adminman: writes what saguaro-admin(8) has from the table of resources: role, parameters, body.
 * /openapi.json comes from the same table. Run at build time.
 */
#include <config.h>

#include <stdio.h>

#include "gateway/admin/admin_call.h"
#include "gateway/resource/manual.h"

int main(void)
{
	for (unsigned i = 0; i < admin_resources.n; i++) {
		manual_head(&admin_resources, &admin_resources.row[i]);
		manual_details(&admin_resources.row[i]);
	}
	return ferror(stdout) ? 1 : 0;
}

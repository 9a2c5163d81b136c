/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as MADs for two Omni-Path devices, a switch and an adapter with a cable between them: the agents of
 * subnet management and of performance management, and adaptive routing in between. No crash; an answer is at
 * most 2,048 bytes and a multiple of 8, has the request's transaction ID and is a response; what a device
 * shows of itself stays within its limits.
 *
 * Input: MADs, each after a byte that says to whom it goes (bit 0), of which class it is (bits 2:1: LID
 * routed, directed, performance management, or as its bytes say), whether the versions are right (bit 3) and
 * which P_Key it has (bit 4), and two bytes of length.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_device.h"
#include "tests/fuzz/fuzz.h"

enum { SWITCH_PORTS = 6, DEVICES = 2 };

static struct opa_device *devices[DEVICES];

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void on_link(void *ctx, unsigned port, enum opa_link_order order)
{
	const struct opa_device *d = *(struct opa_device **)ctx;

	require(port >= 1 && port <= d->n_ports);
	if (order != OPA_LINK_ENABLE && d->ports[port].peer != NULL) {
		struct opa_port *peer = d->ports[port].peer;

		opa_link_down(peer, OPA_REASON_NEIGHBOR);
		opa_link_down(&d->ports[port], OPA_REASON_SM_BOUNCE);
	}
	if (order != OPA_LINK_DISABLE && d->ports[port].peer == NULL && port == 1 &&
	    devices[1] != NULL && !devices[0]->ports[1].disabled &&
	    !devices[1]->ports[1].disabled) {
		(void)opa_link_up(&devices[0]->ports[1], &devices[1]->ports[1], 4);
	}
}

static void on_port(void *ctx, unsigned port)
{
	require(port <= (*(struct opa_device **)ctx)->n_ports);
}

static void on_m_key(void *ctx, const uint8_t *mad)
{
	(void)ctx;
	require(mad[3] < 0x80);
}

static void on_repress(void *ctx, uint64_t tid)
{
	(void)ctx;
	(void)tid;
}

static const struct opa_ops ops = { on_link, on_port, on_m_key, on_repress };

static void open_devices(void)
{
	const struct opa_port_row rows[SWITCH_PORTS + 1] = { { 0 } };

	for (unsigned i = 0; i < DEVICES; i++) {
		const struct opa_device_row row = { .guid = 0x1000 * (i + 1),
			                            .is_switch = i == 0,
			                            .n_ports = i == 0 ? SWITCH_PORTS : 2,
			                            .version = 1,
			                            .description = "d",
			                            .ops = &ops,
			                            .ctx = &devices[i] };

		require(opa_device_new(&row, rows, &devices[i]) == E_OK);
	}
	require(opa_link_up(&devices[0]->ports[1], &devices[1]->ports[1], 4) == E_OK);
}

static void check_device(const struct opa_device *d)
{
	for (unsigned n = d->is_switch ? 0 : 1; n <= d->n_ports; n++) {
		const struct opa_port *p = &d->ports[n];
		const unsigned state = (unsigned)field_get(p->info, OPI_STATE);

		require(state >= OPA_DOWN && state <= OPA_ACTIVE);
		require(n == 0 || (state == OPA_DOWN) == (p->peer == NULL));
		require(p->peer == NULL || p->peer->peer == p);
		require(field_get(p->info, OPI_LOCAL_PORT_NUM) == n);
		require(field_get(p->info, OPI_OPERATIONAL_VL) <=
		        field_get(p->info, OPI_VL_CAP));
		require(p->sc_to_vl[1][OPA_VL15] == OPA_VL15);
		require(d->is_switch || opa_has_p_key(p, 0x7FFF));
	}
	require(field_get(d->switch_info, OSI_LINEAR_FDB_TOP) < OPA_LFT_CAP);
	require(d->lft_len <= OPA_LFT_CAP && d->pgft_len <= OPA_PGFT_CAP);
}

static void send(unsigned how, const uint8_t *bytes, size_t len)
{
	static const uint8_t classes[] = { 0x01, 0x81, 0x04 };
	uint8_t mad[OPA_MAD_BYTES] = { 0 };
	struct opa_device *d = devices[how & 1];
	const unsigned kind = how >> 1 & 3;
	const struct opa_from from = { .port = 1,
		                       .p_key = how >> 4 & 1 ? 0x7FFF : 0xFFFF };
	uint64_t tid;

	memcpy(mad, bytes, len);
	if (kind < sizeof(classes)) {
		mad[1] = classes[kind];
	}
	if ((how >> 3 & 1) == 0) {
		mad[0] = mad[2] = OPA_VERSION;
	}
	tid = field_get(mad, MAD_TID);
	const size_t n = mad[1] == 0x04 ? opa_perf_agent(d, &from, mad, len)
	                                : opa_agent(d, &from, mad, len);
	require(n <= OPA_MAD_BYTES && n % 8 == 0);
	require(n == 0 ||
	        (mad[3] == OPA_GET_RESP && field_get(mad, MAD_TID) == tid && n >= 24));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint64_t now_us = 0;

	open_devices();
	for (size_t at = 0; at + 3 <= size;) {
		const unsigned how = bytes[at];
		size_t len = (size_t)bytes[at + 1] << 8 | bytes[at + 2];

		at += 3;
		len = len < size - at ? len : size - at;
		len = len < OPA_MAD_BYTES ? len : OPA_MAD_BYTES;
		send(how, bytes + at, len);
		at += len;
		now_us += 100000;
		(void)opa_adapt(devices[0], now_us, NULL, NULL, NULL);
		check_device(devices[0]);
		check_device(devices[1]);
	}
	for (unsigned i = 0; i < DEVICES; i++) {
		opa_device_reset(devices[i]);
		check_device(devices[i]);
	}
	for (unsigned i = 0; i < DEVICES; i++) {
		opa_device_free(devices[i]);
		devices[i] = NULL;
	}
	return 0;
}

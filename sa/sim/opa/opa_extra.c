/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdlib.h>
#include <string.h>

#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * What an SM asks beside the fabric itself: the memory of the cable, and congestion control.
 *
 * The cable is a passive copper cable of 3 m by SFF-8636, or, once somebody says how warm it is, an optical one. Its memory has 4,096 bytes of address space: the lower
 * half of 128 bytes, then the upper pages; page 0 says who made it. A read must not cross 128 bytes.
 *
 * Congestion settings are stored and shown. The logs are empty.
 */

enum {
	CABLE_PAGE = 128,
	CABLE_READ = 64,
	CABLE_SPACE = 4096,
	SWITCH_LOG_BYTES = 1576,
	HFI_LOG_BYTES = 1548,
	HFI_LOG_EVENTS = 96
};

/* --- cable ---------------------------------------------------------------------------------------- */

void opa_cable_reset(struct opa_port *p)
{
	memset(p->cable, 0, sizeof(p->cable));
	p->cable[0] = 0x11; /* identifier: QSFP28 */
	p->cable[2] = 0x06; /* flat memory, no interrupt */
}

void opa_cable_warm(struct opa_port *p, uint8_t degrees)
{
	enum { TEMPERATURE = 22, SUPPLY = 26, RX_POWER = 34, TX_POWER = 50, LANES = 4 };

	p->cable[TEMPERATURE] = degrees;
	field_set(p->cable, 8 * SUPPLY, 16, 33000); /* 3.3 V */
	for (unsigned i = 0; i < LANES; i++) {      /* 0.8 and 0.9 mW */
		field_set(p->cable, 8 * (RX_POWER + 2 * i), 16, 8000);
		field_set(p->cable, 8 * (TX_POWER + 2 * i), 16, 9000);
	}
}

static void put_text(uint8_t *at, size_t n, const char *text)
{
	memset(at, ' ', n);
	memcpy(at, text, strlen(text) < n ? strlen(text) : n);
}

static uint8_t sum(const uint8_t *at, unsigned n)
{
	unsigned s = 0;

	for (unsigned i = 0; i < n; i++) {
		s += at[i];
	}
	return (uint8_t)s;
}

/* Upper page 0, bytes 128 to 255 of SFF-8636. */
static void fill_page(const struct opa_port *p, uint8_t *page)
{
	static const char hex[] = "0123456789ABCDEF";
	char serial[17] = { 0 };

	/* both ends of a cable show the same serial number */
	const struct opa_port *low =
		p->peer != NULL &&
				(p->peer->device->guid < p->device->guid ||
	                         (p->peer->device == p->device && p->peer->num < p->num))
			? p->peer
			: p;
	for (unsigned i = 0; i < 12; i++) {
		serial[i] = hex[low->device->guid >> (4 * (11 - i)) & 15];
	}
	serial[12] = hex[low->num >> 4];
	serial[13] = hex[low->num & 15];
	memset(page, 0, CABLE_PAGE);
	page[0] = 0x11;
	page[2] = 0x23;  /* connector: none that separates */
	page[12] = 0xFF; /* nominal bit rate: see byte 222 */
	page[18] = 3;    /* metres */
	page[19] = p->cable[22] != 0
	                   ? 0
	                   : 0xA0; /* a laser of 850 nm; copper, not equalized */
	put_text(page + 20, 16, "SAGUARO");
	page[36] = 0x1C;
	put_text(page + 40, 16, "SIMULATED-3M");
	put_text(page + 56, 2, "1");
	page[63] = sum(page, 63);
	put_text(page + 68, 16, serial);
	put_text(page + 84, 8, "260101");
	page[94] = 103; /* 25.75 Gb/s in units of 250 Mb/s */
	page[95] = sum(page + 64, 31);
	page[122] = 0xAB; /* made for Omni-Path */
}

/* address 30:19 | (length - 1) 18:13 | port 7:0 */
uint16_t opa_sma_cable_info(struct opa_access *a)
{
	const unsigned address = a->mod >> 19 & 0xFFF, len = (a->mod >> 13 & 0x3F) + 1;
	unsigned port = a->mod & 0xFF;
	uint8_t page[CABLE_PAGE];

	if (a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (!a->d->is_switch && port == 0) {
		port = a->in_port;
	}
	if (port < 1 || port > a->d->n_ports || address + len > CABLE_SPACE ||
	    a->room < CABLE_READ ||
	    address / CABLE_PAGE != (address + len - 1) / CABLE_PAGE) {
		return OPA_BAD_FIELD;
	}
	const struct opa_port *p = &a->d->ports[port];
	if (p->peer == NULL && !p->disabled) { /* no cable is plugged in */
		return OPA_BAD_FIELD;
	}
	if (address < CABLE_PAGE) {
		memcpy(page, p->cable, sizeof(page));
	} else if (address < 2 * CABLE_PAGE) {
		fill_page(p, page);
	} else {
		memset(page, 0, sizeof(page));
	}
	memset(a->data, 0, CABLE_READ);
	memcpy(a->data, page + address % CABLE_PAGE, len);
	a->len = CABLE_READ;
	return OPA_GOOD;
}

/* --- congestion control --------------------------------------------------------------------------- */

/* One stored block of bytes. */
static uint16_t stored(struct opa_access *a, uint8_t *block, size_t n)
{
	if (a->mod != 0 || a->room < n) {
		return OPA_BAD_FIELD;
	}
	if (a->set) {
		memcpy(block, a->data, n);
	}
	memcpy(a->data, block, n);
	a->len = n;
	return OPA_GOOD;
}

static uint16_t empty_log(struct opa_access *a, size_t n, uint8_t type)
{
	if (a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (a->mod != 0 || a->room < n) {
		return OPA_BAD_FIELD;
	}
	memset(a->data, 0, n);
	a->data[0] = type;
	a->len = n;
	return OPA_GOOD;
}

static uint16_t congestion_info(struct opa_access *a)
{
	if (a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (a->mod != 0 || a->room < 4) {
		return OPA_BAD_FIELD;
	}
	memset(a->data, 0, 4);
	if (!a->d->is_switch) {
		a->data[2] = OPA_CCT_BLOCKS; /* ControlTableCap */
	}
	a->data[3] = HFI_LOG_EVENTS;
	a->len = 4;
	return OPA_GOOD;
}

static uint16_t port_congestion(struct opa_access *a)
{
	struct opa_ports ports;

	if (!opa_named_ports(a, (unsigned)(a->room / 4), &ports)) {
		return OPA_BAD_FIELD;
	}
	for (unsigned i = 0; i < ports.n; i++) {
		uint8_t *own = a->d->ports[ports.first + i].congestion;

		if (a->set) {
			memcpy(own, a->data + 4u * i, 4);
		}
		memcpy(a->data + 4u * i, own, 4);
	}
	a->len = 4u * ports.n;
	return OPA_GOOD;
}

/* N | block 7:0; CCTI_Limit, then the blocks. */
static uint16_t control_table(struct opa_access *a)
{
	enum { LIMIT_BYTES = 2 };
	struct opa_port *p = opa_end_port(a);
	const unsigned n = opa_count(a), block = a->mod & 0xFF;
	const size_t bytes = (size_t)n * OPA_CCT_BLOCK_BYTES;

	if (n < 1 || block + n > OPA_CCT_BLOCKS || LIMIT_BYTES + bytes > a->room) {
		return OPA_BAD_FIELD;
	}
	if (a->set && p->cct == NULL) {
		p->cct = calloc(1, OPA_CCT_BYTES);
		if (p->cct == NULL) {
			return OPA_BAD_FIELD;
		}
	}
	if (a->set) {
		memcpy(p->cct, a->data, LIMIT_BYTES);
		memcpy(p->cct + LIMIT_BYTES + (size_t)block * OPA_CCT_BLOCK_BYTES,
		       a->data + LIMIT_BYTES, bytes);
	}
	memset(a->data, 0, LIMIT_BYTES + bytes);
	if (p->cct != NULL) {
		memcpy(a->data, p->cct, LIMIT_BYTES);
		memcpy(a->data + LIMIT_BYTES,
		       p->cct + LIMIT_BYTES + (size_t)block * OPA_CCT_BLOCK_BYTES, bytes);
	}
	a->len = LIMIT_BYTES + bytes;
	return OPA_GOOD;
}

uint16_t opa_sma_congestion(struct opa_access *a, uint16_t attr)
{
	if (attr == OPA_CONGESTION_INFO) {
		return congestion_info(a);
	}
	if (a->d->is_switch) {
		switch (attr) {
		case OPA_SWITCH_CONGESTION_LOG: return empty_log(a, SWITCH_LOG_BYTES, 1);
		case OPA_SWITCH_CONGESTION:
			return stored(a, a->d->congestion_setting, OPA_SWITCH_CONGESTION_BYTES);
		case OPA_PORT_CONGESTION: return port_congestion(a);
		default: return OPA_BAD_ATTRIBUTE;
		}
	}
	switch (attr) {
	case OPA_HFI_CONGESTION_LOG: return empty_log(a, HFI_LOG_BYTES, 2);
	case OPA_HFI_CONGESTION:
		return stored(a, opa_end_port(a)->hfi_congestion, OPA_HFI_CONGESTION_BYTES);
	case OPA_HFI_CONGESTION_CONTROL: return control_table(a);
	default: return OPA_BAD_ATTRIBUTE;
	}
}

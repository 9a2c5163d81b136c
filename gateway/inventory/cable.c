/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Bytes of a module's memory by its identifier. Texts are ASCII, filled up with spaces; other bytes become
 * question marks.
 *
 * Source: SFF-8636 for QSFP, CMIS for QSFP-DD, both of which Omni-Path uses; the table of Omni-Path's tools for
 * bytes 250 and 252.
 */
#include "gateway/inventory/cable.h"

#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "gateway/view/json_text.h"

enum {
	ID_QSFP = 0x0C,
	ID_QSFP_PLUS = 0x0D,
	ID_QSFP28 = 0x11,
	ID_QSFP_DD = 0x18,
	NO_CONNECTOR = 0x23, /* the fibre cannot be taken out */
	OPA_CERTIFIED = 0xAB,
	UPPER = 128,
	CABLE_INFO = 0x32,
	BLOCK_BYTES = 64
};

/* Where a kind of modules has what; bytes from the beginning of its memory. */
struct layout {
	uint8_t vendor, part, revision, serial, date, technology, temperature, supply;
};

static const struct layout qsfp = { 148, 168, 184, 196, 212, 147, 22, 26 };
static const struct layout qsfp_dd = { 129, 148, 164, 166, 182, 212, 14, 16 };

static void put_text(const uint8_t *from, size_t n, char *to)
{
	while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\0')) {
		n--;
	}
	for (size_t i = 0; i < n; i++) {
		to[i] = (char)(from[i] >= ' ' && from[i] < 0x7F ? from[i] : '?');
	}
	to[n] = '\0';
}

static const char *technology_name(unsigned code, bool fixed)
{
	static const char *const copper[] = { "copper",        "copper",
		                              "active copper", "active copper",
		                              "active copper", "active copper" };
	enum { OTHER = 8, FIRST_COPPER = 10, END = 16 };

	if (code >= END || code == OTHER) {
		return "other";
	}
	return code >= FIRST_COPPER ? copper[code - FIRST_COPPER]
	       : fixed              ? "active optical"
	                            : "optical";
}

/* Watts: a class of SFF-8636. */
static double power_of_class(uint8_t byte)
{
	static const double low[] = { 1.5, 2.0, 2.5, 3.5 }, high[] = { 0, 4.0, 4.5, 5.0 };

	return (byte & 3) != 0 ? high[byte & 3] : low[byte >> 6];
}

static void decode_qsfp(const uint8_t *upper, struct cable *ret_cable)
{
	enum { POWER = 129, CONNECTOR = 130, LENGTH = 146, CERTIFIED = 250 };
	unsigned code = upper[qsfp.technology - UPPER] >> 4;
	bool fixed = upper[CONNECTOR - UPPER] == NO_CONNECTOR;

	ret_cable->technology = technology_name(code, fixed);
	ret_cable->power_w = power_of_class(upper[POWER - UPPER]);
	/* of a transceiver it is the reach on a kind of fibre */
	ret_cable->length_m = fixed || strstr(ret_cable->technology, "copper") != NULL
	                              ? upper[LENGTH - UPPER]
	                              : 0;
	ret_cable->certified = upper[CERTIFIED - UPPER] == OPA_CERTIFIED;
}

static void decode_dd(const uint8_t *upper, struct cable *ret_cable)
{
	enum { POWER = 201, LENGTH = 202, CONNECTOR = 203, LENGTH_BITS = 0x3F };
	static const double unit[] = { 0.1, 1, 10, 100 };
	uint8_t length = upper[LENGTH - UPPER];

	ret_cable->technology = technology_name(upper[qsfp_dd.technology - UPPER],
	                                        upper[CONNECTOR - UPPER] == NO_CONNECTOR);
	ret_cable->power_w = upper[POWER - UPPER] / 4.0;
	ret_cable->length_m = (length & LENGTH_BITS) * unit[length >> 6];
}

static unsigned two_bytes(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static void decode_live(const uint8_t *low, bool dd, struct cable *ret_cable)
{
	enum { RX_POWER = 34, TX_POWER = 50 };
	const struct layout *l = dd ? &qsfp_dd : &qsfp;

	ret_cable->measures = true;
	ret_cable->temperature_c = (int16_t)two_bytes(low + l->temperature) / 256.0;
	ret_cable->supply_v = two_bytes(low + l->supply) / 10000.0;
	for (unsigned i = 0; !dd && i < CABLE_LANES; i++) { /* 0.1 uW */
		ret_cable->rx_mw[i] = two_bytes(low + RX_POWER + 2 * (size_t)i) / 10000.0;
		ret_cable->tx_mw[i] = two_bytes(low + TX_POWER + 2 * (size_t)i) / 10000.0;
	}
}

bool cable_decode(const uint8_t *low, const uint8_t *upper, struct cable *ret_cable)
{
	bool dd = upper[0] == ID_QSFP_DD;
	const struct layout *l = dd ? &qsfp_dd : &qsfp;
	char day[9];

	memset(ret_cable, 0, sizeof(*ret_cable));
	if (!dd && upper[0] != ID_QSFP && upper[0] != ID_QSFP_PLUS &&
	    upper[0] != ID_QSFP28) {
		return false;
	}
	put_text(upper + l->vendor - UPPER, 16, ret_cable->vendor);
	put_text(upper + l->part - UPPER, 16, ret_cable->part);
	put_text(upper + l->revision - UPPER, 2, ret_cable->revision);
	put_text(upper + l->serial - UPPER, 16, ret_cable->serial);
	put_text(upper + l->date - UPPER, 6, day);
	if (strlen(day) == 6) {
		memcpy(ret_cable->date, "20", 2);
		memcpy(ret_cable->date + 2, day, 7);
	}
	if (dd) {
		decode_dd(upper, ret_cable);
	} else {
		decode_qsfp(upper, ret_cable);
	}
	if (low != NULL) {
		decode_live(low, dd, ret_cable);
	}
	return true;
}

/* A block of the memory. \retval E_NOTFOUND */
static int read_block(struct snap_reader *r, uint64_t node_guid, uint8_t port,
                      unsigned block, const uint8_t **ret_bytes)
{
	uint16_t len;
	int ret = snap_attr(r, SNAP_ATTR_OPA | CABLE_INFO, node_guid,
	                    (uint32_t)port << SNAP_OPA_ROW | block, ret_bytes, &len);

	return ret == E_OK && len < BLOCK_BYTES ? E_MALFORMED : ret;
}

int cable_read(struct snap_reader *r, uint64_t node_guid, uint8_t port,
               struct cable *ret_cable)
{
	uint8_t upper[CABLE_UPPER_BYTES];
	const uint8_t *block = NULL, *low = NULL;
	int ret = E_OK;

	for (unsigned i = 0; ret == E_OK && i < 2; i++) {
		ret = read_block(r, node_guid, port, 2 + i, &block);
		if (ret == E_OK) {
			memcpy(upper + (size_t)i * BLOCK_BYTES, block, BLOCK_BYTES);
		}
	}
	if (ret != E_OK) {
		return ret;
	}
	ret = read_block(r, node_guid, port, 0, &low);
	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	return cable_decode(ret == E_OK ? low : NULL, upper, ret_cable) ? E_OK
	                                                                : E_NOTFOUND;
}

static json_t *lanes_json(const struct cable *c, const double *mw)
{
	return c->measures ? json_pack("[f, f, f, f]", mw[0], mw[1], mw[2], mw[3])
	                   : json_array();
}

static json_t *known(double value)
{
	return value != 0 ? json_real(value) : json_null();
}

json_t *cable_json(const struct cable *c)
{
	/* clang-format off */
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o}",
		"vendor", text_json(c->vendor),
		"part", text_json(c->part),
		"revision", text_json(c->revision),
		"serial", text_json(c->serial),
		"date", text_json(c->date),
		"technology", c->technology,
		"length_m", known(c->length_m),
		"power_w", known(c->power_w),
		"certified", c->certified,
		"temperature_c", known(c->temperature_c),
		"supply_v", known(c->supply_v),
		"rx_mw", lanes_json(c, c->rx_mw),
		"tx_mw", lanes_json(c, c->tx_mw));
	/* clang-format on */
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/hash.h"


/*!
 * Shadow copies: what the nodes hold, as they acknowledged or showed it. They live from
 * sweep to sweep, so that only what differs is sent, and a table is read once in the life
 * of its port.
 */
enum {
	LFT_BLOCK_LIDS = 64,
	LFT_BLOCKS = 0xC000 / LFT_BLOCK_LIDS,
	MFT_BLOCK_BYTES = 64,
	SL2VL_BYTES = 8,
	VL_ARB_BLOCKS = 4,
	VL_ARB_BYTES = 64,
	PORT_BLOCK_BYTES = 64,
	PORT_BLOCK_P_KEYS = 32,
	PORT_BLOCK_GUIDS = 8
};

/*! Copies of one kind, each allocated by itself. */
struct shadow_list {
	void **items;
	uint32_t n;
	size_t cap;
	struct hash_table by_key; /*!< index in items */
};

/*! A way for SMPs that may not carry any: how often it failed, and for how many sweeps it is not tried. */
struct shadow_way {
	uint8_t failures, wait;
};

struct shadow {
	struct shadow_list switches;  /*!< struct shadow_switch by NodeGUID */
	struct shadow_list qos;       /*!< struct shadow_qos by NodeGUID */
	struct shadow_list ports;     /*!< struct shadow_port by (NodeGUID, port) */
	struct hash_table port_infos; /*!< see shadow_port_info_note() */
	struct shadow_way hosts_by_lid;
	uint32_t n_late;              /*!< blocks that are LATE_NOTED */
	uint8_t n_lanes; /*!< lanes of the routing that was programmed last; 0: not known */
};

/*! \brief Frees all copies and leaves it empty. */
void shadow_done(struct shadow *s);

/*! \brief Key of one port of a node. Two ports share a key only by an unlikely accident. */
static inline uint64_t guid_port_key(uint64_t guid, uint8_t port)
{
	return guid ^ (port + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* --- forwarding tables of a switch ------------------------------------------------- */

/*! A Set that was sent again may arrive a second time, after a newer one, and undo it. */
enum late_set {
	LATE_NONE,
	LATE_NOTED, /*!< such a Set was sent since the audit last looked for them */
	LATE_DUE    /*!< the audit reads the block the next time */
};

struct shadow_mft {
	uint32_t mod; /*!< AttributeModifier: position << 28 | block */
	uint8_t data[MFT_BLOCK_BYTES]; /*!< wire order */
};

struct shadow_switch {
	uint64_t guid;              /*!< NodeGUID */
	uint32_t top;               /*!< LinearFDBTop as acknowledged or read */
	uint8_t *block[LFT_BLOCKS]; /*!< 64 bytes, NULL: not known */
	bool differs[LFT_BLOCKS];   /*!< the switch holds another block: send it again */
	uint8_t late[LFT_BLOCKS];   /*!< of enum late_set */
	struct shadow_way by_lid;   /*!< to the switch */
	struct shadow_way mixed; /*!< by LID to the switch, and on by one directed hop */
	uint8_t *lanes; /*!< [n_lanes] by LID, as computed with the tables; NULL: not known */
	uint32_t n_lanes;
	struct shadow_mft *mft; /*!< [n_mft] known multicast blocks, by mod */
	uint32_t n_mft;
	size_t cap_mft;
};

/*! \brief SMPs got no answer: the way is not tried for 1, 3, 7 ... 63 sweeps. */
void shadow_way_failed(struct shadow_way *w);

/*! \brief Copy of a switch; a new one is empty. NULL: out of memory. */
struct shadow_switch *shadow_switch_get(struct shadow *s, uint64_t guid);

/*! \brief Forgets all tables of a switch, because it was restarted. */
void shadow_switch_forget(struct shadow_switch *c);

/*! \brief Forgets the tables of all switches, ports and nodes that another SM may have set. */
void shadow_forget_programmed(struct shadow *s);

/*! \brief Keeps a block of the LFT. \retval -ENOMEM  The block is unknown then. */
int shadow_lft_put(struct shadow_switch *c, uint32_t block, const uint8_t *data);

/*! \brief Notes that a Set of a block was sent more than once. */
void shadow_lft_note_late(struct shadow *s, struct shadow_switch *c, uint32_t block);

/*! \brief Makes all noted blocks LATE_DUE. \return false: there are none. */
bool shadow_late_due(struct shadow *s);

/*! \brief Forgets a block of the LFT. */
void shadow_lft_drop(struct shadow_switch *c, uint32_t block);

/*! \brief Keeps the lane of each LID; NULL: forgets them. \retval -ENOMEM  Nothing is known then. */
int shadow_lanes_put(struct shadow_switch *c, const uint8_t *lanes, uint32_t n_lids);

/*! \brief A block of the MFT. \return NULL: not known. Borrowed until the next change. */
struct shadow_mft *shadow_mft_find(const struct shadow_switch *c, uint32_t mod);
int shadow_mft_put(struct shadow_switch *c, uint32_t mod, const uint8_t *data);
void shadow_mft_drop(struct shadow_switch *c, uint32_t mod);

/* --- SL-to-VL and VL arbitration tables of a node ----------------------------------- */

/*! VL arbitration of one port; blocks as the AttributeModifier counts them, less one. */
struct shadow_arb {
	bool known[VL_ARB_BLOCKS];
	uint8_t block[VL_ARB_BLOCKS][VL_ARB_BYTES];
};

struct shadow_qos {
	uint64_t guid;
	uint16_t n_out, n_in; /*!< ports, slot 0 included; n_in is 1 for a CA or router */
	/*! SLtoVLMappingTable [n_out][n_in], 16 VLs of 4 bits each. All ones (every SL is
	 *  dropped, which nobody wants): not known. */
	uint8_t (*sl2vl)[SL2VL_BYTES];
	struct shadow_arb *arb; /*!< [n_out] */
	bool read; /*!< all tables were asked for since the last was forgotten: the node does
	                not have those that are unknown */
	bool incomplete; /*!< but not all requests were answered */
};

/*! \brief Copy of a node; a new one, or one of another shape before, is empty. NULL: out of
 *  memory. */
struct shadow_qos *shadow_qos_get(struct shadow *s, uint64_t guid, unsigned n_ports,
                                  bool is_switch);

/*! \brief Copy of a node of this shape. \return NULL: none. */
struct shadow_qos *shadow_qos_find(const struct shadow *s, uint64_t guid, unsigned n_ports,
                                   bool is_switch);

/*! \brief SL-to-VL table for packets that come in at \a in (0 for a CA or router). */
static inline uint8_t *shadow_sl2vl(const struct shadow_qos *c, unsigned out, unsigned in)
{
	return c->sl2vl[(unsigned)c->n_in * out + in];
}

/*! \brief Keeps an SL-to-VL table. NULL: forgets it. */
void shadow_sl2vl_put(struct shadow_qos *c, unsigned out, unsigned in,
                      const uint8_t *table);

/*! \brief Is this SL-to-VL table known? */
bool shadow_sl2vl_known(const uint8_t table[SL2VL_BYTES]);

/*! \brief Forgets the tables of this port, in either direction. */
void shadow_qos_forget(struct shadow_qos *c, unsigned port);

/*! \brief Forgets the tables of all nodes. */
void shadow_qos_done(struct shadow *s);

/* --- P_Key and GUID tables of a port ------------------------------------------------- */

enum port_table_kind { PORT_P_KEYS, PORT_GUIDS, PORT_TABLE_COUNT };

struct port_block {
	bool known;
	bool differs; /*!< of P_Keys: the port holds something else, so send it again */
	uint8_t data[PORT_BLOCK_BYTES]; /*!< wire order */
};

struct shadow_port {
	uint64_t guid; /*!< NodeGUID */
	uint8_t port;
	struct {
		uint16_t n;
		struct port_block *block;
	} table[PORT_TABLE_COUNT];
};

/*! \brief Tables of a port; new ones are empty. NULL: out of memory. */
struct shadow_port *shadow_port_get(struct shadow *s, uint64_t guid, uint8_t port);

/*! \brief Tables of a port. \return NULL: none. */
struct shadow_port *shadow_port_find(const struct shadow *s, uint64_t guid, uint8_t port);

/*! \brief Sets how many blocks a table has; another number than before forgets them.
 *  \retval -ENOMEM */
int shadow_port_resize(struct shadow_port *p, enum port_table_kind kind, unsigned blocks);

/*! \brief Forgets both tables, because the port was restarted. */
void shadow_port_forget(struct shadow_port *p);

/* --- PortInfo that was set -----------------------------------------------------------
 *
 * Some ports keep other values than a Set brings, and would be sent the Set again in each
 * sweep. A hash remembers what a port showed after which Set. While the port still shows
 * the same, the same Set is not repeated. States, ClientReregister, violation counters and
 * the port by which the SMP came in do not count.
 */

/*! \brief Hash of a PortInfo that is to be set. */
uint64_t shadow_port_info_hash(const uint8_t info[64]);

/*! \brief Remembers what a port showed after a Set. \retval -ENOMEM */
int shadow_port_info_note(struct shadow *s, uint64_t node_guid, uint8_t port,
                          uint64_t set_hash, const uint8_t shown[64]);

/*! \brief Was this Set sent before, and does the port still show what it showed then? */
bool shadow_port_info_is_same(const struct shadow *s, uint64_t node_guid, uint8_t port,
                              uint64_t set_hash, const uint8_t shown[64]);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sa/sim/opa/opa_fields.h"

/*!
 * An Omni-Path device: a host's adapter (HFI) with one or two ports, or a switch ASIC. It holds what its
 * management agents show and checks what they are told, by the rules of the hfi1 driver where a
 * rule is public. It knows no fabric: cables, clock and MADs on their way belong to its user, who tells
 * it of links and gives it requests, and whom it tells what a Set did (struct opa_ops).
 *
 * Nothing here locks or reads a clock. The same calls give the same bytes.
 */

enum {
	OPA_PORT_P_KEYS = 32, /*!< P_Keys of a port; hosts have 16 */
	OPA_HFI_P_KEYS = 16,
	OPA_VLS = 32,
	OPA_DATA_VLS = 8,
	OPA_VL15 = 15,
	OPA_PORT_GROUPS = 64,  /*!< PortGroupCap */
	OPA_LFT_CAP = 0xC000,  /*!< LinearFDBCap, unless told another */
	OPA_PGFT_CAP = 0x2000, /*!< PortGroupFDBCap */
	OPA_MFT_CAP = 0x2000,  /*!< MulticastFDBCap */
	OPA_MFT_POSITIONS = 4, /*!< of 64 ports each */
	OPA_NO_PORT = 0xFF,
	OPA_ANY_LID = 0xFFFFFF + 1
};

/*! Counters of a port, in the order in which PortStatus shows them. */
enum opa_counter {
	OPA_XMIT_DATA,
	OPA_RCV_DATA,
	OPA_XMIT_PKTS,
	OPA_RCV_PKTS,
	OPA_MC_XMIT_PKTS,
	OPA_MC_RCV_PKTS,
	OPA_XMIT_WAIT,
	OPA_CONGESTION_DISCARDS,
	OPA_RCV_FECN,
	OPA_RCV_BECN,
	OPA_XMIT_TIME_CONG,
	OPA_XMIT_WASTED,
	OPA_XMIT_WAIT_DATA,
	OPA_RCV_BUBBLE,
	OPA_MARK_FECN,
	OPA_RCV_CONSTRAINT,
	OPA_RCV_RELAY,
	OPA_XMIT_DISCARDS,
	OPA_XMIT_CONSTRAINT,
	OPA_RCV_REMOTE,
	OPA_LINK_INTEGRITY,
	OPA_RCV_ERRORS,
	OPA_OVERRUNS,
	OPA_CONFIG_ERRORS,
	OPA_LINK_RECOVERY,
	OPA_LINK_DOWNED,
	OPA_UNCORRECTABLE,
	OPA_COUNTERS
};

struct opa_device;

struct opa_port {
	struct opa_device *device;
	struct opa_port
		*peer; /*!< at the other end of the cable; NULL: the link is down */
	uint8_t num;
	uint64_t guid; /*!< of an end port */
	uint8_t info[OPA_PORT_INFO_STRIDE];
	uint8_t p_keys[2 * OPA_PORT_P_KEYS];
	uint8_t sl_to_sc[OPA_MAP_BYTES], sc_to_sl[OPA_MAP_BYTES]; /*!< of an end port */
	uint8_t sc_to_vl[3][OPA_MAP_BYTES];                       /*!< r, t, nt */
	uint8_t vl_arb[4][OPA_VL_ARB_BYTES];
	uint8_t buffers[OPA_BUFFER_STRIDE];
	uint8_t congestion[4];       /*!< a switch port's congestion setting */
	uint8_t hfi_congestion[200]; /*!< an adapter's congestion setting */
	uint8_t *cct;                /*!< congestion control table, NULL: never Set */
	uint8_t cable
		[128]; /*!< lower half of the cable's memory; upper half is derived */
	uint64_t counters[OPA_COUNTERS];
	uint8_t error_info[72]; /*!< without port number */
	uint8_t quality;        /*!< LinkQualityIndicator while the link is up */
	bool disabled;          /*!< by a Set of PortPhysicalState */
};

/*! What happened to an adaptive route. */
struct opa_move {
	uint32_t lid;
	uint8_t from, to;
};

enum opa_link_order { OPA_LINK_BOUNCE, OPA_LINK_DISABLE, OPA_LINK_ENABLE };

/*! Calls to the user of a device. They come while opa_agent() runs. */
struct opa_ops {
	/*! A Set wants the link of a port to be something else. */
	void (*link)(void *ctx, unsigned port, enum opa_link_order order);
	/*! A Set changed the PortInfo of a port. */
	void (*port)(void *ctx, unsigned port);
	/*! The agent notes a wrong M_Key; see opa_notice_m_key(). */
	void (*m_key)(void *ctx, const uint8_t *mad);
	/*! The SM has received trap \a tid. */
	void (*repress)(void *ctx, uint64_t tid);
};

/*! What a device or one of its ports may say that is not so, or that keeps it off a fabric. */
enum opa_lie {
	OPA_LIE_NODE_GUID, /*!< the first are of NodeInfo, until they are told again */
	OPA_LIE_NUM_PORTS,
	OPA_LIE_PARTITION_CAP,
	OPA_LIE_LINEAR_FDB_CAP, /*!< of SwitchInfo, until power-on */
	OPA_LIE_MTU_CAP,        /*!< the others are of PortInfo, until power-on */
	OPA_LIE_VL_CAP,
	OPA_LIE_PACKET_FORMATS,
	OPA_LIE_FW_AUTH_BYPASS, /*!< of the neighbour */
	OPA_LIE_CABLE_TEMPERATURE, /*!< the cable is optical and so warm, in degrees Celsius */
	OPA_LIES
};

struct opa_device {
	uint64_t guid, system_image_guid;
	bool is_switch, esp0;
	uint8_t n_ports;
	uint8_t version; /*!< 1: first generation, 2: CN5000, with 100 Gb/s lanes and two adapter ports */
	char description[64];
	const struct opa_ops *ops;
	void *ctx;
	bool managed; /*!< an SM of Omni-Path has Set something since power-on */

	struct opa_port *ports; /*!< [n_ports + 1]; 0 only of a switch */
	uint8_t switch_info[88];
	uint8_t congestion_setting[80];
	uint32_t lft_cap; /*!< LinearFDBCap */
	uint8_t *lft; /*!< [lft_len], a multiple of 64; beyond: no route */
	uint32_t lft_len;
	uint8_t *pgft; /*!< [pgft_len] port group of a LID */
	uint32_t pgft_len;
	uint64_t *mft
		[OPA_MFT_POSITIONS]; /*!< [OPA_MFT_CAP] masks of ports, NULL: never Set */
	uint64_t groups[OPA_PORT_GROUPS][OPA_MFT_POSITIONS]; /*!< port group table */
	uint8_t *sc_to_sc[2]; /*!< [in][out][32], NULL: identity */
	uint64_t adapted_us;  /*!< when routes were last moved */
	uint64_t random;      /*!< state of the random choice of alternates */
	uint64_t moves;       /*!< of adaptive routing, so far */
	uint8_t lies; /*!< bits 1 << OPA_LIE_NODE_GUID to 1 << OPA_LIE_PARTITION_CAP */
	uint64_t lie[OPA_LIE_PARTITION_CAP + 1];
};

/*! What a device is made of. */
struct opa_device_row {
	uint64_t guid, system_image_guid;
	bool is_switch, esp0;
	uint8_t n_ports, version;
	uint32_t lft_cap; /*!< 0: OPA_LFT_CAP */
	const char *description;
	const struct opa_ops *ops; /*!< borrowed, like ctx */
	void *ctx;
};

/*! What a port supports. Its GUID is opa_port_guid(). */
struct opa_port_row {
	uint16_t speed;  /*!< the fastest, OPA_SPEED_* */
	uint16_t widths; /*!< bits; 0: OPA_WIDTHS */
	uint8_t mtu;     /*!< MTUCap; 0: 10240 */
	uint8_t vls;     /*!< VLCap; 0: 8 */
};

/*! \brief GUID of an end port: the NodeGUID with the number of an adapter's port, from 0, in bits 31:30. SMs
 *  check that. \param num  0 of a switch. */
static inline uint64_t opa_port_guid(uint64_t node_guid, unsigned num)
{
	return (node_guid & ~(UINT64_C(3) << 30)) | (uint64_t)(num > 0 ? num - 1 : 0)
	                                                    << 30;
}
/*! \brief New device, as after power-on, without a link. \a rows: [n_ports + 1]. \retval -ENOMEM */
int opa_device_new(const struct opa_device_row *row, const struct opa_port_row *rows,
                   struct opa_device **ret_device);
void opa_device_free(struct opa_device *d); /*!< NULL is fine */
/*! \brief As after power-on. Links stay as they are, in INIT. */
void opa_device_reset(struct opa_device *d);

/*! \brief The cable between two ports carries packets now: both are INIT. \param lanes  1 to 4 that
 * both have. \retval E_UNSUITABLE  They have no speed in common. */
int opa_link_up(struct opa_port *a, struct opa_port *b, unsigned lanes);
/*! \brief It does not any more. \param reason  LinkDownReason, 0: as the port has it already. */
void opa_link_down(struct opa_port *p, uint8_t reason);
/*! \brief The active lanes change while the link stays up. \return false: nothing changes, or no
 * downgrade to that is enabled. */
bool opa_link_lanes(struct opa_port *p, unsigned lanes);
/*! \brief PortState of a port as an SM of InfiniBand or a packet changed it. */
void opa_port_state(struct opa_port *p, unsigned state);
static inline bool opa_is_end_port(const struct opa_port *p)
{
	return !p->device->is_switch || p->num == 0;
}

/*! \brief Writes the tables of a device as text, see opa_print.c. */
void opa_print(const struct opa_device *d, FILE *out);

/*! Where a request comes from. */
struct opa_from {
	unsigned port; /*!< by which it comes; of a switch 0 for its own programs */
	bool local;    /*!< from the device itself, not over a cable */
	uint16_t p_key;
};

/*!
 * \brief Answers an SMP in place.
 * \param mad  OPA_MAD_BYTES bytes, the first \a len of which are the request.
 * \return Bytes of the answer, 0: none.
 */
size_t opa_agent(struct opa_device *d, const struct opa_from *from, uint8_t *mad,
                 size_t len);
/*! \brief One attribute, without a MAD around it. \param room  Bytes at \a data.
 * \param ret_len  Bytes of the value. \return MAD status. */
uint16_t opa_attribute(struct opa_device *d, unsigned in_port, bool set, uint16_t attr,
                       uint32_t mod, uint8_t *data, size_t room, size_t *ret_len);
/*! \brief Answers a request of class PerfMgt in place, like opa_agent(). */
size_t opa_perf_agent(struct opa_device *d, const struct opa_from *from, uint8_t *mad,
                      size_t len);
/*! \brief A counter by the name of opapmaquery, such as "RcvErrors"; OPA_COUNTERS: there is none. */
enum opa_counter opa_counter_find(const char *name);

/*! \brief Bytes of a request that is \a len bytes long may be missing; this says where its data begin. */
size_t opa_data_at(const uint8_t *mad);
/*! \brief Egress port of a LID by the LFT, OPA_NO_PORT: none. */
uint8_t opa_route(const struct opa_device *d, uint32_t lid);
/*! \brief Sets an entry range of the LFT. \retval -ENOMEM */
int opa_lft_put(struct opa_device *d, uint32_t first, const uint8_t *ports, uint32_t n);
/*! \brief Whether a packet from a host may enter a switch port by its SLID (source-LID check). */
bool opa_source_allowed(const struct opa_port *p, uint32_t slid);
uint16_t opa_p_key(const struct opa_port *p, unsigned index); /*!< 0: none */
unsigned opa_p_key_cap(const struct opa_port *p);
bool opa_has_p_key(const struct opa_port *p, uint16_t key); /*!< exactly this one */

/*! Traps of an agent. */
enum opa_trap {
	OPA_TRAP_PORT_STATE = 0x80,
	OPA_TRAP_CAPABILITY = 0x90,
	OPA_TRAP_M_KEY = 0x100,
	OPA_TRAP_WIDTH = 0x800
};
/*! \brief Writes a Trap of an end port into \a mad, OPA_MAD_BYTES of zeros. \param detail  Change
 * flags of OPA_TRAP_CAPABILITY, or the request with the wrong M_Key of OPA_TRAP_M_KEY. \return Bytes. */
size_t opa_trap(const struct opa_port *p, enum opa_trap number, uint64_t tid,
                unsigned flags, const uint8_t *request, uint8_t *mad);

/*! Load of the ports of a switch, which adaptive routing looks at. */
struct opa_load {
	const uint8_t
		*percent; /*!< [n_ports + 1] of the buffers of a port that are in use */
};
/*!
 * \brief Lets a switch adapt its routes (see opa_adaptive.c).
 * \param now_us  Time of the clock that ARFrequency counts on.
 * \param load  NULL: nothing is congested.
 * \param moved  Called for each LID that moves; may be NULL.
 * \return Number of LIDs that moved.
 */
unsigned opa_adapt(struct opa_device *d, uint64_t now_us, const struct opa_load *load,
                   void (*moved)(void *ctx, const struct opa_move *m), void *ctx);
/*! \brief When it may adapt again: at once, or 2^ARFrequency x 64 ms after the last time. */
uint64_t opa_adapt_due_us(const struct opa_device *d);
bool opa_adapt_enabled(
	const struct opa_device *
		d); /*! \brief Lets a port, or its device, say something else from now on. */
void opa_lie(struct opa_port *p, enum opa_lie what, uint64_t value);

/*! \brief "MTUCap" and the like. \return OPA_LIES: there is none of that name. */
enum opa_lie opa_lie_find(const char *name);

/*!< AR is on and does not pause */

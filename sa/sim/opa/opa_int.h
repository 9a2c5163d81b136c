/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/sim/opa/opa_device.h"

/*!
 * What the files of this folder share.
 */
enum { OPA_P_KEY_MEMBER = 0x7FFF, OPA_P_KEY_MANAGER = 0xFFFF };

/*! One attribute being read or written. */
struct opa_access {
	struct opa_device *d;
	unsigned in_port; /*!< by which the request came */
	bool set;
	uint32_t mod;
	uint8_t *data; /*!< in: the value to set; out: the value */
	size_t room;   /*!< bytes at data */
	size_t len;    /*!< out: bytes of the value */
};

/*! N of the AttributeModifier: blocks or ports. */
static inline unsigned opa_count(const struct opa_access *a)
{
	return a->mod >> 24;
}

/*! \brief The end port that a request of an adapter means, or port 0 of a switch. */
static inline struct opa_port *opa_end_port(const struct opa_access *a)
{
	return &a->d->ports[a->d->is_switch ? 0 : a->in_port];
}

/*! Ports that an attribute names by its modifier. */
struct opa_ports {
	unsigned first, n; /*!< shown */
	unsigned end;      /*!< a Set goes up to here: first + n, or all with A */
};
/*! \brief Reads port, N and A of a modifier. \param most  Values that fit. \retval false  It is wrong. */
static inline bool opa_named_ports(const struct opa_access *a, unsigned most,
                                   struct opa_ports *ret_ports)
{
	const unsigned n = opa_count(a), port = a->mod & 0xFF;

	if (!a->d->is_switch) { /* an adapter's agent has one port at a time */
		ret_ports->first = port == 0 ? a->in_port : port;
		ret_ports->n = 1;
		ret_ports->end = ret_ports->first + 1;
		return n == 1 && ret_ports->first >= 1 &&
		       ret_ports->first <= a->d->n_ports;
	}
	ret_ports->first = port;
	ret_ports->n = n;
	ret_ports->end = a->set && (a->mod & OPA_MOD_ALL) ? a->d->n_ports + 1u : port + n;
	return n >= 1 && n <= most && port + n <= a->d->n_ports + 1u;
}

uint16_t opa_vendor_id_device(const struct opa_device *d);

/* opa_port.c */
uint16_t opa_sma_port_info(struct opa_access *a);
uint16_t opa_sma_port_state_info(struct opa_access *a);
uint16_t opa_sma_led_info(struct opa_access *a);

/* opa_table.c */
uint16_t opa_sma_p_key_table(struct opa_access *a);
uint16_t opa_sma_end_map(struct opa_access *a, bool sl_to_sc);
uint16_t opa_sma_sc_to_vl(struct opa_access *a, unsigned kind);
uint16_t opa_sma_vl_arb(struct opa_access *a);
uint16_t opa_sma_buffer_control(struct opa_access *a);
uint16_t opa_sma_sc_to_sc(struct opa_access *a);
uint16_t opa_sma_sc_to_sc_set(struct opa_access *a);

/* opa_forward.c */
uint16_t opa_sma_linear_ft(struct opa_access *a);
uint16_t opa_sma_multicast_ft(struct opa_access *a);
uint16_t opa_sma_port_group_ft(struct opa_access *a);
uint16_t opa_sma_port_group_table(struct opa_access *a);

/* opa_extra.c */
uint16_t opa_sma_cable_info(struct opa_access *a);
void opa_cable_warm(struct opa_port *p, uint8_t degrees);
void opa_cable_reset(struct opa_port *p);
uint16_t opa_sma_congestion(struct opa_access *a, uint16_t attr);

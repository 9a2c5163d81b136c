/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/sim/sim.h"

/*
 * What tests do to a simulated fabric, and see of it, that no program needs: several SMs in one
 * thread, clients of the SA, and nodes that are read and changed behind the SM's back.
 */

/*!
 * \brief Transport at an end port of choice, for several SMs in one thread on the virtual clock.
 *
 * Its recv does not wait: E_TIMEOUT says that no MAD is there. When no SM has anything to do,
 * sim_pass() lets time pass. After the first call, sim_transport() and sim_client_*() must
 * not be used. Owned by the sim; close() detaches, recv attaches again.
 *
 * \retval E_NOTFOUND  No such port. \retval E_RANGE  Too many. \retval -ENOMEM
 */
int sim_transport_at(struct sim *s, uint64_t port_guid, struct transport **ret_transport);
/*! \brief Lets time pass until a MAD waits at one of these transports or the deadline of its
 * last recv is reached, at most until \a end_ms. */
void sim_pass(struct sim *s, uint64_t end_ms);

/* Faults. */
void sim_set_noise(struct sim *s,
                   const struct sim_noise *noise); /*!< copied; all 0: none */
/*! \brief NodeInfo of a node shows the GUIDs of another; its own when both are the same. */
int sim_set_guids(struct sim *s, uint64_t node_guid, uint64_t shown_guid);
/*! \brief The base LID of an end port becomes another without the SM; 0: it has none. The port
 * stays as it is. \a port: 0 of a switch. */
int sim_set_lid(struct sim *s, uint64_t node_guid, uint8_t port, uint32_t lid);

/* A client program on some host. */
/*!
 * \brief Sends a GMP from a port (by PortGUID) to the SM's LID as that port knows it.
 * \retval E_NOTFOUND  No such port.
 * \retval E_NOPATH    It was lost on its route (for tests; a real sender would not know).
 */
int sim_client_send(struct sim *s, uint64_t port_guid, const uint8_t *mad, size_t len);
/*! \brief Next message for that port, whole (reassembled). \retval E_TIMEOUT none waits. Buffer borrowed until the next call. */
int sim_client_recv(struct sim *s, uint64_t port_guid, const uint8_t **ret_mad,
                    size_t *ret_len);

/*! \brief How often a port fell from ACTIVE/ARMED to DOWN or INIT because of a Set. */
uint64_t sim_bounces(const struct sim *s);
/*! \brief Reads an attribute of a node: 64 bytes of payload. \retval E_NOTFOUND */
/*! \brief LID of an end port as the port knows it; on Omni-Path of 24 bits. \a port: of the graph. */
uint32_t sim_peek_lid(const struct sim *s, uint32_t port);
int sim_peek(const struct sim *s, uint64_t node_guid, uint16_t attr, uint32_t attr_mod,
             uint8_t *ret_data);
/*! \brief LinearFDBTop of a switch (node of the graph): it forwards nothing to LIDs above it. */
uint32_t sim_peek_lft_top(const struct sim *s, uint32_t node);
/*! \brief Sets an attribute of a node behind the SM's back. \param data  64 bytes. \retval E_NOTFOUND  There is none, or it is refused. */
int sim_poke(struct sim *s, uint64_t node_guid, uint16_t attr, uint32_t attr_mod,
             const uint8_t *data);

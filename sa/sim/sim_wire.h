/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*!
 * The protocol between saguaro-sim and its preload library over the Unix socket
 * SAGUARO_SIM_SOCKET (SOCK_SEQPACKET; both are on one machine, so host byte order).
 *
 * A connection begins with a struct sim_hello, and the reply is a struct sim_welcome:
 *
 *   SIM_HOST_INFO  text is the folder with the /sys/class and /dev of this host
 *   SIM_UMAD       an open umad device. The reply has a descriptor (SCM_RIGHTS): the data
 *                  socket, which the program gets as its file. The connection itself is for
 *                  struct sim_agent_call. Closing the data socket closes the file.
 *   SIM_ISSM       an open issm device: IsSM is set as long as the connection is open
 *   SIM_CONTROL    one line of text each way, see sa/sim/sim_control.h
 *
 * On the data socket a packet is the 64 bytes of struct ib_user_mad_hdr, then the MAD. A MAD
 * longer than SIM_INLINE_BYTES is in a memory file (memfd) that comes with the packet, which
 * then has only the header.
 */
enum {
	SIM_MAGIC = 0x5347534D,
	SIM_VERSION = 1,
	SIM_HEADER_BYTES = 64,
	SIM_INLINE_BYTES = 2048,
	SIM_PACKET_BYTES = SIM_HEADER_BYTES + SIM_INLINE_BYTES,
	SIM_LINE_BYTES = 64 * 1024
};

enum sim_hello_kind { SIM_HOST_INFO, SIM_UMAD, SIM_ISSM, SIM_CONTROL };

struct sim_hello {
	uint32_t magic, version;
	uint32_t kind;   /*!< enum sim_hello_kind */
	uint32_t number; /*!< of the device: umad0, issm1, ... */
	uint32_t wait;   /*!< SIM_ISSM: 1 waits until the device is free */
	char host[256];  /*!< SIM_HOST; "" is the first host of the fabric */
};

struct sim_welcome {
	int32_t error;  /*!< 0 or an errno */
	char text[512]; /*!< folder, or the error message */
};

struct sim_agent_call {
	uint32_t unregister; /*!< 1: unregisters id, else registers by the other fields */
	uint32_t id, qpn, oui;
	uint8_t mgmt_class, mgmt_class_version, rmpp_version, user_rmpp;
	uint32_t unused; /*!< 0; 32-bit machines would leave no hole here */
	uint64_t method_mask[2];
};

struct sim_agent_reply {
	int32_t error;
	uint32_t id;
};

_Static_assert(sizeof(struct sim_agent_call) == 40, "no holes");

/*! Environment of a client. */
#define SIM_SOCKET_ENV "SAGUARO_SIM_SOCKET"
#define SIM_HOST_ENV "SIM_HOST"

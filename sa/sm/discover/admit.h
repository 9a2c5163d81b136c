/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct disc;
struct disc_node;
struct disc_options;
struct disc_port;

/*!
 * Admission of nodes on Omni-Path. A node is believed when the port of its neighbour, which the subnet
 * manager reached before, agrees with it, and when it can take part. One that is not is quarantined: no
 * route leads to it or through it, its link stays as it is, and it is listed with
 * the place where it was seen.
 *
 * The hardware of a link tells each port which node, which port and which type is at the other end. So a
 * host that shows the NodeGUID of another one is found out by the port of its switch.
 */
enum admit_reason {
	ADMIT_NODE_GUID =
		1, /*!< the neighbour's port says another NodeGUID, port number or type */
	ADMIT_PORT_NUM = 2,
	ADMIT_NODE_TYPE = 4,
	ADMIT_FIRMWARE = 8, /*!< a switch whose firmware was not authenticated */
	ADMIT_VLS = 16,     /*!< fewer VLs than are needed */
	ADMIT_MTU = 32,     /*!< MTUCap below 2,048 */
	ADMIT_FORMATS = 64, /*!< the two ports have no packet format in common */
	ADMIT_LIDS = 128,   /*!< the forwarding table of a switch is too small */
	ADMIT_NO_PORTS = 256,
	ADMIT_NO_P_KEYS = 512
};

/*! A node that was refused. The list is in the arena of the discovery. */
struct disc_refused {
	uint64_t guid;              /*!< NodeGUID as the node says it */
	uint32_t reasons;           /*!< enum admit_reason */
	uint64_t expected_guid;     /*!< NodeGUID as the neighbour's port says it */
	const uint8_t *node_info;   /*!< [64] InfiniBand's form; in the arena of the nodes */
	const uint8_t *description; /*!< [64], there as well */
	const struct disc_node *by; /*!< the neighbour that saw it */
	uint8_t by_port;
};

/*!
 * \brief Judges a node by its NodeInfo, before anything else is asked of it. One that is refused is listed.
 * \param by,port    The neighbour that it was seen behind; NULL: it is the local node.
 * \param node_info  InfiniBand's form.
 * \return Is it admitted, so far?
 */
bool admit_node_info(struct disc *d, struct disc_node *by, uint8_t port,
                     const uint8_t *node_info);

/*! \brief Why the node at the other end of a cable cannot take part. \return 0: it can, or this is not known. */
uint32_t admit_reasons(const struct disc *d, const struct disc_node *by, unsigned port);

/*! \brief May admit_reasons() be others by what a PortInfo or SwitchInfo of Omni-Path says now? NULL: nothing. */
bool admit_port_differs(const uint8_t *was, const uint8_t *now);
bool admit_switch_differs(const uint8_t *was, const uint8_t *now);

/*! \brief Writes the reasons as a sentence's end: "is refused: ...". \return \a buf */
enum { ADMIT_TEXT = 400 };
const char *admit_text(const struct disc_refused *r, char buf[ADMIT_TEXT]);

/*!
 * \brief After the search: lists the nodes that cannot take part, and takes the cables from those to which no other
 *        cable leads. Clears d->clean if others still know of one. \retval -ENOMEM
 */
int admit_list(struct disc *d);

/*! \brief A local discovery begins with the places behind which nodes were refused. \retval -ENOMEM */
int admit_take(struct disc *d, const struct disc *from);

/*! \brief Who is behind a port is asked again: nobody is refused there for the present. */
void admit_again(struct disc *d, struct disc_port *p);

/*! \brief Does a discovery list a place, with the same node and reasons if that is asked for? \param d  NULL: it does not. */
bool admit_lists(const struct disc *d, const struct disc_refused *r, bool same_reasons);

/*! \brief Would a discovery with other options refuse the same nodes? Cost: O(nodes) if not the same are asked for. */
bool admit_judges_alike(const struct disc *d, const struct disc_options *o);

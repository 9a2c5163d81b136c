/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * Partitions as an operator writes them: partitions.conf, in the grammar of OpenSM's manual.
 *
 *   definition := [ name ] [ = P_Key ] { , flag } : [ members ] ;
 *   flag       := indx0 | ipoib | defmember=MEMBERSHIP
 *               | rate=N | mtu=N | sl=N | scope=N | Q_Key=N | TClass=N | FlowLabel=N
 *   members    := { defmember=MEMBERSHIP : | member | group } separated by commas
 *   member     := who [ = MEMBERSHIP ]
 *   who        := "host name" | PortGUID | PortGUID-PortGUID | ALL | ALL_CAS | ALL_SWITCHES | ALL_ROUTERS
 *               | ALL_VCAS | SELF | NONE
 *   group      := mgid=GID { , flag of a group } newline
 *
 * A host name stands in quotes and may have brackets: "node[01-16]" (conf/base/name_list.h). It means the port of the
 * channel adapter whose description is that name, or begins with it as a word, if there is exactly one on the fabric.
 * OpenSM does not know such members.
 *
 * MEMBERSHIP is full, limited or both, or the beginning of such a word. '#' begins a comment.
 * White space, also a new line, may stand between any two of these words.
 *
 * A definition without a P_Key continues the partition of its name; if there is none, it gets
 * the lowest P_Key that the file does not use. Definitions with the same P_Key are one
 * partition, which has the first name. Where several members fit a port, the last one counts.
 */
enum partition_membership {
	PARTITION_LIMITED = 1,
	PARTITION_FULL = 2,
	PARTITION_BOTH = PARTITION_LIMITED | PARTITION_FULL
};

enum partition_who {
	PARTITION_GUIDS, /*!< PortGUIDs from first to last */
	PARTITION_ALL,   /*!< all end ports */
	PARTITION_ALL_CAS,
	PARTITION_ALL_SWITCHES,
	PARTITION_ALL_ROUTERS,
	PARTITION_ALL_VCAS, /*!< virtual ports of channel adapters */
	PARTITION_SELF,     /*!< the port of the subnet manager */
	PARTITION_HOST      /*!< the port of the host with this name */
};

struct partition_member {
	uint64_t first, last; /*!< of PARTITION_GUIDS, host order */
	uint8_t who;          /*!< enum partition_who */
	uint8_t membership;   /*!< enum partition_membership */
	const char *name;     /*!< of PARTITION_HOST, else NULL */
	uint32_t n_ports;     /*!< of PARTITION_HOST: how many the name means on the fabric, never 1 (sa/partition/named.h) */
	bool runtime;         /*!< made at run time, not by the configuration */
	unsigned line;
};

/*! A multicast group that is there without members. */
struct partition_group {
	uint64_t prefix, guid; /*!< MGID, host order */
	uint32_t q_key, flow_label;
	uint8_t rate, mtu; /*!< codes of the specification */
	uint8_t sl, tclass;
	bool broadcast; /*!< of IPoIB; else named by its MGID */
	unsigned line;
};

struct partition {
	const char *name; /*!< "" without one */
	uint16_t p_key;   /*!< 15 bits, never 0 */
	bool indx0;       /*!< its P_Key comes first in the tables of its members */
	uint8_t sl; /*!< of its paths and of its broadcast groups, while QoS is on */
	const struct partition_member
		*members; /*!< [n_members] in the order of the file */
	uint32_t n_members;
	const struct partition_group *groups; /*!< [n_groups] */
	uint32_t n_groups;
	unsigned line; /*!< of its first definition; 0: it is not in the file */
	bool runtime;  /*!< made at run time only; the configuration does not have it */
};

enum { PARTITION_DEFAULT = 0x7fff };

#define PARTITIONS_USUAL "/etc/opensm/partitions.conf"

struct partitions {
	const char *path; /*!< of the file, also if there is none */
	const struct partition
		*all; /*!< [n] by P_Key; the default partition is always there */
	uint32_t n;
	bool is_file; /*!< it was read; false: there is none */
};

/*!
 * \brief Reads a file of partitions (see option_read_f). Without a file all ports are full
 *        members of the default partition, which has an IPoIB broadcast group.
 *
 * With a file all ports are limited members of the default partition and the port of the
 * subnet manager is a full one, unless the file says something else about them.
 *
 * \retval E_SYNTAX  Every bad line is in \a d with its remedy. \retval -errno
 */
int partitions_read(const char *path, struct arena *a, struct diags *d,
                    const void **ret_value);

/*! \brief partitions_read() over \a len bytes in memory. */
int partitions_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct partitions **ret_partitions);

/*! \brief What holds where there is no file. \retval -ENOMEM */
int partitions_default(const char *path, struct arena *a,
                       const struct partitions **ret_partitions);

/*! \brief The partition of a P_Key, whatever its bit 15. \return NULL: none. */
const struct partition *partitions_find(const struct partitions *p, uint16_t p_key);

/*! \brief "full", "limited" or "both". */
const char *partition_membership_name(unsigned membership);

/*! \brief The IPoIB broadcast group of link-local scope that the flag ipoib gives a
 *         partition, with its usual rate, MTU and Q_Key. Source: RFC 4391, section 4. */
static inline struct partition_group partition_broadcast_group(uint16_t p_key)
{
	uint64_t key =
		p_key != 0 ? p_key | UINT64_C(0x8000) : 0; /* as a full member has it */

	return (struct partition_group){ .prefix =
		                                 UINT64_C(0xff12401b00000000) | key << 16,
		                         .guid = UINT32_MAX,
		                         .q_key = 0xb1b,
		                         .rate = 3, /* 10 Gb/s */
		                         .mtu = 4,  /* 2048 */
		                         .broadcast = true };
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct diags;

/*!
 * Port groups of pgrp_policy_file: named sets of (node, port), for topologies of routing
 * chains. Which ports of a fabric they are, routing/graph/port_policy_set.h works out.
 *
 * A paragraph "port-group ... end-port-group" has a name and exactly one rule:
 *
 *   port-guid: 0x10, 0x11@3, 0x12@2-5/7   nodes with all ports, or some of their ports
 *   port-guid-range: 0x10-0x1f             nodes and ports by GUID
 *   port-name: hostname=n01; port=1, hostname=n02; hca_idx=2   channel adapters, by a
 *                                          description "n01" or "n01 HCA-2"
 *   port-regexp: ^leaf.*:3                 nodes by description (POSIX extended), and a port
 *   union-rule: a, b                       ports of either group
 *   subtract-rule: a, b                    ports of a that are not in b
 *
 * ALL, ALL_SWITCHES and ALL_CAS are always there. "use:" is free text.
 */
enum port_policy_kind {
	PORT_POLICY_ALL,
	PORT_POLICY_ALL_SWITCHES,
	PORT_POLICY_ALL_CAS,
	PORT_POLICY_GUIDS,
	PORT_POLICY_RANGE,
	PORT_POLICY_NAMES,
	PORT_POLICY_REGEXP,
	PORT_POLICY_UNION,
	PORT_POLICY_SUBTRACT
};

enum { PORT_POLICY_NONE = UINT32_MAX };

/*! A node or port by GUID, with the ports meant. */
struct port_policy_guid {
	uint64_t guid;
	uint64_t ports[4]; /*!< bits; all 0: every port */
};

struct port_policy_name {
	const char *host;
	uint32_t port;    /*!< 0: every one */
	uint32_t hca_idx; /*!< 0: any */
};

struct port_policy_group {
	const char *name;
	unsigned line;
	enum port_policy_kind kind;
	const struct port_policy_guid *guids;
	const struct port_policy_name *names;
	uint32_t n; /*!< guids or names */
	uint64_t from, to; /*!< PORT_POLICY_RANGE */
	const char *regexp; /*!< compiles */
	uint32_t port;      /*!< of regexp, 0: every one */
	uint32_t a, b;      /*!< PORT_POLICY_UNION, PORT_POLICY_SUBTRACT: indices */
};

struct port_policy {
	const char *path; /*!< NULL: only the groups that are always there */
	const struct port_policy_group *groups;
	uint32_t n;
};

/*! \brief The groups that are always there. */
const struct port_policy *port_policy_builtin(void);

/*! \brief Reads a file. An option_read_f: \a ret_value is a struct port_policy. */
int port_policy_read(const char *path, struct arena *a, struct diags *d,
                     const void **ret_value);

/*! \brief Index of a group by name. \return PORT_POLICY_NONE */
uint32_t port_policy_find(const struct port_policy *p, const char *name);

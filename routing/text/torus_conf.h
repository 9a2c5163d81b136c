/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * torus-2QoS.conf: the shape of a torus, and where its origin is.
 *
 * Words are parted by blanks; lines that are empty or begin with '#' mean nothing, and so
 * does what follows the words that a keyword takes.
 *
 *   torus|mesh X Y Z      radix per dimension, first of all; 't' or 'm' behind a number
 *                         makes that dimension closed or open; 1: there is none
 *   xp_link FROM TO       TO is the neighbour of switch FROM in direction +x; xm_link:
 *                         in -x; likewise y and z. All links of a seed have one FROM.
 *   x_dateline N          moves the origin: FROM of this seed is at -N modulo the radix
 *   next_seed             another seed, for when a switch of those before is missing
 *   portgroup_max_ports N, port_order P..., max_changes N
 */
enum { TORUS_DIMS = 3, TORUS_DIRS = 2 * TORUS_DIMS, TORUS_ORDER_MAX = 254 };

struct torus_seed {
	uint64_t from;           /*!< NodeGUID */
	uint64_t to[TORUS_DIRS]; /*!< by 2 * dimension + (1 for the negative direction) */
	bool has[TORUS_DIRS];
	int32_t dateline[TORUS_DIMS];
	unsigned line; /*!< of its first link, 0: the seed is empty */
};

struct torus_conf {
	const char *path;
	bool absent;                /*!< it is the default file, and there is none */
	uint32_t radix[TORUS_DIMS]; /*!< 1: no such dimension */
	bool closed[TORUS_DIMS];    /*!< never for radix 1 and 2: the latter are parallel
	                               cables */
	struct torus_seed *seed;
	unsigned n_seeds;
	uint32_t max_ports; /*!< portgroup_max_ports, 0: not given */
	uint32_t max_changes;
	uint8_t order[TORUS_ORDER_MAX]; /*!< port_order, each port once */
	unsigned n_order;
};

/*! Where OpenSM looks for it; only there may it be missing. */
#define TORUS_CONF_DEFAULT "/etc/opensm/torus-2QoS.conf"

/*! \brief An option_read_f: \a ret_value is a struct torus_conf. */
int torus_conf_read(const char *path, struct arena *a, struct diags *d,
                    const void **ret_value);

/*! \brief The same from \a len bytes in memory; \a path stands in the messages. */
int torus_conf_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct torus_conf **ret_conf);

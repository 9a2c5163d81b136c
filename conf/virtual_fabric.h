/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/application.h"

struct arena;
struct device_groups;
struct diags;
struct xml_element;

/*!
 * Virtual fabrics of opafm.xml: their members, their applications and their quality of
 * service. sa/sm/policy/policy_compile.h derives from them what paths get.
 */

/*! Quality of service of a virtual fabric: its own, or that of its QOSGroup. */
struct vf_qos {
	bool high_priority;      /*!< served first; bandwidth has no effect then */
	uint32_t bandwidth;      /*!< least share in per cent, 0: a share of the rest */
	uint32_t life_time_mult; /*!< packet life time times 2^this */
	int32_t base_sl, multicast_sl; /*!< 0-15, -1: the subnet manager chooses */
	bool flow_control_disable;
	uint32_t preempt_rank;  /*!< 0-127 */
	int32_t hoq_life;       /*!< code as head_of_queue_lifetime, -1: that one */
};

struct virtual_fabric {
	const char *name;
	unsigned line;
	bool enable, standby;
	bool security;          /*!< limited members do not reach each other */
	uint32_t pkey; /*!< 15 bits; where the file has none, one that no other has */
	uint32_t max_mtu;       /*!< code 1-7 (256 ... 4096, 8192, 10240), 0: no limit */
	uint32_t max_rate;      /*!< Gb/s, 0: no limit */
	bool qos;               /*!< vf.service counts */
	const char *qos_group;  /*!< where service comes from, NULL: its own */
	struct vf_qos service;
	uint8_t sl, multicast_sl; /*!< of an enabled one: as written, or chosen */
	const uint32_t *members, *limited; /*!< [n_members] [n_limited] indices of device groups */
	uint32_t n_members, n_limited;
	const uint32_t *applications;      /*!< [n_applications] indices */
	uint32_t n_applications;
};

struct virtual_fabrics {
	const struct virtual_fabric *all; /*!< [n] by name */
	uint32_t n;
	struct applications applications;
	const struct device_groups *groups; /*!< that members index */
};

/*! Sections of a file, each of Common first, then of Fm. */
struct vf_sections {
	struct xml_element *fabrics[2], *qos_groups[2], *applications[2];
	unsigned n_fabrics, n_qos_groups, n_applications;
};

/*!
 * \brief Reads virtual fabrics with their QOSGroups and Applications.
 *
 * Beside each value, it checks the enabled virtual fabrics together: multicast SLs are used
 * for multicast only; bandwidths add up to at most 100 (95 if some have no quality of
 * service); all or none have a QOSGroup, and those that do have a PKey and no own settings.
 *
 * \retval E_SYNTAX  In \a d by line and element. \retval -ENOMEM
 */
int virtual_fabrics_parse(const char *path, const struct vf_sections *s,
                          const struct device_groups *groups, struct arena *a,
                          struct diags *d, const struct virtual_fabrics **ret_fabrics);

/*! \brief Chooses the SLs and P_Keys that the file does not set. virtual_fabrics_parse() does it.
 *  \retval E_SYNTAX  There are not enough SLs. \retval -ENOMEM */
int virtual_fabrics_assign(struct virtual_fabric *all, uint32_t n, const char *path,
                           struct arena *a, struct diags *d);

/*! \brief Is a virtual fabric in effect? */
static inline bool virtual_fabric_is_active(const struct virtual_fabric *vf)
{
	return vf->enable && !vf->standby;
}

/*! \brief Number of virtual fabrics in effect. NULL: none. */
uint32_t virtual_fabrics_active(const struct virtual_fabrics *f);

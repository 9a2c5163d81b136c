/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*!
 * Policy: which level a request for a path gets. Published in table `policy`; a fabric
 * without a policy has no row there.
 *
 * A qos-policy.conf or virtual fabrics are compiled to this form for one fabric: a list of
 * rules, with which a request is compared in order, and the levels to which they lead.
 * Ports appear as sets of rules. Each port has a number, the same as that of its P_Keys
 * (snap_end.p_key_set). For each number three bitmaps tell of which rules such a port may
 * be the source, of which the destination, and of which it is a full member. So three
 * words decide for 64 rules.
 *
 * The ServiceID, QoSClass and P_Key that a rule names must be those of the request.
 * Virtual fabrics are another kind: a request without a ServiceID matches each of them. A
 * request with a ServiceID matches those that list it; if none lists it, those with
 * \a unmatched.
 *
 * Each virtual fabric has a rule of the same number, and what VFInfo records show of it.
 *
 * Structs are stored as they are: no padding, unused bytes 0.
 */
enum policy_kind {
	POLICY_NONE,
	POLICY_FIRST, /*!< the first rule that fits decides, default_level when none does */
	POLICY_EACH   /*!< each rule that fits gives paths, none when none does: virtual fabrics */
};

enum {
	POLICY_SETS = 3,         /*!< bitmaps per set: source, destination, full member */
	POLICY_ANY = 0xff,       /*!< of sl and life_time: the path's own */
	POLICY_NO_QOS = 0xff,    /*!< of qos: nothing leads there */
	POLICY_RULES_MAX = 16384,
	POLICY_NAME_MAX = 64
};

/*! from <= (number & mask) <= to */
struct policy_range {
	uint64_t from, to, mask;
};

/*! \a n ranges from \a first on; n 0: any number, also none. */
struct policy_list {
	uint32_t first, n;
};

struct policy_level {
	struct policy_list p_keys; /*!< one of these, without the membership bit */
	uint16_t p_key;    /*!< of a virtual fabric: where both ports have it; else 0 */
	uint8_t sl;        /*!< as written, POLICY_ANY */
	uint8_t qos;       /*!< its level in `vls`; POLICY_NO_QOS: no path has it */
	uint8_t mtu, rate; /*!< limits, codes; 0: none */
	uint8_t life_time; /*!< code, POLICY_ANY */
	uint8_t life_time_mult; /*!< the life time times 2^this */
};

struct policy_rule {
	struct policy_list services, qos_classes, p_keys;
	uint32_t level;
	uint8_t unmatched; /*!< service IDs that no rule has */
	uint8_t reserved[3];
};

/*! 128 bits from a to b, or those that give a when masked with b. A service ID is in the lower halves. */
struct policy_id {
	uint64_t a_high, a_low, b_high, b_low;
	uint32_t masked, reserved;
};

enum policy_fabric_flag {
	FABRIC_SECURITY = 1, /*!< limited members do not reach each other */
	FABRIC_QOS = 2,
	FABRIC_FLOW_CONTROL_DISABLE = 4,
	FABRIC_HIGH_PRIORITY = 8,
	FABRIC_UNMATCHED_SERVICE = 16, /*!< service IDs that no virtual fabric has */
	FABRIC_UNMATCHED_MGID = 32,
	FABRIC_SA = 64,      /*!< Select: subnet administration, performance manager */
	FABRIC_PM = 128
};

/*! A virtual fabric that is enabled and not on standby; its index is that of its rule. */
struct policy_fabric {
	char name[POLICY_NAME_MAX]; /*!< a NUL behind it only where it is shorter */
	struct policy_list services, mgids; /*!< of struct policy.ids */
	uint16_t p_key;             /*!< without the membership bit */
	uint8_t sl, multicast_sl;
	uint8_t mtu, rate;          /*!< limits, codes; 0: none */
	uint8_t life_time_mult;     /*!< life times are times 2^this */
	uint8_t flags;              /*!< enum policy_fabric_flag */
	uint8_t bandwidth;          /*!< per cent, 0: a share of the remainder */
	uint8_t preempt_rank;
	uint8_t hoq_life;           /*!< code, 0xff: that of all */
	uint8_t reserved[5];
};

struct policy_head {
	uint32_t kind; /*!< enum policy_kind */
	uint32_t default_level;
	uint32_t n_levels, n_rules, n_ranges, n_fabrics, n_ids;
	uint32_t words; /*!< 64-bit words of a bitmap over the rules */
};

struct policy {
	struct policy_head head;
	const struct policy_level *levels;
	const struct policy_rule *rules;
	const struct policy_range *ranges;
	const struct policy_fabric *fabrics;
	const struct policy_id *ids;
	/*! [n_sets][POLICY_SETS][words]; while it is being published: [graph.n_ports][...] */
	const uint64_t *sets;
	uint32_t n_sets;
};

_Static_assert(sizeof(struct policy_range) == 24, "policy_range is stored as it is");
_Static_assert(sizeof(struct policy_level) == 16, "policy_level is stored as it is");
_Static_assert(sizeof(struct policy_rule) == 32, "policy_rule is stored as it is");
_Static_assert(sizeof(struct policy_id) == 40, "policy_id is stored as it is");
_Static_assert(sizeof(struct policy_fabric) == 96, "policy_fabric is stored as it is");
_Static_assert(sizeof(struct policy_head) == 32, "policy_head is stored as it is");

struct snap_reader;
struct snap_end;

/*!
 * \brief The policy of the pinned epoch, checked: every index in it is one.
 * \param ret_policy  Borrowed until the next pin. NULL: there is none.
 * \retval E_MALFORMED E_STALE -ENOMEM
 * Cost: O(1); the first call of an epoch copies it.
 */
int snap_policy(struct snap_reader *r, const struct policy **ret_policy);

/*! \brief The three bitmaps of a port. \return NULL: no port of this epoch has this number. */
static inline const uint64_t *policy_set(const struct policy *p, uint16_t number)
{
	return number < p->n_sets ? p->sets + (size_t)number * POLICY_SETS * p->head.words
	                          : NULL;
}

/*! \brief Rules of word \a w that a source and a destination fit; one of both is a full member. */
static inline uint64_t policy_fits(const struct policy *p, const uint64_t *src,
                                   const uint64_t *dst, uint32_t w)
{
	uint32_t words = p->head.words;

	return src[w] & dst[words + w] & (src[2 * words + w] | dst[2 * words + w]);
}

/*! \brief Is a number in one of the ranges? */
static inline bool policy_has(const struct policy *p, const struct policy_list *l,
                              uint64_t number)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct policy_range *r = &p->ranges[l->first + i];
		uint64_t masked = number & r->mask;

		if (r->from <= masked && masked <= r->to) {
			return true;
		}
	}
	return false;
}

/* --- partitions ----------------------------------------------------------------------- */

/*!
 * Table `partitions`: the partitions in effect, by P_Key without its bit 15. A value is struct
 * row_partition, the groups, the members, then the name without NUL, then the names of hosts among the members likewise. Structs are stored as they
 * are: no padding, unused bytes 0.
 */
struct row_partition {
	uint32_t n_full, n_limited; /*!< end ports of the fabric that are such members */
	uint32_t n_groups, n_members;
	uint16_t name_len;
	uint8_t indx0; /*!< the P_Key comes first in the tables of members */
	uint8_t sl;    /*!< of its broadcast groups, while QoS is on */
};

/*! A multicast group that is there without members. */
struct snap_partition_group {
	uint64_t prefix, guid; /*!< MGID, host order */
	uint32_t q_key, flow_label;
	uint8_t rate, mtu, sl, tclass;
	uint8_t broadcast; /*!< of IPoIB */
	uint8_t reserved[3];
};

/*! Who is a member, as the operator wrote it; of several that fit a port the last one counts. */
struct snap_partition_member {
	uint64_t first, last; /*!< PARTITION_GUIDS: PortGUIDs; PARTITION_HOST: place and length of its name behind the partition's */
	uint8_t who;          /*!< enum partition_who */
	uint8_t membership;   /*!< enum partition_membership */
	uint8_t runtime;      /*!< made at run time, not by the configuration */
	uint8_t reserved;
	uint32_t n_ports;     /*!< PARTITION_HOST: ports that the name means, never 1 */
};

_Static_assert(sizeof(struct row_partition) == 20, "row_partition");
_Static_assert(sizeof(struct snap_partition_group) == 32, "snap_partition_group");
_Static_assert(sizeof(struct snap_partition_member) == 24, "snap_partition_member");

struct snap_partition {
	uint16_t p_key;
	struct row_partition is;
	const uint8_t *groups, *members, *name; /*!< borrowed until the next pin */
	const uint8_t *hosts; /*!< [hosts_len] names of hosts, likewise */
	size_t hosts_len;
};

/*!
 * \brief The first partition whose P_Key is not below \a p_key (15 bits).
 * \retval E_NOTFOUND  None. \retval E_MALFORMED E_STALE
 */
int snap_partition_from(struct snap_reader *r, uint16_t p_key,
                        struct snap_partition *ret_partition);

/*! \brief Group and member \a i of a partition, below n_groups and n_members. */
struct snap_partition_group snap_partition_group(const struct snap_partition *p,
                                                 uint32_t i);
struct snap_partition_member snap_partition_member(const struct snap_partition *p,
                                                   uint32_t i);

/*! \brief The name of a member that is PARTITION_HOST. \param ret_len  Its bytes; 0 where the row is damaged. */
const char *snap_partition_host(const struct snap_partition *p,
                                const struct snap_partition_member *m, size_t *ret_len);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*!
 * Quality of service as an operator writes it: per kind of port which VL an SL takes, and
 * how VLs share a link. A key that a kind of port does not set is that of QOS_ALL; one
 * that stands nowhere has a value of its own here, the one that OpenSM 3.3.23 has.
 */
enum qos_mode {
	QOS_OFF,
	QOS_ON,
	QOS_AUTO /*!< nobody said: on while the routing uses several lanes */
};

enum qos_class {
	QOS_ALL,
	QOS_CA,
	QOS_SW0, /*!< port 0 of a switch */
	QOS_SWE, /*!< external ports of a switch */
	QOS_RTR,
	QOS_CLASS_COUNT
};

/*! The keys of one kind of port, as written. */
struct qos_keys {
	uint32_t max_vls;       /*!< 0: not set */
	int32_t high_limit;     /*!< -1: not set */
	const char *vlarb_high; /*!< "VL:weight,...", NULL: not set */
	const char *vlarb_low;
	const char *sl2vl; /*!< VL of each of the 16 SLs, NULL: not set */
};

enum { QOS_SLS = 16, QOS_VL_DROP = 15, QOS_WEIGHTS_MAX = 64 };

/*! One table of VL arbitration, in its order. */
struct qos_weights {
	uint8_t n;
	struct {
		uint8_t vl, weight;
	} entry[QOS_WEIGHTS_MAX];
};

/*! Settings of one kind of port. */
struct qos_setup {
	uint8_t max_vls; /*!< 1-15 */
	uint8_t high_limit;
	struct qos_weights high, low;
	uint8_t sl2vl[QOS_SLS]; /*!< QOS_VL_DROP: dropped */
};

/*!
 * \brief "0:4,1:0": at most 64 pairs of a VL (0-14) and a weight (0-255); blanks around
 *        them do not count.
 * \retval E_SYNTAX  \a ret_weights is unchanged. \retval E_RANGE  likewise
 */
int qos_weights_parse(const char *text, struct qos_weights *ret_weights);

/*! \brief "0,1,...": 16 VLs, 15 drops. \retval E_SYNTAX \retval E_RANGE */
int qos_sl2vl_parse(const char *text, uint8_t ret_sl2vl[QOS_SLS]);

/*! Most entries of path_life_times. */
enum { LIFE_TIMES_MAX = 10 };

/*!
 * \brief "14,15,15": PacketLifeTime codes (1-31) of paths that pass 1, 2, 3 ... switches.
 * \param ret_life_times  The last one is repeated to the end.
 * \retval E_SYNTAX E_RANGE
 */
int life_times_parse(const char *text, uint8_t ret_life_times[LIFE_TIMES_MAX]);

/*! \brief What holds for \a of; the keys' texts were checked when they were stored. */
void qos_setup_of(const struct qos_keys keys[QOS_CLASS_COUNT], enum qos_class of,
                  struct qos_setup *ret_setup);

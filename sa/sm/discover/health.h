/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/hash.h"

struct disc;
struct disc_node;
struct graph;

/*! What can be wrong with a port; the order is that of health_policy. */
enum health_condition {
	HEALTH_FLAPPING,     /*!< its link went down and came back between two sweeps */
	HEALTH_UNRESPONSIVE, /*!< its link is up and nobody answers behind it */
	HEALTH_SETERR,       /*!< it or what is behind it refused a Set */
	HEALTH_NOISY,        /*!< what is behind it sent many traps */
	HEALTH_CONDITIONS
};

enum health_action { HEALTH_IGNORE, HEALTH_REPORT, HEALTH_ISOLATE, HEALTH_NO_DISCOVER };

/*! Beside the actions: a condition is met when it was seen in so many of the last sweeps. */
struct health_policy {
	bool on;
	uint8_t action
		[2]
		[HEALTH_CONDITIONS]; /*!< [a switch is behind the port] enum health_action */
	uint32_t sweeps[HEALTH_CONDITIONS]; /*!< HEALTH_NOISY: traps */
	uint32_t window
		[HEALTH_CONDITIONS]; /*!< sweeps, 64 at most; HEALTH_NOISY: seconds */
	uint32_t
		release_s; /*!< a port that was isolated is tried again after so long; 0: never */
};

/*!
 * Ports of switches that are not healthy. The state of a port in each sweep makes a history. If
 * a condition is met, the port is reported, and isolated if the policy says so: discovery does not
 * look behind it and its link is not activated, so no route uses it. It is tried again after a
 * while, with an empty history.
 *
 * The port of a switch stands for its cable; of a cable between switches it is the end that the
 * condition was seen at. A port is not isolated if others could not be reached without it, or if
 * the subnet manager is behind it.
 */
struct health {
	struct health_policy policy;
	struct health_port {
		uint64_t guid; /*!< NodeGUID of the switch */
		uint8_t port;
		bool to_switch;              /*!< what is behind it, as last seen */
		uint64_t seen[HEALTH_NOISY]; /*!< bit i: i sweeps ago */
		uint32_t traps;              /*!< since traps_since_ms */
		uint64_t traps_since_ms;
		bool reported
			[HEALTH_CONDITIONS]; /*!< the condition is met, which was reported */
		bool far_end; /*!< isolated only as the other end of a cable between switches */
		bool isolated,
			spared;    /*!< spared: others depend on it, which was reported */
		uint64_t since_ms; /*!< isolated */
	} * ports;                 /*!< [n] malloc */
	uint32_t n;
	size_t cap;
	struct hash_table by_port; /*!< guid_port_key() -> index in ports */
	uint32_t n_isolated;
};

/*! What health_judge() found of a port. */
enum health_news { HEALTH_BAD, HEALTH_CUT_OFF, HEALTH_SPARED, HEALTH_GOOD };

typedef void health_news_f(void *ctx, const struct health_port *p,
                           enum health_condition why, enum health_news news);

/*! \brief Name of a condition as the options have it. */
const char *health_condition_name(enum health_condition c);

/*!
 * \brief After a discovery: notes flapping links and silent ports.
 * \param was      The fabric before; NULL: not known.
 * \param bounced  Links were restarted by the sweep before, so it does not count that they were.
 * Cost: O(ports). Out of memory something is not noted.
 */
void health_observe(struct health *h, const struct disc *was, const struct disc *now,
                    bool bounced);

/*! \brief A port, or what is behind it, showed a condition in this sweep. The condition of a port of a CA is
 *         that of its switch's port. */
void health_note_node(struct health *h, const struct disc_node *n, unsigned port,
                      enum health_condition c);

/*! \brief A trap of an end port. */
void health_trap(struct health *h, const struct graph *g, uint32_t end_port,
                 uint64_t now_ms);

/*!
 * \brief At the end of a sweep: decides.
 * \param g  The fabric; NULL: nothing is isolated.
 * \return true: a port was isolated or is to be tried again, so a sweep is due.
 */
bool health_judge(struct health *h, const struct graph *g, uint64_t now_ms,
                  health_news_f *tell, void *ctx);

/*! \brief When an isolated port is to be tried again; UINT64_MAX: none is. */
uint64_t health_deadline(const struct health *h);

bool health_is_isolated(const struct health *h, uint64_t guid, uint8_t port);

/*! \brief Zeroed is fine. */
void health_done(struct health *h);

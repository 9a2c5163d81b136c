/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Setup of each kind of port while QoS is on. It comes from the options of the kind; the routing
 * decides what they leave open. Where the two disagree the routing wins, because its proof stands
 * on its lanes.
 */
#include <stddef.h>
#include <string.h>

#include "conf/base/log.h"
#include "conf/config.h"
#include "sa/sm/program/program.h"
#include "sa/sm/program/qos_table.h"

static const char *const source = "sweep";

/* Is an option set for this kind of port, or for all? key is an offset in struct qos_keys. */
static bool is_set(const struct config *c, unsigned of, size_t key)
{
	const char *own, *all;

	memcpy(&own, (const char *)&c->qos_keys[of] + key, sizeof(own));
	memcpy(&all, (const char *)&c->qos_keys[QOS_ALL] + key, sizeof(all));
	return own != NULL || all != NULL;
}

static bool weights_are_set(const struct config *c, unsigned of)
{
	return is_set(c, of, offsetof(struct qos_keys, vlarb_low)) ||
	       is_set(c, of, offsetof(struct qos_keys, vlarb_high));
}

void program_setup_qos(struct program *p)
{
	const struct config *c = p->config;

	for (unsigned i = 0; i < QOS_CLASS_COUNT; i++) {
		qos_setup_of(c->qos_keys, i, &p->qos_setup[i]);
		if (p->lanes->rule != NULL && !weights_are_set(c, i)) {
			qos_table_even(&p->qos_setup[i], p->lanes->rule->vls);
		}
	}
}

/* Warns where routing and the options of one kind of port disagree. */
static void warn_overruled(const struct program *p, const char *engine, unsigned of)
{
	static const char *const key[] = { "qos", "qos_ca", "qos_sw0", "qos_swe",
		                           "qos_rtr" };
	unsigned sl = qos_table_overruled(&p->qos_setup[of], lanes_vls(p->lanes));

	if (p->lanes->rule == NULL) {
		if (sl < QOS_SLS) {
			log_message(
				MSG_QOS_SL2VL_OVERRULED, source,
				"%s_sl2vl gives SL %u VL %u, but %s needs VL %u there and has it",
				key[of], sl, p->qos_setup[of].sl2vl[sl], engine, sl);
		}
		return;
	}
	if (is_set(p->config, of, offsetof(struct qos_keys, sl2vl))) {
		log_message(MSG_QOS_SL2VL_OVERRULED, source,
		            "%s_sl2vl has no effect: %s says the VL of every SL", key[of],
		            engine);
	}
	if (of == QOS_SWE && weights_are_set(p->config, of) &&
	    qos_table_uneven(&p->qos_setup[of], p->lanes->rule)) {
		log_message(
			MSG_QOS_WEIGHTS, source,
			"%s_vlarb_high and %s_vlarb_low weigh VLs differently that %s uses alike",
			key[of], key[of], engine);
	}
}

void program_warn_qos(const struct program *p, const char *engine)
{
	for (unsigned i = QOS_CA; i < QOS_CLASS_COUNT; i++) {
		warn_overruled(p, engine, i);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/sim/sim.h"

/*
 * Congestion control of a simulated node of InfiniBand (IBA vol. 1, annex A10): class 0x21 at
 * port 0 of a switch and at each port of a channel adapter. Settings are stored and shown; no packet is
 * marked because of them, so the logs are empty. Their bytes say what was Set last.
 *
 * A port without a CC_Key believes everybody. With one, a request with another key gets no answer if it is a
 * Set; a Get is answered, and CongestionKeyInfo shows the key as 0 if the protect bit is set. A wrong
 * key is counted, and begins the lease period as with the M_Key. When it runs out, the key is 0.
 *
 * A node whose agent is switched off does not answer, as a device without this class.
 */

/* clang-format off */
/* Bits of a MAD */
#define CC_KEY               192, 64
/* CongestionInfo */
#define CI_CONTROL_TABLE_CAP  16,  8
/* CongestionKeyInfo */
#define KI_KEY                 0, 64
#define KI_PROTECT            64,  1
#define KI_LEASE              80, 16
#define KI_VIOLATIONS         96, 16
/* CongestionLog, which is in the place of the log data, too */
#define LOG_TYPE               0,  8
/* TimeStamp */
#define TS_TIME                0, 32
/* clang-format on */

enum {
	CC_CLASS = 0x21,
	CC_VERSION = 2,
	CC_INFO = 0x11,
	CC_KEY_INFO = 0x12,
	CC_LOG = 0x13,
	CC_SWITCH = 0x14,
	CC_SWITCH_PORT = 0x15,
	CC_CA = 0x16,
	CC_TABLE = 0x17,
	CC_TIME = 0x18,
	LOG_AT = 32,
	DATA_AT = 64,
	DATA_BYTES = MAD_BYTES - DATA_AT,
	LOG_OF_SWITCH = 1,
	LOG_OF_CA = 2,
	US = 1000000
};

/* The attributes that a port keeps. */
struct sim_congestion {
	uint64_t key, lease_end_us; /* lease_end_us 0: no wrong key was met since the right one */
	uint16_t lease, violations;
	bool protect;
	uint8_t on_switch[SIM_CC_SWITCH_BYTES];
	uint8_t on_switch_ports[SIM_CC_PORT_BLOCKS][SIM_CC_PORT_BYTES];
	uint8_t on_ca[SIM_CC_CA_BYTES];
	uint8_t table[SIM_CC_TABLE_BLOCKS][SIM_CC_TABLE_BYTES];
};

/* A port shows these until somebody sets them. */
static const struct sim_congestion untouched;

void sim_congestion_reset(struct sim *s, uint32_t port)
{
	free(s->ports[port].congestion);
	s->ports[port].congestion = NULL;
}

void sim_congestion_done(struct sim *s)
{
	for (uint32_t i = 0; s->ports != NULL && i < s->g->n_ports; i++) {
		sim_congestion_reset(s, i);
	}
	free(s->cc_sets);
}

static struct sim_congestion *state_of(struct sim *s, uint32_t port)
{
	struct sim_port *p = &s->ports[port];

	if (p->congestion == NULL) {
		p->congestion = calloc(1, sizeof(*p->congestion));
	}
	return p->congestion;
}

/* --- the key -------------------------------------------------------------------------------- */

/* \param c  NULL: nothing was Set, so there is no key. \return false: no answer. */
static bool check_key(struct sim *s, struct sim_congestion *c, const uint8_t *mad, bool *ret_hide)
{
	*ret_hide = false;
	if (c == NULL) {
		return true;
	}
	if (c->lease_end_us != 0 && sim_now_us(s) >= c->lease_end_us) {
		c->key = 0;
		c->lease_end_us = 0;
	}
	if (c->key == 0 || c->key == field_get(mad, CC_KEY)) {
		c->lease_end_us = 0;
		return true;
	}
	if (mad[3] == UMAD_METHOD_GET) {
		*ret_hide = c->protect;
		return true;
	}
	c->violations += c->violations < UINT16_MAX;
	if (c->lease != 0 && c->lease_end_us == 0) {
		c->lease_end_us = sim_now_us(s) + (uint64_t)c->lease * US;
	}
	return false;
}

static uint16_t key_info(struct sim *s, uint32_t port, bool set, bool hide, uint8_t *data)
{
	const struct sim_congestion *c = s->ports[port].congestion;

	if (set) {
		struct sim_congestion *own = state_of(s, port);

		if (own == NULL) {
			return UMAD_STATUS_BUSY;
		}
		own->key = field_get(data, KI_KEY);
		own->protect = field_get(data, KI_PROTECT);
		own->lease = (uint16_t)field_get(data, KI_LEASE);
		own->violations = (uint16_t)field_get(data, KI_VIOLATIONS);
		own->lease_end_us = 0;
		c = own;
	}
	c = c != NULL ? c : &untouched;
	memset(data, 0, DATA_BYTES);
	field_set(data, KI_KEY, hide ? 0 : c->key);
	field_set(data, KI_PROTECT, c->protect);
	field_set(data, KI_LEASE, c->lease);
	field_set(data, KI_VIOLATIONS, c->violations);
	return UMAD_STATUS_SUCCESS;
}

/* --- attributes ----------------------------------------------------------------------------- */

/* Where a port keeps an attribute. \return NULL: there is no such thing, by *ret_status. */
static uint8_t *place_of(const struct sim *s, const struct sim_at *at, struct sim_congestion *c,
                         uint16_t attr, uint32_t mod, size_t *ret_bytes, uint16_t *ret_status)
{
	bool on_switch = sim_is_switch(s, at->node);

	*ret_status = UMAD_STATUS_INVALID_ATTR_VALUE;
	if (attr == CC_SWITCH && on_switch) {
		*ret_bytes = sizeof(c->on_switch);
		return mod == 0 ? c->on_switch : NULL;
	}
	if (attr == CC_SWITCH_PORT && on_switch) {
		*ret_bytes = SIM_CC_PORT_BYTES;
		return mod < SIM_CC_PORT_BLOCKS ? c->on_switch_ports[mod] : NULL;
	}
	if (attr == CC_CA && !on_switch) {
		*ret_bytes = sizeof(c->on_ca);
		return mod == 0 ? c->on_ca : NULL;
	}
	if (attr == CC_TABLE && !on_switch) {
		*ret_bytes = SIM_CC_TABLE_BYTES;
		return mod < SIM_CC_TABLE_BLOCKS ? c->table[mod] : NULL;
	}
	*ret_status = UMAD_STATUS_ATTR_NOT_SUPPORTED;
	return NULL;
}

/* An attribute whose bytes are kept as they are. */
static uint16_t kept(struct sim *s, const struct sim_at *at, bool set, uint16_t attr,
                     uint32_t mod, uint8_t *data)
{
	struct sim_congestion fresh = untouched;
	uint32_t port = sim_end_port(s, at);
	struct sim_congestion *c = set ? state_of(s, port) : s->ports[port].congestion;
	uint16_t status;
	size_t bytes = 0;

	if (c == NULL && set) {
		return UMAD_STATUS_BUSY;
	}
	uint8_t *own = place_of(s, at, c != NULL ? c : &fresh, attr, mod, &bytes, &status);

	if (own == NULL) {
		return status;
	}
	if (set) {
		memcpy(own, data, bytes);
	}
	memset(data, 0, DATA_BYTES);
	memcpy(data, own, bytes);
	return UMAD_STATUS_SUCCESS;
}

static uint16_t answer(struct sim *s, const struct sim_at *at, bool hide, uint8_t *mad)
{
	bool set = mad[3] == UMAD_METHOD_SET;
	uint8_t *data = mad + DATA_AT;
	uint16_t attr = (uint16_t)field_get(mad, MAD_ATTR_ID);

	switch (attr) {
	case CC_KEY_INFO: return key_info(s, sim_end_port(s, at), set, hide, data);
	case CC_SWITCH:
	case CC_SWITCH_PORT:
	case CC_CA:
	case CC_TABLE:
		return kept(s, at, set, attr, (uint32_t)field_get(mad, MAD_ATTR_MOD), data);
	case CC_INFO:
	case CC_LOG:
	case CC_TIME:
	case UMAD_ATTR_CLASS_PORT_INFO: break;
	default: return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	if (set) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	memset(mad + LOG_AT, 0, MAD_BYTES - LOG_AT);
	if (attr == CC_INFO) {
		field_set(data, CI_CONTROL_TABLE_CAP,
		          sim_is_switch(s, at->node) ? 0 : SIM_CC_TABLE_BLOCKS);
	} else if (attr == CC_LOG) {
		field_set(mad + LOG_AT, LOG_TYPE,
		          sim_is_switch(s, at->node) ? LOG_OF_SWITCH : LOG_OF_CA);
	} else if (attr == CC_TIME) {
		field_set(data, TS_TIME, (uint32_t)(sim_now_us(s) * 1000 / 1024));
	} else {
		data[0] = UMAD_BASE_VERSION;
		data[1] = CC_VERSION;
		data[7] = 16; /* RespTimeValue */
	}
	return UMAD_STATUS_SUCCESS;
}

/* --- what was Set --------------------------------------------------------------------------- */

enum { SETS_MOST = 4096 };

static void note_set(struct sim *s, const struct sim_at *at, const uint8_t *mad)
{
	if (s->n_cc_sets == SETS_MOST ||
	    VECTOR_RESERVE(s->cc_sets, s->cap_cc_sets, s->n_cc_sets + 1U) != E_OK) {
		return;
	}
	struct sim_cc_set *row = &s->cc_sets[s->n_cc_sets++];

	row->port = sim_end_port(s, at);
	memcpy(row->mad, mad, MAD_BYTES);
	memset(row->mad + 8, 0, 8); /* the transaction ID */
}

void sim_congestion_print(const struct sim *s, FILE *f)
{
	for (uint32_t i = 0; i < s->n_cc_sets; i++) {
		const struct sim_cc_set *row = &s->cc_sets[i];
		const struct port *p = &s->g->ports[row->port];

		fprintf(f, "0x%016llx %u ", (unsigned long long)s->g->nodes[p->node].guid, p->num);
		for (unsigned k = 0; k < MAD_BYTES; k++) {
			fprintf(f, "%02x", row->mad[k]);
		}
		fputc('\n', f);
	}
}

bool sim_is_congestion(const struct sim *s, const uint8_t *mad)
{
	return s->opa == NULL && mad[1] == CC_CLASS && !(mad[3] & UMAD_METHOD_RESP_MASK) &&
	       (mad[3] == UMAD_METHOD_GET || mad[3] == UMAD_METHOD_SET);
}

bool sim_congestion_agent(struct sim *s, const struct sim_at *at, struct mad_buf *m)
{
	struct sim_congestion *c = s->ports[sim_end_port(s, at)].congestion;
	uint8_t *mad = m->data;
	bool hide = false;

	if (s->nodes[at->node].no_congestion || m->len < MAD_BYTES) {
		return false;
	}
	s->cc_requests++;
	if (mad[3] == UMAD_METHOD_SET) {
		note_set(s, at, mad);
	}
	if (!check_key(s, c, mad, &hide)) {
		return false;
	}
	field_set(mad, MAD_STATUS,
	          mad[0] != UMAD_BASE_VERSION || mad[2] != CC_VERSION
	                  ? UMAD_STATUS_BAD_VERSION
	                  : answer(s, at, hide, mad));
	mad[3] = UMAD_METHOD_GET_RESP;
	return true;
}

/* --- from outside --------------------------------------------------------------------------- */

int sim_congestion_set(struct sim *s, uint64_t node_guid, bool on)
{
	uint32_t node = graph_node_by_guid(s->g, node_guid);

	if (node == GRAPH_NONE) {
		return E_NOTFOUND;
	}
	pthread_mutex_lock(&s->lock);
	s->nodes[node].no_congestion = !on;
	pthread_mutex_unlock(&s->lock);
	return E_OK;
}

const uint8_t *sim_congestion_held(const struct sim *s, uint64_t node_guid, uint8_t port,
                                   uint16_t attr, uint32_t mod)
{
	uint32_t node = graph_node_by_guid(s->g, node_guid);
	uint32_t i = node != GRAPH_NONE ? graph_port(s->g, node, port) : GRAPH_NONE;
	struct sim_at at = { .node = node, .port = port };
	uint16_t status;
	size_t bytes;

	return i != GRAPH_NONE && s->ports[i].congestion != NULL
	               ? place_of(s, &at, s->ports[i].congestion, attr, mod, &bytes, &status)
	               : NULL;
}

uint64_t sim_congestion_key(const struct sim *s, uint64_t node_guid, uint8_t port)
{
	uint32_t node = graph_node_by_guid(s->g, node_guid);
	uint32_t i = node != GRAPH_NONE ? graph_port(s->g, node, port) : GRAPH_NONE;

	return i != GRAPH_NONE && s->ports[i].congestion != NULL ? s->ports[i].congestion->key : 0;
}

uint64_t sim_congestion_requests(const struct sim *s)
{
	return s->cc_requests;
}

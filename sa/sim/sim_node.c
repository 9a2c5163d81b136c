/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"

/*
 * The management agent of a simulated node (IBA vol. 1, 14.2.5): its attributes, what a Get
 * shows and what a Set stores. PortInfo is in sim_port.c.
 *
 * A Set with any bad value changes nothing and is answered with the status "invalid value".
 * The M_Key is checked by the table of 14.2.4.1. A wrong one raises trap 256 and starts the lease period,
 * which the right one ends; when it runs out, M_KeyProtectBits become 0 (14.2.4.2). That is seen by the
 * next SMP.
 * SL-to-VL and arbitration tables are stored and shown, but have no effect.
 */

enum { OPA_BASE_VERSION = 0x80 };

/* One attribute being read or written. */
struct access {
	struct sim *s;
	const struct sim_at *at;
	bool set;
	uint32_t mod;
	uint8_t *data; /* in: the value to set; out: the value */
};

static const struct node *node_of(const struct access *a)
{
	return &a->s->g->nodes[a->at->node];
}

static uint32_t linear_fdb_cap(const struct node *n)
{
	bool specified = n->linear_fdb_cap != 0 && n->linear_fdb_cap < LID_UNICAST_END;
	return specified ? n->linear_fdb_cap : LID_UNICAST_END;
}

static uint16_t node_description(struct access *a)
{
	if (a->set) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	const uint8_t *own =
		sim_stored_find(a->s, node_of(a)->first_port, UMAD_SM_ATTR_NODE_DESC, 0);
	if (own != NULL) {
		memcpy(a->data, own, SMP_DATA_BYTES);
		return UMAD_STATUS_SUCCESS;
	}
	const char *text = node_of(a)->description;
	memset(a->data, 0, SMP_DATA_BYTES);
	memcpy(a->data, text, strnlen(text, SMP_DATA_BYTES));
	return UMAD_STATUS_SUCCESS;
}

static uint16_t node_info(struct access *a)
{
	if (a->set) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	const struct node *n = node_of(a);
	uint32_t shown = a->s->nodes[a->at->node].guids;
	uint8_t *d = a->data;

	memset(d, 0, SMP_DATA_BYTES);
	field_set(d, NI_BASE_VERSION,
	          sim_is_omni_path(a->s, a->at->node) ? OPA_BASE_VERSION : UMAD_BASE_VERSION);
	field_set(d, NI_CLASS_VERSION, 1);
	field_set(d, NI_NODE_TYPE, n->type);
	field_set(d, NI_NUM_PORTS, n->n_ports);
	field_set(d, NI_SYSTEM_IMAGE_GUID, n->system_image_guid);
	field_set(d, NI_NODE_GUID, n->guid);
	field_set(d, NI_PORT_GUID, sim_port_guid(a->s, sim_end_port(a->s, a->at)));
	field_set(d, NI_PARTITION_CAP, sim_partition_cap(n));
	field_set(d, NI_DEVICE_ID, n->device_id);
	field_set(d, NI_REVISION, n->revision);
	field_set(d, NI_LOCAL_PORT_NUM, a->at->port);
	field_set(d, NI_VENDOR_ID, n->vendor_id);
	if (shown != 0) { /* of another node */
		const struct node *other = &a->s->g->nodes[shown - 1];
		unsigned num = other->type == NODE_SWITCH ? 0 : 1;

		field_set(d, NI_NODE_GUID, other->guid);
		field_set(d, NI_PORT_GUID, sim_port_guid(a->s, other->first_port + num));
	}
	return UMAD_STATUS_SUCCESS;
}

static uint16_t switch_info_set(struct access *a, uint8_t *info)
{
	uint64_t top = field_get(a->data, SI_LINEAR_FDB_TOP);
	if (top >= linear_fdb_cap(node_of(a))) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	field_set(info, SI_LINEAR_FDB_TOP, top);
	field_set(info, SI_DEFAULT_PORT, field_get(a->data, SI_DEFAULT_PORT));
	field_set(info, SI_DEFAULT_MCAST_PRIMARY_PORT,
	          field_get(a->data, SI_DEFAULT_MCAST_PRIMARY_PORT));
	field_set(info, SI_DEFAULT_MCAST_NOT_PRIMARY_PORT,
	          field_get(a->data, SI_DEFAULT_MCAST_NOT_PRIMARY_PORT));
	field_set(info, SI_LIFE_TIME_VALUE, field_get(a->data, SI_LIFE_TIME_VALUE));
	field_set(info, SI_MULTICAST_FDB_TOP, field_get(a->data, SI_MULTICAST_FDB_TOP));
	if (field_get(a->data, SI_PORT_STATE_CHANGE)) { /* writing 1 clears it */
		field_set(info, SI_PORT_STATE_CHANGE, 0);
	}
	return UMAD_STATUS_SUCCESS;
}

static uint16_t switch_info(struct access *a)
{
	uint8_t *info = a->s->nodes[a->at->node].sw_info;
	if (!sim_is_switch(a->s, a->at->node)) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	if (a->set) {
		uint16_t status = switch_info_set(a, info);
		if (status != UMAD_STATUS_SUCCESS) {
			return status;
		}
	}
	memcpy(a->data, info, SMP_DATA_BYTES);
	return UMAD_STATUS_SUCCESS;
}

static uint16_t port_info(struct access *a)
{
	/* bit 31 means that the SM supports extended link speeds; they are always shown */
	uint32_t num = a->mod & 0x7FFFFFFF;
	if (num > node_of(a)->n_ports) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	bool on_switch = sim_is_switch(a->s, a->at->node);
	if (num == 0 && !on_switch) {
		num = a->at->port;
	}
	uint32_t port = sim_port_index(a->s, a->at->node, num);
	if (a->set) {
		uint16_t status = sim_port_set(a->s, port, a->data);
		if (status != UMAD_STATUS_SUCCESS) {
			return status;
		}
	}
	memcpy(a->data, a->s->ports[port].info, SMP_DATA_BYTES);
	if (on_switch) {
		field_set(a->data, PI_LOCAL_PORT_NUM, a->at->port);
	}
	return UMAD_STATUS_SUCCESS;
}

static int lft_reserve(struct sim_node *n, uint32_t len)
{
	if (len <= n->lft_len) {
		return E_OK;
	}
	uint8_t *lft = realloc(n->lft, len);
	if (lft == NULL) {
		return -ENOMEM;
	}
	memset(lft + n->lft_len, LFT_NO_ROUTE, len - n->lft_len);
	n->lft = lft;
	n->lft_len = len;
	return E_OK;
}

static uint16_t linear_ft(struct access *a)
{
	struct sim_node *n = &a->s->nodes[a->at->node];
	if (!sim_is_switch(a->s, a->at->node)) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	if (a->mod >= (linear_fdb_cap(node_of(a)) + LFT_BLOCK - 1) / LFT_BLOCK) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	uint32_t first = a->mod * LFT_BLOCK;
	if (a->set) {
		if (lft_reserve(n, first + LFT_BLOCK) != E_OK) {
			return UMAD_STATUS_BUSY;
		}
		memcpy(n->lft + first, a->data, LFT_BLOCK);
	} else if (first < n->lft_len) {
		memcpy(a->data, n->lft + first, LFT_BLOCK);
	} else {
		memset(a->data, LFT_NO_ROUTE, LFT_BLOCK);
	}
	return UMAD_STATUS_SUCCESS;
}

/* Stores a Set by (port, attribute, modifier); a Get shows that or the default. */
static uint16_t access_stored(struct access *a, uint32_t port, uint16_t attr,
                              const uint8_t *def)
{
	if (a->set) {
		return sim_stored_put(a->s, port, attr, a->mod, a->data) == E_OK
		               ? UMAD_STATUS_SUCCESS
		               : UMAD_STATUS_BUSY;
	}
	const uint8_t *own = sim_stored_find(a->s, port, attr, a->mod);
	memcpy(a->data, own != NULL ? own : def, SMP_DATA_BYTES);
	return UMAD_STATUS_SUCCESS;
}

/* Entries from GUIDCap on are 0; the first of all is the PortGUID. */
static uint16_t guid_info(struct access *a)
{
	uint32_t port = sim_end_port(a->s, a->at);
	uint32_t cap = sim_guid_cap(a->s);
	uint8_t def[SMP_DATA_BYTES] = { 0 };

	if (a->mod >= (cap + GUID_BLOCK - 1) / GUID_BLOCK) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	if (a->mod == 0) {
		field_set(def, 0, 64, sim_port_guid(a->s, port));
	}
	if (a->set && a->mod == 0) {
		memcpy(a->data, def, sizeof(uint64_t));
	}
	for (uint32_t i = cap - a->mod * GUID_BLOCK; a->set && i < GUID_BLOCK; i++) {
		field_set(a->data, 64 * i, 64, 0);
	}
	return access_stored(a, port, UMAD_SM_ATTR_GUID_INFO, def);
}

static uint16_t pkey_table(struct access *a)
{
	const struct node *n = node_of(a);
	uint32_t num = sim_is_switch(a->s, a->at->node) ? a->mod >> 16 : a->at->port;
	uint32_t block = a->mod & 0xFFFF;
	uint8_t def[SMP_DATA_BYTES] = { 0 };

	if (!sim_is_switch(a->s, a->at->node)) {
		a->mod = block; /* the port counts for switches only (IBA vol. 1, 14.2.5.7) */
	}
	if (num > n->n_ports ||
	    block >= (sim_partition_cap(n) + PKEY_BLOCK - 1u) / PKEY_BLOCK) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	if (block == 0) {
		sim_pkey_default(a->s, a->at->node, def);
	}
	return access_stored(a, sim_port_index(a->s, a->at->node, num),
	                     UMAD_SM_ATTR_PKEY_TABLE, def);
}

/* The SL-to-VL table of an output port that was Set last: for one input port, for all input
 * ports, or also for all output ports. NULL: none was Set. */
static const uint8_t *newest_slvl(struct sim *s, uint32_t node, uint32_t out,
                                  uint32_t mod)
{
	const uint32_t port = sim_port_index(s, node, out),
		       first = s->g->nodes[node].first_port;
	const struct {
		uint32_t port, mod;
	} by[] = { { port, mod },
		   { port, SLVL_ALL_IN | out },
		   { first, SLVL_ALL_IN | SLVL_ALL_OUT } };
	const uint8_t *newest = NULL;
	uint32_t when = 0;

	for (unsigned i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		uint32_t stamp = sim_stored_stamp(s, by[i].port, UMAD_SM_ATTR_SLVL_TABLE,
		                                  by[i].mod);

		if (stamp > when) {
			when = stamp;
			newest = sim_stored_find(s, by[i].port, UMAD_SM_ATTR_SLVL_TABLE,
			                         by[i].mod);
		}
	}
	return newest;
}

/* One Set for all input ports, or for all input and output ports. */
static uint16_t slvl_tables_set(struct access *a, uint32_t out)
{
	bool all = a->mod & SLVL_ALL_OUT;

	if (!a->set ||
	    !field_get(a->s->nodes[a->at->node].sw_info, SI_OPTIMIZED_SLTOVL) ||
	    !(a->mod & SLVL_ALL_IN)) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	a->mod = all ? SLVL_ALL_IN | SLVL_ALL_OUT : SLVL_ALL_IN | out;
	return access_stored(a, sim_port_index(a->s, a->at->node, all ? 0 : out),
	                     UMAD_SM_ATTR_SLVL_TABLE, NULL);
}

static uint16_t slvl_table(struct access *a)
{
	bool on_switch = sim_is_switch(a->s, a->at->node);
	uint32_t out = on_switch ? a->mod & 0xFF : a->at->port;
	uint32_t in = on_switch ? a->mod >> 8 & 0xFF : 0;
	uint8_t def[SMP_DATA_BYTES] = { 0 };

	if (out > node_of(a)->n_ports || in > node_of(a)->n_ports) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	if (on_switch && a->mod & (SLVL_ALL_IN | SLVL_ALL_OUT)) {
		return slvl_tables_set(a, out);
	}
	uint32_t port = sim_port_index(a->s, a->at->node, out);
	const uint8_t *own = newest_slvl(a->s, a->at->node, out, a->mod);
	unsigned vl_code =
		(unsigned)field_get(a->s->ports[port].info, PI_OPERATIONAL_VLS);
	unsigned mask = vl_code >= 1 && vl_code <= 4 ? (1u << (vl_code - 1)) - 1 : 0xF;
	for (unsigned sl = 0; sl < 15; sl++) {
		field_set(def, 4 * sl, 4, sl & mask);
	}
	field_set(def, 4 * 15, 4, 15); /* VL 15: dropped */
	if (!a->set && own != NULL) {
		memcpy(a->data, own, SMP_DATA_BYTES);
		return UMAD_STATUS_SUCCESS;
	}
	return access_stored(a, port, UMAD_SM_ATTR_SLVL_TABLE, def);
}

static uint16_t vl_arb_table(struct access *a)
{
	bool on_switch = sim_is_switch(a->s, a->at->node);
	uint32_t num = on_switch ? a->mod & 0xFFFF : a->at->port;
	uint32_t part = a->mod >> 16;
	uint8_t def[SMP_DATA_BYTES] = { 0 };

	if (num > node_of(a)->n_ports || part < 1 || part > 4) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	return access_stored(a, sim_port_index(a->s, a->at->node, num),
	                     UMAD_SM_ATTR_VL_ARB_TABLE, def);
}

static uint16_t mcast_ft(struct access *a)
{
	static const uint8_t def[SMP_DATA_BYTES];
	if (!sim_is_switch(a->s, a->at->node)) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	if ((a->mod & 0x1FF) >= MULTICAST_FDB_CAP / 32 ||
	    a->mod >> 28 > node_of(a)->n_ports / 16u) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	return access_stored(a, node_of(a)->first_port, UMAD_SM_ATTR_MCAST_FT, def);
}

uint16_t sim_attr(struct sim *s, const struct sim_at *at, bool set, uint16_t attr,
                  uint32_t mod, uint8_t *data)
{
	struct access a = { .s = s, .at = at, .set = set, .mod = mod, .data = data };
	switch (attr) {
	case UMAD_SM_ATTR_NODE_DESC: return node_description(&a);
	case UMAD_SM_ATTR_NODE_INFO: return node_info(&a);
	case UMAD_SM_ATTR_SWITCH_INFO: return switch_info(&a);
	case UMAD_SM_ATTR_GUID_INFO: return guid_info(&a);
	case UMAD_SM_ATTR_PORT_INFO: return port_info(&a);
	case UMAD_SM_ATTR_PKEY_TABLE: return pkey_table(&a);
	case UMAD_SM_ATTR_SLVL_TABLE: return slvl_table(&a);
	case UMAD_SM_ATTR_VL_ARB_TABLE: return vl_arb_table(&a);
	case UMAD_SM_ATTR_LINEAR_FT: return linear_ft(&a);
	case UMAD_SM_ATTR_MCAST_FT: return mcast_ft(&a);
	default: return sim_vport_attr(s, sim_end_port(s, at), set, attr, mod, data);
	}
}

static void run_out(struct sim *s, struct sim_port *p)
{
	if (p->lease_end_us != 0 && sim_now_us(s) >= p->lease_end_us) {
		field_set(p->info, PI_M_KEY_PROTECT_BITS, 0);
		p->lease_end_us = 0;
		s->changes++;
	}
}

/* Checks the M_Key of an SMP by its method and counts violations. */
static bool check_m_key(struct sim *s, uint32_t end_port, const uint8_t *mad,
                        bool *ret_hide)
{
	struct sim_port *p = &s->ports[end_port];
	uint8_t *info = p->info;
	uint64_t key = field_get(info, PI_M_KEY);
	uint64_t period = field_get(info, PI_M_KEY_LEASE_PERIOD), protect;

	run_out(s, p);
	protect = field_get(info, PI_M_KEY_PROTECT_BITS);
	*ret_hide = false;
	if (key == 0 || key == field_get(mad, SMP_M_KEY)) {
		p->lease_end_us = 0;
		return true;
	}
	if (mad[3] == UMAD_METHOD_GET && protect < 2) {
		*ret_hide = protect == 1;
		return true;
	}
	uint64_t violations = field_get(info, PI_M_KEY_VIOLATIONS);
	field_set(info, PI_M_KEY_VIOLATIONS,
	          violations < 0xFFFF ? violations + 1 : violations);
	if (period != 0 && p->lease_end_us == 0) {
		p->lease_end_us = sim_now_us(s) + period * 1000000;
	}
	sim_trap_raise(s, s->g->ports[end_port].node, 4);
	return false;
}

static uint16_t answer(struct sim *s, const struct sim_at *at, uint8_t *mad)
{
	uint8_t method = mad[3];
	if (mad[0] != UMAD_BASE_VERSION || mad[2] != 1) {
		return UMAD_STATUS_BAD_VERSION;
	}
	if (method != UMAD_METHOD_GET && method != UMAD_METHOD_SET) {
		return UMAD_STATUS_METHOD_NOT_SUPPORTED;
	}
	s->changes += method == UMAD_METHOD_SET;
	if (s->opa != NULL && method == UMAD_METHOD_SET) {
		s->opa[at->node].infiniband = true;
	}
	return sim_attr(s, at, method == UMAD_METHOD_SET,
	                (uint16_t)field_get(mad, MAD_ATTR_ID),
	                (uint32_t)field_get(mad, MAD_ATTR_MOD), mad + SMP_DATA_AT);
}

bool sim_agent(struct sim *s, const struct sim_at *at, uint8_t *mad)
{
	struct sim_node *n = &s->nodes[at->node];
	uint8_t method = mad[3];
	bool hide;

	if (n->down || n->deaf || (method & UMAD_METHOD_RESP_MASK) != 0 ||
	    method == UMAD_METHOD_TRAP ||
	    !check_m_key(s, sim_end_port(s, at), mad, &hide)) {
		return false;
	}
	if (method == UMAD_METHOD_TRAP_REPRESS) {
		sim_trap_repress(s, at->node, mad);
		return false;
	}
	uint16_t status = answer(s, at, mad);
	if (hide && field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_PORT_INFO) {
		field_set(mad + SMP_DATA_AT, PI_M_KEY, 0);
	}
	bool directed = mad[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	mad[3] = UMAD_METHOD_GET_RESP;
	field_set(mad, MAD_STATUS, status | (directed ? UMAD_SMP_DIRECTION : 0));
	return true;
}

/* --- devices of Omni-Path: made from the graph; what a Set orders -------------------------------- */

/* LinkSpeed of a port of the graph: a lane of 12.5, 25, 50 or 100 Gb/s. */
static uint16_t opa_speed(uint8_t speed)
{
	switch (speed) {
	case SPEED_SDR:
	case SPEED_DDR:
	case SPEED_QDR:
	case SPEED_FDR10: return OPA_SPEED_12G;
	case SPEED_HDR: return OPA_SPEED_50G;
	case SPEED_NDR:
	case SPEED_XDR: return OPA_SPEED_100G;
	default: return OPA_SPEED_25G;
	}
}

static unsigned opa_lanes(uint8_t width)
{
	return width == WIDTH_1X ? 1 : width == WIDTH_2X ? 2 : 4;
}

static void on_link(void *ctx, unsigned num, enum opa_link_order order)
{
	struct sim_opa *o = ctx;
	const uint32_t port = sim_port_index(o->s, o->node, num);

	o->reason_port = (uint8_t)num;
	switch (order) {
	case OPA_LINK_DISABLE:
		o->reason = OPA_REASON_DISABLED;
		o->s->ports[port].disabled = true;
		sim_link_update(o->s, port);
		break;
	case OPA_LINK_ENABLE:
		o->s->ports[port].disabled = false;
		sim_link_update(o->s, port);
		break;
	case OPA_LINK_BOUNCE:
		o->reason = OPA_REASON_SM_BOUNCE;
		sim_link_bounce(o->s, port);
		break;
	}
	o->reason = 0;
}

/* Shows in InfiniBand's PortInfo, which is what /sys of a host has, what an Omni-Path SM has Set. */
static void on_port(void *ctx, unsigned num)
{
	struct sim_opa *o = ctx;
	const uint32_t port = sim_port_index(o->s, o->node, num);
	const uint8_t *from = o->device->ports[num].info;
	uint8_t *to = o->s->ports[port].info;

	o->s->changes++;
	field_set(to, PI_PORT_STATE, field_get(from, OPI_STATE));
	if (opa_is_end_port(&o->device->ports[num])) {
		field_set(to, PI_LID, field_get(from, OPI_LID) & 0xFFFF);
		field_set(to, PI_LMC, field_get(from, OPI_LMC));
		field_set(to, PI_MASTER_SM_LID,
		          field_get(from, OPI_MASTER_SM_LID) & 0xFFFF);
		field_set(to, PI_MASTER_SM_SL, field_get(from, OPI_MASTER_SM_SL));
		field_set(to, PI_GID_PREFIX, field_get(from, OPI_SUBNET_PREFIX));
		field_set(to, PI_SUBNET_TIMEOUT, field_get(from, OPI_SUBNET_TIMEOUT));
	} else {
		field_set(to, PI_PARTITION_ENFORCEMENT_INBOUND,
		          field_get(from, OPI_ENFORCE_IN));
		field_set(to, PI_PARTITION_ENFORCEMENT_OUTBOUND,
		          field_get(from, OPI_ENFORCE_OUT));
	}
}

static void on_m_key(void *ctx, const uint8_t *mad)
{
	struct sim_opa *o = ctx;

	memcpy(o->violation, mad, sizeof(o->violation));
	sim_trap_raise(o->s, o->node, 4);
}

static void on_repress(void *ctx, uint64_t tid)
{
	struct sim_opa *o = ctx;

	for (unsigned i = 0; i < SIM_TRAP_COUNT; i++) {
		if ((uint32_t)o->s->nodes[o->node].traps[i].tid == (uint32_t)tid) {
			o->s->nodes[o->node].traps[i].left = 0;
		}
	}
}

static const struct opa_ops ops = {
	.link = on_link, .port = on_port, .m_key = on_m_key, .repress = on_repress
};

static int new_device(struct sim *s, uint32_t node)
{
	const struct node *n = &s->g->nodes[node];
	struct sim_opa *o = &s->opa[node];
	struct opa_port_row *rows = calloc(n->n_ports + 1u, sizeof(*rows));
	const struct opa_device_row row = { .guid = n->guid,
		                            .system_image_guid = n->system_image_guid,
		                            .is_switch = n->type == NODE_SWITCH,
		                            .esp0 = n->esp0,
		                            .n_ports = n->n_ports,
		                            .version = 1,
		                            .lft_cap = n->linear_fdb_cap != 0
		                                               ? n->linear_fdb_cap
		                                               : s->o.lft_cap,
		                            .description = n->description,
		                            .ops = &ops,
		                            .ctx = o };

	if (rows == NULL) {
		return -ENOMEM;
	}
	for (unsigned num = n->type == NODE_SWITCH ? 0 : 1; num <= n->n_ports; num++) {
		const struct port *p = &s->g->ports[n->first_port + num];

		rows[num].speed = num != 0 ? opa_speed(p->speed) : 0;
		/* what the cable does not carry, the port does */
		rows[num].widths = (uint16_t)((1u << opa_lanes(p->width)) - 1);
	}
	o->s = s;
	o->node = node;
	int ret = opa_device_new(&row, rows, &o->device);
	free(rows);
	return ret;
}

int sim_opa_new(struct sim *s)
{
	s->opa = calloc(s->g->n_nodes, sizeof(*s->opa));
	if (s->opa == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->g->n_nodes; i++) {
		int ret = new_device(s, i);
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

/* NodeInfo shows the GUIDs of another node, if it was told to lie. */
static void lie(const struct sim *s, const struct sim_at *at, uint8_t *mad)
{
	const uint32_t shown = s->nodes[at->node].guids;

	if (shown == 0 || field_get(mad, MAD_ATTR_ID) != OPA_NODE_INFO) {
		return;
	}
	const struct node *other = &s->g->nodes[shown - 1];
	uint8_t *info = mad + opa_data_at(mad);

	field_set(info, ONI_NODE_GUID, other->guid);
	field_set(info, ONI_PORT_GUID,
	          sim_port_guid(s, other->first_port +
	                                   (other->type == NODE_SWITCH ? 0 : 1)));
}

size_t sim_opa_agent(struct sim *s, const struct sim_at *at, uint32_t from,
                     struct mad_buf *m)
{
	const struct opa_from sender = sim_opa_from(s, at, from);
	const bool set = m->data[3] == OPA_SET;
	size_t len;

	if (s->nodes[at->node].down || s->nodes[at->node].deaf) {
		return 0;
	}
	len = opa_agent(s->opa[at->node].device, &sender, m->data, m->len);
	if (len != 0) {
		lie(s, at, m->data);
	}
	if (set) {
		s->opa[at->node].infiniband &=
			len == 0 || !s->opa[at->node].device->managed;
		s->changes++;
		sim_opa_schedule_adapt(s, at->node);
	}
	return len;
}

void sim_node_reset(struct sim *s, uint32_t node)
{
	const struct node *n = &s->g->nodes[node];
	struct sim_node *me = &s->nodes[node];

	me->life++;
	s->changes++;
	free(me->lft);
	me->lft = NULL;
	me->lft_len = 0;
	memset(me->traps, 0, sizeof(me->traps));
	memset(me->sw_info, 0, sizeof(me->sw_info));
	if (n->type == NODE_SWITCH) {
		field_set(me->sw_info, SI_LINEAR_FDB_CAP, linear_fdb_cap(n));
		field_set(me->sw_info, SI_MULTICAST_FDB_CAP, MULTICAST_FDB_CAP);
		field_set(me->sw_info, SI_OPTIMIZED_SLTOVL, !s->o.slvl_one_by_one);
		field_set(me->sw_info, SI_PARTITION_ENFORCEMENT_CAP, sim_partition_cap(n));
		field_set(me->sw_info, SI_INBOUND_ENFORCEMENT_CAP, 1);
		field_set(me->sw_info, SI_OUTBOUND_ENFORCEMENT_CAP, 1);
		field_set(me->sw_info, SI_ENHANCED_PORT_0, n->esp0);
	}
	for (unsigned num = n->type == NODE_SWITCH ? 0 : 1; num <= n->n_ports; num++) {
		sim_port_reset(s, n->first_port + num);
	}
	sim_opa_reset(s, node);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "sa/mad/fields.h"

/*
 * Virtual ports of simulated channel adapters: their attributes, what a Set may change, and
 * what happens to them when the link or the enable bit goes. VPortState is one of PortState;
 * ACTIVE is allowed from INIT and ARMED, and only with the LID that a virtual port requires. Like
 * PortStateChange, VPortStateChange is cleared by writing 1. A change sets it and raises trap 1146.
 */

enum {
	CAP_ADDED =
		64, /* VPortCap of a port that gets its first virtual port at run time */
	MANY = 10000
};

/* --- life ----------------------------------------------------------------------------- */

static int make_room(struct sim *s, uint32_t port, uint16_t cap)
{
	struct sim_virtual *v = calloc(1, sizeof(*v));
	const struct port *p = &s->g->ports[port];

	if (v == NULL || (v->vport = calloc(cap, sizeof(*v->vport))) == NULL) {
		free(v);
		return -ENOMEM;
	}
	v->cap = cap;
	v->vport[0].there = true;
	v->vport[0].node_guid = s->g->nodes[p->node].guid;
	field_set(v->vport[0].info, VPI_GUID, p->guid);
	s->ports[port].virtual_ports = v;
	return E_OK;
}

void sim_vport_done(struct sim *s)
{
	for (uint32_t i = 0; s->ports != NULL && i < s->g->n_ports; i++) {
		if (s->ports[i].virtual_ports != NULL) {
			free(s->ports[i].virtual_ports->vport);
			free(s->ports[i].virtual_ports);
		}
	}
}

static void note_change(struct sim *s, uint32_t port, struct sim_virtual *v)
{
	s->changes++;
	v->changed = true;
	if (v->enabled) {
		sim_trap_raise(s, s->g->ports[port].node, 2);
	}
}

void sim_vport_reset(struct sim *s, uint32_t port)
{
	struct sim_virtual *v = s->ports[port].virtual_ports;
	const struct port *p = &s->g->ports[port];

	if (v == NULL && s->o.vport_cap != 0 && p->num != 0 &&
	    s->g->nodes[p->node].type == NODE_CA) {
		(void)make_room(s, port, s->o.vport_cap); /* else it has none */
		v = s->ports[port].virtual_ports;
	}
	if (v == NULL) {
		return;
	}
	v->enabled = false;
	for (unsigned i = 0; i < v->cap; i++) {
		field_set(v->vport[i].info, VPI_LID, 0);
		field_set(v->vport[i].info, VPI_LID_BY_INDEX, 0);
		v->vport[i].state = 0;
	}
}

/* --- attributes ------------------------------------------------------------------------ */

static uint16_t general_info(bool set, uint32_t mod, uint8_t *data)
{
	if (set || mod != GENERAL_INFO_CAPABILITIES) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	memset(data, 0, SMP_DATA_BYTES);
	field_set(data, GI_VIRTUALIZATION, 1);
	return UMAD_STATUS_SUCCESS;
}

static uint16_t top_of(const struct sim_virtual *v)
{
	uint16_t top = 0;

	for (uint16_t i = 0; i < v->cap; i++) {
		top = v->vport[i].there ? i : top;
	}
	return top;
}

static uint16_t virtualization_info(struct sim *s, uint32_t port, bool set, uint8_t *data)
{
	struct sim_virtual *v = s->ports[port].virtual_ports;
	bool many = v->lie == SIM_VPORT_MANY;

	if (set) {
		bool enable = field_get(data, VI_ENABLE), was = v->enabled;

		v->enabled = enable;
		if (field_get(data, VI_VPORT_STATE_CHANGE)) {
			v->changed = false;
			v->cleared_ups = s->ports[port].ups;
		}
		for (unsigned i = 1; enable != was && i < v->cap; i++) {
			v->vport[i].state = 0;
		}
		v->changed |= enable != was;
	}
	memset(data, 0, SMP_DATA_BYTES);
	field_set(data, VI_VPORT_CAP, many ? MANY : v->cap);
	field_set(data, VI_TOP_INDEX, many ? MANY : top_of(v));
	field_set(data, VI_ENABLE, v->enabled);
	field_set(data, VI_VPORT_STATE_CHANGE,
	          v->changed || v->cleared_ups != s->ports[port].ups ||
	                  v->lie == SIM_VPORT_CHANGES);
	return UMAD_STATUS_SUCCESS;
}

static uint16_t vport_states(const struct sim_port *p, bool set, uint32_t block,
                             uint8_t *data)
{
	const struct sim_virtual *v = p->virtual_ports;

	if (set || block * VPORT_STATES_PER_BLOCK >= v->cap) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	memset(data, 0, SMP_DATA_BYTES);
	for (unsigned i = block * VPORT_STATES_PER_BLOCK;
	     i < v->cap && i < (block + 1) * VPORT_STATES_PER_BLOCK; i++) {
		field_set(data, VPORT_STATE(i), sim_vport_state(p, i));
	}
	return UMAD_STATUS_SUCCESS;
}

static uint16_t set_vport(struct sim *s, struct sim_port *p, unsigned index,
                          const uint8_t *in)
{
	struct sim_vport *vport = &p->virtual_ports->vport[index];
	uint64_t wanted = field_get(in, VPI_STATE), lid = field_get(in, VPI_LID);

	if (lid >= LID_UNICAST_END ||
	    (wanted != 0 && wanted != PORT_ARMED && wanted != PORT_ACTIVE) ||
	    (wanted != 0 && sim_vport_state(p, index) < PORT_INIT) ||
	    (wanted == PORT_ACTIVE && lid == 0 &&
	     field_get(vport->info, VPI_LID_REQUIRED))) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	field_set(vport->info, VPI_LID, lid);
	field_set(vport->info, VPI_LID_BY_INDEX, field_get(in, VPI_LID_BY_INDEX));
	if (wanted != 0) {
		vport->state = (uint8_t)wanted;
		vport->ups = p->ups;
	}
	s->changes++;
	return UMAD_STATUS_SUCCESS;
}

static uint16_t vport_info(struct sim *s, uint32_t port, unsigned index, bool set,
                           uint8_t *data)
{
	struct sim_port *p = &s->ports[port];
	uint16_t status = set ? set_vport(s, p, index, data) : UMAD_STATUS_SUCCESS;

	memcpy(data, p->virtual_ports->vport[index].info, SMP_DATA_BYTES);
	field_set(data, VPI_STATE, sim_vport_state(p, index));
	return status;
}

static uint16_t vnode_info(const struct sim_vport *vport, unsigned port_num,
                           uint8_t *data)
{
	memset(data, 0, SMP_DATA_BYTES);
	field_set(data, VNI_PARTITION_CAP, PARTITION_CAP);
	field_set(data, VNI_LOCAL_PORT, port_num);
	field_set(data, VNI_NUM_PORTS, 1);
	field_set(data, VNI_NODE_GUID, vport->node_guid);
	return UMAD_STATUS_SUCCESS;
}

/* What an adapter that lies answers for any index. */
static uint16_t invented(struct sim *s, const struct sim_virtual *v, uint16_t attr,
                         uint32_t mod, uint8_t *data)
{
	uint64_t x = s->changes++ * UINT64_C(0x9e3779b97f4a7c15) + mod;

	memset(data, 0, SMP_DATA_BYTES);
	for (unsigned i = 0; v->lie == SIM_VPORT_NONSENSE && i < SMP_DATA_BYTES; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		data[i] = (uint8_t)(x >> 56);
	}
	if (v->lie == SIM_VPORT_MANY && attr == VPORT_ATTR_STATES) {
		memset(data, PORT_INIT << 4 | PORT_INIT, SMP_DATA_BYTES);
	} else if (v->lie == SIM_VPORT_MANY && attr == VPORT_ATTR_INFO) {
		field_set(data, VPI_STATE, PORT_INIT);
		field_set(data, VPI_LID_REQUIRED, 1);
		field_set(data, VPI_GUID, UINT64_C(0xbad0000000000000) + mod);
	}
	return UMAD_STATUS_SUCCESS;
}

static uint16_t node_description(const struct sim *s, uint32_t port, uint32_t index,
                                 uint8_t *data)
{
	memset(data, 0, SMP_DATA_BYTES);
	snprintf((char *)data, SMP_DATA_BYTES, "%.48s vport %u",
	         s->g->nodes[s->g->ports[port].node].description, index);
	return UMAD_STATUS_SUCCESS;
}

uint16_t sim_vport_attr(struct sim *s, uint32_t port, bool set, uint16_t attr,
                        uint32_t mod, uint8_t *data)
{
	struct sim_virtual *v = s->ports[port].virtual_ports;

	if (v == NULL ||
	    (attr != ATTR_GENERAL_INFO &&
	     (attr < VPORT_ATTR_VIRTUALIZATION_INFO || attr > VPORT_ATTR_NODE_DESC))) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	if (attr == ATTR_GENERAL_INFO) {
		return general_info(set, mod, data);
	}
	if (v->lie == SIM_VPORT_NONSENSE ||
	    (v->lie == SIM_VPORT_MANY && attr != VPORT_ATTR_VIRTUALIZATION_INFO)) {
		return invented(s, v, attr, mod, data);
	}
	if (attr == VPORT_ATTR_VIRTUALIZATION_INFO) {
		return virtualization_info(s, port, set, data);
	}
	if (attr == VPORT_ATTR_STATES) {
		return vport_states(&s->ports[port], set, mod, data);
	}
	if (mod >= v->cap || !v->vport[mod].there || (set && attr != VPORT_ATTR_INFO)) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	switch (attr) {
	case VPORT_ATTR_INFO: return vport_info(s, port, mod, set, data);
	case VPORT_ATTR_NODE_INFO:
		return vnode_info(&v->vport[mod], s->g->ports[port].num, data);
	case VPORT_ATTR_NODE_DESC: return node_description(s, port, mod, data);
	default: return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
}

/* --- from outside ----------------------------------------------------------------------- */

static uint32_t adapter_port(const struct sim *s, uint64_t node_guid, uint8_t num)
{
	uint32_t node = graph_node_by_guid(s->g, node_guid);
	uint32_t port = node != GRAPH_NONE ? graph_port(s->g, node, num) : GRAPH_NONE;

	return port != GRAPH_NONE && num != 0 && s->g->nodes[node].type == NODE_CA
	               ? port
	               : GRAPH_NONE;
}

static bool guid_is_taken(const struct sim_virtual *v, uint64_t guid)
{
	for (unsigned i = 0; i < v->cap; i++) {
		if (v->vport[i].there && field_get(v->vport[i].info, VPI_GUID) == guid) {
			return true;
		}
	}
	return false;
}

static int add(struct sim *s, uint32_t port, uint64_t guid, bool own_lid,
               uint16_t *ret_index)
{
	struct sim_virtual *v = s->ports[port].virtual_ports;
	uint16_t index = 1;

	while (index < v->cap && v->vport[index].there) {
		index++;
	}
	if (index >= v->cap) {
		return E_FULL;
	}
	if (guid == 0) {
		guid = s->g->ports[port].guid + ((uint64_t)index << 48);
	}
	if (guid_is_taken(v, guid)) {
		return E_DUPLICATE;
	}
	struct sim_vport *vport = &v->vport[index];
	*vport = (struct sim_vport){ .there = true,
		                     .node_guid = guid ^ UINT64_C(1) << 63 };
	field_set(vport->info, VPI_GUID, guid);
	field_set(vport->info, VPI_LID_REQUIRED, own_lid);
	note_change(s, port, v);
	*ret_index = index;
	return E_OK;
}

int sim_vport_add(struct sim *s, uint64_t node_guid, uint8_t num, uint64_t guid,
                  bool own_lid, uint16_t *ret_index)
{
	uint32_t port = adapter_port(s, node_guid, num);
	int ret = port != GRAPH_NONE ? E_OK : E_UNSUITABLE;

	pthread_mutex_lock(&s->lock);
	if (ret == E_OK && s->ports[port].virtual_ports == NULL) {
		ret = make_room(s, port, CAP_ADDED);
		if (ret == E_OK) {
			uint8_t *info = s->ports[port].info;

			field_set(info, PI_CAPABILITY_MASK2,
			          field_get(info, PI_CAPABILITY_MASK2) |
			                  CAP2_VIRTUALIZATION);
			field_set(info, PI_CAPABILITY_MASK,
			          field_get(info, PI_CAPABILITY_MASK) |
			                  CAP_CAPABILITY_MASK2);
			sim_link_bounce(s, port);
		}
	}
	if (ret == E_OK) {
		ret = add(s, port, guid, own_lid, ret_index);
	}
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->wakeup);
	return ret;
}

/* Locks the fabric and finds a virtual port, but not the port's own. NULL: there is none. */
static struct sim_vport *lock_vport(struct sim *s, uint64_t node_guid, uint8_t num,
                                    uint16_t index, uint32_t *ret_port)
{
	struct sim_virtual *v;

	pthread_mutex_lock(&s->lock);
	*ret_port = adapter_port(s, node_guid, num);
	v = *ret_port != GRAPH_NONE ? s->ports[*ret_port].virtual_ports : NULL;
	return v != NULL && index > 0 && index < v->cap && v->vport[index].there
	               ? &v->vport[index]
	               : NULL;
}

static int unlock_changed(struct sim *s, uint32_t port, bool changed, int ret)
{
	if (changed) {
		note_change(s, port, s->ports[port].virtual_ports);
	}
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->wakeup);
	return ret;
}

int sim_vport_remove(struct sim *s, uint64_t node_guid, uint8_t num, uint16_t index)
{
	uint32_t port;
	struct sim_vport *vport = lock_vport(s, node_guid, num, index, &port);

	if (vport != NULL) {
		memset(vport, 0, sizeof(*vport));
	}
	return unlock_changed(s, port, vport != NULL, vport != NULL ? E_OK : E_NOTFOUND);
}

int sim_vport_set_guid(struct sim *s, uint64_t node_guid, uint8_t num, uint16_t index,
                       uint64_t guid)
{
	uint32_t port;
	struct sim_vport *vport = lock_vport(s, node_guid, num, index, &port);

	if (vport == NULL || guid_is_taken(s->ports[port].virtual_ports, guid)) {
		return unlock_changed(s, port, false,
		                      vport == NULL ? E_NOTFOUND : E_DUPLICATE);
	}
	field_set(vport->info, VPI_GUID, guid);
	field_set(vport->info, VPI_LID, 0); /* another port now */
	vport->state = 0;
	return unlock_changed(s, port, true, E_OK);
}

int sim_vport_lie(struct sim *s, uint64_t node_guid, uint8_t num, enum sim_vport_lie lie)
{
	uint32_t port = adapter_port(s, node_guid, num);
	struct sim_virtual *v = port != GRAPH_NONE ? s->ports[port].virtual_ports : NULL;

	if (v == NULL) {
		return E_NOTFOUND;
	}
	pthread_mutex_lock(&s->lock);
	v->lie = (uint8_t)lie;
	return unlock_changed(s, port, true, E_OK);
}

void sim_vport_print(const struct sim *s, uint32_t port, FILE *f)
{
	static const char *const states[] = { "-", "down", "init", "armed", "active" };
	const struct sim_virtual *v = s->ports[port].virtual_ports;

	for (unsigned i = 0; v != NULL && i < v->cap; i++) {
		const struct sim_vport *vport = &v->vport[i];

		if (!vport->there) {
			continue;
		}
		fprintf(f, "  [%u] vport %u %s, 0x%016" PRIx64, s->g->ports[port].num, i,
		        states[sim_vport_state(&s->ports[port], i)],
		        field_get(vport->info, VPI_GUID));
		if (field_get(vport->info, VPI_LID_REQUIRED)) {
			fprintf(f, ", lid %u", (unsigned)field_get(vport->info, VPI_LID));
		}
		fputc('\n', f);
	}
}

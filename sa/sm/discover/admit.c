/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Only nodes that answered as Omni-Path's are judged. A neighbour's port that does not know its other end
 * shows NeighborNodeGUID 0 and proves nothing. A VL of an MTU below 2,048 does not exist on
 * Omni-Path, so such a port cannot be set up.
 *
 * A local discovery begins with the list of the one before. A place stays in it until its port is read
 * again: a link that bounced shows Init before and after, with perhaps another node behind it. Only
 * a node that is reached over another cable keeps this one, and is judged in each discovery.
 *
 * Source: what opa-fm demands of a node before it takes it; PortInfo of its public headers.
 */
#include "sa/sm/discover/admit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/discover.h"

enum { MTU_2048 = 4, TYPE_HFI = 0, TYPE_SWITCH = 1 };

/* --- one cable -------------------------------------------------------------------------- */

/* Does the neighbour's port say the same of the node as its NodeInfo? */
static uint32_t spoofing(const uint8_t *near, const uint8_t *ni)
{
	uint64_t guid = field_get(near, OPA_PI_NEIGHBOR_NODE_GUID);
	bool is_switch = field_get(ni, NI_NODE_TYPE) == NODE_SWITCH;
	uint32_t reasons = 0;

	if (guid == 0) {
		return 0;
	}
	reasons |= guid != field_get(ni, NI_NODE_GUID) ? ADMIT_NODE_GUID : 0;
	reasons |= field_get(near, OPA_PI_NEIGHBOR_PORT_NUM) !=
	                           field_get(ni, NI_LOCAL_PORT_NUM)
	                   ? ADMIT_PORT_NUM
	                   : 0;
	reasons |= field_get(near, OPA_PI_NEIGHBOR_NODE_TYPE) !=
	                           (is_switch ? TYPE_SWITCH : TYPE_HFI)
	                   ? ADMIT_NODE_TYPE
	                   : 0;
	reasons |= is_switch && field_get(near, OPA_PI_NEIGHBOR_FW_AUTH_BYPASS)
	                   ? ADMIT_FIRMWARE
	                   : 0;
	return reasons;
}

static uint32_t incapacity(const struct disc *d, const uint8_t *near, const uint8_t *far,
                           const struct disc_node *n)
{
	uint64_t formats = field_get(near, OPA_PI_PACKET_FORMATS_SUPPORTED) &
	                   field_get(far, OPA_PI_PACKET_FORMATS_SUPPORTED);
	uint32_t reasons = 0;

	reasons |= formats == 0 ? ADMIT_FORMATS : 0;
	reasons |= field_get(far, OPA_PI_MTU_CAP) < MTU_2048 ? ADMIT_MTU : 0;
	reasons |= field_get(far, OPA_PI_VL_CAP) < d->options.least_vls ? ADMIT_VLS : 0;
	if (n->type == NODE_SWITCH && n->opa_switch_info != NULL) {
		uint64_t cap = field_get(n->opa_switch_info, OPA_SI_LINEAR_FDB_CAP);

		reasons |= cap <= d->options.top_lid ? ADMIT_LIDS : 0;
	}
	return reasons;
}

uint32_t admit_reasons(const struct disc *d, const struct disc_node *by, unsigned port)
{
	const struct disc_port *near = &by->ports[port], *far;

	if (near->peer == NULL || near->opa_info == NULL || !smp_is_omni_path(d->smp)) {
		return 0;
	}
	far = &near->peer->ports[near->peer_port];
	if (far->opa_info == NULL) {
		return 0;
	}
	return incapacity(d, near->opa_info, far->opa_info, near->peer);
}

static bool differs(const uint8_t *was, const uint8_t *now, unsigned bit, unsigned width)
{
	return field_get(was, bit, width) != field_get(now, bit, width);
}

bool admit_port_differs(const uint8_t *was, const uint8_t *now)
{
	return was != NULL && now != NULL &&
	       (differs(was, now, OPA_PI_PACKET_FORMATS_SUPPORTED) ||
	        differs(was, now, OPA_PI_MTU_CAP) || differs(was, now, OPA_PI_VL_CAP));
}

bool admit_switch_differs(const uint8_t *was, const uint8_t *now)
{
	return was != NULL && now != NULL && differs(was, now, OPA_SI_LINEAR_FDB_CAP);
}

/* --- the list --------------------------------------------------------------------------- */

static void add(struct disc *d, const struct disc_refused *r)
{
	int ret = ARENA_RESERVE(d->arena, d->refused, d->n_refused, d->cap_refused,
	                        d->n_refused + 1);

	if (ret != E_OK) {
		disc_error(d, ret);
		return;
	}
	d->refused[d->n_refused++] = *r;
}

/* Leaves out the entries of some places. */
static void drop(struct disc *d, bool (*stays)(const struct disc_refused *r))
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_refused; i++) {
		if (stays(&d->refused[i])) {
			d->refused[n++] = d->refused[i];
		}
	}
	d->n_refused = n;
}

static bool is_marked(const struct disc_refused *r)
{
	return r->by->reached && r->by->ports[r->by_port].refused;
}

int admit_take(struct disc *d, const struct disc *from)
{
	for (size_t i = 0; i < from->n_refused && d->ret == E_OK; i++) {
		if (is_marked(&from->refused[i])) {
			add(d, &from->refused[i]);
		}
	}
	return d->ret;
}

void admit_again(struct disc *d, struct disc_port *p)
{
	if (p->refused) {
		p->refused = false;
		drop(d, is_marked);
	}
}

bool admit_lists(const struct disc *d, const struct disc_refused *r, bool same_reasons)
{
	for (size_t i = 0; d != NULL && i < d->n_refused; i++) {
		const struct disc_refused *o = &d->refused[i];

		if (o->by->guid == r->by->guid && o->by_port == r->by_port &&
		    (!same_reasons || (o->guid == r->guid && o->reasons == r->reasons))) {
			return true;
		}
	}
	return false;
}

bool admit_judges_alike(const struct disc *d, const struct disc_options *o)
{
	uint32_t was = d->options.top_lid, now = o->top_lid;
	uint32_t moved = (was != now ? ADMIT_LIDS : 0) |
	                 (d->options.least_vls != o->least_vls ? ADMIT_VLS : 0);

	if (moved == 0 || !smp_is_omni_path(d->smp)) {
		return true;
	}
	for (size_t i = 0; i < d->n_refused; i++) {
		if (d->refused[i].reasons & moved) {
			return false;
		}
	}
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		const uint8_t *info = d->nodes[i]->opa_switch_info;
		uint64_t cap = info != NULL ? field_get(info, OPA_SI_LINEAR_FDB_CAP)
		                            : UINT64_MAX;

		if ((cap <= was) != (cap <= now)) {
			return false;
		}
	}
	return (moved & ADMIT_VLS) == 0;
}

/* Nothing leads to a node that was refused over all its cables. The next discovery leaves it out, so nothing
 * may point to it. */
static void cut(struct disc_node *n, struct disc_port *p)
{
	disc_note_change(n);
	p->refused = true;
	p->peer = NULL;
	p->peer_port = 0;
}

/* Is a node that is left out still known to others, over a cable that nobody refuses? A host with a cable
 * to a switch that was refused over another one. */
static bool is_entangled(const struct disc_node *n, const struct disc_port *p)
{
	return (p->peer != NULL && !p->peer->reached && !p->peer->deaf &&
	        !p->peer->copied) ||
	       (n->from != NULL && !n->from->reached);
}

int admit_list(struct disc *d)
{
	drop(d, is_marked);
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		struct disc_node *n = d->nodes[i];

		for (unsigned k = 1; n->reached && k <= n->n_ports; k++) {
			struct disc_port *p = &n->ports[k];
			uint32_t reasons = p->peer != NULL ? admit_reasons(d, n, k) : 0;

			if (reasons == 0) {
				d->clean &= !is_entangled(n, p);
				continue;
			}
			p->peer->refused = true;
			add(d, &(struct disc_refused){
				       .guid = p->peer->guid,
				       .reasons = reasons,
				       .expected_guid = field_get(
					       p->opa_info, OPA_PI_NEIGHBOR_NODE_GUID),
				       .node_info = p->peer->node_info,
				       .description = p->peer->description,
				       .by = n,
				       .by_port = (uint8_t)k });
			if (!p->peer->reached) {
				cut(n, p);
			}
		}
	}
	return d->ret;
}

bool admit_node_info(struct disc *d, struct disc_node *by, uint8_t port,
                     const uint8_t *node_info)
{
	const uint8_t *near = by != NULL ? by->ports[port].opa_info : NULL;
	uint32_t reasons = 0;
	uint8_t *copy;

	if (near == NULL || !smp_is_omni_path(d->smp)) {
		return true;
	}
	reasons |= spoofing(near, node_info);
	reasons |= field_get(node_info, NI_NUM_PORTS) == 0 ? ADMIT_NO_PORTS : 0;
	reasons |= field_get(node_info, NI_PARTITION_CAP) == 0 ? ADMIT_NO_P_KEYS : 0;
	if (reasons == 0) {
		return true;
	}
	copy = arena_alloc(d->own, 2 * (size_t)SMP_DATA_BYTES);
	if (copy == NULL) {
		disc_error(d, -ENOMEM);
		return false;
	}
	disc_note_change(by); /* its port leads nowhere */
	by->ports[port].refused = true;
	memset(copy, 0, 2 * (size_t)SMP_DATA_BYTES);
	memcpy(copy, node_info, SMP_DATA_BYTES);
	add(d, &(struct disc_refused){ .guid = field_get(node_info, NI_NODE_GUID),
	                               .reasons = reasons,
	                               .expected_guid =
	                                       field_get(near, OPA_PI_NEIGHBOR_NODE_GUID),
	                               .node_info = copy,
	                               .description = copy + SMP_DATA_BYTES,
	                               .by = by,
	                               .by_port = port });
	return false;
}

const char *admit_text(const struct disc_refused *r, char buf[ADMIT_TEXT])
{
	static const struct {
		uint32_t reason;
		const char *text;
	} texts[] = {
		{ ADMIT_NODE_GUID, "that port says another NodeGUID" },
		{ ADMIT_PORT_NUM, "that port says another port number" },
		{ ADMIT_NODE_TYPE, "that port says another type of node" },
		{ ADMIT_FIRMWARE, "its firmware was not authenticated" },
		{ ADMIT_VLS, "it has too few VLs" },
		{ ADMIT_MTU, "its MTUCap is below 2048" },
		{ ADMIT_FORMATS, "it has no packet format in common with that port" },
		{ ADMIT_LIDS, "its forwarding table is too small for the LIDs" },
		{ ADMIT_NO_PORTS, "it shows no ports" },
		{ ADMIT_NO_P_KEYS, "it has no room for P_Keys" },
	};
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (r->reasons & texts[i].reason) {
			at += (size_t)snprintf(buf + at, ADMIT_TEXT - at, "%s%s",
			                       at != 0 ? "; " : "", texts[i].text);
		}
		if (texts[i].reason & r->reasons & ADMIT_NODE_GUID) {
			at += (size_t)snprintf(buf + at, ADMIT_TEXT - at,
			                       " (0x%016" PRIx64 ")", r->expected_guid);
		}
	}
	return buf;
}

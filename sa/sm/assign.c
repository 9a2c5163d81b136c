/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/assign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/search.h"
#include "conf/base/text_file.h"
#include "conf/config.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/text/guid2lid.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/sm.h"

enum { LINES = 50 };

static const char *const source = "sweep";

/* --- guid2lid_file ------------------------------------------------------------------- */

/* \return NULL: nothing is to be read, or it cannot be. */
static char *read_file(const struct config *c, struct diags *d, const char **ret_path,
                       size_t *ret_len)
{
	static const struct text_file_kind kind = {
		.what = "a guid2lid file",
		.max_bytes = 16 << 20,
		.without = "LIDs are those that the state remembers",
		.text_only = true,
	};
	char *text = NULL;

	*ret_path = c->guid2lid_file != NULL ? c->guid2lid_file : OPENSM_GUID2LID;
	return text_file_read(*ret_path, &kind, d, &text, ret_len) == E_OK ? text : NULL;
}

static bool overlaps_any(const bool *taken, struct lid_range r)
{
	uint32_t size = r.lmc < 8 ? UINT32_C(1) << r.lmc : 1;

	for (uint32_t lid = r.base; lid < r.base + size && lid <= LID_LIMIT_DEFAULT;
	     lid++) {
		if (taken[lid]) {
			return true;
		}
	}
	return false;
}

/* The entries of the file, and those of the state whose port and LIDs the file has not. */
static int merge_file(struct assignment *as, const struct lid_memory *file, size_t n,
                      struct arena *a)
{
	struct lid_memory *m = arena_array(a, n + as->n_memory, sizeof(*m));
	bool *taken = arena_array(a, LID_LIMIT_DEFAULT + 1, sizeof(*taken));
	size_t k = 0, at = 0;

	if (m == NULL || taken == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < UINT32_C(1) << file[i].range.lmc; j++) {
			taken[file[i].range.base + j] = true;
		}
	}
	for (size_t i = 0; i < n || at < as->n_memory;) {
		const struct lid_memory *old = at < as->n_memory ? &as->memory[at] : NULL;

		if (old == NULL || (i < n && file[i].guid <= old->guid)) {
			m[k] = file[i++];
			if (old != NULL && old->guid == m[k].guid) {
				m[k].gone_epoch = old->gone_epoch;
				m[k].gone_time = old->gone_time;
				at++;
			}
			k++;
		} else {
			at++;
			if (!overlaps_any(taken, old->range)) {
				m[k++] = *old;
			}
		}
	}
	as->memory = m;
	as->n_memory = k;
	as->from_file = true;
	return E_OK;
}

/* honor_guid2lid_file: what the file says comes before what the state remembers. */
static int take_file(struct sm *sm, struct arena *a, struct assignment *as)
{
	struct diags *d = arena_alloc(a, sizeof(*d));
	struct lid_memory *file;
	const char *path;
	char *text, place[DIAG_PLACE_MAX];
	size_t len, n;
	int ret = E_OK;

	if (d == NULL) {
		return -ENOMEM;
	}
	diags_init(d, a);
	text = read_file(sm->d.config, d, &path, &len);
	if (text != NULL && guid2lid_read(path, text, len, a, d, &file, &n) == E_OK) {
		log_info(source, "LIDs of %zu ports are taken from %s", n, path);
		ret = merge_file(as, file, n, a);
	} else {
		log_message(
			MSG_LID_FILE_UNUSED, source,
			"%s (honor_guid2lid_file) is not used: LIDs are those that the state remembers",
			path);
	}
	sm->lids_file_bad = d->n_errors != 0;
	for (unsigned i = 0; i < d->n; i++) {
		log_message(MSG_LID_FILE_LINE, source, "%s%s",
		            diag_place(&d->items[i], place, sizeof(place)),
		            d->items[i].text);
	}
	free(text);
	return ret;
}

/* Writes guid2lid_file as the state is now. */
static void write_file(struct sm *sm, struct arena *a)
{
	const char *path = sm->d.config->guid2lid_file;
	struct lid_memory *m;
	size_t n, len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);
	int ret = f == NULL ? -ENOMEM : state_lids(sm->d.state, a, &m, &n);

	if (ret == E_OK) {
		guid2lid_write(m, n, f);
	}
	if (f != NULL && fclose(f) != 0) {
		ret = -ENOMEM;
	}
	if (ret == E_OK) {
		ret = text_file_replace(path, text, len);
	}
	if (ret != E_OK) {
		log_message(MSG_LID_FILE_NOT_WRITTEN, source,
		            "cannot write %s (guid2lid_file): %s", path, err_text(ret));
	}
	sm->lids_written = ret == E_OK;
	free(text);
}

/* --- assigning ----------------------------------------------------------------------- */

/* LIDs of InfiniBand have 16 bits, those of Omni-Path 24; the highest ones are of multicast groups. */
static uint32_t max_lid(const struct sm *sm)
{
	uint32_t wanted = sm->d.config->unicast_lid_limit,
		 most = smp_is_omni_path(sm->smp) ? OPA_UNICAST_END - 1
	                                          : LID_LIMIT_DEFAULT;

	return wanted < most ? wanted : most;
}

/* Packets to LIDs above 0xBFFF have format 16B, and an adapter has to be told the highest LID. */
static bool takes_high_lids(const struct disc *d, uint32_t port)
{
	enum { FORMAT_16B = 8 };
	uint32_t peer = d->g->ports[port].peer;
	const uint8_t *near = disc_port_of(d, port)->opa_info,
		      *far = peer != GRAPH_NONE ? disc_port_of(d, peer)->opa_info : NULL;

	return near == NULL ||
	       (field_get(near, OPA_PI_HAS_MAX_LID) &&
	        field_get(near, OPA_PI_PACKET_FORMATS_SUPPORTED) & FORMAT_16B &&
	        (far == NULL ||
	         field_get(far, OPA_PI_PACKET_FORMATS_SUPPORTED) & FORMAT_16B));
}

/* Limits of adapters that take no high LIDs. \retval -ENOMEM */
static int limit_adapters(const struct disc *d, uint32_t most, struct arena *a,
                          const uint32_t **ret_limits, uint32_t *ret_n)
{
	const struct graph *g = d->g;
	uint32_t *limits = NULL, n = 0;

	for (uint32_t i = 0; most > LID_LIMIT_DEFAULT && i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];

		if (g->nodes[g->ports[port].node].type == NODE_SWITCH ||
		    takes_high_lids(d, port)) {
			continue;
		}
		if (limits == NULL) {
			limits = arena_array(a, g->n_ports, sizeof(*limits));
			if (limits == NULL) {
				return -ENOMEM;
			}
		}
		limits[port] = LID_LIMIT_DEFAULT;
		n++;
	}
	if (n != 0) { /* they have to reach the subnet manager */
		limits[g->sm_port] = LID_LIMIT_DEFAULT;
	}
	*ret_limits = limits;
	*ret_n = n;
	return E_OK;
}

/* Such adapters reach no port with a higher LID. The first one by name. */
static void note_limited(const struct disc *d, uint32_t n, uint32_t top)
{
	const struct graph *g = d->g;
	uint32_t i = 0, port;

	if (n == 0 || top <= LID_LIMIT_DEFAULT) {
		return;
	}
	while (g->nodes[g->ports[g->end_ports[i]].node].type == NODE_SWITCH ||
	       takes_high_lids(d, g->end_ports[i])) {
		i++;
	}
	port = g->end_ports[i];
	log_info(
		source,
		"%" PRIu32
		" adapters take no LID above %u and reach none, because they or their switches lack packets of format 16B or MaxLID; the first one is port %u of %s",
		n, (unsigned)LID_LIMIT_DEFAULT, g->ports[port].num,
		node_text(g, NULL, g->ports[port].node).text);
}

int assign_lids(struct sm *sm, const struct disc *disc, struct arena *a, unsigned how,
                struct assignment *ret_as)
{
	const struct graph *g = disc->g;
	const struct config *c = sm->d.config;
	uint32_t n_limited = 0;
	struct assignment as = { .how = how };
	struct lids_in in = { .g = g,
		              .lmc = c->lmc,
		              .lmc_esp0 =
		                      c->lmc_esp0 == UINT32_MAX ? c->lmc : c->lmc_esp0,
		              .max_lid = max_lid(sm),
		              .reassign = how & ASSIGN_REASSIGN,
		              .nearest_first = smp_is_omni_path(sm->smp),
		              .keep_found = how & ASSIGN_KEEP_FOUND };
	struct diags *d = arena_alloc(a, sizeof(*d));
	int ret;

	if (d == NULL) {
		return sm_fail(sm, -ENOMEM, true, "%s", err_text(-ENOMEM));
	}
	diags_init(d, a);
	ret = state_lids(sm->d.state, a, &as.memory, &as.n_memory);
	if (ret == E_OK && (how & ASSIGN_READ_FILE)) {
		ret = take_file(sm, a, &as);
	}
	if (ret != E_OK) {
		return sm_fail(sm, ret, false, "remembered LIDs cannot be read: %s",
		               state_err_text(sm->d.state, ret, a));
	}
	in.memory = as.memory;
	in.n_memory = as.n_memory;
	ret = limit_adapters(disc, in.max_lid, a, &in.limit_of, &n_limited);
	if (ret != E_OK) {
		return sm_fail(sm, ret, true, "%s", err_text(ret));
	}
	ret = lids_assign(&in, a, d, &as.lids, &as.moved, &as.n_moved);
	if (ret != E_OK) {
		return sm_fail(sm, ret, false, "LIDs cannot be assigned: %s",
		               d->n_errors ? diags_first_error(d) : err_text(ret));
	}
	for (unsigned i = 0; i < d->n; i++) {
		log_info(source, "%s", d->items[i].text);
	}
	note_limited(disc, n_limited, as.lids.top);
	*ret_as = as;
	return E_OK;
}

int assign_vports(struct sm *sm, struct job *j)
{
	struct vports_lids_in in = { .g = j->disc.g,
		                     .lids = &j->lids.lids,
		                     .memory = j->lids.memory,
		                     .n_memory = j->lids.n_memory,
		                     .max_lid = max_lid(sm),
		                     .forget = j->lids.how & ASSIGN_REASSIGN };
	int ret = vports_index(&sm->vports, j->disc.g);

	if (ret == E_OK) {
		ret = vports_assign_lids(&sm->vports, &in, j->arena, &j->vport_lids);
	}
	if (ret == E_OK) {
		j->program.lids = &j->vport_lids.all;
		j->n_unread += j->vports_read.n_unread;
	}
	return ret;
}

int assign_keep_vports(struct sm *sm, const struct job *j)
{
	const struct vports_lids *l = &j->vport_lids;
	int ret = E_OK;

	if (l->n_changed != 0) {
		ret = state_put_lids(sm->d.state, l->changed, l->n_changed, false);
		sm->lids_written = false;
	}
	return ret == E_OK ? ret
	                   : sm_fail(sm, ret, false,
	                             "LIDs of virtual ports cannot be stored: %s",
	                             err_text(ret));
}

static const struct lid_memory *remembered(const struct assignment *as, uint64_t guid)
{
	size_t at = LOWER_BOUND(as->n_memory, i, as->memory[i].guid < guid);

	return at < as->n_memory && as->memory[at].guid == guid ? &as->memory[at] : NULL;
}

static void note_moved(struct sm *sm, const struct assignment *as, const struct graph *g)
{
	char detail[80];

	for (size_t i = 0; i < as->n_moved && i < LINES; i++) {
		const struct port *p = &g->ports[as->moved[i]];
		const struct lid_memory *m = remembered(as, p->guid);
		uint32_t base = as->lids.of[as->moved[i]].base;
		struct fabric_event e = { .kind = EVENT_LID_MOVED,
			                  .port = p->num,
			                  .detail = detail };

		events_set_node(&e, g, p->node);
		snprintf(detail, sizeof(detail), "from %u to %u%s",
		         m != NULL ? m->range.base : 0, base,
		         base == p->lid ? ", which another SM gave it" : "");
		events_note(sm, &e);
	}
	if (as->n_moved > LINES) {
		log_message(MSG_EVENT_LID_MOVED, source, "%zu more LIDs move",
		            as->n_moved - LINES);
	}
}

/* Port that has a LID of the range now; there is one. */
static uint32_t new_owner(const struct lids *l, struct lid_range r)
{
	uint32_t lid = r.base;

	while (lid < l->top && l->owner[lid] == GRAPH_NONE) {
		lid++;
	}
	return l->owner[lid];
}

static void note_recycled(struct sm *sm, const struct assignment *as,
                          const struct graph *g)
{
	const struct lids *l = &as->lids;
	char detail[160], since[40];

	for (uint32_t i = 0; i < l->n_recycled && i < LINES; i++) {
		const struct lid_memory *m = &l->recycled[i];
		const struct port *p = &g->ports[new_owner(l, m->range)];
		struct fabric_event e = { .kind = EVENT_LID_RECYCLED,
			                  .port = p->num,
			                  .detail = detail };
		time_t gone = (time_t)m->gone_time;
		struct tm tm;

		if (gone == 0 || gmtime_r(&gone, &tm) == NULL ||
		    strftime(since, sizeof(since), " since %Y-%m-%d %H:%M UTC", &tm) ==
		            0) {
			since[0] = '\0';
		}
		events_set_node(&e, g, p->node);
		snprintf(detail, sizeof(detail),
		         "LID %u of port 0x%016" PRIx64 ", which is gone%s",
		         m->range.base, m->guid, since);
		events_note(sm, &e);
	}
	if (l->n_recycled > LINES) {
		log_message(MSG_EVENT_LID_RECYCLED, source,
		            "%u more LIDs of ports that are gone are given to others",
		            l->n_recycled - LINES);
	}
}

/* What the state holds of a port that is not in the fabric, when a file was merged or ports
 * lost their LIDs. \return Number of rows in ret_memory. */
static size_t absent_rows(const struct assignment *as, const struct graph *g,
                          struct lid_memory *ret_memory)
{
	size_t n = 0, next = 0;

	for (size_t i = 0; i < as->n_memory; i++) {
		struct lid_memory m = as->memory[i];
		bool lost = next < as->lids.n_recycled &&
		            as->lids.recycled[next].guid == m.guid;

		next += lost;
		if (lost) {
			m.range.base = 0;
		}
		if (lost ||
		    (as->from_file && graph_port_by_guid(g, m.guid) == GRAPH_NONE)) {
			ret_memory[n++] = m;
		}
	}
	return n;
}

int assign_keep(struct sm *sm, const struct graph *g, struct arena *a,
                const struct assignment *as)
{
	struct lid_memory *changed =
		arena_array(a, g->n_end_ports + as->n_memory, sizeof(*changed));
	bool forget = (as->how & ASSIGN_REASSIGN) || as->from_file;
	int ret = changed == NULL ? -ENOMEM : E_OK;
	size_t n = 0;

	for (uint32_t i = 0; i < g->n_end_ports && ret == E_OK; i++) {
		uint32_t port = g->end_ports[i];
		const struct lid_memory *m = remembered(as, g->ports[port].guid);
		struct lid_range r = as->lids.of[port];

		if (forget || m == NULL || m->range.base != r.base ||
		    m->range.lmc != r.lmc) {
			changed[n++] = (struct lid_memory){ .guid = g->ports[port].guid,
				                            .range = r };
		}
	}
	if (ret == E_OK && !(as->how & ASSIGN_REASSIGN)) {
		n += absent_rows(as, g, changed + n);
	}
	if (ret == E_OK && n) {
		ret = state_put_lids(sm->d.state, changed, n, forget);
		sm->lids_written = false;
	}
	if (ret != E_OK) {
		return sm_fail(sm, ret, false,
		               "LIDs cannot be stored, so none is handed out: %s",
		               state_err_text(sm->d.state, ret, a));
	}
	note_moved(sm, as, g);
	note_recycled(sm, as, g);
	return E_OK;
}

/* Rows of ports that are gone or back since the last sweep. \return How many. */
static size_t presence_rows(const struct sm *sm, const struct graph *g,
                            const struct assignment *as, struct lid_memory *ret_memory)
{
	uint64_t epoch = sm->status.epoch + !sm->status.epoch;
	int64_t now = sm_wall_clock(sm);
	uint32_t at = 0, lost = 0;
	size_t n = 0;

	for (size_t i = 0; i < as->n_memory; i++) {
		struct lid_memory m = as->memory[i];
		bool there;

		while (at < g->n_end_ports && g->ports[g->by_guid[at]].guid < m.guid) {
			at++;
		}
		there = at < g->n_end_ports && g->ports[g->by_guid[at]].guid == m.guid;
		if (!there && vports_has_guid(&sm->vports, m.guid)) {
			continue; /* assign_keep_vports() has noted it */
		}
		if (lost < as->lids.n_recycled &&
		    as->lids.recycled[lost].guid == m.guid) {
			lost++;
		} else if (there && m.gone_epoch != 0) {
			ret_memory[n++] = (struct lid_memory){
				.guid = m.guid, .range = as->lids.of[g->by_guid[at]]
			};
		} else if (!there && m.gone_epoch == 0) {
			m.gone_epoch = epoch;
			m.gone_time = now;
			ret_memory[n++] = m;
		}
	}
	return n;
}

void assign_note_presence(struct sm *sm, const struct graph *g, struct arena *a,
                          const struct assignment *as)
{
	struct lid_memory *changed = arena_array(a, as->n_memory, sizeof(*changed));
	int ret = changed == NULL ? -ENOMEM : E_OK;
	size_t n = 0;

	if (ret == E_OK && !(as->how & ASSIGN_REASSIGN)) {
		n = presence_rows(sm, g, as, changed);
	}
	if (n) {
		ret = state_put_lids(sm->d.state, changed, n, false);
	}
	if (ret != E_OK) {
		log_message(MSG_LID_GONE_NOT_NOTED, source,
		            "cannot note which ports are gone: %s", err_text(ret));
	}
	sm->lids_file_bad &= sm->d.config->honor_guid2lid_file;
	if (sm->d.config->guid2lid_file != NULL && !sm->lids_written &&
	    !sm->lids_file_bad) {
		write_file(sm, a);
	}
}

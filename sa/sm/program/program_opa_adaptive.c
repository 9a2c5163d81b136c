/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Adaptive routing of Omni-Path: a switch leaves the port of its LFT for another one of a
 * port group, and writes its LFT itself. The groups are alternates that the proof has accepted
 * (routing/proof/alternates.h).
 *
 *   PortGroupTable             the ports of each group
 *   PortGroupForwardingTable   the group of each LID; 0xff: none
 *   SwitchInfo                 PortGroupTop, the number of groups in use; Enable, Pause and
 *                              the parameters
 *
 * What a switch has in its LFT is the port that it was given, or one of the group in force for
 * the LID. Both are proven, so an entry that moved is no difference, neither for a sweep nor for
 * the audit. A change is planned from what stands in the switches to the new tables, so before it
 *
 *   - all switches that adapt pause: from then on their LFTs stay;
 *   - their LFTs are read, 29 blocks by a request. Entries that had moved are part of the plan,
 *     and are given back to the port of the new table.
 *
 * Groups follow when the tables are in. Pause ends when all ports are ACTIVE that can be,
 * because a switch takes a port that is not ACTIVE yet for lost. If a sweep ends before, the
 * switches stay paused until the next one, and forward as before.
 *
 * If nothing is to change, nothing is asked: the groups in force are those of the proof, and
 * whatever a switch makes of them is proven. After a start the LFTs that were read may hold such
 * moves. Routing goes on from the tables that were published, where a group in force leads from one to
 * the other, and moves are taken for the new tables where these and the groups are the same otherwise.
 *
 * A group that a switch has already, also from another manager, keeps the number that it has
 * there.
 *
 * Source: the public headers of opa-fm for layouts; Cornelis CN5000 Fabric Manager manual, "Adaptive
 * Routing".
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/alternates.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/program/program.h"

enum { GROUPS_MAX = 256 };

struct adaptive_job {
	struct program *p;
	struct disc_node *node;
	uint32_t sw;                         /* switch of the graph */
	struct table *lft, *groups, *of_lid; /* the copies; the last two may be NULL */
	bool supports;                       /* adaptive routing */
	bool in_force;                       /* at the beginning of the sweep */
	uint32_t n_had;                      /* groups that were in force */
	struct port_set *had;                /* [n_had] an empty one: unknown */
	struct table_cursor cursor[2];       /* of the groups, of the LIDs */
};

static uint64_t info(const struct disc_node *n, unsigned bit, unsigned width)
{
	return n->opa_switch_info != NULL ? field_get(n->opa_switch_info, bit, width) : 0;
}

static bool supports(const struct disc_node *n)
{
	return info(n, OPA_SI_IS_AR_SUPPORTED) && info(n, OPA_SI_PORT_GROUP_CAP) != 0;
}

static bool is_in_force(const struct disc_node *n)
{
	return info(n, OPA_SI_AR_ENABLE) && info(n, OPA_SI_PORT_GROUP_TOP) != 0;
}

/* LIDs that may have a group. */
static uint32_t lid_cap(const struct disc_node *n)
{
	uint32_t cap = (uint32_t)info(n, OPA_SI_PORT_GROUP_FDB_CAP);

	return cap != 0 ? cap : OPA_GROUP_FDB_CAP;
}

static unsigned positions(const struct disc_node *n)
{
	return (n->n_ports - 1u) / OPA_GROUP_PORTS + 1;
}

/* --- what the switches have in force ------------------------------------------------------ */

static struct table *get_groups(const struct program *p, const struct disc_node *n,
                                uint32_t n_groups)
{
	return table_get(p->tables.store, TABLE_OPA_PORT_GROUPS, n->guid, 0, positions(n),
	                 table_blocks_of(n_groups, OPA_GROUPS_OF_BLOCK));
}

/* Blocks of LIDs up to \a top that may have a group. The copy has more columns if it ever needed them. */
static uint32_t cols_of_lids(const struct disc_node *n, uint32_t top)
{
	uint32_t cap = lid_cap(n);

	return table_blocks_of(top + 1 < cap ? top + 1 : cap, LFT_BLOCK_LIDS);
}

static struct table *get_of_lid(const struct program *p, const struct disc_node *n,
                                uint32_t top)
{
	return table_get(p->tables.store, TABLE_OPA_PORT_GROUP_FT, n->guid, 0, 1,
	                 cols_of_lids(n, top));
}

/* \param end  Blocks at most. */
static int read_table(struct program *p, struct disc_node *n, struct table *t,
                      uint32_t end, struct table_cursor *c)
{
	*c = (struct table_cursor){ .q = { .io = &p->tables, .node = n, .t = t },
		                    .ret = &p->ret };
	if (t == NULL) {
		return -ENOMEM;
	}
	c->end = end < table_size(t) ? end : table_size(t);
	table_cursor_run(c);
	return p->ret;
}

int program_read_port_groups(struct program *p)
{
	const struct graph *g = p->disc->g;
	struct table_cursor *c =
		arena_array(p->arena, 2 * (g->n_switches + 1), sizeof(*c));
	int ret = c == NULL ? -ENOMEM : E_OK;

	for (uint32_t i = 0; i < g->n_switches && ret == E_OK; i++) {
		struct disc_node *n = p->disc->of[g->switches[i]];
		/* a switch may say any; nobody has a LID above ours */
		uint32_t says = disc_lft_top(n),
			 top = says < p->lids->top ? says : p->lids->top;
		uint32_t n_groups = (uint32_t)info(n, OPA_SI_PORT_GROUP_TOP);

		if (!is_in_force(n)) {
			continue;
		}
		ret = read_table(p, n, get_groups(p, n, n_groups), UINT32_MAX, &c[2 * i]);
		if (ret == E_OK) {
			ret = read_table(p, n, get_of_lid(p, n, top),
			                 cols_of_lids(n, top), &c[2 * i + 1]);
		}
	}
	return ret;
}

/* The ports of a group by the copy. \return false: it is not known. */
static bool group_of(const struct table *t, unsigned group, struct port_set *ret_set)
{
	uint32_t col = group / OPA_GROUPS_OF_BLOCK;

	*ret_set = (struct port_set){ { 0 } };
	for (unsigned row = 0; row < t->rows; row++) {
		uint32_t block = table_at(t, row, col);
		uint64_t mask;

		if (col >= t->cols || !table_is_sure(t, block)) {
			return false;
		}
		mask = field_get(table_block(t, block),
		                 group % OPA_GROUPS_OF_BLOCK * OPA_GROUP_PORTS,
		                 OPA_GROUP_PORTS);
		for (unsigned i = 0; i < OPA_GROUP_PORTS && mask != 0; i++, mask >>= 1) {
			unsigned port = row * OPA_GROUP_PORTS + i + 1;

			if ((mask & 1) && port < PORT_SET_WORDS * 64) {
				port_set_add(ret_set, port);
			}
		}
	}
	return true;
}

/* The group of a LID by the copy, PORT_GROUP_NONE: none. \return false: it is not known. */
static bool group_number(const struct table *t, uint32_t lid, uint8_t *ret_number)
{
	uint32_t block = lid / LFT_BLOCK_LIDS;

	*ret_number = PORT_GROUP_NONE;
	if (t == NULL || block >= t->cols || !table_is_sure(t, block)) {
		return false;
	}
	*ret_number = table_block(t, block)[lid % LFT_BLOCK_LIDS];
	return true;
}

bool program_adaptive_explains(const struct table_store *s, const struct disc_node *n,
                               const struct table *t, uint32_t block, const uint8_t *data)
{
	const struct table *groups = table_find(s, TABLE_OPA_PORT_GROUPS, n->guid, 0);
	const struct table *of_lid = table_find(s, TABLE_OPA_PORT_GROUP_FT, n->guid, 0);
	const uint8_t *own = table_block(t, block);

	if (t->kind != TABLE_LFT || !is_in_force(n) || groups == NULL) {
		return false;
	}
	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++) {
		struct port_set set;
		uint8_t number;

		if (own[i] == data[i]) {
			continue;
		}
		if (!group_number(of_lid, block * LFT_BLOCK_LIDS + i, &number) ||
		    number >= info(n, OPA_SI_PORT_GROUP_TOP) ||
		    !group_of(groups, number, &set) || !port_set_has(&set, data[i]) ||
		    !port_set_has(&set, own[i])) {
			return false;
		}
	}
	return true;
}

/* --- the wanted groups -------------------------------------------------------------------- */

static bool is_wanted(const struct program *p)
{
	return p->alternates->rows != NULL;
}

static uint8_t *row_of(const struct adaptive_job *j)
{
	return j->p->alternates->rows + j->sw * j->p->alternates->stride;
}

static bool same_set(const struct port_set *a, const struct port_set *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Gives each group a number below \a cap: that which it has on the switch, else a free one. */
static void number_groups(const struct adaptive_job *j, const struct port_groups *g,
                          unsigned cap, uint8_t *ret_numbers)
{
	bool used[GROUPS_MAX] = { false };
	unsigned next = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		ret_numbers[i] = PORT_GROUP_NONE;
		for (unsigned k = 0; k < j->n_had && k < cap; k++) {
			if (!used[k] && same_set(&j->had[k], &g->set[i])) {
				ret_numbers[i] = (uint8_t)k;
				used[k] = true;
				break;
			}
		}
	}
	for (uint32_t i = 0; i < g->n; i++) {
		while (next < cap && used[next]) {
			next++;
		}
		if (ret_numbers[i] == PORT_GROUP_NONE && next < cap) {
			ret_numbers[i] = (uint8_t)next;
			used[next] = true;
		}
	}
}

/* Alternates of a switch become those that it can be given. */
static int fit(struct adaptive_job *j)
{
	struct alternates *x = j->p->alternates;
	struct port_groups *g = &x->groups[j->sw];
	unsigned cap = j->supports ? (unsigned)info(j->node, OPA_SI_PORT_GROUP_CAP) : 0;
	uint8_t number[GROUPS_MAX], *row = row_of(j);
	uint32_t n_lids = j->p->lft->n_lids, lids = lid_cap(j->node), n = 0;
	struct port_set *set =
		arena_array(j->p->arena, PORT_GROUPS_MAX, sizeof(*set)); /* empty ones */

	if (set == NULL) {
		return -ENOMEM;
	}
	number_groups(j, g, cap < PORT_GROUPS_MAX ? cap : PORT_GROUPS_MAX, number);
	for (uint32_t i = 0; i < g->n; i++) {
		if (number[i] != PORT_GROUP_NONE) {
			set[number[i]] = g->set[i];
			n = number[i] >= n ? number[i] + 1u : n;
		}
	}
	for (uint32_t lid = 0; lid < n_lids; lid++) {
		uint8_t fits = row[lid] != PORT_GROUP_NONE && lid < lids
		                       ? number[row[lid]]
		                       : PORT_GROUP_NONE;

		if (row[lid] != PORT_GROUP_NONE && fits == PORT_GROUP_NONE) {
			x->served--;
			x->full++;
		}
		row[lid] = fits;
	}
	*g = (struct port_groups){ .set = set, .n = n };
	return E_OK;
}

/* The number of a LID's group that was in force. \return false: it is not known. */
static bool had_number(const struct adaptive_job *j, uint32_t lid, uint8_t *ret_number)
{
	bool known = true;

	*ret_number = PORT_GROUP_NONE;
	if (j->in_force && lid < lid_cap(j->node)) {
		known = group_number(j->of_lid, lid, ret_number);
	}
	if (*ret_number >= j->n_had) {
		*ret_number = PORT_GROUP_NONE;
	}
	return known;
}

/* Is a LID to have the alternates that it has? */
static bool keeps_group(const struct adaptive_job *j, uint32_t lid)
{
	uint8_t had, want = is_wanted(j->p) ? row_of(j)[lid] : PORT_GROUP_NONE;

	return had_number(j, lid, &had) && had == want &&
	       (had == PORT_GROUP_NONE ||
	        same_set(&j->had[had], &j->p->alternates->groups[j->sw].set[had]));
}

/* May this entry of the LFT become another one by itself? */
static bool may_move(const struct adaptive_job *j, uint32_t lid, uint8_t from, uint8_t to)
{
	uint8_t had;

	return had_number(j, lid, &had) && had != PORT_GROUP_NONE &&
	       port_set_has(&j->had[had], from) && port_set_has(&j->had[had], to);
}

/* --- before tables change ------------------------------------------------------------------ */

static const uint8_t *known_row(const struct adaptive_job *j)
{
	return lft_row(j->p->known, j->sw);
}

/* Is anything to change but entries that the switches moved themselves? */
static bool changes_anything(const struct program *p)
{
	for (uint32_t s = 0; s < p->disc->g->n_switches; s++) {
		const struct adaptive_job *j = &p->adaptive[s];
		const uint8_t *known = known_row(j), *want = lft_row(p->lft, s);

		for (uint32_t lid = 1; lid < p->lft->n_lids; lid++) {
			if (!keeps_group(j, lid) ||
			    (known[lid] != want[lid] &&
			     !may_move(j, lid, known[lid], want[lid]))) {
				return true;
			}
		}
	}
	return false;
}

/* Entries that moved count as the ones of the tables. */
static void take_for_tables(struct program *p)
{
	for (uint32_t s = 0; s < p->disc->g->n_switches; s++) {
		struct adaptive_job *j = &p->adaptive[s];
		uint8_t *known = lft_row(p->known, s);
		uint32_t cols = j->lft->cols;

		for (uint32_t lid = 1; j->in_force && lid < p->lft->n_lids; lid++) {
			uint8_t want = lft_row(p->lft, s)[lid];

			if (lid / LFT_BLOCK_LIDS < cols) {
				known[lid] = j->lft->data[lid] = want;
			}
		}
	}
}

static void on_entries(void *ctx, struct table_request *q, const struct smp_reply *r)
{
	struct adaptive_job *j = ctx;
	uint32_t first = q->block * LFT_BLOCK_LIDS, end = first + q->n * LFT_BLOCK_LIDS;
	uint8_t *known = lft_row(j->p->known, j->sw);

	for (uint32_t lid = first;
	     r->ret == E_OK && lid < end && lid < j->p->known->n_lids; lid++) {
		j->p->n_adapted += known[lid] != j->lft->data[lid];
		known[lid] = j->lft->data[lid];
	}
}

static void read_entries(struct adaptive_job *j)
{
	struct program *p = j->p;
	uint32_t end = table_blocks_of(p->known->n_lids, LFT_BLOCK_LIDS);

	end = end < j->lft->cols ? end : j->lft->cols;
	for (uint32_t b = 0; b < end && p->ret == E_OK; b += OPA_BLOCKS_MOST) {
		const struct table_request q = { .io = &p->tables,
			                         .node = j->node,
			                         .t = j->lft,
			                         .block = b,
			                         .n = end - b < OPA_BLOCKS_MOST ?
			                                      end - b :
			                                      OPA_BLOCKS_MOST,
			                         .done = on_entries,
			                         .ctx = j };

		p->ret = table_ask(&q, NULL);
	}
}

/* Queues a Set(SwitchInfo) whose bytes begin with \a basis. */
static void set_switch_info(struct adaptive_job *j, const uint8_t *basis,
                            smp_done_f *done)
{
	struct program *p = j->p;
	uint8_t shape[64];

	memcpy(shape, j->node->switch_info, sizeof(shape));
	field_set(shape, SI_PORT_STATE_CHANGE,
	          0); /* 0 keeps the bit; discovery clears it */
	p->n_adaptive_sets++;
	p->ret = smp_submit(p->smp,
	                    &(struct smp_request){ .dest = &j->node->dest,
	                                           .method = UMAD_METHOD_SET,
	                                           .attr = UMAD_SM_ATTR_SWITCH_INFO,
	                                           .data = shape,
	                                           .basis = basis,
	                                           .retries = p->tables.retries,
	                                           .done = done,
	                                           .ctx = j });
}

static bool on_switch_info(struct adaptive_job *j, const struct smp_reply *r)
{
	struct program *p = j->p;

	if (!program_answered(p, j->node, 0, r->ret, r->status, "Set(SwitchInfo)")) {
		return false;
	}
	if (disc_take_switch_info(j->node, p->arena, r) != E_OK) {
		p->ret = -ENOMEM;
	}
	disc_note_change(j->node);
	return p->ret == E_OK;
}

static void on_paused(void *ctx, const struct smp_reply *r)
{
	if (on_switch_info(ctx, r)) {
		read_entries(ctx);
	}
}

static void pause_and_read(struct adaptive_job *j)
{
	uint8_t basis[OPA_BYTES_SWITCH_INFO];

	if (!j->in_force) {
		return;
	}
	if (info(j->node, OPA_SI_AR_PAUSE)) {
		read_entries(j);
		return;
	}
	memcpy(basis, j->node->opa_switch_info, sizeof(basis));
	field_set(basis, OPA_SI_AR_PAUSE, 1);
	set_switch_info(j, basis, on_paused);
}

static int job_init(struct adaptive_job *j, struct program *p, uint32_t sw)
{
	struct disc_node *n = p->disc->of[p->disc->g->switches[sw]];
	struct table_store *store = p->tables.store;

	*j = (struct adaptive_job){ .p = p, .node = n, .sw = sw };
	j->supports = supports(n);
	j->in_force = is_in_force(n);
	j->lft = table_get(store, TABLE_LFT, n->guid, 0, 1,
	                   p->lids->top / LFT_BLOCK_LIDS + 1);
	j->groups = table_find(store, TABLE_OPA_PORT_GROUPS, n->guid, 0);
	j->of_lid = table_find(store, TABLE_OPA_PORT_GROUP_FT, n->guid, 0);
	j->n_had = j->in_force ? (uint32_t)info(n, OPA_SI_PORT_GROUP_TOP) : 0;
	j->had = arena_array(p->arena, j->n_had + 1, sizeof(*j->had));
	if (j->lft == NULL || j->had == NULL) {
		return -ENOMEM;
	}
	for (unsigned k = 0; k < j->n_had && j->groups != NULL; k++) {
		if (!group_of(j->groups, k, &j->had[k])) {
			j->had[k] = (struct port_set){ { 0 } };
		}
	}
	return E_OK;
}

int program_adaptive_recall(struct program *p, uint32_t sw, const uint8_t *given,
                            uint32_t n_lids, uint8_t *row)
{
	struct adaptive_job j;
	int ret = smp_is_omni_path(p->smp) ? job_init(&j, p, sw) : E_OK;

	if (ret != E_OK || !smp_is_omni_path(p->smp) || !j.in_force) {
		return ret;
	}
	for (uint32_t lid = 1; lid < n_lids; lid++) {
		if (row[lid] != given[lid] && may_move(&j, lid, row[lid], given[lid])) {
			row[lid] = given[lid];
		}
	}
	return E_OK;
}

int program_adaptive_begin(struct program *p, struct alternates *x, struct lft *known)
{
	const struct graph *g = p->disc->g;
	bool any = false;
	int ret = E_OK;

	if (!smp_is_omni_path(p->smp)) {
		return E_OK;
	}
	p->alternates = x;
	p->known = known;
	p->adaptive = arena_array(p->arena, g->n_switches + 1, sizeof(*p->adaptive));
	if (p->adaptive == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_switches && ret == E_OK; i++) {
		ret = job_init(&p->adaptive[i], p, i);
		if (ret == E_OK && is_wanted(p)) {
			ret = fit(&p->adaptive[i]);
		}
		any |= p->adaptive[i].in_force;
	}
	if (ret != E_OK || !any) {
		return ret;
	}
	if (!changes_anything(p)) {
		take_for_tables(p);
		return E_OK;
	}
	for (uint32_t i = 0; i < g->n_switches && p->ret == E_OK; i++) {
		pause_and_read(&p->adaptive[i]);
	}
	return p->ret;
}

/* --- port groups ---------------------------------------------------------------------------- */

/* The groups of a block as their bytes. */
static void fill_groups(const struct adaptive_job *j, unsigned row, uint32_t col,
                        uint8_t *ret_bytes)
{
	const struct port_groups *g = &j->p->alternates->groups[j->sw];

	memset(ret_bytes, 0, TABLE_BLOCK_BYTES);
	for (unsigned i = 0; i < OPA_GROUPS_OF_BLOCK; i++) {
		uint32_t group = col * OPA_GROUPS_OF_BLOCK + i;
		uint64_t mask = 0;

		for (unsigned k = 0; k < OPA_GROUP_PORTS && group < g->n; k++) {
			unsigned port = row * OPA_GROUP_PORTS + k + 1;

			if (port < PORT_SET_WORDS * 64 &&
			    port_set_has(&g->set[group], port)) {
				mask |= UINT64_C(1) << k;
			}
		}
		field_set(ret_bytes, i * OPA_GROUP_PORTS, OPA_GROUP_PORTS, mask);
	}
}

static uint32_t cols_of_groups(const struct adaptive_job *j)
{
	return table_blocks_of(j->p->alternates->groups[j->sw].n, OPA_GROUPS_OF_BLOCK);
}

static bool want_groups(struct table_cursor *c, uint32_t place, uint32_t *ret_block,
                        uint8_t *ret_bytes)
{
	const struct adaptive_job *j = c->q.ctx;
	uint32_t cols = cols_of_groups(j), row = place / cols, col = place % cols;

	*ret_block = table_at(c->q.t, row, col);
	fill_groups(j, row, col, ret_bytes);
	return true;
}

static bool want_of_lid(struct table_cursor *c, uint32_t place, uint32_t *ret_block,
                        uint8_t *ret_bytes)
{
	const struct adaptive_job *j = c->q.ctx;
	uint32_t n_lids = j->p->lft->n_lids, first = place * LFT_BLOCK_LIDS;

	*ret_block = place;
	memset(ret_bytes, PORT_GROUP_NONE, TABLE_BLOCK_BYTES);
	for (uint32_t i = 0; i < LFT_BLOCK_LIDS && first + i < n_lids; i++) {
		ret_bytes[i] = row_of(j)[first + i];
	}
	return true;
}

static int start_tables(struct adaptive_job *j)
{
	struct program *p = j->p;
	uint32_t cols = cols_of_groups(j), n = p->alternates->groups[j->sw].n;

	j->groups = get_groups(p, j->node, n);
	j->of_lid = get_of_lid(p, j->node, p->lids->top);
	if (j->groups == NULL || j->of_lid == NULL) {
		return -ENOMEM;
	}
	for (unsigned k = 0; k < 2 && p->ret == E_OK; k++) {
		struct table_cursor *c = &j->cursor[k];

		*c = (struct table_cursor){ .q = { .io = &p->tables,
			                           .node = j->node,
			                           .t = k == 0 ? j->groups : j->of_lid,
			                           .ctx = j },
			                    .end = k == 0 ? positions(j->node) * cols
			                                  : cols_of_lids(j->node,
			                                                 p->lids->top),
			                    .want = k == 0 ? want_groups : want_of_lid,
			                    .ret = &p->ret };
		table_cursor_run(c);
	}
	return p->ret;
}

int program_adaptive_tables(struct program *p)
{
	int ret = E_OK;

	for (uint32_t i = 0; p->adaptive != NULL && is_wanted(p) && ret == E_OK &&
	                     i < p->disc->g->n_switches;
	     i++) {
		/* without a group PortGroupTop is 0, and nothing looks at the tables */
		if (p->adaptive[i].supports && p->alternates->groups[i].n != 0) {
			ret = start_tables(&p->adaptive[i]);
		}
	}
	return ret;
}

/* Does the switch have all its groups? */
static bool holds_all(struct adaptive_job *j)
{
	for (unsigned k = 0; k < 2; k++) {
		struct table_cursor *c = &j->cursor[k];

		for (uint32_t place = 0; place < c->end; place++) {
			uint8_t image[TABLE_BLOCK_BYTES];
			uint32_t block;

			if (c->want(c, place, &block, image) &&
			    !table_holds(c->q.t, block, image)) {
				return false;
			}
		}
	}
	return true;
}

void program_adaptive_check(struct program *p)
{
	for (uint32_t i = 0;
	     p->adaptive != NULL && is_wanted(p) && i < p->disc->g->n_switches; i++) {
		struct adaptive_job *j = &p->adaptive[i];

		if (j->supports && !holds_all(j)) {
			j->supports = false;
			p->alternates->groups[i].n = 0;
			memset(row_of(j), PORT_GROUP_NONE, p->alternates->stride);
		}
	}
}

/* --- after tables changed ------------------------------------------------------------------- */

static void on_resumed(void *ctx, const struct smp_reply *r)
{
	(void)on_switch_info(ctx, r);
}

/* SwitchInfo as a switch is to have it. */
static void plan_resume(const struct adaptive_job *j, uint8_t *info)
{
	const struct adaptive_options *o = &j->p->config->adaptive;
	bool enable = is_wanted(j->p) && j->supports;

	field_set(info, OPA_SI_AR_ENABLE, enable);
	field_set(info, OPA_SI_AR_PAUSE, 0);
	field_set(info, OPA_SI_PORT_GROUP_TOP,
	          enable ? j->p->alternates->groups[j->sw].n : 0);
	if (enable) {
		field_set(info, OPA_SI_AR_ALGORITHM, o->algorithm);
		field_set(info, OPA_SI_AR_FREQUENCY, o->frequency);
		field_set(info, OPA_SI_AR_LOST_ROUTES_ONLY, o->lost_route_only);
		field_set(info, OPA_SI_AR_THRESHOLD, o->threshold);
	}
}

int program_adaptive_resume(struct program *p)
{
	for (uint32_t i = 0;
	     p->adaptive != NULL && p->ret == E_OK && i < p->disc->g->n_switches; i++) {
		struct adaptive_job *j = &p->adaptive[i];
		uint8_t want[OPA_BYTES_SWITCH_INFO];

		if (j->node->opa_switch_info == NULL) {
			continue;
		}
		memcpy(want, j->node->opa_switch_info, sizeof(want));
		plan_resume(j, want);
		if (memcmp(want, j->node->opa_switch_info, sizeof(want)) != 0) {
			set_switch_info(j, want, on_resumed);
		}
	}
	return p->ret;
}

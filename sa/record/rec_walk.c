/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What most attributes share: which end ports a request is about, and which rows of the
 * snapshot's `attrs` go under an end port. External ports of a switch go under the LID of
 * its port 0; a channel adapter or router port is an end port of its own. The order is
 * that of LIDs, then ports, then blocks.
 */
#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/record/record.h"

int sa_end_from(struct snap_reader *r, uint32_t *lid, struct snap_end *ret_end)
{
	uint32_t top = snap_meta(r)->top_lid;

	for (uint32_t l = *lid ? *lid : 1; l <= top; l++) {
		int ret = snap_lid(r, l, ret_end);
		if (ret == E_OK) {
			*lid = ret_end->base_lid + (1u << ret_end->lmc);
			return E_OK;
		}
		if (ret != E_NOTFOUND) {
			return ret;
		}
	}
	return E_NOTFOUND;
}

static bool is_input(const struct sa_query *q, int component)
{
	return (q->attr->fields[component].how & SA_HOW) == SA_INPUT;
}

void sa_rows_begin(const struct sa_query *q, uint16_t attr, uint8_t shift, int port,
                   const struct snap_end *end, struct sa_row_walk *ret_row_walk)
{
	bool all_ports = end->type == NODE_SWITCH && port != SA_NONE;
	uint32_t first = all_ports ? 0 : end->port;
	uint32_t last = all_ports ? UINT8_MAX : first;

	if (port != SA_NONE && sa_asked(q, (unsigned)port) &&
	    (all_ports || !is_input(q, port))) {
		uint32_t want = (uint32_t)sa_component(q, (unsigned)port);
		bool there = want >= first && want <= last;

		first = there ? want : 1;
		last = there ? want : 0;
	}
	*ret_row_walk = (struct sa_row_walk){
		.guid = end->node_guid,
		.next = (uint64_t)first << shift,
		.last = last >= first ? (last << shift) | ((1u << shift) - 1) : 0,
		.attr = attr,
		.shift = shift,
	};
}

int sa_rows_next(struct snap_reader *r, struct sa_row_walk *w,
                 struct snap_attr_row *ret_attr_row)
{
	if (w->next > w->last) {
		return E_NOTFOUND;
	}
	int ret = snap_attr_from(r, w->attr, w->guid, (uint32_t)w->next, ret_attr_row);
	if (ret != E_OK) {
		return ret;
	}
	if (ret_attr_row->guid != w->guid || ret_attr_row->block > w->last) {
		return E_NOTFOUND;
	}
	w->next = (uint64_t)ret_attr_row->block + 1;
	return E_OK;
}

static void offer_row(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, const struct snap_attr_row *row,
                      struct sa_out *out)
{
	const struct sa_rows *rows = &q->attr->rows;
	uint8_t record[SA_ROW_BYTES] = { 0 };

	sa_put(q->attr, record, 0, end->base_lid);
	if (rows->port != SA_NONE) {
		sa_put(q->attr, record, rows->port, row->block >> rows->shift);
	}
	if (rows->block != SA_NONE) {
		sa_put(q->attr, record, rows->block,
		       row->block & ((1u << rows->shift) - 1));
	}
	memcpy(record + rows->at, row->data,
	       row->len < rows->bytes ? row->len : rows->bytes);
	if (rows->fit == NULL || rows->fit(r, q, record)) {
		sa_offer(out, record);
	}
}

static int offer_rows(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, struct sa_out *out)
{
	const struct sa_rows *rows = &q->attr->rows;
	struct sa_row_walk w;
	struct snap_attr_row row;

	sa_rows_begin(q, rows->attr, rows->shift, rows->port, end, &w);
	while (!sa_full(out)) {
		int ret = sa_rows_next(r, &w, &row);
		if (ret != E_OK) {
			return ret == E_NOTFOUND ? E_OK : ret;
		}
		offer_row(r, q, end, &row, out);
	}
	return E_OK;
}

bool sa_has_records(struct snap_reader *r, const struct sa_query *q,
                    const struct snap_end *end)
{
	return !end->is_vport || (q->attr->of_vports && snap_meta(r)->vport_records);
}

int sa_walk_ends(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	sa_end_f *offer = q->attr->offer_end != NULL ? q->attr->offer_end : offer_rows;
	struct snap_end end;
	uint32_t next = (uint32_t)q->from;
	int ret = E_OK;

	if (sa_asked(q, SA_LID)) {
		ret = snap_lid(r, (uint32_t)sa_component(q, SA_LID), &end);
		return ret == E_OK && sa_sees(r, q, &end) && sa_has_records(r, q, &end)
		               ? offer(r, q, &end, out)
		               : ret;
	}
	while (ret == E_OK && !sa_full(out)) {
		ret = sa_end_from(r, &next, &end);
		if (ret == E_NOTFOUND) {
			return E_OK;
		}
		if (ret == E_OK && sa_sees(r, q, &end) && sa_has_records(r, q, &end)) {
			sa_at(out, end.base_lid, 0);
			ret = offer(r, q, &end, out);
		}
	}
	return ret;
}

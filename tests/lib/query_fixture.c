/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/query_fixture.h"

void query_fixture_fail(const char *what, int line)
{
	fprintf(stderr, "query_fixture.h:%d: %s\n", line, what);
	abort();
}

struct query_fixture *query_fixture_new(void)
{
	struct query_fixture *w = calloc(1, sizeof(*w));

	MUST(w);
	w->a = arena_new();
	MUST(w->a);
	const char *tmp = getenv("TMPDIR");
	snprintf(w->dir, sizeof(w->dir), "%s/saguaro-query-XXXXXX",
	         tmp && strlen(tmp) < 30 ? tmp : "/tmp");
	MUST(mkdtemp(w->dir));
	return w;
}

uint32_t query_fixture_add(struct query_fixture *w, enum node_type type, uint64_t guid,
                           unsigned ports, const char *description)
{
	uint32_t node;

	if (w->g == NULL) {
		w->g = graph_new(w->a);
	}
	MUST(graph_add_node(w->g, type, guid, ports, description, NULL, &node) == E_OK);
	return node;
}

void query_fixture_cable(struct query_fixture *w, uint32_t node_a, unsigned port_a,
                         uint32_t node_b, unsigned port_b, enum link_width width,
                         enum link_speed speed, uint8_t mtu)
{
	uint32_t ends[2] = { graph_port(w->g, node_a, port_a),
		             graph_port(w->g, node_b, port_b) };

	MUST(graph_connect(w->g, ends[0], ends[1]) == E_OK);
	for (unsigned i = 0; i < 2; i++) {
		struct port *p = &w->g->ports[ends[i]];
		p->width = (uint8_t)width;
		p->speed = (uint8_t)speed;
		p->mtu = mtu;
	}
}

uint8_t *query_fixture_attr(struct query_fixture *w, uint16_t attr, uint64_t guid,
                            uint32_t block, uint16_t len)
{
	if (w->content.n_attrs == w->cap_attrs) {
		size_t cap = w->cap_attrs ? 2 * w->cap_attrs : 256;
		struct snap_attr *more = arena_array(w->a, cap, sizeof(*more));
		MUST(more);
		if (w->cap_attrs) {
			memcpy(more, w->attrs, w->cap_attrs * sizeof(*more));
		}
		w->attrs = more;
		w->cap_attrs = cap;
	}
	uint8_t *data = arena_alloc(w->a, len);
	MUST(data);
	w->attrs[w->content.n_attrs++] = (struct snap_attr){
		.guid = guid, .attr = attr, .block = block, .data = data, .len = len
	};
	w->content.attrs = w->attrs;
	return data;
}

static int query_fixture_attr_order(const void *x, const void *y)
{
	const struct snap_attr *a = (const struct snap_attr *)x,
			       *b = (const struct snap_attr *)y;

	if (a->attr != b->attr) {
		return a->attr < b->attr ? -1 : 1;
	}
	if (a->guid != b->guid) {
		return a->guid < b->guid ? -1 : 1;
	}
	return a->block < b->block ? -1 : a->block > b->block;
}

/* PortInfo of one port, as far as the tests look at it. */
static void query_fixture_port_info(struct query_fixture *w, const struct node *node,
                                    unsigned num)
{
	uint32_t p = node->first_port + num;
	uint8_t *info =
		query_fixture_attr(w, UMAD_SM_ATTR_PORT_INFO, node->guid, num, 64);

	field_set(info, PI_M_KEY, FIXTURE_M_KEY);
	field_set(info, PI_LID, w->lids.of[p].base);
	field_set(info, PI_LMC, w->lids.of[p].lmc);
	field_set(info, PI_LOCAL_PORT_NUM, num);
	field_set(info, PI_MTU_CAP, w->g->ports[p].mtu);
	field_set(info, PI_PORT_STATE, w->g->ports[p].state);
	field_set(info, PI_CAPABILITY_MASK, FIXTURE_CAPABILITY_MASK);
	field_set(info, PI_CAPABILITY_MASK2, 0x0102);
}

/* PortInfo of all ports, SwitchInfo, and two blocks of GUIDInfo of every end port. */
static void query_fixture_attrs(struct query_fixture *w)
{
	for (uint32_t n = 0; n < w->g->n_nodes; n++) {
		const struct node *node = &w->g->nodes[n];
		bool sw = node->type == NODE_SWITCH;
		for (unsigned num = sw ? 0 : 1; num <= node->n_ports; num++) {
			query_fixture_port_info(w, node, num);
			for (unsigned b = 0; (!sw || num == 0) && b < 2; b++) {
				uint8_t *guids =
					query_fixture_attr(w, UMAD_SM_ATTR_GUID_INFO,
				                           node->guid, num << 8 | b, 64);
				uint64_t guid = w->g->ports[node->first_port + num].guid;
				field_set(guids, 0, 64, b ? 0 : guid);
			}
		}
		if (sw) {
			uint8_t *info = query_fixture_attr(w, UMAD_SM_ATTR_SWITCH_INFO,
			                                   node->guid, 0, 64);
			field_set(info, SI_LINEAR_FDB_CAP, 0xc000);
			field_set(info, SI_LINEAR_FDB_TOP, w->lids.top);
			field_set(info, SI_ENHANCED_PORT_0, node->esp0);
		}
	}
}

void query_fixture_publish(struct query_fixture *w, enum path_selection mode)
{
	struct snap_published done;

	qsort(w->attrs, w->content.n_attrs, sizeof(*w->attrs), query_fixture_attr_order);
	w->content.epoch++;
	w->content.path_selection = (uint8_t)mode;
	MUST(snap_publish(w->w, &w->content, 1, &done) == E_OK);
	MUST(snap_pin(w->r) == E_OK);
}

void query_fixture_start(struct query_fixture *w, unsigned lmc, unsigned lmc_esp0,
                         enum path_selection mode)
{
	struct snap_options so = { .grace_ms = 1000, .need_bytes = 1 << 20 };
	const char *why = "";
	struct diags d;

	diags_init(&d, w->a);
	if (!w->g->frozen) {
		MUST(graph_freeze(w->g, &d) == E_OK);
	}
	struct lids_in in = { .g = w->g,
		              .memory = &w->high,
		              .n_memory = w->high.guid != 0,
		              .lmc = lmc,
		              .lmc_esp0 = lmc_esp0,
		              .max_lid = w->high.guid != 0 ? LID_LIMIT_MAX : 0 };
	MUST(lids_assign(&in, w->a, &d, &w->lids, NULL, NULL) == E_OK);
	struct route_request rq = { .g = w->g,
		                    .lids = &w->lids,
		                    .credit_loops = CREDIT_PROGRAM };
	struct why bad = { .text = "" };
	MUST(route_list_parse("", &rq.list, &bad) == E_OK);
	MUST(route_run(&rq, w->a, &w->route) == E_OK);
	w->content = (struct snap_content){
		.g = w->g,
		.lids = &w->lids,
		.route = &w->route,
		.options_text = "",
		.subnet_prefix = FIXTURE_PREFIX,
		.sm_lid = 1,
		.packet_life_time = FIXTURE_LIFE_TIME,
	};
	query_fixture_attrs(w);
	MUST(snap_writer_open(w->dir, &so, w->a, &why, &w->w) == E_OK);
	MUST(snap_reader_local(w->w, &w->r) == E_OK);
	query_fixture_publish(w, mode);
}

static int query_fixture_remove(const char *path, const struct stat *st, int kind,
                                struct FTW *f)
{
	(void)st;
	(void)kind;
	(void)f;
	return remove(path);
}

void query_fixture_free(struct query_fixture *w)
{
	if (w != NULL) {
		snap_reader_close(w->r);
		if (w->w) {
			snap_writer_close(w->w);
		}
		nftw(w->dir, query_fixture_remove, 8, FTW_DEPTH | FTW_PHYS);
		arena_free(w->a);
		free(w);
	}
}

struct query_fixture *query_fixture_small_high(unsigned lmc, unsigned lmc_esp0,
                                               enum path_selection mode,
                                               struct lid_memory high)
{
	struct query_fixture *w = query_fixture_new();
	uint32_t a = query_fixture_add(w, NODE_SWITCH, SW_A, 8, "sw-a");
	uint32_t b = query_fixture_add(w, NODE_SWITCH, SW_B, 8, "sw-b");
	uint32_t c = query_fixture_add(w, NODE_SWITCH, SW_C, 8, "sw-c");
	uint32_t host = query_fixture_add(w, NODE_CA, HOST, 1, "host");
	uint32_t dual = query_fixture_add(w, NODE_CA, DUAL, 2, "dual");
	uint32_t twin1 = query_fixture_add(w, NODE_CA, TWIN_1, 1, "twin");
	uint32_t twin2 = query_fixture_add(w, NODE_CA, TWIN_2, 1, "twin");
	uint32_t left = query_fixture_add(w, NODE_CA, LEFT, 1, "left");
	uint32_t right = query_fixture_add(w, NODE_CA, RIGHT, 1, "right");

	w->g->nodes[a].esp0 = w->g->nodes[c].esp0 = true;
	query_fixture_cable(w, a, 1, c, 1, WIDTH_4X, SPEED_HDR, 5);
	query_fixture_cable(w, c, 2, b, 1, WIDTH_4X, SPEED_EDR, 4);
	query_fixture_cable(w, host, 1, a, 2, WIDTH_4X, SPEED_NDR, 5);
	query_fixture_cable(w, dual, 1, a, 3, WIDTH_4X, SPEED_EDR, 5);
	query_fixture_cable(w, dual, 2, b, 3, WIDTH_4X, SPEED_EDR, 5);
	query_fixture_cable(w, twin1, 1, a, 4, WIDTH_4X, SPEED_QDR, 5);
	query_fixture_cable(w, twin2, 1, b, 4, WIDTH_4X, SPEED_FDR, 5);
	query_fixture_cable(w, left, 1, right, 1, WIDTH_4X, SPEED_EDR, 5);
	w->high = high;
	query_fixture_start(w, lmc, lmc_esp0, mode);
	return w;
}

struct query_fixture *query_fixture_small(unsigned lmc, unsigned lmc_esp0,
                                          enum path_selection mode)
{
	return query_fixture_small_high(lmc, lmc_esp0, mode,
	                                (struct lid_memory){ .guid = 0 });
}

struct snap_end query_fixture_end(struct query_fixture *w, uint64_t port_guid)
{
	struct snap_end e;

	MUST(snap_port_guid(w->r, port_guid, &e) == E_OK);
	return e;
}

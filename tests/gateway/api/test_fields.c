/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Every field of every answer against its source, on a fabric whose values all differ, so
 * that a field which shows a neighbour's value is seen. The whole answer is compared: a
 * field that the test does not know is a failure, too.
 */
#include <inttypes.h>
#include <math.h>

#include "db/snapshot/reader.h"
#include "gateway/api/metrics.h"
#include "gateway/api/stream.h"
#include "gateway/view/path_json.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct http_stats stats;
static struct api_thread thread;
static struct body expected;

enum { EPOCH = 5 };

/* Lines "a.b=value" of a JSON value, in its order; members of lists are a[0], a[1]. */
static void flatten(const json_t *v, const char *at, struct body *out)
{
	const char *key;
	char path[512];
	json_t *e;
	size_t i;

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		json_object_foreach((json_t *)v, key, e)
		{
			snprintf(path, sizeof(path), "%s%s%s", at, at[0] ? "." : "", key);
			flatten(e, path, out);
		}
		break;
	case JSON_ARRAY:
		body_printf(out, "%s=[%zu]\n", at, json_array_size(v));
		json_array_foreach((json_t *)v, i, e)
		{
			snprintf(path, sizeof(path), "%s[%zu]", at, i);
			flatten(e, path, out);
		}
		break;
	case JSON_STRING: body_printf(out, "%s=%s\n", at, json_string_value(v)); break;
	case JSON_INTEGER:
		body_printf(out, "%s=%lld\n", at, (long long)json_integer_value(v));
		break;
	case JSON_REAL: body_printf(out, "%s=%g\n", at, json_real_value(v)); break;
	case JSON_TRUE: body_printf(out, "%s=true\n", at); break;
	case JSON_FALSE: body_printf(out, "%s=false\n", at); break;
	case JSON_NULL: body_printf(out, "%s=null\n", at); break;
	}
}

#define expect(...) body_printf(&expected, __VA_ARGS__)

/* Compares a JSON value, which is taken, with what was expected since the last call. */
static void check_fields(const char *what, json_t *found)
{
	struct body text = { .len = 0 };

	ck_assert_ptr_nonnull(found);
	flatten(found, "", &text);
	for (const char *a = text.data, *b = expected.data; *a || *b;) {
		size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
		ck_assert_msg(n == m && memcmp(a, b, n) == 0,
		              "%s: found '%.*s', expected '%.*s'", what, (int)n, a,
		              (int)m, b);
		a += n + 1;
		b += m + 1;
	}
	json_decref(found);
	body_clear(&text);
	body_clear(&expected);
}

/* --- out of a struct whose members all differ ------------------------------------------ */

START_TEST(test_path_record)
{
	static const struct path_record rec = {
		.service_id = 0x1111,
		.dgid_prefix = 0xfe80000000000002,
		.dgid_guid = 3,
		.sgid_prefix = 0xfe80000000000004,
		.sgid_guid = 5,
		.dlid = 106,
		.slid = 107,
		.flow_label = 108,
		.p_key = 109,
		.qos_class = 110,
		.raw_traffic = 111,
		.hop_limit = 112,
		.t_class = 113,
		.reversible = 114,
		.numb_path = 115,
		.sl = 116,
		.mtu_selector = 117,
		.mtu = 4,
		.rate_selector = 119,
		.rate = 3,
		.packet_life_time_selector = 121,
		.packet_life_time = 122,
		.preference = 123,
		.hops = 124,
	};

	expect("service_id=0x0000000000001111\ndgid=fe80:0:0:2::3\nsgid=fe80:0:0:4::5\n"
	       "dlid=106\nslid=107\nraw_traffic=111\nflow_label=108\nhop_limit=112\n"
	       "t_class=113\nreversible=114\nnumb_path=115\np_key=109\nqos_class=110\nsl=116\n"
	       "mtu_selector=117\nmtu=4\nmtu_bytes=2048\nrate_selector=119\nrate=3\n"
	       "rate_gbps=10\npacket_life_time_selector=121\npacket_life_time=122\n"
	       "preference=123\nhop_count=124\n");
	char text[PATH_RECORD_BYTES];
	check_fields(
		"path",
		json_loadb(text, (size_t)(path_record_put(text, &rec) - text), 0, NULL));
}
END_TEST

static const struct snap_meta meta = {
	.epoch = 101,
	.txn = 102,
	.computed_at = 1767225600,
	.n_nodes = 104,
	.n_switches = 105,
	.n_end_ports = 1000,
	.n_hosts = 107,
	.n_links = 108,
	.n_lids = 109,
	.top_lid = 110,
	.n_sources = 111,
	.subnet_prefix = 0x112,
	.sm_port_guid = 0x113,
	.sm_lid = 114,
	.multicast_fdb_cap = 115,
	.sm_priority = 116,
	.sm_state = 2,
	.lmc = 118,
	.packet_life_time = 119,
	.path_selection = PATH_PAIRWISE,
	.vls_used = 121,
	.management_vls = 122,
	.engine_asked = "asked",
	.engine_used = "used",
	.fallback_reason = "reason",
	.notes = "notes",
	.warning = "warning",
	.pairs = 127,
	.unreachable_pairs = 128,
	.forwarding_loops = 129,
	.credit_loops = 130,
	.management_unreachable = 131,
	.management_credit_loops = 132,
	.load_max = 133,
	.load_p99 = 134,
	.load_mean = 135.5,
	.seconds_route = 136.5,
	.seconds_prove = 137.5,
	.stage = { { "discover", 138.5 }, { "route", 139.5 } },
	.n_stages = 2,
	.transition = { .epoch = 100,
	                .changed = 141,
	                .stages = 142,
	                .withdrawn = 143,
	                .may_loop = 144,
	                .credit_loops = 145,
	                .blocks = 146,
	                .safe = true,
	                .seconds_plan = 147.5,
	                .seconds_send = 148.5,
	                .reason = "together" },
};

START_TEST(test_fabric)
{
	expect("epoch=101\ncomputed_at=2026-01-01T00:00:00Z\n"
	       "subnet_prefix=0x0000000000000112\nsm.port_guid=0x0000000000000113\n"
	       "sm.lid=114\nsm.priority=116\nsm.state=standby\nnodes=104\nswitches=105\n"
	       "end_ports=1000\nhosts=107\naggregation_nodes=788\nlinks=108\nlids=109\n"
	       "top_lid=110\nlmc=118\npath_selection=%s\npacket_life_time=119\n"
	       "engine_used=used\nwarning=warning\nstages_seconds.discover=138.5\n"
	       "stages_seconds.route=139.5\n",
	       path_selection_names[PATH_PAIRWISE]);
	check_fields("/v1/fabric", fabric_json(&meta));
}
END_TEST

START_TEST(test_routing)
{
	expect("epoch=101\nengine_asked=asked\nengine_used=used\nfallback_reason=reason\n"
	       "notes=notes\nwarning=warning\npairs=127\nunreachable_pairs=128\n"
	       "forwarding_loops=129\ncredit_loops=130\nmanagement_pairs.unreachable=131\n"
	       "management_pairs.credit_loops=132\nmanagement_pairs.vls=122\nvls_used=121\nload.max=133\n"
	       "load.mean=135.5\nload.p99=134\nseconds.route=136.5\nseconds.prove=137.5\n"
	       "transition.epoch=100\ntransition.safe=true\ntransition.lids_changed=141\n"
	       "transition.stages=142\ntransition.lids_withdrawn=143\n"
	       "transition.in_any_order.credit_loops=145\n"
	       "transition.in_any_order.looping_lids=144\ntransition.reason=together\n"
	       "transition.lft_blocks=146\ntransition.seconds.plan=147.5\n"
	       "transition.seconds.send=148.5\n");
	check_fields("/v1/routing", routing_json(&meta));
}
END_TEST

/* --- out of a published fabric --------------------------------------------------------- */

static void start(void)
{
	static char *args[] = { (char *)"3", (char *)"2", (char *)"2" };
	static const uint8_t speeds[] = { SPEED_QDR, SPEED_FDR, SPEED_EDR, SPEED_HDR };
	struct graph *g;

	gateway_fixture_init(&fixture, "ft2", 3, args);
	g = fixture.g;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct node *n = &g->nodes[i];
		n->system_image_guid = 0xabc000 + i;
		n->vendor_id = 0x1000 + i;
		n->device_id = (uint16_t)(0x2000 + i);
		n->revision = 0x3000 + i;
		n->name = i % 2 ? arena_printf(fixture.arena, "operator's %u", i) : NULL;
		n->esp0 = n->type == NODE_SWITCH && i % 2;
		for (unsigned p = 0; p <= n->n_ports; p++) {
			struct port *port = &g->ports[n->first_port + p];
			port->mtu = (uint8_t)(1 + (i + p) % 5);
			port->vls = (uint8_t)(1 + (i + 2 * p) % 5);
			port->width = (i + p) % 3 ? WIDTH_4X : WIDTH_1X;
			port->speed = speeds[(i + p) % 4];
		}
	}
	gateway_fixture_route(&fixture, 1);
	for (uint32_t i = 0; i < g->n_adj; i++) {
		fixture.route.load.all[i] = 1000 + i;
		fixture.route.load.base[i] = 2000 + i;
	}
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, EPOCH);
	gateway_fixture_heartbeat(&fixture, 0, true);
	stats = (struct http_stats){ 0 };
	thread =
		(struct api_thread){ .source = source_new(fixture.dir), .stats = &stats };
	ck_assert_ptr_nonnull(thread.source);
	expect("epoch=%d\n", EPOCH);
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	gateway_fixture_done(&fixture);
	body_clear(&expected);
}

static const struct port *peer_of(const struct port *p)
{
	return p->peer == GRAPH_NONE ? NULL : &fixture.g->ports[p->peer];
}

static const struct node *node_of(const struct port *p)
{
	return &fixture.g->nodes[p->node];
}

static const char *label_of(const struct node *n)
{
	return n->name ? n->name : n->description;
}

static unsigned bytes_of_mtu(uint8_t mtu)
{
	return 128u << mtu;
}

/* Tenths of Gb/s of a cable: that of its slower end. */
static uint32_t speed_of(const struct port *p)
{
	uint32_t a = rate_speed(link_rate(p->width, p->speed));
	uint32_t b = rate_speed(link_rate(peer_of(p)->width, peer_of(p)->speed));

	return a < b ? a : b;
}

static uint8_t rate_of(const struct port *p)
{
	const struct port *q = peer_of(p);
	uint8_t rate = link_rate(p->width, p->speed);

	return rate_speed(rate) == speed_of(p) ? rate : link_rate(q->width, q->speed);
}

static const char *state_of(const struct port *p)
{
	static const char *const names[] = { "none", "down", "init", "armed", "active" };

	return names[p->state];
}

static uint32_t base_lid(const struct port *p)
{
	return fixture.lids.of[p - fixture.g->ports].base;
}

static uint32_t node_lid(const struct node *n)
{
	uint32_t lid = 0;

	for (unsigned p = 0; p <= n->n_ports && lid == 0; p++) {
		lid = base_lid(&fixture.g->ports[n->first_port + p]);
	}
	return lid;
}

static void expect_port(const char *at, const struct port *p)
{
	const struct port *q = peer_of(p);

	expect("%s.num=%u\n%s.guid=0x%016" PRIx64 "\n%s.state=%s\n", at, p->num, at,
	       p->guid, at, state_of(p));
	if (base_lid(p) != 0) {
		expect("%s.lid=%u\n%s.lmc=%u\n", at, base_lid(p), at,
		       fixture.lids.of[p - fixture.g->ports].lmc);
	}
	expect("%s.mtu=%u\n%s.mtu_bytes=%u\n%s.vls=%u\n", at, p->mtu, at,
	       bytes_of_mtu(p->mtu), at, p->vls);
	if (q == NULL) {
		expect("%s.peer=null\n", at);
		return;
	}
	expect("%s.peer.guid=0x%016" PRIx64 "\n%s.peer.port=%u\n", at, node_of(q)->guid,
	       at, q->num);
	expect("%s.width=%s\n%s.speed=%s\n%s.rate=%u\n%s.rate_gbps=%g\n", at,
	       link_width_name(p->width), at, link_speed_name(p->speed), at, rate_of(p),
	       at, speed_of(p) / 10.0);
}

static void expect_node(const char *at, const struct node *n)
{
	unsigned first = n->type == NODE_SWITCH ? 0 : 1;
	char port[80];

	expect("%sguid=0x%016" PRIx64
	       "\n%stype=%s\n%sname=%s\n%sdescription=%s\n%slid=%u\n",
	       at, n->guid, at, n->type == NODE_SWITCH ? "switch" : "ca", at, label_of(n),
	       at, n->description, at, node_lid(n));
	expect("%ssystem_image_guid=0x%016" PRIx64 "\n%snum_ports=%u\n%svendor_id=%u\n",
	       at, n->system_image_guid, at, n->n_ports, at, n->vendor_id);
	expect("%sdevice_id=%u\n%srevision=%u\n%senhanced_port_0=%s\n%saggregation_node=false\n",
	       at, n->device_id, at, n->revision, at, n->esp0 ? "true" : "false", at);
	expect("%sports=[%u]\n", at, n->n_ports + 1 - first);
	for (unsigned p = first; p <= n->n_ports; p++) {
		snprintf(port, sizeof(port), "%sports[%u]", at, p - first);
		expect_port(port, &fixture.g->ports[n->first_port + p]);
	}
}

START_TEST(test_nodes)
{
	const struct graph *g = fixture.g;
	char at[32];

	expect("nodes=[%u]\n", g->n_nodes);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		snprintf(at, sizeof(at), "nodes[%u].", i);
		expect_node(at, &g->nodes[i]);
	}
	expect("total=%u\n", g->n_nodes);
	check_fields("/v1/nodes", api_json(&thread, 200, "/v1/nodes"));
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		expect("epoch=%d\n", EPOCH);
		expect_node("", &g->nodes[i]);
		check_fields(
			"/v1/nodes/{node}",
			api_json(&thread, 200, "/v1/nodes/0x%" PRIx64, g->nodes[i].guid));
	}
}
END_TEST

/* Routes that leave a port, as they were published. */
static void expect_load(const char *at, const struct port *p)
{
	const struct graph *g = fixture.g;
	const uint32_t s = node_of(p)->sw;

	for (uint32_t i = s == GRAPH_NONE ? 0 : g->adj_first[s];
	     s != GRAPH_NONE && i < g->adj_first[s + 1]; i++) {
		if (g->adj[i].port == p->num) {
			expect("%s.all=%u\n%s.base=%u\n", at, 1000 + i, at, 2000 + i);
			return;
		}
	}
	expect("%s=null\n", at);
}

START_TEST(test_links)
{
	const struct graph *g = fixture.g;
	unsigned n = 0;
	char at[40];

	expect("links=[%u]\n", g->n_links);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i], *q = peer_of(p), *end[2] = { p, q };
		if (q == NULL || p->peer < i) {
			continue;
		}
		for (unsigned e = 0; e < 2; e++) {
			expect("links[%u].%c.guid=0x%016" PRIx64
			       "\nlinks[%u].%c.port=%u\n"
			       "links[%u].%c.name=%s\nlinks[%u].%c.type=%s\n"
			       "links[%u].%c.state=%s\n",
			       n, 'a' + e, node_of(end[e])->guid, n, 'a' + e, end[e]->num,
			       n, 'a' + e, label_of(node_of(end[e])), n, 'a' + e,
			       node_of(end[e])->type == NODE_SWITCH ? "switch" : "ca", n,
			       'a' + e, state_of(end[e]));
		}
		uint8_t mtu = p->mtu < q->mtu ? p->mtu : q->mtu;
		expect("links[%u].state=%s\n", n, state_of(p->state < q->state ? p : q));
		expect("links[%u].width=%s\nlinks[%u].speed=%s\nlinks[%u].rate=%u\n"
		       "links[%u].rate_gbps=%g\nlinks[%u].best_width=null\n"
		       "links[%u].best_speed=null\nlinks[%u].best_rate_gbps=null\n"
		       "links[%u].degraded=null\nlinks[%u].mtu=%u\nlinks[%u].mtu_bytes=%u\n",
		       n, link_width_name(p->width), n, link_speed_name(p->speed), n,
		       rate_of(p), n, speed_of(p) / 10.0, n, n, n, n, n, mtu, n,
		       bytes_of_mtu(mtu));
		for (unsigned e = 0; e < 2; e++) {
			snprintf(at, sizeof(at), "links[%u].routes_from_%c", n, 'a' + e);
			expect_load(at, end[e]);
		}
		expect("links[%u].cable=null\n", n);
		n++;
	}
	expect("total=%u\n", g->n_links);
	check_fields("/v1/links", api_json(&thread, 200, "/v1/links"));
}
END_TEST

START_TEST(test_lids)
{
	const struct graph *g = fixture.g;
	unsigned n = 0;

	expect("lids=[%u]\n", g->n_end_ports);
	for (uint32_t lid = 1; lid <= fixture.lids.top; lid++) {
		uint32_t i = fixture.lids.owner[lid];
		if (i == GRAPH_NONE || fixture.lids.of[i].base != lid) {
			continue;
		}
		const struct port *p = &g->ports[i];
		const struct node *node = node_of(p);
		expect("lids[%u].lid=%u\nlids[%u].lmc=%u\nlids[%u].port_guid=0x%016" PRIx64
		       "\nlids[%u].node_guid=0x%016" PRIx64
		       "\nlids[%u].port=%u\nlids[%u].type=%s\n"
		       "lids[%u].name=%s\nlids[%u].description=%s\n",
		       n, lid, n, fixture.lids.of[i].lmc, n, p->guid, n, node->guid, n,
		       p->num, n, node->type == NODE_SWITCH ? "switch" : "ca", n,
		       label_of(node), n, node->description);
		n++;
	}
	expect("total=%u\n", g->n_end_ports);
	check_fields("/v1/lids", api_json(&thread, 200, "/v1/lids"));
}
END_TEST

static void expect_switch(const struct node *n)
{
	expect("guid=0x%016" PRIx64 "\nname=%s\ndescription=%s\nlid=%u\n", n->guid,
	       label_of(n), n->description, node_lid(n));
}

/* A byte of each LID that has one. */
static void expect_lid_bytes(const char *list, const char *name, const uint8_t *row)
{
	unsigned n = 0;

	for (uint32_t lid = 1; lid <= fixture.lids.top; lid++) {
		n += row[lid] != 0xff;
	}
	expect("%s=[%u]\n", list, n);
	const unsigned total = n;
	n = 0;
	for (uint32_t lid = 1; lid <= fixture.lids.top; lid++) {
		if (row[lid] != 0xff) {
			expect("%s[%u].lid=%u\n%s[%u].%s=%u\n", list, n, lid, list, n,
			       name, row[lid]);
			n++;
		}
	}
	expect("total=%u\n", total);
}

START_TEST(test_switches)
{
	const struct graph *g = fixture.g;
	const struct alternates *x = &fixture.route.alternates;

	body_clear(&expected);
	ck_assert_ptr_nonnull(x->rows);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];
		const struct port_groups *groups = &x->groups[s];
		expect("epoch=%d\n", EPOCH);
		expect_switch(n);
		expect("top_lid=%u\n", fixture.lids.top);
		expect_lid_bytes("routes", "port", lft_row(&fixture.route.out.lft, s));
		check_fields("lft", api_json(&thread, 200,
		                             "/v1/switches/0x%" PRIx64 "/lft", n->guid));
		expect("epoch=%d\n", EPOCH);
		expect_switch(n);
		expect("in_force=false\nport_groups=[%u]\n", groups->n);
		for (unsigned i = 0; i < groups->n; i++) {
			unsigned k = 0, ports = 0;
			for (unsigned p = 1; p <= n->n_ports; p++) {
				ports += port_set_has(&groups->set[i], p);
			}
			expect("port_groups[%u].group=%u\nport_groups[%u].ports=[%u]\n",
			       i, i, i, ports);
			for (unsigned p = 1; p <= n->n_ports; p++) {
				if (port_set_has(&groups->set[i], p)) {
					expect("port_groups[%u].ports[%u]=%u\n", i, k++,
					       p);
				}
			}
		}
		expect_lid_bytes("alternates", "group", x->rows + s * x->stride);
		check_fields("alternates",
		             api_json(&thread, 200,
		                      "/v1/switches/0x%" PRIx64 "/alternates", n->guid));
	}
}
END_TEST

/* --- an entity tag follows whatever the answer is made of ------------------------------ */

/* The ETag of an answer with status 200. */
static void read_etag(const char *target, char etag[56])
{
	struct api_request rq = { .method = "GET", .target = target };
	struct api_reply reply;

	api_serve(&thread, &rq, &reply);
	ck_assert_uint_eq(reply.base.status, 200);
	memcpy(etag, reply.base.etag, sizeof(reply.base.etag));
	body_clear(&reply.base.body);
}

/* Publishes the same epoch with other P_Keys in the table of the first host. */
static void publish_p_keys(uint8_t low)
{
	uint8_t keys[64] = { 0x80, low, 0xff, 0xff };
	const struct port *p = &fixture.g->ports[fixture.g->hosts[0]];
	const struct snap_attr table = { .guid = node_of(p)->guid,
		                         .attr = 0x16, /* P_KeyTable */
		                         .block = (uint32_t)p->num << 16,
		                         .data = keys,
		                         .len = sizeof(keys) };
	const struct snap_content c = { .epoch = EPOCH + 1,
		                        .g = fixture.g,
		                        .lids = &fixture.lids,
		                        .route = &fixture.route,
		                        .attrs = &table,
		                        .n_attrs = 1,
		                        .options_text = "",
		                        .subnet_prefix = 0xfe80000000000000,
		                        .sm_lid = 1,
		                        .sm_state = 3 };
	struct snap_published done;

	ck_assert_int_eq(snap_publish(fixture.writer, &c, boottime_ms(), &done), E_OK);
}

START_TEST(test_etag_of_paths)
{
	char target[64], before[56], same[56], after[56];

	snprintf(target, sizeof(target), "/v1/paths?src=%u&dst=%u",
	         base_lid(&fixture.g->ports[fixture.g->hosts[0]]),
	         base_lid(&fixture.g->ports[fixture.g->hosts[1]]));
	publish_p_keys(1);
	read_etag(target, before);
	publish_p_keys(1);
	read_etag(target, same);
	ck_assert_str_eq(same, before);
	publish_p_keys(2);
	read_etag(target, after);
	ck_assert_str_ne(after, before);
}
END_TEST

/* An answer has an ETag where its row says so, and nowhere else: the OpenAPI document is made of
 * the rows. Kinds of records have one or none by what they are. */
START_TEST(test_etag_by_row)
{
	unsigned n_with = 0, n_without = 0;

	publish_p_keys(1);
	for (unsigned i = 0; i < api_resources.n; i++) {
		const struct resource *row = &api_resources.row[i];
		struct api_request rq = { .method = row->method, .target = row->path };
		bool has = (row->flags & RESOURCE_ETAG) != 0;
		struct api_reply reply;

		if (strcmp(row->method, "GET") != 0 || strchr(row->path, '{') != NULL) {
			continue;
		}
		api_serve(&thread, &rq, &reply);
		if (reply.base.status == 200) {
			ck_assert_msg((reply.base.etag[0] != '\0') == has, "%s: '%s'",
			              row->path, reply.base.etag);
			n_with += has;
			n_without += !has;
		}
		body_clear(&reply.base.body);
		stream_free(reply.stream);
		free(reply.feed);
	}
	ck_assert_uint_ge(n_with, 8);
	ck_assert_uint_ge(n_without, 8);
}
END_TEST

TEST_SUITE(fields)
{
	TCase *t = tcase_create("structs");
	tcase_add_test(t, test_path_record);
	tcase_add_test(t, test_fabric);
	tcase_add_test(t, test_routing);
	suite_add_tcase(suite, t);
	t = tcase_create("fabric");
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, test_nodes);
	tcase_add_test(t, test_links);
	tcase_add_test(t, test_lids);
	tcase_add_test(t, test_switches);
	tcase_add_test(t, test_etag_of_paths);
	tcase_add_test(t, test_etag_by_row);
	suite_add_tcase(suite, t);
}

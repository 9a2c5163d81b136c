/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/path_why_json.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_json.h"
#include "routing/graph/graph.h"
#include "sa/path/path_why.h"

static const char *const choice_names[PATH_CHOICE_COUNT] = {
	[PATH_CHOICE_DELIVERS] = "delivers",
	[PATH_CHOICE_ONLY] = "only-port",
	[PATH_CHOICE_LEAST] = "least-loaded",
	[PATH_CHOICE_SPREAD] = "spread",
};

static json_t *port_name_json(struct snap_reader *r, uint64_t guid, uint8_t port)
{
	struct snap_node node;
	bool known = snap_node(r, guid, &node) == E_OK;

	return json_pack("{s:o, s:o, s:i}", "guid", guid_json(guid), "name",
	                 known ? text_json(node.name) : json_null(), "port", port);
}

static json_t *routes_json(uint32_t routes)
{
	return routes == PATH_LOAD_UNKNOWN ? json_null() : json_integer(routes);
}

/* --- one switch ----------------------------------------------------------------------- */

/* Candidates with the speed of the port that was taken. */
static unsigned count_equal(const struct path_hop_why *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->n; i++) {
		n += w->port[i].cable.rate == w->cable.rate;
	}
	return n;
}

/* Why this port, in a sentence. */
static const char *choice_text(const struct path_hop *hop, const struct path_hop_why *w,
                               struct arena *a)
{
	unsigned equal = count_equal(w);
	const char *among =
		equal == w->n ? ""
			      : arena_printf(a, ", %u of them with this speed", equal);

	switch (w->choice) {
	case PATH_CHOICE_DELIVERS:
		return hop->out_port == 0
		               ? "the destination is this switch"
		               : arena_printf(a, "the destination is cabled to port %u",
		                              hop->out_port);
	case PATH_CHOICE_ONLY:
		return arena_printf(a, "no other port leads there over so few switches");
	case PATH_CHOICE_LEAST:
		return w->routes == PATH_LOAD_UNKNOWN || equal == 1
		               ? arena_printf(
					 a, "%u ports lead there over as few switches%s",
					 w->n, among)
		       : w->least == w->most
		               ? arena_printf(
					 a,
					 "%u ports lead there over as few switches%s; each carries %u routes",
					 w->n, among, w->routes)
		               : arena_printf(
					 a,
					 "%u ports lead there over as few switches%s; this one carries the fewest routes: %u, another up to %u",
					 w->n, among, w->routes, w->most);
	case PATH_CHOICE_SPREAD:
		return arena_printf(
			a,
			"%u ports lead there over as few switches%s; the engine spread %u to %u routes over them, %u on this one",
			w->n, among, w->least, w->most, w->routes);
	case PATH_CHOICE_COUNT: break;
	}
	return "";
}

static json_t *candidates_json(struct snap_reader *r, const struct path_hop_why *w)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < w->n; i++) {
		const struct path_port_choice *c = &w->port[i];

		json_array_append_new(
			list,
			json_pack("{s:i, s:o, s:o, s:o, s:b}", "port", c->cable.port,
		                  "to",
		                  port_name_json(r, c->cable.to_guid, c->cable.to_port),
		                  "rate_gbps", rate_gbps_json(c->cable.rate), "routes",
		                  routes_json(c->routes), "taken", (int)c->taken));
	}
	return list;
}

/* Ports to which adaptive routing may move the route, and a word of it behind the sentence. */
static int add_alternates(const struct path_hop *hop, const struct path_hop_why *w,
                          struct arena *a, const char **text, json_t *o)
{
	json_t *ports;
	int bad = 0;

	if (port_set_count(&w->alternates) == 0) {
		return E_OK;
	}
	ports = json_array();
	*text = arena_printf(a, "%s; adaptive routing may move it to port", *text);
	for (unsigned port = 1; *text != NULL && port < PORT_SET_WORDS * 64; port++) {
		if (port != hop->out_port && port_set_has(&w->alternates, port)) {
			*text = arena_printf(a, "%s%s %u", *text,
			                     json_array_size(ports) == 0 ? "" : ",", port);
			bad |= json_array_append_new(ports, json_integer(port));
		}
	}
	bad |= json_object_set_new(o, "alternates", ports);
	return bad != 0 || *text == NULL ? -ENOMEM : E_OK;
}

static int add_hop_why(struct snap_reader *r, const struct path_hop *hop,
                       const struct path_hop_why *w, struct arena *a, json_t *o)
{
	const char *text = choice_text(hop, w, a);
	int bad = text == NULL || add_alternates(hop, w, a, &text, o) != E_OK;

	bad |= json_object_set_new(o, "choice", json_string(choice_names[w->choice]));
	bad |= json_object_set_new(o, "why", json_string(text));
	bad |= json_object_set_new(o, "routes", routes_json(w->routes));
	bad |= json_object_set_new(o, "candidates", candidates_json(r, w));
	bad |= json_object_set_new(
		o, "vl", w->vl == PATH_VL_UNKNOWN ? json_null() : json_integer(w->vl));
	if (w->vl != PATH_VL_UNKNOWN) {
		bad |= json_object_set_new(
			o, "vl_from",
			json_string(w->vl_programmed ? "sl2vl-table" : "routing"));
	}
	return bad != 0 ? -ENOMEM : E_OK;
}

static int add_hops(struct snap_reader *r, const struct path_record *rec,
                    const struct snap_end *dst, const struct path_hop *hops, unsigned n,
                    struct arena *a, json_t *list)
{
	struct path_hop_why w;
	int ret = E_OK;

	for (unsigned i = 0; ret == E_OK && i < n; i++) {
		ret = path_hop_why(r, dst, rec->dlid, &hops[i], n - i, rec->sl, &w);
		if (ret == E_OK) {
			ret = add_hop_why(r, &hops[i], &w, a, json_array_get(list, i));
		}
	}
	return ret;
}

/* --- the whole path ------------------------------------------------------------------- */

/* What limits a value: a cable, the port 0 of a switch, or what was asked for. */
static json_t *bound_json(struct snap_reader *r, const struct path_cable *c,
                          bool by_cable, bool by_end)
{
	if (by_cable) {
		return json_pack("{s:s, s:o, s:o}", "by", "cable", "from",
		                 port_name_json(r, c->guid, c->port), "to",
		                 port_name_json(r, c->to_guid, c->to_port));
	}
	return json_pack("{s:s}", "by", by_end ? "port-0" : "policy-or-selector");
}

static uint32_t slower(uint32_t a, uint32_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static int add_bounds(struct snap_reader *r, const struct path_record *rec,
                      const struct snap_end *src, const struct snap_end *dst,
                      const struct path_bounds *b, json_t *o)
{
	uint32_t cable = rate_speed(b->rate.rate), speed = rate_speed(rec->rate);
	uint32_t ends = slower(rate_speed(src->rate), rate_speed(dst->rate));
	uint8_t end_mtu = src->mtu < dst->mtu ? src->mtu : dst->mtu;
	int bad = 0;

	bad |= json_object_set_new(
		o, "rate_limited",
		bound_json(r, &b->rate, speed == cable, speed == ends));
	bad |= json_object_set_new(
		o, "mtu_limited",
		bound_json(r, &b->mtu, rec->mtu == b->mtu.mtu, rec->mtu == end_mtu));
	return bad != 0 ? -ENOMEM : E_OK;
}

/* An end port with its state: behind a port that is not active no packet passes yet. */
static int add_end(struct snap_reader *r, const struct snap_end *end, const char *name,
                   json_t *o)
{
	struct snap_port port;
	int ret = snap_port(r, end->node_guid, end->port, &port);

	if (ret != E_OK) {
		return ret;
	}
	json_t *e = port_name_json(r, end->node_guid, end->port);
	int bad =
		json_object_set_new(e, "state", json_string(port_state_name(port.state)));

	bad |= json_object_set_new(o, name, e);
	return bad != 0 ? -ENOMEM : E_OK;
}

int path_why_json(struct snap_reader *r, const struct path_record *rec,
                  const struct path_hop *hops, unsigned n, struct arena *a, json_t *list,
                  json_t **ret_json)
{
	struct snap_end src, dst;
	struct path_bounds bounds;
	json_t *o = json_pack("{s:s}", "engine", snap_meta(r)->engine_used);

	int ret = o == NULL ? -ENOMEM : snap_lid(r, rec->slid, &src);
	if (ret == E_OK) {
		ret = snap_lid(r, rec->dlid, &dst);
	}
	if (ret == E_OK) {
		ret = path_bounds(r, &src, hops, n, &bounds);
	}
	if (ret == E_OK) {
		ret = add_end(r, &src, "src", o);
	}
	if (ret == E_OK) {
		ret = add_end(r, &dst, "dst", o);
	}
	if (ret == E_OK && src.base_lid != dst.base_lid) {
		ret = add_bounds(r, rec, &src, &dst, &bounds, o);
	}
	if (ret == E_OK) {
		ret = add_hops(r, rec, &dst, hops, n, a, list);
	}
	if (ret == E_OK) {
		*ret_json = o;
		return E_OK;
	}
	json_decref(o);
	return ret == E_NOTFOUND ? E_MALFORMED : ret;
}

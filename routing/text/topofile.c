/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Reader of topology text, one pass over the lines.
 *
 * Node lines add nodes at once. Cable lines become claims, which topofile_cables.c turns
 * into cables when every node is known. Text behind a '#' is a remark, but
 * ibnetdiscover puts descriptions, LIDs and link widths there: what looks like them is
 * read, anything else is skipped. Links of ibdiagnet's list are read by topofile_list.c;
 * topofile_int.h says what is done about lines that are not understood.
 *
 * GUIDs of nodes without one are numbered as ibsim 0.10 does: switches from 0x200000 in
 * steps of 1, CAs from 0x100000 in steps of ports + 1; a guid line sets where its node
 * type goes on. (ibsim starts routers at 0, which is no GUID; here they start at
 * 0x300000.) A node without a description is described by its id, also as in ibsim.
 *
 * Source: ibnetdiscover(8), section "Topology file format"; net-examples of ibsim.
 */
#include "routing/text/topofile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "routing/graph/graph.h"
#include "routing/text/span.h"
#include "routing/text/topofile_cables.h"
#include "routing/text/topofile_int.h"

/* Both ends of 2 million cables fit. */
static const struct text_file_kind topology_kind = { .what = "a topology",
	                                             .max_bytes = 1 << 30,
	                                             .text_only = true };

/* Handles a line that is not understood. */
static const char skipped[] = "the line is skipped";

enum { MAX_LID = 0xffffff, MAX_LMC = 7, N_TYPES = NODE_ROUTER + 1 };

struct parser {
	struct arena *a;
	struct graph *g;
	struct topo_problems problems;
	unsigned line;
	struct span text; /* the line that is read, for messages */
	struct cables cables;
	/* attribute lines, waiting for their node */
	uint64_t next_guid[N_TYPES];
	bool guid_lost; /* there was a guid line, but it was wrong */
	uint64_t port_guid;
	uint64_t system_image_guid;
	uint32_t vendor_id;
	uint16_t device_id;
	/* the block that is read */
	bool in_block;
	uint32_t node; /* GRAPH_NONE in a block: its node line was wrong */
	int ret;       /* sticky: -ENOMEM */
};

static void complain(struct parser *p, const char *instead, const char *expected)
{
	topo_problem(&p->problems, p->line, instead, "'%s': expected %s",
	             span_shown(p->text).text, expected);
}

/* ---- remarks ---- */

/* A remark in three parts: before, inside and behind the first and last quote. */
struct remark {
	struct span before, quoted, after;
	bool has_quoted;
};

static struct remark split_remark(struct span s)
{
	struct remark r = { .before = s, .after = s };
	const char *open = s.n ? memchr(s.p, '"', s.n) : NULL;
	const char *close = s.n ? memrchr(s.p, '"', s.n) : NULL;

	if (!open || open == close) {
		return r;
	}
	r.before.n = (size_t)(open - s.p);
	r.quoted = (struct span){ open + 1, (size_t)(close - open - 1) };
	r.after = (struct span){ close + 1, (size_t)(s.p + s.n - close - 1) };
	r.has_quoted = true;
	return r;
}

/* "lid N" at the front. Silent when it is not there: remarks may say anything. */
static bool take_lid(struct parser *p, struct span *s, uint64_t *ret_lid)
{
	if (!span_take_word(s, "lid")) {
		return false;
	}
	span_skip_blank(s);
	if (!s->n || (*s->p < '0' || *s->p > '9')) {
		return false;
	}
	if (!span_take_number(s, 10, MAX_LID, ret_lid)) {
		complain(p, "it has none", "a LID up to 16777215 behind 'lid'");
		return false;
	}
	return true;
}

/*
 * "lid N lmc M" at the front, if it is there. Without "lmc" it is not the port's own LID:
 * a cable's remark also names that of the far end.
 */
static void read_lid(struct parser *p, struct span s, struct port *port)
{
	uint64_t lid = 0, lmc = 0;

	if (!take_lid(p, &s, &lid) || !span_take_word(&s, "lmc")) {
		return;
	}
	if (!span_take_number(&s, 10, MAX_LMC, &lmc)) {
		complain(p, "the LID is left out", "an LMC from 0 to 7 behind 'lmc'");
		return;
	}
	port->lid = (uint32_t)lid;
	port->lmc = (uint8_t)lmc;
}

/* "4xEDR". False when it is not of this form or names no known width and speed. */
static bool take_link(struct span *s, uint8_t *ret_width, uint8_t *ret_speed)
{
	struct span t = *s;
	uint64_t lanes = 0;

	if (!span_take_number(&t, 10, 12, &lanes) || !topo_width(lanes) || !t.n ||
	    (*t.p | 0x20) != 'x') {
		return false;
	}
	t.p++;
	t.n--;
	for (unsigned i = 0; i < SPEED_COUNT; i++) {
		const char *name = link_speed_name((uint8_t)i);
		size_t n = strlen(name);
		if (t.n >= n && !strncasecmp(t.p, name, n) &&
		    (t.n == n || t.p[n] == ' ' || t.p[n] == '\t')) {
			*ret_width = topo_width(lanes);
			*ret_speed = (uint8_t)i;
			*s = (struct span){ t.p + n, t.n - n };
			return true;
		}
	}
	return false;
}

/* At the end of a cable's remark: "lid N 4xEDR", N the far port's. */
static void read_link_remark(struct parser *p, struct span s, struct claim *c)
{
	uint64_t lid = 0;

	if (!take_lid(p, &s, &lid)) {
		return;
	}
	span_skip_blank(&s);
	if (!take_link(&s, &c->width, &c->speed) && s.n && *s.p >= '0' && *s.p <= '9') {
		topo_warning(&p->problems, p->line,
		             "link '%s' is not known, taken as 4xSDR",
		             span_shown(s).text);
	}
}

/* ---- attribute lines ---- */

/* Reads an optional "(hex)"; false when there is a bracket but no number in it. */
static bool take_port_guid(struct span *s, uint64_t *ret_guid)
{
	if (!span_take_char(s, '(')) {
		return true;
	}
	return span_take_number(s, 16, UINT64_MAX, ret_guid) && span_take_char(s, ')');
}

static void read_guid(struct parser *p, struct span s, enum node_type type)
{
	uint64_t guid = 0, port_guid = 0;

	p->guid_lost = !span_take_char(&s, '=') ||
	               !span_take_number(&s, 16, UINT64_MAX, &guid) || !guid ||
	               !take_port_guid(&s, &port_guid);
	if (p->guid_lost) {
		complain(
			p, skipped,
			"a GUID like 0x0002c90300001234, or with its PortGUID in brackets");
		return;
	}
	p->next_guid[type] = guid;
	p->port_guid = port_guid;
}

static uint64_t read_value(struct parser *p, struct span s, uint64_t max)
{
	uint64_t v = 0;

	if (!span_take_char(&s, '=') || !span_take_number(&s, 16, max, &v)) {
		topo_problem(&p->problems, p->line, skipped,
		             "'%s': expected a hexadecimal number up to 0x%llx",
		             span_shown(p->text).text, (unsigned long long)max);
	}
	return v;
}

static bool read_attribute(struct parser *p, struct span s)
{
	if (span_take_word(&s, "switchguid")) {
		read_guid(p, s, NODE_SWITCH);
	} else if (span_take_word(&s, "caguid") || span_take_word(&s, "hcaguids")) {
		read_guid(p, s, NODE_CA);
	} else if (span_take_word(&s, "rtguid")) {
		read_guid(p, s, NODE_ROUTER);
	} else if (span_take_word(&s, "sysimgguid")) {
		p->system_image_guid = read_value(p, s, UINT64_MAX);
	} else if (span_take_word(&s, "vendid")) {
		p->vendor_id = (uint32_t)read_value(p, s, 0xffffff);
	} else if (span_take_word(&s, "devid")) {
		p->device_id = (uint16_t)read_value(p, s, 0xffff);
	} else {
		return false;
	}
	return true;
}

/* ---- node lines ---- */

static bool take_type(struct span *s, enum node_type *ret_type)
{
	if (span_take_word(s, "Switch")) {
		*ret_type = NODE_SWITCH;
	} else if (span_take_word(s, "Ca") || span_take_word(s, "Hca")) {
		*ret_type = NODE_CA;
	} else if (span_take_word(s, "Rt") || span_take_word(s, "Router")) {
		*ret_type = NODE_ROUTER;
	} else {
		return false;
	}
	return true;
}

/* Behind the description of a switch: "enhanced port 0 lid N lmc M". */
static void read_port0(struct parser *p, struct span s, struct node *n)
{
	uint64_t zero = 0;

	bool enhanced = span_take_word(&s, "enhanced");
	if (!enhanced && !span_take_word(&s, "base")) {
		return;
	}
	n->esp0 = enhanced;
	if (span_take_word(&s, "port") && span_take_number(&s, 10, 0, &zero)) {
		read_lid(p, s, &p->g->ports[n->first_port]);
	}
}

/* "S-" and the 16 digits of a GUID, as ibnetdiscover and ibdiagnet name nodes. */
static bool guid_of_id(struct span id, uint64_t *ret_guid)
{
	enum { LETTER = 2, DIGITS = 16 };
	struct span digits = { id.p + LETTER, DIGITS };

	return id.n == LETTER + DIGITS && id.p[1] == '-' &&
	       span_take_number(&digits, 16, UINT64_MAX, ret_guid) && !digits.n &&
	       *ret_guid;
}

/*
 * The NodeGUID as the guid line says. Two exceptions: a director's lines are
 * "switchguid=SYSTEM(NODE)", which shows in the id; and after a wrong guid line the id is
 * all there is.
 */
static void set_guids(struct parser *p, struct topo_node *n)
{
	uint64_t by_id = 0;
	bool known = guid_of_id(n->id, &by_id);

	n->guid = p->next_guid[n->type];
	n->port_guid = p->port_guid;
	n->system_image_guid = p->system_image_guid;
	if (known && by_id == n->port_guid && by_id != n->guid) {
		n->system_image_guid =
			n->system_image_guid ? n->system_image_guid : n->guid;
		n->guid = by_id;
	} else if (known && p->guid_lost) {
		n->guid = by_id;
	}
}

static void add_node(struct parser *p, enum node_type type, unsigned n_ports,
                     struct span id, struct span remark)
{
	struct remark r = split_remark(remark);
	struct topo_node n = { .id = id,
		               .type = (uint8_t)type,
		               .n_ports = (uint8_t)n_ports,
		               .vendor_id = p->vendor_id,
		               .device_id = p->device_id };

	if (r.has_quoted) {
		n.description = r.quoted;
	}
	set_guids(p, &n);
	p->ret = topo_add_node(p->g, &n, p->line, &p->node);
	if (p->ret != E_OK) {
		return;
	}
	if (type == NODE_SWITCH) {
		read_port0(p, r.after, &p->g->nodes[p->node]);
	}
	p->next_guid[type] = n.guid + (type == NODE_SWITCH ? 1 : n_ports + 1);
	p->port_guid = p->system_image_guid = 0;
	p->vendor_id = 0;
	p->device_id = 0;
	p->guid_lost = false;
}

/* type is known; what follows is PORTS "ID" # "DESCRIPTION" ... */
static void read_node(struct parser *p, enum node_type type, struct span s)
{
	static const char left_out[] = "the node is left out";
	uint64_t n_ports = 0;
	struct span id = { NULL, 0 };

	p->in_block = true;
	p->node = GRAPH_NONE;
	bool counted = span_take_number(&s, 10, 254, &n_ports) && n_ports;
	if (!counted) {
		complain(p, left_out,
		         "a number of ports from 1 to 254 behind the node type");
		const char *quote = s.n ? memchr(s.p, '"', s.n) : NULL;
		s.n = quote ? s.n - (size_t)(quote - s.p) : 0;
		s.p = quote ? quote : s.p;
	}
	if (!span_take_quoted(&s, &id) || !id.n) {
		if (counted) {
			complain(p, left_out,
			         "a node id in quotes behind the number of ports");
		}
		return;
	}
	struct topo_id *known = cables_find_id(&p->cables, id);
	if (known != NULL) {
		topo_problem(&p->problems, p->line, "this one is left out",
		             "node id \"%s\" is used already in line %u",
		             span_shown(id).text, known->line);
		return;
	}
	known = cables_add_id(&p->cables, id, GRAPH_NONE, p->line);
	span_skip_blank(&s);
	if (s.n && *s.p != '#') {
		complain(p, left_out, "nothing or a remark with '#' behind the node id");
		return;
	}
	if (counted) {
		add_node(p, type, (unsigned)n_ports, id, s);
		known->node = p->node;
	}
}

/* ---- cable lines ---- */

/* "w=4", "s=2" (1 SDR, 2 DDR, 4 QDR) or "4xEDR" behind the far port. */
static bool take_item(struct span *s, struct claim *c)
{
	uint64_t v = 0;

	if (span_take_word(s, "w")) {
		if (!span_take_char(s, '=') || !span_take_number(s, 10, 12, &v)) {
			return false;
		}
		c->width = topo_width(v);
		return c->width != 0;
	}
	if (span_take_word(s, "s")) {
		if (!span_take_char(s, '=') || !span_take_number(s, 10, 4, &v) || !v ||
		    v == 3) {
			return false;
		}
		c->speed = v == 1 ? SPEED_SDR : v == 2 ? SPEED_DDR : SPEED_QDR;
		return true;
	}
	return take_link(s, &c->width, &c->speed);
}

static void read_items(struct parser *p, struct span s, struct claim *c)
{
	for (span_skip_blank(&s); s.n && *s.p != '#'; span_skip_blank(&s)) {
		if (!take_item(&s, c)) {
			complain(
				p, "the rest is skipped",
				"w=1|2|4|8|12, s=1|2|4, a link like 4xEDR or a remark with '#' behind the far port");
			return;
		}
	}
	if (!s.n) {
		return;
	}
	s.p++;
	s.n--;
	struct remark r = split_remark(s);
	if (p->g->nodes[p->node].type != NODE_SWITCH) {
		read_lid(p, r.before, &p->g->ports[c->port]);
	}
	read_link_remark(p, r.after, c);
}

/*
 * Behind a port number: "(guid)", and what names the socket on the box: "[ext 2]" from
 * ibnetdiscover -g, "(1/2/1)" from ibdiagnet. The last "(...)" with a hexadecimal number
 * is the PortGUID. False when one of them has no end.
 */
static bool take_port_labels(struct span *s, uint64_t *ret_guid)
{
	for (span_skip_blank(s); s->n && (*s->p == '(' || *s->p == '[');
	     span_skip_blank(s)) {
		const bool round = *s->p == '(';
		const char *close = memchr(s->p, round ? ')' : ']', s->n);
		if (!close) {
			return false;
		}
		struct span inside = { s->p + 1, (size_t)(close - s->p - 1) };
		uint64_t guid = 0;
		if (round && span_take_number(&inside, 16, UINT64_MAX, &guid)) {
			span_skip_blank(&inside);
			*ret_guid = inside.n ? *ret_guid : guid;
		}
		s->n -= (size_t)(close + 1 - s->p);
		s->p = close + 1;
	}
	return true;
}

/* "[2]" and what may stand behind it. */
static bool take_port(struct span *s, uint64_t *ret_num, uint64_t *ret_guid)
{
	return span_take_char(s, '[') && span_take_number(s, 10, 255, ret_num) &&
	       span_take_char(s, ']') && take_port_labels(s, ret_guid);
}

/* [near](guid) "id"[far](guid) items # remark */
static void read_cable(struct parser *p, struct span s)
{
	struct claim c = { .line = p->line, .speed = SPEED_COUNT };
	uint64_t near = 0, far = 0;

	if (!p->in_block) {
		complain(p, skipped, "a node line (Switch, Ca, Rt) before its cables");
		return;
	}
	if (p->node == GRAPH_NONE) {
		return;
	}
	if (!take_port(&s, &near, &c.near_guid) || !span_take_quoted(&s, &c.far_id) ||
	    !take_port(&s, &far, &c.far_guid)) {
		complain(p, skipped, "a cable like [1] \"ID\"[2]");
		return;
	}
	c.port = graph_port(p->g, p->node, (unsigned)near);
	if (!near || c.port == GRAPH_NONE) {
		topo_problem(&p->problems, p->line, skipped,
		             "'%s': port %u, expected one from 1 to %u",
		             span_shown(p->text).text, (unsigned)near,
		             p->g->nodes[p->node].n_ports);
		return;
	}
	if (!far) {
		complain(p, skipped, "a far port from 1, port 0 has no cable");
		return;
	}
	c.far_num = (uint8_t)far;
	read_items(p, s, &c);
	p->cables.claims[p->cables.n_claims++] = c;
}

/* ---- the file ---- */

/* "Chassis 1 (guid 0x...)", "Hostname: ..." and such of ibnetdiscover -g. */
static bool is_heading(struct span s)
{
	uint64_t number = 0;
	const char *colon = "Hostname:";

	return (span_take_word(&s, "Chassis") &&
	        span_take_number(&s, 10, UINT32_MAX, &number)) ||
	       (span_take_word(&s, "Non") && span_take_char(&s, '-') &&
	        span_take_word(&s, "Chassis")) ||
	       (s.n >= strlen(colon) && !strncasecmp(s.p, colon, strlen(colon)));
}

static bool refused(struct parser *p, struct span s)
{
	static const char *const words[] = { "include", "module", "do",      "pdebug",
		                             "width",   "speed",  "extspeed" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (span_take_word(&s, words[i])) {
			topo_problem(
				&p->problems, p->line, skipped,
				"'%s': the '%s' lines of ibsim are not supported, write the nodes and cables into this file",
				span_shown(p->text).text, words[i]);
			return true;
		}
	}
	return false;
}

static void read_line(struct parser *p, struct span s)
{
	enum node_type type;

	p->text = s;
	span_skip_blank(&s);
	if (!s.n) {
		p->in_block = false;
		return;
	}
	if (*s.p == '#' || read_attribute(p, s)) {
		return;
	}
	if (*s.p == '[') {
		read_cable(p, s);
	} else if (topo_list_is_link(s)) {
		p->ret = topo_list_read(s, p->line, p->g, &p->cables, &p->problems);
	} else if (take_type(&s, &type)) {
		read_node(p, type, s);
	} else if (!is_heading(s) && !refused(p, s)) {
		complain(
			p, skipped,
			"a node (Switch, Ca, Hca, Rt), a cable ([1] ...), a guid line or '#'");
	}
}

/* Cuts the next line off the front of s, without its end: new line, CRLF or CRCRLF. */
static struct span next_line(struct span *s)
{
	const char *nl = memchr(s->p, '\n', s->n);
	struct span line = { s->p, nl ? (size_t)(nl - s->p) : s->n };
	size_t used = line.n + (nl ? 1 : 0);

	s->p += used;
	s->n -= used;
	while (line.n && line.p[line.n - 1] == '\r') {
		line.n--;
	}
	return line;
}

/* Room for claims and ids: lines that start like a cable, nodes, lines of a list. */
static int count_lines(struct parser *p, struct span s)
{
	uint64_t claims = 0, nodes = 0;
	enum node_type type;

	while (s.n) {
		struct span line = next_line(&s);
		span_skip_blank(&line);
		if (topo_list_is_link(line)) {
			claims++;
			nodes += 2;
		} else if (line.n && *line.p == '[') {
			claims++;
		} else {
			nodes += take_type(&line, &type);
		}
	}
	if (claims >= GRAPH_NONE || nodes >= GRAPH_NONE) {
		return -ENOMEM;
	}
	return cables_init(&p->cables, (uint32_t)claims, (uint32_t)nodes, p->a);
}

/* The first node's first cabled port, its port 0 if it is a switch. */
static uint32_t first_end_port(const struct parser *p)
{
	const struct node *n = p->g->nodes;

	if (!p->g->n_nodes || n->type == NODE_SWITCH) {
		return p->g->n_nodes ? 0 : GRAPH_NONE;
	}
	const struct port *first =
		p->cables.n_claims ? &p->g->ports[p->cables.claims[0].port] : NULL;
	if (first && first->node == 0 && first->peer != GRAPH_NONE) {
		return p->cables.claims[0].port;
	}
	for (uint32_t port = 1; port <= n->n_ports; port++) {
		if (p->g->ports[port].peer != GRAPH_NONE) {
			return port;
		}
	}
	return 1;
}

/* Nodes and ports whose GUID was there before are left out by graph_freeze(). */
static int freeze(struct parser *p)
{
	struct diags *d = arena_alloc(p->a, sizeof(*d));
	if (!d) {
		return -ENOMEM;
	}
	diags_init(d, p->a);
	int ret = graph_freeze(p->g, d);
	for (unsigned i = 0; i < d->n; i++) {
		topo_problem(&p->problems, d->items[i].line, "this one is left out", "%s",
		             d->items[i].text);
	}
	if (p->g->sm_port == GRAPH_NONE && p->g->n_end_ports) {
		p->g->sm_port = p->g->end_ports[0];
	}
	return ret;
}

static void read_text(struct parser *p, struct span s)
{
	static const char bom[] = { '\xef', '\xbb', '\xbf' };

	if (s.n >= sizeof(bom) && !memcmp(s.p, bom, sizeof(bom))) {
		s.p += sizeof(bom);
		s.n -= sizeof(bom);
	}
	while (s.n && p->ret == E_OK) {
		p->line++;
		read_line(p, next_line(&s));
	}
	if (p->ret == E_OK && !p->g->n_nodes) {
		topo_problems_no_nodes(&p->problems);
		return;
	}
	if (p->ret == E_OK) {
		p->ret = cables_resolve(&p->cables, p->g, &p->problems);
	}
	if (p->ret == E_OK) {
		p->g->sm_port = first_end_port(p);
		p->ret = freeze(p);
		/* a host's port whose cable was left out is not in the fabric: no LID */
		for (uint32_t i = 0; i < p->g->n_ports; i++) {
			struct port *port = &p->g->ports[i];
			if (port->peer == GRAPH_NONE &&
			    p->g->nodes[port->node].type != NODE_SWITCH) {
				port->lid = 0;
				port->lmc = 0;
			}
		}
	}
	topo_problems_end(&p->problems);
}

int topo_parse(const char *text, size_t len, const char *name, bool strict,
               struct arena *a, struct diags *d, struct graph **ret_graph)
{
	struct diags own;
	if (!d) {
		diags_init(&own, a);
		d = &own;
	}

	unsigned errors = d->n_errors;
	struct parser p = { .a = a, .g = graph_new(a), .node = GRAPH_NONE };
	const char *file = arena_strdup(a, name);
	if (!p.g || !file) {
		return -ENOMEM;
	}
	topo_problems_init(&p.problems, d, file, strict);
	p.g->source = file;
	p.next_guid[NODE_CA] = 0x100000;
	p.next_guid[NODE_SWITCH] = 0x200000;
	p.next_guid[NODE_ROUTER] = 0x300000;
	p.ret = count_lines(&p, (struct span){ text, len });
	if (p.ret == E_OK) {
		read_text(&p, (struct span){ text, len });
	}
	if (p.ret != E_OK) {
		return p.ret;
	}
	if (d->n_errors != errors) {
		return E_SYNTAX;
	}
	*ret_graph = p.g;
	return E_OK;
}

int topo_read(const char *path, bool strict, struct arena *a, struct diags *d,
              struct graph **ret_graph)
{
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &topology_kind, d, &text, &len);

	if (ret == E_OK) {
		ret = topo_parse(text, len, path, strict, a, d, ret_graph);
	}
	free(text);
	return ret;
}

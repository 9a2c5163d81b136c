/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Links as ibdiagnet lists them (.lst), one line each:
 *
 *   { CA Ports:01 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {NAME}
 *   LID:00b5 PN:01 } { SW Ports:41 ... } PHY=4x LOG=ACT SPD=100
 *
 * Every line describes both nodes, so a node is added where it comes first. The cable
 * becomes a claim of the first port. Numbers inside the braces are hexadecimal, SPD is
 * Gb/s per lane. There are no ids: they are made of NodeGUIDs as ibnetdiscover does it.
 *
 * Source: files that ibdiagnet of ibutils 1.5 and ibdiagnet 2 write.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/text/topofile_cables.h"
#include "routing/text/topofile_int.h"

/* One end of a link. */
struct end {
	struct topo_node node;
	uint64_t lid, num;
};

static bool take_type(struct span *s, uint8_t *ret_type)
{
	if (span_take_word(s, "CA")) {
		*ret_type = NODE_CA;
	} else if (span_take_word(s, "SW")) {
		*ret_type = NODE_SWITCH;
	} else if (span_take_word(s, "RT") || span_take_word(s, "Rt")) {
		*ret_type = NODE_ROUTER;
	} else {
		return false;
	}
	return true;
}

/* "WORD:value" in hexadecimal. */
static bool take_value(struct span *s, const char *word, uint64_t max,
                       uint64_t *ret_value)
{
	return span_take_word(s, word) && span_take_char(s, ':') &&
	       span_take_number(s, 16, max, ret_value);
}

/* "{NAME} LID:"; the name may have braces of its own. */
static bool take_name(struct span *s, struct span *ret_span)
{
	static const char behind[] = "} LID:";

	if (!span_take_char(s, '{')) {
		return false;
	}
	const char *close = memmem(s->p, s->n, behind, strlen(behind));
	if (!close) {
		return false;
	}
	*ret_span = (struct span){ s->p, (size_t)(close - s->p) };
	s->n -= ret_span->n + 1;
	s->p = close + 1;
	return true;
}

static bool take_end(struct span *s, struct end *e)
{
	uint64_t n_ports = 0, vendor = 0, device = 0, revision = 0;
	struct topo_node *n = &e->node;

	if (!span_take_char(s, '{') || !take_type(s, &n->type) ||
	    !take_value(s, "Ports", 254, &n_ports) || !n_ports ||
	    !take_value(s, "SystemGUID", UINT64_MAX, &n->system_image_guid) ||
	    !take_value(s, "NodeGUID", UINT64_MAX, &n->guid) || !n->guid ||
	    !take_value(s, "PortGUID", UINT64_MAX, &n->port_guid) ||
	    !take_value(s, "VenID", UINT32_MAX, &vendor) ||
	    !take_value(s, "DevID", UINT32_MAX, &device) ||
	    !take_value(s, "Rev", UINT32_MAX, &revision) ||
	    !take_name(s, &n->description) || !take_value(s, "LID", 0xffff, &e->lid) ||
	    !take_value(s, "PN", n_ports, &e->num) || !e->num ||
	    !span_take_char(s, '}')) {
		return false;
	}
	n->n_ports = (uint8_t)n_ports;
	n->vendor_id = (uint32_t)vendor & 0xffffff;
	/* ibutils writes the 16 bits of DeviceID in the upper half of 32 */
	n->device_id = (uint16_t)(device > 0xffff ? device >> 16 : device);
	return true;
}

/* What SPD says, as the speed of a lane. */
static uint8_t take_speed(struct span *s)
{
	static const struct {
		const char *text;
		uint8_t speed;
	} speeds[] = { { "2.5", SPEED_SDR }, { "5", SPEED_DDR },
		       { "10", SPEED_QDR },  { "FDR10", SPEED_FDR10 },
		       { "14", SPEED_FDR },  { "25", SPEED_EDR },
		       { "50", SPEED_HDR },  { "100", SPEED_NDR },
		       { "200", SPEED_XDR }, { "FDR_10", SPEED_FDR10 } };

	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		size_t n = strlen(speeds[i].text);
		if (s->n >= n && !memcmp(s->p, speeds[i].text, n) &&
		    (s->n == n || s->p[n] == ' ' || s->p[n] == '\t')) {
			return speeds[i].speed;
		}
	}
	return SPEED_COUNT;
}

/* "PHY=4x LOG=ACT SPD=100"; false when it is not of this form. */
static bool take_link(struct span *s, struct claim *c, bool *ret_down)
{
	uint64_t lanes = 0;

	if (!span_take_word(s, "PHY") || !span_take_char(s, '=') ||
	    !span_take_number(s, 10, 12, &lanes) || !topo_width(lanes) ||
	    !span_take_word(s, "x") || !span_take_word(s, "LOG") ||
	    !span_take_char(s, '=')) {
		return false;
	}
	c->width = topo_width(lanes);
	*ret_down = span_take_word(s, "DWN");
	if (!*ret_down && !span_take_word(s, "INI") && !span_take_word(s, "ARM") &&
	    !span_take_word(s, "ACT")) {
		return false;
	}
	if (!span_take_word(s, "SPD") || !span_take_char(s, '=')) {
		return false;
	}
	span_skip_blank(s);
	c->speed = take_speed(s);
	return true;
}

/* Adds the node unless it is known, and what this line says of its port. */
static int add_end(struct graph *g, struct cables *c, struct end *e, unsigned line,
                   uint32_t *ret_port)
{
	char letter = e->node.type == NODE_SWITCH ? 'S'
	              : e->node.type == NODE_CA   ? 'H'
	                                          : 'R';
	const char *id = arena_printf(g->arena, "%c-%016" PRIx64, letter, e->node.guid);
	if (!id) {
		return -ENOMEM;
	}
	e->node.id = (struct span){ id, strlen(id) };

	const struct topo_id *known = cables_find_id(c, e->node.id);
	if (known == NULL) {
		uint32_t node = GRAPH_NONE;
		int ret = topo_add_node(g, &e->node, line, &node);
		if (ret != E_OK) {
			return ret;
		}
		known = cables_add_id(c, e->node.id, node, line);
	}
	*ret_port = graph_port(g, known->node, (unsigned)e->num);
	if (*ret_port != GRAPH_NONE) {
		bool is_switch = e->node.type == NODE_SWITCH;
		uint32_t at = is_switch ? graph_port(g, known->node, 0) : *ret_port;
		g->ports[at].lid = (uint32_t)e->lid;
	}
	return E_OK;
}

bool topo_list_is_link(struct span line)
{
	uint8_t type;

	return span_take_char(&line, '{') && take_type(&line, &type);
}

int topo_list_read(struct span line, unsigned number, struct graph *g, struct cables *c,
                   struct topo_problems *pr)
{
	struct claim claim = { .line = number, .speed = SPEED_COUNT };
	struct end near = { .num = 0 }, far = { .num = 0 };
	struct span s = line;
	uint32_t far_port = GRAPH_NONE;
	bool down = false;

	if (!take_end(&s, &near) || !take_end(&s, &far) ||
	    !take_link(&s, &claim, &down)) {
		topo_problem(
			pr, number, "the line is skipped",
			"'%s': expected a link like { CA Ports:01 ... PN:01 } { SW Ports:41 ... PN:0c } PHY=4x LOG=ACT SPD=100",
			span_shown(line).text);
		return E_OK;
	}
	int ret = add_end(g, c, &near, number, &claim.port);
	if (ret == E_OK) {
		ret = add_end(g, c, &far, number, &far_port);
	}
	if (ret != E_OK || down) {
		return ret;
	}
	if (claim.port == GRAPH_NONE) {
		topo_problem(
			pr, number, "the line is skipped",
			"'%s': port %u, but an earlier line says that the node has fewer",
			span_shown(line).text, (unsigned)near.num);
		return E_OK;
	}
	if (claim.speed == SPEED_COUNT) {
		topo_warning(pr, number, "speed '%s' is not known, taken as SDR",
		             span_shown(s).text);
	}
	claim.near_guid = near.node.port_guid;
	claim.far_guid = far.node.port_guid;
	claim.far_id = far.node.id;
	claim.far_num = (uint8_t)far.num;
	c->claims[c->n_claims++] = claim;
	return E_OK;
}

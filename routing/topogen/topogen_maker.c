/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/topogen/topogen_maker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"

#define SWITCH_GUID_BASE 0x0002c90300000000ull
#define HOST_GUID_BASE 0x0002c90400000000ull
#define AGGREGATION_GUID_BASE 0x0002c90500000000ull

/* The i-th word of the usage text, without the brackets of an optional argument. */
static void arg_name(const struct maker *m, int i, char name[MAKER_NAME_SIZE])
{
	const char *s = m->kind->args;
	size_t len;

	for (; i > 0 && *s; i--) {
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	s += *s == '[';
	len = strcspn(s, " ]");
	len = len < MAKER_NAME_SIZE ? len : MAKER_NAME_SIZE - 1;
	memcpy(name, s, len);
	name[len] = '\0';
}

int maker_number(struct maker *m, int i, uint32_t min, uint32_t max, uint32_t *ret_number)
{
	char name[MAKER_NAME_SIZE];
	uint64_t v = 0;

	if (i >= m->argc) {
		return E_OK;
	}
	if (text_u64(m->argv[i], max, &v) == E_OK && v >= min) {
		*ret_number = (uint32_t)v;
		return E_OK;
	}
	arg_name(m, i, name);
	diag_add(m->d, DIAG_ERROR, NULL, 0,
	         "%s: %s is '%s', expected a number from %u to %u", m->kind->name, name,
	         m->argv[i], min, max);
	return E_SYNTAX;
}

int maker_size(struct maker *m, uint64_t radix, uint64_t n_switches, uint64_t n_hosts)
{
	if (radix > MAKER_MAX_RADIX) {
		diag_add(m->d, DIAG_ERROR, NULL, 0,
		         "%s: switches would need %llu ports, at most %d are possible",
		         m->kind->name, (unsigned long long)radix, MAKER_MAX_RADIX);
		return E_RANGE;
	}
	if (n_switches > MAKER_MAX_NODES || n_hosts > MAKER_MAX_NODES) {
		diag_add(
			m->d, DIAG_ERROR, NULL, 0,
			"%s: %llu switches and %llu hosts, at most %d of each are possible",
			m->kind->name, (unsigned long long)n_switches,
			(unsigned long long)n_hosts, MAKER_MAX_NODES);
		return E_RANGE;
	}
	m->radix = (unsigned)radix;
	m->digits = 1;
	for (uint64_t n = n_hosts; n >= 10; n /= 10) {
		m->digits++;
	}
	return E_OK;
}

int maker_switch(struct maker *m, const char *fmt, ...)
{
	uint64_t guid = SWITCH_GUID_BASE + ((uint64_t)m->n_switches << 12);
	char name[MAKER_NAME_SIZE];
	uint32_t node = 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	int ret = graph_add_node(m->g, NODE_SWITCH, guid, m->radix, name, name, &node);
	m->n_switches += ret == E_OK;
	return ret;
}

static int cable(struct maker *m, uint32_t port_a, uint32_t port_b)
{
	int ret = graph_connect(m->g, port_a, port_b);
	if (ret == E_OK) {
		m->g->ports[port_a].speed = m->g->ports[port_b].speed = SPEED_EDR;
	}
	return ret;
}

/* Hosts are known by id as h00000, and by description as people number them: node001. */
int maker_host(struct maker *m, uint32_t sw, unsigned port)
{
	uint64_t guid = HOST_GUID_BASE + ((uint64_t)m->n_hosts << 12);
	char id[MAKER_NAME_SIZE], description[MAKER_NAME_SIZE];
	uint32_t node = 0;

	snprintf(id, sizeof(id), "h%05u", m->n_hosts);
	snprintf(description, sizeof(description), "node%0*u", m->digits, m->n_hosts + 1);
	int ret = graph_add_node(m->g, NODE_CA, guid, 1, description, id, &node);
	if (ret != E_OK) {
		return ret;
	}
	if (!m->n_hosts) {
		m->g->sm_port = graph_port(m->g, node, 1);
	}
	m->n_hosts++;
	return cable(m, graph_port(m->g, node, 1), graph_port(m->g, sw, port));
}

/* NodeInfo and description are those that real ones have (routing/graph/aggregation.c). */
int maker_aggregation_node(struct maker *m, uint32_t sw, unsigned port)
{
	uint64_t guid = AGGREGATION_GUID_BASE + ((uint64_t)sw << 12);
	char id[MAKER_NAME_SIZE];
	uint32_t node = 0;

	snprintf(id, sizeof(id), "a%05u", sw);
	int ret = graph_add_node(m->g, NODE_CA, guid, 1,
	                         "Mellanox Technologies Aggregation Node", id, &node);
	if (ret != E_OK) {
		return ret;
	}
	m->g->nodes[node].vendor_id = 0x2c9;
	m->g->nodes[node].device_id = 0xcf09;
	return cable(m, graph_port(m->g, node, 1), graph_port(m->g, sw, port));
}

int maker_hosts(struct maker *m, uint32_t n_switches, uint32_t hosts_each,
                unsigned first_port)
{
	int ret = E_OK;

	for (uint32_t i = 0; i < n_switches * hosts_each && ret == E_OK; i++) {
		ret = maker_host(m, i / hosts_each, first_port + i % hosts_each);
	}
	return ret;
}

int maker_link(struct maker *m, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b)
{
	return cable(m, graph_port(m->g, a, port_a), graph_port(m->g, b, port_b));
}

/* SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
 */
uint64_t topogen_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

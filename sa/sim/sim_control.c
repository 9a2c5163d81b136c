/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Longer than most: each command is a row with its text and a short function, and all share the names of nodes
 * and ports.
 */
#include "sa/sim/sim_control.h"

#include <ctype.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"
#include "sa/sim/sim_name.h"
#include "sa/sim/sim_state.h"

/* One command being executed. */
struct run {
	const struct sim_control *c;
	const char *at; /* the remaining line */
	FILE *out;
};

struct command {
	const char *name, *args, *help;
	int (*run)(struct run *r);
};

enum { WORD = 256 };

static const char *skip_space(const char *p)
{
	while (isspace((unsigned char)*p)) {
		p++;
	}
	return p;
}

/* Reads the next word, or a text in quotes. False: the line has ended. */
static bool next_word(struct run *r, char word[WORD])
{
	const char *p = skip_space(r->at);
	bool quoted = *p == '"';
	p += quoted;
	size_t n = quoted ? strcspn(p, "\"") : strcspn(p, " \t\n");

	snprintf(word, WORD, "%.*s", (int)(n < WORD ? n : WORD - 1), p);
	r->at = p + n + (quoted && p[n] == '"');
	return quoted || n > 0;
}

/* Reads the remaining line as one name without quotes, and a port in brackets after it. */
static void read_name(struct run *r, char name[WORD], char port[WORD])
{
	const char *p = skip_space(r->at);
	size_t n = strlen(p);

	while (n > 0 && isspace((unsigned char)p[n - 1])) {
		n--;
	}
	port[0] = '\0';
	const char *bracket = n > 0 && p[n - 1] == ']' ? memrchr(p, '[', n) : NULL;
	if (bracket != NULL) {
		snprintf(port, WORD, "%.*s", (int)(p + n - 2 - bracket), bracket + 1);
		n = (size_t)(bracket - p);
	}
	if (n >= 2 && p[0] == '"' && p[n - 1] == '"') {
		p++;
		n -= 2;
	}
	snprintf(name, WORD, "%.*s", (int)(n < WORD ? n : WORD - 1), p);
	r->at += strlen(r->at);
}

static int fail(struct run *r, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct run *r, int ret, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vfprintf(r->out, fmt, ap);
	va_end(ap);
	return ret;
}

static int find_node(struct run *r, const char *name, uint32_t *ret_node)
{
	char why[SIM_NAME_WHY];
	if (name[0] == '\0') {
		return fail(r, E_SYNTAX, "a node is missing; 'help' shows how");
	}
	int ret = sim_name_node(r->c->g, name, ret_node, why);
	return ret == E_OK ? ret : fail(r, ret, "%s", why);
}

/* NODE, to the end of the line. */
static int read_node(struct run *r, uint32_t *ret_node)
{
	char name[WORD], port[WORD];
	read_name(r, name, port);
	if (port[0] != '\0') {
		return fail(r, E_SYNTAX, "this command takes a node without a port");
	}
	return find_node(r, name, ret_node);
}

static void list_cabled(struct run *r, const struct node *n)
{
	const char *comma = "";
	for (unsigned num = 1; num <= n->n_ports; num++) {
		if (r->c->g->ports[n->first_port + num].peer != GRAPH_NONE) {
			fprintf(r->out, "%s%u", comma, num);
			comma = ", ";
		}
	}
}

/* NODE[PORT] with a cable. */
static int read_port(struct run *r, uint32_t *ret_node, unsigned *ret_num)
{
	char name[WORD], port[WORD];
	uint64_t num = 0;

	read_name(r, name, port);
	int ret = find_node(r, name, ret_node);
	if (ret != E_OK) {
		return ret;
	}
	const struct node *n = &r->c->g->nodes[*ret_node];
	bool good = text_u64(port, n->n_ports, &num) == E_OK && num > 0 &&
	            r->c->g->ports[n->first_port + num].peer != GRAPH_NONE;
	if (!good) {
		if (port[0] == '\0') {
			fputs("which port? Write NODE[PORT]", r->out);
		} else {
			fprintf(r->out, "port '%.20s' has no cable", port);
		}
		fputs("; cables of this node are at ", r->out);
		list_cabled(r, n);
		return port[0] == '\0' ? E_SYNTAX : E_NOTFOUND;
	}
	*ret_num = (unsigned)num;
	return E_OK;
}

/* Reads one of the words; its index is in ret_choice. */
static int read_choice(struct run *r, const char *const *words, unsigned *ret_choice)
{
	char word[WORD] = "";
	next_word(r, word);
	for (unsigned i = 0; words[i] != NULL; i++) {
		if (strcmp(word, words[i]) == 0) {
			*ret_choice = i;
			return E_OK;
		}
	}
	fprintf(r->out, "'%.40s' is none of:", word);
	for (unsigned i = 0; words[i] != NULL; i++) {
		fprintf(r->out, " %s", words[i]);
	}
	return E_SYNTAX;
}

static int run_link(struct run *r)
{
	static const char *const words[] = { "down", "up", "worn", NULL };
	unsigned what, num = 0;
	uint32_t node;
	int ret = read_choice(r, words, &what);
	if (ret == E_OK) {
		ret = read_port(r, &node, &num);
	}
	if (ret != E_OK) {
		return ret;
	}
	uint64_t guid = r->c->g->nodes[node].guid;
	return what == 2 ? sim_wear_link(r->c->sim, guid, (uint8_t)num)
	                 : sim_set_link(r->c->sim, guid, (uint8_t)num, what == 1);
}

static int run_node(struct run *r)
{
	static const char *const words[] = { "down",    "up",       "deaf",
		                             "awake",   "directed", "routed",
		                             "hostile", "honest",   NULL };
	unsigned what;
	uint32_t node;
	int ret = read_choice(r, words, &what);
	if (ret == E_OK) {
		ret = read_node(r, &node);
	}
	if (ret != E_OK) {
		return ret;
	}
	uint64_t guid = r->c->g->nodes[node].guid;
	return what < 2   ? sim_set_node(r->c->sim, guid, what == 1)
	       : what < 4 ? sim_set_deaf(r->c->sim, guid, what == 2)
	       : what < 6 ? sim_set_directed(r->c->sim, guid, what == 4)
	                  : sim_set_hostile(r->c->sim, guid, what == 6);
}

static int run_reboot(struct run *r)
{
	uint32_t node;
	int ret = read_node(r, &node);
	return ret == E_OK ? sim_reboot(r->c->sim, r->c->g->nodes[node].guid) : ret;
}

static int run_describe(struct run *r)
{
	char name[WORD] = "", text[WORD], port[WORD];
	uint32_t node;
	next_word(r, name);
	int ret = find_node(r, name, &node);
	if (ret != E_OK) {
		return ret;
	}
	read_name(r, text, port);
	if (text[0] == '\0') {
		return fail(r, E_SYNTAX, "the new description is missing");
	}
	return sim_set_description(r->c->sim, r->c->g->nodes[node].guid, text);
}

/* The port of a host that has virtual ports: that in brackets, else the first with a cable. */
static int read_adapter(struct run *r, uint64_t *ret_guid, uint8_t *ret_port)
{
	char name[WORD] = "";
	uint32_t node;
	uint64_t num = 0;
	char *bracket;

	next_word(r, name);
	bracket = strrchr(name, '[');
	if (bracket != NULL && name[strlen(name) - 1] == ']') {
		name[strlen(name) - 1] = '\0';
		(void)text_u64(bracket + 1, UINT8_MAX, &num);
		*bracket = '\0';
	}
	int ret = find_node(r, name, &node);
	if (ret != E_OK) {
		return ret;
	}
	const struct node *n = &r->c->g->nodes[node];
	for (unsigned i = 1; num == 0 && bracket == NULL && i <= n->n_ports; i++) {
		num = r->c->g->ports[n->first_port + i].peer != GRAPH_NONE ? i : 0;
	}
	if (n->type != NODE_CA || num == 0 || num > n->n_ports) {
		return fail(r, E_UNSUITABLE,
		            "only ports of channel adapters have virtual ports");
	}
	*ret_guid = n->guid;
	*ret_port = (uint8_t)num;
	return E_OK;
}

static int read_vport_index(struct run *r, uint16_t *ret_value)
{
	char word[WORD] = "";
	uint64_t index;

	next_word(r, word);
	if (text_u64(word, UINT16_MAX, &index) != E_OK) {
		return fail(r, E_SYNTAX, "which virtual port? '%.40s' is no index", word);
	}
	*ret_value = (uint16_t)index;
	return E_OK;
}

static int read_vport_guid(struct run *r, uint64_t *ret_guid)
{
	char word[WORD] = "";

	next_word(r, word);
	return text_guid(word, ret_guid) == E_OK
	               ? E_OK
	               : fail(r, E_SYNTAX, "'%.40s' is no GUID", word);
}

static int add_vport(struct run *r, uint64_t node, uint8_t port)
{
	static const char *const words[] = { "own", "shared", NULL };
	unsigned shared = 0;
	uint64_t guid = 0;
	uint16_t index = 0;
	int ret = E_OK;

	if (*skip_space(r->at) != '\0') {
		ret = read_choice(r, words, &shared);
	}
	if (ret == E_OK && *skip_space(r->at) != '\0') {
		ret = read_vport_guid(r, &guid);
	}
	if (ret == E_OK) {
		ret = sim_vport_add(r->c->sim, node, port, guid, !shared, &index);
	}
	if (ret == E_OK) {
		fprintf(r->out, "vport %u\n", index);
	}
	return ret;
}

static int run_vport(struct run *r)
{
	static const char *const words[] = { "add", "remove", "guid", "lie", NULL };
	static const char *const lies[] = { "no", "many", "changes", "nonsense", NULL };
	unsigned what = 0, lie = 0;
	uint64_t node = 0, guid = 0;
	uint16_t index = 0;
	uint8_t port = 0;
	int ret = read_adapter(r, &node, &port);

	ret = ret == E_OK ? read_choice(r, words, &what) : ret;
	if (ret != E_OK || what == 0) {
		return ret == E_OK ? add_vport(r, node, port) : ret;
	}
	if (what == 3) {
		ret = read_choice(r, lies, &lie);
		return ret == E_OK ? sim_vport_lie(r->c->sim, node, port,
		                                   (enum sim_vport_lie)lie)
		                   : ret;
	}
	ret = read_vport_index(r, &index);
	if (ret == E_OK && what == 1) {
		return sim_vport_remove(r->c->sim, node, port, index);
	}
	ret = ret == E_OK ? read_vport_guid(r, &guid) : ret;
	return ret == E_OK ? sim_vport_set_guid(r->c->sim, node, port, index, guid) : ret;
}

/* Reads a number up to \a most, with what it is for the error. */
static int read_number(struct run *r, const char *what, uint64_t most,
                       uint64_t *ret_number)
{
	char word[WORD] = "";

	next_word(r, word);
	if (text_u64(word, most, ret_number) != E_OK) {
		return fail(r, E_RANGE, "%s '%.40s' is not a number from 0 to %" PRIu64, what, word,
		            most);
	}
	return E_OK;
}

static int refuse_counter(struct run *r, const char *name)
{
	char names[1000] = "";
	size_t len = 0;

	for (unsigned i = 0; sim_perf_name(i) != NULL; i++) {
		len += (size_t)snprintf(names + len, sizeof(names) - len, " %s",
		                        sim_perf_name(i));
	}
	return fail(r, E_UNKNOWN, "there is no counter '%.40s'; there are%s", name, names);
}

/* NAME N NODE[PORT] */
struct counter_words {
	char name[WORD];
	uint64_t n, guid;
	uint8_t port;
};

static int read_counter(struct run *r, const char *what, struct counter_words *ret_words)
{
	unsigned num = 0;
	uint32_t node;

	next_word(r, ret_words->name);
	int ret = read_number(r, what, UINT32_MAX, &ret_words->n);
	ret = ret == E_OK ? read_port(r, &node, &num) : ret;
	if (ret == E_OK) {
		ret_words->guid = r->c->g->nodes[node].guid;
		ret_words->port = (uint8_t)num;
	}
	return ret;
}

static int run_counter(struct run *r)
{
	struct counter_words w = { .name = "" };
	int ret = read_counter(r, "the number of errors", &w);

	if (ret != E_OK) {
		return ret;
	}
	/* a few names are InfiniBand's and Omni-Path's */
	ret = sim_perf_add(r->c->sim, w.guid, w.port, w.name, w.n);
	int opa = sim_opa_count(r->c->sim, w.guid, w.port, w.name, w.n);
	ret = ret == E_UNKNOWN ? opa : ret;
	return ret == E_UNKNOWN ? refuse_counter(r, w.name) : ret;
}

static int run_errors(struct run *r)
{
	struct counter_words w = { .name = "" };
	int ret = read_counter(r, "the errors per hour", &w);

	if (ret == E_OK) {
		ret = sim_perf_errors(r->c->sim, w.guid, w.port, w.name, (double)w.n / 3600);
	}
	return ret == E_UNKNOWN ? refuse_counter(r, w.name) : ret;
}

static int run_congestion(struct run *r)
{
	static const char *const words[] = { "off", "on", "sets", NULL };
	unsigned what;
	uint32_t node;
	int ret = read_choice(r, words, &what);

	if (ret == E_OK && what == 2) {
		pthread_mutex_lock(&r->c->sim->lock);
		sim_congestion_print(r->c->sim, r->out);
		pthread_mutex_unlock(&r->c->sim->lock);
		return E_OK;
	}
	ret = ret == E_OK ? read_node(r, &node) : ret;
	return ret == E_OK ? sim_congestion_set(r->c->sim, r->c->g->nodes[node].guid, what == 1)
	                   : ret;
}

static int run_traffic(struct run *r)
{
	unsigned num = 0;
	uint32_t node;
	uint64_t mb = 0;
	int ret = read_number(r, "the megabytes per second", 1000000, &mb);

	ret = ret == E_OK ? read_port(r, &node, &num) : ret;
	return ret == E_OK ? sim_perf_traffic(r->c->sim, r->c->g->nodes[node].guid, (uint8_t)num,
	                                      mb * 1000000)
	                   : ret;
}

/* Commands for Omni-Path's ports. */
static int run_lanes(struct run *r)
{
	unsigned num = 0;
	uint32_t node;
	uint64_t lanes = 0;
	int ret = read_number(r, "the number of lanes", 4, &lanes);

	ret = ret == E_OK ? read_port(r, &node, &num) : ret;
	if (ret != E_OK) {
		return ret;
	}
	ret = sim_set_lanes(r->c->sim, r->c->g->nodes[node].guid, (uint8_t)num,
	                    (unsigned)lanes);
	return ret == E_UNSUITABLE
	               ? fail(r, ret,
	                      "the link is not up, it has so many lanes already, or the port may not run on so few (--omnipath)")
	               : ret;
}

static int run_lie(struct run *r)
{
	char name[WORD] = "";
	unsigned num = 0;
	uint32_t node;
	uint64_t value = 0;

	next_word(r, name);
	int ret = read_number(r, "the value", UINT64_MAX, &value);
	ret = ret == E_OK ? read_port(r, &node, &num) : ret;
	if (ret != E_OK) {
		return ret;
	}
	ret = sim_opa_lie(r->c->sim, r->c->g->nodes[node].guid, (uint8_t)num, name,
	                  value);
	return ret == E_UNKNOWN
	               ? fail(r, ret,
	                      "Omni-Path's nodes (--omnipath) say NodeGUID, NumPorts, PartitionCap, LinearFDBCap, MTUCap, VLCap, PacketFormats, NeighborFWAuthBypass or CableTemperature, not '%.40s'",
	                      name)
	               : ret;
}

static int run_busy(struct run *r)
{
	enum { ALL = 100 };
	unsigned num = 0;
	uint32_t node;
	uint64_t percent = 0;
	int ret = read_number(r, "the percentage", ALL, &percent);

	ret = ret == E_OK ? read_port(r, &node, &num) : ret;
	if (ret != E_OK) {
		return ret;
	}
	ret = sim_opa_congest(r->c->sim, r->c->g->nodes[node].guid, (uint8_t)num,
	                      (unsigned)percent);
	return ret == E_NOTFOUND
	               ? fail(r, ret,
	                      "only ports of Omni-Path switches do that (--omnipath)")
	               : ret;
}

/* The state of adaptive routing in each switch. */
static int run_moves(struct run *r)
{
	const struct sim *s = r->c->sim;
	uint64_t all = 0;

	if (s->opa == NULL) {
		return fail(r, E_NOTFOUND, "only Omni-Path switches do that (--omnipath)");
	}
	pthread_mutex_lock(&r->c->sim->lock);
	for (uint32_t i = 0; i < r->c->g->n_nodes; i++) {
		const struct node *n = &r->c->g->nodes[i];
		const struct opa_device *d = s->opa[i].device;

		if (n->type != NODE_SWITCH) {
			continue;
		}
		all += d->moves;
		fprintf(r->out, "\"%s\" %s, %u groups, %" PRIu64 " moves\n",
		        n->id != NULL ? n->id : n->description,
		        !field_get(d->switch_info, OSI_AR_ENABLE)  ? "off"
		        : field_get(d->switch_info, OSI_AR_PAUSE) ? "paused"
		                                                  : "adaptive",
		        (unsigned)field_get(d->switch_info, OSI_PORT_GROUP_TOP), d->moves);
	}
	pthread_mutex_unlock(&r->c->sim->lock);
	fprintf(r->out, "all %" PRIu64 "\n", all);
	return E_OK;
}

static int run_packets(struct run *r)
{
	uint64_t lost, sent = sim_send_packets(r->c->sim, &lost);

	fprintf(r->out, "%" PRIu64 " sent, %" PRIu64 " lost\n", sent, lost);
	return E_OK;
}

static int run_drop(struct run *r)
{
	enum { MILLION = 1000000 };
	char word[WORD] = "";
	uint64_t ppm;
	next_word(r, word);
	if (text_u64(word, MILLION, &ppm) != E_OK) {
		return fail(
			r, E_RANGE,
			"how many MADs of a million are lost? '%.40s' is not a number from 0 to 1000000",
			word);
	}
	sim_set_drop(r->c->sim, (uint32_t)ppm);
	return E_OK;
}

static void show_node(struct run *r, uint32_t node)
{
	const struct node *n = &r->c->g->nodes[node];
	const struct sim_node *me = &r->c->sim->nodes[node];
	fprintf(r->out, "%-6s 0x%016" PRIx64 " %s \"%s\"%s%s\n", node_type_name(n->type),
	        n->guid, n->id != NULL ? n->id : "-", n->description,
	        me->down ? " down" : "", me->deaf ? " deaf" : "");
}

static int run_list(struct run *r)
{
	static const char *const words[] = { "all", "switches", "hosts", NULL };
	unsigned what = 0;
	if (*skip_space(r->at) != '\0') {
		int ret = read_choice(r, words, &what);
		if (ret != E_OK) {
			return ret;
		}
	}
	for (uint32_t i = 0; i < r->c->g->n_nodes; i++) {
		bool sw = r->c->g->nodes[i].type == NODE_SWITCH;
		if (what == 0 || sw == (what == 1)) {
			show_node(r, i);
		}
	}
	return E_OK;
}

static void show_port(struct run *r, uint32_t port)
{
	static const char *const states[] = { "-", "down", "init", "armed", "active" };
	const struct graph *g = r->c->g;
	const struct port *p = &g->ports[port];
	const struct sim_port *me = &r->c->sim->ports[port];
	unsigned state = (unsigned)field_get(me->info, PI_PORT_STATE);
	const char *cut = me->cut ? ", cut" : "";

	fprintf(r->out, "  [%u] %s%s", p->num, states[state <= PORT_ACTIVE ? state : 0],
	        cut);
	if (graph_is_end_port(g, port)) {
		fprintf(r->out, ", lid %u lmc %u, sm lid %u, 0x%016" PRIx64,
		        sim_lid(r->c->sim, port), sim_lmc(r->c->sim, port),
		        sim_sm_lid(r->c->sim, port), sim_port_guid(r->c->sim, port));
	}
	if (p->peer != GRAPH_NONE) {
		const struct node *far = &g->nodes[g->ports[p->peer].node];
		fprintf(r->out, ", %s %s to \"%s\"[%u]",
		        link_width_name(
				(uint8_t)field_get(me->info, PI_LINK_WIDTH_ACTIVE)),
		        link_speed_name(port_info_speed(me->info)),
		        far->id != NULL ? far->id : far->description,
		        g->ports[p->peer].num);
	}
	fputc('\n', r->out);
	sim_vport_print(r->c->sim, port, r->out);
}

static int run_show(struct run *r)
{
	uint32_t node;
	int ret = read_node(r, &node);
	if (ret != E_OK) {
		return ret;
	}
	const struct node *n = &r->c->g->nodes[node];
	pthread_mutex_lock(&r->c->sim->lock);
	show_node(r, node);
	for (unsigned num = n->type == NODE_SWITCH ? 0 : 1; num <= n->n_ports; num++) {
		show_port(r, n->first_port + num);
	}
	pthread_mutex_unlock(&r->c->sim->lock);
	return E_OK;
}

static int run_tables(struct run *r)
{
	uint32_t first = 0, end = r->c->g->n_nodes;

	if (r->c->sim->opa == NULL) {
		return fail(r, E_UNKNOWN,
		            "only Omni-Path devices show them (--omnipath)");
	}
	if (*skip_space(r->at) != '\0') {
		int ret = read_node(r, &first);
		if (ret != E_OK) {
			return ret;
		}
		end = first + 1;
	}
	pthread_mutex_lock(&r->c->sim->lock);
	for (uint32_t node = first; node < end; node++) {
		opa_print(r->c->sim->opa[node].device, r->out);
	}
	pthread_mutex_unlock(&r->c->sim->lock);
	return E_OK;
}

static const char *attr_name(unsigned attr)
{
	switch (attr) {
	case UMAD_SM_ATTR_NODE_DESC: return "NodeDescription";
	case UMAD_SM_ATTR_NODE_INFO: return "NodeInfo";
	case UMAD_SM_ATTR_SWITCH_INFO: return "SwitchInfo";
	case UMAD_SM_ATTR_GUID_INFO: return "GUIDInfo";
	case UMAD_SM_ATTR_PORT_INFO: return "PortInfo";
	case UMAD_SM_ATTR_PKEY_TABLE: return "P_KeyTable";
	case UMAD_SM_ATTR_SLVL_TABLE: return "SLtoVLMappingTable";
	case UMAD_SM_ATTR_VL_ARB_TABLE: return "VLArbitrationTable";
	case UMAD_SM_ATTR_LINEAR_FT: return "LinearForwardingTable";
	case UMAD_SM_ATTR_RANDOM_FT: return "RandomForwardingTable";
	case UMAD_SM_ATTR_MCAST_FT: return "MulticastForwardingTable";
	case UMAD_SM_ATTR_SM_INFO: return "SMInfo";
	case VPORT_ATTR_VIRTUALIZATION_INFO: return "VirtualizationInfo";
	case VPORT_ATTR_INFO: return "VPortInfo";
	case VPORT_ATTR_NODE_INFO: return "VNodeInfo";
	case VPORT_ATTR_STATES: return "VPortState";
	case VPORT_ATTR_NODE_DESC: return "VNodeDescription";
	case VPORT_ATTR_GUID_INFO: return "VPortGUIDInfo";
	case VPORT_ATTR_P_KEYS: return "VPort P_KeyTable";
	}
	return "other";
}

/* Lists requests by method and attribute; unknown attributes share one line. */
static int run_smps(struct run *r)
{
	static const struct {
		uint8_t method;
		const char *name;
	} methods[] = { { UMAD_METHOD_GET, "Get" }, { UMAD_METHOD_SET, "Set" } };
	uint64_t all = 0;

	pthread_mutex_lock(&r->c->sim->lock);
	for (unsigned m = 0; m < sizeof(methods) / sizeof(*methods); m++) {
		for (unsigned i = 0; i <= SIM_ATTRS + SIM_VPORT_ATTRS; i++) {
			uint16_t attr =
				(uint16_t)(i <= SIM_ATTRS
			                           ? i
			                           : VPORT_ATTR_VIRTUALIZATION_INFO + i -
			                                     SIM_ATTRS - 1);
			uint64_t n = sim_count(r->c->sim, methods[m].method, attr);

			all += n;
			if (n) {
				fprintf(r->out, "%s %-24s %10" PRIu64 "\n", methods[m].name,
				        attr_name(attr), n);
			}
		}
	}
	all -= (uint64_t)r->c->sim->n_more;
	pthread_mutex_unlock(&r->c->sim->lock);
	fprintf(r->out, "all %-24s %10" PRIu64 "\n", "", all);
	return E_OK;
}

static int run_clients(struct run *r)
{
	if (r->c->clients != NULL) {
		r->c->clients(r->c->ctx, r->out);
	}
	return E_OK;
}

static int run_stop(struct run *r)
{
	if (r->c->stop == NULL) {
		return fail(r, E_UNKNOWN, "this simulation cannot be stopped from here");
	}
	r->c->stop(r->c->ctx);
	return E_OK;
}

static int run_help(struct run *r);

/* clang-format off */
static const struct command commands[] = {
	{ "link",     "down|up|worn NODE[PORT]",   "unplugs a cable, plugs it in, wears it: it has one lane",  run_link },
	{ "node",     "down|up|deaf|awake|directed|routed|hostile|honest NODE", "switches it off, on; deaf: its links stay up, it does not respond; directed: SMPs by LID get lost in it; hostile: half of its answers are nonsense", run_node },
	{ "reboot",   "NODE",                      "restarts it: it loses LIDs and tables, its links train again",     run_reboot },
	{ "describe", "\"NODE\" TEXT",             "changes its NodeDescription",                          run_describe },
	{ "drop",     "PPM",                       "how many MADs of a million are lost",                  run_drop },
	{ "vport",    "HOST add [own|shared [GUID]]|remove INDEX|guid INDEX GUID|lie KIND",
	                                           "virtual ports, with a LID of their own or with that of the port", run_vport },
	{ "counter",  "NAME N NODE[PORT]",         "raises a port counter, named as perfquery prints it", run_counter },
	{ "errors",   "NAME N NODE[PORT]",         "lets a port counter rise by N an hour from now on; 0 ends it", run_errors },
	{ "traffic",  "MB NODE[PORT]",             "the port sends so many megabytes per second from now on", run_traffic },
	{ "congestion", "off|on NODE | sets",     "off: the node has no agent for congestion control; sets: MADs of this class that set something, in the order in which they came", run_congestion },
	{ "lanes",    "N NODE[PORT]",              "Omni-Path: the link runs on so many lanes without going down", run_lanes },
	{ "busy",     "PERCENT NODE[PORT]",        "Omni-Path: so much of the port's buffers is in use, which adaptive routing looks at", run_busy },
	{ "lie",      "NAME VALUE NODE[PORT]",     "Omni-Path: NodeInfo, SwitchInfo or PortInfo shows something else: NodeGUID, NumPorts, PartitionCap, LinearFDBCap, MTUCap, VLCap, PacketFormats, NeighborFWAuthBypass; CableTemperature", run_lie },
	{ "moves",    "",                          "Omni-Path: what adaptive routing does in each switch, and the routes that it moved so far", run_moves },
	{ "packets",  "",                          "each host sends a packet to each other one; how many were lost", run_packets },
	{ "list",     "[all|switches|hosts]",      "type, GUID, id and description of each node",          run_list },
	{ "show",     "NODE",                      "its ports: state, LID, far end",                       run_show },
	{ "tables",   "[NODE]",                    "Omni-Path: forwarding, P_Keys, maps, arbitration and buffers of each device", run_tables },
	{ "smps",     "",                          "subnet management requests sent so far, by attribute",  run_smps },
	{ "clients",  "",                          "programs that are attached, by host and port",         run_clients },
	{ "stop",     "",                          "ends the simulation",                                  run_stop },
	{ "help",     "",                          "this list",                                            run_help },
};
/* clang-format on */

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int run_help(struct run *r)
{
	for (unsigned i = 0; i < N_COMMANDS; i++) {
		fprintf(r->out, "%-8s %-24s %s\n", commands[i].name, commands[i].args,
		        commands[i].help);
	}
	return E_OK;
}

static int unknown(struct run *r, const char *word)
{
	const char *near = NULL;
	unsigned best = 3;
	for (unsigned i = 0; i < N_COMMANDS; i++) {
		unsigned d = text_distance(word, commands[i].name, 3);
		if (d < best) {
			best = d;
			near = commands[i].name;
		}
	}
	return fail(r, E_UNKNOWN, "unknown command '%.40s'%s%s%s; 'help' lists them",
	            word, near != NULL ? "; did you mean '" : "",
	            near != NULL ? near : "", near != NULL ? "'" : "");
}

int sim_control(const struct sim_control *c, const char *line, FILE *out)
{
	struct run r = { .c = c, .at = line, .out = out };
	char word[WORD];

	if (!next_word(&r, word)) {
		return run_help(&r);
	}
	for (unsigned i = 0; i < N_COMMANDS; i++) {
		if (strcmp(word, commands[i].name) != 0) {
			continue;
		}
		int ret = commands[i].run(&r);
		if (ret == E_OK && *skip_space(r.at) != '\0') {
			return fail(&r, E_SYNTAX, "'%.40s' is too much for this command",
			            skip_space(r.at));
		}
		return ret;
	}
	return unknown(&r, word);
}

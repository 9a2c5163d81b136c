/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What there is to say about a request by the specification alone (IBA vol. 1,
 * 15.2.5.16, 15.2.5.20), from the list of all paths that the other subnet manager gave:
 *
 *   no-gid no-lid        a GID, a LID that no port has
 *   prefix               the GUID of a port behind the prefix of another subnet
 *   ends-differ          GID and LID of one end are of different ports
 *   odd-lid              a LID that is not the base LID
 *   numb-0 count         NumbPath 0; a count of GIDs that can't be, or is not given
 *   mtu-code rate-code   a code that the specification, or OpenSM's issue of it, does not
 * have, with its selector half-selector        a selector of a group without its value
 *   half-service half-limit  one component of two that go together
 *   echo                 what does not change a path is as it was asked for
 *   zeros                there is nothing in the multicast tables of the answer
 *   disjoint             no two paths of the answer share the cable of a host
 *   model, not-model     the answer is that of the model below, or it is not
 *   usable               it is not, but each path of it is one that there is, with MTU
 * and rate that it has room for, and values that fit: what a policy can make of it (which
 * says a life time of its own, too)
 *
 * The model: each pair of ports has one MTU, rate and life time, those of its path in the
 * list. A path can be used with a smaller MTU, at a slower rate, and be said to live
 * longer, up to what a selector asks for, so it fits when such values fit; then these are
 * the answer's. Between all LIDs of both ends, or those asked for, each LID with each.
 * The P_Key is that of the list, none for raw packets, and the SL that of the list or the
 * one that is asked for; a policy chooses the SL, of which there is no model.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/graph/graph.h"
#include "tests/differential/differential.h"

enum {
	MTU_MAX = 5,
	RATE_MAX = 63,
	RATE_OLD = 22, /* 600 Gb/s: the last one that OpenSM 3.3.23 knows */
	LIFE_MAX = 63,
	PORTS_MAX = 512,
	GIDS_MAX = 11,
	GIDS_AT = 24,
	SLS = 15,            /* that have a VL for data */
	P_KEY_BASE = 0x7fff, /* of the default partition */
	GID_BYTES = 16
};
#define SUBNET_PREFIX UINT64_C(0xfe80000000000000)

struct end_port {
	uint64_t guid;
	unsigned base, last; /* LIDs */
};

/* Ports and a path between each two, out of the list; made once. */
static struct {
	const struct diff_values *from;
	struct end_port port[PORTS_MAX];
	unsigned n_ports;
	const uint8_t *path[PORTS_MAX][PORTS_MAX];
} known;

enum selector { GREATER, LESS, EXACTLY, LARGEST };

struct limit {
	bool given;
	uint64_t selector, value;
};

/* The ends and limits of a request. */
struct asked_paths {
	const struct diff_asked *q;
	uint8_t data[DIFF_DATA_BYTES];
	bool multi;
	const struct end_port *src[PORTS_MAX], *dst[PORTS_MAX];
	unsigned n_src, n_dst;
	unsigned slid, dlid; /* 0: any */
	struct limit mtu, rate, life;
	bool broken; /* something is asked that has no answer */
};

static int component(const struct sa_attr *attr, const char *name)
{
	for (unsigned c = 0; c < attr->n_fields; c++) {
		if (strcmp(attr->fields[c].name, name) == 0) {
			return (int)c;
		}
	}
	return -1;
}

uint64_t diff_get(const struct sa_attr *attr, const char *name, const uint8_t *record)
{
	const struct sa_field *f = &attr->fields[component(attr, name)];
	unsigned skip = f->width > 64 ? f->width - 64 : 0;

	return field_get(record, f->bit + skip, f->width - skip);
}

void diff_put(const struct sa_attr *attr, const char *name, uint8_t *record, uint64_t to)
{
	const struct sa_field *f = &attr->fields[component(attr, name)];

	field_set(record, f->bit, f->width, to);
}

/* Is it asked for? \param ret_value  Its value, of at most 64 bits; for a GID the GUID.
 * */
static bool asked(const struct asked_paths *p, const char *name, uint64_t *ret_value)
{
	int c = component(p->q->attr, name);

	if (c < 0 || (p->q->mask >> c & 1) == 0) {
		return false;
	}
	const struct sa_field *f = &p->q->attr->fields[c];
	unsigned skip = f->width > 64 ? f->width - 64 : 0;
	*ret_value = field_get(p->data, f->bit + skip, f->width - skip);
	return true;
}

/* Of a PathRecord. */
static uint64_t value(const uint8_t *record, const char *name)
{
	return diff_get(&rec_path, name, record);
}

static void fact(FILE *out, bool is, const char *name)
{
	if (is) {
		fprintf(out, ",%s", name);
	}
}

static struct end_port *port_of(uint64_t guid)
{
	for (unsigned i = 0; i < known.n_ports; i++) {
		if (known.port[i].guid == guid) {
			return &known.port[i];
		}
	}
	return NULL;
}

static const struct end_port *owner_of(uint64_t lid)
{
	for (unsigned i = 0; i < known.n_ports; i++) {
		if (lid >= known.port[i].base && lid <= known.port[i].last) {
			return &known.port[i];
		}
	}
	return NULL;
}

static void add_port(uint64_t guid, unsigned lid)
{
	struct end_port *port = port_of(guid);

	if (port == NULL) {
		if (known.n_ports == PORTS_MAX) {
			diff_die("too many ports", NULL);
		}
		port = &known.port[known.n_ports++];
		*port = (struct end_port){ .guid = guid, .base = lid, .last = lid };
	}
	port->base = lid < port->base ? lid : port->base;
	port->last = lid > port->last ? lid : port->last;
}

static void learn(const struct diff_values *v)
{
	const struct diff_value_list *l = &v->lists[diff_attr_by_name(rec_path.name)];

	if (known.from == v) {
		return;
	}
	memset(&known, 0, sizeof(known));
	known.from = v;
	for (size_t i = 0; i < l->n; i++) {
		const uint8_t *record = l->data + i * rec_path.size;
		add_port(value(record, "SGID"), (unsigned)value(record, "SLID"));
		add_port(value(record, "DGID"), (unsigned)value(record, "DLID"));
	}
	for (size_t i = 0; i < l->n; i++) {
		const uint8_t *record = l->data + i * rec_path.size;
		known.path[port_of(value(record, "SGID")) - known.port]
			  [port_of(value(record, "DGID")) - known.port] = record;
	}
}

void diff_own_base_lids(const struct diff_values *v, const struct sa_attr *attr,
                        uint8_t *record)
{
	static const char *const names[] = { "LID", "FromLID", "ToLID" };

	learn(v);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct end_port *port =
			component(attr, names[i]) < 0
				? NULL
				: owner_of(diff_get(attr, names[i], record));
		if (port != NULL) {
			diff_put(attr, names[i], record, port->base);
		}
	}
}

/* One end of a PathRecord. */
static void read_end(struct asked_paths *p, FILE *out, const char *gid, const char *lid,
                     const struct end_port **ret_port, unsigned *ret_n, unsigned *ret_lid)
{
	const struct end_port *by_gid = NULL, *by_lid = NULL;
	int c = component(p->q->attr, gid);
	uint64_t guid, number;
	bool has_gid = asked(p, gid, &guid), has_lid = asked(p, lid, &number);

	if (has_gid) {
		bool here = field_get(p->data, p->q->attr->fields[c].bit, 64) ==
		            SUBNET_PREFIX;
		by_gid = port_of(guid);
		fact(out, by_gid == NULL, "no-gid");
		fact(out, by_gid != NULL && !here, "prefix");
		p->broken |= by_gid == NULL || !here;
	}
	if (has_lid) {
		by_lid = owner_of(number);
		fact(out, by_lid == NULL, "no-lid");
		fact(out, by_lid != NULL && by_lid->base != number, "odd-lid");
		p->broken |= by_lid == NULL;
		*ret_lid = (unsigned)number;
	}
	if (by_gid != NULL && by_lid != NULL && by_gid != by_lid) {
		fact(out, true, "ends-differ");
		p->broken = true;
	}
	for (unsigned i = 0; i < known.n_ports; i++) {
		const struct end_port *port = &known.port[i];
		if ((!has_gid || port == by_gid) && (!has_lid || port == by_lid)) {
			ret_port[(*ret_n)++] = port;
		}
	}
}

/* The GIDs of a MultiPathRecord. */
static void read_gids(struct asked_paths *p, FILE *out)
{
	uint64_t n[2] = { 0, 0 };
	bool sources = asked(p, "SGIDCount", &n[0]);
	bool destinations = asked(p, "DGIDCount", &n[1]);

	if (!sources || !destinations || n[0] == 0 || n[1] == 0 ||
	    n[0] + n[1] > GIDS_MAX) {
		fact(out, true, "count");
		p->broken = true;
		return;
	}
	for (unsigned i = 0; i < n[0] + n[1]; i++) {
		unsigned bit = 8 * (GIDS_AT + i * GID_BYTES);
		const struct end_port *port = port_of(field_get(p->data, bit + 64, 64));
		bool here = field_get(p->data, bit, 64) == SUBNET_PREFIX;

		fact(out, port == NULL, "no-gid");
		fact(out, port != NULL && !here, "prefix");
		p->broken |= port == NULL || !here;
		if (i < n[0]) {
			p->src[p->n_src++] = port;
		} else {
			p->dst[p->n_dst++] = port;
		}
	}
}

/* --- limits
 * ------------------------------------------------------------------------------ */

static struct limit limit_of(const struct asked_paths *p, const char *selector,
                             const char *name)
{
	struct limit l = { .given = false };
	bool has_selector = asked(p, selector, &l.selector);
	bool has_value = asked(p, name, &l.value);

	l.given = has_selector && has_value;
	return l;
}

static bool is_half(const struct asked_paths *p, const char *a, const char *b)
{
	uint64_t unused;

	return asked(p, a, &unused) != asked(p, b, &unused);
}

/* Largest MTU code that fits, 0: none. */
static unsigned fit_mtu(const struct limit *l, unsigned own)
{
	for (unsigned m = l->given ? own : 0; m > 0; m--) {
		if (l->selector == LARGEST || (l->selector == GREATER && m > l->value) ||
		    (l->selector == LESS && m < l->value) ||
		    (l->selector == EXACTLY && m == l->value)) {
			return m;
		}
	}
	return l->given ? 0 : own;
}

/* Fastest speed that fits, 0: none. */
static uint32_t fit_rate(const struct limit *l, unsigned own)
{
	uint32_t best = 0, asked_for = rate_speed((uint8_t)l->value);

	if (!l->given || l->selector == LARGEST) {
		return rate_speed((uint8_t)own);
	}
	for (uint8_t r = 0; asked_for != 0 && r <= RATE_MAX; r++) {
		uint32_t speed = rate_speed(r);
		bool fits = l->selector == GREATER ? speed > asked_for
		            : l->selector == LESS  ? speed < asked_for
		                                   : speed == asked_for;
		if (fits && speed <= rate_speed((uint8_t)own) && speed > best) {
			best = speed;
		}
	}
	return best;
}

/* Shortest life time not below its own that fits, -1: none. */
static int fit_life(const struct limit *l, unsigned own)
{
	for (unsigned t = own; t <= LIFE_MAX; t++) {
		if (!l->given || l->selector == LARGEST ||
		    (l->selector == GREATER && t > l->value) ||
		    (l->selector == LESS && t < l->value) ||
		    (l->selector == EXACTLY && t == l->value)) {
			return (int)t;
		}
	}
	return -1;
}

/* --- the model -------------------------------------------------------------------------
 */

struct wanted {
	unsigned mtu;
	uint32_t speed;
	int life;
};

static bool fits(const struct asked_paths *p, const uint8_t *own,
                 struct wanted *ret_wanted)
{
	ret_wanted->mtu = fit_mtu(&p->mtu, (unsigned)value(own, "Mtu"));
	ret_wanted->speed = fit_rate(&p->rate, (unsigned)value(own, "Rate"));
	ret_wanted->life = fit_life(&p->life, (unsigned)value(own, "PacketLifeTime"));
	return ret_wanted->mtu != 0 && ret_wanted->speed != 0 && ret_wanted->life >= 0;
}

/* A path of the list between two ports. */
static const uint8_t *path_between(const struct end_port *src, const struct end_port *dst)
{
	return known.path[src - known.port][dst - known.port];
}

static unsigned lids_of(const struct end_port *port, unsigned fixed)
{
	return fixed ? 1 : port->last - port->base + 1;
}

/* How many paths there are that fit; each pair gives at most each_max. */
static uint64_t count_wanted(const struct asked_paths *p, uint64_t each_max)
{
	struct wanted unused;
	uint64_t n = 0;

	for (unsigned s = 0; s < p->n_src; s++) {
		for (unsigned d = 0; d < p->n_dst; d++) {
			const uint8_t *own = path_between(p->src[s], p->dst[d]);
			uint64_t each = (uint64_t)lids_of(p->src[s], p->slid) *
			                lids_of(p->dst[d], p->dlid);
			if (own != NULL && fits(p, own, &unused)) {
				n += each < each_max ? each : each_max;
			}
		}
	}
	return n;
}

static bool is_one(const struct end_port *const *list, unsigned n,
                   const struct end_port *port)
{
	for (unsigned i = 0; i < n; i++) {
		if (list[i] == port) {
			return true;
		}
	}
	return false;
}

/* The path of the list between the ends of a record that was asked for; NULL: it was not.
 */
static const uint8_t *path_of(const struct asked_paths *p, const uint8_t *record)
{
	uint64_t slid = value(record, "SLID"), dlid = value(record, "DLID");
	const struct end_port *src = owner_of(slid), *dst = owner_of(dlid);

	if (src == NULL || dst == NULL || src->guid != value(record, "SGID") ||
	    dst->guid != value(record, "DGID") || !is_one(p->src, p->n_src, src) ||
	    !is_one(p->dst, p->n_dst, dst) || (p->slid && slid != p->slid) ||
	    (p->dlid && dlid != p->dlid)) {
		return NULL;
	}
	return path_between(src, dst);
}

/* Are P_Key and SL those of the path, or as asked for? */
static bool keys_fit(const struct asked_paths *p, const uint8_t *own,
                     const uint8_t *record)
{
	uint64_t raw = 0, sl;

	asked(p, "RawTraffic", &raw);
	if (value(record, "P_Key") != (raw ? 0 : value(own, "P_Key"))) {
		return false;
	}
	if (asked(p, "SL", &sl)) {
		return value(record, "SL") == sl;
	}
	return known.from->policy || value(record, "SL") == value(own, "SL");
}

static bool record_fits(const struct asked_paths *p, const uint8_t *record)
{
	const uint8_t *own = path_of(p, record);
	struct wanted w;

	return own != NULL && keys_fit(p, own, record) && fits(p, own, &w) &&
	       value(record, "Mtu") == w.mtu &&
	       rate_speed((uint8_t)value(record, "Rate")) == w.speed &&
	       (int)value(record, "PacketLifeTime") == w.life;
}

static bool limit_fits(const struct limit *l, uint64_t own, uint64_t limit)
{
	return !l->given || l->selector == LARGEST ||
	       (l->selector == GREATER && own > limit) ||
	       (l->selector == LESS && own < limit) ||
	       (l->selector == EXACTLY && own == limit);
}

static bool record_usable(const struct asked_paths *p, const uint8_t *record)
{
	const uint8_t *own = path_of(p, record);
	uint64_t mtu = value(record, "Mtu"), life = value(record, "PacketLifeTime");
	uint32_t speed = rate_speed((uint8_t)value(record, "Rate"));

	return own != NULL && keys_fit(p, own, record) && mtu <= value(own, "Mtu") &&
	       speed <= rate_speed((uint8_t)value(own, "Rate")) &&
	       limit_fits(&p->mtu, mtu, p->mtu.value) &&
	       limit_fits(&p->rate, speed, rate_speed((uint8_t)p->rate.value)) &&
	       limit_fits(&p->life, life, p->life.value);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* No two records alike in SLID and DLID. */
static bool all_differ(const struct diff_asked *q)
{
	uint32_t *pair = calloc(q->n + 1, sizeof(*pair));
	bool differ = pair != NULL;

	for (size_t i = 0; differ && i < q->n; i++) {
		const uint8_t *record = q->records + i * rec_path.size;
		pair[i] = (uint32_t)(value(record, "SLID") << 16 | value(record, "DLID"));
	}
	if (differ) {
		qsort(pair, q->n, sizeof(*pair), by_number);
	}
	for (size_t i = 1; differ && i < q->n; i++) {
		differ = pair[i] != pair[i - 1];
	}
	free(pair);
	return differ;
}

/* Do two paths end at one cable? A switch has many, and from a port to itself there is
 * none. */
static bool share_cable(const uint8_t *a, const uint8_t *b, const char *gid,
                        const char *lid)
{
	bool loops = value(a, "SGID") == value(a, "DGID") ||
	             value(b, "SGID") == value(b, "DGID");

	return !loops && value(a, gid) == value(b, gid) &&
	       !diff_is_switch(known.from, value(a, lid));
}

/* Does one begin where the other ends? A cable is one in both directions. */
static bool share_cable_across(const uint8_t *a, const uint8_t *b)
{
	bool loops = value(a, "SGID") == value(a, "DGID") ||
	             value(b, "SGID") == value(b, "DGID");

	return !loops && value(a, "SGID") == value(b, "DGID") &&
	       !diff_is_switch(known.from, value(a, "SLID"));
}

static bool disjoint(const struct diff_asked *q)
{
	for (size_t i = 0; i < q->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const uint8_t *a = q->records + i * rec_path.size,
				      *b = q->records + k * rec_path.size;
			if (share_cable(a, b, "SGID", "SLID") ||
			    share_cable(a, b, "DGID", "DLID") ||
			    share_cable_across(a, b) || share_cable_across(b, a)) {
				return false;
			}
		}
	}
	return true;
}

static bool names_twice(const struct asked_paths *p)
{
	for (unsigned i = 0; i < p->n_src; i++) {
		if (is_one(p->src, i, p->src[i])) {
			return true;
		}
	}
	for (unsigned i = 0; i < p->n_dst; i++) {
		if (is_one(p->dst, i, p->dst[i])) {
			return true;
		}
	}
	return false;
}

/* Paths that the answer has to have; UINT64_MAX: what else is asked for decides it. */
static uint64_t right_number(const struct asked_paths *p, bool get)
{
	uint64_t numb = UINT64_MAX, raw = 0, unused, n;

	asked(p, "RawTraffic", &raw);
	if ((asked(p, "SL", &unused) && (known.from->policy || unused >= SLS)) ||
	    (asked(p, "IndependenceSelector", &unused) && unused != 0)) {
		return UINT64_MAX;
	}
	if (!raw && asked(p, "P_Key", &unused) && (unused & P_KEY_BASE) != P_KEY_BASE) {
		return 0; /* there is the default partition alone */
	}
	if (!get) {
		asked(p, "NumbPath", &numb);
	}
	n = count_wanted(p, p->multi ? UINT64_MAX : numb);
	if (p->multi && n > numb) {
		n = numb;
	}
	return get && n > 1 ? 1 : n;
}

static bool all_are(const struct asked_paths *p,
                    bool (*is)(const struct asked_paths *p, const uint8_t *record))
{
	for (size_t i = 0; i < p->q->n; i++) {
		if (!is(p, p->q->records + i * rec_path.size)) {
			return false;
		}
	}
	return names_twice(p) || all_differ(p->q);
}

static const char *judge(const struct asked_paths *p, bool get)
{
	uint64_t n = right_number(p, get);
	struct asked_paths any_life = *p;

	if ((n == UINT64_MAX || p->q->n == n) && all_are(p, record_fits)) {
		return "model";
	}
	any_life.life.given = false;
	return known.from->policy && p->q->n > 0 &&
	                       p->q->n <= right_number(&any_life, get) &&
	                       all_are(p, record_usable)
	               ? "not-model,usable"
	               : "not-model";
}

/* Does the answer repeat what does not change a path, and show 0 where it is not asked
 * for? */
static bool is_echo(const struct asked_paths *p)
{
	static const char *const names[] = { "RawTraffic",    "FlowLabel",
		                             "TClass",        "QoSClass",
		                             "ServiceID8MSB", "ServiceID56LSB" };

	for (size_t i = 0; i < p->q->n; i++) {
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			uint64_t want = 0;
			asked(p, names[k], &want);
			if (value(p->q->records + i * rec_path.size, names[k]) != want) {
				return false;
			}
		}
	}
	return true;
}

static void limit_facts(const struct asked_paths *p, FILE *out)
{
	fact(out, p->mtu.given && (p->mtu.value == 0 || p->mtu.value > MTU_MAX),
	     "mtu-code");
	fact(out,
	     p->rate.given && (rate_speed((uint8_t)p->rate.value) == 0 ||
	                       p->rate.value > RATE_OLD),
	     "rate-code");
	fact(out, is_half(p, "ServiceID8MSB", "ServiceID56LSB"), "half-service");
	fact(out, p->q->n > 0 && is_echo(p), "echo");
	fact(out,
	     is_half(p, "MtuSelector", "Mtu") || is_half(p, "RateSelector", "Rate") ||
	             is_half(p, "PacketLifeTimeSelector", "PacketLifeTime"),
	     "half-limit");
}

/* Of a request for cables. */
static void link_facts(const struct asked_paths *p, FILE *out)
{
	static const char *const names[] = { "FromLID", "ToLID" };
	uint64_t lid;

	for (unsigned i = 0; i < 2; i++) {
		const struct end_port *port =
			asked(p, names[i], &lid) ? owner_of(lid) : NULL;
		fact(out, port != NULL && port->base != lid, "odd-lid");
	}
}

/* Of a request for multicast groups. */
static void group_facts(const struct asked_paths *p, FILE *out)
{
	static const char *const limits[][2] = { { "MTUSelector", "MTU" },
		                                 { "RateSelector", "Rate" },
		                                 { "PacketLifeTimeSelector",
		                                   "PacketLifeTime" } };
	uint64_t selector, code;

	for (unsigned i = 0; i < 3; i++) {
		bool has_selector = asked(p, limits[i][0], &selector),
		     has_code = asked(p, limits[i][1], &code);
		fact(out, has_selector && !has_code, "half-selector");
		fact(out,
		     has_selector && has_code && i == 0 && (code == 0 || code > MTU_MAX),
		     "mtu-code");
		fact(out,
		     has_selector && has_code && i == 1 &&
		             (rate_speed((uint8_t)code) == 0 || code > RATE_OLD),
		     "rate-code");
	}
}

/* Is there nothing in any of the tables? */
static bool is_blank(const struct diff_asked *q)
{
	enum { TABLE_AT = 8 };

	for (size_t i = 0; i < q->n; i++) {
		const uint8_t *record = q->records + i * q->attr->size;
		for (size_t k = TABLE_AT; k < q->attr->size; k++) {
			if (record[k] != 0) {
				return false;
			}
		}
	}
	return true;
}

void diff_write_facts(FILE *out, const struct diff_values *v, const struct diff_asked *q)
{
	static struct asked_paths p;
	uint64_t numb;

	fputs(" facts=", out);
	p = (struct asked_paths){ .q = q, .multi = q->attr == &rec_multi_path };
	diff_unhex(q->request, p.data, sizeof(p.data));
	learn(v);
	if (q->attr != &rec_path && q->attr != &rec_multi_path) {
		link_facts(&p, out);
		if (q->attr == &rec_mcmember) {
			group_facts(&p, out);
		}
		fact(out, q->attr == &rec_mcast_ft && is_blank(q), "zeros");
		return;
	}
	if (p.multi) {
		read_gids(&p, out);
	} else {
		read_end(&p, out, "SGID", "SLID", p.src, &p.n_src, &p.slid);
		read_end(&p, out, "DGID", "DLID", p.dst, &p.n_dst, &p.dlid);
	}
	if (asked(&p, "NumbPath", &numb) && numb == 0) {
		fact(out, true, "numb-0");
		p.broken |= !q->get; /* a Get has one path, whatever NumbPath */
	}
	p.mtu = limit_of(&p, "MtuSelector", "Mtu");
	p.rate = limit_of(&p, "RateSelector", "Rate");
	p.life = limit_of(&p, "PacketLifeTimeSelector", "PacketLifeTime");
	limit_facts(&p, out);
	fact(out, q->n > 1 && q->n <= GIDS_MAX && disjoint(q), "disjoint");
	if (!p.broken && !is_half(&p, "ServiceID8MSB", "ServiceID56LSB")) {
		fact(out, true, judge(&p, q->get));
	}
}

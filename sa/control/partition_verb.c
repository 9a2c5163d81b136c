/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Longer than most: all actions on partitions, which share the reading of members and the text of refusals. */
#include "sa/control/partition_verb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "conf/policy/partitions.h"
#include "sa/control/control.h"
#include "sa/partition/runtime.h"
#include "sa/partition/runtime_change.h"
#include "sa/sm/sweep.h"
#include "sa/sm/sweep/p_keys.h"

enum { WAIT_MS = 10000, WAIT_MAX_MS = 600000 };

/* A request at work. */
struct call {
	struct sweep *sweep;
	struct control *control;
	const json_t *request;
	json_t *reply;
	struct arena *a;
	char *why;
	size_t why_bytes;
};

static int refuse_call(const struct call *c, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse_call(const struct call *c, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->why, c->why_bytes, fmt, ap);
	va_end(ap);
	return ret;
}

/* --- words and numbers ---------------------------------------------------------------- */

static json_t *hex_json(uint64_t value, int digits)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, value);
	return json_string(text);
}

static json_t *p_key_json(uint16_t p_key)
{
	return hex_json(p_key, 4);
}

static json_t *guid_json(uint64_t guid)
{
	return hex_json(guid, 16);
}

/* null: never. */
static json_t *time_json(int64_t seconds)
{
	char text[40];
	time_t at = (time_t)seconds;
	struct tm tm;

	if (seconds == 0 || gmtime_r(&at, &tm) == NULL ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
		return json_null();
	}
	return json_string(text);
}

/* A P_Key as a number or as text, with or without bit 15. */
static int take_p_key(const struct call *c, const char *name, uint16_t *ret_p_key)
{
	const json_t *v = json_object_get(c->request, name);
	uint64_t number = 0;
	bool good = json_is_string(v) ? text_number(json_string_value(v), &number) == E_OK
	                              : json_is_integer(v);

	if (json_is_integer(v)) {
		number = (uint64_t)json_integer_value(v);
	}
	if (!good || number > UINT16_MAX || (number & P_KEY_BASE) == 0) {
		return refuse_call(
			c, E_SYNTAX,
			"'%s' must be a P_Key from \"0x1\" to \"0x7fff\", with or without bit 15",
			name);
	}
	*ret_p_key = number & P_KEY_BASE;
	return E_OK;
}

static int take_bool(const struct call *c, const char *name, int *ret_value)
{
	const json_t *v = json_object_get(c->request, name);

	*ret_value = RUNTIME_SAME;
	if (v == NULL || json_is_null(v)) {
		return E_OK;
	}
	if (!json_is_boolean(v)) {
		return refuse_call(c, E_SYNTAX, "'%s' must be true or false", name);
	}
	*ret_value = json_is_true(v);
	return E_OK;
}

static int take_int(const struct call *c, const char *name, int64_t most,
                    int64_t *ret_number)
{
	const json_t *v = json_object_get(c->request, name);

	if (v == NULL || json_is_null(v)) {
		return E_OK;
	}
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    json_integer_value(v) > most) {
		return refuse_call(c, E_SYNTAX,
		                   "'%s' must be a number from 0 to %" PRId64, name,
		                   most);
	}
	*ret_number = json_integer_value(v);
	return E_OK;
}

static int take_code(const struct call *c, const char *name, int *ret_number)
{
	int64_t number = RUNTIME_SAME;
	int ret = take_int(c, name, UINT8_MAX, &number);

	*ret_number = (int)number;
	return ret;
}

/* A membership of an object. 0: it has none. */
static int take_membership(const struct call *c, const json_t *from,
                           uint8_t *ret_membership)
{
	static const uint8_t all[] = { PARTITION_FULL, PARTITION_LIMITED,
		                       PARTITION_BOTH };
	const json_t *v = json_object_get(from, "membership");

	*ret_membership = 0;
	if (v == NULL || json_is_null(v)) {
		return E_OK;
	}
	for (size_t i = 0; json_is_string(v) && i < sizeof(all); i++) {
		if (strcmp(json_string_value(v), partition_membership_name(all[i])) ==
		    0) {
			*ret_membership = all[i];
			return E_OK;
		}
	}
	return refuse_call(c, E_SYNTAX, "'membership' must be full, limited or both");
}

/* Names of members, each once, and the end ports that they mean. */
struct member_names {
	const char **name; /* [n], sorted */
	uint64_t *guid;    /* [n] of one of these ports */
	uint32_t *n_ports; /* [n] how many they are */
	uint32_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *member_name(const json_t *member)
{
	return json_string_value(json_object_get(member, "host"));
}

static int find_names(const struct call *c, const json_t *list, struct member_names *ret_names)
{
	size_t n = json_array_size(list);
	struct member_names m = { .name = arena_array(c->a, n, sizeof(*m.name)),
		                  .guid = arena_array(c->a, n, sizeof(*m.guid)),
		                  .n_ports = arena_array(c->a, n, sizeof(*m.n_ports)) };
	struct sweep_host_port *port;
	uint32_t n_ports, unique = 0;
	int ret;

	if (m.name == NULL || m.guid == NULL || m.n_ports == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const char *name = member_name(json_array_get(list, i));

		if (name != NULL) {
			m.name[m.n++] = name;
		}
	}
	qsort(m.name, m.n, sizeof(*m.name), by_text);
	for (uint32_t i = 0; i < m.n; i++) {
		if (unique == 0 || strcmp(m.name[unique - 1], m.name[i]) != 0) {
			m.name[unique++] = m.name[i];
		}
	}
	m.n = unique;
	ret = sweep_host_ports(c->sweep, m.name, m.n, c->a, &port, &n_ports);
	for (uint32_t i = 0; ret == E_OK && i < n_ports; i++) {
		m.guid[port[i].host] = port[i].guid;
		m.n_ports[port[i].host]++;
	}
	*ret_names = m;
	return ret;
}

/* A name has to mean one port. */
static int take_name(const struct call *c, const char *name, const struct member_names *names,
                     uint64_t *ret_guid)
{
	const char *const *at =
		bsearch(&name, names->name, names->n, sizeof(*names->name), by_text);
	uint32_t i = at != NULL ? (uint32_t)(at - (const char *const *)names->name) : 0;
	uint32_t n = at != NULL ? names->n_ports[i] : 0;

	if (n != 1) {
		return n == 0 ? refuse_call(c, E_UNKNOWN,
		                            "no host in the fabric has the name '%.64s'; name an absent one by the GUID of its port",
		                            name)
		              : refuse_call(c, E_RANGE,
		                            "host '%.64s' has %u ports; name one of them by its GUID",
		                            name, n);
	}
	*ret_guid = names->guid[i];
	return E_OK;
}

/* A member is an object, or just a GUID. */
static int take_member(const struct call *c, const json_t *from,
                       const struct member_names *names, struct runtime_member *ret_member)
{
	const char *name = member_name(from);
	const json_t *guid = json_is_object(from) ? json_object_get(from, "guid") : from;

	if (name != NULL && guid == NULL) {
		int ret = take_name(c, name, names, &ret_member->guid);

		return ret == E_OK ? take_membership(c, from, &ret_member->membership) : ret;
	}
	if (!json_is_string(guid) ||
	    text_guid(json_string_value(guid), &ret_member->guid) != E_OK) {
		return refuse_call(
			c, E_SYNTAX,
			"a member needs a 'guid' such as \"0x0002c903000e0b72\"");
	}
	return take_membership(c, from, &ret_member->membership);
}

/* Each name must have an end port. */
static int check_hosts(const struct call *c, const char *const *host, uint32_t n,
                       const struct sweep_host_port *port, uint32_t n_ports)
{
	bool *found = arena_array(c->a, n, sizeof(*found));
	uint32_t n_unknown = 0, first = 0;
	json_t *unknown = NULL;

	if (found == NULL) {
		return -ENOMEM;
	}
	memset(found, 0, n * sizeof(*found));
	for (uint32_t i = 0; i < n_ports; i++) {
		found[port[i].host] = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		/* of a name that is there twice only the first place is found */
		if (found[i] || (i > 0 && strcmp(host[i], host[i - 1]) == 0)) {
			continue;
		}
		first = n_unknown++ == 0 ? i : first;
		unknown = unknown != NULL ? unknown : json_array();
		json_array_append_new(unknown, json_string(host[i]));
	}
	if (n_unknown == 0) {
		return E_OK;
	}
	json_object_set_new(c->reply, "unknown_hosts", unknown);
	return refuse_call(c, E_UNKNOWN, "host '%.64s'%s not in the fabric", host[first],
	                   n_unknown == 1 ? " is" : " and others are");
}

/* End ports of the hosts that a request names. */
static int take_hosts(const struct call *c, struct sweep_host_port **ret_ports,
                      uint32_t *ret_n)
{
	const json_t *list = json_object_get(c->request, "hosts");
	size_t n = json_array_size(list);
	const char **host = arena_array(c->a, n, sizeof(*host));
	int ret = host != NULL ? E_OK : -ENOMEM;

	if (list != NULL && !json_is_array(list)) {
		return refuse_call(c, E_SYNTAX, "'hosts' must be a list");
	}
	for (size_t i = 0; ret == E_OK && i < n; i++) {
		host[i] = json_string_value(json_array_get(list, i));
		if (host[i] == NULL || host[i][0] == '\0') {
			ret = refuse_call(c, E_SYNTAX,
			                  "'hosts' must be a list of names");
		}
	}
	if (ret != E_OK) {
		return ret;
	}
	qsort(host, n, sizeof(*host), by_text);
	ret = sweep_host_ports(c->sweep, host, (uint32_t)n, c->a, ret_ports, ret_n);
	return ret == E_OK ? check_hosts(c, host, (uint32_t)n, *ret_ports, *ret_n) : ret;
}

/* Members by GUID, and by the names of their hosts. */
static int take_members(const struct call *c, struct runtime_change *ret_change)
{
	const json_t *list = json_object_get(c->request, "members");
	size_t n = json_array_size(list);
	struct sweep_host_port *port;
	struct member_names names;
	uint32_t n_ports;
	int ret;

	if (list != NULL && !json_is_array(list)) {
		return refuse_call(c, E_SYNTAX, "'members' must be a list");
	}
	ret = take_hosts(c, &port, &n_ports);
	ret = ret == E_OK ? find_names(c, list, &names) : ret;
	if (ret != E_OK) {
		return ret;
	}
	ret_change->members =
		arena_array(c->a, n + n_ports, sizeof(*ret_change->members));
	if (ret_change->members == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		ret = take_member(c, json_array_get(list, i), &names,
		                  &ret_change->members[i]);
		if (ret != E_OK) {
			return ret;
		}
	}
	for (uint32_t i = 0; i < n_ports; i++) {
		ret_change->members[n + i] =
			(struct runtime_member){ .guid = port[i].guid };
	}
	ret_change->n_members = (uint32_t)n + n_ports;
	return E_OK;
}

static int take_version(const struct call *c, struct runtime_change *ret_change)
{
	int64_t version = -1;
	int ret = take_int(c, "if_version", INT64_MAX, &version);

	ret_change->has_version = version >= 0;
	ret_change->if_version = (uint64_t)version;
	return ret;
}

/* --- changes -------------------------------------------------------------------------- */

/* What each action may have. */
enum {
	TAKES_MEMBERS = 1,
	NEEDS_MEMBERS = 2,
	TAKES_PROPERTIES = 4,
	MAY_CHOOSE = 8,
	MAY_MAKE = 16
};

static int take_properties(const struct call *c, struct runtime_change *ret_change)
{
	const json_t *name = json_object_get(c->request, "name");
	int ret = take_membership(c, c->request, &ret_change->membership);

	if (ret == E_OK && name != NULL && !json_is_null(name) && !json_is_string(name)) {
		ret = refuse_call(c, E_SYNTAX, "'name' must be text");
	}
	ret_change->name = json_string_value(name);
	ret = ret == E_OK ? take_bool(c, "index0", &ret_change->indx0) : ret;
	ret = ret == E_OK ? take_bool(c, "ipoib", &ret_change->ipoib) : ret;
	ret = ret == E_OK ? take_code(c, "sl", &ret_change->sl) : ret;
	ret = ret == E_OK ? take_code(c, "rate", &ret_change->rate) : ret;
	return ret == E_OK ? take_code(c, "mtu", &ret_change->mtu) : ret;
}

static int take_change(const struct call *c, unsigned takes,
                       struct runtime_change *ret_change)
{
	int create = 0, ret = E_OK;

	ret_change->indx0 = ret_change->ipoib = ret_change->sl = ret_change->rate =
		ret_change->mtu = RUNTIME_SAME;
	if (json_object_get(c->request, "pkey") != NULL) {
		ret = take_p_key(c, "pkey", &ret_change->p_key);
	} else if (!(takes & MAY_CHOOSE)) {
		ret_change->name = json_string_value(json_object_get(c->request, "name"));
		ret = ret_change->name != NULL ? E_OK : take_p_key(c, "pkey", &ret_change->p_key);
	}
	if (ret == E_OK && json_object_get(c->request, "first") != NULL) {
		ret = take_p_key(c, "first", &ret_change->first);
		ret = ret == E_OK ? take_p_key(c, "last", &ret_change->last) : ret;
	}
	ret = ret == E_OK ? take_version(c, ret_change) : ret;
	if (ret == E_OK && (takes & TAKES_PROPERTIES)) {
		ret = take_properties(c, ret_change);
	}
	if (ret == E_OK && (takes & NEEDS_MEMBERS) &&
	    json_object_get(c->request, "members") == NULL &&
	    json_object_get(c->request, "hosts") == NULL) {
		ret = refuse_call(c, E_SYNTAX, "'members' is missing");
	}
	if (ret == E_OK && (takes & TAKES_MEMBERS)) {
		ret = take_members(c, ret_change);
	}
	if (ret == E_OK && (takes & MAY_MAKE)) {
		ret = take_bool(c, "create", &create);
		ret_change->create = create == 1;
	}
	if (ret == E_OK && ret_change->action == RUNTIME_ADD &&
	    json_object_get(c->request, "from") != NULL) {
		ret = take_p_key(c, "from", &ret_change->from);
	}
	return ret;
}

static void reply_version(const struct call *c, const struct partition_outcome *now)
{
	json_object_set_new(c->reply, "version", json_integer((json_int_t)now->version));
	json_object_set_new(c->reply, "last_updated", time_json(now->changed_s));
}

/* Is the GUID named by the configuration of this partition? */
static bool is_configured(const struct partition *t, uint64_t guid)
{
	for (uint32_t i = 0; t != NULL && i < t->n_members; i++) {
		const struct partition_member *m = &t->members[i];

		if (m->who == PARTITION_GUIDS && m->first <= guid && guid <= m->last) {
			return true;
		}
	}
	return false;
}

/* Which GUIDs of the request are in the fabric. */
static int reply_members(const struct call *c, const struct runtime_change *change)
{
	json_t *present = json_array(), *absent = json_array(), *stay = json_array();
	const struct partitions *configured;
	int ret = sweep_configured_partitions(c->sweep, c->a, &configured);

	for (uint32_t i = 0; ret == E_OK && i < change->n_members; i++) {
		uint64_t guid = change->members[i].guid;

		json_array_append_new(sweep_has_port(c->sweep, guid) ? present : absent,
		                      guid_json(guid));
		if (is_configured(partitions_find(configured, change->p_key), guid)) {
			json_array_append_new(stay, guid_json(guid));
		}
	}
	json_object_set_new(c->reply, "present", present);
	json_object_set_new(c->reply, "absent", absent);
	if (change->action == RUNTIME_REMOVE) {
		json_object_set_new(c->reply, "configured", stay);
	} else {
		json_decref(stay);
	}
	return ret;
}

static int run_change(const struct call *c, enum runtime_action action, unsigned takes)
{
	char by[CONTROL_USER_BYTES];
	struct runtime_change change = { .action = action, .by = by };
	struct partition_outcome out;
	int ret = take_change(c, takes, &change);

	if (ret != E_OK) {
		return ret;
	}
	control_user(c->control, c->request, by, sizeof(by));
	ret = sweep_change_partitions(c->sweep, &change, &out, c->why, c->why_bytes);
	reply_version(c, &out);
	if (ret != E_OK) {
		return ret;
	}
	json_object_set_new(c->reply, "changed", json_boolean(out.changed));
	json_object_set_new(c->reply, "pkey", p_key_json(change.p_key));
	return reply_members(c, &change);
}

static int run_create(const struct call *c)
{
	return run_change(c, RUNTIME_CREATE,
	                  TAKES_MEMBERS | TAKES_PROPERTIES | MAY_CHOOSE);
}

static int run_add(const struct call *c)
{
	return run_change(c, RUNTIME_ADD,
	                  TAKES_MEMBERS | NEEDS_MEMBERS | TAKES_PROPERTIES | MAY_MAKE);
}

static int run_set(const struct call *c)
{
	return run_change(c, RUNTIME_SET,
	                  TAKES_MEMBERS | NEEDS_MEMBERS | TAKES_PROPERTIES | MAY_MAKE);
}

static int run_remove(const struct call *c)
{
	return run_change(c, RUNTIME_REMOVE, TAKES_MEMBERS | NEEDS_MEMBERS);
}

static int run_delete(const struct call *c)
{
	return run_change(c, RUNTIME_DELETE, 0);
}

/* --- what there is -------------------------------------------------------------------- */

static json_t *member_json(const struct call *c, const struct partition_member *m)
{
	static const char *const who[] = { [PARTITION_GUIDS] = "guids",
		                           [PARTITION_ALL] = "ALL",
		                           [PARTITION_ALL_CAS] = "ALL_CAS",
		                           [PARTITION_ALL_SWITCHES] = "ALL_SWITCHES",
		                           [PARTITION_ALL_ROUTERS] = "ALL_ROUTERS",
		                           [PARTITION_ALL_VCAS] = "ALL_VCAS",
		                           [PARTITION_SELF] = "SELF",
		                           [PARTITION_HOST] = "host" };
	json_t *o = json_pack("{s:s, s:s}", "membership",
	                      partition_membership_name(m->membership), "source",
	                      m->runtime ? "runtime" : "file");

	if (m->who == PARTITION_HOST) {
		json_object_set_new(o, "host", json_string(m->name));
		json_object_set_new(o, "n_ports", json_integer(m->n_ports));
	} else if (m->who != PARTITION_GUIDS) {
		json_object_set_new(o, "who", json_string(who[m->who]));
	} else if (m->first == m->last) {
		json_object_set_new(o, "guid", guid_json(m->first));
		json_object_set_new(o, "present",
		                    json_boolean(sweep_has_port(c->sweep, m->first)));
	} else {
		json_object_set_new(o, "first", guid_json(m->first));
		json_object_set_new(o, "last", guid_json(m->last));
	}
	return o;
}

static json_t *partition_json(const struct call *c, const struct partition *t,
                              const struct runtime_partition *r, bool with_members)
{
	bool ipoib = false;
	json_t *o, *members = json_array();

	for (uint32_t i = 0; i < t->n_groups; i++) {
		ipoib |= t->groups[i].broadcast;
	}
	/* clang-format off */
	o = json_pack("{s:o, s:s, s:s, s:b, s:b, s:b, s:i, s:i, s:i}",
		"pkey", p_key_json(t->p_key),
		"name", t->name,
		"source", t->runtime ? "runtime" : "file",
		"runtime", r != NULL,
		"index0", t->indx0,
		"ipoib", ipoib,
		"sl", t->sl,
		"member_count", (int)t->n_members,
		"runtime_member_count", r != NULL ? (int)r->n_members : 0);
	/* clang-format on */
	if (r != NULL) {
		json_object_set_new(
			o, "membership",
			json_string(partition_membership_name(r->membership)));
		json_object_set_new(o, "rate", json_integer(r->rate));
		json_object_set_new(o, "mtu", json_integer(r->mtu));
		json_object_set_new(o, "changed_version",
		                    json_integer((json_int_t)r->version));
		json_object_set_new(o, "last_updated", time_json(r->changed_s));
	}
	for (uint32_t i = 0; with_members && i < t->n_members; i++) {
		json_array_append_new(members, member_json(c, &t->members[i]));
	}
	if (with_members) {
		json_object_set(o, "members", members);
	}
	json_decref(members);
	return o;
}

/* Partitions in effect, and the version of those made at run time. */
static int read_partitions(const struct call *c, const struct runtime_partitions **ret_r,
                           const struct partitions **ret_partitions)
{
	const struct runtime_partitions *r = sweep_runtime_partitions(c->sweep);
	const struct partitions *configured;
	const struct p_keys_port *missing;
	uint32_t n;
	int ret = sweep_configured_partitions(c->sweep, c->a, &configured);

	if (ret == E_OK) {
		ret = runtime_merge(configured, r, c->a, ret_partitions);
	}
	reply_version(c, &(struct partition_outcome){ .version = r->version,
	                                              .changed_s = r->changed_s });
	json_object_set_new(c->reply, "programmed_version",
	                    json_integer((json_int_t)sweep_partitions_settled(
				    c->sweep, &missing, &n)));
	*ret_r = r;
	return ret;
}

static int run_list(const struct call *c)
{
	const struct runtime_partitions *r;
	const struct partitions *p;
	const char *begin = json_string_value(json_object_get(c->request, "begin"));
	int members, ret = take_bool(c, "members", &members);
	json_t *list = json_array();

	if (ret == E_OK) {
		ret = read_partitions(c, &r, &p);
	}
	for (uint32_t i = 0; ret == E_OK && i < p->n; i++) {
		if (begin != NULL &&
		    (!p->all[i].runtime ||
		     strncmp(p->all[i].name, begin, strlen(begin)) != 0)) {
			continue;
		}
		json_array_append_new(list,
		                      partition_json(c, &p->all[i],
		                                     runtime_find(r, p->all[i].p_key),
		                                     members != 0));
	}
	json_object_set_new(c->reply, "partitions", list);
	return ret;
}

static int run_show(const struct call *c)
{
	const struct runtime_partitions *r;
	const struct partitions *p;
	const struct partition *t = NULL;
	const char *name = json_string_value(json_object_get(c->request, "name"));
	bool named = name != NULL && json_object_get(c->request, "pkey") == NULL;
	uint16_t p_key = 0;
	int ret = named ? E_OK : take_p_key(c, "pkey", &p_key);

	if (ret == E_OK) {
		ret = read_partitions(c, &r, &p);
	}
	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t i = 0; named && t == NULL && i < p->n; i++) {
		t = strcmp(p->all[i].name, name) == 0 ? &p->all[i] : NULL;
	}
	t = named ? t : partitions_find(p, p_key);
	if (t == NULL && named) {
		return refuse_call(c, E_NOTFOUND, "there is no partition '%.130s'", name);
	}
	if (t == NULL) {
		return refuse_call(c, E_NOTFOUND, "there is no partition 0x%04x", p_key);
	}
	json_object_set_new(c->reply, "partition",
	                    partition_json(c, t, runtime_find(r, t->p_key), true));
	return E_OK;
}

/* --- wait ----------------------------------------------------------------------------- */

static int by_member_guid(const void *a, const void *b)
{
	const uint64_t *guid = a;
	const struct runtime_member *m = b;

	return *guid < m->guid ? -1 : *guid > m->guid;
}

/* Is a port without all of its P_Keys one of a member, or the switch port before it? A port that
 * is not known any more has no member. */
static bool is_of_member(const struct call *c, const struct runtime_partition *t,
                         const struct p_keys_port *port)
{
	uint64_t guid = sweep_end_port(c->sweep, port->node_guid, port->port);

	return guid != 0 && t != NULL && t->n_members > 0 &&
	       bsearch(&guid, t->members, t->n_members, sizeof(*t->members),
	               by_member_guid) != NULL;
}

/* Ports that are waited for and do not have their P_Keys: with "pkey" those of its members made at
 * run time. Where not all can be named, any port may be one of them. */
static int count_missing(const struct call *c, const struct p_keys_port *missing,
                         uint32_t n, uint32_t *ret_n)
{
	const struct runtime_partition *t;
	uint16_t p_key;
	int ret;

	*ret_n = n;
	if (json_object_get(c->request, "pkey") == NULL || n > P_KEYS_MISSING_MAX) {
		return E_OK;
	}
	ret = take_p_key(c, "pkey", &p_key);
	if (ret != E_OK) {
		return ret;
	}
	t = runtime_find(sweep_runtime_partitions(c->sweep), p_key);
	*ret_n = 0;
	for (uint32_t i = 0; i < n; i++) {
		*ret_n += is_of_member(c, t, &missing[i]);
	}
	return E_OK;
}

static int run_wait(const struct call *c)
{
	int64_t version = -1, timeout_ms = WAIT_MS;
	const struct p_keys_port *missing;
	uint32_t n, n_late = 0;
	uint64_t settled = sweep_partitions_settled(c->sweep, &missing, &n);
	json_t *ports;
	int ret = take_int(c, "version", INT64_MAX, &version);

	ret = ret == E_OK ? take_int(c, "timeout_ms", WAIT_MAX_MS, &timeout_ms) : ret;
	ret = ret == E_OK ? count_missing(c, missing, n, &n_late) : ret;
	if (ret == E_OK && version < 0) {
		version = (int64_t)sweep_runtime_partitions(c->sweep)->version;
	}
	if (ret == E_OK &&
	    (uint64_t)version > sweep_runtime_partitions(c->sweep)->version) {
		ret = refuse_call(c, E_NOTFOUND, "there is no version %" PRId64 " yet",
		                  version);
	}
	if (ret != E_OK) {
		return ret;
	}
	bool done = settled >= (uint64_t)version && n_late == 0 &&
	            sweep_status(c->sweep)->epoch != 0;
	if (!done && control_waited_ms(c->control) < (uint64_t)timeout_ms) {
		return CONTROL_WAIT;
	}
	ports = json_array();
	for (uint32_t i = 0; i < n && i < P_KEYS_MISSING_MAX; i++) {
		json_array_append_new(ports, json_string(missing[i].place));
	}
	json_object_set_new(c->reply, "programmed", json_boolean(done));
	json_object_set_new(c->reply, "version", json_integer(version));
	json_object_set_new(c->reply, "programmed_version",
	                    json_integer((json_int_t)settled));
	json_object_set_new(c->reply, "ports", ports);
	json_object_set_new(c->reply, "port_count", json_integer(n));
	return E_OK;
}

/* --- the verb ------------------------------------------------------------------------- */

static const char *code_of(int ret)
{
	switch (ret) {
	case E_SYNTAX:
	case E_RANGE: return "invalid";
	case E_NOTFOUND: return "not_found";
	case E_DUPLICATE: return "exists";
	case E_STALE: return "conflict";
	case E_FULL: return "full";
	case E_UNSUITABLE: return "read_only";
	case E_UNKNOWN: return "no_host";
	case E_NOTREADY: return "standby";
	case -ENOMEM: return "memory";
	default: return "disk";
	}
}

static const struct {
	const char *name;
	int (*run)(const struct call *c);
} actions[] = {
	{ "create", run_create }, { "add", run_add },       { "remove", run_remove },
	{ "set", run_set },       { "delete", run_delete }, { "list", run_list },
	{ "show", run_show },     { "wait", run_wait },
};

static int run_action(const struct call *c)
{
	const char *name = json_string_value(json_object_get(c->request, "action"));

	for (size_t i = 0; name != NULL && i < sizeof(actions) / sizeof(actions[0]);
	     i++) {
		if (strcmp(actions[i].name, name) == 0) {
			return c->a != NULL ? actions[i].run(c) : -ENOMEM;
		}
	}
	return refuse_call(
		c, E_SYNTAX,
		"'action' must be create, add, remove, set, delete, list, show or wait");
}

int partition_verb(struct sweep *s, struct control *c, const json_t *request,
                   json_t *reply, char *why, size_t why_bytes)
{
	struct call call = { .sweep = s,
		             .control = c,
		             .request = request,
		             .reply = reply,
		             .a = arena_new(),
		             .why = why,
		             .why_bytes = why_bytes };
	int ret = run_action(&call);

	arena_free(call.a);
	if (ret == E_OK) {
		control_unsettled(c); /* it may rest on a change that is held */
	} else if (ret != CONTROL_WAIT) {
		json_object_set_new(reply, "code", json_string(code_of(ret)));
	}
	return ret;
}

int partition_settle(struct sweep *s, json_t *reply, char *why, size_t why_bytes)
{
	int ret = sweep_settle_partitions(s, why, why_bytes);

	if (ret != E_OK) {
		json_object_set_new(reply, "code", json_string(code_of(ret)));
	}
	return ret;
}

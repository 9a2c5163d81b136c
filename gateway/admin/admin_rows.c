/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The table of resources of the write door, and the handlers of its own API. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/admin/admin_call.h"
#include "gateway/resource/openapi.h"
#include "gateway/view/json_text.h"

enum { WAIT_MAX_MS = 10000, WAIT_MS = 5000 };

/* A list of partitions is short without their members. */
static int without_members(struct admin_call *c)
{
	json_object_set_new(c->ask, "members", json_false());
	return E_OK;
}

static int number_param(struct admin_call *c, const char *name, uint64_t most,
                        uint64_t *ret_number)
{
	const char *text = uri_param(&c->uri, name);

	if (text != NULL && text_u64(text, most, ret_number) == E_OK) {
		return E_OK;
	}
	return problem_param(&c->problem, c->arena, E_HTTP_PARAMETER, name,
	                     "%s must be a number up to %" PRIu64, name, most);
}

int admin_timeout(struct admin_call *c, uint64_t *ret_ms)
{
	*ret_ms = WAIT_MS;
	return uri_param(&c->uri, "timeout_ms") == NULL
	               ? E_OK
	               : number_param(c, "timeout_ms", WAIT_MAX_MS, ret_ms);
}

static int wait_for(struct admin_call *c)
{
	uint64_t version, timeout_ms;
	int ret = number_param(c, "version", INT64_MAX, &version);

	if (ret == E_OK) {
		ret = admin_timeout(c, &timeout_ms);
	}
	if (ret == E_OK) {
		json_object_set_new(c->ask, "version", json_integer((json_int_t)version));
		json_object_set_new(c->ask, "timeout_ms",
		                    json_integer((json_int_t)timeout_ms));
	}
	return ret;
}

/* clang-format off */
#define INDEX0 { "index0", FIELD_BOOL, 0, "index0", "the P_Key stands at index 0 of the tables of its members" }
#define IPOIB { "ipoib", FIELD_BOOL, 0, "ipoib", "the partition has a broadcast group for IPoIB" }
#define MEMBERSHIP(to) { "membership", FIELD_MEMBERSHIP, 0, to, "of members that have none of their own" }
#define MEMBERS(flags) { "members", FIELD_MEMBERS, flags, "members", "GUIDs of ports, also of ports that are not there yet" }
#define CREATE { "create", FIELD_BOOL, 0, "create", "make the partition if there is none" }

static const struct field create_fields[] = {
	{ "p_key", FIELD_P_KEY, FIELD_REQUIRED, "pkey", "the P_Key; its highest bit is ignored" },
	{ "name", FIELD_TEXT, 0, "name", "name of the partition" },
	MEMBERSHIP("membership"), INDEX0, IPOIB, { NULL }
};
static const struct field add_fields[] = { MEMBERS(FIELD_REQUIRED), MEMBERSHIP(NULL), INDEX0, IPOIB, CREATE, { NULL } };
static const struct field job_fields[] = {
	{ "hosts", FIELD_NAMES, 0, "hosts", "names of hosts; all ports of their adapters that are in the fabric become members" },
	{ "members", FIELD_MEMBERS, 0, "members", "GUIDs of further ports" },
	MEMBERSHIP("membership"), INDEX0, IPOIB,
	{ "p_key_first", FIELD_P_KEY, 0, "first", "with p_key_last: a new partition gets a P_Key of this range" },
	{ "p_key_last", FIELD_P_KEY, 0, "last", "the highest P_Key of the range" },
	{ NULL }
};
static const struct field remove_fields[] = { MEMBERS(FIELD_REQUIRED), { NULL } };
static const struct field none_fields[] = { { NULL } };
static const struct field sweep_fields[] = {
	{ "heavy", FIELD_BOOL, 0, "heavy", "discover the whole fabric and route it again" },
	{ NULL }
};
static const struct field port_fields[] = {
	{ "port", FIELD_TEXT, FIELD_REQUIRED, "port", "NAME:PORT, where NAME is a name, a GUID or a LID" },
	{ "force", FIELD_BOOL, 0, "force", "also the last link of the subnet manager's own port" },
	{ NULL }
};
static const struct field forget_fields[] = {
	{ "node", FIELD_TEXT, 0, "node", "name, GUID or last LID of a node that is gone" },
	{ "all", FIELD_BOOL, 0, "all", "true: all that are gone, in place of node" },
	{ NULL }
};
static const struct field ack_fields[] = {
	{ "until", FIELD_TEXT, 0, "until", "when it ends: a time such as 2027-01-31T12:00:00Z, or from now on 30m, 2h, 7d; with the alarm by default" },
	{ "note", FIELD_TEXT, 0, "note", "why" },
	{ NULL }
};
static const struct field maintenance_fields[] = {
	{ "node", FIELD_TEXT, FIELD_REQUIRED, "node", "name, GUID or LID of a node; with :PORT the cable of that port" },
	{ "until", FIELD_TEXT, 0, "until", "when it ends by itself: a time such as 2027-01-31T12:00:00Z, or from now on 30m, 2h, 7d" },
	{ "note", FIELD_TEXT, 0, "note", "why" },
	{ "force", FIELD_BOOL, 0, "force", "also if pairs of other hosts lose their routes" },
	{ "dry_run", FIELD_BOOL, 0, "dry_run", "only what would happen" },
	{ NULL }
};
/* Members of the bodies that the plug-in for Kubernetes sends, and other clients of that API. */
static const struct field ufm_add_fields[] = {
	{ "pkey", FIELD_P_KEY, FIELD_REQUIRED, "pkey", "the P_Key" },
	{ "membership", FIELD_MEMBERSHIP, 0, NULL, "of all GUIDs; full by default" },
	{ "memberships", FIELD_MEMBERSHIPS, 0, NULL, "one for each GUID, instead of membership" },
	{ "guids", FIELD_GUIDS, FIELD_REQUIRED, "members", "GUIDs of ports" },
	{ "index0", FIELD_BOOL, 0, "index0", "the P_Key stands at index 0; false by default" },
	{ "ip_over_ib", FIELD_BOOL, 0, "ipoib", "a broadcast group for IPoIB; true by default" },
	{ NULL }
};
static const struct field ufm_hosts_fields[] = {
	{ "pkey", FIELD_P_KEY, FIELD_REQUIRED, "pkey", "the P_Key" },
	{ "hosts_names", FIELD_NAMES, FIELD_REQUIRED, "hosts", "names of hosts" },
	{ "membership", FIELD_MEMBERSHIP, 0, "membership", "of all ports; full by default" },
	{ "index0", FIELD_BOOL, 0, "index0", "the P_Key stands at index 0; false by default" },
	{ "ip_over_ib", FIELD_BOOL, 0, "ipoib", "a broadcast group for IPoIB; true by default" },
	{ NULL }
};
static const struct field ufm_create_fields[] = {
	{ "pkey", FIELD_P_KEY, FIELD_REQUIRED, "pkey", "the P_Key" },
	{ "partition_name", FIELD_TEXT, 0, "name", "name of the partition" },
	{ "index0", FIELD_BOOL, 0, "index0", "the P_Key stands at index 0; false by default" },
	{ "ip_over_ib", FIELD_BOOL, 0, "ipoib", "a broadcast group for IPoIB; true by default" },
	{ NULL }
};
static const struct field ufm_remove_fields[] = {
	{ "pkey", FIELD_P_KEY, FIELD_REQUIRED, "pkey", "the P_Key" },
	{ "guids", FIELD_GUIDS, FIELD_REQUIRED, "members", "GUIDs of ports" },
	{ NULL }
};
#define READ ROLE_VIEWER
#define WRITE ROLE_PARTITION_ADMIN
#define RUN ROLE_OPERATOR
#define FORM(members) { .type = "application/json", .max_bytes = ADMIN_BODY_MAX, .fields = members }
#define STRICT(members) { .type = "application/json", .max_bytes = ADMIN_BODY_MAX, .fields = members, .strict = true }
#define ANY(status_) .answer = "any", .status = status_
#define ASK(prepare, verb, action) prepare, verb, action
#define NO_ASK NULL, NULL, NULL
/* clang-format on */

#define RESOURCES_DEF "gateway/admin/resources.def"
#define RESOURCE_HOW struct admin_how
#include "gateway/resource/tables.h"

static const struct answers answers = { RESOURCE_ANSWERS };

static const char *name_of_role(unsigned role)
{
	return role_name((enum role)role);
}

const struct resources admin_resources = {
	RESOURCE_ROWS,
	.answers = &answers,
	.title = "saguaro-admin",
	.description = "The write door of Saguaro. Below /NAME for a further fabric.",
	.etag = "the version of the partitions",
	.role_name = name_of_role
};

/* saguarod's "pkey": "0x0001" is "p_key": 1 in all answers over HTTP. */
static void rename_p_key(json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "pkey"));
	uint64_t number;

	if (text != NULL && text_u64(text, UINT16_MAX, &number) == E_OK) {
		json_object_set_new(o, "p_key", json_integer((json_int_t)number));
		json_object_del(o, "pkey");
	}
}

static void rename_p_keys(json_t *reply)
{
	json_t *p;
	size_t i;

	rename_p_key(reply);
	rename_p_key(json_object_get(reply, "partition"));
	json_array_foreach(json_object_get(reply, "partitions"), i, p)
	{
		rename_p_key(p);
	}
}

int admin_forward(struct admin_call *c)
{
	int ret = admin_ask(c, c->ask, &c->heard);

	if (ret != E_OK) {
		return ret;
	}
	if ((c->row->flags & RESOURCE_VERSION) != 0) {
		admin_set_version(c, c->heard);
	}
	c->out = json_deep_copy(c->heard);
	rename_p_keys(c->out);
	return c->out != NULL ? E_OK : -ENOMEM;
}

int admin_index(struct admin_call *c)
{
	json_t *list = json_array(), *fabrics = json_array();

	for (unsigned i = 0; i < admin_resources.n; i++) {
		const struct resource *r = &admin_resources.row[i];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s}", "method", r->method,
		                        "path", r->path, "role",
		                        role_name(r->role), "summary",
		                        r->summary));
	}
	for (unsigned i = 0; i < c->admin->n_fabrics; i++) {
		json_array_append_new(fabrics, json_string(c->admin->fabric[i].name));
	}
	c->out = json_pack("{s:o, s:o}", "fabrics", fabrics, "resources", list);
	return c->out != NULL ? E_OK : -ENOMEM;
}

int admin_healthz(struct admin_call *c)
{
	c->out = json_pack("{s:s}", "status", "ok");
	return c->out != NULL ? E_OK : -ENOMEM;
}

int admin_openapi(struct admin_call *c)
{
	c->out = openapi_document(&admin_resources);
	return c->out != NULL ? E_OK : -ENOMEM;
}

int admin_who(struct admin_call *c)
{
	char expires[32];

	user_expiry_text(c->who.expires, expires);
	c->out = json_pack("{s:s, s:s, s:s, s:s}", "user", c->who.name, "role",
	                   role_name(c->who.role), "expires", expires, "fabric",
	                   c->fabric->name);
	return c->out != NULL ? E_OK : -ENOMEM;
}

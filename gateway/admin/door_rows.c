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
#include "gateway/admin/door_call.h"
#include "gateway/view/json_text.h"

enum { WAIT_MAX_MS = 10000, WAIT_MS = 5000 };

static const char *const wait_params[] = { "version", "timeout_ms", NULL };

/* A list of partitions is short without their members. */
static int without_members(struct door_call *c)
{
	json_object_set_new(c->ask, "members", json_false());
	return E_OK;
}

static int wait_for(struct door_call *c)
{
	const char *text[] = { uri_param(&c->uri, "version"),
		               uri_param(&c->uri, "timeout_ms") };
	const uint64_t most[] = { INT64_MAX, WAIT_MAX_MS };
	uint64_t number[] = { 0, WAIT_MS };

	for (unsigned i = 0; i < 2; i++) {
		if (text[i] == NULL ? i == 0
		                    : text_u64(text[i], most[i], &number[i]) != E_OK) {
			return problem_param(&c->problem, c->arena, E_HTTP_PARAMETER,
			                     wait_params[i],
			                     "%s must be a number up to %" PRIu64,
			                     wait_params[i], most[i]);
		}
		json_object_set_new(c->ask, wait_params[i],
		                    json_integer((json_int_t)number[i]));
	}
	return E_OK;
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
static const char *const ufm_params[] = { "guids_data", "qos_conf", "port_info", NULL };

#define READ ROLE_VIEWER
#define WRITE ROLE_PARTITION_ADMIN
#define RUN ROLE_OPERATOR
#define OWN (DOOR_CHANGE | DOOR_VERSION | DOOR_STRICT)
#define COMMAND (DOOR_CHANGE | DOOR_STRICT)

const struct door_row door_rows[] = {
	{ "GET",    "/v1/partitions",                  READ,  without_members, door_forward,  "partition", "list",   NULL, NULL, DOOR_VERSION, 200, "all partitions" },
	{ "POST",   "/v1/partitions",                  WRITE, NULL,            door_forward,  "partition", "create", create_fields, NULL, OWN, 201, "make a partition" },
	{ "GET",    "/v1/partitions/{p_key}",          READ,  NULL,            door_forward,  "partition", "show",   NULL, NULL, DOOR_VERSION, 200, "one partition with its members" },
	{ "DELETE", "/v1/partitions/{p_key}",          WRITE, NULL,            door_forward,  "partition", "delete", NULL, NULL, OWN, 200, "remove a partition that was made at run time" },
	{ "POST",   "/v1/partitions/{p_key}/members",  WRITE, NULL,            door_forward,  "partition", "add",    add_fields, NULL, OWN, 200, "add members; members that are there stay" },
	{ "PUT",    "/v1/partitions/{p_key}/members",  WRITE, NULL,            door_forward,  "partition", "set",    add_fields, NULL, OWN, 200, "these members and no others, of those made at run time" },
	{ "DELETE", "/v1/partitions/{p_key}/members/{guid}", WRITE, NULL,            door_forward,  "partition", "remove", NULL, NULL, OWN, 200, "remove one member" },
	{ "POST",   "/v1/partitions/{p_key}/remove",   WRITE, NULL,            door_forward,  "partition", "remove", remove_fields, NULL, OWN, 200, "remove members; others that are not there do not matter" },
	{ "GET",    "/v1/wait",                        READ,  wait_for,        door_forward,  "partition", "wait",   NULL, wait_params, 0, 200, "wait until a version of the partitions is in the tables of the ports" },
	{ "GET",    "/v1/status",                      READ,  NULL,            door_forward,  "status",    NULL,     NULL, NULL, 0, 200, "what saguarod is doing" },
	{ "POST",   "/v1/sweep",                       RUN,   NULL,            door_forward,  "sweep",     NULL,     sweep_fields, NULL, COMMAND, 202, "ask for a sweep" },
	{ "POST",   "/v1/rebalance",                   RUN,   NULL,            door_forward,  "rebalance", NULL,     none_fields, NULL, COMMAND, 202, "ask for routes without regard to those that there are" },
	{ "POST",   "/v1/reload",                      RUN,   NULL,            door_forward,  "reload",    NULL,     none_fields, NULL, COMMAND, 202, "read the configuration again" },
	{ "POST",   "/v1/handover",                    RUN,   NULL,            door_forward,  "handover",  NULL,     none_fields, NULL, COMMAND, 202, "hand the fabric over to another subnet manager" },
	{ "POST",   "/v1/port/{action}",               RUN,   NULL,            door_forward,  "port",      NULL,     port_fields, NULL, COMMAND, 202, "disable or enable a port" },
	{ "GET",    "/ufmRest/app/ufm_version",        READ,  NULL,            ufm_version,   NULL,        NULL,     NULL, NULL, 0, 200, "for clients of that API: who answers" },
	{ "GET",    "/ufmRest/resources/pkeys",        READ,  ufm_prepare,     ufm_list,      "partition", "list",   NULL, ufm_params, 0, 200, "P_Keys; with guids_data=true their GUIDs" },
	{ "POST",   "/ufmRest/resources/pkeys",        WRITE, ufm_prepare,     ufm_change,    "partition", "add",    ufm_add_fields, NULL, DOOR_CHANGE, 200, "add members; makes the partition if there is none" },
	{ "PUT",    "/ufmRest/resources/pkeys",        WRITE, ufm_prepare,     ufm_change,    "partition", "set",    ufm_add_fields, NULL, DOOR_CHANGE, 200, "these members and no others" },
	{ "POST",   "/ufmRest/resources/pkeys/add",    WRITE, ufm_prepare,     ufm_change,    "partition", "create", ufm_create_fields, NULL, DOOR_CHANGE, 200, "make a partition without members" },
	{ "GET",    "/ufmRest/resources/pkeys/last_updated", READ,  without_members, ufm_updated,   "partition", "list", NULL, NULL, 0, 200, "when partitions were changed last" },
	{ "GET",    "/ufmRest/resources/pkeys/{p_key}", READ,  NULL,            ufm_show,      "partition", "show",   NULL, ufm_params, 0, 200, "one partition" },
	{ "DELETE", "/ufmRest/resources/pkeys/{p_key}", WRITE, ufm_prepare,     ufm_change,    "partition", "delete", NULL, NULL, DOOR_CHANGE, 200, "remove a partition" },
	{ "POST",   "/ufmRest/actions/remove_guids_from_pkey", WRITE, ufm_prepare,     ufm_change,    "partition", "remove", ufm_remove_fields, NULL, DOOR_CHANGE, 200, "remove members" },
	{ "GET",    "/v1/user",                        READ,  NULL,            door_who,      NULL,        NULL,     NULL, NULL, 0, 200, "who is asking, and as what" },
	{ "GET",    "/openapi.json",                   READ,  NULL,            door_openapi,  NULL,        NULL,     NULL, NULL, 0, 200, "this API as OpenAPI" },
	{ "GET",    "/healthz",                        ROLE_NONE, NULL,            door_healthz,  NULL,      NULL,     NULL, NULL, DOOR_OPEN, 200, "this process lives" },
	{ "GET",    "/",                               READ,  NULL,            door_index,    NULL,        NULL,     NULL, NULL, 0, 200, "this list" },
	{ NULL }
};
/* clang-format on */

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

int door_forward(struct door_call *c)
{
	int err = door_ask(c, c->ask, &c->heard);

	if (err != E_OK) {
		return err;
	}
	if ((c->row->flags & DOOR_VERSION) != 0) {
		door_set_version(c, c->heard);
	}
	c->out = json_deep_copy(c->heard);
	rename_p_keys(c->out);
	return c->out != NULL ? E_OK : -ENOMEM;
}

int door_index(struct door_call *c)
{
	json_t *list = json_array(), *fabrics = json_array();

	for (const struct door_row *r = door_rows; r->method != NULL; r++) {
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "method",
		                                      r->method, "path", r->path, "role",
		                                      role_name(r->role), "summary",
		                                      r->summary));
	}
	for (unsigned i = 0; i < c->door->n_fabrics; i++) {
		json_array_append_new(fabrics, json_string(c->door->fabric[i].name));
	}
	c->out = json_pack("{s:o, s:o}", "fabrics", fabrics, "resources", list);
	return c->out != NULL ? E_OK : -ENOMEM;
}

int door_healthz(struct door_call *c)
{
	c->out = json_pack("{s:s}", "status", "ok");
	return c->out != NULL ? E_OK : -ENOMEM;
}

int door_openapi(struct door_call *c)
{
	c->out = openapi_document(door_rows);
	return c->out != NULL ? E_OK : -ENOMEM;
}

int door_who(struct door_call *c)
{
	char expires[32];

	user_expiry_text(c->who.expires, expires);
	c->out = json_pack("{s:s, s:s, s:s, s:s}", "user", c->who.name, "role",
	                   role_name(c->who.role), "expires", expires, "fabric",
	                   c->fabric->name);
	return c->out != NULL ? E_OK : -ENOMEM;
}

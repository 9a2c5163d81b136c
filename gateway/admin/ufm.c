/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The calls that clients of another manager's REST interface send, above all the plug-in of
 * Kubernetes for InfiniBand (ib-kubernetes): the same partitions in that interface's words.
 *
 * That plug-in relies on this: every status but 200 is a failure, and it tries again; so adding
 * a member that is there and removing one that is not are good. It compares GUIDs as text, as
 * 16 lower-case hex digits without 0x. It takes its time from the Date header of a HEAD request,
 * and waits until last_updated is later than its last change.
 */
#include "gateway/admin/admin_call.h"

#include <config.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"

enum { RANGE_MAX = 4096 /* GUIDs of a range of a file that are listed one by one */ };

int ufm_version(struct admin_call *c)
{
	c->out = json_pack("{s:s, s:s}", "ufm_release_version", PACKAGE_VERSION, "server",
	                   "saguaro-admin");
	return c->out != NULL ? E_OK : -ENOMEM;
}

/* There a change of many hosts is a job that goes on after its answer; here there is none. */
int ufm_jobs(struct admin_call *c)
{
	c->out = json_array();
	return c->out != NULL ? E_OK : -ENOMEM;
}

/* The P_Key of a reply as that interface writes it: 15 bits. */
static json_t *p_key_text(const json_t *partition)
{
	const char *text = json_string_value(json_object_get(partition, "pkey"));
	uint64_t number =
		(uint64_t)json_integer_value(json_object_get(partition, "pkey"));

	if (text != NULL && text_u64(text, UINT16_MAX, &number) != E_OK) {
		number = 0;
	}
	return json_sprintf("0x%x", (unsigned)(number & P_KEY_BASE));
}

static void add_guid(json_t *list, uint64_t guid, const char *membership, bool index0)
{
	json_array_append_new(list,
	                      json_pack("{s:o, s:s, s:b}", "guid",
	                                json_sprintf("%016" PRIx64, guid), "membership",
	                                membership != NULL ? membership : "full",
	                                "index0", (int)index0));
}

/* GUIDs of members. Those of a file may be ranges; ALL and the like have no GUID. */
static json_t *guids_of(const json_t *members, bool index0)
{
	json_t *list = json_array();
	const json_t *m;
	size_t i;

	json_array_foreach(members, i, m)
	{
		const char *guid = json_string_value(json_object_get(m, "guid"));
		const char *from = json_string_value(json_object_get(m, "first"));
		const char *to = json_string_value(json_object_get(m, "last"));
		const char *membership =
			json_string_value(json_object_get(m, "membership"));
		uint64_t first, last;

		from = guid != NULL ? guid : from;
		to = guid != NULL ? guid : to;
		if (from == NULL || to == NULL || text_guid(from, &first) != E_OK ||
		    text_guid(to, &last) != E_OK || first > last ||
		    last - first >= RANGE_MAX) {
			continue;
		}
		for (uint64_t n = 0; n <= last - first; n++) {
			add_guid(list, first + n, membership, index0);
		}
	}
	return list;
}

/* {"partition", "ip_over_ib", "guids"} of a partition. */
static json_t *partition_of(const json_t *p, bool with_guids)
{
	const char *name = json_string_value(json_object_get(p, "name"));
	bool index0 = json_is_true(json_object_get(p, "index0"));
	json_t *o = json_pack("{s:s, s:b}", "partition", name != NULL ? name : "",
	                      "ip_over_ib", json_is_true(json_object_get(p, "ipoib")));

	if (with_guids) {
		json_object_set_new(o, "guids",
		                    guids_of(json_object_get(p, "members"), index0));
	}
	return o;
}

static bool asks_for_guids(const struct admin_call *c)
{
	const char *text = uri_param(&c->uri, "guids_data");

	return text != NULL && strcasecmp(text, "true") == 0;
}

int ufm_list(struct admin_call *c)
{
	bool objects = c->uri.n_params > 0, guids = asks_for_guids(c);
	const json_t *p;
	size_t i;
	int ret = admin_ask(c, c->ask, &c->heard);

	if (ret != E_OK) {
		return ret;
	}
	c->out = objects ? json_object() : json_array();
	json_array_foreach(json_object_get(c->heard, "partitions"), i, p)
	{
		json_t *key = p_key_text(p);

		if (objects) {
			json_object_set_new(c->out, json_string_value(key),
			                    partition_of(p, guids));
			json_decref(key);
		} else {
			json_array_append_new(c->out, key);
		}
	}
	return c->out != NULL ? E_OK : -ENOMEM;
}

int ufm_show(struct admin_call *c)
{
	int ret = admin_ask(c, c->ask, &c->heard);

	if (ret == E_OK) {
		c->out = partition_of(json_object_get(c->heard, "partition"),
		                      asks_for_guids(c));
		ret = c->out != NULL ? E_OK : -ENOMEM;
	}
	return ret;
}

/* "2020-09-03T11:42:39Z" becomes "Thu Sep 3 11:42:39 UTC 2020". */
static json_t *updated_text(const json_t *value)
{
	const char *text = json_string_value(value);
	struct tm t = { .tm_year = 0 };
	char day[8], rest[32];

	if (text == NULL || strptime(text, "%Y-%m-%dT%H:%M:%S", &t) == NULL) {
		return json_null();
	}
	/* The Date header is cut to whole seconds, and so is this time. A change in the second
	 * of a Date must be later than it. */
	time_t at = timegm(&t) + 1;
	gmtime_r(&at, &t);
	strftime(day, sizeof(day), "%a", &t);
	strftime(rest, sizeof(rest), "%H:%M:%S UTC %Y", &t);
	char month[8];
	strftime(month, sizeof(month), "%b", &t);
	return json_sprintf("%s %s %d %s", day, month, t.tm_mday, rest);
}

int ufm_updated(struct admin_call *c)
{
	int ret = admin_ask(c, c->ask, &c->heard);

	if (ret == E_OK) {
		c->out = json_pack(
			"{s:o}", "last_updated",
			updated_text(json_object_get(c->heard, "last_updated")));
		ret = c->out != NULL ? E_OK : -ENOMEM;
	}
	return ret;
}

/* The verb for partitions in the request to saguarod. */
static const char *action_of(const struct admin_call *c)
{
	const struct admin_how *how = c->row->how;

	return how->action;
}

int ufm_prepare(struct admin_call *c)
{
	const char *action = action_of(c);
	bool makes = strcmp(action, "add") == 0 || strcmp(action, "set") == 0;
	json_t *m;
	size_t i;

	if (strcmp(action, "list") == 0) {
		json_object_set_new(c->ask, "members", json_boolean(asks_for_guids(c)));
		return E_OK;
	}
	json_array_foreach(json_object_get(c->ask, "members"), i, m)
	{
		if (makes && json_object_get(m, "membership") == NULL) {
			json_object_set_new(m, "membership", json_string("full"));
		}
	}
	if (makes) {
		json_object_set_new(c->ask, "create", json_true());
	}
	if ((makes || strcmp(action, "create") == 0) &&
	    json_object_get(c->ask, "ipoib") == NULL) {
		json_object_set_new(c->ask, "ipoib", json_true());
	}
	return E_OK;
}

int ufm_change(struct admin_call *c)
{
	int ret = admin_ask(c, c->ask, &c->heard);

	/* To remove members of a partition that is gone leaves nothing to do; a failure would
	 * make the client try again for ever. */
	if (ret == E_NOTFOUND && strcmp(action_of(c), "remove") == 0) {
		problem_clear(&c->problem);
		ret = E_OK;
	}
	if (ret == E_OK) {
		c->out = json_object();
		ret = c->out != NULL ? E_OK : -ENOMEM;
	}
	return ret;
}

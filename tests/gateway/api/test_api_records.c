/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/records: the same records as the subnet administration's, over the small fabric. */
#include <check.h>

#include "conf/base/clock.h"
#include "gateway/api/metrics.h"
#include "gateway/view/json_text.h"
#include "gateway/view/record_json.h"
#include "gateway/view/source.h"
#include "sa/record/attributes.h"
#include "tests/lib/api_json.h"
#include "tests/lib/client_rows.h"
#include "tests/lib/suite.h"

static struct query_fixture *w;
static struct http_stats stats;
static struct api_thread thread;

static void start(void)
{
	w = query_fixture_small(1, 0, PATH_PAIRWISE);
	query_fixture_publish(w, PATH_PAIRWISE);
	query_fixture_written(w);
	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &stats };
	ck_assert_ptr_nonnull(thread.source);
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	query_fixture_free(w);
}

/* --- a record value by value, with jansson: what the writer without it must be equal to
 * --- */

static json_t *list_json(const struct sa_field *f, const uint8_t *record, unsigned bits)
{
	json_t *list = json_array();

	for (unsigned at = 0; at < f->width; at += bits) {
		uint64_t v = field_get(record, f->bit + at, bits);
		json_array_append_new(list, json_integer((json_int_t)v));
	}
	return list;
}

static json_t *pairs_json(const struct sa_field *f, const uint8_t *record)
{
	json_t *list = json_array();

	for (unsigned at = 0; at < f->width; at += 2 * 8) {
		const uint8_t *p = record + (f->bit + at) / 8;
		json_array_append_new(list, json_pack("[ii]", p[0], p[1]));
	}
	return list;
}

static json_t *string_json(const struct sa_field *f, const uint8_t *record)
{
	char text[256] = "";
	size_t bytes = f->width / 8;

	memcpy(text, record + f->bit / 8,
	       bytes < sizeof(text) ? bytes : sizeof(text) - 1);
	return text_json(text);
}

static json_t *value_json(const struct sa_field *f, const uint8_t *record)
{
	switch (f->how & SA_FORM) {
	case SA_TEXT: return string_json(f, record);
	case SA_LIST4: return list_json(f, record, 4);
	case SA_LIST8: return list_json(f, record, 8);
	case SA_LIST16: return list_json(f, record, 16);
	case SA_PAIRS: return pairs_json(f, record);
	default: break;
	}
	if (f->width == 128) {
		return gid_json(field_get(record, f->bit, 64),
		                field_get(record, f->bit + 64, 64));
	}
	uint64_t v = field_get(record, f->bit, f->width);
	return f->width > 53 ? guid_json(v) : json_integer((json_int_t)v);
}

static json_t *by_jansson(const struct sa_attr *attr, const uint8_t *record)
{
	json_t *o = json_object();
	char key[RECORD_KEY_MAX];

	for (unsigned i = 0; i < attr->n_fields; i++) {
		const struct sa_field *f = &attr->fields[i];
		if ((f->how & SA_HOW) != SA_RESERVED) {
			record_key(f->name, key);
			json_object_set_new(o, key, value_json(f, record));
		}
	}
	return o;
}

static json_t *records_of(const json_t *body)
{
	return json_object_get(body, "records");
}

/* clang-format off */
static const struct {
	const char *name, *key;
} keys[] = {
	{ "LID", "lid" }, { "NodeGUID", "node_guid" }, { "LinearFDBTop", "linear_fdb_top" },
	{ "M_KeyLeasePeriod", "m_key_lease_period" }, { "P_Key", "p_key" }, { "QoSClass", "qos_class" },
	{ "LIDsPerPort", "lids_per_port" }, { "GUID0", "guid0" }, { "MTUCap", "mtu_cap" },
	{ "SLtoVLMappingTable", "sl_to_vl_mapping_table" }, { "HOQLife", "hoq_life" },
	{ "OptimizedSLtoVLMappingProgramming", "optimized_sl_to_vl_mapping_programming" },
	{ "MulticastPKeyTrapSuppressionEnabled", "multicast_p_key_trap_suppression_enabled" },
	{ "SM_Key", "sm_key" }, { "SMState", "sm_state" }, { "PacketLifeTimeSelector", "packet_life_time_selector" },
	{ "ServiceID8MSB", "service_id8_msb" }, { "VLArbitrationHighCap", "vl_arbitration_high_cap" },
	{ "EnhancedPort0", "enhanced_port0" }, { "ToLID", "to_lid" },
	{ "ServiceData8.16", "service_data8_16" },
};
/* clang-format on */

START_TEST(keys_in_snake_case)
{
	char key[RECORD_KEY_MAX];

	record_key(keys[_i].name, key);
	ck_assert_str_eq(key, keys[_i].key);
}
END_TEST

/* Keys are words in small letters, and differ inside an attribute. */
START_TEST(keys_are_good)
{
	const struct sa_attr *attr = sa_attrs[_i];
	char key[RECORD_KEY_MAX], other[RECORD_KEY_MAX];

	for (unsigned i = 0; i < attr->n_fields; i++) {
		record_key(attr->fields[i].name, key);
		ck_assert_uint_eq(strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_"),
		                  strlen(key));
		ck_assert_ptr_null(strstr(key, "__"));
		for (unsigned k = 0; k < i; k++) {
			record_key(attr->fields[k].name, other);
			ck_assert(strcmp(key, other) != 0 ||
			          (attr->fields[i].how & SA_HOW) == SA_RESERVED);
		}
	}
}
END_TEST

/* As many as a GetTable has, and each with the values of its bytes. */
START_TEST(same_as_table)
{
	const struct sa_attr *attr = sa_attrs[_i];
	static const uint8_t nothing[256];
	struct sa_query q = { .attr = attr,
		              .record = nothing,
		              .table = true,
		              .trusted = attr->client_records,
		              .now = 2000 };
	struct sa_out out = { .max = SIZE_MAX, .max_bytes = SIZE_MAX };

	if (record_find(attr->name) != attr || attr->reply != NULL) {
		return;
	}
	ck_assert_int_eq(sa_collect(w->r, &q, &out), E_OK);
	json_t *body = api_json(&thread, 200, "/v1/records/%s", attr->name);
	ck_assert_str_eq(json_string_value(json_object_get(body, "name")), attr->name);
	ck_assert_uint_eq(json_array_size(records_of(body)), out.n);
	for (size_t i = 0; i < out.n; i++) {
		json_t *want = by_jansson(attr, out.data + i * out.stride);
		ck_assert(json_equal(json_array_get(records_of(body), i), want));
		json_decref(want);
	}
	json_decref(body);
	free(out.data);
}
END_TEST

/* A record asked for by all of its components is found. */
START_TEST(finds_itself)
{
	const struct sa_attr *attr = sa_attrs[_i];
	json_t *value, *record;
	const char *key;
	size_t i;

	if (record_find(attr->name) != attr || attr->reply != NULL || attr == &rec_path ||
	    attr == &rec_port_info ||
	    attr == &rec_service) { /* has more components than a target parameters */
		return;
	}
	json_t *body = api_json(&thread, 200, "/v1/records/%s?limit=20", attr->name);
	json_array_foreach(records_of(body), i, record)
	{
		char query[3000] = "", *at = query;
		bool there = false;
		json_t *other;
		size_t k;
		json_object_foreach(record, key, value)
		{
			if (json_is_array(value) || record_component(attr, key) < 0) {
				continue;
			}
			at += sprintf(at, "%s%s=", at == query ? "?" : "&", key);
			at += json_is_string(value)
			              ? sprintf(at, "%s", json_string_value(value))
			              : sprintf(at, "%lld", json_integer_value(value));
		}
		json_t *found =
			api_json(&thread, 200, "/v1/records/%s%s", attr->name, query);
		json_array_foreach(records_of(found), k, other)
		{
			there |= json_equal(other, record);
		}
		/* a group without members has none to be found by */
		there |= attr == &rec_mcmember && strstr(query, "port_gid=::&") != NULL;
		ck_assert_msg(there, "%s%s", attr->name, query);
		json_decref(found);
	}
	json_decref(body);
}
END_TEST

/* clang-format off */
static const char *const paged[] = {
	"NodeRecord", "PortInfoRecord", "LinkRecord", "GUIDInfoRecord", "SwitchInfoRecord",
	"PathRecord", "PathRecord?slid=5", "PathRecord?dlid=5", "PathRecord?slid=5&dlid=7",
	"PortInfoRecord?lid=5", "LinkRecord?to_lid=2", "MCMemberRecord", "ServiceRecord",
	"InformInfoRecord", "MCMemberRecord?trusted=false", "MCMemberRecord?mgid=ff18:a01b::1",
	"MCMemberRecord?rate=3", "ServiceRecord?service_gid=fec0:0:0:7::102", "InformInfoRecord?is_generic=1",
};
/* clang-format on */

/* Whatever the length of a page: together they are the whole. */
START_TEST(pages)
{
	const char *what = paged[_i], *mark = strchr(what, '?') ? "&" : "?";
	json_t *whole = api_json(&thread, 200, "/v1/records/%s", what);
	size_t n = json_array_size(records_of(whole));

	ck_assert_uint_gt(n, 0);
	for (unsigned limit = 1; limit < 12; limit += limit < 4 ? 1 : 4) {
		json_t *all = json_array();
		char cursor[160] = "";
		size_t turns = 0;
		do {
			json_t *page = api_json(
				&thread, 200, "/v1/records/%s%slimit=%u%s%s", what, mark,
				limit, cursor[0] ? "&cursor=" : "", cursor);
			const char *next =
				json_string_value(json_object_get(page, "next_cursor"));
			json_array_extend(all, records_of(page));
			ck_assert(!next || json_array_size(records_of(page)) == limit);
			snprintf(cursor, sizeof(cursor), "%s", next ? next : "");
			json_decref(page);
			ck_assert_uint_le(++turns, n);
		} while (cursor[0]);
		ck_assert(json_equal(all, records_of(whole)));
		json_decref(all);
	}
	json_decref(whole);
}
END_TEST

/* clang-format off */
static const struct {
	const char *target;
	unsigned status;
	const char *parameter; /* at fault, NULL: none is */
} problems[] = {
	{ "/v1/records/ThingRecord",                   404, NULL },
	{ "/v1/records/NodeInfo",                      404, NULL },
	{ "/v1/records/nodes",                         404, NULL },
	{ "/v1/records/NodeRecord?color=blue",         400, "color" },
	{ "/v1/records/NodeRecord?reserved=1",         400, "reserved" },
	{ "/v1/records/NodeRecord?lid=",               400, "lid" },
	{ "/v1/records/NodeRecord?lid=65536",          400, "lid" },
	{ "/v1/records/NodeRecord?node_guid=xyz",      400, "node_guid" },
	{ "/v1/records/NodeRecord?node_description=0123456789012345678901234567890123456789012345678901234567890123456789", 400, "node_description" },
	{ "/v1/records/PathRecord?dgid=5",             400, "dgid" },
	{ "/v1/records/PathRecord?dgid=fe80::9999",    400, NULL },
	{ "/v1/records/PathRecord?service_id8_msb=1",  400, NULL },
	{ "/v1/records/LinearForwardingTableRecord?linear_forwarding_table=1", 400, "linear_forwarding_table" },
	{ "/v1/records/NodeRecord?limit=0",            400, "limit" },
	{ "/v1/records/NodeRecord?limit=x",            400, "limit" },
	{ "/v1/records/NodeRecord?cursor=x",           400, "cursor" },
	{ "/v1/records/NodeRecord?cursor=1-2",         400, "cursor" },
	{ "/v1/records/NodeRecord?cursor=99-1-0-0",    410, "cursor" },
	{ "/v1/records/NodeRecord?trusted=true",       400, "trusted" },
	{ "/v1/records/ServiceRecord?trusted=yes",     400, "trusted" },
	{ "/v1/records/ServiceRecord?cursor=2-0-0-0-",   400, "cursor" },
	{ "/v1/records/ServiceRecord?cursor=2-0-0-0-0",  400, "cursor" },
	{ "/v1/records/ServiceRecord?cursor=2-0-0-0-0g", 400, "cursor" },
	{ "/v1/records/ServiceRecord?cursor=2-0-0-0-00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899aabbcc", 400, "cursor" },
	{ "/v1/records/ServiceRecord?cursor=99-0-0-0-00", 410, "cursor" },
	{ "/v1/records/ServiceRecord?cursor=x",        400, "cursor" },
};
/* clang-format on */

START_TEST(bad_requests)
{
	json_t *body = api_json(&thread, problems[_i].status, "%s", problems[_i].target);

	ck_assert_ptr_nonnull(json_object_get(body, "detail"));
	if (problems[_i].parameter != NULL) {
		ck_assert_str_eq(json_string_value(json_object_get(body, "parameter")),
		                 problems[_i].parameter);
	}
	json_decref(body);
}
END_TEST

START_TEST(filters)
{
	struct snap_end end = query_fixture_end(w, DUAL + 2);
	json_t *body =
		api_json(&thread, 200, "/v1/records/node?lid=%u", end.base_lid + 1);
	json_t *r = json_array_get(records_of(body), 0);

	ck_assert_uint_eq(json_array_size(records_of(body)), 1);
	ck_assert_str_eq(json_string_value(json_object_get(r, "port_guid")),
	                 "0x0000000000000203");
	ck_assert_str_eq(json_string_value(json_object_get(r, "node_description")),
	                 "dual");
	json_decref(body);
	body = api_json(&thread, 200, "/v1/records/PortInfoRecord?LID=%u&PortNum=2",
	                end.base_lid);
	r = json_array_get(records_of(body), 0);
	ck_assert_uint_eq(json_array_size(records_of(body)), 1);
	ck_assert_str_eq(json_string_value(json_object_get(r, "m_key")),
	                 "0x0000000000000000"); /* is nobody's business */
	json_decref(body);
	body = api_json(&thread, 200, "/v1/records/path?sgid=fe80::%x&dgid=fe80::%x",
	                HOST + 1, TWIN_2 + 1);
	ck_assert_uint_eq(json_array_size(records_of(body)), 2); /* pairwise, LMC 1 */
	json_decref(body);
	body = api_json(&thread, 200, "/v1/records/NodeRecord?lid=4000");
	ck_assert_uint_eq(json_array_size(records_of(body)), 0);
	json_decref(body);
}
END_TEST

static size_t count(const char *target)
{
	json_t *body = api_json(&thread, 200, "/v1/records/%s", target);
	size_t n = json_array_size(records_of(body));

	json_decref(body);
	return n;
}

static const char *first_text(const char *target, const char *key)
{
	static char text[100];
	json_t *body = api_json(&thread, 200, "/v1/records/%s", target);
	const json_t *o = json_object_get(json_array_get(records_of(body), 0), key);

	if (json_is_integer(o)) {
		snprintf(text, sizeof(text), "%lld", json_integer_value(o));
	} else {
		snprintf(text, sizeof(text), "%s", json_string_value(o));
	}
	json_decref(body);
	return text;
}

/* Client records as mirrored: by the same rows and components. */
START_TEST(written)
{
	ck_assert_uint_eq(count("mcmember"), WRITTEN_MEMBERS + 1);
	ck_assert_uint_eq(count("mcmember?trusted=false"), WRITTEN_GROUPS);
	ck_assert_uint_eq(count("mcmember?mgid=ff18:a01b::1"), 3);
	ck_assert_uint_eq(count("mcmember?mgid=ff18:a01b::1&trusted=false"), 1);
	ck_assert_uint_eq(count("mcmember?mgid=ff18:a01b::2"), 0);
	ck_assert_uint_eq(count("mcmember?join_state=1"), 2);
	ck_assert_uint_eq(count("mcmember?mlid=0xc000"), 1);
	ck_assert_uint_eq(count("mcmember?rate_selector=0&rate=3"), 0);
	ck_assert_str_eq(first_text("mcmember?join_state=4", "port_gid"),
	                 "fec0:0:0:7::302");
	ck_assert_str_eq(first_text("mcmember?join_state=4&trusted=false", "port_gid"),
	                 "::");
	ck_assert_uint_eq(count("service"), WRITTEN_SERVICES); /* one has run out */
	ck_assert_uint_eq(count("service?service_id=2"), 1);
	ck_assert_uint_eq(count("service?service_id=3"), 0);
	ck_assert_uint_eq(count("service?service_name=service%204"), 1);
	ck_assert_uint_eq(count("service?service_data8_1=4"), 1);
	ck_assert_str_eq(first_text("service", "service_lease"), "4294967295");
	ck_assert_uint_eq(count("informinfo"), WRITTEN_SUBSCRIPTIONS);
	ck_assert_uint_eq(count("informinfo?subscriber_gid=fec0:0:0:7::102"), 2);
	ck_assert_uint_eq(count("informinfo?trap_number=66"), 1);
	ck_assert_str_eq(first_text("informinfo?trap_number=66", "enum"), "2");
	ck_assert_str_eq(first_text("informinfo", "qpn"), "0"); /* is nobody's business */
}
END_TEST

/* Their ETag moves with them alone, and that of others not with them. */
START_TEST(etags)
{
	static const char *const targets[] = { "/v1/records/node", "/v1/records/service",
		                               "/v1/fabric" };
	char before[3][60];

	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < 3; i++) {
			struct api_request rq = { .method = "GET", .target = targets[i] };
			struct api_reply reply = { 0 };
			api_serve(&thread, &rq, &reply);
			ck_assert_uint_eq(reply.base.status, 200);
			ck_assert_str_ne(reply.base.etag, "");
			if (turn == 1) {
				ck_assert_int_eq(strcmp(reply.base.etag, before[i]) == 0,
				                 i != 1);
			}
			snprintf(before[i], sizeof(before[i]), "%s", reply.base.etag);
			body_clear(&reply.base.body);
		}
		struct snap_published done;
		ck_assert_int_eq(snap_mirror(w->w, NULL, 0, true, 1, &done), E_OK);
	}
}
END_TEST

/* ActCount as the daemon last said it, of its own SM alone; it moves within an epoch, so
 * nobody is told that nothing changed. */
START_TEST(activity)
{
	static const char mine[] = "sminfo?guid=0x0000000000000102";
	const char *why = NULL;
	struct stats *daemon = NULL;

	_Static_assert(HOST + 1 == 0x102, "the GUID above");
	uint8_t *sm = query_fixture_attr(w, UMAD_SM_ATTR_SM_INFO, HOST, 1, 64);
	field_set(sm, SMI_GUID, HOST + 1);
	sm = query_fixture_attr(w, UMAD_SM_ATTR_SM_INFO, SW_B, 0, 64);
	field_set(sm, SMI_GUID, SW_B);
	field_set(sm, SMI_ACT_COUNT, 7);
	w->content.sm_port_guid = HOST + 1;
	query_fixture_publish(w, PATH_PAIRWISE);
	ck_assert_str_eq(first_text(mine, "act_count"), "0"); /* no daemon was here */
	ck_assert_int_eq(stats_open(w->dir, w->a, &why, &daemon), E_OK);
	for (unsigned n = 4096; n < 4098; n++) {
		char count_text[8];
		snprintf(count_text, sizeof(count_text), "%u", n);
		stats_set(daemon, STATS_SMPS_SENT, n);
		ck_assert_int_eq(stats_commit(daemon, boottime_ms()), E_OK);
		if (n == 4096) { /* a source looks for missing files once a second */
			source_free(thread.source);
			thread.source = source_new(w->dir);
		}
		ck_assert_str_eq(first_text(mine, "act_count"), count_text);
	}
	ck_assert_uint_eq(count("sminfo?act_count=4097"), 1);
	ck_assert_uint_eq(count("sminfo?act_count=7"), 1);
	struct api_request rq = { .method = "GET",
		                  .target = "/v1/records/sminfo",
		                  .if_none_match = "*" };
	struct api_reply reply = { 0 };
	api_serve(&thread, &rq, &reply);
	ck_assert_uint_eq(reply.base.status, 200);
	ck_assert_str_eq(reply.base.etag, "");
	body_clear(&reply.base.body);
	stats_close(daemon);
}
END_TEST

/* Is there one? It names what helps. */
static bool warned(const char *target)
{
	json_t *body = api_json(&thread, 200, "/v1/records/%s", target);
	const char *text = json_string_value(json_object_get(body, "warning"));

	ck_assert(text == NULL || (strstr(text, "saquery SL2VL") != NULL &&
	                           strstr(text, "oob_listen") != NULL));
	const bool is = text != NULL;
	json_decref(body);
	return is;
}

/* Without quality of service there may be tables that nobody had read. */
START_TEST(tables_not_read)
{
	static const char *const all[] = { "sltovltable", "vlarbitration",
		                           "SCtoVLtMappingTableRecord",
		                           "SCtoVLntMappingTableRecord" };
	char of_host[40], of_switch[40], line[512] = "";
	uint32_t host = 0, sw = 0;

	for (uint32_t lid = 1; lid <= w->lids.top; lid++) {
		const uint32_t owner = w->lids.owner[lid];
		const uint64_t guid = owner == GRAPH_NONE ? 0 : w->g->ports[owner].guid;
		host = guid == HOST + 1 && host == 0 ? lid : host;
		sw = guid == SW_B && sw == 0 ? lid : sw;
	}
	snprintf(of_host, sizeof(of_host), "sltovltable?lid=%u", host);
	snprintf(of_switch, sizeof(of_switch), "sltovltable?lid=%u", sw);
	ck_assert(warned(of_host));
	memset(query_fixture_attr(w, UMAD_SM_ATTR_SLVL_TABLE, HOST, 1, 8), 0x13, 8);
	query_fixture_publish(w, PATH_PAIRWISE);
	ck_assert_uint_eq(count(of_host), 1);
	ck_assert(!warned(of_host)); /* its node was read */
	ck_assert(warned(of_switch));
	ck_assert(!warned("node"));
	for (unsigned on = 0; on < 2; on++) {
		struct api_request rq = { .method = "GET",
			                  .target = "/v1/records/sltovltable?stream=1" };
		struct api_reply reply = { 0 };
		w->content.qos = on;
		query_fixture_publish(w, PATH_PAIRWISE);
		for (unsigned i = 0; i < 4; i++) {
			ck_assert_msg(warned(all[i]) == !on, "%s", all[i]);
		}
		api_serve(&thread, &rq, &reply);
		ck_assert_ptr_nonnull(reply.stream);
		ck_assert_uint_gt(stream_read(reply.stream, line, sizeof(line) - 1), 0);
		json_t *first = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
		ck_assert_ptr_nonnull(first);
		ck_assert_int_eq(json_object_get(first, "warning") != NULL, !on);
		json_decref(first);
		stream_free(reply.stream);
	}
}
END_TEST

START_TEST(names)
{
	json_t *body = api_json(&thread, 200, "/v1/records"), *r;
	size_t i;

	ck_assert_uint_ge(json_array_size(records_of(body)), 13);
	json_array_foreach(records_of(body), i, r)
	{
		const char *name = json_string_value(json_object_get(r, "name"));
		ck_assert_ptr_nonnull(record_find(name));
		ck_assert_uint_gt(json_array_size(json_object_get(r, "components")), 0);
	}
	json_decref(body);
}
END_TEST

#define COUNT(list) (int)(sizeof(list) / sizeof((list)[0]))

TEST_SUITE(api_records)
{
	TCase *tc = tcase_create("small fabric");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, same_as_table, 0, (int)n_sa_attrs);
	tcase_add_loop_test(tc, finds_itself, 0, (int)n_sa_attrs);
	tcase_add_loop_test(tc, pages, 0, COUNT(paged));
	tcase_add_loop_test(tc, bad_requests, 0, COUNT(problems));
	tcase_add_test(tc, filters);
	tcase_add_test(tc, written);
	tcase_add_test(tc, etags);
	tcase_add_test(tc, activity);
	tcase_add_test(tc, tables_not_read);
	tcase_add_test(tc, names);
	suite_add_tcase(suite, tc);
	TCase *text = tcase_create("names");
	tcase_add_loop_test(text, keys_in_snake_case, 0, COUNT(keys));
	tcase_add_loop_test(text, keys_are_good, 0, (int)n_sa_attrs);
	suite_add_tcase(suite, text);
}

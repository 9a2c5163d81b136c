/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The tables that resources.def makes, and the schemas of records. */
#include "gateway/api/api_call.h"
#include "gateway/api/metrics.h"
#include "gateway/view/path_params.h"
#include "gateway/view/record_json.h"
#include "sa/record/attributes.h"

#define PATH_PARAM_WORD(name) #name " "
#define PATH_PARAM_WORDS PATH_PARAMS(PATH_PARAM_WORD)

enum {
	PATHS_TABLES = TABLE_PATHS | TABLE_LIDS | TABLE_NODES | TABLE_PORTS | TABLE_LFT |
	               TABLE_OPTIONS | TABLE_GUIDS | TABLE_NAMES | TABLE_VLS |
	               TABLE_P_KEY_SETS | TABLE_PREFIX_ROUTES | TABLE_POLICY,
	NODES_TABLES = TABLE_NODES | TABLE_PORTS | TABLE_LIDS,
	GROUP_TABLES =
		TABLE_GROUPS | TABLE_MEMBERS | TABLE_ATTRS | TABLE_LIDS | TABLE_NODES,
	PARTITION_TABLES = TABLE_PARTITIONS | TABLE_P_KEY_SETS | TABLE_GUIDS |
	                   TABLE_LIDS | TABLE_NODES,
	LINKS_TABLES = TABLE_LINKS | TABLE_LOAD | TABLE_NODES | TABLE_PORTS | TABLE_ATTRS,
	RECORDS_TABLES = TABLE_ATTRS | TABLE_LINKS | PATHS_TABLES,
	ALTERNATES_TABLES =
		TABLE_LFT | TABLE_OPTIONS | TABLE_LINKS | TABLE_PORTS | TABLE_NODES,
};

#define RESOURCES_DEF "gateway/api/resources.def"
#define RESOURCE_HOW struct api_how
#include "gateway/resource/tables.h"

static json_t *component_schema(const struct sa_field *f)
{
	enum { GID_BITS = 128, GUID_BITS_MIN = 54 };

	switch (f->how & SA_FORM) {
	case SA_TEXT: return schema_of_type("text");
	case SA_LIST4:
	case SA_LIST8:
	case SA_LIST16: return schema_of_type("[uint]");
	case SA_PAIRS: return schema_of_type("[[uint]]");
	default: break;
	}
	return schema_of_type(f->width == GID_BITS        ? "gid"
	                      : f->width >= GUID_BITS_MIN ? "guid"
	                                                  : "uint");
}

static json_t *record_schema_of(const struct sa_attr *attr)
{
	json_t *properties = json_object(), *required = json_array();
	char key[RECORD_KEY_MAX];

	for (unsigned i = 0; i < attr->n_fields; i++) {
		if ((attr->fields[i].how & SA_HOW) != SA_RESERVED) {
			record_key(attr->fields[i].name, key);
			json_object_set_new(properties, key,
			                    component_schema(&attr->fields[i]));
			json_array_append_new(required, json_string(key));
		}
	}
	return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties,
	                 "required", required);
}

/* A schema for each kind of records, and what /v1/records/{name} lists. */
static void add_records(const struct answers *answers, json_t *all)
{
	json_t *list = json_object_get(all, "RecordList"), *kinds = json_array();

	(void)answers;

	for (unsigned i = 0; i < n_sa_attrs; i++) {
		const struct sa_attr *attr = sa_attrs[i];

		if (record_find(attr->name) != attr) {
			continue;
		}
		attr = sa_reply_attr(attr);
		if (json_object_get(all, attr->name) == NULL) {
			json_object_set_new(all, attr->name, record_schema_of(attr));
			json_array_append_new(kinds, schema_ref(attr->name));
		}
	}
	json_t *records = json_object_get(json_object_get(list, "properties"), "records");
	json_object_set_new(records, "items", json_pack("{s:o}", "anyOf", kinds));
}

_Static_assert(sizeof(rows) / sizeof(rows[0]) < HTTP_ROUTES_MAX,
               "one metrics slot per row and one for no row");

static const struct answers answers = { RESOURCE_ANSWERS, .add = add_records };

const struct resources api_resources = {
	RESOURCE_ROWS,
	.answers = &answers,
	.title = "Saguaro",
	.description =
		"An InfiniBand or Omni-Path fabric as its subnet manager sees it. Every answer is of one epoch of the routing.",
	.etag = "changes with what the answer is made of",
	.has_epoch = true,
	.answers_options = true
};

json_t *api_schemas(void)
{
	return schema_all(&answers);
}

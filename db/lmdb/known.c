/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/known.h"

#include <string.h>

#include "conf/base/err.h"
#include "db/lmdb/layout.h"
#include "routing/graph/graph.h"

_Static_assert((int)KNOWN_ROW_MAX == (int)sizeof(struct row_known) + 2 * (int)KNOWN_NAME_BYTES + (int)sizeof(uint64_t),
               "bytes of a row");

static const char *const names[KNOWN_CAUSES] = {
	"there", "gone", "link-down", "switched-off", "silent", "switch-gone", "replaced",
};

static const char *const texts[KNOWN_CAUSES] = {
	[KNOWN_THERE] = "it is there",
	[KNOWN_GONE] = "nothing shows why",
	[KNOWN_LINK_DOWN] = "its link is down",
	[KNOWN_SWITCHED_OFF] = "its port is switched off",
	[KNOWN_SILENT] = "its link is up, but it does not answer",
	[KNOWN_SWITCH_GONE] = "its switch is gone, too",
	[KNOWN_REPLACED] = "another node has its place",
};

const char *known_cause_name(unsigned cause)
{
	return names[cause < KNOWN_CAUSES ? cause : KNOWN_GONE];
}

const char *known_cause_text(unsigned cause)
{
	return texts[cause < KNOWN_CAUSES ? cause : KNOWN_GONE];
}

bool known_is_cable(const struct known_node *n)
{
	return n->type == NODE_SWITCH && n->port != 0;
}

void known_key(uint64_t node_guid, uint8_t port, uint8_t ret_key[KNOWN_KEY_BYTES])
{
	key_u64(ret_key, node_guid);
	ret_key[8] = port;
}

size_t known_encode(const struct known_node *n, uint8_t ret_bytes[KNOWN_ROW_MAX])
{
	size_t name_len = strnlen(n->name, KNOWN_NAME_BYTES),
	       switch_len = strnlen(n->switch_name, KNOWN_NAME_BYTES);
	const struct row_known row = { .port_guid = n->port_guid,
		                       .switch_guid = n->switch_guid,
		                       .first_s = n->first_s,
		                       .gone_s = n->gone_s,
		                       .lid = n->lid,
		                       .switch_port = n->switch_port,
		                       .type = n->type,
		                       .cause = n->cause,
		                       .name_len = (uint8_t)name_len,
		                       .switch_name_len = (uint8_t)switch_len,
		                       .has_system = n->system_guid != 0 };

	memcpy(ret_bytes, &row, sizeof(row));
	memcpy(ret_bytes + sizeof(row), n->name, name_len);
	memcpy(ret_bytes + sizeof(row) + name_len, n->switch_name, switch_len);
	if (!row.has_system) {
		return sizeof(row) + name_len + switch_len;
	}
	memcpy(ret_bytes + sizeof(row) + name_len + switch_len, &n->system_guid,
	       sizeof(n->system_guid));
	return sizeof(row) + name_len + switch_len + sizeof(n->system_guid);
}

int known_decode(const uint8_t *key, size_t key_len, const void *value, size_t len,
                 struct known_node *ret_node)
{
	struct row_known row;
	size_t names_len;

	if (key_len != KNOWN_KEY_BYTES || len < sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, value, sizeof(row));
	names_len = (size_t)row.name_len + row.switch_name_len;
	if (row.name_len > KNOWN_NAME_BYTES || row.switch_name_len > KNOWN_NAME_BYTES ||
	    row.has_system > 1 ||
	    len != sizeof(row) + names_len + row.has_system * sizeof(ret_node->system_guid)) {
		return E_MALFORMED;
	}
	*ret_node = (struct known_node){ .node_guid = key_read_u64(key),
		                         .port_guid = row.port_guid,
		                         .switch_guid = row.switch_guid,
		                         .first_s = row.first_s,
		                         .gone_s = row.gone_s,
		                         .lid = row.lid,
		                         .port = key[8],
		                         .switch_port = row.switch_port,
		                         .type = row.type,
		                         .cause = row.cause };
	const char *names_at = (const char *)value + sizeof(row);
	memcpy(ret_node->name, names_at, row.name_len);
	memcpy(ret_node->switch_name, names_at + row.name_len, row.switch_name_len);
	if (row.has_system) {
		memcpy(&ret_node->system_guid, names_at + names_len,
		       sizeof(ret_node->system_guid));
	}
	return E_OK;
}

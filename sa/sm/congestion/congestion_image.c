/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/congestion/congestion_image.h"

#include <string.h>

static void encode_switch(const struct congestion_options *o, uint8_t *data)
{
	field_set(data, CC_SCS_CONTROL_MAP, o->switch_map);
	memcpy(data + CC_SCS_VICTIM_MASK_AT, o->victims.byte, sizeof(o->victims.byte));
	memcpy(data + CC_SCS_CREDIT_MASK_AT, o->credits.byte, sizeof(o->credits.byte));
	field_set(data, CC_SCS_THRESHOLD, o->threshold);
	field_set(data, CC_SCS_PACKET_SIZE, o->packet_size);
	field_set(data, CC_SCS_CS_THRESHOLD, o->credit_threshold);
	field_set(data, CC_SCS_CS_RETURN_DELAY, o->return_delay.entry[0]);
	field_set(data, CC_SCS_MARKING_RATE, o->marking_rate);
}

static void encode_ca(const struct congestion_options *o, uint8_t *data)
{
	field_set(data, CC_CCS_PORT_CONTROL, o->port_control);
	field_set(data, CC_CCS_CONTROL_MAP, o->ca_map);
	for (unsigned sl = 0; sl < CONGESTION_SLS; sl++) {
		uint8_t *entry = data + CC_CCS_ENTRIES_AT + (size_t)sl * CC_CCS_ENTRY_BYTES;

		field_set(entry, CC_CCE_TIMER, o->timer.of[sl]);
		field_set(entry, CC_CCE_INCREASE, o->increase.of[sl]);
		field_set(entry, CC_CCE_TRIGGER, o->trigger.of[sl]);
		field_set(entry, CC_CCE_MIN, o->min.of[sl]);
	}
}

static void encode_block(const struct congestion_table *t, uint32_t block, uint8_t *data)
{
	uint32_t limit = t->n > 1 ? t->n - 1 : 0, first = block * CC_TABLE_ENTRIES;

	field_set(data, CC_CCT_LIMIT, limit);
	for (uint32_t i = first; limit != 0 && i < t->n && i < first + CC_TABLE_ENTRIES; i++) {
		field_set(data + CC_CCT_ENTRIES_AT + (size_t)2 * (i - first), CC_CCT_ENTRY,
		          t->entry[i]);
	}
}

void congestion_image(const struct congestion_options *o, struct congestion_image *ret_image)
{
	struct congestion_image image = { .n_blocks = 1 };

	if (o->table.n > 0) {
		image.n_blocks = (o->table.n - 1) / CC_TABLE_ENTRIES + 1;
	}
	encode_switch(o, image.on_switch);
	encode_ca(o, image.on_ca);
	for (uint32_t i = 0; i < image.n_blocks; i++) {
		encode_block(&o->table, i, image.table[i]);
	}
	*ret_image = image;
}

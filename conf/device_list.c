/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/device_group.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/named.h"

static bool is_listed(const char *const *names, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			return true;
		}
	}
	return false;
}

int device_list_parse(const char *text, uint32_t most, struct arena *a,
                      struct device_list **ret_list)
{
	struct device_list *list = arena_alloc(a, sizeof(*list));
	char *copy = arena_strdup(a, text), *rest = copy, *word;
	uint32_t room = (uint32_t)text_count(text, strlen(text), ',') + 1, n = 0;

	const char **names = arena_array(a, room, sizeof(*names));
	if (list == NULL || copy == NULL || names == NULL) {
		return -ENOMEM;
	}
	if (room > most) {
		return E_SYNTAX;
	}
	while ((word = strsep(&rest, ",")) != NULL) {
		names[n] = text_trim(word);
		if (*names[n] == '\0' || is_listed(names, n, names[n])) {
			return E_SYNTAX;
		}
		n++;
	}
	*list = (struct device_list){ .text = arena_strdup(a, text),
		                      .names = names,
		                      .n = n };
	*ret_list = list;
	return list->text != NULL ? E_OK : -ENOMEM;
}

int device_list_bind(struct device_list *list, const char *key,
                     const struct device_groups *groups, struct arena *a, struct diags *d)
{
	uint32_t *index = arena_array(a, list->n, sizeof(*index));
	struct named *names = arena_array(a, groups->n, sizeof(*names));

	if (index == NULL || names == NULL) {
		return -ENOMEM;
	}
	int ret = E_OK;
	for (uint32_t i = 0; i < groups->n; i++) {
		names[i].name = groups->groups[i].name;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		index[i] = named_find(names, groups->n, list->names[i]);
		if (index[i] == NAMED_NONE) {
			named_unknown(names, groups->n,
			              list->what != NULL ? list->what : key,
			              "device group", "DeviceGroups", list->names[i],
			              list->file,
			              list->lines != NULL ? list->lines[i]
			                                  : list->line,
			              d);
			ret = E_UNKNOWN;
		}
	}
	if (ret == E_OK) {
		list->groups = groups;
		list->index = index;
	}
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/links/health: cables that err, by what both ends count, and what is done about them. */
#include <errno.h>

#include "conf/base/err.h"
#include "gateway/api/api_call.h"
#include "gateway/inventory/inventory.h"
#include "gateway/inventory/link_list.h"
#include "gateway/view/source.h"

/* A request in parsed form. */
struct wanted {
	struct inventory_filter filter;
	int8_t sick;
};

static int read_wanted(struct api_call *c, struct wanted *ret_wanted)
{
	const char *node = api_param(c, "node");
	int ret = api_flag(c, "sick", &ret_wanted->sick);

	ret_wanted->filter = (struct inventory_filter){ .name = api_param(c, "name"),
		                                        .degraded = -1,
		                                        .cabled = -1 };
	if (ret == E_OK && node != NULL) {
		ret = api_find_node(c, node, "node", &ret_wanted->filter.guid);
	}
	return ret;
}

static bool fits(const struct inventory *v, const struct link_entry *l, const struct wanted *w)
{
	const struct link_health *h = l->end[l->worse];
	bool sick = h->state != LINK_WELL || (h->flags & LINK_OUT) != 0;

	return (w->sick < 0 || sick == w->sick) && inventory_link_fits(v, l->port, &w->filter);
}

static void write_page(struct api_call *c, const struct link_list *list, const struct wanted *w,
                       const struct api_page *page)
{
	const struct inventory *v = c->thread->inventory;
	struct api_rows rows = { .page = page };

	body_list_begin(&c->body, api_head(c), "links");
	for (size_t i = 0; i < list->n; i++) {
		if (fits(v, &list->links[i], w) && api_rows_take(c, &rows, i)) {
			body_list_add(&c->body, link_list_json(v, &list->links[i]));
		}
	}
	body_list_end(&c->body, api_total(rows.tail, rows.total));
}

int api_link_health(struct api_call *c)
{
	struct wanted w;
	struct api_page page;
	struct link_health_list rows = { .n = 0 };
	struct link_list list = { .n = 0 };
	int ret = inventory_get(&c->thread->inventory, c->snap);

	if (ret == E_OK) {
		ret = read_wanted(c, &w);
	}
	if (ret == E_OK) {
		ret = api_page(c, &page);
	}
	if (ret == E_OK) {
		ret = source_link_health(c->thread->source, c->now_ms, c->arena, &rows);
		ret = ret == E_NOTREADY ? E_OK : ret; /* no stats: nothing was read */
	}
	if (ret == E_OK) {
		ret = link_list_find(c->thread->inventory, &rows, c->arena, &list);
	}
	if (ret == E_OK) {
		write_page(c, &list, &w, &page);
	}
	return ret;
}

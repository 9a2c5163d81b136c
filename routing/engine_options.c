/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/engine_options.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"

int engine_options_init(struct engine_options *o, struct arena *a)
{
	*o = (struct engine_options){ 0 };
	for (unsigned i = 0; engines[i]; i++) {
		int ret;

		if (!engines[i]->options) {
			continue;
		}
		if (i >= ROUTE_LIST_MAX) {
			return E_FULL;
		}
		o->base[i] = arena_alloc(a, engines[i]->opt_size);
		if (!o->base[i]) {
			return -ENOMEM;
		}
		ret = option_sets_add_group(&o->sets, engines[i]->options, o->base[i],
		                            OPTION_GROUP_ENGINE);
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

int engine_options_bind(struct engine_options *o, struct arena *a, struct diags *d)
{
	int first = E_OK;

	for (unsigned i = 0; engines[i]; i++) {
		int ret = engines[i]->bind ? engines[i]->bind(o->base[i], o, a, d) : E_OK;

		first = first != E_OK ? first : ret;
	}
	return first;
}

int engine_options_of(const struct engine_options *o, const struct engine *e,
                      struct arena *a, const void **ret_value)
{
	struct engine_options defaults;
	int ret;

	*ret_value = NULL;
	if (!e->options) {
		return E_OK;
	}
	if (!o) {
		o = &defaults;
		ret = engine_options_init(&defaults, a);
		if (ret == E_OK) {
			ret = option_set_defaults(&defaults.sets, a);
		}
		if (ret != E_OK) {
			return ret;
		}
	}
	for (unsigned i = 0; engines[i]; i++) {
		if (engines[i] == e) {
			*ret_value = o->base[i];
		}
	}
	return E_OK;
}

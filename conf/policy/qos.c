/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/qos.h"

#include <stddef.h>
#include <string.h>

#include "conf/base/err.h"

enum { DATA_VLS = 15, WEIGHT_MAX = 255, LIFE_TIME_MAX = 31 };

static const char default_high[] =
	"0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0";
static const char default_low[] =
	"0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4";
static const char default_sl2vl[] = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7";

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* A decimal number with blanks around it; moves *p behind them. */
static int number(const char **p, unsigned max, uint8_t *ret_number)
{
	const char *at = skip_blanks(*p);
	size_t len = strspn(at, "0123456789");
	unsigned v = 0;

	if (len == 0) {
		return E_SYNTAX;
	}
	for (size_t i = 0; i < len; i++) {
		v = v * 10 + (unsigned)(at[i] - '0');
		if (v > max) {
			return E_RANGE;
		}
	}
	*p = skip_blanks(at + len);
	*ret_number = (uint8_t)v;
	return E_OK;
}

/* Steps over a mark that must stand there. */
static int expect(const char **p, char mark)
{
	if (**p != mark) {
		return E_SYNTAX;
	}
	++*p;
	return E_OK;
}

int qos_weights_parse(const char *text, struct qos_weights *ret_weights)
{
	struct qos_weights w = { .n = 0 };
	const char *p = text;
	int ret;

	do {
		if (w.n == QOS_WEIGHTS_MAX) {
			return E_RANGE;
		}
		ret = number(&p, DATA_VLS - 1, &w.entry[w.n].vl);
		ret = ret == E_OK ? expect(&p, ':') : ret;
		ret = ret == E_OK ? number(&p, WEIGHT_MAX, &w.entry[w.n].weight) : ret;
		w.n++;
	} while (ret == E_OK && *p != '\0' && (ret = expect(&p, ',')) == E_OK);
	if (ret == E_OK) {
		*ret_weights = w;
	}
	return ret;
}

int qos_sl2vl_parse(const char *text, uint8_t ret_sl2vl[QOS_SLS])
{
	uint8_t map[QOS_SLS];
	const char *p = text;

	for (unsigned sl = 0; sl < QOS_SLS; sl++) {
		int ret = number(&p, QOS_VL_DROP, &map[sl]);

		if (ret == E_OK) {
			ret = expect(&p, sl + 1 < QOS_SLS ? ',' : '\0');
		}
		if (ret != E_OK) {
			return ret;
		}
	}
	memcpy(ret_sl2vl, map, sizeof(map));
	return E_OK;
}

int life_times_parse(const char *text, uint8_t ret_life_times[LIFE_TIMES_MAX])
{
	uint8_t code[LIFE_TIMES_MAX];
	const char *p = text;
	unsigned n = 0;
	int ret;

	do {
		if (n == LIFE_TIMES_MAX) {
			return E_RANGE;
		}
		ret = number(&p, LIFE_TIME_MAX, &code[n]);
		if (ret == E_OK && code[n] == 0) {
			ret = E_RANGE;
		}
		n++;
	} while (ret == E_OK && *p != '\0' && (ret = expect(&p, ',')) == E_OK);
	if (ret != E_OK) {
		return ret;
	}
	for (; n < LIFE_TIMES_MAX; n++) {
		code[n] = code[n - 1];
	}
	memcpy(ret_life_times, code, sizeof(code));
	return E_OK;
}

/* The first that is set. */
static const char *text_of(const char *own, const char *all, const char *built_in)
{
	return own != NULL ? own : all != NULL ? all : built_in;
}

void qos_setup_of(const struct qos_keys keys[QOS_CLASS_COUNT], enum qos_class of,
                  struct qos_setup *ret_setup)
{
	const struct qos_keys *own = &keys[of], *all = &keys[QOS_ALL];
	uint32_t max = own->max_vls ? own->max_vls : all->max_vls;
	int32_t limit = own->high_limit >= 0 ? own->high_limit : all->high_limit;

	*ret_setup = (struct qos_setup){ .max_vls = (uint8_t)(max ? max : DATA_VLS),
		                         .high_limit = (uint8_t)(limit > 0 ? limit : 0) };
	qos_weights_parse(text_of(own->vlarb_high, all->vlarb_high, default_high),
	                  &ret_setup->high);
	qos_weights_parse(text_of(own->vlarb_low, all->vlarb_low, default_low),
	                  &ret_setup->low);
	qos_sl2vl_parse(text_of(own->sl2vl, all->sl2vl, default_sl2vl), ret_setup->sl2vl);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/qos.h"

#include <stddef.h>
#include <string.h>

#include "conf/base/err.h"

enum { DATA_VLS = 15, WEIGHT_MAX = 255, LIFE_TIME_MAX = 31 };

static const char default_high[] = "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,"
				   "12:0,13:0,14:0";
static const char default_low[] = "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,"
				  "12:4,13:4,14:4";
static const char default_sl2vl[] = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7";

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* A decimal number with blanks around it; moves *p behind them. */
static int number(const char **p, unsigned max, uint8_t *ret)
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
	*ret = (uint8_t)v;
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

int qos_weights_parse(const char *text, struct qos_weights *ret)
{
	struct qos_weights w = { .n = 0 };
	const char *p = text;
	int err;

	do {
		if (w.n == QOS_WEIGHTS_MAX) {
			return E_RANGE;
		}
		err = number(&p, DATA_VLS - 1, &w.entry[w.n].vl);
		err = err == E_OK ? expect(&p, ':') : err;
		err = err == E_OK ? number(&p, WEIGHT_MAX, &w.entry[w.n].weight) : err;
		w.n++;
	} while (err == E_OK && *p != '\0' && (err = expect(&p, ',')) == E_OK);
	if (err == E_OK) {
		*ret = w;
	}
	return err;
}

int qos_sl2vl_parse(const char *text, uint8_t ret[QOS_SLS])
{
	uint8_t map[QOS_SLS];
	const char *p = text;

	for (unsigned sl = 0; sl < QOS_SLS; sl++) {
		int err = number(&p, QOS_VL_DROP, &map[sl]);

		if (err == E_OK) {
			err = expect(&p, sl + 1 < QOS_SLS ? ',' : '\0');
		}
		if (err != E_OK) {
			return err;
		}
	}
	memcpy(ret, map, sizeof(map));
	return E_OK;
}

int life_times_parse(const char *text, uint8_t ret[LIFE_TIMES_MAX])
{
	uint8_t code[LIFE_TIMES_MAX];
	const char *p = text;
	unsigned n = 0;
	int err;

	do {
		if (n == LIFE_TIMES_MAX) {
			return E_RANGE;
		}
		err = number(&p, LIFE_TIME_MAX, &code[n]);
		if (err == E_OK && code[n] == 0) {
			err = E_RANGE;
		}
		n++;
	} while (err == E_OK && *p != '\0' && (err = expect(&p, ',')) == E_OK);
	if (err != E_OK) {
		return err;
	}
	for (; n < LIFE_TIMES_MAX; n++) {
		code[n] = code[n - 1];
	}
	memcpy(ret, code, sizeof(code));
	return E_OK;
}

/* The first that is set. */
static const char *text_of(const char *own, const char *all, const char *built_in)
{
	return own != NULL ? own : all != NULL ? all : built_in;
}

void qos_setup_of(const struct qos_keys keys[QOS_CLASS_COUNT], enum qos_class of,
                  struct qos_setup *ret)
{
	const struct qos_keys *own = &keys[of], *all = &keys[QOS_ALL];
	uint32_t max = own->max_vls ? own->max_vls : all->max_vls;
	int32_t limit = own->high_limit >= 0 ? own->high_limit : all->high_limit;

	*ret = (struct qos_setup){ .max_vls = (uint8_t)(max ? max : DATA_VLS),
		                   .high_limit = (uint8_t)(limit > 0 ? limit : 0) };
	qos_weights_parse(text_of(own->vlarb_high, all->vlarb_high, default_high),
	                  &ret->high);
	qos_weights_parse(text_of(own->vlarb_low, all->vlarb_low, default_low),
	                  &ret->low);
	qos_sl2vl_parse(text_of(own->sl2vl, all->sl2vl, default_sl2vl), ret->sl2vl);
}

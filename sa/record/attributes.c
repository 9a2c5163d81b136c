/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/record/attributes.h"

#include <stddef.h>

const struct sa_attr *const sa_attrs[] = {
#define ATTRIBUTE(row) &row,
#include "sa/record/attributes.def"
};
const unsigned n_sa_attrs = sizeof(sa_attrs) / sizeof(sa_attrs[0]);

const struct sa_attr *sa_attr_find(uint8_t version, uint16_t id, unsigned methods)
{
	for (unsigned i = 0; i < n_sa_attrs; i++) {
		if (sa_attrs[i]->id == id && sa_attrs[i]->version == version &&
		    (sa_attrs[i]->methods & methods) != 0) {
			return sa_attrs[i];
		}
	}
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/record/record.h"

/*!
 * The table of all attributes, made of attributes.def. Nothing that the table lists depends on it.
 */

/*! All attributes: no two have the same version, number and a method in common. */
extern const struct sa_attr *const sa_attrs[];
extern const unsigned n_sa_attrs;

/*! \param methods  Any of them. \return NULL: not served. */
const struct sa_attr *sa_attr_find(uint8_t version, uint16_t id, unsigned methods);

#define ATTRIBUTE(row) extern const struct sa_attr row;
#include "sa/record/attributes.def"

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*!
 * Does a JSON value fit a JSON Schema (draft 2020-12, as far as OpenAPI documents of ours use
 * it)? Stricter than the draft: an object has no other members than its properties.
 *
 * \param root  Document that "#/..." refers to.
 * \param at    Where the value is, for the message.
 * \param why   [size] a sentence when it does not fit.
 */
bool schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                 const char *at, char *why, size_t size);

/* What "#/a/b" refers to. NULL: nothing. */
const json_t *schema_target(const json_t *root, const char *ref);

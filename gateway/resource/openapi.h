/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

struct resources;

/*!
 * \brief The OpenAPI document of a set of resources: its rows, parameters and answers.
 * \return NULL: out of memory. Source: OpenAPI Specification 3.1.0.
 */
json_t *openapi_document(const struct resources *set);

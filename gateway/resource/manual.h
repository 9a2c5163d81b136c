/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

struct resource;
struct resources;

/*!
 * What manual pages have from the rows of resources, as text for troff on standard output. Of build-time programs.
 */

/*! \brief The head of a resource: method, path, role and summary. */
void manual_head(const struct resources *set, const struct resource *row);

/*! \brief Its parameters, the members of its body and its answer. */
void manual_details(const struct resource *row);

/*! \brief All parameters of a set, with types. */
void manual_params(const struct resources *set);

/*!
 * \brief All answers of a set with their members.
 * \return false: a member has no text; standard error says which.
 */
bool manual_answers(const struct resources *set);

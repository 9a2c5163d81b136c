/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

#include "gateway/api/api.h"
#include "gateway/api/stream.h"

/* Asks the API. \return The body of an answer that has \a status and is no stream. */
json_t *api_json(struct api_thread *t, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/option.h"

struct client;

/*! What `paths`, `trace` and `why` share: the components of a PathRecord as flags, and the
 * resource that they ask for. Rows over struct client_flags. */
extern const struct option_row paths_rows[]; /*!< of `paths` and `trace` */
extern const struct option_row why_rows[];   /*!< with --all */

/*!
 * \brief "/v1/paths?src=...&dst=..." of the two positional arguments and the flags.
 * \param more  Further parameters, "&hops=1", or "".
 */
const char *path_target(struct client *s, char **argv, const char *more);

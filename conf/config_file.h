/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/config.h"

/*!
 * Inside of conf/: reading one file of configuration, whichever its format.
 */

/*! \brief The rows of \a c first, then the further sets. */
int config_sets(struct config *c, const struct option_sets *extra, struct option_sets *ret);

/*! \brief May it be an instance's name? It becomes a folder's: one path component, nothing odd. */
bool config_is_instance(const char *name);

/*!
 * \brief Reads a file over the values there are.
 * \param ret  Also after E_SYNTAX: what was understood so far.
 * \retval E_SYNTAX \retval -errno
 */
int config_file_read(struct config *c, const struct option_sets *s, const char *path,
                     struct arena *a, struct diags *d, struct config_file *ret);

/*! \brief What a value alone cannot show: values that contradict each other, unknown groups. */
int config_settle(struct config *c, const struct option_sets *s, struct arena *a,
                  struct diags *d);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/config.h"

/*!
 * Inside of conf/: reads one file of options, of either format.
 */

/*! \brief Makes a list of sets: the rows of \a c, then the \a extra ones. */
int config_sets(struct config *c, const struct option_sets *extra,
                struct option_sets *ret_sets);

/*! \brief Is it valid as an instance's name? It becomes the name of a folder. */
bool config_is_instance(const char *name);

/*!
 * \brief Reads a file; its values override those in \a c.
 * \param ret_file  What was understood so far, also after E_SYNTAX.
 * \retval E_SYNTAX \retval -errno
 */
int config_file_read(struct config *c, const struct option_sets *s, const char *path,
                     struct arena *a, struct diags *d, struct config_file *ret_file);

/*! \brief Checks values that depend on each other, and looks up device groups. */
int config_settle(struct config *c, const struct option_sets *s, struct arena *a,
                  struct diags *d);

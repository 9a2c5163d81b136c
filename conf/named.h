/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct diags;
struct xml_element;

/*!
 * Inside of conf/: definitions in opafm.xml (device groups, applications, virtual fabrics).
 * They are in sections, each has a Name, and some include others.
 */
enum { NAMED_MAX = 4096, NAMED_NAME_MAX = 64, NAMED_NONE = UINT32_MAX };

/*! A definition. */
struct named {
	const char *name;
	struct xml_element *element; /*!< NULL: not from the file */
};

/*! \brief Children of an element. */
uint32_t xml_count(const struct xml_element *e);

/*!
 * \brief Collects the definitions of several sections, sorted by name.
 *
 * Two definitions of one name in a section are an error. A definition in a later section
 * replaces that of an earlier one. The sections and all elements in them are marked used.
 *
 * \param kind   Name of the elements; others are warned about.
 * \param first  Definitions that any section replaces, [n_first] by name.
 * \param ret_named    [*ret_n] in \a a, by name; also after E_SYNTAX.
 * \retval E_SYNTAX  In \a d by line. \retval -ENOMEM
 */
int named_collect(const char *path, struct xml_element *const *sections, unsigned n,
                  const char *kind, const struct named *first, uint32_t n_first,
                  struct arena *a, struct diags *d, struct named **ret_named,
                  uint32_t *ret_n);

/*! \brief Index by name. O(log n) \return NAMED_NONE */
uint32_t named_find(const struct named *all, uint32_t n, const char *name);

/*!
 * \brief Reports a name without a definition, with the nearest name that has one.
 * \param what  The element that uses the name.
 * \param kind  "device group". \param section  Where one would be defined.
 */
void named_unknown(const struct named *all, uint32_t n, const char *what,
                   const char *kind, const char *section, const char *name,
                   const char *file, unsigned line, struct diags *d);

/*! One definition includes another. */
struct include {
	uint32_t from, to; /*!< indices */
	unsigned line;     /*!< of the element */
};

/*!
 * \brief Refuses cycles of includes. Each is reported once, at the element that closes it.
 * \param edges  [n_edges] by from.
 * \param what   Name of the element, for messages.
 * \retval E_SYNTAX \retval -ENOMEM
 * Cost: O(n + n_edges).
 */
int named_check_cycles(const struct named *all, uint32_t n, const struct include *edges,
                       uint32_t n_edges, const char *what, const char *path,
                       struct arena *a, struct diags *d);

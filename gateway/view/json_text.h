/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*!
 * JSON values that several bodies share. NULL is returned when out of memory.
 */

/*! \brief Any bytes as a JSON string: what is not UTF-8 becomes U+FFFD, and so does DEL, which JSON does not
 *  escape. NULL gives null. */
json_t *text_json(const char *bytes);

/*! \brief text_printable() of all strings of a value, before it is shown as text. */
void json_make_printable(json_t *v);

/*! \brief text_json(), null also for "". */
json_t *word_json(const char *text);

/*! \brief {"guid", "name"} of a node, and "port" where it is not 0; null for GUID 0. */
json_t *named_port_json(uint64_t guid, const char *name, uint8_t port);

/*! \brief "0x%016x": JSON numbers lose digits above 2^53. */
json_t *guid_json(uint64_t guid);

/*! Paths and rows of long lists are written without values of jansson, which would take ten
 * times as long. These write at \a p, at most JSON_NUMBER_BYTES, without a NUL. \return The end. */
enum { JSON_NUMBER_BYTES = 20 };
char *json_put_number(char *p, uint64_t v);
char *json_put_guid(char *p, uint64_t guid); /*!< "0x%016x" in quotes */
char *json_put_rate_gbps(char *p, uint8_t rate); /*!< as rate_gbps_json() */

/*! \brief Text as it is, so without what JSON escapes. \return The end. */
static inline char *json_put_bytes(char *p, const char *text, size_t n)
{
	memcpy(p, text, n);
	return p + n;
}
#define JSON_PUT(p, literal) json_put_bytes(p, literal, sizeof(literal) - 1)

enum { GID_TEXT_BYTES = 46 };

/*! \brief GID as IPv6 text (RFC 5952). \return Its length. */
unsigned gid_text(uint64_t prefix, uint64_t guid, char ret_text[GID_TEXT_BYTES]);
json_t *gid_json(uint64_t prefix, uint64_t guid);

/*! \brief The same in quotes at \a p, where GID_TEXT_BYTES + 1 are free. \return The end. */
char *json_put_gid(char *p, uint64_t prefix, uint64_t guid);

/*! \brief Rate code as a number of Gb/s, null when unknown. */
json_t *rate_gbps_json(uint8_t rate);

/*! \brief A number; null when it is not finite. */
json_t *real_json(double value);

/*! \brief MTU code as bytes, 0 when unknown. */
int mtu_bytes(uint8_t mtu);

enum { TIME_TEXT_BYTES = 40 };

/*! \brief Seconds since 1970 as "2026-01-31T12:00:00Z". \return \a buf. */
const char *time_text(int64_t seconds, char buf[TIME_TEXT_BYTES]);

/*! \brief The same as a JSON text, null where there is none. */
json_t *time_json(int64_t seconds);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*!
 * Small text helpers that several rooms share.
 */

/*! \brief Whole string as a number: decimal or 0x hex. \retval E_SYNTAX E_RANGE */
int text_u64(const char *s, uint64_t max, uint64_t *ret_number);

/*!
 * \brief Whole string as a number the way C reads one: decimal, 0x hex, octal after a 0; 16
 *        bare hex digits and four groups of four are a GUID, as in text_guid().
 * \retval E_SYNTAX E_RANGE
 */
int text_number(const char *s, uint64_t *ret_number);

/*! \brief GUID: "0x" + 1-16 hex digits, 16 bare hex digits, or four groups "aaaa:bbbb:cccc:dddd". */
int text_guid(const char *s, uint64_t *ret_guid);

/*! \brief GID in the form of an IPv6 address; both halves in host order. */
int text_gid(const char *s, uint64_t *ret_prefix, uint64_t *ret_guid);

/*! \brief Edit distance, at most \a limit + 1; for "did you mean". */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/*!
 * \brief Does a text match a pattern, in which * stands for any characters and ? for one?
 * Cost: the length of the pattern times that of the text.
 */
bool text_glob(const char *glob, const char *text);

/*! \brief Cuts white space off both ends, in place. \return Where what is left begins. */
char *text_trim(char *s);

/*! \brief Ends a text before a comment, which is '#' at its beginning or behind a blank, and before the blanks at its end. \return \a s */
char *text_cut_comment(char *s);

/*! \brief Blank inside a line of a file: space, tab, carriage return. */
static inline bool text_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/*! \brief Where the first that is no blank is. */
char *text_skip_blanks(char *p);

/*! \brief Is a control character of ASCII among \a len bytes, other than blanks? */
bool text_has_control(const char *p, size_t len);

/*!
 * \brief One line of a text of \a len bytes.
 * \param at  Where it begins, below \a len; afterwards where the next one does, from \a len
 *            on behind the last.
 * \return Its length, without the newline.
 */
size_t text_line(const char *text, size_t len, size_t *at);

/*! \brief Likewise, of a text that has a byte more than \a len: a NUL ends the line. \return NULL: there is none. */
char *text_cut_line(char *text, size_t len, size_t *at, size_t *ret_len);

/*! \brief How often a character occurs among \a len bytes. */
size_t text_count(const char *text, size_t len, char c);

/*!
 * \brief Cleans a text from outside for a log, a terminal, the journal or a file of text, in place: each
 *        character that could do more than stand there becomes '?', so the text may get shorter.
 *
 * These are what is not UTF-8, the control characters (U+0000 to U+001F, U+007F to U+009F), the ends of lines
 * and paragraphs (U+2028, U+2029), and marks that turn the direction of other text (U+061C, U+200E, U+200F,
 * U+202A to U+202E, U+2066 to U+2069).
 */
void text_printable(char *s);

/*! \brief The same of a text of several lines, whose tabs and newlines stay. */
void text_printable_lines(char *s);

/*! \brief Bytes of the character that a text begins with, if text_printable() leaves it; 0: it does not. */
unsigned text_printable_length(const char *s);

/*! \brief Replaces control characters of ASCII by '?' in place, and leaves all else: a name as the fabric has
 *  it, by which it is looked up. */
void text_one_line(char *s);

/*! \brief Writes a text as the source of a manual page: what roff would read as markup is escaped. */
void text_print_roff(const char *s, FILE *f);

/*! \brief The same as a sentence and a line: with a capital, unless it begins with saguarod, whose name
 *  stays as it is, and with a full stop. \param s  Not empty. */
void text_print_roff_sentence(const char *s, FILE *f);

/*! \brief Bytes of the character that a text begins with; 0: they are not UTF-8 (RFC 3629: no
 * overlong forms, no surrogates, nothing above U+10FFFF). */
unsigned text_utf8_length(const char *text);

/*! \brief "2027-01-31" or "2027-01-31T12:00:00Z" as seconds since 1970. \retval E_SYNTAX E_RANGE */
int text_time(const char *text, int64_t *ret_s);

/*! \brief A time to come: as text_time(), or from now on: "30m", "2h", "7d". \retval E_SYNTAX E_RANGE */
int text_until(const char *text, int64_t now_s, int64_t *ret_s);

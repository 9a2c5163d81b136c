/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*!
 * A piece of a text that is read: borrowed, not ended by a NUL, any bytes inside. Readers
 * cut things off its front with span_take_...(), which leave it unmoved when the thing is
 * not there (only blanks may be gone).
 */
struct span {
	const char *p;
	size_t n;
};

/*! A span made fit for a message: cut to a length, without control characters. */
struct shown {
	char text[72];
};

struct shown span_shown(struct span s);

/*! \brief Drops blanks and tabs at the front; every span_take_...() does that first. */
void span_skip_blank(struct span *s);

bool span_take_char(struct span *s, char c);

/*! \brief Digits; 0x is allowed in front for base 16. False when none, or above \a max.
 */
bool span_take_number(struct span *s, unsigned base, uint64_t max, uint64_t *ret_number);

/*! \brief This word in any case, when no letter follows it. */
bool span_take_word(struct span *s, const char *word);

/*! \brief What stands between two quotes. */
bool span_take_quoted(struct span *s, struct span *ret_span);

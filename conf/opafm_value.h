/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct arena;

/*!
 * How opafm.xml writes values that opensm.conf writes another way. Each is an option_xml_f:
 * what it cannot read it gives back as it is.
 */

/*! \brief A time ("33ms", units ns us ms s m h) as the least code n whose 4.096 us * 2^n is no shorter; a plain number is a code. */
const char *opafm_life_time(const char *text, struct arena *a);

/*! The values that opafm_life_time() accepts, for messages. */
extern const char opafm_life_time_expected[];

/*! \brief "3" attempts are 2 retries. */
const char *opafm_attempts(const char *text, struct arena *a);

/*! \brief "10%" is 10. */
const char *opafm_percent(const char *text, struct arena *a);

/*! \brief "100g" is 100 Gb/s, "Unlimited" is 0. */
const char *opafm_rate(const char *text, struct arena *a);

/*! \brief A P_Key without its membership bit; 0x8000 stays as it is, to be refused. */
const char *opafm_pkey(const char *text, struct arena *a);

/*! \brief In lower case, because opa-fm ignores the case of engine names. */
const char *opafm_lower(const char *text, struct arena *a);

/*! \brief The opposite of 0 or 1, for an element that is the opposite of its key. */
const char *opafm_not(const char *text, struct arena *a);

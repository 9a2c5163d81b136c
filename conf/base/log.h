/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*!
 * Log: one line per event, "LEVEL source: text" on standard error (journald reads it)
 * and, with log_open(), in a file with a time stamp in front. Each warning and error is a row
 * of messages.def, whose code stands before the text: "LEVEL source: SAG-SM-001: text".
 *
 * Levels mean: error = the operator must act; warning = something is worse than it
 * should be; info = one line per state change; debug = for developers.
 * Libraries below the job that gives up never log (see err.h).
 */
enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/*! The rows of messages.def: MSG_SM_NO_ISSM and so on. */
enum message {
	MSG_NONE, /*!< has no code; its level is info */
#define MESSAGE(area, number, level, name, meaning, cause, remedy) MSG_##area##_##name,
#define EVENT_MESSAGE(number, level, kind, alarm, cause, remedy) MSG_EVENT_##kind,
#include "conf/base/messages.def"
	MSG_COUNT
};

/*! How lines look on standard error and in the file. The journal has its own form. */
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };
void log_set_format(enum log_format format);

/*! \brief Another socket than that of the journal of this machine, for tests. \a path is
 *  borrowed for ever. */
void log_set_journal(const char *path);

/*! \brief Lines above \a level are dropped. Default: info. */
void log_set_level(enum log_level level);

/*! \brief Also append to \a path ("-" or NULL: standard error only). \retval -errno */
int log_open(const char *path);

/*!
 * \brief A warning or an error. The text says what is wrong and where; the row of the message
 *        says why that may be and what to do.
 */
void log_message(enum message message, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void log_info(const char *source, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void log_debug(const char *source, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*! \brief "SAG-SM-001". \return NULL: it has none. */
const char *log_message_code(enum message message);

/*! What a message is about, beside its text: a member in JSON, SAGUARO_NAME in the journal. */
struct log_field {
	const char *name;  /*!< lower case, "node_guid"; NULL: the end */
	const char *value; /*!< NULL: it has none */
};

/*!
 * \brief A text of several lines as so many messages, each with all \a fields.
 * \param fields  Ends with a NULL name; at most LOG_FIELDS_MAX of them count.
 */
enum { LOG_FIELDS_MAX = 12 };
void log_fields(enum message message, const char *source, const struct log_field *fields,
                const char *text);

/*! \brief Copies the text of the newest error of this process, "" if there is none. */
void log_last_error(char *buf, size_t size);

/*!
 * \brief A text of several lines as so many messages, each behind \a lead.
 *
 * For text put together by the program: names in it must be printable already, or they
 * could make lines of their own.
 */
void log_lines(enum log_level level, const char *source, const char *lead, const char *text);

/*! \brief The same for a warning or an error. */
void log_message_lines(enum message message, const char *source, const char *lead,
                       const char *text);

/*!
 * Limiter for a message that may repeat: at most \a burst lines per \a interval_ms;
 * the next line that is shown says how many were skipped. Zero-initialised, one per call site.
 */
struct log_limit {
	uint64_t window_ms; /*!< start of the present window */
	unsigned shown;     /*!< lines in it */
	unsigned skipped;   /*!< dropped since the last line shown */
};

/*!
 * \brief May this line be shown now? \a now_ms is the caller's clock.
 * \param ret_skipped  Filled if so: the end of the line, "; 3 more such lines were skipped" for
 *                     what was dropped before it, or "".
 */
enum { LOG_SKIPPED_BYTES = 48 };
bool log_allowed(struct log_limit *l, uint64_t now_ms, unsigned burst,
                 unsigned interval_ms, char ret_skipped[LOG_SKIPPED_BYTES]);

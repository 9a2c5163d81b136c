/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * Messages of the log, events and alarms with their sentences, from their tables
 * (conf/base/messages.def, db/stats/events.def, gateway/inventory/alarms.def): for saguaro-messages(7) and for
 * `saguaro explain`. Severities and levels are in lower case.
 */

/*! A kind of events. */
struct event_text {
	const char *name, *severity, *help;
};
extern const struct event_text event_texts[]; /*!< name NULL: the end */

/*! A kind of alarms. */
struct alarm_text {
	const char *name, *severity, *help, *remedy;
};
extern const struct alarm_text alarm_texts[]; /*!< name NULL: the end */

/*! A message, or the heading of the messages that follow. */
struct message_text {
	const char *area;  /*!< "START"; NULL: the end of the table */
	const char *title; /*!< of a heading; NULL: a message */
	const char *code;  /*!< "SAG-START-001" */
	const char *level;
	const char *meaning, *cause, *remedy; /*!< meaning, remedy: see below */
	const struct event_text *event;       /*!< NULL: it is none */
	const struct alarm_text *alarm;       /*!< NULL: there is none */
};
extern const struct message_text message_texts[];

/*! \brief The meaning of a message: its own, or that of its event. */
const char *message_meaning(const struct message_text *m);

/*! \brief The remedy of a message: its own, or that of its alarm. */
const char *message_remedy(const struct message_text *m);

/*! \brief The message of a kind of events. \return NULL: it has none. */
const struct message_text *message_of_event(const struct event_text *e);

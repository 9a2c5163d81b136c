/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/help/messages.h"

#include <stddef.h>

/* Severities of events and alarms, and levels of messages. */
#define LOWER_INFO "info"
#define LOWER_WARNING "warning"
#define LOWER_ERROR "error"
#define LOWER_CRITICAL "critical"

enum event_place {
#define EVENT(id, name, severity, sentence, help) EVENT_##id,
#include "db/stats/events.def"
#undef EVENT
};

const struct event_text event_texts[] = {
#define EVENT(id, name, severity, sentence, help) { #name, LOWER_##severity, help },
#include "db/stats/events.def"
#undef EVENT
	{ NULL, NULL, NULL },
};

/* Alarms by their name, as messages.def has them; none stands at the end. */
enum alarm_place {
#define ALARM(id, name, severity, help, remedy) ALARM_##name,
#include "gateway/inventory/alarms.def"
#undef ALARM
	ALARM_none
};

const struct alarm_text alarm_texts[] = {
#define ALARM(id, name, severity, help, remedy) { #name, LOWER_##severity, help, remedy },
#include "gateway/inventory/alarms.def"
#undef ALARM
	[ALARM_none] = { NULL, NULL, NULL, NULL },
};

const struct message_text message_texts[] = {
#define AREA(area_, title_) { .area = #area_, .title = title_ },
#define MESSAGE(area_, number_, level_, name, meaning_, cause_, remedy_)                 \
	{ .area = #area_,                                                                \
	  .code = "SAG-" #area_ "-" #number_,                                            \
	  .level = LOWER_##level_,                                                       \
	  .meaning = meaning_,                                                           \
	  .cause = cause_,                                                               \
	  .remedy = remedy_ },
#define EVENT_MESSAGE(number_, level_, kind, alarm_, cause_, remedy_)                    \
	{ .area = "EVENT",                                                               \
	  .code = "SAG-EVENT-" #number_,                                                 \
	  .level = LOWER_##level_,                                                       \
	  .cause = cause_,                                                               \
	  .remedy = remedy_,                                                             \
	  .event = &event_texts[EVENT_##kind],                                           \
	  .alarm = ALARM_##alarm_ != ALARM_none ? &alarm_texts[ALARM_##alarm_] : NULL },
#include "conf/base/messages.def"
	{ .area = NULL },
};

const char *message_meaning(const struct message_text *m)
{
	return m->event != NULL ? m->event->help : m->meaning;
}

const char *message_remedy(const struct message_text *m)
{
	return m->alarm != NULL ? m->alarm->remedy : m->remedy;
}

const struct message_text *message_of_event(const struct event_text *e)
{
	for (const struct message_text *m = message_texts; m->area != NULL; m++) {
		if (m->event == e) {
			return m;
		}
	}
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void why_add(struct why *w, const char *fmt, ...)
{
	size_t used = strlen(w->text);
	size_t room = sizeof(w->text) - used;
	va_list ap;

	if (used && room > 2) {
		w->text[used++] = '\n';
		room--;
	}
	va_start(ap, fmt);
	vsnprintf(w->text + used, room, fmt, ap);
	va_end(ap);
}

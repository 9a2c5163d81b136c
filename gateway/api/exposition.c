/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/api/exposition.h"

#include <math.h>
#include <stddef.h>

#include "conf/base/text.h"
#include "gateway/view/body.h"

void exposition_family(struct body *b, const char *prefix, const char *name,
                       const char *type, const char *help)
{
	body_printf(b, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, name, help, prefix,
	            name, type);
}

void exposition_number(struct body *b, double v)
{
	if (isnan(v)) {
		body_printf(b, " NaN\n");
	} else if (isinf(v)) {
		body_printf(b, v > 0 ? " +Inf\n" : " -Inf\n");
	} else if (v == rint(v) && fabs(v) < 9e15) {
		body_printf(b, " %.0f\n", v);
	} else {
		body_printf(b, " %.10g\n", v);
	}
}

void exposition_label(struct body *b, const char *name, const char *value,
                      const char *after)
{
	body_printf(b, "%s=\"", name);
	while (value != NULL && *value != '\0') {
		unsigned n = text_utf8_length(value), kept = text_printable_length(value);

		switch (*value) {
		case '\\': body_write(b, "\\\\", 2); break;
		case '"': body_write(b, "\\\"", 2); break;
		case '\n': body_write(b, "\\n", 2); break;
		default:
			/* whoever reads this refuses all of it for one byte that is not UTF-8 */
			body_write(b, kept > 0 ? value : "\xef\xbf\xbd",
			           kept > 0 ? kept : 3);
			break;
		}
		value += n > 0 ? n : 1;
	}
	body_printf(b, "\"%s", after);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*! Why something was refused or is worse than it could be: sentences, one per line. */
struct why {
	char text[1024];
};

void why_add(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

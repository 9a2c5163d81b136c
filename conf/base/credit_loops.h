/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * What happens when the computed tables have a credit loop (option credit_loops):
 * another engine is tried, the tables are refused, or they are programmed with a warning.
 */
enum credit_loops { CREDIT_FALLBACK, CREDIT_REFUSE, CREDIT_PROGRAM };

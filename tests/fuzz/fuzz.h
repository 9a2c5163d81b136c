/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*!
 * A fuzz target is one file with this function, for libFuzzer (clang -fsanitize=fuzzer)
 * and, linked with replay.c, for `make check`. It aborts when a property does not hold.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# /openapi.json and every answer against it, read by validators from npm. The lock file
# beside check.mjs names their versions; without node or the registry it is skipped, and
# tests/gateway/api/test_openapi.c remains.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"

mkdir "$work/npm"
cp "$here"/tests/e2e/openapi/* "$work/npm"
(cd "$work/npm" && timeout 120 npm ci --ignore-scripts --no-audit --no-fund) >"$work/npm.log" 2>&1 ||
	skip "the validators cannot be had from npm"
"$bin/saguaro" topo ft3 4 >"$work/ft3.topo"
start_daemon sm --fabric "sim:$work/ft3.topo"
start_gateway gw
wait_ready
said=$(node "$work/npm/check.mjs" "$url")
same "document and answers are valid" 0 "$?"
printf '%s\n' "$said"
has "the document is OpenAPI 3.1" "$said" "document valid: true"
finish

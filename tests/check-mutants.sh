#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The faults that make mutate draws: each operator has its places and no others, the same seed gives the
# same faults in the same order, and other seeds give others. The text of each fault of the list stands
# once in its file.
set -u
awk_program=${srcdir:-.}/tests/mutate/mutants.awk
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() { printf 'check-mutants: %s\n' "$*" >&2; failures=1; }
draw() { awk -v seed="$1" -v count="$2" -f "$awk_program" "$work/sample.c" | tr '\037' '|' | cut -d'|' -f2-; }

cat >"$work/sample.c" <<'END'
static int table[] = { 0, 1 };

/* a == b && 0 */
int f(int n)
{
	int ret = 0;
	const char *text = "a == b && c < d";

	count(n, "0; x");
	free(text);
	n->top[3] += 2;
	if (n < 7 && g(n) == 'a') {
		return -ENOMEM;
	}
	while (n > 10) {
		n--; /* n != 0 */
	}
	for (int i = 0; i <= 0x10; i++) {
		call(n,
		     n);
	}
	return ret;
}
END
wanted="11|dropped|	;
12|boundary|	if (n <= 7 && g(n) == 'a') {
12|equal|	if (n < 7 && g(n) != 'a') {
12|logic|	if (n < 7 || g(n) == 'a') {
12|negate|	if (!(n < 7 && g(n) == 'a')) {
13|success|		return E_OK;
15|boundary|	while (n >= 10) {
15|negate|	while (!(n > 10)) {
16|dropped|		;
18|boundary|	for (int i = 0; i < 0x10; i++) {
18|constant|	for (int i = 1; i <= 0x10; i++) {
22|success|	return E_OK;
6|constant|	int ret = 1;
9|dropped|	;"
all=$(for seed in {1..60}; do draw "$seed" 99; done | LC_ALL=C sort -u)
[ "$all" = "$(LC_ALL=C sort <<<"$wanted")" ] || fail "other places: $(diff <(LC_ALL=C sort <<<"$wanted") <(cat <<<"$all"))"
[ "$(draw 5 99)" = "$(draw 5 99)" ] || fail "the same seed draws other faults"
[ "$(draw 5 99 | cut -d'|' -f1 | sort -u | wc -l)" = "$(draw 5 99 | wc -l)" ] || fail "a line is drawn twice"
[ "$(draw 5 4)" = "$(draw 5 99 | head -n 4)" ] || fail "the first faults depend on how many are drawn"
[ "$(draw 5 99)" != "$(draw 6 99)" ] || fail "another seed draws the same faults"

(cd "${srcdir:-.}" && awk '
	sub(/^file: /, "") {
		if ($0 != file) {
			close(file)
			file = $0
			text = ""
			while ((getline line <file) > 0) text = text line "\n"
		}
	}
	sub(/^old: /, "") {
		n++
		at = index(text, $0)
		if (!at || index(substr(text, at + length($0)), $0)) {
			print "tests/mutate/faults: " (at ? "more than once" : "not") " in " file ": " $0
			status = 1
		}
	}
	END { exit n < 100 || status }' tests/mutate/faults) || fail "the list has faults that cannot be planted"
exit "$failures"

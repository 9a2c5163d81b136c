#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# How often each line of the log and each MAD came in some seeds of each kind is as in tests/golden/simulate, and so
# is all that the subnet managers wrote: for each seed there are sums of the counts, of the lines and the MADs as they
# are, and of the rows of the snapshots at the end. So a change of what they do is noticed even where no invariant is
# violated. Where that is meant, `make golden` writes the file anew. Seeds with crashes are no part of it: what was on disk at a
# crash depends on the thread that writes.
set -u
golden=${srcdir:-.}/tests/golden/simulate
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1

while read -r seeds options; do
	echo "= $options"
	# shellcheck disable=SC2086 # words
	"$top_builddir/tests/simulate" --counts --first 700000 --seeds "$seeds" $options || echo "it fails"
done >"$work/is" <<'E'
24
16 --nonsense
12 --vports
12 --managers 2 --freezes
12 --packets
16 --omnipath
16 --options
8 --options --vports --nonsense
8 --options --managers 2 --freezes
16 --options --omnipath
6 --options --omnipath --nonsense
E
[ "${GOLDEN:-}" = write ] && { cp "$work/is" "$golden" && exit; }
cp "$golden" "$work/want"
# numbers in the rows have the byte order of the machine
[ "$(printf '\1\0' | od -An -tu2 | tr -d ' ')" = 1 ] || sed -i '/^seed/s/ [0-9a-f]*$//' "$work/want" "$work/is"
diff -U2 "$work/want" "$work/is" >"$work/diff" && exit 0
echo "counts.sh: not as in tests/golden/simulate; where that is meant, make golden writes it anew"
head -n 40 "$work/diff"
exit 1

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Breaks long lines of text in the source of a manual page, which mandoc asks for. Leaves alone macros, the tag
# after .TP, and what stands between .nf and .fi or .EX and .EE.
function put(line) {
	if (line ~ /^[.']/) {
		line = "\\&" line
	}
	print line
}
/^\.(nf|EX)/ { verbatim = 1 }
/^\.(fi|EE)/ { verbatim = 0 }
/^[.']/ || verbatim || tag || length($0) <= 80 {
	print
	tag = /^\.T[PQ]/
	next
}
{
	line = ""
	n = split($0, word, / +/)
	for (i = 1; i <= n; i++) {
		if (line != "" && length(line) + 1 + length(word[i]) > 78) {
			put(line)
			line = ""
		}
		line = line (line == "" ? "" : " ") word[i]
	}
	if (line != "") {
		put(line)
	}
}

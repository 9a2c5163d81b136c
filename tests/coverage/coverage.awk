# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Reads what gcov -b -c -t prints about the objects of a folder, and prints a table by folder and the
# places that nothing ran. FOLDER is set; with BRANCHES set, branches of lines that ran are listed, too.

# A place that refuses something: it returns an error or a reason, or says a message.
function refuses(s) {
	return s !~ /^(static|bool|int|void) / && (s ~ /return (-E[A-Z]|E_[A-NP-Z]|")/ || s ~ /[^a-z]ret = (-E[A-Z]|E_[A-NP-Z])/ ||
		s ~ /(log_message|log_message_lines|log_error|sm_fail|[a-z_]*refuse[a-z_]*|[a-z]*_problem)\(/ ||
		s ~ /printf\((why|text)[,+]/)
}

# Does this line, or one beside it, say that memory may run out?
function is_memory(n,    i) {
	for (i = n; i <= n + 2; i++) {
		if (text[i] ~ /ENOMEM|out of memory/) {
			return 1
		}
	}
	for (i = n; i >= n - 2; i--) {
		if (text[i] ~ /alloc\(|[a-z]_new\(|RESERVE\(|strdup|arena_(array|printf)\(/) {
			return text[n] ~ /NULL|E_OK|RESERVE/
		}
	}
	return 0
}

# A call is shown with its second line, where the first one says little.
function place(n,    all) {
	all = text[n] (text[n] ~ /[(,]$/ ? text[n + 1] : "")
	gsub(/[ \t]+/, " ", all)
	return file ":" n ":" all
}

function end_file(    n, dir) {
	if (file == "") {
		return
	}
	dir = file
	sub(/\/[^\/]*$/, "", dir)
	dirs[dir]
	for (n = 1; n <= last; n++) {
		if (n in count) {
			lines[dir]++
			lines_run[dir] += count[n] > 0
		}
		branches[dir] += all[n]
		taken[dir] += taken_at[n]
		if ((n in count) && count[n] == 0) {
			if (is_memory(n)) {
				memory[dir]++
			} else if (refuses(text[n])) {
				refusals[dir]++
				listed = listed place(n) "\n"
			}
		} else if (all[n] > taken_at[n]) {
			if (is_memory(n)) {
				memory_branches[dir] += all[n] - taken_at[n]
			} else {
				arms[dir] += all[n] - taken_at[n]
				arms_listed = arms_listed (all[n] - taken_at[n]) " of " all[n] " " place(n) "\n"
			}
		}
	}
}

/^ *-: *0:Source:/ {
	end_file()
	file = $0
	sub(/^.*Source:(\.\.\/)*/, "", file)
	if (index(file, TOP "/") == 1) {
		file = substr(file, length(TOP) + 2)
	}
	if (index(file, FOLDER "/") != 1 || file !~ /\.c$/ || file in seen) {
		file = ""
	}
	seen[file]
	last = 0
	split("", count); split("", text); split("", all); split("", taken_at)
	next
}
file == "" { next }
/^function / {
	if ($4 == 0) {
		uncalled = uncalled file ": " $2 "()\n"
	}
	next
}
/^branch / {
	all[last]++
	taken_at[last] += $3 == "taken" && $4 > 0
	next
}
/^ *[-#=0-9*]+: *[0-9]+:/ {
	match($0, /: *[0-9]+:/)
	n = substr($0, RSTART + 1, RLENGTH - 2) + 0
	if (n > 0) {
		last = n
		text[n] = substr($0, RSTART + RLENGTH)
		if ($0 !~ /^ *-:/) {
			count[n] = $0 ~ /^ *[#=]/ ? 0 : $0 + 0
		}
	}
}
END {
	end_file()
	printf "%-24s %13s %15s %9s %9s %16s\n", "", "lines run", "branches taken", "refusals", "other", "out of memory"
	printf "%-24s %13s %15s %9s %9s %16s\n", "folder", "of all", "of all", "not run", "branches", "lines, branches"
	sort = "sort"
	for (d in dirs) {
		printf "%-24s %6d/%-6d %7d/%-7d %9d %9d %8d %7d\n", d, lines_run[d], lines[d], taken[d], branches[d],
			refusals[d], arms[d], memory[d], memory_branches[d] | sort
		t[1] += lines_run[d]; t[2] += lines[d]; t[3] += taken[d]; t[4] += branches[d]
		t[5] += refusals[d]; t[6] += arms[d]; t[7] += memory[d]; t[8] += memory_branches[d]
	}
	close(sort)
	printf "%-24s %6d/%-6d %7d/%-7d %9d %9d %8d %7d\n", "all", t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]
	printf "\nfunctions that nothing called:\n%s\nrefusals that nothing ran:\n%s", uncalled, listed
	if (BRANCHES != "") {
		printf "\nbranches never taken of lines that ran:\n%s", arms_listed
	}
}

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The examples of the manual pages of saguaro run as they are written, and print what stands there: the page
# of each command in a folder of its own, on the fabric that the examples of saguaro(1) start. Times
# differ; a line "..." stands for any lines. PAGES names some of the pages. EXAMPLES=write writes what the
# commands print into the pages, where it differs.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/document.sh
. "$here/tests/e2e/document.sh"
tries=100 # of 0.1 seconds: what a page shows may come a moment later
[ "${EXAMPLES:-}" != write ] || tries=20

# Text whose times are the same at all times.
alike() {
	sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g' -e 's/[0-9]+\.[0-9]{3}( s)?\b/SECONDS/g' \
		-e 's/[0-9.]+ MB/SIZE/' -e 's/^(TIME +[0-9]+) +[0-9]+/\1 MS/' -e 's/; by [^ ,]+, control socket/; by USER, control socket/' -e 's/  +/ /g' -e 's/ +$//' <<<"$1"
}

# prints_as_written: $said is what $expected has.
prints_as_written() {
	local pattern
	pattern=$(alike "$expected" | sed -e 's/[][*?\\]/\\&/g' -e 's/^\.\.\.$/*/')
	# shellcheck disable=SC2053 # a pattern
	[[ $(alike "$said") == $pattern ]]
}

# changes LINE: a request to the subnet manager.
changes() { grep -q -E '^(\$ )?(saguaro-sim ctl link|saguaro (port|partition (add|create|delete|remove|set)|sweep|reload|rebalance|handover|loglevel))\b' <<<"$1"; }

# run_command LINE: in place of that of document.sh.
run_command() {
	local try
	[ "$1" != 'saguaro status' ] || until_true is_answered "$1" 0
	for ((try = 0; try < tries; try++)); do
		said=$(bash -c "$1" 2>&1)
		! prints_as_written && ! changes "$1" || break
		sleep 0.1
	done
	if prints_as_written; then
		said=$expected
		ok "$page: $1"
	elif [ "${EXAMPLES:-}" = write ]; then
		# shellcheck disable=SC2001 # by line
		said=$(sed 's/ *$//' <<<"$said")
	else
		same "$page: $1" "$(alike "$expected")" "$(alike "$said")"
	fi
}

# run_example: the command that was read, with what it is to print.
run_example() {
	[ -n "$command" ] || return
	said=$expected
	run_line "$command" ""
	printf '$ %s\n' "$command" >>"$work/page"
	[ -z "$said" ] || printf '%s\n' "$said" >>"$work/page"
	command='' expected=''
}

# run_page FILE: its examples; the page with what they print is in $work/page.
run_page() {
	local line inside='' command='' expected=''
	: >"$work/page"
	while IFS= read -r line <&3; do
		case $inside$line in
		.EX) inside=yes ;;
		yes.EE) run_example; inside='' ;;
		'yes$ '*) run_example; command=${line#'$ '}; continue ;;
		yes*) [ -n "$command" ] || { printf '%s\n' "$line" >>"$work/page"; continue; }
			expected+=${expected:+$'\n'}$line; continue ;;
		esac
		printf '%s\n' "$line" >>"$work/page"
	done 3<"$1"
}

# on_fabric NAME: in an empty folder but for the file of the fabric, which runs and is as at the start.
on_fabric() {
	if [ -z "$fabric" ]; then
		new_folders "fabric-$1"
		run_page "$here/doc/man/saguaro.1.in" >/dev/null
		fabric=$folders/home/tree.topo
	fi
	mkdir "$folders/$1"
	cd "$folders/$1" || exit 1
	cp "$fabric" .
}
end_fabric() {
	end_servers
	fabric=''
}

cd "$here/doc/man" || exit 1
fabric=''
for page in ${PAGES:-saguaro.1.in saguaro-*.1.in}; do
	file=$here/doc/man/$page
	printf '%s\n' "--- $page"
	if grep -q '^FABRIC' "$file"; then
		on_fabric "${page%.1.in}"
	else
		end_fabric
		new_folders "${page%.1.in}"
	fi
	run_page "$file"
	[ "${EXAMPLES:-}" != write ] || cmp -s "$work/page" "$file" || cp "$work/page" "$file"
	! changes "$(<"$file")" || end_fabric
	holds "$page has examples" grep -q '^\$ saguaro' "$file"
done
finish

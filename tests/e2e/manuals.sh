#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The help of saguarod fits on three screens and --help-all has every flag of it; each flag stands in the
# manual. Each command of saguaro has a page, with its flags and its examples, and stands in saguaro(1). The
# pages of the other programs have the flags of their --help, and no others. Pages refer to pages that there
# are. Manual pages have no fault that mandoc finds.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"

flags() { sed -n 's/^  \(-[[:alnum:]], \|    \)--\([a-z0-9_A-Z-]*\).*/\2/p' | grep -v -x -e 'help.*' -e usage -e version | sort -u; }

basic=$("$bin/saguarod" --help)
all=$("$bin/saguarod" --help-all)
holds "--help has less than 120 lines" test "$(wc -l <<<"$basic")" -lt 120
same "and no flag that --help-all does not have" "" "$(comm -23 <(flags <<<"$basic") <(flags <<<"$all"))"
has "it says how to see the others" "$basic" "more flags: --help-all"
has "flags have headings" "$basic" "Routing and path queries:"
has "those without effect are said to be so" "$all" "Accepted, but without effect here:"
same "a heading has flags" "" "$(grep -A1 '^ [A-Z].*:$' <<<"$basic" | grep -v -e '^ [A-Z].*:$' -e '^  ' -e '^--')"
holds "a small program shows all of its flags" grep -q -- --threads <("$bin/saguaro-gateway" --help)
refuses "it has no --help-all" "$bin/saguaro-gateway" --help-all

pages=$(cat "$bin/doc/man/saguarod.8" "$bin/doc/man/saguaro-routing.7")
effective=$(sed '/without effect here/,$d' <<<"$all" | flags)
for flag in $effective; do
	case $pages in *"\\-\\-${flag//-/\\-}"*) ;; *) fail "--$flag is not in saguarod(8) or saguaro-routing(7)" ;; esac
done

# So do flags without an effect, below a heading of their own.
idle=$(sed -n '/^\.SS Flags without effect/,/^\.SH/p' "$bin/doc/man/saguarod.8")
for flag in $(sed -n '/without effect here/,/--help/p' <<<"$all" | flags); do
	case $idle in *"\\-\\-${flag//-/\\-}\\fR"*) ;; *) fail "--$flag is not among the flags without effect" ;; esac
done

# An option with an effect is not listed among those without one.
for flag in $effective; do
	sed -n '/^.SH KEYS WITHOUT EFFECT/,/^.SH SEE/p' "$bin/doc/man/saguaro.conf.5" | grep -q "^${flag//-/_}\*\?$" &&
		fail "saguaro.conf(5) says that $flag has no effect"
done

# The manual says of each option in options.def with OPT_RESTART that a change needs one.
restarts=$(tr -d '\n' <"$here/conf/options.def" | grep -oE '(VALUE|STRING|UINT|BOOL|ENUM)\([^;]*' | sed 's/\(VALUE\|STRING\|UINT\|BOOL\|ENUM\)(/\n&/g' |
	sed -n '/OPT_CLI_ONLY/d; /OPT_RESTART/s/^STRING(\([a-z_]*\),.*/\1/p')
[ "$(wc -w <<<"$restarts")" -ge 4 ] || fail "few options need a restart: $restarts"
for key in $restarts; do
	has "$key needs a restart" "$(sed -n "/^.fB$key.fR/,/^\.TP/p" "$bin/doc/man/saguaro.conf.5" | tr '\n' ' ')" "A change needs a restart."
done

overview=$(cat "$bin/doc/man/saguaro.1")
sentences=$(tr -d '\\' <<<"$overview" | tr '\n' ' ')
# own_flags HELP: flags without a heading, with dashes.
own_flags() { sed '/^ [A-Z].*:$/,$d' <<<"$1" | flags | tr _ -; }
for command in $("$bin/saguaro" complete ''); do
	page=$(cat "$bin/doc/man/saguaro-$command.1") || fail "saguaro $command has no manual page"
	for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
		has "saguaro-$command(1): $section" "$page" ".SH $section"
	done
	"$bin/saguaro" "$command" --no-such-flag >/dev/null 2>&1
	same "saguaro $command: exit status of a wrong flag" 2 $?
	has "saguaro(1) has $command" "$overview" ".BR saguaro\\-$command (1)"
	summary=$("$bin/saguaro" --help | grep "^  $command " | cut -c41-)
	holds "--help says what $command does" test -n "$summary"
	has "and so does saguaro(1)" "$sentences" ".BR saguaro-$command (1) ${summary^}."
	case $command in
	partition) helps=$(for action in list show create add set remove delete wait; do "$bin/saguaro" partition "$action" --help; done) ;;
	report) helps=$("$bin/saguaro" report route --help) ;;
	*) helps=$("$bin/saguaro" "$command" --help) ;;
	esac
	for flag in $(own_flags "$helps"); do
		case $page in *"\\-\\-${flag//-/\\-}"*) ;; *) fail "--$flag is not in saguaro-$command(1)" ;; esac
	done
done
for name in $("$bin/saguaro" report --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	has "saguaro-report(1) has $name" "$(cat "$bin/doc/man/saguaro-report.1")" ".B $name"
done
has "--help tells the exit status" "$("$bin/saguaro" why --help)" "  1  there is no path"
# listed PAGE: the flags that its OPTIONS open with.
listed() { sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$bin/doc/man/$1" | sed -n 's/^\(\\fB\\-[a-z]\\fR, \)\?\\fB\\-\\-\([a-z\\-]*\)\\fR.*/\2/p' | tr -d '\\\\' | grep -v -x help | sort -u; }
same "saguaro-gateway(8) lists the flags of --help" "$("$bin/saguaro-gateway" --help | flags)" "$(listed saguaro-gateway.8)"
programs='saguaro-gateway.8 saguaro-sim.1'
if [ -x "$bin/saguaro-admin" ]; then
	programs+=' saguaro-admin.8'
	has "and the roles and bodies of the resources" "$(tr '\n' ' ' <"$bin/doc/man/saguaro-admin.8")" \
		'\fBPOST /v1/sweep\fR (operator) Ask for a sweep. .RS .PD 0 .TP \fIheavy\fR (true or false)'
	same "saguaro-admin(8), too" "$("$bin/saguaro-admin" --help | flags)" "$(listed saguaro-admin.8)"
fi
same "saguaro-sim(1) those of its three forms" \
	"$({ "$bin/saguaro-sim" --help; "$bin/saguaro-sim" --run --help; "$bin/saguaro-sim" ctl --help; } | flags)" "$(listed saguaro-sim.1)"
for page in $programs; do
	same "$page: options are no keys of a file" "" "$(grep '; key ' "$bin/doc/man/$page")"
	holds "$page: the synopsis has its forms" grep -q '^\.B saguaro' "$bin/doc/man/$page"
done
has "a page says what a field means" "$(tr '\n' ' ' <"$bin/doc/man/saguaro-links.1")" '\fBa.guid\fR One end: NodeGUID.'
for page in $(grep -l '^FIELDS' "$here"/doc/man/saguaro-*.1.in); do
	page=${page##*/}
	holds "${page%.in} lists fields" grep -q '^\.SH FIELDS' "$bin/doc/man/${page%.in}"
done
has "a page says more of an option than --help" "$(cat "$bin/doc/man/saguaro-gateway.8")" "DNS rebinding"

answers=$(sed -n '/^\.SH ANSWERS/,/^\.SH [^A]/p' "$bin/doc/man/saguaro-api.7")
for name in Problem PathList Path Hop Fabric; do
	has "saguaro-api(7) names the answer $name" "$answers" $'.TP\n\\fB'"$name"$'\\fR\n'
done

# Sections of other pages that a page names are there: "NODE NAMES in", "see Streams in".
while read -r page section; do
	holds "$page has the section $section" grep -qiE "^\.S[HS] \"?$section\"?$" "$bin/doc/man/$page"
done < <(awk '
	section != "" && match($0, /^\.BR saguaro[a-z\\.-]* \([1-8]\)/) {
		split(substr($0, 5, RLENGTH - 5), part, / \(/)
		gsub(/\\/, "", part[1])
		print part[1] "." part[2], section
	}
	{ section = "" }
	/ in$/ && match($0, /[A-Z][A-Z ]+[A-Z] in$/) { section = substr($0, RSTART, RLENGTH - 3) }
	/ see [A-Z][a-z]+ in$/ && match($0, / see [A-Z][a-z]+ in$/) { section = substr($0, RSTART + 5, RLENGTH - 8) }
	/^[A-Z ]+ in$/ { section = substr($0, 1, length($0) - 3) }' "$here"/doc/man/*.in "$here"/doc/man/saguarod.8.* | sort -u)

for name in $(sed -n 's/^\.BR \(saguaro[a-z\\.-]*\) (\([1-8]\)).*/\1.\2/p' "$bin"/doc/man/saguaro*.[1578] | sort -u); do
	holds "$name is there" test -e "$bin/doc/man/${name//\\/}" -o -e "$here/doc/man/${name//\\/}.in"
done

# A sentence behind a macro of two fonts loses its blanks: ".BR saguaro (1) has it".
same "no sentence stands behind .BR" "" "$(grep -nE '^\.(BR|BI|IR|RB|RI|IB) [^"]*\([1-8]\)[^ ]* +[^" ]' "$bin"/doc/man/*.[1578])"

if command -v mandoc >/dev/null; then
	for page in "$bin"/doc/man/*.[1578]; do
		same "${page##*/} has no fault" "" "$(mandoc -T lint "$page")"
	done
else
	printf 'mandoc is not installed: pages are not checked\n'
fi
finish

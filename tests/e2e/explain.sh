#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro explain has every message, event and alarm, with the sentences of saguaro-messages(7), and names what is
# near to a code that there is not. No daemon runs.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"

explain() { "$bin/saguaro" explain "$@"; }
page=$(sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\fI[A-Za-z]*:\\fR //' "$bin/doc/man/saguaro-messages.7" | grep -v '^\.\(TP\|br\)' | tr '\n' ' ' | tr -s ' ')

list=$(explain --field name)
codes=$(grep -o 'SAG-[A-Z]*-[0-9]*' <<<"$list")
same "it lists the codes of the page" "$(grep -o '^\\fBSAG[^ ]*fR' "$bin/doc/man/saguaro-messages.7" | sed -e 's/\\-/-/g' -e 's/\\f.//g')" "$codes"
for name in $(sed -n 's/^ALARM([A-Z_]*, *\([a-z_]*\),.*/\1/p' "$here/gateway/inventory/alarms.def"); do
	has "alarm $name" "$(explain "$name")" "alarm $name ("
	has "and it is listed" "$list" "$name"
done
for name in $(sed -n 's/^EVENT([A-Z_]*, *\([a-z_]*\),.*/\1/p' "$here/db/events.def"); do
	has "event $name" "$(explain "$name")" "event $name"
done
for field in meaning cause remedy; do
	while IFS= read -r text; do
		case $page in *"$text"*) ;; *) fail "saguaro-messages(7) does not say: $text" ;; esac
	done < <(explain --csv --field "$field,name" | grep ',SAG-' | sed -e 's/,SAG-.*//' -e 's/^"\(.*\)"$/\1/' -e 's/""/"/g')
done

whole=$(explain SAG-START-006)
has "what it means" "$whole" "The state or the snapshot cannot be opened"
has "why" "$whole" "Cause: Another saguarod"
has "what to do" "$whole" "Remedy: 'systemctl status saguarod'"
same "lines fit on a terminal" "" "$(for code in $codes; do explain "$code"; done | grep '.\{81\}')"
same "in lower case" "$whole" "$(explain sag-start-006)"
same "without SAG-" "$whole" "$(explain start-006)"
has "an alarm has its codes" "$(explain link_down)" "Codes: SAG-EVENT-004"
has "an event its alarm" "$(explain cable_lost)" "SAG-EVENT-004 (warning), event cable_lost, alarm link_down"
has "as JSON" "$(explain --json link_down)" '"remedy":'
same "one field" "error" "$(explain SAG-START-006 --field level)"

explain SAG-START-096 >/dev/null 2>&1
same "the exit status of what is not there" 2 $?
refuses "a code that is not there" explain sag-start-096
has "what is near" "$said" "near: SAG-START-006"
refuses "an alarm that is not there" explain link_dawn
has "what is near to that" "$said" "near: link_down"
refuses "two codes" explain SAG-START-006 SAG-START-007
has "which is one too many" "$said" "SAG-START-007"
has "completion of codes" "$("$bin/saguaro" complete explain SAG-START-00)" "SAG-START-006"
same "and of alarms" "link_down" "$("$bin/saguaro" complete explain link_d)"

# The errors of a wrong configuration have codes that can be explained.
printf 'lmc 9\nno_such_key 1\nlmc 1\n' >"$work/bad.conf"
refuses "saguarod --check" "$bin/saguarod" --check -F "$work/bad.conf"
has "an error has its code" "$said" "bad.conf:1: error: lmc '9': expected a number from 0 to 7 [SAG-CONF-001]"
has "a warning, too" "$said" "bad.conf:3: warning: lmc was already set in line 1; the last one counts [SAG-CONF-002]"
refuses "saguaro config check" "$bin/saguaro" config check "$work/bad.conf"
has "as saguarod" "$said" "from 0 to 7 [SAG-CONF-001]"
has "which is explained" "$(explain SAG-CONF-001)" "A file or value of the configuration is wrong."
finish

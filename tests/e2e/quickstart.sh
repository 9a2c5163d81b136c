#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The README's first command: the demo starts, shows three commands with their output, stays,
# and after Ctrl-C leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
[ -e "$here/configure" ] || skip "no configure in the sources"
# A build that is there already serves; quickstart finds nothing to do there.
export QUICKSTART_BUILD=$bin
unset MAKEFLAGS MAKELEVEL

mkdir "$work/tmp"
# A shell gives its background jobs an ignored SIGINT; a terminal's Ctrl-C is heard.
TMPDIR=$work/tmp env --default-signal=INT setsid "$here/quickstart" --listen 127.0.0.1:0 >"$work/out.log" 2>"$work/err.log" &
demo=$!
pids+=("$demo")
holds "it comes up" until_true grep -q 'Ctrl-C stops it' "$work/out.log"
out=$(cat "$work/out.log")
same "three commands" 3 "$(grep -c '^\$ ' "$work/out.log")"
has "a curl with its answer" "$out" '"paths":[{'
has "saguaro paths with its answer" "$out" "SLID   DLID"
has "saguaro status with its answer" "$out" "subnet           up"
holds "it stays" kill -0 "$demo"
url=$(sed -n 's/^Saguaro runs: \([^ ]*\) .*/\1/p' "$work/out.log")
holds "and answers" ready

kill -INT -- "-$demo"
wait "$demo"
same "Ctrl-C is no failure" 0 "$?"
same "nothing stays in the temporary folder" "" "$(ls -A "$work/tmp")"
refuses "nobody answers any more" curl -s "$url/healthz"
# Orphans that have ended stay in the list until the first process of the machine asks for them.
# shellcheck disable=SC2317 # called by until_true
none_left() { ! pgrep -s "$demo" >/dev/null; }
holds "no process of it is left" until_true none_left

# installs COMMANDS...: the packages that quickstart check asks apt for where these commands are there
# and apt refuses Debian's nodejs and npm. make fails, so nothing is built.
installs() {
	local p
	rm -rf "$work/path" && mkdir -p "$work/path" "$work/build/check" && touch "$work/build/check/Makefile"
	for p in bash env dirname nproc mkdir find grep tail cat; do ln -s "$(command -v "$p")" "$work/path/$p"; done
	for p in make "$@"; do ln -s /bin/false "$work/path/$p"; done
	cat >"$work/path/id" <<<$'#!/bin/sh\necho 0'
	cat >"$work/path/dpkg-query" <<<$'#!/bin/sh\ncase $3 in nodejs | npm | chromium | ibutils) exit 1 ;; esac\necho installed'
	cat >"$work/path/apt-get" <<<$'#!/bin/sh\nshift\necho "$@" >>"$asked"\ncase "$*" in *npm* | *nodejs*) exit 100 ;; esac'
	chmod +x "$work"/path/{id,dpkg-query,apt-get}
	: >"$work/asked"
	asked=$work/asked PATH=$work/path QUICKSTART_BUILD=$work/build "$here/quickstart" check >"$work/check.out" 2>&1
	sed -n 's/^-y -qq --no-install-recommends //p' "$work/asked" | tr '\n' ' '
}
same "npm inside another nodejs: only the browser is installed" "chromium " "$(installs node npm systemd-analyze python3 ibdmchk opasaquery prometheus)"
same "a refused npm costs no other package" "ibutils nodejs npm chromium " "$(installs systemd-analyze python3 opasaquery prometheus)"
has "which is said" "$(cat "$work/check.out")" "npm is not to be had: the page is not tried in a browser"
same "and nothing where all is there" "" "$(installs node npm chromium systemd-analyze python3 ibdmchk opasaquery prometheus)"

refuses "a topology that is not there" "$here/quickstart" --topology "$work/nothing"
has "in a sentence" "$said" "cannot read the topology file"
refuses "an unknown word" "$here/quickstart" --what
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Every command of doc/guide/*.md runs as it is written there, in order, each guide in an empty folder
# of its own. Commands that cannot run here are named below with their reasons; those of install.md
# run in tests/install/guide.sh. GUIDES names some of them.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
# shellcheck source=tests/e2e/document.sh
. "$here/tests/e2e/document.sh"
need_clients saquery dump_lfts opensm jq

# A command, tabs, why it does not run.
# shellcheck disable=SC2034 # for document.sh
not_run='systemctl disable --now opensm	needs systemd and a fabric
cp /var/cache/opensm/guid2lid /var/lib/saguaro/guid2lid	likewise
systemctl enable --now saguarod	likewise
systemctl disable --now opafm	likewise
saguaro-admin --listen 0.0.0.0:8621 --tls-certificate cert.pem --tls-key key.pem --audit-log audit.json	needs a certificate: tests/e2e/admin.sh'

guides=${GUIDES:-$(cd "$here/doc/guide" && ls -- *.md)}
for guide in $guides; do
	: >"$work/servers.log"
	new_folders "${guide%.md}"
	printf '%s\n' "--- $guide"
	[ "$guide" = install.md ] || run_document "$here/doc/guide/$guide"
	end_servers
	# The targets of a guide's links are there.
	while IFS= read -r link; do
		holds "$guide: $link is there" test -e "$here/doc/guide/$link"
	done < <(grep -o '](\([^)#:]*\)' "$here/doc/guide/$guide" | cut -c 3- | sort -u)
done
[ -n "${GUIDES:-}" ] || not_run_is_there "$here"/doc/guide/*.md
finish

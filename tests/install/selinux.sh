#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Debian's reference policy of SELinux, which is not loaded but asked: a program below /usr/sbin
# that systemd starts is not confined, and may manage a subnet and listen on a port, so
# Saguaro needs no policy of its own (doc/decisions/0015).
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
for p in apt-get dpkg-deb sesearch semodule_link semodule_expand bunzip2; do
	command -v "$p" >/dev/null || skip "$p is not installed (Debian: setools semodule-utils bzip2)"
done
cd "$work" || exit 1
apt-get download -qq selinux-policy-default >"$work/apt.log" 2>&1 || skip "selinux-policy-default is not to be had"
dpkg-deb -x selinux-policy-default_*.deb .
bunzip2 usr/share/selinux/default/{base,unconfined}.pp.bz2
if ! semodule_link -o linked.pp usr/share/selinux/default/{base,unconfined}.pp >/dev/null || ! semodule_expand linked.pp policy >/dev/null; then
	fail "the policy is linked"
	finish
fi

becomes() { sesearch -T -s init_t -t bin_t -c process policy; }
domain=$(becomes | sed -n 's/^type_transition init_t bin_t:process \([a-z_]*\);/\1/p')
same "systemd starts programs of /usr/sbin in" initrc_t "$domain"
allowed() { sesearch -A -s "$domain" "$@" policy; }
has "that may manage any subnet" "$(allowed -c infiniband_endport)" "ibendport_type:infiniband_endport manage_subnet"
has "with any partition key" "$(allowed -c infiniband_pkey)" "ibpkey_type:infiniband_pkey access"
has "and listen on any port" "$(allowed -c tcp_socket -p name_bind)" "port_type:tcp_socket"
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Every command of README.md runs as it is written there, in order, in one empty folder: each
# indented line without its comment. What cannot run here is named below with its reason. Programs
# come from the build and keep their folders and their port to themselves.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery jq

# A command, tabs, why it does not run.
not_run='./quickstart	tests/e2e/quickstart.sh runs it
./quickstart check	runs this test
saguarod	needs an InfiniBand adapter
saguarod --fabric umad:mlx5_0:1 -R minhop -l 1	needs an InfiniBand adapter
saguarod --oob-listen 127.0.0.1:3245 ...	is no whole command: tests/e2e/opasaquery.sh
opasaquery -b 127.0.0.1 -o node	the port may be in use: tests/e2e/opasaquery.sh runs it on a free one'

mkdir "$work/bin" "$work/home"
program() { # program NAME FLAGS: the program that README means, with folders of its own
	printf '#!/bin/sh\nexec "%s/%s" "$@" %s\n' "$bin" "$1" "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
program saguarod "--state-dir '$work/state' --snapshot-dir '$work/run'"
program saguaro-gateway "--listen 127.0.0.1:0 --port-file '$work/gateway.port' --snapshot-dir '$work/run'"
program saguaro ""
program saguaro-sim ""
cat >"$work/bin/curl" <<END
#!/usr/bin/env bash
exec "$(command -v curl)" "\${@/127.0.0.1:8620/127.0.0.1:\$(cat '$work/gateway.port')}"
END
chmod +x "$work/bin/curl"
export PATH=$work/bin:$PATH SAGUARO_SNAPSHOT_DIR=$work/run SAGUARO_SIM_SOCKET=$work/sim.sock
run_dir=$work/run
cd "$work/home" || exit 1

serve() { # serve COMMAND: a server; pid in $server
	bash -c "exec $1" >>"$work/servers.log" 2>&1 &
	server=$!
	pids+=("$server")
}
# shellcheck disable=SC2317 # called by until_true
port_is_known() { [ -s "$work/gateway.port" ]; }
# shellcheck disable=SC2317 # called by until_true
sm_is_up() { grep -q 'SUBNET UP' "$work/servers.log"; }

commands=$(sed -n 's/^    \([a-z.]\)/\1/p' "$here/README.md" | sed 's/  *# .*//')
has "README has commands" "$commands" "saguaro-sim"
while IFS= read -r line <&3; do
	reason=$(awk -F'\t' -v line="$line" '$1 == line { print $2 }' <<<"$not_run")
	case $line in
	"${reason:+$line}") printf 'not run: %s: %s\n' "$line" "$reason" ;;
	'saguarod --fabric sim:'*)
		serve "$line"
		daemon=$server
		;;
	saguaro-gateway*)
		serve "$line"
		gateway=$server
		until_true port_is_known || fail "$line"
		url=http://127.0.0.1:$(cat "$work/gateway.port")
		wait_ready
		;;
	'saguaro-sim --run saguarod'*' &')
		end_process "$daemon" # of the section before; its folders are the same
		: >"$work/servers.log"
		serve "${line% &}"
		holds "$line" until_true sm_is_up
		;;
	*' &')
		serve "${line% &}"
		holds "$line" until_true test -S "$work/sim.sock"
		;;
	*)
		[[ $line != *opensm-lfts.dump* ]] ||
			holds "a dump of somebody's tables" saguaro route my.topo --dump-lfts opensm-lfts.dump
		silent=${line##*' -o '*} # a file is all that comes of it
		if said=$(bash -c "$line" 2>&1) && { [ -n "$said" ] || [ -z "$silent" ] || [[ $line == 'saguaro-sim ctl'* ]]; }; then
			ok "$line"
		else
			fail "$line: $(head -c 600 <<<"$said")"
		fi
		case $line in *' -f '* | curl*) same "an HTTP reply that is no problem" null "$(jq -r .title <<<"$(bash -c "$line -s")")" ;; esac
		;;
	esac
done 3<<<"$commands"
while IFS=$'\t' read -r line reason; do
	has "README still has what is not run" "
$commands
" "
$line
"
done <<<"$not_run"
end_process "$gateway"
finish

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Runs the commands of a document as they are written there, in order, in one empty folder: each
# line that is indented by four blanks, without its comment. Source it after simulator.sh. Programs come
# from the build and keep their folders and their ports (8620, 8624, 8625) to themselves.
#
# saguarod and what ends in '&' are servers. 'saguaro status', and a command with 'repeat' in its comment, are
# repeated until they succeed. A command prints something unless its comment has 'nothing'. %N is the Nth server, as in a shell. A comment "exit status N" tells how a command ends.
# shellcheck shell=bash disable=SC2154,SC2034 # shares variables with lib.sh

not_run='' # lines of: a command, a tab, why it does not run
readonly tab=$'\t'
real_curl=$(command -v curl)

# program NAME ...: the program NAME that a document means. It takes its instance's folders below
# $work/doc instead of /run and /var.
program() {
	local name=$1
	cat >"$work/bin/$name" <<END
#!/usr/bin/env bash
instance=main flags=() previous=
for flag; do
	[ "\$previous" != --instance ] || instance=\$flag
	previous=\$flag
done
$2
exec "$bin/$name" "\$@" "\${flags[@]}"
END
	chmod +x "$work/bin/$name"
}

# new_folders NAME: a document begins: nothing runs, and nothing is left of the one before.
new_folders() {
	folders=$work/$1
	mkdir -p "$folders/home" "$folders/run" "$work/bin"
	local a b
	a=$(free_port) b=$a
	while [ "$b" = "$a" ]; do b=$(free_port); done
	program saguarod "set -- \"\${@/127.0.0.1:8624/127.0.0.1:$a}\"
set -- \"\${@/127.0.0.1:8625/127.0.0.1:$b}\"
flags=(--state-dir '$folders/state/'\$instance --snapshot-dir '$folders/run/'\$instance)"
	program saguaro-gateway "flags=(--listen 127.0.0.1:0 --port-file '$folders/gateway.port' --snapshot-dir '$folders/run/'\$instance)"
	program saguaro "[ \$instance = main ] || export SAGUARO_SNAPSHOT_DIR='$folders/run/'\$instance
if [ \$instance != main ] && [ \"\$1\" != config ]; then
	words=()
	while [ \$# -gt 0 ]; do
		if [ \"\$1\" = --instance ]; then shift 2; else words+=(\"\$1\"); shift; fi
	done
	set -- \"\${words[@]}\"
fi"
	program saguaro-sim ""
	program saguaro-admin ""
	cat >"$work/bin/curl" <<END
#!/usr/bin/env bash
exec "$real_curl" "\${@/127.0.0.1:8620/127.0.0.1:\$(cat '$folders/gateway.port')}"
END
	chmod +x "$work/bin/curl"
	export SAGUARO_SNAPSHOT_DIR=$folders/run/main SAGUARO_SIM_SOCKET=$folders/sim.sock
	run_dir=$folders/run/main
	servers=(none)
	cd "$folders/home" || exit 1
}

serve() { # serve COMMAND: a server; pid in $server
	bash -c "exec $1" >>"$work/servers.log" 2>&1 &
	server=$!
	pids+=("$server")
	servers+=("$server")
}
# or_ended COMMAND...: whether the command succeeds, or there is no server to wait for.
# shellcheck disable=SC2317 # called by until_true
or_ended() { "$@" || ! kill -0 "$server" 2>/dev/null; }
# come_up COMMAND...: waits until the server is up, which is when the command succeeds.
# shellcheck disable=SC2317 # called by holds
come_up() { until_true or_ended "$@" && "$@"; }
# shellcheck disable=SC2317 # called by until_true
port_is_known() { [ -s "$folders/gateway.port" ]; }
# shellcheck disable=SC2317 # called by until_true
sm_is_up() { grep -q 'SUBNET UP' "$work/servers.log"; }
# shellcheck disable=SC2317 # called by until_true
# is_answered LINE STATUS [MUST-SPEAK]: whether a command ends so and says something: jq of nothing at all ends with 0.
is_answered() {
	said=$(bash -c "${1/#curl /curl -sS }" 2>&1)
	got=$?
	[ "$got" = "$2" ] && { [ -n "$said" ] || [ -z "$3" ]; }
}

# commands_of FILE: the commands of the document, with their comments; not what stands between fences.
# shellcheck disable=SC2016 # backticks of Markdown
commands_of() { sed -n -e '/^```/,/^```/d' -e 's/^    \([a-z.]\)/\1/p' "$1"; }

# run_command LINE COMMENT: one that is no server.
run_command() {
	local line=$1 wanted=0 got said speaks
	case $2 in *'exit status '*) wanted=${2#*exit status } wanted=${wanted%%[!0-9]*} ;; esac
	speaks=${line##*' -o '*} # a file is all that comes of it
	[[ $2 != *nothing* ]] || speaks=
	case $line in *' >'* | *'>>'* | mkdir* | cp* | chmod* | 'saguaro-sim ctl'* | 'saguaro port'* | wait* | systemctl* | 'install '*) speaks= ;; esac
	case $line,$2 in
	*,*repeat* | 'saguaro status'*) holds "$line, repeated" until_true is_answered "$line" "$wanted" "$speaks" || return ;;
	esac
	if is_answered "$line" "$wanted" "$speaks"; then
		ok "$line"
	else
		fail "$line: status $got: $(head -c 600 <<<"$said")"
	fi
	case $line in curl*/v1/* | curl*/paths*)
		same "an HTTP reply that is no problem" null "$(jq -r '.title?' <<<"$said" 2>/dev/null | head -n 1)" ;;
	esac
}

# before_line LINE: a test may define it to prepare what a command needs.
before_line() { :; }

# run_line LINE COMMENT: a command of a document, also a server.
run_line() {
	local line=$1 comment=$2 reason
	reason=$(awk -F'\t' -v line="$line" '$1 == line { print $2 }' <<<"$not_run")
	before_line "$line"
	case $line in
	"${reason:+$line}") printf 'not run: %s: %s\n' "$line" "$reason" ;;
	'saguarod --fabric sim:'*)
		serve "${line% &}"
		daemon=$server
		;;
	saguaro-gateway*)
		serve "${line% &}"
		gateway=$server
		come_up port_is_known || fail "$line"
		url=http://127.0.0.1:$(cat "$folders/gateway.port")
		wait_ready
		;;
	'saguaro-sim --run saguarod'*' &' | 'saguaro-sim --run --host '*' saguarod '*' &')
		: >"$work/servers.log"
		serve "${line% &}"
		case $line in *standby*) ;; *) holds "$line" come_up sm_is_up ;; esac
		;;
	'kill '*%*)
		[[ $line != *-9* ]] || kill -9 "${servers[${line##*%}]}"
		end_process "${servers[${line##*%}]}"
		;;
	*' &')
		serve "${line% &}"
		holds "$line" come_up test -S "$folders/sim.sock"
		;;
	*) run_command "$line" "$comment" ;;
	esac
}

# run_document FILE: every command of it.
run_document() {
	local line command comment
	while IFS= read -r line <&3; do
		command=${line%% # *}
		comment=${line#"$command"}
		command=${command%"${command##*[! ]}"}
		comment=${comment# # }
		run_line "$command" "$comment"
	done 3< <(commands_of "$1")
}

# not_run_is_there FILE...: what is not run still stands in the documents.
not_run_is_there() {
	local line reason all
	all=$(for f; do commands_of "$f"; done | sed 's/  *# .*//')
	while IFS=$tab read -r line reason; do
		has "what is not run still stands there" $'\n'"$all"$'\n' $'\n'"$line"$'\n'
	done <<<"$not_run"
}

end_servers() { # those of the document
	local i
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do end_process "${pids[i]}"; done
	pids=()
}
export PATH=$work/bin:$PATH

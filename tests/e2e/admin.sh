#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The write door: saguaro-admin over TLS and a Unix socket, in front of a saguarod with a simulated
# fabric. Users and roles, certificates, TLS versions, partitions, the calls of ib-kubernetes
# (ib_kubernetes.requests), hostile clients, the audit log, and what listens by default.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
[ -x "$bin/saguaro-admin" ] || skip "built without saguaro-admin"
for tool in curl openssl jq; do command -v "$tool" >/dev/null || skip "no $tool here"; done
cd "$work" || exit 1
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
json='Content-Type: application/json; charset=utf-8'

# Keys: the server's, a signer of clients, two clients, and one whom nobody trusts.
certificate() { # certificate FILE NAME [SIGNER]
	local signer=${3:-$1} purpose=clientAuth
	[ "$1" != server ] || purpose=serverAuth
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$2" 2>/dev/null
	if [ "$signer" = "$1" ]; then
		openssl x509 -req -in "$1.csr" -signkey "$1.key" -days 30 -out "$1.pem" -extfile <(printf 'subjectAltName=DNS:%s,IP:127.0.0.1\n' "$2") 2>/dev/null
	else
		openssl x509 -req -in "$1.csr" -CA "$signer.pem" -CAkey "$signer.key" -CAcreateserial -days 30 -out "$1.pem" \
			-extfile <(printf 'extendedKeyUsage=%s\n' "$purpose") 2>/dev/null
	fi
	chmod 0600 "$1.key"
}
certificate server door.example
certificate signer clients.example
certificate robot robot signer
certificate stranger stranger signer
certificate forger forger.example
certificate forged robot forger

# Users.
admin() { "$bin/saguaro-admin" --users "$work/users" "$@"; }
token() { admin --add-token "$@" 2>/dev/null; }
operator=$(token operator --role operator)
plugin=$(token ib-kubernetes --role partition-admin --expires 90d)
viewer=$(token viewer --role viewer --expires never)
expired=$(token expired --role operator --expires 2026-01-01)
holds "a password is taken from standard input" admin --add-password person --role viewer <<<"a long password"
holds "a user with a certificate" admin --add-certificate robot --role partition-admin
refuses "a short password is refused" admin --add-password short --role viewer <<<"short"
refuses "a user twice" admin --add-token viewer --role viewer
has "which is said" "$said" "the user viewer is there"
refuses "a user without a role" admin --add-token other
same "the file is for the group" 640 "$(stat -c %a users)"
holds "no secret stands in it" test "$(grep -cF -e "$operator" -e "$plugin" -e "long password" users)" = 0
has "the list has no hashes" "$(admin --list)" "ib-kubernetes"
holds "none" test "$(admin --list | grep -c '[$]y[$]')" = 0

start_daemon main --fabric "sim:$here/tests/fabrics/ring-4.topo"
start_admin() { # start_admin NAME ARGS...: pid in $door, port in $port
	local name=$1
	shift
	rm -f "$name.port"
	"$bin/saguaro-admin" --users "$work/users" --fabrics "main=$run_dir.control,other=$work/none.control" --port-file "$work/$name.port" \
		--audit-log "$work/$name.audit" --request-seconds 3600 --saguarod-seconds 3600 "$@" 2>>"$work/$name.log" &
	door=$!
	pids+=("$door")
	until_true test -s "$work/$name.port" || { fail "saguaro-admin does not start"; finish; }
	port=$(cat "$work/$name.port")
}
start_admin tls --listen 127.0.0.1:0 --tls-certificate server.pem --tls-key server.key --client-ca signer.pem \
	--failures-per-minute 40 --requests-per-minute 100000
url=https://door.example:$port tls_port=$port
ask() { curl -s --noproxy '*' --cacert server.pem --connect-to "::127.0.0.1:$tls_port" "$@"; }
status() { ask -o answer -w '%{http_code}' "$@"; }
as() { local user=$1; shift; ask -u "$user" "$@"; }
is_up() { [ "$(as "operator:$operator" "$url/v1/status" | jq -r .up)" = true ]; }
until_true is_up
ok "saguarod is up behind the door"

# Roles and what they allow.
same "Basic" operator "$(as "operator:$operator" "$url/v1/user" | jq -r .role)"
same "Bearer" viewer "$(ask -H "Authorization: Bearer viewer.$viewer" "$url/v1/user" | jq -r .role)"
same "a password" viewer "$(as "person:a long password" "$url/v1/user" | jq -r .role)"
same "a certificate" partition-admin "$(ask --cert robot.pem --key robot.key "$url/v1/user" | jq -r .role)"
same "a certificate that no user has" 401 "$(status --cert stranger.pem --key stranger.key "$url/v1/user")"
same "a forged certificate" 401 "$(status --cert forged.pem --key forged.key "$url/v1/user")"
same "nobody" 401 "$(status "$url/v1/partitions")"
same "nobody changes anything, on loopback too" 401 "$(status -X POST "$url/v1/sweep")"
same "a wrong secret" 401 "$(status -u operator:wrong "$url/v1/user")"
same "an expired user" 401 "$(status -u "expired:$expired" "$url/v1/user")"
same "a viewer does not sweep" 403 "$(status -u "viewer:$viewer" -X POST "$url/v1/sweep")"
same "nor does who changes partitions" 403 "$(status -u "ib-kubernetes:$plugin" -X POST "$url/v1/sweep")"
same "an operator does" 202 "$(status -u "operator:$operator" -H "$json" -d '{"heavy":true}' "$url/v1/sweep")"
alarm=$url/v1/alarms/unhealthy-0x0000000000000300-3
same "a viewer acknowledges no alarm" 403 "$(status -u "viewer:$viewer" -X POST "$alarm/ack")"
same "an operator does" 200 "$(status -u "operator:$operator" -H "$json" -d '{"note":"known","until":"2h"}' "$alarm/ack")"
same "not until some day" 400 "$(status -u "operator:$operator" -H "$json" -d '{"until":"some day"}' "$alarm/ack")"
same "nor by another word" 400 "$(status -u "operator:$operator" -H "$json" -d '{"why":"known"}' "$alarm/ack")"
same "and takes it back" 200 "$(status -u "operator:$operator" -X POST "$alarm/unack")"
same "once" 404 "$(status -u "operator:$operator" -X POST "$alarm/unack")"
same "life needs no user" 200 "$(status "$url/healthz")"
has "a refusal says how" "$(ask -i "$url/")" "WWW-Authenticate: Basic"

# HTTP.
same "another Host" 421 "$(status -u "operator:$operator" -H 'Host: evil.example' "$url/v1/user")"
same "an address as Host" 200 "$(status -u "operator:$operator" -H 'Host: 127.0.0.1' "$url/v1/user")"
same "a page of another site" 403 "$(status -u "operator:$operator" -H 'Origin: https://evil.example' -X POST "$url/v1/sweep")"
preflight() { status -X OPTIONS -H "Origin: $1" -H 'Access-Control-Request-Method: POST' "$url/v1/sweep"; }
same "nor is its browser told what it may send" 401 "$(preflight https://evil.example)"
same "a form" 415 "$(status -u "operator:$operator" -d heavy=true "$url/v1/sweep")"
head -c 2000000 /dev/zero | tr '\0' ' ' >large
same "a huge body" 413 "$(status -u "operator:$operator" -H "$json" -H 'Expect:' --data-binary @large "$url/v1/sweep")"
same "twenty times" "20 413" "$(for _ in {1..20}; do status -u "operator:$operator" -H "$json" -H 'Expect:' --data-binary @large "$url/v1/sweep"; echo; done | sort | uniq -c | xargs)"
same "before it is sent" 413 "$(status -u "operator:$operator" -H "$json" -H 'Expect: 100-continue' --data-binary @large "$url/v1/sweep")"
same "a huge body in chunks" 413 "$(status -u "operator:$operator" -H "$json" -H 'Expect:' -H 'Transfer-Encoding: chunked' --data-binary @large "$url/v1/sweep")"
same "a huge body of nobody" 401 "$(status -H "$json" -H 'Expect:' --data-binary @large "$url/v1/sweep")"
same "the document" 3.1.0 "$(as "viewer:$viewer" "$url/openapi.json" | jq -r .openapi)"
same "a fabric whose saguarod does not run" 503 "$(status -u "viewer:$viewer" "$url/other/v1/partitions")"
same "a port that is not there" 422 "$(status -u "operator:$operator" -H "$json" -d '{"port":"nothing:1"}' "$url/v1/port/disable")"

# TLS.
handshake() { openssl s_client -connect "127.0.0.1:$tls_port" -CAfile server.pem "$@" </dev/null 2>&1; }
for version in tls1_2 tls1_3; do
	has "$version" "$(handshake "-$version")" "Verify return code: 0"
done
for version in tls1 tls1_1; do
	holds "not $version" test "$(handshake "-$version" -cipher ALL:@SECLEVEL=0 | grep -c 'Cipher is (NONE)\|no protocols available')" -gt 0
done
refuses "TCP without TLS is refused" "$bin/saguaro-admin" --users users --listen 127.0.0.1:0
chmod 0644 server.key
refuses "a key that others can read" "$bin/saguaro-admin" --users users --listen 127.0.0.1:0 --tls-certificate server.pem --tls-key server.key
chmod 0600 server.key
refuses "a key of another certificate" "$bin/saguaro-admin" --users users --listen 127.0.0.1:0 --tls-certificate server.pem --tls-key robot.key

# Partitions.
guid=$(sed -n 's/^Ca.*"H-\([0-9a-f]*\)".*/\1/p' "$here/tests/fabrics/ring-4.topo" | head -n 1)
port_guid=$(printf '0x%016x' $((0x$guid + 1)))
write() { ask -u "ib-kubernetes:$plugin" -H "$json" "$@"; }
same "a partition is made" 0x8001 "$(write -d '{"p_key":"0x8001","name":"tenant-a","ipoib":true}' "$url/v1/partitions" | jq -r '"0x800\(.p_key)"')"
version=$(as "viewer:$viewer" "$url/v1/partitions" | jq .version)
same "a viewer makes none" 403 "$(status -u "viewer:$viewer" -H "$json" -d '{"p_key":"0x8002"}' "$url/v1/partitions")"
same "an old version" 412 "$(status -u "ib-kubernetes:$plugin" -H "$json" -H "If-Match: \"$((version - 1))\"" -d '{"members":["0x0200000000000001"]}' "$url/v1/partitions/0x1/members")"
same "the present version" 200 "$(status -u "ib-kubernetes:$plugin" -H "$json" -H "If-Match: \"$version\"" -d '{"members":["0x0200000000000001"]}' "$url/v1/partitions/0x1/members")"
same "a GUID that is not there is accepted" '["0x0200000000000001"]' "$(jq -c .absent answer)"
same "not modified" 304 "$(status -u "viewer:$viewer" -H "If-None-Match: \"$(jq .version answer)\"" "$url/v1/partitions")"
write -d "{\"members\":[{\"guid\":\"$port_guid\",\"membership\":\"limited\"}]}" "$url/v1/partitions/1/members" >answer
version=$(jq .version answer)
programmed() { [ "$(as "viewer:$viewer" "$url/v1/wait?version=$version&timeout_ms=5000" | jq .programmed)" = true ]; }
holds "the change is in the tables" until_true programmed
same "the members" '["0x0200000000000001","'"$port_guid"'"]' "$(as "viewer:$viewer" "$url/v1/partitions/0x1" | jq -c '.partition.members | map(.guid) | sort | reverse')"
same "one is removed" 200 "$(status -u "ib-kubernetes:$plugin" -X DELETE "$url/main/v1/partitions/0x1/members/0x0200000000000001")"
same "the partition is deleted" 200 "$(status -u "ib-kubernetes:$plugin" -X DELETE "$url/v1/partitions/0x1")"
same "it is gone" 404 "$(status -u "viewer:$viewer" "$url/v1/partitions/0x1")"
{
	printf '{"create":true,"members":["0x0300000000000001"'
	for ((i = 2; i <= 1000; i++)); do printf ',"0x%016x"' $((0x0300000000000000 + i)); done
	printf ']}'
} >thousand
same "a thousand members at once" 200 "$(status -u "ib-kubernetes:$plugin" -H "$json" -d @thousand "$url/v1/partitions/0x77/members")"
same "are there" 1000 "$(as "viewer:$viewer" "$url/v1/partitions/0x77" | jq '.partition.members | length')"

# What ib-kubernetes sends.
n=0
while IFS=$'\t' read -r method target body holds; do
	case $method in '#'* | '') continue ;; esac
	args=(-X "$method" -H "$json" -u "ib-kubernetes:$plugin")
	[ "$body" = - ] || args+=(-d "$body")
	n=$((n + 1))
	got=$(status "${args[@]}" "$url$target")
	{ [ "$got" = 200 ] && jq -e "$holds" answer >/dev/null; } || fail "ib-kubernetes: $method $target $body: $got $(head -c 400 answer)"
done <"$here/tests/e2e/ib_kubernetes.requests"
same "requests of ib-kubernetes were sent" 23 "$n"
date=$(ask -I -u "ib-kubernetes:$plugin" "$url/ufmRest/app/ufm_version" | tr -d '\r' | sed -n 's/^Date: //p')
holds "HEAD has a Date" date -d "$date"
write -d '{"pkey":"0x9","guids":["0200000000000009"]}' "$url/ufmRest/resources/pkeys" >/dev/null
updated=$(write "$url/ufmRest/resources/pkeys/last_updated" | jq -r .last_updated)
holds "a change after it is later" test "$(date -d "$updated" +%s)" -gt "$(date -d "$date" +%s)"

# A page that the operator names.
refuses "not any page" admin --allow-origin '*' --listen "$work/x.sock"
has "which is said" "$said" "each must be https://NAME"
refuses "nor one that others can change on the way" admin --allow-origin http://fabric.example --listen "$work/x.sock"
tls_url=$url door_tls_port=$tls_port
start_admin page --listen 127.0.0.1:0 --tls-certificate server.pem --tls-key server.key --client-ca signer.pem \
	--allow-origin https://fabric.example,http://localhost:8620 --failures-per-minute 40 --requests-per-minute 100000
url=https://door.example:$port tls_port=$port
same "its browser asks first, without the user" 204 "$(preflight https://fabric.example)"
has "and is told what it may send" "$(ask -i -X OPTIONS -H 'Origin: https://fabric.example' "$url/v1/sweep")" "Access-Control-Allow-Headers: Authorization"
same "an operator sweeps from there" 202 "$(status -u "operator:$operator" -H 'Origin: https://fabric.example' -H "$json" -d '{}' "$url/v1/sweep")"
has "and the page may read the answer" "$(as "operator:$operator" -i -H 'Origin: https://fabric.example' "$url/v1/user")" "Access-Control-Allow-Origin: https://fabric.example"
has "as it may a refusal" "$(ask -i -H 'Origin: https://fabric.example' "$url/v1/user")" "Access-Control-Allow-Origin: https://fabric.example"
same "nobody does" 401 "$(status -H 'Origin: https://fabric.example' -X POST "$url/v1/sweep")"
same "other pages are as before" 403 "$(status -u "operator:$operator" -H 'Origin: https://evil.example' -X POST "$url/v1/sweep")"
same "and learn nothing" 0 "$(as "operator:$operator" -i -H 'Origin: https://evil.example' "$url/v1/user" | grep -ci access-control)"
same "no cookie or certificate of the browser is asked for" 0 "$(as "operator:$operator" -i -H 'Origin: https://fabric.example' "$url/v1/user" | grep -ci allow-credentials)"
url=$tls_url tls_port=$door_tls_port

# Hostile clients: a client that sends bytes for ever, many of them, and wrong logins.
start_admin unix --listen "$work/door.sock" --log-file "$work/door.log" --failures-per-minute 1
local_door() { curl -s --unix-socket "$work/door.sock" "$@"; }
same "a Unix socket needs a user, too" 401 "$(local_door -o /dev/null -w '%{http_code}' http://localhost/v1/partitions)"
same "and takes one" viewer "$(local_door -u "viewer:$viewer" http://localhost/v1/user | jq -r .role)"
same "its mode" 660 "$(stat -c %a door.sock)"
if command -v python3 >/dev/null; then
	cat >slow.py <<'P'
import select, socket, sys
clients = []
for _ in range(4):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(b"POST /v1/sweep HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    clients.append(s)
while clients:  # a byte each time nothing happens; until the server has closed all of them
    for s in select.select(clients, [], [], 0.1)[0]:
        try:
            if s.recv(4096) == b"":
                clients.remove(s)
        except OSError:
            clients.remove(s)
    for s in list(clients):
        try:
            s.send(b"x")
        except OSError:
            clients.remove(s)
P
	unix_door=$door
	start_admin slow --listen "$work/slow.sock" --request-seconds 1 --connections 4
	door=$unix_door
	holds "slow clients are closed, although bytes come" python3 slow.py slow.sock
	serves() { [ "$(curl -s --unix-socket slow.sock -u "viewer:$viewer" http://localhost/v1/user | jq -r .role)" = viewer ]; }
	holds "and their places are free" until_true serves
fi
# Idle connections of four addresses, as many as there are places, keep no user out, not even of one of these
# addresses. A user of another address is not kept out by those that come one after the other.
if command -v python3 >/dev/null; then
	cat >crowd.py <<'P'
import socket, sys
crowd = []
for i in range(int(sys.argv[2])):
    s = socket.socket()
    s.bind((f"127.0.0.{1 + i % 4}", 0))
    s.connect(("127.0.0.1", int(sys.argv[1])))
    crowd.append(s)
print("there", flush=True)
sys.stdin.read()
P
	for from in 128:127.0.0.1 600:127.0.0.5; do
		crowd=${from%:*}
		coproc CROWD { exec python3 crowd.py "$tls_port" "$crowd" 2>&1; }
		crowd_in=${CROWD[1]} crowd_pid=$CROWD_PID
		read -r said <&"${CROWD[0]}"
		same "$crowd idle connections" there "$said"
		same "keep nobody out" "20 200" "$(for _ in {1..20}; do status --interface "${from#*:}" -u "operator:$operator" "$url/v1/user"; echo; done | sort | uniq -c | xargs)"
		exec {crowd_in}>&-
		wait "$crowd_pid"
	done
fi
refused() { [ "$(local_door -o answer -w '%{http_code}' -u operator:wrong http://localhost/v1/user)" = 429 ]; }
holds "too many wrong logins" until_true refused
same "a secret that was right is let in" viewer "$(local_door -u "viewer:$viewer" http://localhost/v1/user | jq -r .role)"

# A user who is removed is gone at once; nobody is let in with a file that others can write.
holds "a user is removed" admin --remove viewer
same "who is refused" 401 "$(status -u "viewer:$viewer" "$url/v1/user")"
chmod 0666 users
same "a file that others can write" 503 "$(status -u "operator:$operator" "$url/v1/user")"
chmod 0640 users
same "is used when it is mended" 200 "$(status -u "operator:$operator" "$url/v1/user")"

# Events name the user and the door.
holds "events name who changed a partition" grep -qF "; by ib-kubernetes, HTTP by way of $(id -un)" \
	<("$bin/saguaro" events --snapshot-dir "$run_dir" --last 1000)
has "also over HTTP" "$("$bin/saguaro" events --snapshot-dir "$run_dir" --last 1000 --json)" "by ib-kubernetes, HTTP by way of"

# The audit log.
same "each change was asked and has an outcome" "$(jq -r 'select(.what == "asked").change' tls.audit | sort)" \
	"$(jq -r 'select(.what != "asked").change' tls.audit | sort)"
same "with its user and members" 1000 "$(jq -r 'select(.user == "ib-kubernetes" and .request.pkey == "0x77").request.members | length' tls.audit)"
holds "the log has them, too" grep -q 'user=ib-kubernetes .* partition create of 0x8001' tls.log
holds "no secret is in a log" test "$(cat ./*.log ./*.audit | grep -cF -e "$operator" -e "$plugin" -e "$viewer" -e "long password")" = 0

# What listens: with default options nothing but loopback.
if command -v ss >/dev/null; then
	start_gateway gateway
	listeners() { ss -Hltn -p | grep "pid=$1," | awk '{ print $4 }' | sed 's/:[0-9]*$//' | sort -u; }
	same "saguarod listens on no port" "" "$(listeners "$daemon")"
	same "saguaro-gateway on loopback" 127.0.0.1 "$(listeners "$gateway")"
	same "saguaro-admin on a Unix socket" "" "$(listeners "$door")"
fi
kill -USR2 "$door"
kill -USR1 "$door"
holds "SIGUSR1 opens the log again, SIGUSR2 does nothing" until_true grep -q "log file opened again" unix.log
kill -TERM "$door"
wait "$door"
same "it ends well" 0 "$?"
holds "its socket is gone" test ! -e door.sock
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The page at /: who gets it and with which headers, what happens without it; and, where the
# page is built (make web) and there is a Chromium, walks through its views of a tree, of pods, of
# a torus and of a dragonfly, and of fabrics where cables, hosts, switches and the subnet manager
# go, and makes changes through saguaro-admin. SCREENSHOTS=folder keeps a picture of each view.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
# shellcheck source=tests/e2e/page/client.sh
. "$here/tests/e2e/page/client.sh"
command -v curl >/dev/null || skip "curl is not installed"

browser='Accept: text/html,application/xhtml+xml,*/*;q=0.8'
head_of() { curl -s -o /dev/null -D - "$@" | tr -d '\r'; }
code_of() { curl -s -o /dev/null -w '%{http_code}' "$@"; }

# a page of four lines, without a daemon
run_dir=$work/none
mkdir "$work/web"
for name in index.html app.js app.css licences.txt; do
	printf 'this is %s\n' "$name" >"$work/web/$name"
done
gzip -9 -n -k "$work/web/app.js"
start_gateway small --web-dir "$work/web"
same "a browser gets the page" "this is index.html" "$(curl -s -H "$browser" "$url/")"
has "others get the list" "$(curl -s "$url/")" '"resources"'
head=$(head_of -H "$browser" "$url/")
has "nothing from elsewhere" "$head" "Content-Security-Policy: default-src 'none'; script-src 'self'"
has "its type" "$head" "Content-Type: text/html; charset=utf-8"
has "caches keep page and list apart" "$head" "Vary: Accept, Accept-Encoding"
has "the list, too" "$(head_of "$url/")" "Vary: Accept"
has "packed for who asks" "$(head_of -H 'Accept-Encoding: gzip' "$url/web/app.js")" "Content-Encoding: gzip"
same "and unpacked the same" "this is app.js" "$(curl -s --compressed "$url/web/app.js")"
tag=$(head_of "$url/web/app.js" | sed -n 's/^ETag: //p')
same "304 on the same ETag" 304 "$(code_of -H "If-None-Match: $tag" "$url/web/app.js")"
same "200 on that of the packed one" 200 "$(code_of -H "If-None-Match: $tag" -H 'Accept-Encoding: gzip' "$url/web/app.js")"
same "HEAD" 200 "$(code_of -I -H "$browser" "$url/")"
same "nothing else of the folder" 404 "$(code_of --path-as-is "$url/web/../web/app.js")"
same "POST" 405 "$(code_of -X POST -H "$browser" "$url/")"
same "a foreign name in Host" 421 "$(code_of -H 'Host: evil.example' -H "$browser" "$url/")"

# without a page, and with half of one
start_gateway none --web-dir "$work/nowhere"
has "no page is said" "$(cat "$work/none.log")" "no page in $work/nowhere"
has "the list for browsers, too" "$(curl -s -H "$browser" "$url/")" '"resources"'
rm "$work/web/app.css"
start_gateway half --web-dir "$work/web"
has "half a page is said" "$(cat "$work/half.log")" "no app.css"
has "and not served" "$(curl -s -H "$browser" "$url/")" '"resources"'

# its parts that draw nothing; they need the packages that make web fetches
if ! command -v node >/dev/null || ! [ -d "$here/gateway/web/node_modules" ]; then
	printf 'no unit tests of the page: node or its packages are missing (make web)\n'
else
	node --test "$here"/tests/gateway/web/*.test.mjs >"$work/units.log" 2>&1
	same "unit tests of the page" 0 "$?"
	grep -E '^not ok' "$work/units.log"
fi

refuses "secrets are sent to no plain address" "$bin/saguaro-gateway" --admin-url http://sm.example:8621
has "which is said" "$said" "must be https://NAME"

# in a browser
find_client
if [ -n "$why" ]; then
	printf 'not in a browser: %s\n' "$why"
	finish
fi
holds "the packages of the page are listed" test -s "$page/sbom.spdx.json"
shots=${SCREENSHOTS:-$work}
open_page sm "$here/tests/fabrics/demo-648.topo" --sweep_interval 1
node "$work/npm/walk.mjs" "$url" "$chromium" "$bin/saguaro" "$shots"
same "walk through the page" 0 "$?"
close_page

# fabrics of other shapes
shape() { # shape NAME TOPO-ARGS...
	local name=$1
	shift
	"$bin/saguaro" topo "$@" -o "$work/$name.topo"
	open_page "$name" "$work/$name.topo" -R dfsssp
	node "$work/npm/shapes.mjs" "$name" "$url" "$chromium" "$shots"
	same "$name" 0 "$?"
	close_page
}
shape tree tree3 26 2 1 2 1
shape torus torus 4x3x3 1
shape dragonfly dragonfly 1 8 2

# a folded map where things break
"$bin/saguaro" topo ft3 10 -o "$work/pods.topo"
start_simulator "$work/pods.topo"
start_daemon_on node001 pods --sweep_interval=1
start_gateway gw-pods
wait_ready
node "$work/npm/pods.mjs" "$url" "$chromium" "$bin" "$shots"
same "what the page says of pods" 0 "$?"
close_page
stop_simulator

# a fabric where things break
"$bin/saguaro" topo ft2 4 4 4 -o "$work/faults.topo"
start_simulator "$work/faults.topo"
start_daemon_on node01 faults --sweep_interval=1
start_gateway gw-faults
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir
node "$work/npm/faults.mjs" "$url" "$chromium" "$bin" "$shots" "$daemon"
same "what the page says of faults" 0 "$?"
end_process "$gateway"
stop_simulator

# changes through saguaro-admin
if ! [ -x "$bin/saguaro-admin" ] || ! command -v openssl >/dev/null; then
	printf 'no changes from the page: saguaro-admin or openssl is missing\n'
	finish
fi
start_simulator "$work/faults.topo"
start_daemon_on node01 changes --sweep_interval=1
start_gateway gw-plain
plain=$url door_port=$(free_port)
start_gateway gw-changes --admin-url "https://127.0.0.1:$door_port"
has "the page may ask it, too" "$(head_of -H "$browser" "$url/")" "connect-src 'self' https://127.0.0.1:$door_port; base-uri"
has "and knows where it is" "$(curl -s "$url/v1")" "\"admin\":\"https://127.0.0.1:$door_port\""
admin() { "$bin/saguaro-admin" --users "$work/users" "$@"; }
operator=ana.$(admin --add-token ana --role operator 2>/dev/null)
viewer=vic.$(admin --add-token vic --role viewer 2>/dev/null)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost -addext 'subjectAltName=IP:127.0.0.1' \
	-keyout "$work/door.key" -out "$work/door.pem" 2>/dev/null
chmod 0600 "$work/door.key"
admin --listen "127.0.0.1:$door_port" --port-file "$work/door.port" --tls-certificate "$work/door.pem" --tls-key "$work/door.key" \
	--fabrics "main=$run_dir.control" --allow-origin "$url" 2>>"$work/door.log" &
pids+=("$!")
until_true test -s "$work/door.port" || { fail "saguaro-admin does not start"; finish; }
wait_ready
node "$work/npm/change.mjs" "$url" "https://127.0.0.1:$door_port" "$plain" "$chromium" "$bin" "$shots" "$operator" "$viewer"
same "changes from the page" 0 "$?"
finish

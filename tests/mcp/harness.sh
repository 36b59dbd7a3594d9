# For the scripts beside it, to be sourced: `. harness.sh PATH_TO_INDX`. Gives them
#   $node                     a Node.js of the version that the packages need; the system's where it cannot be fetched
#   install_packages FOLDER   npm packages of tests/mcp/FOLDER in $work, with that folder's scripts beside them; kept between runs
#   start_model_server MS     a model that takes so many milliseconds for an answer; sets $model_env
#   start_server [NAME=VALUE…] a server over a fresh copy of the sample vault, on a port of its own; sets $vault $url $owner_token
#                             $write_token $read_token
#   stop_server
# Everything that was started ends with the script, and the vaults go.
set -euo pipefail
mcp_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$mcp_tests/../.." && pwd)
binary=$(realpath "$1")
packages=${MCP_TEST_PACKAGES:-$root/build/mcp-packages}
logs=$root/build/mcp-logs/$(basename "$(dirname "$(realpath "$0")")")
mkdir -p "$logs"
install_seconds=900 run_seconds=600 start_steps=1200 stop_steps=600  # a step is 50 ms

if ! command -v node > /dev/null || ! command -v npm > /dev/null; then
  echo "skipped: tests/mcp/$(basename "$logs"), for there is no Node.js with npm (scripts/setup installs it)"
  exit 0
fi

children=() folders=() server=''
clean_up() {
  local each
  for each in "${children[@]}"; do if is_running "$each"; then kill "$each" 2> /dev/null || true; fi; done
  for each in "${children[@]}"; do wait_for_end "$each"; done
  for each in "${folders[@]}"; do rm -rf "$each"; done
}
is_running() { jobs -pr | grep -qx "$1"; }
# Waits for a child that was told to end, and ends it the hard way if it does not.
wait_for_end() {
  for _ in $(seq "$stop_steps"); do
    if ! is_running "$1"; then break; fi
    sleep 0.05
  done
  if is_running "$1"; then echo "process $1 did not end" >&2; kill -9 "$1" 2> /dev/null || true; fi
  wait "$1" 2> /dev/null || true
}
trap clean_up EXIT

install_packages() {
  work=$packages/$1
  mkdir -p "$work"
  find "$mcp_tests/$1" -name '*.mjs' -exec cp -t "$work" {} +
  if cmp -s "$mcp_tests/$1/package.json" "$work/installed.json"; then return; fi
  cp "$mcp_tests/$1/package.json" "$work/package.json"
  (cd "$work" && timeout "$install_seconds" npm install --no-audit --no-fund --no-package-lock --ignore-scripts --silent) ||
    { echo "the npm packages of tests/mcp/$1 could not be installed" >&2 && return 1; }
  cp "$work/package.json" "$work/installed.json"
}

install_packages node
node=$(find "$work/node_modules" -path '*/node-linux-*/bin/node' 2> /dev/null | head -1 || true)
node=${node:-node}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Waits until the file holds a line that fits, and prints what the group in the pattern caught.
wait_for_line() {
  local found
  for _ in $(seq "$start_steps"); do
    found=$(sed -n "s#^.*$2.*\$#\\1#p" "$1" | head -1)
    if [ -n "$found" ]; then echo "$found" && return; fi
    sleep 0.05
  done
  echo "nothing in $1 is like $2" >&2
  tail -5 "$1" >&2
  return 1
}

# wait_for_answer URL [CURL_OPTION…]
wait_for_answer() {
  for _ in $(seq "$start_steps"); do
    if curl -so /dev/null --max-time 5 "${@:2}" "$1"; then return; fi
    sleep 0.05
  done
  echo "no answer from $1" >&2
  return 1
}

start_model_server() {
  local port
  : > "$logs/model.log"  # else the port of the run before may be read
  "${MCP_TEST_MODEL_SERVER:-$(dirname "$binary")/../tests/support/model_server}" --delay-ms "$1" > "$logs/model.log" 2>&1 &
  children+=($!)
  port=$(wait_for_line "$logs/model.log" 'listening on \([0-9]*\)')
  # One call of the model at a time: a scope of several notes takes long and reports its progress.
  model_env=(INDX_AI_PROVIDER=openai INDX_AI_MODEL=test INDX_OPENAI_BASE_URL="http://127.0.0.1:$port/v1" INDX_OPENAI_API_KEY=test
    INDX_JOBS_LANES_PER_JOB=1 INDX_AI_CACHE=false)
}

fresh_vault() {
  vault=$(mktemp -d)
  folders+=("$vault")
  cp -R "$root/docs/sample-vault/." "$vault"
}

token_with() {
  "$binary" --vault "$vault" token create "test-$1" --scopes "$1" |
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(d.get("token") or d.get("secret"))'
}

start_server() {
  local log=$logs/server.log
  fresh_vault
  : > "$log"
  env INDX_DURABILITY=normal "$@" "$binary" serve --vault "$vault" --port 0 > "$log" 2>&1 &
  server=$!
  children+=("$server")
  url=$(wait_for_line "$log" 'address  \(http:[^ ]*\)')/mcp
  wait_for_answer "${url%/mcp}/readyz" -f
  owner_token=$(cat "$vault/.indx/token")
  read_token=$(token_with vault:read)
  write_token=$(token_with vault:read,vault:write)
}

stop_server() {
  kill "$server" 2> /dev/null || true
  wait_for_end "$server"
}

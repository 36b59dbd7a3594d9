#!/usr/bin/env bash
# Usage: tests/mcp/sdk/run.sh PATH_TO_INDX
# The official MCP SDK against the built program, over HTTP and stdio. Skipped, with its reason, where Node.js is absent.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
binary=$(realpath "$1")
if ! command -v node > /dev/null || ! command -v npm > /dev/null; then echo 'skipped: Node.js absent' && exit 0; fi

work=$root/build/mcp-sdk
mkdir -p "$work"
cp "$here/package.json" "$here/list_tools.mjs" "$work/"
if [ ! -d "$work/node_modules/@modelcontextprotocol/sdk" ]; then
  (cd "$work" && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --silent)
fi
vault=$(mktemp -d)
cp -R "$root/docs/sample-vault/." "$vault"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$binary" serve --vault "$vault" --port "$port" > "$work/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait "$server" || true; rm -rf "$vault"' EXIT
for _ in $(seq 200); do
  if curl -sf "http://127.0.0.1:$port/readyz" > /dev/null; then break; fi
  sleep 0.05
done
read_token=$("$binary" --vault "$vault" token create sdk-test --scopes vault:read |
  python3 -c 'import json, sys; d = json.load(sys.stdin); print(d.get("token") or d.get("secret"))')
cd "$work"
node list_tools.mjs "$binary" "$vault" "http://127.0.0.1:$port/mcp" "$(cat "$vault/.indx/token")" "$read_token"

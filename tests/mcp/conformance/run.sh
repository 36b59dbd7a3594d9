#!/usr/bin/env bash
# Usage: tests/mcp/conformance/run.sh PATH_TO_INDX [SET…]
# The official conformance suite in the sets stable, 2025-11-25 and 2026-07-28 (or those named): on the plain product what needs no
# fixtures, then everything, on the same program with its fixtures, if it was built with INDX_MCP_FIXTURES. Prints the scenarios that
# failed; exit 1 for one that cannot_pass.txt does not name, and where fewer pass than `least` says. Skipped, with its reason, where
# Node.js is absent.
# rows: B72
. "$(dirname "${BASH_SOURCE[0]}")/../harness.sh" "$1"
shift
sets=("$@")
if [ ${#sets[@]} -eq 0 ]; then sets=(stable 2025-11-25 2026-07-28); fi

install_packages conformance
suite_work=$work
install_packages check  # the proxy that adds the token, which the suite cannot send

# How many scenarios pass, by title and set: a suite that ends early has no failures, but fewer of these.
declare -A least=([plain-stable]=8 [plain-2025-11-25]=9 [plain-2026-07-28]=10
  [fixtures-stable]=32 [fixtures-2025-11-25]=33 [fixtures-2026-07-28]=40)

status=0
# suite TITLE [NAME=VALUE…]: all sets against the server that runs
suite() {
  local title=$1 port set out name passed
  shift
  port=$(free_port)
  TARGET=${url%/mcp} TOKEN=$write_token PORT=$port "$node" "$work/inject.mjs" &
  children+=($!)
  wait_for_answer "http://127.0.0.1:$port/"
  for set in "${sets[@]}"; do
    out=$logs/conformance-$title-$set.log
    printf '%s, %s: ' "$title" "$set"
    env "$@" URL="http://localhost:$port/mcp" SET="$set" OUT="$(mktemp -d -p "$logs")" timeout "$run_seconds" "$node" "$suite_work/run.mjs" > "$out" 2>&1 || true
    tail -1 "$out"
    passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$out")
    if [ "${passed:-0}" -lt "${least[$title-$set]}" ]; then
      echo "  too few: ${passed:-0} of at least ${least[$title-$set]} scenarios passed"
      status=1
    fi
    for name in $(sed -n 's/^FAIL [^ ]* \([^ ]*\).*/\1/p' "$out"); do
      if grep -q "^$set $name:" "$mcp_tests/conformance/cannot_pass.txt"; then
        echo "  cannot pass: $name"
      else
        grep "^FAIL $set $name " "$out" | sed 's/^/  /'
        status=1
      fi
    done
  done
}

start_server
suite plain GENERIC=1
stop_server
start_server MCP_CONFORMANCE_FIXTURES=1
if curl -s --max-time 60 "$url" -H "Authorization: Bearer $owner_token" -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2026-07-28' \
  -H 'Mcp-Method: tools/list' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}' |
  grep -q test_simple_text; then
  suite fixtures
else
  echo 'skipped: the suite with fixtures, which this build lacks (INDX_MCP_FIXTURES)'
fi
exit "$status"

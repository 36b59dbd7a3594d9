#!/usr/bin/env bash
# Usage: tests/mcp/sdk/run.sh PATH_TO_INDX
# The official MCP SDKs, version 1 and 2, against the built program, over HTTP and stdio. Skipped, with its reason, where Node.js is absent.
. "$(dirname "${BASH_SOURCE[0]}")/../harness.sh" "$1"

install_packages sdk
start_server
cd "$work"
timeout "$run_seconds" "$node" list_tools.mjs "$binary" "$vault" "$url" "$owner_token" "$read_token"
status=0
for version in v1 v2; do timeout "$run_seconds" "$node" "$version.mjs" "$binary" "$vault" "$url" "$write_token" || status=1; done
exit "$status"

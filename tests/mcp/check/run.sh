#!/usr/bin/env bash
# Usage: tests/mcp/check/run.sh PATH_TO_INDX [FILTER]
# check.mjs against the built program, strict: over HTTP with tokens of two scopes, over stdio alone and beside a live server, in both eras.
# FILTER is a regular expression of check names. Prints what failed; exit 1 then, and where, without FILTER, fewer checks pass than are
# named below. Skipped, with its reason, where Node.js is absent.
# rows: B3 B8 B9 B72
. "$(dirname "${BASH_SOURCE[0]}")/../harness.sh" "$1"
filter=${2:-.}

install_packages check
start_model_server 700
start_server "${model_env[@]}"

# Five notes, one after the other at 700 ms a call: about 3.5 s with progress between.
slow='{"scope":{"kind":"glob","path_glob":"methods/*"},"cache":false}'
patch='{"path":"Glossary.md","ops":[{"op":"append_body","markdown":"- seen by a check"}]}'
prompts='{"daily_note":{"date":"2026-04-22"},"link_orphans":{"limit":"5"},"cleanup_unresolved_links":{"dry_run":"true"},
  "weekly_review":{"week_of":"2026-04-22"}}'
# With static tokens a pointer to an authorization server would send clients into registration (mcp.md section 6).
not_ours='auth\.resource-metadata-hint$'
export STRICT=1 TIMEOUT_MS=20000 ONLY="^(?!$not_ours)(?=.*($filter))" READ_MAX=20 OVERSIZE_MB=12 PROMPT_ARGS="$prompts"
export TOOL=note_read TOOL_ARGS='{"path":"Home.md"}' TOOL_BAD_ARGS='{"path":{"a":1}}'
export SLOW_TOOL=ai_tag SLOW_ARGS="$slow" PROGRESS_TOOL=ai_tag PROGRESS_ARGS="$slow" TASK_TOOL=ai_tag TASK_ARGS="$slow"
export SUBSCRIBE_URI=vault://Glossary.md TRIGGER_TOOL=note_patch TRIGGER_ARGS="$patch"

status=0
# check TITLE LEAST NAME=VALUE…: one run of check.mjs, in which at least so many checks pass: one that ends early has no failures
check() {
  local title=$1 least=$2 out=$logs/check-${1// /-}.log passed
  shift 2
  printf '%s: ' "$title"
  env "$@" timeout "$run_seconds" "$node" "$work/check.mjs" > "$out" 2>&1 || status=1
  tail -1 "$out"
  grep -E '^(FAIL|skip)|Error' "$out" | sed 's/^/  /' || true
  passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$out")
  if [ "$filter" = . ] && [ "${passed:-0}" -lt "$least" ]; then
    echo "  too few: ${passed:-0} of at least $least checks passed"
    status=1
  fi
}

stdio() { python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' "$@"; }
check 'legacy over HTTP' 114 URL="$url" TOKEN="$write_token" READ_TOKEN="$read_token" ERA=legacy
check 'modern over HTTP' 36 URL="$url" TOKEN="$write_token" READ_TOKEN="$read_token" ERA=modern
check 'resources with unusual names' 4 URL="$url" TOKEN="$write_token" ERA=legacy RESOURCE='vault://people/Mei%20Tanaka.md' ONLY='^(sdk\.connect|resources\.read)'
check 'stdio beside a server' 17 STDIO="$(stdio "$binary" mcp serve --stdio --vault "$vault")"
stop_server
fresh_vault
check 'stdio alone' 17 STDIO="$(stdio "$binary" mcp serve --stdio --vault "$vault")" "${model_env[@]}"
exit "$status"

#!/usr/bin/env bash
# Usage: tests/mcp/inspector/run.sh PATH_TO_INDX
# The Inspector's command line against the built program, over HTTP and stdio, in both eras: lists, strict schemas, and the flow that reads,
# patches under the etag and is refused under the old one. Skipped, with its reason, where Node.js is absent.
# rows: B69 B70
. "$(dirname "${BASH_SOURCE[0]}")/../harness.sh" "$1"

install_packages conformance
inspector=$(realpath "$work/node_modules/.bin/mcp-inspector")
export HOME=$packages  # it keeps a catalog there
start_server

passed=0 failed=0
# inspect TRANSPORT ERA ARGUMENT…: prints the answer
inspect() {
  local transport=$1 era=$2
  shift 2
  local target=("$url" --transport http --header "Authorization: Bearer $write_token")
  if [ "$transport" = stdio ]; then target=("$binary" mcp serve --stdio --vault "$vault" --transport stdio); fi
  timeout 60 "$node" "$inspector" --cli "${target[@]}" --protocol-era "$era" --format json -q "$@" 2>> "$logs/inspector.log"
}
# expect TITLE PYTHON_CONDITION TRANSPORT ERA ARGUMENT…: the condition is about `r`, the answer
expect() {
  local title="$3, $4: $1" condition=$2 answer
  shift 2
  answer=$(inspect "$@") || true  # a refused call has an exit code of its own
  if printf '%s' "$answer" | python3 -c "
import json, sys
r = json.load(sys.stdin)
r = r.get('result', r)
sys.exit(0 if ($condition) else 1)" 2>> "$logs/inspector.log"; then
    passed=$((passed + 1))
    echo "ok $title"
  else
    failed=$((failed + 1))
    echo "FAIL $title: $(printf '%s' "$answer" | head -c 300)"
  fi
}

# count TITLE OK
count() {
  if [ "$2" = yes ]; then passed=$((passed + 1)) && echo "ok $1"; else failed=$((failed + 1)) && echo "FAIL $1"; fi
}
# expect_fan_out TRANSPORT ERA: searches, then reads all hits at once, each with a client of its own
expect_fan_out() {
  local title="$1, $2: all hits of a search are read at once" answers path got=yes read readers=()
  answers=$(mktemp -d)
  folders+=("$answers")
  inspect "$1" "$2" --method tools/call --tool-name vault_search --tool-args-json '{"q":"salt beans","limit":4}' |
    python3 -c 'import json, sys
r = json.load(sys.stdin)
for hit in r.get("result", r)["structuredContent"]["results"]: print(hit["path"])' > "$answers/paths" 2>> "$logs/inspector.log" || got=no
  while IFS= read -r path; do
    inspect "$1" "$2" --method tools/call --tool-name note_read --tool-args-json "{\"path\":\"$path\"}" > "$answers/${#readers[@]}.json" < /dev/null &
    readers+=($!)
  done < "$answers/paths"
  for read in "${readers[@]}"; do wait "$read" || got=no; done
  [ ${#readers[@]} -gt 1 ] || got=no
  for read in "${!readers[@]}"; do
    python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(0 if r.get("result", r)["structuredContent"]["path"] == sys.argv[2] else 1)' \
      "$answers/$read.json" "$(sed -n "$((read + 1))p" "$answers/paths")" 2>> "$logs/inspector.log" || got=no
  done
  count "$title" "$got"
}

: > "$logs/inspector.log"
for transport in http stdio; do
  for era in legacy modern; do
    on=("$transport" "$era")
    note="inspected/$transport-$era.md"
    call=("${on[@]}" --method tools/call --tool-name)
    expect 'tools are listed and their schemas are portable' 'any(t["name"] == "note_read" for t in r["tools"])' "${on[@]}" --method tools/list --strict
    expect 'resources are listed' 'len(r["resources"]) > 0' "${on[@]}" --method resources/list
    expect 'prompts are listed' 'any(p["name"] == "weekly_review" for p in r["prompts"])' "${on[@]}" --method prompts/list
    expect 'a resource is read' '"Quillmoor" in r["contents"][0]["text"]' "${on[@]}" --method resources/read --uri vault://Home.md
    expect 'search finds a note' 'len(r["structuredContent"].get("hits") or r["structuredContent"]["results"]) > 0' "${call[@]}" vault_search --tool-args-json '{"q":"salt beans"}'
    expect_fan_out "${on[@]}"
    "$binary" --vault "$vault" note update "$note" --body first > /dev/null
    etag=$(inspect "${call[@]}" note_read --tool-args-json "{\"path\":\"$note\"}" | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r.get("result", r)["structuredContent"]["etag"])' 2>> "$logs/inspector.log" || true)
    patch="{\"path\":\"$note\",\"ops\":[{\"op\":\"append_body\",\"markdown\":\"second\"}],\"if_match\":\"$etag\"}"
    expect 'a patch under the etag gives a new one' "r['structuredContent']['etag'] != '$etag'" "${call[@]}" note_patch --tool-args-json "$patch"
    expect 'the same patch is refused then' 'r["isError"] and "etag_mismatch" in json.dumps(r["content"])' "${call[@]}" note_patch --tool-args-json "$patch"
  done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

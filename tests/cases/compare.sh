#!/usr/bin/env bash
# Usage: tests/cases/compare.sh
# Compares the copies in this folder with the pack of cases they were taken from: INDX_SHARED, default ../shared beside
# the repository. Without a pack there is nothing to compare. Exits 1 when a copy differs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case "${1:-}" in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit 0 ;;
  '') ;;
  *) echo "compare: unknown argument: $1 (see --help)" >&2 && exit 2 ;;
esac

shared=${INDX_SHARED:-$here/../../../shared}
if [ ! -d "$shared/cases" ]; then
  echo 'skipped: pack absent'
  exit 0
fi

status=0
compare() {
  if ! diff -q "$shared/$1" "$here/$2" >/dev/null; then
    echo "differs: tests/cases/$2"
    status=1
  fi
}
for name in README.md jobs.md mcp.md vault.json vault.md; do compare "cases/$name" "$name"; done
for name in check.py run.py; do compare "tools/cases/$name" "$name"; done
compare tools/cases/README.md RUNNER.md
if [ "$status" -eq 0 ]; then echo 'cases: equal to the pack'; fi
exit "$status"

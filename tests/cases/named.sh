#!/usr/bin/env bash
# Usage: tests/cases/named.sh
# Fails when a case of mcp.md is not named by a test: case 7 by the tag [mcp-7] of a Catch2 test case.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case "${1:-}" in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit 0 ;;
  '') ;;
  *) echo "named: unknown argument: $1 (see --help)" >&2 && exit 2 ;;
esac

numbers=$(sed -n 's/^| \([0-9][0-9]*\) |.*/\1/p' "$here/mcp.md")
[ -n "$numbers" ] || { echo 'named: mcp.md holds no case' >&2 && exit 1; }
status=0
for number in $numbers; do
  grep -rqF --include='*.cpp' "[mcp-$number]" "$here/.." || { echo "no test names case $number of mcp.md"; status=1; }
done
if [ "$status" -eq 0 ]; then echo "cases of mcp.md: all named by tests"; fi
exit "$status"

#!/usr/bin/env bash
# Usage: scripts/check.sh [--fast] [--fix] [--tidy]
# What has to be green before a commit: layers, format of changed files, requirement rows, build and tests.
#   --fast   the rules of the source only, no build
#   --fix    format the changed files instead of complaining
#   --tidy   clang-tidy on the changed sources as well (slow)
# Changed means: against the place where this branch left main, and everything not committed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fast='' fix='' tidy=''
for argument in "$@"; do
  case "$argument" in
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit 0 ;;
    --fast) fast=1 ;;
    --fix) fix=1 ;;
    --tidy) tidy=1 ;;
    *) echo "check: unknown argument: $argument (see --help)" >&2 && exit 2 ;;
  esac
done

cd "$root"
step() { printf '\n== %s\n' "$1"; }

# Prints the changed files with one of the given endings.
changed() {
  local base=HEAD
  for branch in origin/main main; do
    if base=$(git merge-base HEAD "$branch" 2>/dev/null); then break; else base=HEAD; fi
  done
  {
    git diff --name-only --diff-filter=d "$base"
    git ls-files --others --exclude-standard
  } | sort -u | grep -E "\.($1)$" || true
}

step 'layers'
scripts/check_layers.py --selftest
scripts/check_layers.py

step 'tries'
scripts/check_try.py --selftest
scripts/check_try.py

step 'format'
mapfile -t files < <(changed 'cpp|hpp')
if [ ${#files[@]} -gt 0 ]; then
  if [ -n "$fix" ]; then clang-format-14 -i "${files[@]}"; else clang-format-14 --dry-run -Werror "${files[@]}"; fi
fi
echo "format: ${#files[@]} changed files"

step 'requirement rows'
scripts/trace | grep -E '^([A-H]|total) [0-9]+/'

step 'cases'
tests/cases/compare.sh
tests/cases/named.sh

if [ -n "$fast" ]; then exit 0; fi

step 'build and tests'
scripts/build dev
ctest --preset dev --output-on-failure --parallel "${INDX_TEST_JOBS:-$(nproc)}"

if [ -n "$tidy" ]; then
  step 'tidy'
  mapfile -t sources < <(changed 'cpp')
  if [ ${#sources[@]} -gt 0 ]; then clang-tidy-14 --quiet -p build/dev "${sources[@]}"; fi
fi

#!/usr/bin/env bash
# Usage: scripts/demo_crash.sh [--bin PATH] [--seed N] [--kills N] [--keep]
# A bulk tagging job over a real vault, cut by SIGKILL at a random moment and finished by the next start. Proves from the
# event log, the model server's count, the usage rows and the files: every note tagged once, no committed step repeated,
# no note damaged.
#   --bin PATH   the program, default build/release/cli/indx, built when it is missing
#   --seed N     chooses the moments, default: the time
#   --kills N    how often the server is killed, default 1
#   --keep       keep the vault and the server's log
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
case " $* " in
  *' --bin '* | *' --help '* | *' -h '*) ;;
  *) scripts/build release indx model_server && set -- --bin build/release/cli/indx "$@" ;;
esac
exec python3 "$root/scripts/demo_crash.py" "$@"

#!/usr/bin/env bash
# peers.sh [options], for ./dev bench --peers: installs bench/peers/requirements.txt into a virtual environment in the
# cache, once, and runs bench/peers/compare.py (options go to it). --out is build/bench/peers.json by default.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/nearfield/peers/venv
wanted=$root/bench/peers/requirements.txt

if ! cmp -s "$wanted" "$venv/installed.txt" || ! "$venv/bin/python3" -c 'import numpy' 2>/dev/null; then
  rm -rf "$venv"
  "$(PATH=/usr/bin:$PATH command -v python3)" -m venv "$venv"
  complete=yes
  while read -r package; do
    [[ $package != '#'* ]] || continue
    echo "installing $package" >&2
    # one without a wheel is compiled
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" >&2 </dev/null || complete=no
  done <"$wanted"
  if ! "$venv/bin/python3" -c 'import numpy'; then
    echo "./dev bench --peers: NumPy could not be installed, and every package needs it" >&2
    exit 2
  fi
  [ $complete = no ] || cp "$wanted" "$venv/installed.txt"
fi
exec "$venv/bin/python3" "$root/bench/peers/compare.py" --library "$root/build/bench/lib/libnearfield_peers.so" \
  --out "$root/build/bench/peers.json" "$@"

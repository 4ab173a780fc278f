#!/usr/bin/env bash
# peers.sh [options], for ./dev bench --peers: installs bench/peers/requirements.txt into a virtual environment in the
# cache, once, and runs bench/peers/compare.py (options go to it). --out is build/bench/peers.json by default.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/nearfield/peers/venv
export KEOPS_CACHE_FOLDER=$venv/keops # what KeOps compiles

# what is not complete is made anew; a package that failed is tried again in the next call, those installed are left alone
if ! "$venv/bin/python3" -c 'import pip' 2>/dev/null; then
  rm -rf "$venv"
  "$(PATH=/usr/bin:$PATH command -v python3)" -m venv "$venv"
fi
touch "$venv/packages.txt"
while read -r package; do
  ! grep -qxF "$package" "$venv/packages.txt" || continue
  echo "installing $package" >&2
  # One without a wheel is compiled, and would find the headers of Debian's python3-numpy, an older one, first.
  CPATH=$("$venv/bin/python3" -c 'import numpy; print(numpy.get_include())' 2>/dev/null || true) \
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "$package" >&2 </dev/null || continue
  echo "$package" >>"$venv/packages.txt"
done < <(grep -v '^#' "$root/bench/peers/requirements.txt")
if ! "$venv/bin/python3" -c 'import numpy'; then
  echo "./dev bench --peers: NumPy could not be installed, and every package needs it" >&2
  exit 2
fi
exec "$venv/bin/python3" "$root/bench/peers/compare.py" --library "$root/build/bench/lib/libnearfield_peers.so" \
  --out "$root/build/bench/peers.json" "$@"

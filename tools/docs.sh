#!/usr/bin/env bash
# The documentation of the public headers as HTML in DIR/html (docs.sh DIR). Fails where a public name has no
# comment; exits with 77 where there is no doxygen.
set -euo pipefail
into=$(realpath --canonicalize-missing "${1:?docs.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v doxygen >/dev/null; then
  echo "SKIPPED: no doxygen (Debian: doxygen)"
  exit 77
fi
mkdir -p "$into"
{ cat docs/Doxyfile && echo "OUTPUT_DIRECTORY = \"$into\""; } | doxygen -
echo "$into/html/index.html"

#!/usr/bin/env bash
# The documentation of the public headers as HTML in DIR/html (docs.sh DIR). Fails if a public name has no
# comment or a link leads nowhere; exits with 77 if there is no doxygen.
set -euo pipefail
into=$(realpath --canonicalize-missing "${1:?docs.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for program in doxygen python3; do
  if ! command -v "$program" >/dev/null; then
    echo "SKIPPED: no $program (Debian: $program)"
    exit 77
  fi
done
rm -rf "$into/html" # a page of a header that is gone would stay, with links that lead nowhere
mkdir -p "$into"
{ cat docs/Doxyfile && echo "OUTPUT_DIRECTORY = \"$into\""; } | doxygen -
python3 tools/docs_links.py "$into/html"
echo "$into/html/index.html"

#!/usr/bin/env bash
# Builds all components anew, or those that are named: tests/toolchains/build.sh [rust|c|go|qjs|python]…
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for language in "${@:-rust c go qjs python}"; do
  for one in $language; do
    "./$one/build.sh"
  done
done

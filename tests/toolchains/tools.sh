# Sourced after common.sh: the tools that Go and C share.

# wit-bindgen 0.63.0, with the Go runtime package that its crate carries (go.bytecodealliance.org/pkg v0.4.0). A debug build: quicker to compile, and it runs for a moment only.
wit_bindgen=$cache/wit-bindgen/bin/wit-bindgen
if [ ! -x "$wit_bindgen" ]; then
  quiet cargo install wit-bindgen-cli --version 0.63.0 --locked --debug -j 1 --no-default-features --features c,go \
    --target-dir "$cache/cargo-target" --root "$cache/wit-bindgen" --quiet
fi
go_pkg=$(printf '%s\n' "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/wit-bindgen-go-0.63.0/src/pkg | head -n 1)

# jco 1.35.0 carries wasm-tools' `component embed` and `new`, and the preview1 adapter in a version that Go's runtime package can use.
jco_dir=$cache/jco-1.35.0
if [ ! -x "$jco_dir/node_modules/.bin/jco" ]; then
  mkdir -p "$jco_dir"
  quiet npm install --prefix "$jco_dir" @bytecodealliance/jco@1.35.0 --ignore-scripts --no-audit --no-fund --no-package-lock --silent
fi
# component CORE WIT|- OUT
component() { quiet node "$root/component.mjs" "$jco_dir" "$@"; }

#!/usr/bin/env bash
# rustup -> built/rust.wasm
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

rustup target add wasm32-wasip2 >/dev/null 2>&1
quiet cargo build --manifest-path "$here/Cargo.toml" --release --target wasm32-wasip2 --target-dir "$cache/rust" --quiet
cp "$cache/rust/wasm32-wasip2/release/toolchain_rust.wasm" "$work/rust.wasm"
deliver "$work/rust.wasm" rust.wasm

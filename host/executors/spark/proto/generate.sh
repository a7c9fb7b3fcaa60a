#!/bin/sh
# Makes ../src/proto/*.rs from the .proto files beside this script, in a project of its own that is removed afterwards. It needs cargo and
# rustfmt, and no protoc. Run it after a change of these files, and commit what it writes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cat >"$work/Cargo.toml" <<'TOML'
[package]
name = "generate"
edition = "2024"

[dependencies]
protox = "=0.9.1"
tonic-prost-build = "=0.14.9"

[workspace]
TOML
cat >"$work/src/main.rs" <<'RUST'
fn main() {
    let (from, to) = (std::env::args().nth(1).unwrap(), std::env::args().nth(2).unwrap());
    let files = ["spark_connect.proto", "google_rpc.proto"];
    let set = protox::compile(files, [&from]).unwrap();
    tonic_prost_build::configure().build_server(false).build_transport(false).out_dir(&to).compile_fds(set).unwrap();
}
RUST
mkdir "$work/out"
CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$work/target}" cargo run --quiet --manifest-path "$work/Cargo.toml" -- "$here" "$work/out"
write() {
    { printf '//! %s\n//! Made by `proto/generate.sh` from `proto/%s.proto`, whose licence (Apache-2.0) applies: do not edit.\n' "$3" "$1"; cat "$work/out/$2.rs"; } >"$here/../src/proto/$1.rs"
    rustfmt --edition 2024 "$here/../src/proto/$1.rs"
}
mkdir -p "$here/../src/proto"
write spark_connect spark.connect 'The messages and the client of Spark Connect.'
write google_rpc google.rpc 'The details of errors.'

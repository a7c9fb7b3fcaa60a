#!/bin/sh
# Builds the plugin `conformance` in all languages, or in those that are named, into built/: tests/languages/build.sh [rust|python|js|go|c]…
# HOST_BINARY names the program that builds, else target/debug/syrch-host does. It installs the tools into target/toolchains.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
host=${HOST_BINARY:-$root/target/debug/syrch-host}
test -x "$host" || cargo build --manifest-path "$root/Cargo.toml" -p syrch-host --bin syrch-host
mkdir -p "$here/built"
for language in ${*:-rust python js go c}; do
	"$host" plugin build --yes "$here/$language" --tools "$root/target/toolchains/$language" >&2
	made=$here/$language/build/conformance.wasm
	# Replaced in one step: tests may read it.
	gzip -9 -n -c "$made" >"$here/built/.$language.$$"
	mv -f "$here/built/.$language.$$" "$here/built/$language.wasm.gz"
	echo "$language: $(wc -c <"$made") bytes, compressed $(wc -c <"$here/built/$language.wasm.gz")"
done

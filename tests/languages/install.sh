#!/bin/sh
# Installs what `make test-languages` builds with, by the pins of the projects that `plugin new` writes: a first build of one in each language, or
# in those that are named. Each language's tools have a folder of their own in the folder that SYRCH_TEST_TOOLCHAINS names, else in
# target/toolchains. What is there already is not fetched again.
# HOST_BINARY names the program that builds, else target/debug/syrch-host does.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
host=${HOST_BINARY:-$root/target/debug/syrch-host}
tools=${SYRCH_TEST_TOOLCHAINS:-$root/target/toolchains}
unset SYRCH_TEST_TOOLCHAINS # The host does not know it.
test -x "$host" || cargo build --manifest-path "$root/Cargo.toml" -p syrch-host --bin syrch-host
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for language in ${*:-rust python js ts go c}; do
	"$host" plugin new first --role calibrator --lang "$language" --into "$work/$language" >/dev/null
	CARGO_TARGET_DIR=$tools/$language/target "$host" plugin build "$work/$language" --tools "$tools/$language"
	echo "$language: ready"
done

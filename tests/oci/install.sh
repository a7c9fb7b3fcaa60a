#!/bin/sh
# Installs wkg, the tool of the Bytecode Alliance for registries, of a fixed version from crates.io, into the folder that SYRCH_TEST_OCI names, else
# into target/oci. It takes some minutes; what is there already is not built again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${SYRCH_TEST_OCI:-$here/../../target/oci}
version=0.16.1
if [ "$("$folder/bin/wkg" --version 2>/dev/null)" = "wkg $version" ]; then
	exit
fi
cargo install --quiet --locked --root "$folder" "wkg@$version"

#!/bin/sh
# DuckDB's library from npm, and the ADBC drivers for SQLite and PostgreSQL from PyPI. Versions and digests are pinned.
set -eu
folder=$SYRCH_TEST_DATABASES/adbc
if test "$(uname -s) $(uname -m)" != "Linux x86_64"; then
	echo "ADBC: no drivers are pinned for $(uname -s) $(uname -m); their tests are skipped" >&2
	exit 0
fi
libraries='3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633  libduckdb.so
f51fd5e809c0521e8179ec95ae6912d7ae91483a855f5bacf33923fe7f914432  libadbc_driver_sqlite.so
ed01a9150f36c2c9bf7f05e9e5f6188ef9389cfad2a22dafa557a41c7a16e12f  libadbc_driver_postgresql.so'
packages='1b9f82478539bb9a1d1df44bd103121a12ae52142c07158dc52b97d2ec1d69ff  duckdb-node-bindings-linux-x64-1.5.6-r.1.tgz
fb51f307cb3c45aa5476c84eae83781079939832f35dd54611dbe6095627ca3d  adbc_driver_sqlite-1.13.0-py3-none-manylinux_2_28_x86_64.whl
a86819ba7c79b1d067c4a5344358b4d346bab58e888d7879ed2b25d97cc59ba1  adbc_driver_postgresql-1.13.0-py3-none-manylinux_2_26_x86_64.manylinux_2_28_x86_64.whl'
mkdir -p "$folder"
cd "$folder"
if echo "$libraries" | sha256sum --check --status 2>/dev/null; then
	exit 0
fi
parts=$(mktemp -d "$folder/parts.XXXXXX")
trap 'rm -rf "$parts"' EXIT
cd "$parts"
npm pack --silent @duckdb/node-bindings-linux-x64@1.5.6-r.1 >/dev/null
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux_2_28_x86_64 \
	adbc-driver-sqlite==1.13.0 adbc-driver-postgresql==1.13.0
echo "$packages" | sha256sum --check --quiet
tar -xzf duckdb-node-bindings-*.tgz package/libduckdb.so
# A wheel is a ZIP file.
python3 -c 'import glob, zipfile
for wheel in glob.glob("*.whl"):
    with zipfile.ZipFile(wheel) as file:
        file.extractall(members=[name for name in file.namelist() if name.endswith(".so")])'
chmod 644 package/*.so ./*/*.so
mv package/libduckdb.so adbc_driver_sqlite/*.so adbc_driver_postgresql/*.so "$folder"
cd "$folder"
echo "$libraries" | sha256sum --check --quiet

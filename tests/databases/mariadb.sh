#!/bin/sh
# MariaDB, the driver manager unixODBC and MariaDB's ODBC driver from Debian's packages, which are unpacked and not installed, and the ADBC driver for
# ODBC from PyPI, whose digest is pinned. Debian's packages are those of the machine's own release, checked by apt.
set -eu
# The tests read the reason, and are skipped and counted.
skip() {
	rm -rf "${folder:?}"
	mkdir -p "$folder"
	echo "$1" >"$folder/skipped"
	echo "MariaDB: $1; its tests are skipped" >&2
	exit 0
}
folder=$SYRCH_TEST_DATABASES/mariadb
bridge='adbcbridge==0.1.3'
library='09347727bce3d8f96bd5cad6d882781f9528fa4f60c575465980bf34ec3bfff5  libadbc_driver_odbc.so'
if test "$(uname -s) $(uname -m)" != "Linux x86_64" || ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
	skip "there are no packages of Debian for this machine"
fi
if test "$(cat "$folder/installed" 2>/dev/null)" = "$bridge"; then
	exit 0
fi
rm -rf "${folder:?}"
mkdir -p "$folder/parts"
cd "$folder/parts"
# Without root, apt cannot change to its own user, which it would do to download.
apt-get download -q -o APT::Sandbox::User="$(id -un)" mariadb-server-core libnuma1 liburing2 libsystemd0 libmariadb3 odbc-mariadb libodbc2 libodbcinst2 \
	libltdl7 >/dev/null ||
	skip "apt does not have its packages"
for package in ./*.deb; do
	dpkg -x "$package" "$folder/root"
done
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux_2_28_x86_64 "$bridge"
python3 -c 'import glob, zipfile
for wheel in glob.glob("*.whl"):
    with zipfile.ZipFile(wheel) as file:
        file.extract("adbcbridge/libadbc_driver_odbc.so")'
mv adbcbridge/libadbc_driver_odbc.so "$folder"
cd "$folder"
echo "$library" | sha256sum --check --quiet
rm -rf parts
echo "$bridge" >installed

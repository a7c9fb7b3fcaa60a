#!/bin/sh
# Installs what the tests of the page need from npm, by the versions and digests of package-lock.json, into the folder that SYRCH_TEST_PAGE names,
# else into target/page. What is there already is not fetched again. The browser is the system's: CHROMIUM names it, else `chromium` does
# (`apt install chromium`).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${SYRCH_TEST_PAGE:-$here/../../target/page}
cannot() {
	echo "tests/page: $1" >&2
	exit 1
}
command -v node >/dev/null && command -v npm >/dev/null || cannot "there is no \`node\` with \`npm\`: install Node 20 or newer"
command -v "${CHROMIUM:-chromium}" >/dev/null || cannot "there is no \`${CHROMIUM:-chromium}\`: apt install chromium"
mkdir -p "$folder"
if test -d "$folder/node_modules" && cmp -s "$here/package-lock.json" "$folder/package-lock.json"; then
	exit
fi
cp "$here/package.json" "$folder/"
(cd "$folder" && rm -rf node_modules && cp "$here/package-lock.json" . && npm ci --ignore-scripts --no-audit --no-fund --silent) || {
	rm -f "$folder/package-lock.json"
	cannot "npm cannot install its packages"
}

#!/bin/sh
# Installs the MCP clients that `make test-mcp` tests with, of fixed versions, from PyPI and npm, into the folder that SYRCH_TEST_MCP names, else into
# target/mcp: the SDKs of Python and TypeScript, the conformance suite, the Inspector's command line, and a Node.js that runs them. What is there
# already is not fetched again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${SYRCH_TEST_MCP:-$here/../../target/mcp}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python='mcp==2.3.0'
npm='node@22.23.3 @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/conformance@0.2.0-alpha.12
@modelcontextprotocol/inspector@2.12.0'
versions=$(printf '%s %s' "$python" "$npm" | tr '\n' ' ')
if [ "$(cat "$folder/installed" 2>/dev/null)" = "$versions" ]; then
	exit
fi
rm -f "$folder/installed"
python3 -m venv --clear "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check "$python"
mkdir -p "$folder/node"
cd "$folder/node"
test -f package.json || echo '{"private": true}' >package.json
# shellcheck disable=SC2086
npm install --silent --no-audit --no-fund --engine-strict=false $npm
echo "$versions" >"$folder/installed"

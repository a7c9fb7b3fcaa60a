#!/usr/bin/env bash
# Python 3.10+ with pip -> built/python.wasm
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

tools=$cache/python-componentize-py-0.25.1
if [ ! -x "$tools/bin/componentize-py" ]; then
  python3 -m venv "$tools"
  quiet "$tools/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
fi

# Only the sources: nothing else on the path may come along.
cp "$here/app.py" "$work/"
mkdir "$work/app" && mv "$work/app.py" "$work/app/"
cd "$work"
quiet "$tools/bin/componentize-py" --quiet -d "$wit" -w both componentize -p "$work/app" -o "$work/python.wasm" app
deliver "$work/python.wasm" python.wasm

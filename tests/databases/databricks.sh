#!/bin/sh
# Installs Databricks' SDK for Python, of one version, into a virtual environment of its own: `$SYRCH_TEST_DATABASES/databricks`, else
# `target/databases/databricks`. The test `the_sdk_of_databricks_accepts_the_mock` runs `databricks_sdk.py` with it.
set -eu
cd "$(dirname "$0")/../.."
folder=${SYRCH_TEST_DATABASES:-target/databases}/databricks
sdk=databricks-sdk==0.162.0
if [ "$(cat "$folder/installed" 2>/dev/null)" = "$sdk" ]; then
    exit 0
fi
mkdir -p "$(dirname "$folder")"
python3 -m venv --clear "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "$sdk" pyarrow==21.0.0
echo "$sdk" > "$folder/installed"

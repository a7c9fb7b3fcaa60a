#!/bin/sh
# Builds the wheel of the Python package in the profile of the tests, and installs it with what its tests need, of fixed versions from PyPI, into the
# folder that SYRCH_TEST_PYTHON names, else into target/python. What is there already is not fetched again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${SYRCH_TEST_PYTHON:-$here/../../target/python}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
packages='pytest==9.2.0 pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0 sqlalchemy==2.1.9 psycopg2-binary==2.9.13 psycopg[binary]==3.3.9
pymysql==1.2.4 duckdb==2.0.1 mypy==2.4.1 ipython==9.18.1 typing_extensions==4.16.0 pandas-stubs==3.1.0.261029'
if [ "$(cat "$folder/installed" 2>/dev/null)" != "$packages" ]; then
	rm -f "$folder/installed"
	python3 -m venv --clear "$folder/venv"
	# shellcheck disable=SC2086
	"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check $packages
	echo "$packages" >"$folder/installed"
fi
wheel=$(python3 "$here/../../host/python/backend.py" --profile dev "$folder/wheels")
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-index --force-reinstall "$wheel"
# Without optimisation it has half a gigabyte.
rm -f "$wheel"

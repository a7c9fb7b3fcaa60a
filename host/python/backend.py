"""Builds the wheel: the native module and the command line from one call of cargo.

It is the build backend of PEP 517, so that ``pip wheel host/python`` works, and a program:
``python3 host/python/backend.py [--profile dev] [--platform TAG] FOLDER`` prints the path of the
wheel. maturin builds one crate with the features that it needs alone, which compiles most crates
a second time, and cannot add the command line.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODULE = "syrch_host/_native.abi3.so"
# The oldest Python whose interface the module uses.
PYTHON = "cp310-abi3"


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Returns no further requirements: Rust is the machine's own."""
    return []


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Builds the wheel into a folder, and returns its name."""
    profile = (config_settings or {}).get("profile", "release")
    return build(Path(wheel_directory), profile, platform()).name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Refuses: the sources are those of the whole repository."""
    raise RuntimeError("there is no source distribution: build a wheel from the repository")


def platform() -> str:
    """Returns the tag of this machine, which auditwheel replaces by one of manylinux."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def cargo(*arguments: str) -> str:
    """Runs cargo in the repository, and returns what it prints."""
    command = [os.environ.get("CARGO", "cargo"), *arguments]
    done = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed")
    return done.stdout


def build(folder: Path, profile: str, tag: str) -> Path:
    """Builds both parts with the features of the workspace, and packs them."""
    cargo(
        "build",
        "--profile",
        profile,
        "--package",
        "syrch-python",
        "--package",
        "syrch-host",
        "--lib",
        "--bin",
        "syrch-host",
    )
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--no-deps"))
    version = next(one["version"] for one in metadata["packages"] if one["name"] == "syrch-python")
    built = Path(metadata["target_directory"]) / {"dev": "debug"}.get(profile, profile)
    return pack(folder, version, built, tag, is_small=profile != "dev")


def pack(folder: Path, version: str, built: Path, tag: str, *, is_small: bool) -> Path:
    """Writes the wheel of parts that are built."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"syrch_host-{version}"
    wheel = folder / f"{stem}-{PYTHON}-{tag}.whl"
    kind = zipfile.ZIP_DEFLATED if is_small else zipfile.ZIP_STORED
    record: list[tuple[str, str, str]] = []
    with zipfile.ZipFile(wheel, "w", kind) as archive:

        def add(name: str, content: bytes, mode: int = 0o644) -> None:
            info = zipfile.ZipInfo(name)
            info.compress_type = kind
            info.external_attr = (0o100000 | mode) << 16
            archive.writestr(info, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.append((name, f"sha256={digest.decode()}", str(len(content))))

        sources = HERE / "python"
        for path in sorted(sources.rglob("*")):
            if path.suffix in (".py", ".pyi") or path.name == "py.typed":
                add(path.relative_to(sources).as_posix(), path.read_bytes())
        add(MODULE, (built / "libsyrch_host_native.so").read_bytes(), 0o755)
        add(f"{stem}.data/scripts/syrch-host", (built / "syrch-host").read_bytes(), 0o755)
        information = f"{stem}.dist-info"
        for name in ("LICENSE-MIT", "LICENSE-APACHE"):
            add(f"{information}/licenses/{name}", (HERE.parents[1] / name).read_bytes())
        add(f"{information}/METADATA", describe(version).encode())
        lines = ["Wheel-Version: 1.0", "Generator: syrch-host", "Root-Is-Purelib: false"]
        add(f"{information}/WHEEL", "\n".join([*lines, f"Tag: {PYTHON}-{tag}", ""]).encode())
        record.append((f"{information}/RECORD", "", ""))
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(record)
        archive.writestr(f"{information}/RECORD", written.getvalue())
    return wheel


def describe(version: str) -> str:
    """Returns the metadata of the package, from its pyproject.toml."""
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib
        except ImportError:
            raise RuntimeError("Python 3.10 needs tomli to build the wheel: pip install tomli")
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"License-Expression: {project['license']}",
        "License-File: LICENSE-MIT",
        "License-File: LICENSE-APACHE",
        f"Requires-Python: {project['requires-python']}",
        *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
        *(f"Project-URL: {name}, {url}" for name, url in project["urls"].items()),
        "Description-Content-Type: text/markdown",
        "",
        (HERE / project["readme"]).read_text(encoding="utf-8"),
    ]
    return "\n".join(lines)


def main() -> None:
    """Builds the wheel of the arguments, and prints its path."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--profile", default="release", help="cargo's profile")
    parser.add_argument("--platform", default=platform(), help="the tag of the platform")
    arguments = parser.parse_args()
    sys.stdout.write(f"{build(arguments.folder, arguments.profile, arguments.platform)}\n")


if __name__ == "__main__":
    main()

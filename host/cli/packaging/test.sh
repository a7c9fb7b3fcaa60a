#!/bin/bash
# Installs each package of a folder as docs/installation.md says, and uses it: host/cli/packaging/test.sh [FOLDER], target/dist by default. Programs run in an
# environment with no variable of the caller's, and with neither Rust nor the project on their path. What cannot be tried here is counted at the end;
# with SYRCH_REQUIRE_PACKAGES=1 it is an error.
set -euo pipefail
dist=$(realpath "${1:-$(dirname "$0")/../../../target/dist}")
cd "$(dirname "$0")/../../.."
root=$PWD
tools=$root/target/dist-tools
guide=$root/docs/installation.md
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
machine=$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp examples/sales.csv "$work"
cd "$work"
used=0
skipped=()

fail() { echo "failed: $*" >&2 && exit 1; }
skip() { echo "skipped: $1" && skipped+=("$1"); }
begin() { SECONDS=0; }
finish() { used=$((used + 1)) && echo "used: $1 (${SECONDS} s)"; }

# The one file of that pattern; fails where there are several.
file() { # PATTERN
	local found=()
	mapfile -t found < <(compgen -G "$dist/$1")
	test ${#found[@]} -le 1 || fail "$dist has several of $1"
	echo "${found[0]:-}"
}

# Runs a command as the machine of a new user would.
clean() {
	mkdir -p "$work/home"
	env -i HOME="$work/home" LANG=C.UTF-8 PATH="${CLEAN_PATH:-/usr/bin:/bin}" "$@"
}
if clean sh -c 'command -v syrch-host'; then fail "the program is installed here already"; fi
if clean sh -c 'command -v cargo || command -v rustc'; then skip "an environment without Rust: these are outside of ~/.cargo"; fi

# Answers a question with an installed program, twice: as text, and as a document.
answers() { # COMMAND…
	local text document
	clean "$@" --version | grep -q "^syrch-host $version$" || fail "$* names another version"
	text=$(clean "$@" -q "What is the total revenue in each region?" --db sales.csv --llm offline 2>&1) || fail "$text"
	[[ $text == *"GROUP BY"*"confidence 0."* ]] || fail "$text"
	document=$(clean "$@" -q "How many rows are there?" --db sales.csv --llm offline --format json --quiet) || true
	[[ $document == *'"syrch.answer/1"'* ]] || fail "$document"
}

# The guide has a command as it is run here.
shown() { # COMMAND
	grep -qF -- "$1" "$guide" || fail "docs/installation.md does not show: $1"
}

# The name of a file in the guide, which is written for this version and for x86-64.
named() { basename "$1" | sed 's/aarch64/x86_64/; s/arm64\.deb/amd64.deb/; s/linux-arm64/linux-x64/'; }

checksums() {
	(cd "$dist" && sha256sum --check --strict --quiet SHA256SUMS) || fail "a file is not the one of SHA256SUMS"
	shown "sha256sum --check --ignore-missing SHA256SUMS"
	test "$(wc -l <"$dist/SHA256SUMS")" = "$(find "$dist" -type f ! -name SHA256SUMS | wc -l)" || fail "SHA256SUMS has not all files"
}

tarball() { # FILE
	mkdir prefix
	tar --extract --gzip --file "$1" --directory prefix --strip-components 1
	shown "tar --extract --gzip --file $(named "$1") --directory ~/.local --strip-components 1"
	answers "$work/prefix/bin/syrch-host"
	# shellcheck disable=SC2016
	clean bash -c 'source "$1" && complete -p syrch-host' _ prefix/share/bash-completion/completions/syrch-host >complete.txt
	grep -q -- "-F _syrch" complete.txt || fail "bash has no completions: $(cat complete.txt)"
	for page in syrch-host syrch-host-mcp syrch-host-plugin-new; do
		test -s "prefix/share/man/man1/$page.1" || fail "there is no page $page"
	done
	if command -v man >/dev/null; then
		man --local-file prefix/share/man/man1/syrch-host-mcp.1 2>man.txt | grep -q -- --print-config || fail "the page cannot be read"
		test ! -s man.txt || fail "the page has mistakes: $(cat man.txt)"
	fi
	readelf --sections --wide prefix/bin/syrch-host | grep -q ' \.symtab ' && fail "the program is not stripped"
	return 0
}

deb() { # FILE
	shown "sudo apt install ./$(named "$1")"
	grep -qF "sudo apt install ./target/dist/$(named "$1")" "$root/README.md" || fail "README.md shows another .deb"
	mkdir -p system/var/lib/dpkg
	: >system/var/lib/dpkg/status
	# Into a folder, as any user; there are no scripts, so nothing else would happen in a system. The libraries are this machine's.
	dpkg --root="$work/system" --force-not-root --force-depends --install "$1" >dpkg.txt 2>&1 || fail "$(cat dpkg.txt)"
	answers "$work/system/usr/bin/syrch-host"
	test -s system/usr/share/man/man1/syrch-host.1.gz || fail "there is no manual page"
	(cd system && md5sum --check --quiet "$work/system/var/lib/dpkg/info/syrch-host.md5sums") || fail "files differ"
	dpkg-deb --field "$1" Depends | grep -q 'libc6 (>= 2\.' || fail "the package depends on no libc"
}

debian() { # FILE
	# A small Debian of its own: what the package depends on is in it, and is enough.
	debootstrap --variant=minbase "${SYRCH_TEST_DEBIAN:-bookworm}" "$work/debian" >debootstrap.txt 2>&1 || fail "$(tail -n 5 debootstrap.txt)"
	cp "$1" sales.csv "$work/debian/root"
	chroot "$work/debian" sh -c "apt-get install --yes --no-install-recommends /root/*.deb" >apt.txt 2>&1 || fail "$(tail -n 5 apt.txt)"
	chroot "$work/debian" env -i PATH=/usr/bin:/bin HOME=/root syrch-host -q "What is the total revenue in each region?" \
		--db /root/sales.csv --llm offline --quiet | grep -q 'GROUP BY' || fail "no answer in Debian"
	chroot "$work/debian" apt-get remove --yes syrch-host >apt.txt 2>&1 || fail "$(tail -n 5 apt.txt)"
	test ! -e "$work/debian/usr/bin/syrch-host" || fail "the package leaves its program"
}

# The steps of the Containerfile in that Debian, which is what its image stands on.
steps() { # TARBALL
	local steps
	steps=$(sed -n 's/^RUN //p' "$dist/Containerfile")
	test -n "$steps" || fail "the Containerfile has no steps"
	tar --extract --gzip --file "$1" --directory "$work/debian/opt"
	chroot "$work/debian" sh -c "$steps" >steps.txt 2>&1 || fail "$(cat steps.txt)"
	install -D sales.csv "$work/debian/data/sales.csv"
	chroot --userspec 10001:10001 "$work/debian" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/syrch syrch-host \
		-q "What is the total revenue in each region?" --db /data/sales.csv --llm offline --quiet | grep -q 'GROUP BY' ||
		fail "no answer in the image"
}

npm_package() { # FILE
	mkdir npm
	local node
	node=$(dirname "$(readlink -f "$(command -v node)")")
	shown "npm install ./$(named "$1")"
	shown "npx syrch-host --version"
	cd npm
	echo '{"private": true}' >package.json
	CLEAN_PATH=$node:$(dirname "$(command -v npm)"):/usr/bin:/bin clean npm install --silent --no-audit --no-fund --offline "$1"
	cp ../sales.csv .
	CLEAN_PATH=$node:$(dirname "$(command -v npm)"):/usr/bin:/bin answers npx --no-install syrch-host
	cd ..
}

bundle() { # FILE
	shown "open \`$(named "$1")\`"
	"$tools/npm/node_modules/.bin/mcpb" unpack "$1" "$work/bundle" >mcpb.txt 2>&1 || fail "$(cat mcpb.txt)"
	"$tools/npm/node_modules/.bin/mcpb" validate "$work/bundle/manifest.json" >mcpb.txt 2>&1 || fail "$(cat mcpb.txt)"
	clean python3 "$root/host/cli/packaging/use_mcpb.py" "$work/bundle" "$work/sales.csv" 2>mcpb.txt || fail "$(cat mcpb.txt)"
}

wheel() { # FILE
	local tag=${1##*-abi3-}
	"$tools/python/bin/auditwheel" show "$1" >auditwheel.txt 2>&1 || fail "$(cat auditwheel.txt)"
	grep -qF "${tag%.whl}" auditwheel.txt || fail "the wheel is not ${tag%.whl}: $(cat auditwheel.txt)"
	shown "pip install ./syrch_host-$version-*.whl"
	grep -qF "pip install ./target/dist/syrch_host-$version-*.whl" "$root/README.md" || fail "README.md shows another wheel"
	python3 -m venv venv
	local begun=$EPOCHREALTIME
	venv/bin/pip install --quiet --disable-pip-version-check --no-index "$1"
	clean venv/bin/python -c 'import syrch_host; print(syrch_host.query("How many rows are there?", db="sales.csv").sql)' >first.txt 2>&1 ||
		fail "$(cat first.txt)"
	awk -v begun="$begun" -v ended="$EPOCHREALTIME" 'BEGIN { printf "from pip install to the first answer: %.1f s\n", ended - begun }'
	answers "$work/venv/bin/syrch-host"
}

bill() { # FILE
	shown "$(named "$1")"
	"$tools/python/bin/python" "$root/host/cli/packaging/check_sbom.py" "$1" "$root/Cargo.lock"
}

container() { # PROGRAM
	local image=syrch-host-test-$$ target
	target=$(basename "$(file 'syrch-host-*.tar.gz')" .tar.gz)
	target=${target#syrch-host-"$version"-}
	"$1" build --build-arg VERSION="$version" --build-arg TARGET="$target" --tag "$image" "$dist" >container.txt 2>&1 ||
		fail "$(tail -n 5 container.txt)"
	"$1" run --rm --network none --volume "$work/sales.csv:/data/sales.csv:ro" "$image" \
		-q "What is the total revenue in each region?" --db /data/sales.csv --llm offline --quiet | grep -q 'GROUP BY' || fail "no answer in the image"
	"$1" rmi "$image" >/dev/null
}

# Tries a package: KIND PATTERN FUNCTION. Packages of another machine are not run.
try() {
	local found
	found=$(file "$2")
	if test -z "$found"; then
		skip "$1: $dist has none"
	else
		begin
		"$3" "$found"
		finish "$1"
	fi
}

tarballs=$(file 'syrch-host-*.tar.gz')
test -n "$tarballs" || fail "$dist has no tarball"
case $tarballs in
*"$machine"*) ;;
*) fail "these packages are not for $machine" ;;
esac
begin
checksums
finish "checksums"
try "the tarball" 'syrch-host-*.tar.gz' tarball
if command -v dpkg >/dev/null; then
	try "the .deb in a folder" 'syrch-host_*.deb' deb
	if test "$(id -u)" = 0 && command -v debootstrap >/dev/null; then
		try "the .deb in a Debian" 'syrch-host_*.deb' debian
		try "the steps of the Containerfile" 'syrch-host-*.tar.gz' steps
	else
		skip "the .deb in a Debian: needs root and debootstrap (apt install debootstrap)"
	fi
else
	skip "the .deb: needs dpkg"
fi
if command -v npm >/dev/null; then
	try "the npm package" 'syrch-host-linux-*.tgz' npm_package
else
	skip "the npm package: needs Node.js with npm"
fi
if test -x "$tools/npm/node_modules/.bin/mcpb"; then
	try "the MCP bundle" 'syrch-host-*.mcpb' bundle
else
	skip "the MCP bundle: needs Node.js with npm"
fi
try "the SBOM" 'syrch-host-*.cdx.json' bill
begin
shown "podman build --build-arg VERSION=$version --tag syrch-host DIST"
"$tools/python/bin/hadolint" "$dist/Containerfile" || fail "the Containerfile has mistakes"
finish "the Containerfile, read by hadolint"
engine=
for program in podman docker; do
	if command -v "$program" >/dev/null && "$program" info >/dev/null 2>&1; then engine=$program && break; fi
done
if test -n "$engine"; then
	begin
	container "$engine"
	finish "the image of the Containerfile"
else
	skip "the image of the Containerfile: needs podman, or docker with its daemon"
fi
if compgen -G "$dist/*.whl" >/dev/null; then try "the wheel" '*.whl' wheel; fi

echo "$used checks of packages passed, ${#skipped[@]} were skipped"
if test ${#skipped[@]} -gt 0 && test "${SYRCH_REQUIRE_PACKAGES:-}" = 1; then exit 1; fi

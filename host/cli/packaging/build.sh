#!/bin/sh
# Makes the packages of one built program: host/cli/packaging/build.sh PROGRAM [TARGET], into target/dist. README.md lists them. HELPER names the same program
# for this machine, where TARGET is another, and PROFILE the profile in which the wheel's parts are built.
set -eu
program=$(realpath "$1")
cd "$(dirname "$0")/../../.."
root=$PWD
target=${2:-$(uname -m)-unknown-linux-gnu}
helper=${HELPER:-$program}
out=$root/target/dist
tools=$root/target/dist-tools
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
case $target in
x86_64-unknown-linux-gnu) deb=amd64 node=x64 strip='strip' ;;
aarch64-unknown-linux-gnu) deb=arm64 node=arm64 strip=aarch64-linux-gnu-strip ;;
*) echo "there are no packages for $target" >&2 && exit 1 ;;
esac
if test "$target" = "$(uname -m)-unknown-linux-gnu"; then strip='strip'; fi
# Archives of the same program and commit are the same.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d "$root/target/dist-XXXXXX")
trap 'rm -rf "$work"' EXIT
left_out=$work/left-out
: >"$left_out"

# Notes a package that cannot be made here; true if the program is there.
has() {
	if command -v "$1" >/dev/null; then return 0; fi
	echo "$2: needs $1" >>"$left_out"
	return 1
}

# The tree that the tarball and the .deb have in common.
tree=$work/tree
mkdir -p "$tree/bin" "$tree/share/doc/syrch-host" "$tree/share/man/man1" "$tree/share/bash-completion/completions" \
	"$tree/share/zsh/site-functions" "$tree/share/fish/vendor_completions.d"
"$strip" --strip-all -o "$tree/bin/syrch-host" "$program"
chmod 755 "$tree/bin/syrch-host"
"$helper" --quiet man "$tree/share/man/man1"
"$helper" completions bash >"$tree/share/bash-completion/completions/syrch-host"
"$helper" completions zsh >"$tree/share/zsh/site-functions/_syrch-host"
"$helper" completions fish >"$tree/share/fish/vendor_completions.d/syrch-host.fish"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$tree/share/doc/syrch-host"
"$helper" --version >"$tree/share/doc/syrch-host/VERSION"

archive() { # FILE FOLDER: the folder with its name, in a fixed order and with fixed times
	tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --directory "$(dirname "$2")" \
		--create "$(basename "$2")" | gzip -n >"$1"
}

name=syrch-host-$version-$target
mv "$tree" "$work/$name"
archive "$out/$name.tar.gz" "$work/$name"
tree=$work/$name

# The oldest glibc with which files run.
glibc() { # FILE…
	readelf --version-info --wide "$@" | grep -o 'GLIBC_[0-9A-Z_.]*' | sed 's/^GLIBC_//; s/^ABI_DT_RELR$/2.36/' | sort -uV | tail -n 1
}

# The libraries that the program loads, as Debian's packages have them.
dependencies() {
	echo "libc6 (>= $(glibc "$tree/bin/syrch-host"))"
	readelf --dynamic --wide "$tree/bin/syrch-host" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r library; do
		case $library in
		libgcc_s.so.1) echo libgcc-s1 ;;
		libstdc++.so.6) echo libstdc++6 ;;
		libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux*) ;;
		*) echo "no package is known for $library" >&2 && exit 1 ;;
		esac
	done
}

# Every system with a glibc that the program runs with reads zstd, which takes much less time than xz.
if has dpkg-deb .deb && has readelf .deb; then
	package=$work/deb
	mkdir -p "$package/DEBIAN" "$package/usr"
	cp -R "$tree/." "$package/usr"
	mkdir -p "$package/usr/share/zsh/vendor-completions"
	mv "$package/usr/share/zsh/site-functions/_syrch-host" "$package/usr/share/zsh/vendor-completions"
	rmdir "$package/usr/share/zsh/site-functions"
	gzip -n9 "$package/usr/share/man/man1"/*
	gzip -n9 "$package/usr/share/doc/syrch-host/CHANGELOG.md"
	(cd "$package/usr/share/doc/syrch-host" && cat LICENSE-MIT LICENSE-APACHE >copyright && rm LICENSE-MIT LICENSE-APACHE)
	depends=$(dependencies | paste -s -d , - | sed 's/,/, /g')
	cat >"$package/DEBIAN/control" <<-END
		Package: syrch-host
		Version: $version
		Architecture: $deb
		Maintainer: The syrch-host authors <https://github.com/syrch/syrch-host/issues>
		Installed-Size: $(du -sk "$package/usr" | cut -f 1)
		Depends: $depends
		Recommends: ca-certificates
		Section: database
		Priority: optional
		Homepage: https://github.com/syrch/syrch-host
		Description: answers questions in plain words over SQL databases
		 It plans the question, tries several statements on the real database, read-only,
		 checks and scores each, and returns the best one with its rows, its SQL and a
		 confidence. It serves a page for browsers, and assistants by the Model Context
		 Protocol.
	END
	(cd "$package" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	dpkg-deb --root-owner-group -Zzstd -z9 --build "$package" "$out/syrch-host_${version}_$deb.deb" >/dev/null
fi

fill() { sed "s/@VERSION@/$version/g; s/@CPU@/$node/g" "$1"; }

if has npm "the npm package"; then
	package=$work/npm
	mkdir -p "$package/bin"
	cp "$tree/bin/syrch-host" "$package/bin"
	cp LICENSE-APACHE LICENSE-MIT host/cli/packaging/npm/README.md "$package"
	fill host/cli/packaging/npm/package.json >"$package/package.json"
	(cd "$package" && npm pack --silent --pack-destination "$out" >/dev/null)
fi

mcpb=$tools/npm/node_modules/.bin/mcpb
if has "$mcpb" "the MCP bundle"; then
	package=$work/mcpb
	mkdir -p "$package/server"
	cp "$tree/bin/syrch-host" "$package/server"
	cp LICENSE-APACHE LICENSE-MIT "$package"
	fill host/cli/packaging/mcpb/manifest.json >"$package/manifest.json"
	"$mcpb" pack "$package" "$out/$name.mcpb" >"$work/mcpb.log" || { cat "$work/mcpb.log" >&2 && exit 1; }
fi

# cargo-cyclonedx writes beside each manifest, so it reads a copy.
if has "$tools/bin/cargo-cyclonedx" "the SBOM"; then
	mkdir "$work/sources"
	git ls-files -z --cached | tar --null --files-from - --create | tar --directory "$work/sources" --extract
	(cd "$work/sources" && PATH=$tools/bin:$PATH cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$target" \
		--manifest-path host/cli/Cargo.toml --override-filename bom)
	# Folders of this machine are nobody's business.
	sed "s|path+file://$work/sources/||g; s|?download_url=file://[^\"#]*||g" "$work/sources/host/cli/bom.json" \
		>"$out/$name.cdx.json"
fi

cp host/cli/packaging/Containerfile "$out"
# The wheel has the module for Python besides the program; one call of cargo has built both.
if test -e host/python/backend.py && test -n "${PROFILE:-}"; then
	tag=manylinux_$(glibc "$program" "$(dirname "$program")/libsyrch_host_native.so" | tr . _)_$(uname -m)
	"$tools/python/bin/python" host/python/backend.py --profile "$PROFILE" --platform "$tag" "$out" >/dev/null
fi

(cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
ls -l "$out"
if test -s "$left_out"; then
	echo "left out:"
	cat "$left_out"
	test "${SYRCH_REQUIRE_PACKAGES:-}" != 1
fi

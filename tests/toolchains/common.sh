# Sourced by each build.sh: where things are, and the WIT that all of them build against.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
contract=$root/../../wit                              # the contract: syrch:plugin
cache=${SYRCH_TOOLS:-$root/../../target/toolchains}   # tools; everything in it can be deleted
out=$root/built                                       # the components, compressed
mkdir -p "$cache" "$out"
cache=$(cd "$cache" && pwd)

# A scratch folder that goes away at the end.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The WIT package with the world `both`; the contract is its dependency.
wit=$work/wit
mkdir -p "$wit/deps/syrch-plugin"
cp "$root/world.wit" "$wit/"
cp "$contract"/*.wit "$wit/deps/syrch-plugin/"

quiet() { nice -n 19 "$@"; }

# Compresses the file, replaces the old one in one step, and prints its size.
deliver() {
  printf '%s: %s bytes\n' "$2" "$(wc -c < "$1")"
  gzip -9 -n -c "$1" > "$work/$2.gz"
  mv -f "$work/$2.gz" "$out/$2.gz"
}

#!/bin/bash
# Fuzzes everything in the protocol that reads bytes, or both session cores:
#   Tests/Fuzz/run.sh decoders|sessions SECONDS [libFuzzer options]
# The examples of the specification are the decoders' first inputs. FUZZ_DIR keeps the build and the inputs found.
set -euo pipefail

target=${1:?usage: run.sh decoders|sessions SECONDS [libFuzzer options]}
seconds=${2:?usage: run.sh decoders|sessions SECONDS [libFuzzer options]}
shift 2
case $target in
  decoders) modules=(Clock Audio WireProtocol) program=FuzzDecoders.swift ;;
  sessions) modules=(Clock Audio WireProtocol Sender Receiver) program=FuzzSessions.swift ;;
  *) echo "there are decoders and sessions to fuzz, not $target" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${FUZZ_DIR:-$root/.build/fuzz}
mkdir -p "$dir/corpus-$target"

flags=(-O -sanitize=fuzzer,address -parse-as-library -swift-version 6 -package-name tutti
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility -I "$dir" -L "$dir")
for module in "${modules[@]}"; do
  find "$root/Sources/$module" -name '*.swift' -print0 | sort -z | xargs -0 \
    swiftc "${flags[@]}" -wmo -emit-module -emit-library -static -module-name "$module" \
    -emit-module-path "$dir/$module.swiftmodule" -o "$dir/lib$module.a"
done
libraries=()
for module in "${modules[@]}"; do libraries=("-l$module" "${libraries[@]}"); done
swiftc "${flags[@]}" "$root/Tests/Fuzz/$program" "${libraries[@]}" \
  -lswiftSynchronization -o "$dir/fuzz-$target"

if [ "$target" = decoders ]; then
  # One input per example: a byte for the size of chunks, then the bytes of the example.
  awk -v dir="$dir/corpus-decoders" '
  /^```hex / { name = $2; printf "" > (dir "/" name ".hex"); print "ff" > (dir "/" name ".hex"); next }
  /^```/ { if (name) close(dir "/" name ".hex"); name = ""; next }
    name { sub(/#.*/, ""); print > (dir "/" name ".hex") }
' "$root"/docs/protocol/*.md
  for file in "$dir"/corpus-decoders/*.hex; do
    printf "$(tr -d ' \n' < "$file" | sed 's/../\\x&/g')" > "${file%.hex}"
    rm "$file"
  done
fi

"$dir/fuzz-$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=1024 \
  -artifact_prefix="$dir/" -print_final_stats=1 "$@" "$dir/corpus-$target"

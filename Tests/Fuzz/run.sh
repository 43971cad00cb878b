#!/bin/bash
# Fuzzes everything in the protocol that reads bytes: Tests/Fuzz/run.sh SECONDS [libFuzzer options]
# The examples of the specification are the first inputs. FUZZ_DIR keeps the build and the inputs found.
set -euo pipefail

seconds=${1:?usage: run.sh SECONDS [libFuzzer options]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${FUZZ_DIR:-$root/.build/fuzz}
mkdir -p "$dir/corpus"

flags=(-O -sanitize=fuzzer,address -parse-as-library -swift-version 6 -package-name tutti
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility -I "$dir" -L "$dir")
for module in Clock Audio WireProtocol; do
  find "$root/Sources/$module" -name '*.swift' -print0 | sort -z | xargs -0 \
    swiftc "${flags[@]}" -wmo -emit-module -emit-library -static -module-name "$module" \
    -emit-module-path "$dir/$module.swiftmodule" -o "$dir/lib$module.a"
done
swiftc "${flags[@]}" "$root/Tests/Fuzz/FuzzDecoders.swift" -lWireProtocol -lAudio -lClock \
  -o "$dir/fuzz-decoders"

# One input per example: a byte for the size of chunks, then the bytes of the example.
awk -v dir="$dir/corpus" '
  /^```hex / { name = $2; printf "" > (dir "/" name ".hex"); print "ff" > (dir "/" name ".hex"); next }
  /^```/ { if (name) close(dir "/" name ".hex"); name = ""; next }
  name { sub(/#.*/, ""); print > (dir "/" name ".hex") }
' "$root"/docs/protocol/*.md
for file in "$dir"/corpus/*.hex; do
  printf "$(tr -d ' \n' < "$file" | sed 's/../\\x&/g')" > "${file%.hex}"
  rm "$file"
done

"$dir/fuzz-decoders" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=1024 \
  -artifact_prefix="$dir/" -print_final_stats=1 "$@" "$dir/corpus"

#!/bin/bash
# Fuzzes everything in the protocol that reads bytes, or both session cores:
#   Tests/Fuzz/run.sh decoders|sessions SECONDS [libFuzzer options]
# The examples of the specification are the first inputs. FUZZ_DIR keeps the build and the inputs found.
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

# The examples of the specification, a file each, are what the first inputs are made of.
examples=$dir/examples
rm -rf "$examples"
mkdir -p "$examples"
awk -v dir="$examples" '
  /^```hex / { name = $2; printf "" > (dir "/" name ".hex"); next }
  /^```/ { if (name) close(dir "/" name ".hex"); name = ""; next }
    name { sub(/#.*/, ""); print > (dir "/" name ".hex") }
' "$root"/docs/protocol/*.md
for file in "$examples"/*.hex; do
  printf "$(tr -d ' \n' < "$file" | sed 's/../\\x&/g')" > "${file%.hex}"
  rm "$file"
done

corpus=$dir/corpus-$target
byte() { printf "\\x$(printf %02x "$1")"; }
# A step of FuzzSessions: what is before the length of a message, then the message.
told() { printf "$1"; byte "$(wc -c < "$2")"; cat "$2"; }
for file in "$examples"/*; do
  name=${file##*/}
  if [ "$target" = decoders ]; then
    # A byte for the size of chunks, then the bytes of the example.
    { byte 255; cat "$file"; } > "$corpus/$name"
  elif [ "$(wc -c < "$file")" -lt 256 ]; then
    # To a receiver on either connection; to a sender by a room that has welcomed it.
    { printf '\x00'; told '\x00\x02' "$file"; } > "$corpus/$name.control"
    { printf '\x00'; told '\x01\x02' "$file"; } > "$corpus/$name.media"
    { printf '\x01\x01\x00\x00'; told '\x01\x00\x02' "$examples/control.welcome"
      printf '\x01\x01\x00'; told '\x01\x00\x02' "$file"; } > "$corpus/$name.sender"
  fi
done

"$dir/fuzz-$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=1024 \
  -artifact_prefix="$dir/" -print_final_stats=1 "$@" "$dir/corpus-$target"

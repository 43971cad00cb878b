#!/bin/sh
# The output loop under RealtimeSanitizer: fails if anything of ours allocates, locks or waits between
# a card's wake-up and the next write. alsa-lib's own calls are not watched. Part of `make check`.
#
# Needs the sanitizer's runtime, which Swift's toolchain brings along, and a C compiler.
set -eu
cd "$(dirname "$0")/../.."
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
runtime=$(find "$toolchain/lib/clang/" -name "libclang_rt.rtsan-$(uname -m).a" | head -n 1)
if [ -z "$runtime" ]; then
  echo "this toolchain has no RealtimeSanitizer: nothing tested" >&2
  exit 77
fi

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cc -O2 -shared -fPIC -DPIC -o "$place/card.so" Tests/Support/virtual-card/virtual_card.c -lasound -lm
cat > "$place/asound.conf" <<CONFIGURATION
pcm_type.virtual_card { lib "$place/card.so" }
pcm.check { type virtual_card dir "$place" }
CONFIGURATION

swift build --quiet --product RealtimeTests --scratch-path .build-rtsan \
  -Xlinker --whole-archive -Xlinker "$runtime" -Xlinker --no-whole-archive \
  -Xlinker --export-dynamic
program=$(swift build --show-bin-path --scratch-path .build-rtsan)/RealtimeTests

export ALSA_CONFIG_PATH="$place/asound.conf"
"$program" check 3
if "$program" check 1 allocate > "$place/output" 2>&1; then
  echo "RealtimeSanitizer did not see an allocation" >&2
  exit 1
fi
grep -q 'RealtimeSanitizer' "$place/output"
echo "the output loop neither allocates, locks nor waits"

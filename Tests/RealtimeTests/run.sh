#!/bin/sh
# Runs the output loop under RealtimeSanitizer. Fails if our code allocates, locks or waits between a card's
# wake-up and the next write. alsa-lib's own calls are not watched. Part of `make check`.
#
# First runs the loop alone with a deliberate mistake, to check that it is found. Then runs the whole receiver with a sender
# that pauses, seeks, skips and changes volume, delay, channels and sound.
#
# Needs the sanitizer's runtime, which is part of Swift's toolchain, and a C compiler.
set -eu
cd "$(dirname "$0")/../.."
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
runtime=$(find "$toolchain/lib/clang/" -name "libclang_rt.rtsan-$(uname -m).a" | head -n 1)
if [ -z "$runtime" ]; then
  echo "this toolchain has no RealtimeSanitizer: nothing tested" >&2
  exit 77
fi

place=$(mktemp -d)
receiver=
trap '[ -z "$receiver" ] || kill -9 "$receiver" 2>/dev/null || true; rm -rf "$place"' EXIT
cc -O2 -shared -fPIC -DPIC -o "$place/card.so" Tests/Support/virtual-card/virtual_card.c -lasound -lm
cat > "$place/asound.conf" <<CONFIGURATION
pcm_type.virtual_card { lib "$place/card.so" }
pcm.check { type virtual_card dir "$place" }
CONFIGURATION

for product in RealtimeTests tutti-receiver tutti; do
  swift build --quiet --product "$product" --scratch-path .build-rtsan \
    -Xlinker --whole-archive -Xlinker "$runtime" -Xlinker --no-whole-archive \
    -Xlinker --export-dynamic
done
programs=$(swift build --show-bin-path --scratch-path .build-rtsan)
program=$programs/RealtimeTests

export ALSA_CONFIG_PATH="$place/asound.conf"
"$program" check 3
if "$program" check 1 allocate > "$place/output" 2>&1; then
  echo "RealtimeSanitizer did not see an allocation" >&2
  exit 1
fi
grep -q 'RealtimeSanitizer' "$place/output"

fail() {
  echo "$1" >&2
  cat "$place/receiver.log" >&2
  exit 1
}
ask() { "$programs/tutti" "$@" --state-dir "$place/sender"; }

sox -q -n -r 44100 -e floating-point -b 32 "$place/fir.wav" synth 1s square 1 gain -6 pad 2000s 2000s
"$programs/tutti-receiver" --name check --fir "$place/fir.wav" --device check --port 0 --no-mdns --state-dir "$place/receiver" \
  2>"$place/receiver.log" &
receiver=$!
until grep -q ' listening: ' "$place/receiver.log"; do
  kill -0 $receiver 2>/dev/null || fail "the receiver did not start"
  sleep 0.1
done
port=$(sed -n 's/.* listening: check on port \([0-9]*\).*/\1/p' "$place/receiver.log")
sox -q -n -r 44100 -b 16 -c 2 "$place/a.wav" synth 8 sine 300 gain -6
sox -q -n -r 96000 -b 24 -c 1 "$place/b.wav" synth 2 sine 500 gain -6
"$programs/tutti" play "$place/a.wav" "$place/b.wav" --at "127.0.0.1:$port" --state-dir "$place/sender" \
  >"$place/sender.log" 2>&1 </dev/null &
sender=$!
until grep -q ' playing' "$place/receiver.log"; do
  kill -0 $sender 2>/dev/null || fail "nothing was played"
  sleep 0.1
done
for command in 'volume 30' 'volume --mute' 'volume --no-mute' 'volume --delay 20' 'volume --channels mono' \
  'sound check --band peak:300:-6:2 --bass 4 --loudness --crossfeed' 'sound check --fir' 'seek 1' \
  pause 'volume 80' resume 'effects --bass 6' 'effects --off' 'sound check --off' 'seek +3' 'sound check --on' pause resume; do
  # shellcheck disable=SC2086
  ask $command
  sleep 0.3
done
touch "$place/underrun"
sleep 0.3
ask next
wait $sender || fail "the sender gave up"
kill $receiver
wait $receiver || fail "the receiver ended badly"
receiver=
! grep RealtimeSanitizer "$place/receiver.log" || fail "something waits in the output loop"
echo "the output loop neither allocates, locks nor waits"

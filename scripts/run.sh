#!/bin/sh
# Starts a receiver on this machine and plays a file to it, found by Avahi like any other. Without a sound card the
# receiver records to a WAV file instead.
set -eu
cd "$(dirname "$0")/.."
file=${1:-}
programs=.build/release
place=$(mktemp -d)
name="tutti-demo-$$"

scripts/services.sh

if [ -z "$file" ]; then
  file="$place/piece.wav"
  echo "run: no FILE given, so here is a small piece of our own"
  sox -q -n -r 48000 -b 24 -c 2 "$file" \
    synth 20 pluck C3 pluck G3 pluck E4 pluck C5 delay 0 0.25 0.5 0.75 remix 1,3 2,4 \
    fade 0.02 20 3 repeat 0 gain -n -6
fi

output=alsa
if ! ls /dev/snd/pcm*p >/dev/null 2>&1; then
  output="wav:$(pwd)/tutti-run.wav"
  echo "run: there is no sound card here; recording to tutti-run.wav instead"
fi

"$programs/tutti-receiver" --name "$name" --output "$output" --port 0 --state-dir "$place/receiver" \
  > "$place/receiver.log" 2>&1 &
receiver=$!
trap 'kill $receiver 2>/dev/null || true; wait $receiver 2>/dev/null || true; rm -rf "$place"' EXIT INT TERM

if "$programs/tutti" play "$file" --on "$name" --state-dir "$place/sender"; then
  :
else
  code=$?
  echo "run: the receiver said:" >&2
  cat "$place/receiver.log" >&2
  exit $code
fi

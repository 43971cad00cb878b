#!/bin/sh
# Starts a receiver on this machine, and plays a file to it; Avahi finds the receiver as usual. If no sound card can be
# opened, the receiver records to a WAV file instead.
set -eu
cd "$(dirname "$0")/.."
file=${1:-}
programs=.build/release
place=$(mktemp -d)
name="tutti-demo-$$"
log="$place/receiver.log"
receiver=

stop_receiver() {
  [ -z "$receiver" ] || { kill "$receiver" 2>/dev/null && wait "$receiver" 2>/dev/null || true; }
  receiver=
}
trap 'stop_receiver; rm -rf "$place"' EXIT
trap 'exit 130' INT TERM

# Returns when the receiver listens; ends the script if it does not.
start_receiver() {
  : >"$log"
  "$programs/tutti-receiver" --name "$name" --output "$1" --port 0 --start-volume 60 --state-dir "$place/receiver" 2>"$log" &
  receiver=$!
  until grep -q ' listening: ' "$log"; do
    kill -0 "$receiver" 2>/dev/null || {
      cat "$log" >&2
      code=0
      wait "$receiver" || code=$?
      receiver=
      exit "$code"
    }
    sleep 0.1
  done
}

record() {
  echo "run: $1; recording to tutti-run.wav instead"
  stop_receiver
  start_receiver "wav:$(pwd)/tutti-run.wav"
}

scripts/services.sh

if [ -z "$file" ]; then
  file="$place/piece.wav"
  echo "run: no FILE given, so here is a small piece of our own"
  sox -q -n -r 48000 -b 24 -c 2 "$file" \
    synth 20 pluck C3 pluck G3 pluck E4 pluck C5 delay 0 0.25 0.5 0.75 remix 1,3 2,4 \
    fade 0.02 20 3 repeat 0 gain -n -6
fi

if ls /dev/snd/pcm*p >/dev/null 2>&1; then
  start_receiver alsa
  reason=$(sed -n 's/.* no sound device: //p' "$log" | head -n 1)
  [ -z "$reason" ] || record "$reason"
else
  record "there is no sound card here"
fi

room="--on $name"
if ! "$programs/tutti" receivers --wait 2 --json --state-dir "$place/search" 2>/dev/null | grep -q "$name"; then
  port=$(sed -n 's/.* listening: .* port \([0-9]*\).*/\1/p' "$log" | tail -n 1)
  room="--at 127.0.0.1:$port"
  echo "run: Avahi does not find the receiver here, so it is reached by its address"
fi

code=0
"$programs/tutti" play "$file" $room --state-dir "$place/sender" || code=$?
if [ "$code" -ge 69 ] && [ "$code" -lt 128 ]; then
  echo "run: the receiver said:" >&2
  cat "$log" >&2
fi
exit "$code"

#!/bin/sh
# Compiles the virtual sound cards and the mixer, and registers them with alsa-lib: build.sh DIRECTORY
# Programs that get ALSA_CONFIG_PATH=DIRECTORY/asound.conf can then open virtual:DIR=/tmp/x,FORMAT=S16_LE.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
for name in virtual_card virtual_input virtual_mixer; do
  cc -O2 -shared -fPIC -DPIC -o "$1/$name.so" "$here/$name.c" -lasound -lm
done
cat >"$1/asound.conf" <<END
pcm_type.virtual_card { lib "$1/virtual_card.so" }
pcm_type.virtual_input { lib "$1/virtual_input.so" }
pcm.input {
  @args [ DIR PPM RATE ]
  @args.DIR { type string }
  @args.PPM { type real default 0.0 }
  @args.RATE { type integer default 48000 }
  type virtual_input
  dir \$DIR
  ppm \$PPM
  rate \$RATE
}
ctl_type.virtual_mixer { lib "$1/virtual_mixer.so" }
ctl.virtual {
  @args [ DIR ]
  @args.DIR { type string }
  type virtual_mixer
  dir \$DIR
}
pcm.virtual {
  @args [ DIR PPM STEP RATE FORMAT CHANNELS ]
  @args.DIR { type string }
  @args.PPM { type real default 0.0 }
  @args.STEP { type integer default 1 }
  @args.RATE { type integer default 0 }
  @args.FORMAT { type string default "" }
  @args.CHANNELS { type integer default 0 }
  type virtual_card
  dir \$DIR
  ppm \$PPM
  step \$STEP
  rate \$RATE
  format \$FORMAT
  channels \$CHANNELS
}
END

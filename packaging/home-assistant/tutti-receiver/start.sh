#!/bin/sh
# Home Assistant keeps /data, with the options in /data/options.json.
option() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" /data/options.json; }
exec tutti-receiver --name "$(option name)" --device "$(option device)" --state-dir /data/state

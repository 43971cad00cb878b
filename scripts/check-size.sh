#!/bin/sh
# Fails if a program contains ICU, 40 MB that nothing here needs: then a call of Foundation has linked it in. Programs are
# linked as `make build` links them.
set -eu
cd "$(dirname "$0")/.."
programs=${1:-.build/release}
code=0

# The present sizes, with a small margin. 7 MB of each are option parsing and the Foundation that it needs.
for name in tutti tutti-receiver; do
  case $name in tutti) limit=28000000 ;; *) limit=18000000 ;; esac
  [ -x "$programs/$name" ] || {
    echo "check-size: $programs/$name is not there; build it: make build" >&2
    exit 69
  }
  if nm "$programs/$name" 2>/dev/null | grep -q 'icudt\|uloc_open\|ucol_open'; then
    echo "check-size: $name carries ICU; import FoundationEssentials, and see what was added" >&2
    code=1
  fi
  copy=$(mktemp)
  strip -o "$copy" "$programs/$name"
  size=$(wc -c <"$copy")
  rm -f "$copy"
  echo "check-size: $name: $((size / 1000000)) MB stripped"
  if [ "$size" -gt "$limit" ]; then
    echo "check-size: $name is larger than $((limit / 1000000)) MB" >&2
    code=1
  fi
done
exit $code

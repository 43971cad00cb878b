#!/bin/bash
# arm64-root.sh SUITE: a small arm64 system with what the packages need, for arm64.sh, made once. Needs root and the network.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?usage: arm64-root.sh SUITE}
cache=${TUTTI_CACHE:-/var/cache/tutti}
root=$cache/arm64-$suite
[ ! -d "$root" ] || exit 0
for tool in mmdebstrap qemu-aarch64-static; do
	command -v "$tool" >/dev/null || apt-get install -qq -y --no-install-recommends mmdebstrap qemu-user-static arch-test >&2
done
. Tests/Packages/emulation.sh
trap stop_emulating EXIT
emulate
# Of alternatives the first, but a machine needs no systemd to have the user of the packages made.
depends=$(for package in .build/packages/"$suite"/tutti_*_arm64.deb .build/packages/"$suite"/tutti-receiver_*_arm64.deb; do
	dpkg-deb -f "$package" Depends Pre-Depends
done | sed 's/^[A-Za-z-]*: //' | tr ',' '\n' | sed 's/(.*//; s/|.*//; s/ //g' | grep -v '^tutti\|sysusers\|^systemd\|^$' | sort -u | paste -sd,)
rm -rf "$root.part"
mmdebstrap --quiet --variant=minbase --architectures=arm64 --include="$depends,systemd-standalone-sysusers" "$suite" "$root.part" \
	"deb ${TUTTI_MIRROR:-http://deb.debian.org/debian} $suite main"
mv "$root.part" "$root"

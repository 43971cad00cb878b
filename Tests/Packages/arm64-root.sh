#!/bin/bash
# arm64-root.sh SUITE: a small arm64 system with what the packages need, for arm64.sh. Needs root, the network, mmdebstrap and
# qemu-user-static; registers the emulator with the kernel for as long as it takes.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?usage: arm64-root.sh SUITE}
cache=${TUTTI_CACHE:-/var/cache/tutti}
root=$cache/arm64-$suite
[ ! -d "$root" ] || exit 0
for tool in mmdebstrap qemu-aarch64-static; do
	command -v "$tool" >/dev/null || apt-get install -qq -y --no-install-recommends mmdebstrap qemu-user-static arch-test >&2
done
binfmt=/proc/sys/fs/binfmt_misc
[ -e $binfmt/register ] || mount -t binfmt_misc binfmt_misc $binfmt
ours=
if ! grep -qs enabled $binfmt/qemu-aarch64; then
	cat /usr/lib/binfmt.d/qemu-aarch64.conf >$binfmt/register
	ours=yes
fi
trap '[ -z "$ours" ] || echo -1 >$binfmt/qemu-aarch64' EXIT
depends=$(for package in .build/packages/"$suite"/tutti_*_arm64.deb .build/packages/"$suite"/tutti-receiver_*_arm64.deb; do
	dpkg-deb -f "$package" Depends
done | tr ',' '\n' | sed 's/(.*//; s/|.*//; s/ //g' | grep -v '^tutti\|sysusers\|^systemd' | sort -u | paste -sd,)
rm -rf "$root.part"
mmdebstrap --quiet --variant=minbase --architectures=arm64 --include="$depends" "$suite" "$root.part" \
	"deb ${TUTTI_MIRROR:-http://deb.debian.org/debian} $suite main"
mv "$root.part" "$root"

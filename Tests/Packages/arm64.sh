#!/bin/bash
# arm64.sh SUITE: the arm64 packages of .build/packages/SUITE in an arm64 system under emulation (qemu-user): installed by dpkg; the
# receiver plays FLAC and Opus beside one of this machine, both rooms from this machine's sender. Needs root, qemu-user-static and sox,
# and the programs of `make build`. Of trixie, the core's tests as well, if scripts/cross.sh has built them, and ten seeds of the
# simulation, which must come to the same as here.
#
# It shows that the code is right on this architecture. It shows nothing of a real board: timing, sound cards, memory order. Nor of the
# sender, but that it starts: the process that decodes files confines itself by seccomp, which qemu-user has not, so that it refuses.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?usage: arm64.sh SUITE}
packages=.build/packages/$suite
programs=${PROGRAMS:-.build/release}
cache=${TUTTI_CACHE:-/var/cache/tutti}
[ "${IN_OWN_MOUNTS:-}" ] || IN_OWN_MOUNTS=yes exec unshare --mount --net --fork "$0" "$@"
ip link set lo up
began=$SECONDS
say() { printf '%4d s  %s\n' $((SECONDS - began)) "$*"; }
fail() {
	echo "test-arm64: $*" >&2
	exit 1
}
core=.build/cross/$suite-arm64-core/aarch64-unknown-linux-gnu/release
[ ! -x "$core/tutti-simulate" ] || [ -x "$programs/tutti-simulate" ] ||
	fail "its simulation is compared with this machine's; build that as yourself: swift build -c release --product tutti-simulate"
for tool in qemu-aarch64-static sox; do
	command -v "$tool" >/dev/null || fail "there is no $tool; install it: apt install qemu-user-static sox"
done
ls "$packages"/tutti-receiver_*_arm64.deb "$packages"/tutti_*_arm64.deb "$packages"/tutti-serve_*_all.deb >/dev/null ||
	fail "there are no arm64 packages in $packages; make them: make deb ARCH=arm64 SUITE=$suite"
base=$cache/arm64-$suite
[ -d "$base" ] || fail "there is no arm64 system in $base; make it, with the network: Tests/Packages/arm64-root.sh $suite"
work=$(mktemp -d -p "$cache" arm64.XXXXXX)
root=$work/root
processes=()
. Tests/Packages/emulation.sh
cleanup() {
	[ ${#processes[@]} = 0 ] || kill "${processes[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	umount -R "$root" 2>/dev/null || true
	stop_emulating
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT
mkdir -p "$root" "$work/upper" "$work/work"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/work" "$root"
emulate
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
# An array, and no function: in the background it is one process, which can be ended.
arm64=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root "QEMU_CPU=$QEMU_CPU")

# MARK: installed

mkdir "$root/deb"
cp "$packages"/tutti-receiver_*_arm64.deb "$packages"/tutti_*_arm64.deb "$packages"/tutti-serve_*_all.deb "$root/deb/"
"${arm64[@]}" sh -c 'DEBIAN_FRONTEND=noninteractive dpkg -i /deb/*.deb' >"$work/dpkg" 2>&1 || fail "dpkg: $(tail -n 5 "$work/dpkg")"
"${arm64[@]}" id tutti >/dev/null || fail "the package has made no user"
say "installed: $("${arm64[@]}" tutti --version), on $("${arm64[@]}" uname -m) as $QEMU_CPU"
sox -n -r 48000 -b 16 -c 2 "$work/tone.flac" synth 30 sine 997 gain -6
cp "$work/tone.flac" "$root/tmp/"

# MARK: played

options=(--port 0 --no-mdns --access open --start-volume 100)
# listening LOG: waits until the receiver that writes it listens, with its port in `port`.
listening() {
	for _ in $(seq 300); do
		port=$(sed -n 's/.*listening: .* port \([0-9]*\).*/\1/p' "$1" 2>/dev/null | tail -n 1)
		[ -z "$port" ] || return 0
		sleep 0.1
	done
	fail "a receiver does not start: $(tail -n 3 "$1")"
}
stop_all() {
	kill "${processes[@]}" 2>/dev/null || true
	wait "${processes[@]}" 2>/dev/null || true
	processes=()
}
# begun LOG: nanoseconds of the first frame of the recording.
begun() { sed -n 's/.*frame 0 at \([0-9]*\) ns.*/\1/p' "$1" | tail -n 1; }
# round CODEC DECIBELS: a tone to both rooms. The emulator's clock is uneven, and the resampler follows it.
round() {
	local codec=$1 decibels=$2 arm here
	"${arm64[@]}" tutti-receiver --name Arm "${options[@]}" --state-dir /tmp/arm --output "wav:/tmp/$codec.wav" 2>"$work/arm.log" &
	processes=($!)
	"$programs/tutti-receiver" --name Here "${options[@]}" --state-dir "$work/here" --output "wav:$work/$codec.wav" 2>"$work/here.log" &
	processes+=($!)
	listening "$work/arm.log" && arm=$port
	listening "$work/here.log" && here=$port
	"$programs/tutti" play "$work/tone.flac" --codec "$codec" --at "127.0.0.1:$arm" --at "127.0.0.1:$here" --state-dir "$work/sender" \
		>"$work/sender.log" 2>&1 || fail "the sender: $(tail -n 3 "$work/sender.log")"
	stop_all
	! grep -q 'got worse\|gap' "$work/arm.log" || say "arm64 said: $(grep 'got worse\|gap' "$work/arm.log" | head -n 3)"
	say "$codec, arm64: $(python3 Tests/Packages/compare.py "$root/tmp/$codec.wav" 997 30 "$decibels")"
	say "$codec, here:  $(python3 Tests/Packages/compare.py "$work/$codec.wav" 997 30 "$decibels")"
	say "$codec, apart: $(python3 Tests/Packages/in_step.py 997 "$apart" \
		"$root/tmp/$codec.wav" "$(begun "$work/arm.log")" "$work/$codec.wav" "$(begun "$work/here.log")")"
}
# Microseconds.
apart=300
round flac 20
round opus 15

# MARK: the core

[ -x "$core/tutti-simulate" ] || {
	say "the core's tests are not built, and were not run"
	exit
}
core=$(pwd)/$core
swarm() { "$@" --scenario swarm --runs 10 | grep -o 'seed.*digest .*'; }
library=$cache/swift-arm64/swift/linux
# Tests read documents of this checkout.
for folder in "$(pwd)" "$library"; do mkdir -p "$root$folder" && mount --bind "$folder" "$root$folder"; done
arm64=(chroot "$root" env -i "QEMU_CPU=$QEMU_CPU" "LD_LIBRARY_PATH=$library")
swarm "$programs/tutti-simulate" >"$work/here.seeds"
swarm "${arm64[@]}" "$core/tutti-simulate" >"$work/arm.seeds"
cmp "$work/here.seeds" "$work/arm.seeds" >&2 || fail "the simulation comes to something else on arm64"
say "simulated: $(wc -l <"$work/arm.seeds") seeds, to the same as here"
"${arm64[@]}" "$core/tuttiPackageTests.xctest" --testing-library swift-testing --skip 'LongTests|^SimulationTests' >"$work/tests" 2>&1 ||
	fail "the core's tests: $(grep -a '✘' "$work/tests" | head -n 20; tail -n 3 "$work/tests")"
say "the core: $(tail -n 1 "$work/tests")"

#!/bin/bash
# arm64.sh SUITE: the arm64 packages of .build/packages/SUITE in an arm64 system under emulation (qemu-user): installed by apt; the
# receiver plays FLAC and Opus beside one of this machine, both rooms from this machine's sender, and then this machine's
# receiver plays what the arm64 sender sends. Needs root, mmdebstrap, qemu-user-static and sox, and the programs of `make build`.
#
# It shows that the code is right on this architecture. It shows nothing of a real board: timing, sound cards, memory order.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?usage: arm64.sh SUITE}
packages=.build/packages/$suite
programs=${PROGRAMS:-.build/release}
cache=${TUTTI_CACHE:-/var/cache/tutti}
[ "${IN_OWN_MOUNTS:-}" ] || IN_OWN_MOUNTS=yes exec unshare --mount --net --fork "$0" "$@"
ip link set lo up
fail() {
	echo "test-arm64: $*" >&2
	exit 1
}
for tool in mmdebstrap qemu-aarch64-static sox bc; do
	command -v "$tool" >/dev/null || fail "there is no $tool; install it: apt install mmdebstrap qemu-user-static sox bc"
done
ls "$packages"/tutti-receiver_*_arm64.deb "$packages"/tutti_*_arm64.deb >/dev/null ||
	fail "there are no arm64 packages in $packages; make them: make deb ARCH=arm64 SUITE=$suite"
root=$cache/arm64-$suite
[ -d "$root" ] || fail "there is no arm64 system in $root; make it, with the network: Tests/Packages/arm64-root.sh $suite"
work=$(mktemp -d -p "$cache" arm64.XXXXXX)
processes=()
cleanup() {
	[ ${#processes[@]} = 0 ] || kill "${processes[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	umount -R "$work/root" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
mkdir -p "$work/root" "$work/upper" "$work/work"
mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/upper,workdir=$work/work" "$work/root"
for package in "$packages"/tutti-receiver_*_arm64.deb "$packages"/tutti_*_arm64.deb; do dpkg-deb -x "$package" "$work/root"; done
mount -t proc proc "$work/root/proc"
mount --bind /dev "$work/root/dev"
cp "$(command -v qemu-aarch64-static)" "$work/root/usr/bin/"
# Without instructions that a Raspberry Pi 3 or Zero 2 W does not have.
arm64() {
	local program=$1
	shift
	chroot "$work/root" env HOME=/root XDG_RUNTIME_DIR=/tmp qemu-aarch64-static -cpu cortex-a53 "/usr/bin/$program" "$@"
}
arm64 tutti --version >/dev/null || fail "tutti does not start"
arm64 tutti-receiver --version >/dev/null || fail "tutti-receiver does not start"
sox -n -r 48000 -b 16 -c 2 "$work/tone.flac" synth 30 sine 997 gain -6
cp "$work/tone.flac" "$work/root/tmp/"

# receiver NAME FUNCTION: one that anybody may use, with its port in `port`.
listening() {
	for _ in $(seq 300); do
		port=$(sed -n 's/.* listening: .* port \([0-9]*\).*/\1/p' "$1" 2>/dev/null | tail -n 1)
		[ -z "$port" ] || return 0
		sleep 0.1
	done
	fail "a receiver does not start: $(tail -n 3 "$1")"
}
options=(--port 0 --no-mdns --access open --start-volume 100)
round() {
	local codec=$1
	arm64 tutti-receiver --name Arm "${options[@]}" --state-dir /tmp/arm --output "wav:/tmp/$codec.wav" 2>"$work/arm.log" &
	processes=($!)
	"$programs/tutti-receiver" --name Here "${options[@]}" --state-dir "$work/here" --output "wav:$work/$codec.wav" 2>"$work/here.log" &
	processes+=($!)
	listening "$work/arm.log" && local arm=$port
	listening "$work/here.log" && local here=$port
	"$programs/tutti" play "$work/tone.flac" --codec "$codec" --at "127.0.0.1:$arm" --at "127.0.0.1:$here" --state-dir "$work/sender" \
		>"$work/sender.log" 2>&1 || fail "the sender: $(tail -n 3 "$work/sender.log")"
	kill "${processes[@]}" 2>/dev/null || true
	wait "${processes[@]}" 2>/dev/null || true
	processes=()
	! grep -q 'got worse\|gap' "$work/arm.log" || echo "  arm64 said: $(grep 'got worse\|gap' "$work/arm.log" | head -n 3)"
	echo "  $codec, arm64: $(python3 Tests/Packages/compare.py "$work/root/tmp/$codec.wav" 997 30 "$2")"
	echo "  $codec, here:  $(python3 Tests/Packages/compare.py "$work/$codec.wav" 997 30 "$2")"
}
echo "test-arm64: $suite: both rooms from this machine's sender"
# The emulator's clock is uneven, which the resampler follows.
round flac 20
round opus 15

echo "test-arm64: $suite: this machine's receiver from the arm64 sender"
"$programs/tutti-receiver" --name Here "${options[@]}" --state-dir "$work/here" --output "wav:$work/back.wav" 2>"$work/here.log" &
processes=($!)
listening "$work/here.log"
arm64 tutti play /tmp/tone.flac --at "127.0.0.1:$port" --state-dir /tmp/sender >"$work/sender.log" 2>&1 ||
	fail "the arm64 sender: $(tail -n 3 "$work/sender.log")"
kill "${processes[@]}"
wait "${processes[@]}" 2>/dev/null || true
processes=()
echo "  flac: $(python3 Tests/Packages/compare.py "$work/back.wav" 997 30 40)"

simulate=.build/cross/$suite-arm64/aarch64-unknown-linux-gnu/release/tutti-simulate
if [ -x "$simulate" ] && [ -x "$programs/tutti-simulate" ]; then
	cp "$simulate" "$work/root/usr/bin/"
	digests() { "$@" --scenario swarm --runs 10 | grep -o 'seed.*digest.*'; }
	[ "$(digests arm64 tutti-simulate)" = "$(digests "$programs/tutti-simulate")" ] || fail "simulations of the same seeds differ"
	echo "test-arm64: ten simulated groups are the same on both"
fi

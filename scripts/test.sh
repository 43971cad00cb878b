#!/bin/bash
# Runs all tests except the long ones, which `make test-long` runs, or those that the arguments choose. Uses a release build,
# because the simulation runs hours of virtual time. Uses a build folder of its own, because the flags differ from those of
# the programs, and each build would invalidate the other.
set -euo pipefail
cd "$(dirname "$0")/.."

# The usual place for state of programs that the tests start.
state=$(mktemp -d)
export XDG_STATE_HOME=$state

build=(-c release --scratch-path .build/tests)
log=$(mktemp)
trap 'rm -rf "$log" "$log".* "$state"' EXIT
failed=

run() { swift test "${build[@]}" "$@" 2>&1 | tee -a "$log" || failed=yes; }

if [ $# -gt 0 ]; then
	run "$@"
else
	# These play in real time, and wait most of it: for sound, for daemons that hang, for silent peers. Those of a line run one
	# after the other, the lines beside each other.
	playing='^ProgramTests\.'
	waiting='^ProgramTests\.(Alarm|Announce|Serve|Pair|Occupancy|ComingBack|MPD|MPRIS|Keys|HouseCommand)'
	listening='^(TuttiTests|ALSAOutputTests|OutputTests|LinuxIOTests|AvahiDiscoveryTests|WebServerTests|WebAPITests|LibraryTests)\.'
	# Of these, one computes all the time.
	computing='RenderTimelinePropertyTests'
	# These take minutes.
	long='LongTests|FloodTests|FloodingRoomTests|WireTests|BusyTests|ProgramTests.(AttackTests|LyingRoomTests|DoctorTests)'
	swift test "${build[@]}" list > "$log" || { cat "$log"; exit 1; }
	all=$(swift build "${build[@]}" --show-bin-path)/tuttiPackageTests.xctest

	# All others compute. They run before, so that nothing that sounds waits for them.
	run --skip-build --skip "$playing" --skip "$listening" --skip "$long"
	run --skip-build --filter "$computing" --skip "$long"

	jobs=()
	beside() {
		local name=$1
		shift
		"$all" --testing-library swift-testing --no-parallel "$@" > "$log.$name" 2>&1 &
		jobs+=("$!")
	}
	beside waiting --filter "$waiting" --skip "$long"
	beside listening --filter "$listening" --skip "$long" --skip "$computing"
	run --skip-build --no-parallel --filter "$playing" --skip "$waiting" --skip "$long"
	for job in "${jobs[@]}"; do wait "$job" || failed=yes; done
	cat "$log".* | tee -a "$log"
fi

# Repeat failures at the end, where people look for them.
if [ -n "$failed" ]; then
	printf '\nWhat failed:\n'
	grep -E '✘|error: |Fatal error|signal code' "$log" || true
	exit 1
fi

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
trap 'rm -rf "$log" "$log.waiting" "$state"' EXIT
failed=

run() { swift test "${build[@]}" "$@" 2>&1 | tee -a "$log" || failed=yes; }

if [ $# -gt 0 ]; then
	run "$@"
else
	# These play in real time. They run one after the other, and not beside tests that keep all processors busy for
	# minutes.
	live='^ProgramTests\.'
	# These wait most of the time, for sound, daemons that hang and silent peers. They run beside the live ones.
	waiting='^(TuttiTests|ALSAOutputTests|OutputTests|LinuxIOTests|AvahiDiscoveryTests|WebServerTests|WebAPITests|LibraryTests)\.'
	# These take minutes.
	long='LongTests|FloodTests|FloodingRoomTests|WireTests|BusyTests|ProgramTests.(AttackTests|LyingRoomTests|DoctorTests)'
	swift test "${build[@]}" list > "$log" || { cat "$log"; exit 1; }
	run --skip-build --skip "$live" --skip "$waiting" --skip "$long"
	all=$(swift build "${build[@]}" --show-bin-path)/tuttiPackageTests.xctest
	"$all" --testing-library swift-testing --no-parallel --filter "$waiting" --skip "$long" > "$log.waiting" 2>&1 &
	beside=$!
	run --skip-build --no-parallel --filter "$live" --skip "$long"
	wait "$beside" || failed=yes
	cat "$log.waiting" | tee -a "$log"
fi

# Repeat failures at the end, where people look for them.
if [ -n "$failed" ]; then
	printf '\nWhat failed:\n'
	grep -E '✘|error: |Fatal error|signal code' "$log" || true
	exit 1
fi

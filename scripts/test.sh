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

swift test "${build[@]}" list 2>&1 | tee "$log" | sed -un '/^\[/p' || { cat "$log"; exit 1; }
: > "$log"
all=$(swift build "${build[@]}" --show-bin-path)/tuttiPackageTests.xctest

# Runs tests. A test that waits for ever ends the run, after longer than any of them takes.
minutes=$([ -n "${TUTTI_LONG:-}${TUTTI_SOAK_SECONDS:-}" ] && echo 600 || echo 25)
run() {
	(timeout -k 9 "${minutes}m" "$all" --testing-library swift-testing "$@" || printf '\n✘ ended with %s\n' $?) 2>&1 |
		sed -u 's/\x1b\[[0-9;]*m//g'
}

if [ $# -gt 0 ]; then
	run "$@" | tee -a "$log"
else
	# These play in real time, and wait most of it: for sound, for daemons that hang, for silent peers. Those of a line run one
	# after the other, the lines beside each other; that each takes as long as the others is all that divides them.
	playing='^ProgramTests\.'
	patient='^(ProgramTests\.(Scrobble|Podcast)Tests|AvahiDiscoveryTests\.)'
	waiting='^ProgramTests\.(Alarm|Announce|Serve|Pair|Occupancy|ComingBack|MPD|MPRIS|Keys|HouseCommand)'
	listening='^(TuttiTests|ALSAOutputTests|OutputTests|LinuxIOTests|WebServerTests|WebAPITests|LibraryTests)\.'
	# These compute, and no clock on the wall counts for them.
	cores='Clock|Audio|Disturbances|WireProtocol|Pairing|Diagnosis|Sender|Receiver|House|Simulation|PlaylistFormats|MPDProtocol|MPRISProtocol'
	computing="^(${cores}|Architecture)Tests\.|RenderTimelinePropertyTests"
	# These take minutes.
	long='LongTests|FloodTests|FloodingRoomTests|WireTests|BusyTests|ProgramTests.(AttackTests|LyingRoomTests|DoctorTests)'

	# They get what the others leave of the processors, so that nothing that sounds waits for them.
	(
		chrt --idle --pid 0 $BASHPID
		run --filter "$computing" --skip "$long"
	) > "$log.computing" &
	# What neither only computes nor only waits runs first.
	run --skip "$computing" --skip "$playing" --skip "$listening" --skip "$patient" --skip "$long" | tee -a "$log"
	run --no-parallel --filter "$waiting" --skip "$long" > "$log.waiting" &
	run --no-parallel --filter "$patient" --skip "$long" > "$log.patient" &
	run --no-parallel --filter "$listening" --skip "$long" --skip "$computing" > "$log.listening" &
	run --no-parallel --filter "$playing" --skip "$waiting" --skip "$patient" --skip "$long" | tee -a "$log"
	wait
	cat "$log".* | tee -a "$log"
fi

# Repeat failures at the end, where people look for them.
if grep -q '^✘ ended with' "$log"; then
	printf '\nWhat failed:\n'
	grep -aE '✘|error: |Fatal error|signal code' "$log" || true
	awk '/^◇ Test "/ { sub(/^◇ Test "/, ""); sub(/" started\.$/, ""); begun[$0] = 1 }
		/^(✔|✘|➜) Test "/ { for (name in begun) if (index($0, "\"" name "\"")) delete begun[name] }
		END { for (name in begun) print "never ended: " name }' "$log"
	exit 1
fi

#!/bin/sh
# All tests. Release, because the simulation runs hours of virtual time; in a build folder of their own, because the
# flags differ from those of the programs, and each would make the other build anew.
set -eu
cd "$(dirname "$0")/.."
swift test -c release --scratch-path .build/tests "$@"

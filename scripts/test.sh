#!/bin/sh
# All tests. Release, because the simulation runs hours of virtual time.
set -eu
cd "$(dirname "$0")/.."
swift test -c release

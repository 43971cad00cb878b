#!/bin/sh
# Records the public declarations of Sources/Tutti in docs/library-interface.txt, with which a test compares them.
set -eu
cd "$(dirname "$0")/.."
TUTTI_RECORD_INTERFACE=1 swift test --filter LibraryInterfaceTests
git --no-pager diff --stat -- docs/library-interface.txt

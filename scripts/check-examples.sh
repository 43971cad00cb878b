#!/bin/bash
# Checks that the examples compile as programs outside do, which see only what is public, against the library that the tests
# have built: in seconds. `make lint` builds them as the package of their own that they are, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(swift build -c release --scratch-path .build/tests --show-bin-path)
flags=(-I "$build/Modules")
for map in Sources/CShims/*/module.modulemap; do flags+=(-I "$(dirname "$map")"); done
maps=$(
	find "$build" -maxdepth 2 -name module.modulemap
	find Sources .build/tests/checkouts -path '*/Sources/*/include/module.modulemap' -o -path 'Sources/*/include/module.modulemap'
)
for map in $maps; do flags+=(-Xcc "-fmodule-map-file=$map"); done
for example in Examples/Sources/*/; do
	[ -n "$(find "$example" -name '*.swift')" ] || continue
	swiftc -typecheck -swift-version 6 -parse-as-library -warnings-as-errors "${flags[@]}" "$example"*.swift
	echo "$(basename "$example"): compiles"
done

#!/bin/bash
# Checks that no two of the four timelines can be mixed: each wrong line must be an error of the compiler. Takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
types=(MediaTime GroupTime LocalTime DeviceFrame)
check() { swiftc -typecheck -swift-version 6 -package-name tutti Sources/Clock/Timelines.swift "$1" 2>&1; }

for type in MediaTime GroupTime LocalTime; do
	span=$([ $type = MediaTime ] && echo MediaDuration || echo Nanoseconds)
	echo "func f(a: $type, b: $type, c: $span) -> Bool { a < b && b - a < c && a + c == b }"
done > "$folder/right.swift"
check "$folder/right.swift" || { echo "check-timelines.sh: right lines do not compile"; exit 1; }

for one in "${types[@]}"; do
	for other in "${types[@]}"; do
		[ $one = $other ] && continue
		for wrong in 'a < b' 'a == b' 'a - b'; do
			echo "func f(a: $one, b: $other) { _ = $wrong }"
		done
		echo "func f(a: $one) -> $other { a }"
	done
	echo "func f(a: $one, b: $one) { _ = a + b }"
	echo "func f(a: $one) { _ = a + 1 }"
done > "$folder/lines"
for pair in 'MediaTime Nanoseconds' 'GroupTime MediaDuration' 'LocalTime MediaDuration'; do
	read -r time span <<< "$pair"
	echo "func f(a: $time, b: $span) { _ = a + b }"
done >> "$folder/lines"
# Each function has a name of its own: an error must be one of its types.
awk '{ sub(/func f/, "func f" NR); print }' "$folder/lines" > "$folder/wrong.swift"
found=$(check "$folder/wrong.swift" | grep -oE 'wrong.swift:[0-9]+:[0-9]+: error' | cut -d: -f2 | sort -un || true)
count=$(wc -l < "$folder/wrong.swift")
missed=$(comm -23 <(seq "$count" | sort) <(sort <<< "$found"))
for line in $missed; do echo "this compiles, and must not: $(sed -n "${line}p" "$folder/wrong.swift")"; done
[ -z "$missed" ]
echo "timelines: $count ways to mix them do not compile"

#!/bin/bash
# Sends what the document allows, and what it does not, to a server with a household that is none: no answer may be a
# server's error, nor one that docs/openapi.json does not tell of. Needs schemathesis (pip install
# schemathesis) and promtool (Debian's prometheus), which looks at the figures.
#   Tests/API/schemathesis.sh [examples for each request, default 50]
set -euo pipefail
cd "$(dirname "$0")/../.."
swift build --product fake-house
folder=$(mktemp -d)
head -c 100000 /dev/urandom > "$folder/film.mp4"
head -c 5000 /dev/urandom > "$folder/picture.jpg"
"$(swift build --show-bin-path)/fake-house" "$folder" > "$folder/address" &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
until grep -q http "$folder/address"; do kill -0 $server; done
address=$(cat "$folder/address")

# Events never end, but with a limit: they have a run of their own.
# It leaves a folder where it runs.
config=$PWD/Tests/API/schemathesis.toml
cd "$folder"
schemathesis --config-file "$config" run "$address/api/v1/openapi.json" --url "$address" --exclude-path /api/v1/events \
	--max-examples "${1:-50}" --seed 1 --generation-database none --suppress-health-check all
curl --silent --fail "$address/api/v1/events?limit=2" | grep -q '^event: state'
curl --silent --fail "$address/metrics" | promtool check metrics

#!/bin/bash
# Sends valid and invalid requests to a server: no answer may be a server error, or one that docs/openapi.json does not
# contain. The server has a fake household. With `real`, it is `tutti serve` with receivers that play on virtual cards, all
# from `make build`. Needs schemathesis (pip install schemathesis) and promtool (Debian's prometheus), which checks the
# metrics.
#   Tests/API/schemathesis.sh [examples for each request, default 50] [real]
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
mkfifo "$folder/input"
if [ "${2:-}" = real ]; then
	python3 Tests/Page/household.py < "$folder/input" > "$folder/address" &
else
	swift build --product fake-house
	head -c 100000 /dev/urandom > "$folder/film.mp4"
	head -c 5000 /dev/urandom > "$folder/picture.jpg"
	"$(swift build --show-bin-path)/fake-house" "$folder" < "$folder/input" > "$folder/address" &
fi
server=$!
exec 3> "$folder/input"
end() {
	exec 3>&-
	[ "${1:-}" = real ] || kill $server
	wait $server || true
	rm -rf "$folder"
}
trap 'end "${2:-}"' EXIT
until grep -q http "$folder/address"; do kill -0 $server; done
address=$(sed 's|/$||' "$folder/address")

# Events never end without a limit, so they have a run of their own.
# schemathesis leaves a folder where it runs.
config=$PWD/Tests/API/schemathesis.toml
cd "$folder"
schemathesis --config-file "$config" run "$address/api/v1/openapi.json" --url "$address" --exclude-path /api/v1/events \
	--max-examples "${1:-50}" --seed 1 --generation-database none --suppress-health-check all
curl --silent --fail "$address/api/v1/events?limit=2" | grep -q '^event: state'
curl --silent --fail "$address/metrics" | promtool check metrics
kill -0 $server

#!/bin/sh
# setup.sh [packages]: installs the Debian packages that building, testing and playing need, and with `packages` also those that
# make packages of it, where they are missing; through sudo where this is not root. Does nothing, and asks nobody, where all are
# there.
set -eu

build="build-essential pkg-config python3 libasound2-dev libavahi-client-dev libopus-dev libflac-dev libssl-dev libsqlite3-dev
  libqrencode-dev libexpat1-dev libsystemd-dev libavformat-dev libavcodec-dev libavfilter-dev libswresample-dev libavutil-dev"
play="avahi-daemon dbus"
test="ffmpeg sox lame libsox-fmt-all iproute2 python3 bc playerctl"
packages=
[ "${1:-}" != packages ] || packages="debhelper dpkg-dev lintian"

missing=
for package in $build $play $test $packages; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: these packages are missing, and neither root nor sudo is at hand:$missing" >&2
    exit 69
  }
  as_root=sudo
fi
echo "setup: installing$missing"
# One line for each package would bury the lines that follow.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
  $as_root apt-get update -qq &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
} </dev/null >"$log" 2>&1 || {
  tail -n 20 "$log" >&2
  echo "setup: the packages could not be installed; repair that, then try again" >&2
  exit 69
}

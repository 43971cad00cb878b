#!/bin/sh
# Installs the Debian packages that the bench needs, and Snapcast for comparison. Does not start the packages' services.
set -eu
missing=
for package in build-essential libasound2-dev iproute2 util-linux procps python3 python3-numpy python3-matplotlib snapserver snapclient; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] || { echo "bench: needs root to install:$missing" >&2; exit 1; }
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod +x $policy
  trap 'rm -f $policy' EXIT
fi
echo "installing$missing"
apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing

#!/bin/sh
# Tests the web page in Chromium: against a mock house, and against `tutti serve` with receivers on virtual sound cards.
# First installs missing packages.
set -eu
cd "$(dirname "$0")"

missing=
for package in chromium ffmpeg python3-pip dbus avahi-daemon iproute2 gcc libasound2-dev zbar-tools python3-pil util-linux; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
  as_root=
  [ "$(id -u)" -eq 0 ] || as_root=sudo
  echo "test-page: installing$missing"
  $as_root apt-get update -qq
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
fi
# Install only the library; the browser is Debian's.
python3 -c 'import playwright, axe_playwright_python, PIL' 2>/dev/null ||
  python3 -m pip install --quiet --break-system-packages playwright axe-playwright-python pillow 2>/dev/null ||
  python3 -m pip install --quiet playwright axe-playwright-python pillow

python3 test_page.py
python3 test_use.py
python3 test_home.py
python3 test_alarms.py
python3 test_playlists.py
python3 test_edits.py
python3 test_trouble.py
python3 test_podcasts.py
python3 test_real.py
python3 test_sound.py
python3 test_setup.py
unshare -m -n python3 ../API/far.py
unshare -m -n python3 test_access.py

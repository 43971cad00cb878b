#!/bin/bash
# Tests the integration for Home Assistant against the real daemon and rooms: run.sh [pytest's arguments]
# HA names the versions, such as HA=2025.4.4; without it, each is tried whose Python is there. Each gets a Python
# environment of its own, in .build/homeassistant-VERSION, by pip: some minutes the first time.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The oldest Home Assistant that is supported, and the newest that is tried: its Python, its test harness, and packages
# that the harness leaves out.
describe() {
	case $1 in
	2024.3.3) python=3.11 packages="pytest-homeassistant-custom-component==0.13.109 zeroconf==0.131.0 josepy<2" ;;
	2025.4.4) python=3.13 packages="pytest-homeassistant-custom-component==0.13.236 zeroconf==0.146.0" ;;
	*) fail "knows Home Assistant 2024.3.3 and 2025.4.4, not $1" ;;
	esac
	packages="$packages PyTurboJPEG pytest-cov python-mpd2==3.1.1"
}
fail() {
	echo "test-homeassistant: $1" >&2
	exit 69
}
# pyenv has programs that only say that they are not there.
find_python() {
	for program in "python$1" python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python3; do
		if [ "$("$program" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$1" ]; then
			echo "$program"
			return
		fi
	done
}

versions=${HA:-}
if [ -z "$versions" ]; then
	for version in 2024.3.3 2025.4.4; do
		describe $version
		if [ -n "$(find_python $python)" ]; then
			versions="$versions $version"
		else
			echo "test-homeassistant: no Python $python here, so Home Assistant $version is left out"
		fi
	done
	[ -n "$versions" ] || fail "needs Python 3.11 or 3.13"
fi

TUTTI_PROGRAMS=$(realpath "${TUTTI_PROGRAMS:-.build/release}")
export TUTTI_PROGRAMS
# A network of its own: no household of this network is met, and 192.0.2.1 is this machine as others see it.
network="ip link set lo up && ip address add 192.0.2.1/32 dev lo && exec \"\$@\""
namespace="unshare -n"
[ "$(id -u)" = 0 ] || namespace="unshare -r -n"
# All tests together must reach nearly all of the integration.
[ $# -gt 0 ] || set -- --cov --cov-config=.coveragerc --cov-fail-under=95
status=0
for version in ${versions//,/ }; do
	describe "$version"
	environment=$PWD/.build/homeassistant-$version
	if ! [ -e "$environment/complete" ]; then
		program=$(find_python $python)
		[ -n "$program" ] || fail "Home Assistant $version needs Python $python"
		echo "test-homeassistant: installing Home Assistant $version"
		"$program" -m venv --clear "$environment"
		"$environment/bin/pip" install -q $packages
		touch "$environment/complete"
	fi
	echo "test-homeassistant: Home Assistant $version, Python $python"
	(cd Tests/HomeAssistant && COVERAGE_FILE="$environment/coverage" $namespace sh -c "$network" sh \
		"$environment/bin/python" -m pytest -q -p no:cacheprovider "$@") || status=$?
done
exit $status

#!/bin/bash
# Tests the integration for Home Assistant against the real daemon and rooms. Makes a Python environment of its own, in
# .build/homeassistant, by pip: a few minutes the first time.
set -euo pipefail
cd "$(dirname "$0")/../.."

environment=.build/homeassistant
python=${PYTHON:-python3}
# The newest Home Assistant for each Python.
case $("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') in
3.11) packages="pytest-homeassistant-custom-component==0.13.109 zeroconf==0.131.0" ;;
3.13) packages="pytest-homeassistant-custom-component==0.13.236 zeroconf==0.146.0" ;;
*)
	echo "test-homeassistant: needs Python 3.11 or 3.13; name one: make test-homeassistant PYTHON=python3.13" >&2
	exit 69
	;;
esac
if ! [ -e "$environment/complete" ]; then
	echo "test-homeassistant: installing Home Assistant"
	"$python" -m venv --clear "$environment"
	"$environment/bin/pip" install -q $packages PyTurboJPEG
	touch "$environment/complete"
fi
TUTTI_PROGRAMS=${TUTTI_PROGRAMS:-$PWD/.build/release}
export TUTTI_PROGRAMS
cd Tests/HomeAssistant
exec "../../$environment/bin/python" -m pytest -q -p no:cacheprovider "$@"

#!/bin/bash
# deb.sh ARCH SUITE [PROGRAMS]: the Debian packages, in .build/packages/SUITE. Of this machine's own architecture and suite it
# builds them here; others in roots of their own, which needs root: see scripts/root.sh. PROGRAMS is a folder with programs that
# are built already.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=$1 suite=$2 programs=${3:-}
here=$(dpkg --print-architecture):$(. /etc/os-release && echo "$VERSION_CODENAME")

if [ "$here" = "$arch:$suite" ]; then
	scripts/setup.sh packages
	[ -n "$programs" ] || { make build >&2 && programs=.build/release; }
	run() { "$@"; }
else
	[ -n "$programs" ] || programs=$(scripts/cross.sh "$arch" "$suite")
	root=$(scripts/root.sh build "$suite" "$arch")
	run() { scripts/root.sh enter "$root" "$@"; }
fi
# Of a program of any architecture they are the same.
[ -e .build/man/tutti.1 ] || {
	echo "deb: the manual pages are made of the programs of this machine; run this first: make build" >&2
	exit 66
}

# What root has made for somebody is theirs: the next `make deb` may be without sudo.
give_back() { [ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:$SUDO_GID" .build/packages; }
trap give_back EXIT

version=$(scripts/debian-changelog.sh "$suite" | sed -n '1s/.*(\(.*\)).*/\1/p')
tree=.build/packages/work/$suite-$arch/tutti-$version
rm -rf "${tree%/*}"
mkdir -p "$tree/programs" "$tree/.build"
cp -r packaging/debian "$tree/debian"
cp -r scripts packaging docs "$tree/"
cp -r .build/man .build/completions "$tree/.build/"
cp "$programs/tutti" "$programs/tutti-receiver" "$tree/programs/"
scripts/debian-changelog.sh "$suite" >"$tree/debian/changelog"

log=${tree%/*}/log
run env -C "$(pwd)/$tree" dpkg-buildpackage -b -us -uc -d "-a$arch" >"$log" 2>&1 || {
	tail -n 30 "$log" >&2
	echo "deb: the packages were not built; all of what was said is in $log" >&2
	exit 70
}
run lintian --fail-on error,warning --tag-display-limit 0 --allow-root "${tree%/*}"/*.changes >&2
mkdir -p ".build/packages/$suite"
for package in tutti tutti-receiver; do rm -f ".build/packages/$suite/${package}"_*_"$arch".deb; done
rm -f ".build/packages/$suite"/tutti-serve_*_all.deb
mv "${tree%/*}"/*.deb ".build/packages/$suite/"
ls -l ".build/packages/$suite"/*.deb

#!/bin/bash
# Roots of other Debian systems, which packages are built and tested in. They lie in /var/cache/tutti (TUTTI_CACHE) and are made
# once; needs root and mmdebstrap.
#
#   root.sh build SUITE ARCH       libraries of that suite and architecture to build with, and Debian's tools for packages
#   root.sh compiler               Debian's own Swift, which can build for other architectures
#   root.sh library ARCH           the run-time library of that Swift for another architecture, not a system
#   root.sh clean SUITE ARCH       a small system with systemd, as a box has it
#   root.sh enter ROOT COMMAND...  runs a command there, with this checkout at its own path, the network, and nothing else of here
#
# The first four print the path. TUTTI_MIRROR names Debian's mirror; TUTTI_BIND lists further paths that commands see.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${TUTTI_CACHE:-/var/cache/tutti}
mirror=${TUTTI_MIRROR:-http://deb.debian.org/debian}

[ "$(id -u)" -eq 0 ] || {
	echo "root: this makes other systems, which needs root: run make through sudo" >&2
	exit 77
}

libraries="libasound2-dev libavahi-client-dev libopus-dev libflac-dev libssl-dev libsqlite3-dev libqrencode-dev libexpat1-dev libsystemd-dev
  libavformat-dev libavcodec-dev libavfilter-dev libswresample-dev libavutil-dev"
# Of the static Swift run-time library.
libraries+=" libc6-dev linux-libc-dev libxml2-dev libcurl4-openssl-dev zlib1g-dev"

# make_root NAME SUITE INCLUDE OPTION...: half a root is never taken for one.
make_root() {
	local name=$1 suite=$2 include=$3
	shift 3
	local root=$cache/$name
	if [ ! -d "$root" ]; then
		command -v mmdebstrap >/dev/null || apt-get install -qq -y --no-install-recommends mmdebstrap >&2
		mkdir -p "$cache"
		rm -rf "$root.part"
		echo "root: making $root; this is done once" >&2
		# Snapshots of Debian's unstable suite may be older than they say they may be.
		mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --include="$include" "$@" \
			"$suite" "$root.part" "deb $mirror $suite main" >&2
		mv "$root.part" "$root"
	fi
	echo "$root"
}

gcc_of() { case $1 in bookworm) echo 12 ;; trixie) echo 14 ;; *) echo "root: no suite $1 is built for; there are bookworm and trixie" >&2 && exit 64 ;; esac; }

build_root() {
	local suite=$1 arch=$2 host all gcc
	host=$(dpkg --print-architecture)
	gcc=$(gcc_of "$suite")
	all="debhelper,dpkg-dev,lintian,file,git,ca-certificates,pkgconf,python3,make,binutils,libncurses6,libc6-dev,libstdc++-$gcc-dev"
	for library in $libraries "libgcc-$gcc-dev" "libstdc++-$gcc-dev"; do all+=,$library:$arch; done
	if [ "$arch" = "$host" ]; then
		make_root "$suite-$arch" "$suite" "$all,libcurl4" --variant=apt
	else
		make_root "$suite-$arch" "$suite" "$all,binutils-aarch64-linux-gnu" --variant=apt --architectures="$host,$arch"
	fi
	make_relative "$cache/$suite-$arch"
}

# Absolute links of the root are those of the machine for a linker that is outside of it, which then takes a static library.
make_relative() {
	local link
	find "$1/usr/lib" -xtype l -lname '/*' -o -type l -lname '/*' | while read -r link; do
		ln -snfr "$1$(readlink "$link")" "$link"
	done
}

compiler_root() {
	make_root compiler sid swiftlang,libc6-dev,libstdc++-15-dev,gcc,git,ca-certificates,pkgconf,python3,make,file --variant=apt
}

# Of Debian's packages for the other architecture, only the libraries and headers, which are not run.
library() {
	local arch=$1 place=$cache/swift-$1
	if [ ! -d "$place" ]; then
		make_root "swift-$arch.all" sid swiftlang,libswiftlang --variant=extract --architectures="$arch" >/dev/null
		mv "$cache/swift-$arch.all/usr/libexec/swift/lib" "$place"
		rm -rf "$cache/swift-$arch.all"
	fi
	echo "$place"
}

clean_root() {
	local suite=$1 arch=$2
	make_root "clean-$suite-$arch" "$suite" \
		systemd,systemd-sysv,dbus,iproute2,procps,ca-certificates,login,passwd --variant=minbase --architectures="$arch"
}

# Binds a path of this machine to the same path there.
see() {
	[ -e "$2" ] || return 0
	if [ -d "$2" ]; then mkdir -p "$1$2"; else mkdir -p "$(dirname "$1$2")" && touch "$1$2"; fi
	mount --bind "$2" "$1$2"
}

# In a name space of its own, whose mounts end with the command.
enter() {
	local root=$1 path
	shift
	mount -t proc proc "$root/proc"
	for path in /dev /etc/resolv.conf "$(pwd)" ${TUTTI_BIND:-} ${TUTTI_SEE:-}; do see "$root" "$path"; done
	exec chroot "$root" env -i -C "$(pwd)" HOME=/root LANG=C.UTF-8 TERM=dumb \
		PATH="${TUTTI_PATH:+$TUTTI_PATH:}/usr/sbin:/usr/bin:/sbin:/bin" "$@"
}

case ${1:-} in
build) build_root "$2" "$3" ;;
compiler) compiler_root ;;
library) library "$2" ;;
clean) clean_root "$2" "$3" ;;
enter) shift && exec unshare --mount --fork scripts/root.sh entered "$@" ;;
entered) shift && enter "$@" ;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 64
	;;
esac

#!/bin/bash
# cross.sh ARCH SUITE [PRODUCT...]: builds the programs for another architecture or another Debian than this machine's, into
# .build/cross/SUITE-ARCH, and prints the folder. For this machine's architecture it takes the toolchain that is here; for others
# Debian's own Swift, of its suite sid, with the run-time library of Debian's package for that architecture. Needs root.
# Of another architecture, the product `core` is the core's tests and tutti-simulate, in .build/cross/SUITE-ARCH-core. They load the
# run-time library, which needs trixie or newer.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=$1 suite=$2
shift 2
[ $# -gt 0 ] || set -- tutti tutti-receiver
cache=${TUTTI_CACHE:-/var/cache/tutti}
host=$(dpkg --print-architecture)
case $arch in
amd64) triple=x86_64-linux-gnu ;;
arm64) triple=aarch64-linux-gnu ;;
*)
	echo "cross: no packages are built for $arch: Debian has no Swift for it; there are amd64 and arm64" >&2
	exit 64
	;;
esac
root=$(scripts/root.sh build "$suite" "$arch")
scratch=.build/cross/$suite-$arch
mkdir -p "$scratch"
read -ra flags <scripts/link-flags
jobs=${TUTTI_JOBS:-$(nproc)}
options=(-j "$jobs" -c release --static-swift-stdlib --scratch-path "$scratch" "${flags[@]}")

if [ "$arch" = "$host" ]; then
	command -v swift >/dev/null || {
		echo "cross: root finds no swift; let it have your path: sudo env PATH=\"\$PATH\" make deb ARCH=$arch SUITE=$suite" >&2
		exit 69
	}
	toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
	for product; do
		TUTTI_SEE=$(dirname "$toolchain") TUTTI_PATH=$toolchain/bin \
			scripts/root.sh enter "$root" env TUTTI_PROGRAMS=1 swift build "${options[@]}" --product "$product" >&2
	done
	echo "$scratch/release"
	exit
fi

compiler=$(scripts/root.sh compiler)
library=$(scripts/root.sh library "$arch")
bundle=$cache/bundles/tutti-$suite-$arch.artifactbundle
for part in swift swift_static clang; do ln -sfn "$library/$part" "$root/usr/lib/$part"; done

mkdir -p "$bundle/sdk"
cat >"$bundle/info.json" <<END
{"schemaVersion": "1.0", "artifacts": {"tutti-$suite-$arch": {"type": "swiftSDK", "version": "1.0", "variants": [{"path": "sdk"}]}}}
END
ln -sfn "$root" "$bundle/sdk/sysroot"
ln -sfn "$library" "$bundle/sdk/swift"
cat >"$bundle/sdk/swift-sdk.json" <<END
{"schemaVersion": "4.0", "targetTriples": {"aarch64-unknown-linux-gnu": {"sdkRootPath": "sysroot",
  "swiftResourcesPath": "swift/swift", "swiftStaticResourcesPath": "swift/swift_static", "toolsetPaths": ["toolset.json"]}}}
END
cat >"$bundle/sdk/toolset.json" <<END
{"schemaVersion": "1.0", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}, "linker": {"path": "/usr/libexec/swift/bin/ld.lld"}}
END

export TUTTI_SEE="$cache" TUTTI_PATH=/usr/libexec/swift/bin
if [ "$suite" = bookworm ]; then
	# Debian's run-time library is made for glibc 2.38; Debian 12 has 2.36.
	scripts/root.sh enter "$compiler" clang --target=aarch64-unknown-linux-gnu --sysroot="$root" -std=gnu11 -O2 -fPIC \
		-c scripts/glibc-2.36.c -o "$scratch/glibc-2.36.o" >&2
	options+=(-Xlinker "$(pwd)/$scratch/glibc-2.36.o")
fi
packages=$root/usr/lib/$triple/pkgconfig:$root/usr/share/pkgconfig
build() {
	scripts/root.sh enter "$compiler" env PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$packages" PKG_CONFIG_PATH="$packages" \
		"$@" --swift-sdks-path "$cache/bundles" --swift-sdk "tutti-$suite-$arch" >&2
}
for product; do
	if [ "$product" = core ]; then
		scratch+=-core
		# The testing library names a part of itself that Debian does not build, and that nothing here calls.
		mkdir -p "$scratch" && ar rc "$scratch/lib_Testing_Foundation.a"
		build TUTTI_CORE=1 swift build -j "$jobs" -c release --scratch-path "$scratch" -Xswiftc -enable-testing \
			-Xlinker "-L$(pwd)/$scratch" --build-tests
	else
		build TUTTI_PROGRAMS=1 swift build "${options[@]}" --product "$product"
	fi
done
echo "$scratch/aarch64-unknown-linux-gnu/release"

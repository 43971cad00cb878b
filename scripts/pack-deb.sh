#!/bin/sh
# pack-deb.sh ARCHITECTURE DEB…: compresses packages that dpkg-deb has put together without. For xz's filter a jump to a place is the
# same wherever it stands in the code, which makes the programs a seventh smaller; dpkg unpacks them in 32 MB, as ever.
set -eu
case $1 in amd64) filter=--x86 ;; arm64) filter=--arm64 ;; *) filter= ;; esac
shift
for deb; do
	deb=$(realpath "$deb")
	parts=$(mktemp -d)
	(
		cd "$parts"
		ar x "$deb"
		xz $filter --lzma2=preset=8 control.tar data.tar
		rm "$deb"
		ar qcDS "$deb" debian-binary control.tar.xz data.tar.xz
	)
	rm -r "$parts"
done

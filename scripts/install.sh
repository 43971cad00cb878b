#!/bin/sh
# install.sh ROOT PREFIX BUILD: installs what `make build` has made: the programs, and their manual pages and completions
# where those were made, and an entry for desktops. It builds nothing, so that root needs no toolchain. Directories that it makes
# are listed in share/tutti/made, for `make uninstall`.
set -eu
cd "$(dirname "$0")/.."
root=$1 prefix=$2 build=$3

for program in tutti tutti-receiver; do
  [ -x "$build/$program" ] || {
    echo "install: $build/$program is not built yet; run this first, as yourself: make build" >&2
    exit 66
  }
done
scripts/libraries.sh "$build/tutti" "$build/tutti-receiver" || [ -n "$root" ] || exit 69

made=$root$prefix/share/tutti/made
# make_directory PATH: with its parents.
make_directory() {
  [ ! -d "$root$1" ] || return 0
  make_directory "$(dirname "$1")"
  mkdir "$root$1"
  list="$list$1
"
}
list=
mkdir -p "$root/"
make_directory "$prefix/share/tutti"
make_directory "$prefix/bin"

for program in tutti tutti-receiver; do
  install -m 755 "$build/$program" "$root$prefix/bin/$program"
  ${STRIP:-strip} "$root$prefix/bin/$program" 2>/dev/null ||
    echo "install: $program keeps its symbols: strip, of the package binutils, is missing, or is for other processors" >&2
done

# put DIRECTORY FILE...: installs the files that exist.
put() {
  directory=$prefix/share/$1
  shift
  for file; do
    [ -e "$file" ] || continue
    make_directory "$directory"
    install -m 644 "$file" "$root$directory"
  done
}
# The name and the picture of a player on the session bus.
put applications packaging/tutti.desktop
put man/man1 .build/man/*.1
put bash-completion/completions .build/completions/bash/*
put zsh/site-functions .build/completions/zsh/*
put fish/vendor_completions.d .build/completions/fish/*
printf %s "$list" >>"$made"

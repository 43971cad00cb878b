#!/bin/sh
# Installs the programs that `make build` has made, and their man pages and completions if there are any. It builds nothing,
# so that root needs no toolchain.
set -eu
cd "$(dirname "$0")/.."
root=$1 prefix=$2 build=$3

for program in tutti tutti-receiver; do
  [ -x "$build/$program" ] || {
    echo "install: $build/$program is not built yet; run this first, as yourself: make build" >&2
    exit 66
  }
done
install -d "$root$prefix/bin"
install -s -m 755 "$build/tutti" "$build/tutti-receiver" "$root$prefix/bin"

# put DIRECTORY FILE...: installs the files that exist.
put() {
  directory=$root$prefix/share/$1
  shift
  for file; do
    [ -e "$file" ] || continue
    install -d "$directory"
    install -m 644 "$file" "$directory"
  done
}
put man/man1 .build/man/*.1
put bash-completion/completions .build/completions/bash/*
put zsh/site-functions .build/completions/zsh/*
put fish/vendor_completions.d .build/completions/fish/*

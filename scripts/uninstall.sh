#!/bin/sh
# Removes the files of `make install`, `make install-service` and `make install-daemon`, but neither options nor state.
set -eu
root=$1 prefix=$2 etc=$3
for service in tutti tutti-receiver; do
  unit="$root$etc/systemd/system/$service.service"
  [ -e "$unit" ] || continue
  [ -n "$root" ] || [ ! -d /run/systemd/system ] || systemctl disable --now "$service"
  rm -f "$unit" "$root$etc/systemd/system/multi-user.target.wants/$service.service"
done
share=$root$prefix/share
for program in tutti tutti-receiver; do
  rm -f "$root$prefix/bin/$program" "$share/man/man1/$program.1" "$share/man/man1/$program"-*.1 \
    "$share/bash-completion/completions/$program" "$share/zsh/site-functions/_$program" \
    "$share/fish/vendor_completions.d/$program.fish"
done

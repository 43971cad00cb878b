#!/bin/sh
# Takes away what `make install` and `make install-service` put there, but not the receiver's options and state.
set -eu
root=$1 prefix=$2 etc=$3
unit="$root$etc/systemd/system/tutti-receiver.service"
if [ -e "$unit" ]; then
  [ -n "$root" ] || [ ! -d /run/systemd/system ] || systemctl disable --now tutti-receiver
  rm -f "$unit" "$root$etc/systemd/system/multi-user.target.wants/tutti-receiver.service"
fi
share=$root$prefix/share
for program in tutti tutti-receiver; do
  rm -f "$root$prefix/bin/$program" "$share/man/man1/$program.1" "$share/man/man1/$program"-*.1 \
    "$share/bash-completion/completions/$program" "$share/zsh/site-functions/_$program" \
    "$share/fish/vendor_completions.d/$program.fish"
done

#!/bin/sh
# uninstall.sh ROOT PREFIX ETC [purge]: takes away what `make install`, `make install-service` and `make install-daemon` made.
# Options that somebody has edited, and what the services remember, such as pairings, stay with the user that they belong to;
# with `purge` they go too.
set -eu
cd "$(dirname "$0")/.."
root=$1 prefix=$2 etc=$3 purge=${4:-}
share=$root$prefix/share
made=$share/tutti/made
PATH=$PATH:/usr/sbin:/sbin

# packaged FILE: true for what a Debian package has installed, which it takes away itself.
packaged() { [ -z "$root" ] && dpkg-query -S "$1" >/dev/null 2>&1; }

systemd= hidden=
[ -n "$root" ] || [ ! -d /run/systemd/system ] || systemd=yes
for service in tutti tutti-receiver; do
  unit="$root$etc/systemd/system/$service.service"
  [ -e "$unit" ] || continue
  [ -z "$systemd" ] || systemctl disable --now "$service"
  rm -f "$unit" "$root$etc/systemd/system/multi-user.target.wants/$service.service"
  # The unit of a package has another folder, where this one hid it.
  if packaged "/lib/systemd/system/$service.service" || packaged "/usr/lib/systemd/system/$service.service"; then
    hidden="$hidden $service"
  fi
done
if [ -n "$systemd" ]; then
  systemctl daemon-reload
  for service in $hidden; do systemctl enable --now "$service"; done
fi

# options FILE SOURCE: where they are as they came, or in any case.
options() {
  ! packaged "$1" || return 0
  if [ -n "$purge" ] || cmp -s "$1" "$2"; then rm -f "$1"; fi
}
options "$root$etc/default/tutti-receiver" packaging/tutti-receiver.default
options "$root$etc/tutti/tutti.conf" packaging/tutti.conf
if [ -n "$purge" ]; then
  packaged "$etc/default/tutti-receiver" || rm -rf "$root/var/lib/tutti-receiver"
  # With the settings of sources that `tutti sources add` has written.
  packaged "$etc/tutti/tutti.conf" || rm -rf "$root/var/lib/tutti" "$root$etc/tutti"/airplay-*.conf
  [ ! -d "$root$etc/tutti" ] || rmdir --ignore-fail-on-non-empty "$root$etc/tutti"
fi
if [ -z "$root" ] && [ ! -e /var/lib/tutti ] && [ ! -e /var/lib/tutti-receiver ] && getent passwd tutti >/dev/null; then
  userdel tutti
fi

for program in tutti tutti-receiver; do
  rm -f "$root$prefix/bin/$program" "$share/man/man1/$program.1" "$share/man/man1/$program"-*.1 \
    "$share/bash-completion/completions/$program" "$share/zsh/site-functions/_$program" \
    "$share/fish/vendor_completions.d/$program.fish"
done
rm -f "$share/applications/tutti.desktop"
[ -e "$made" ] || exit 0
directories=$(sort -ru "$made")
rm -f "$made"
for directory in $directories; do
  rmdir --ignore-fail-on-non-empty "$root$directory" 2>/dev/null || true
done

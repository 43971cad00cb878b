#!/bin/sh
# install-service.sh ROOT PREFIX ETC SERVICE: installs a service that systemd starts at boot, a receiver (tutti-receiver) or
# a household's daemon (tutti). It makes a user, the unit, and a file for options; an existing file stays as it is. With
# another root (DESTDIR) it only writes files, and starts nothing.
set -eu
cd "$(dirname "$0")/.."
root=$1 prefix=$2 etc=$3 service=$4

# Directories that were not there, for `make uninstall`.
made=$root$prefix/share/tutti/made
for directory in "$etc" "$etc/systemd" "$etc/systemd/system" "$etc/default" "$etc/tutti"; do
  case $service:$directory in tutti:"$etc/default" | tutti-receiver:"$etc/tutti") continue ;; esac
  [ -d "$root$directory" ] || { install -d "$root$directory" && echo "$directory" >>"$made"; }
done
sed "s|@BINDIR@|$prefix/bin|" "packaging/$service.service" >"$root$etc/systemd/system/$service.service"
chmod 644 "$root$etc/systemd/system/$service.service"
case $service in
  tutti) options=$root$etc/tutti/tutti.conf source=packaging/tutti.conf ;;
  *) options=$root$etc/default/$service source=packaging/$service.default ;;
esac
[ -e "$options" ] || install -D -m 644 "$source" "$options"
[ -z "$root" ] || exit 0

[ "$(id -u)" -eq 0 ] || {
  echo "install-service: this needs root: run make through sudo" >&2
  exit 77
}
PATH=$PATH:/usr/sbin:/sbin
getent group tutti >/dev/null || groupadd --system tutti
getent passwd tutti >/dev/null ||
  useradd --system --gid tutti --groups audio --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin tutti
# The daemon's configuration may hold a token; an administrator's own choice of its mode stays.
if [ "$service" = tutti ] && [ "$(stat -c %G:%a "$options")" = root:644 ]; then
  chgrp tutti "$options"
  chmod 640 "$options"
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl enable "$service"
  # One that runs already takes the new program.
  systemctl restart "$service"
  systemctl --no-pager --lines=5 status "$service"
else
  echo "install-service: systemd does not run here; it starts $service at the next boot with it" >&2
  systemctl enable "$service" 2>/dev/null || true
fi

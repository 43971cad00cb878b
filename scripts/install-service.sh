#!/bin/sh
# Makes a receiver that systemd starts at boot: a user of its own, the unit, and a file for its options, which is left
# alone where there is one. What is written to another root (DESTDIR) is only written, not started.
set -eu
cd "$(dirname "$0")/.."
root=$1 prefix=$2 etc=$3

install -d "$root$etc/systemd/system" "$root$etc/default"
sed "s|@BINDIR@|$prefix/bin|" packaging/tutti-receiver.service >"$root$etc/systemd/system/tutti-receiver.service"
chmod 644 "$root$etc/systemd/system/tutti-receiver.service"
[ -e "$root$etc/default/tutti-receiver" ] ||
  install -m 644 packaging/tutti-receiver.default "$root$etc/default/tutti-receiver"
[ -z "$root" ] || exit 0

[ "$(id -u)" -eq 0 ] || {
  echo "install-service: this needs root: sudo make install-service" >&2
  exit 77
}
PATH=$PATH:/usr/sbin:/sbin
getent passwd tutti >/dev/null ||
  useradd --system --gid audio --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin tutti
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl enable --now tutti-receiver
  systemctl --no-pager --lines=5 status tutti-receiver
else
  echo "install-service: systemd does not run here; it starts the receiver at the next boot with it" >&2
  systemctl enable tutti-receiver 2>/dev/null || true
fi

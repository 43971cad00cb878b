#!/bin/sh
# Starts the system bus and the Avahi daemon if they do not run, as in a container without an init system. If one of them
# does not start, says so and continues: a room on this machine can be reached by its address.
set -eu
# Debian keeps daemons here; users do not have these folders in their PATH.
PATH=$PATH:/usr/sbin:/sbin

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo

bus_runs() {
  dbus-send --system --dest=org.freedesktop.DBus --print-reply / org.freedesktop.DBus.GetId >/dev/null 2>&1
}

if [ -d /run/systemd/system ]; then
  bus_runs && avahi-daemon --check >/dev/null 2>&1 || $as_root systemctl start dbus.socket avahi-daemon ||
    echo "services: systemd did not start D-Bus and Avahi; see: systemctl status avahi-daemon" >&2
  exit 0
fi
if ! bus_runs; then
  $as_root mkdir -p /run/dbus
  $as_root rm -f /run/dbus/pid
  $as_root dbus-daemon --system --fork || echo "services: dbus-daemon did not start" >&2
fi
if ! avahi-daemon --check >/dev/null 2>&1; then
  # In some containers the daemon cannot give up root.
  said=$($as_root avahi-daemon --daemonize --no-rlimits 2>&1) ||
    said=$($as_root avahi-daemon --daemonize --no-rlimits --no-drop-root 2>&1) ||
    echo "services: avahi-daemon did not start: $(echo "$said" | tail -n 1)" >&2
fi

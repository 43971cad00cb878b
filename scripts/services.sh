#!/bin/sh
# Starts the system bus and the Avahi daemon where they do not run, as in a container without an init system.
set -eu

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo

if ! dbus-send --system --dest=org.freedesktop.DBus --print-reply / org.freedesktop.DBus.GetId >/dev/null 2>&1; then
  if command -v systemctl >/dev/null && systemctl is-system-running >/dev/null 2>&1; then
    $as_root systemctl start dbus avahi-daemon
    exit 0
  fi
  $as_root mkdir -p /run/dbus
  $as_root rm -f /run/dbus/pid
  $as_root dbus-daemon --system --fork
fi
if ! avahi-daemon --check >/dev/null 2>&1; then
  $as_root avahi-daemon --daemonize --no-drop-root --no-rlimits >/dev/null 2>&1 || {
    echo "services: avahi-daemon did not start; rooms are found by --at host:port only" >&2
    exit 0
  }
fi

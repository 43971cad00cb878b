#!/bin/sh
# A system bus and an Avahi daemon for tests, which see only the loopback: avahi-bed.sh DIRECTORY
# It makes the directory, runs in it until its input ends, and carries out each line of the input as a command. If the
# container allows it, the daemon gets a private /run, which holds its process number, and a private loopback, on which it
# would meet others. Otherwise it can only run if no other daemon does. The daemon needs root and a user of its own:
# without root, both are this user under other names.
mkdir -m 700 "$1" && cd "$1" || { echo "$1 cannot be made"; exit 1; }
bus= daemon=
finish() {
  kill -9 $daemon $bus 2>/dev/null
  wait 2>/dev/null
  cd / && rm -rf "$1"
}
trap 'finish "$1"' EXIT
PATH=$PATH:/usr/sbin
for program in dbus-daemon avahi-daemon ip; do
  command -v $program >/dev/null ||
    { echo "these tests need $program: apt-get install dbus avahi-daemon iproute2"; exit 1; }
done

cat >bus.conf <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=$1/bus</listen>
  <auth>EXTERNAL</auth>
  <auth>ANONYMOUS</auth>
  <allow_anonymous/>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
END
cat >avahi.conf <<END
[server]
host-name=tutti-test
allow-interfaces=lo
[wide-area]
enable-wide-area=no
[publish]
publish-workstation=no
END

mkfifo bus.out avahi.out
echo ready

start_bus() {
  rm -f bus
  dbus-daemon --config-file=bus.conf --nofork --nopidfile --print-address=1 >bus.out 2>bus.log &
  bus=$!
  read -r address <bus.out && echo start_bus ||
    echo "dbus-daemon did not start: $(tail -n 1 bus.log)"
}

DBUS_SYSTEM_BUS_ADDRESS=unix:path=$1/bus
export DBUS_SYSTEM_BUS_ADDRESS
run="avahi-daemon -f $1/avahi.conf --no-drop-root --no-chroot --no-rlimits"
private="ip link set lo up && mount -t tmpfs tmpfs /run"
if [ "$(id -u)" != 0 ]; then
  unshare -r -m -n true 2>/dev/null ||
    { echo "these tests need root, or user namespaces, to run an Avahi daemon"; exit 1; }
  printf '%s:x:0:0::/:/bin/sh\n' root avahi >passwd
  printf '%s:x:0:\n' root avahi >group
  private="$private && mount --bind passwd /etc/passwd && mount --bind group /etc/group"
  run="unshare -r -m -n sh -c '$private && exec $run'"
elif unshare -m -n true 2>/dev/null; then
  run="unshare -m -n sh -c '$private && exec $run'"
fi

start_daemon() {
  eval "exec $run" >avahi.out 2>&1 &
  daemon=$!
  exec 3<avahi.out
  last="no output"
  while read -r line <&3; do
    case $line in
      *"startup complete"*) cat <&3 >/dev/null & drain=$!; echo start_daemon; return ;;
    esac
    last=$line
  done
  echo "avahi-daemon did not start: $last"
}

# End the drain of the pipe as well, or it would take the next daemon's output.
stop_daemon() {
  kill -9 $daemon $drain
  wait $daemon $drain 2>/dev/null
  daemon=
  echo stop_daemon
}

stop_bus() {
  kill -9 $bus
  wait $bus 2>/dev/null
  bus=
  echo stop_bus
}

freeze_daemon() { kill -STOP $daemon && echo freeze_daemon; }
thaw_daemon() { kill -CONT $daemon && echo thaw_daemon; }
freeze_bus() { kill -STOP $bus && echo freeze_bus; }
thaw_bus() { kill -CONT $bus && echo thaw_bus; }

denial='<deny send_interface="org.freedesktop.Avahi.EntryGroup" send_member="AddService"/>'
# The bus answers once it has read its rules again.
reload() {
  dbus-send --system --print-reply --dest=org.freedesktop.DBus / \
    org.freedesktop.DBus.ReloadConfig >/dev/null 2>rules.log && echo "$1" ||
    echo "the bus keeps its rules: $(tail -n 1 rules.log)"
}
refuse_services() { sed -i "s|</policy>|$denial&|" bus.conf && reload refuse_services; }
allow_services() { sed -i "s|$denial||" bus.conf && reload allow_services; }

while read -r command; do $command; done

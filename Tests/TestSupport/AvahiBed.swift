import Dispatch
import Glibc
import Synchronization

/// A system bus and an Avahi daemon of the test's own, which see the loopback only and go when this does, or when
/// the test's process does. Needs dbus-daemon and avahi-daemon, and either root or user namespaces.
package final class AvahiBed {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let directory: String
  private let process: pid_t
  private let commands: Int32
  private let answers: Int32

  /// The bus does not run yet; this process is pointed to it. It keeps its address from one test to the next: the
  /// D-Bus library reads it once in a process.
  package convenience init() throws {
    try self.init(directory: "/tmp/tutti-avahi-\(getpid())")
    for (name, value) in environment { setenv(name, value, 1) }
  }

  /// For programs of the test, which get `environment`. The directory must not exist.
  package init(directory: String) throws {
    self.directory = directory
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    guard pipe(&input) == 0, pipe(&output) == 0 else {
      throw Failure(description: "no pipes can be made")
    }
    // The script would not see its input end if it held the other end too.
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    commands = input[1]
    answers = output[0]
    process = try Self.spawn(
      ["/bin/sh", "-c", script, "avahi-bed", directory], input: input[0], output: output[1])
    close(input[0])
    close(output[1])
    try expect("ready")
  }

  /// Says `exit`, because the end of the pipe may not come: a program that another test was starting while the pipe
  /// was made may hold its other end.
  deinit {
    let line = Array("exit\n".utf8)
    _ = write(commands, line, line.count)
    close(commands)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    close(answers)
  }

  /// What points a program to the bus.
  package var environment: [String: String] {
    ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory)/bus"]
  }

  /// These return when the process answers, or is gone.
  package func startBus() throws { try command("start_bus") }
  package func startDaemon() throws { try command("start_daemon") }
  package func kill(_ victim: Process) throws { try command("stop_\(victim)") }
  /// It hangs: it is there, takes what it is sent, and does not answer until it is thawed.
  package func freeze(_ victim: Process) throws { try command("freeze_\(victim)") }
  package func thaw(_ victim: Process) throws { try command("thaw_\(victim)") }

  /// The bus hands the daemon no more services to announce.
  package func refuseServices() throws { try command("refuse_services") }
  package func allowServices() throws { try command("allow_services") }

  package enum Process { case bus, daemon }

  private func command(_ name: String) throws {
    let line = Array("\(name)\n".utf8)
    guard write(commands, line, line.count) == line.count else {
      throw Failure(description: "the script that runs the daemons has ended")
    }
    try expect(name)
  }

  /// The script answers each command with one line; one that begins otherwise is a reason.
  private func expect(_ answer: String) throws {
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      var ready = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
      var byte: UInt8 = 0
      guard poll(&ready, 1, 60_000) == 1, read(answers, &byte, 1) == 1 else {
        throw Failure(description: "no \"\(answer)\" from the script that runs the daemons")
      }
      line.append(byte)
    }
    let text = String(decoding: line.dropLast(), as: UTF8.self)
    guard text == answer else { throw Failure(description: text) }
  }

  private static func spawn(_ arguments: [String], input: Int32, output: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var process = pid_t()
    let error = posix_spawn(&process, arguments[0], &actions, nil, &pointers, environ)
    guard error == 0 else {
      throw Failure(description: "sh cannot be started: \(String(cString: strerror(error)))")
    }
    return process
  }
}

/// Runs in a directory of its own until its input ends, and does what each line of that says. The daemon gets a private
/// /run and loopback where the container allows it, because it keeps its process number in the one and would meet others
/// on the other; else it can only run where no other one does. It insists on root and on a user of its own: without root, both are this user under other names.
private let script = #"""
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

  # What drains the pipe must go as well, or it takes the next daemon's words.
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
  # The bus answers once it has read its rules anew.
  reload() {
    dbus-send --system --print-reply --dest=org.freedesktop.DBus / \
      org.freedesktop.DBus.ReloadConfig >/dev/null 2>rules.log && echo "$1" ||
      echo "the bus keeps its rules: $(tail -n 1 rules.log)"
  }
  refuse_services() { sed -i "s|</policy>|$denial&|" bus.conf && reload refuse_services; }
  allow_services() { sed -i "s|$denial||" bus.conf && reload allow_services; }

  while read -r command; do $command; done
  """#

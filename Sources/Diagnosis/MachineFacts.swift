package import Clock

/// The rights that a machine grants to a receiver's process.
package struct RightsFacts: Hashable, Sendable {
  /// The highest priority under SCHED_FIFO without a capability.
  package var realtimeLimit: UInt64
  /// Memory that may be locked without a capability, in bytes.
  package var lockedLimit: UInt64
  /// Says whether the process has CAP_SYS_NICE and CAP_IPC_LOCK.
  package var mayRaisePriority: Bool
  package var mayLockMemory: Bool

  package init(
    realtimeLimit: UInt64, lockedLimit: UInt64, mayRaisePriority: Bool, mayLockMemory: Bool
  ) {
    self.realtimeLimit = realtimeLimit
    self.lockedLimit = lockedLimit
    self.mayRaisePriority = mayRaisePriority
    self.mayLockMemory = mayLockMemory
  }

  /// Priority of the output thread.
  static let neededPriority: UInt64 = 70
  /// Bytes that a receiver with the usual buffer needs.
  static let neededMemory: UInt64 = 256 << 20

  /// The unit grants both, however it came here: by a package, or by `make install-service`.
  private static let service = "let systemd start it: sudo systemctl enable --now tutti-receiver"

  package var findings: [Finding] {
    let realtime: Finding =
      mayRaisePriority || realtimeLimit >= Self.neededPriority
      ? .well("real time", "the output thread may have SCHED_FIFO")
      : .notice(
        "real time",
        "the output thread may not have SCHED_FIFO, so a busy machine may cause dropouts",
        cure: "\(Self.service); or in /etc/security/limits.d: @audio - rtprio 95")
    let memory: Finding =
      mayLockMemory || lockedLimit >= Self.neededMemory
      ? .well("memory", "may be locked")
      : .notice(
        "memory", "may not be locked, so it may be paged out",
        cure: "\(Self.service); or in /etc/security/limits.d: @audio - memlock unlimited")
    return [realtime, memory]
  }
}

/// The network interfaces of a machine.
package struct InterfaceFacts: Hashable, Sendable {
  package struct Wireless: Hashable, Sendable {
    package var name: String
    /// Nil if the system does not say.
    package var savesPower: Bool?
    /// In dBm; nil if the system does not say.
    package var signal: Int?

    package init(name: String, savesPower: Bool?, signal: Int?) {
      self.name = name
      self.savesPower = savesPower
      self.signal = signal
    }
  }

  package struct Wired: Hashable, Sendable {
    package var name: String
    /// In Mbit/s.
    package var speed: Int
    package var isHalfDuplex: Bool

    package init(name: String, speed: Int, isHalfDuplex: Bool) {
      self.name = name
      self.speed = speed
      self.isHalfDuplex = isHalfDuplex
    }
  }

  package var wireless: [Wireless]
  package var wired: [Wired]

  package init(wireless: [Wireless], wired: [Wired]) {
    self.wireless = wireless
    self.wired = wired
  }

  /// In dBm. Below this, a Wi-Fi link repeats most of what it sends.
  static let weakSignal = -75
  /// In Mbit/s. A cable with two broken pairs, or a very old switch, falls back to it.
  static let slowLink = 10

  package var findings: [Finding] { wireless.map(finding) + wired.compactMap(finding) }

  private func finding(_ link: Wireless) -> Finding {
    if link.savesPower == true {
      return .wrong(
        "Wi-Fi", "\(link.name) saves power, which delays packets by 50 to 200 ms",
        cure:
          "sudo iw dev \(link.name) set power_save off, which holds until the next boot; for good: "
          + "wifi.powersave=2 below [connection] in /etc/NetworkManager/conf.d/no-power-save.conf")
    }
    if let signal = link.signal, signal < Self.weakSignal {
      return .notice(
        "Wi-Fi", "\(link.name) has a weak signal: \(signal) dBm",
        cure: "move it nearer to the access point, or use a cable")
    }
    let signal = link.signal.map { ", signal \($0) dBm" } ?? ""
    if link.savesPower == nil {
      return .notice(
        "Wi-Fi", "\(link.name) does not say whether it saves power\(signal)",
        cure: "see: iw dev \(link.name) get power_save")
    }
    return .well("Wi-Fi", "\(link.name) saves no power\(signal)")
  }

  private func finding(_ link: Wired) -> Finding? {
    guard link.speed <= Self.slowLink || link.isHalfDuplex else { return nil }
    let duplex = link.isHalfDuplex ? ", half duplex" : ""
    return .notice(
      "cable", "\(link.name) runs at \(link.speed) Mbit/s\(duplex)",
      cure: "try another cable, and another port of the switch")
  }
}

/// The clocks of a machine.
package struct ClockFacts: Hashable, Sendable {
  /// The kernel's name for it; nil if the kernel does not say.
  package var source: String?
  /// Time by which the wall clock was moved against the monotonic one while it was watched, and time for which it was
  /// watched.
  package var change: Nanoseconds
  package var span: Nanoseconds

  package init(source: String?, change: Nanoseconds, span: Nanoseconds) {
    self.source = source
    self.change = change
    self.span = span
  }

  /// Slow sources: each reading goes to a chip, takes microseconds, and disturbs others.
  static let slowSources = ["acpi_pm", "hpet", "jiffies", "refined-jiffies", "pit"]
  /// Largest share of the time by which a time daemon slews.
  static let greatestSlew = 0.0005
  /// Error of the two readings, which may be interrupted.
  static let readingError = Nanoseconds.microseconds(200)

  package var finding: Finding {
    let slewed = Nanoseconds(Int64(Double(span.count) * Self.greatestSlew)) + Self.readingError
    if change > slewed || change < .zero - slewed {
      return .notice(
        "clock", "the wall clock was set by \(change.inMilliseconds) just now",
        cure: "let one time daemon slew it: with chrony, makestep 1 3")
    }
    if let source, Self.slowSources.contains(source) {
      return .notice(
        "clock", "\(source) is a slow clock source",
        cure: "see /sys/devices/system/clocksource/clocksource0/available_clocksource")
    }
    return .well("clock", (source.map { "\($0), " } ?? "") + "not set while this looked")
  }
}

/// The directory in which a program keeps its state.
package struct StateFacts: Hashable, Sendable {
  package var path: String
  /// The reason why a file could not be written there; nil if it could.
  package var obstacle: String?
  /// Free space in bytes; nil if the system does not say.
  package var free: UInt64?

  package init(path: String, obstacle: String?, free: UInt64?) {
    self.path = path
    self.obstacle = obstacle
    self.free = free
  }

  static let least: UInt64 = 32 << 20

  package var finding: Finding {
    if let obstacle {
      return .wrong(
        "state", "cannot be kept: \(obstacle)",
        cure: "see: ls -ld \(path), df \(path); or choose another place with --state-dir")
    }
    if let free, free < Self.least {
      return .notice(
        "state", "\(path) has \(free >> 20) MiB left", cure: "make room: df \(path)")
    }
    return .well("state", "\(path), \(free.map { "\(Self.size($0)) left" } ?? "can be written")")
  }

  private static func size(_ bytes: UInt64) -> String {
    bytes >> 30 > 0 ? "\(bytes >> 30) GiB" : "\(bytes >> 20) MiB"
  }
}

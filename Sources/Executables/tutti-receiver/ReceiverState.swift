import Clock
import Glibc
import LinuxIO
import Receiver
import WireProtocol

/// The receiver's state directory: its identity, and a few lines of `key value` that it remembers. Lines that are
/// not understood are passed over: a lost volume is no reason not to play.
struct ReceiverState {
  private let directory: String

  init(_ given: String?) throws {
    let base =
      Self.variable("XDG_STATE_HOME") ?? (Self.variable("HOME") ?? "/root") + "/.local/state"
    directory = given ?? base + "/tutti-receiver"
    do {
      try StateFile.createDirectory(path: directory)
    } catch {
      throw StartFailure.unavailable(
        "cannot use the state directory \(directory): \(error); choose another with --state-dir")
    }
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Made at the first start.
  func receiverID() throws -> Identifier {
    let file = StateFile(path: directory + "/receiver-id")
    if let bytes = try file.read(limit: 64), let id = Identifier(bytes) { return id }
    let bytes = try SystemRandom.bytes(Identifier.byteCount)
    try file.write(bytes)
    guard let id = Identifier(bytes) else { throw StartFailure.unavailable("no random bytes") }
    return id
  }

  private var memoryFile: StateFile { StateFile(path: directory + "/memory") }

  func memory() -> ReceiverMemory {
    var memory = ReceiverMemory()
    guard let bytes = (try? memoryFile.read(limit: 64 << 10)) ?? nil else { return memory }
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      memory.take(line.split(separator: " ").map(String.init))
    }
    return memory
  }

  func keep(_ memory: ReceiverMemory) throws(IOError) {
    try memoryFile.write(Array(memory.lines.joined(separator: "\n").utf8))
  }
}

extension ReceiverMemory {
  fileprivate var lines: [String] {
    let map = settings.channelMap.rawValue
    var lines = [
      "volume \(settings.volume)", "muted \(settings.isMuted)",
      "delay_ns \(settings.delay.count)", "channel_map \(map)",
    ]
    if let deviceDrift { lines.append("device_drift \(deviceDrift)") }
    lines += clockDrifts.map { "clock_drift \($0.sender.hex) \($0.drift)" }
    return lines
  }

  fileprivate mutating func take(_ words: [String]) {
    guard words.count >= 2 else { return }
    switch words[0] {
    case "volume":
      if let volume = UInt16(words[1]), ProtocolLimits.volume.contains(volume) {
        settings.volume = volume
      }
    case "muted": settings.isMuted = words[1] == "true"
    case "delay_ns":
      if let delay = Int64(words[1]), ProtocolLimits.roomDelay.contains(delay) {
        settings.delay = Nanoseconds(delay)
      }
    case "channel_map":
      if let map = UInt8(words[1]).flatMap(RoomSettings.ChannelMap.init) {
        settings.channelMap = map
      }
    case "device_drift": deviceDrift = Double(words[1]).flatMap(plausible)
    case "clock_drift":
      guard words.count == 3, clockDrifts.count < 16, let sender = Identifier(hex: words[1]),
        let drift = Double(words[2]).flatMap(plausible)
      else { return }
      clockDrifts.append(.init(sender: sender, drift: drift))
    default: break
    }
  }

  /// No crystal is off by more than 500 ppm.
  private func plausible(_ drift: Double) -> Double? { abs(drift) < 5e-4 ? drift : nil }
}

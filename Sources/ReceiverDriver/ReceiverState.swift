import Audio
import Clock
import Glibc
import LinuxIO
import OpenSSLSecurity
import Pairing
import Receiver
import WireProtocol

/// How loud a room may be, in thousandths, as in the protocol.
package struct ReceiverVolumes: Sendable {
  /// The volume until somebody sets one.
  package var start = RoomSettings.startVolume
  /// The limit that the receiver's own user has fixed; nil leaves it to those who play.
  package var limit: UInt16?

  package init(start: UInt16 = RoomSettings.startVolume, limit: UInt16? = nil) {
    (self.start, self.limit) = (start, limit)
  }
}

/// The receiver's state directory: its identity, and its stored settings as lines of `key value`. Lines that cannot be
/// parsed are skipped: a lost volume is no reason not to play.
package struct ReceiverState: ~Copyable {
  let directory: String
  private let lock: DirectoryLock

  init(_ given: String?) throws {
    let directory = given ?? Self.usualDirectory
    lock = try Self.lock(directory)
    self.directory = directory
  }

  private static func lock(_ directory: String) throws -> DirectoryLock {
    do throws(IOError) {
      try StateFile.createDirectory(path: directory)
      return try DirectoryLock(directory: directory)
    } catch  where error.code == EWOULDBLOCK {
      throw StartFailure.unavailable(
        "another tutti-receiver keeps its state in \(directory); choose another with --state-dir")
    } catch {
      throw StartFailure.unavailable(
        "cannot use the state directory \(directory): \(error); choose another with --state-dir")
    }
  }

  package static var usualDirectory: String {
    (variable("XDG_STATE_HOME") ?? (variable("HOME") ?? "/root") + "/.local/state")
      + "/tutti-receiver"
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Returns the receiver's identity key. Makes one at the first start. Replaces it, with a warning, if the file is
  /// damaged or was copied from another machine with the rest of its disk, because senders take two receivers with one
  /// identity for one.
  func identityKey(_ journal: any ReceiverJournal) throws -> IdentityKey {
    ProcessMemory.hide()
    let file = StateFile(path: directory + "/receiver-key.pem")
    let hardware = HardwareIdentity()
    if let pem = try content(of: file, limit: 4096) {
      let key = try? IdentityKey(pem: pem)
      let known = knownHardware
      if let key, hardware.mayBe(known) {
        remember(hardware.marks + known.filter { !hardware.marks.contains($0) }, journal)
        return key
      }
      journal.warning(
        "the receiver's identity is new, so senders take it for another receiver",
        key == nil ? "\(file.path) was damaged" : "\(directory) was copied from another machine")
    }
    let key = try IdentityKey.generate()
    let pem = try key.pem()
    do throws(IOError) {
      try file.write(pem)
    } catch {
      throw StartFailure.unavailable(
        "cannot keep the receiver's identity: \(error); repair that, or choose another place with "
          + "--state-dir")
    }
    remember(hardware.marks, journal)
    return key
  }

  private var hardwareFile: StateFile { StateFile(path: directory + "/receiver-hardware") }

  /// Marks of the machine that the identity was made on; empty if none are stored.
  private var knownHardware: [String] {
    let bytes = (try? hardwareFile.read(limit: 4096)) ?? nil
    return String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func remember(_ marks: [String], _ journal: any ReceiverJournal) {
    let kept = Array(marks.prefix(HardwareIdentity.mostMarks))
    guard kept != knownHardware else { return }
    do throws(IOError) {
      try hardwareFile.write(Array(kept.joined(separator: "\n").utf8))
    } catch {
      journal.warning("a copy of this machine's disk would not be noticed", "\(error)")
    }
  }

  private var memoryFile: StateFile { StateFile(path: directory + "/memory") }

  func memory(_ volumes: ReceiverVolumes, _ journal: any ReceiverJournal) -> ReceiverMemory {
    var memory = ReceiverMemory()
    memory.settings.volume = volumes.start
    do throws(IOError) {
      let bytes = try content(of: memoryFile, limit: 64 << 10) ?? []
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      let damaged = lines.count { !memory.take($0.split(separator: " ").map(String.init)) }
      if damaged > 0 {
        journal.warning(
          "a part of the saved state could not be read",
          "\(memoryFile.path): \(damaged) of \(lines.count) lines are damaged")
      }
    } catch {
      journal.warning("the saved state could not be read", "\(error)")
    }
    if let limit = volumes.limit {
      memory.settings.volumeLimit = VolumeLimit(limit, isFixed: true)
    }
    memory.settings.limitVolume()
    return memory
  }

  /// Returns who is trusted, and makes a PIN if there is none. If the file cannot be read, nobody is trusted.
  func trust(_ file: TrustFile, _ journal: any ReceiverJournal) -> TrustRecord {
    do {
      return try file.change { record in
        if record.pin == nil { try record.makePIN() }
        return record
      }
    } catch {
      journal.warning("nobody can be paired, and pairings may be lost", "\(error)")
      return (try? file.read()) ?? TrustRecord()
    }
  }

  /// Reads a file. A file beyond the limit counts as damaged.
  private func content(of file: StateFile, limit: Int) throws(IOError) -> [UInt8]? {
    do throws(IOError) {
      return try file.read(limit: limit)
    } catch  where error.code == EFBIG {
      return Array("damaged".utf8)
    }
  }

  /// A thread that writes the stored settings, because an SD card sometimes takes seconds.
  func writer(_ journal: any ReceiverJournal) throws(IOError) -> NewestValueThread<ReceiverMemory> {
    let file = memoryFile
    return try NewestValueThread(name: "state") {
      { memory in
        do throws(IOError) {
          try file.write(Array(memory.lines.joined(separator: "\n").utf8))
        } catch {
          journal.warning("settings could not be kept", "\(error)")
        }
      }
    }
  }
}

extension ReceiverMemory {
  fileprivate var lines: [String] {
    let map = settings.channelMap.rawValue
    var lines = [
      "muted \(settings.isMuted)", "delay_ns \(settings.delay.count)", "channel_map \(map)",
    ]
    if hasVolume { lines.append("volume \(settings.volume)") }
    if let limit = settings.volumeLimit { lines.append("volume_limit \(limit.volume)") }
    if let sound = settings.sound { lines.append("sound \(sound.hex)") }
    if let deviceDrift { lines.append("device_drift \(deviceDrift)") }
    lines += clockDrifts.map { "clock_drift \($0.sender.hex) \($0.drift)" }
    lines += terms.map { "term \($0.sender.hex) \($0.term)" }
    return lines
  }

  /// Returns false if the line has no usable value.
  fileprivate mutating func take(_ words: [String]) -> Bool {
    guard words.count >= 2 else { return false }
    switch words[0] {
    case "volume":
      guard let volume = UInt16(words[1]), ProtocolLimits.volume.contains(volume) else {
        return false
      }
      (settings.volume, hasVolume) = (volume, true)
    case "volume_limit":
      guard let limit = UInt16(words[1]), ProtocolLimits.volumeLimit.contains(limit) else {
        return false
      }
      settings.volumeLimit = VolumeLimit(limit)
    case "muted":
      guard let isMuted = Bool(words[1]) else { return false }
      settings.isMuted = isMuted
    case "delay_ns":
      guard let delay = Int64(words[1]), ProtocolLimits.roomDelay.contains(delay) else {
        return false
      }
      settings.delay = Nanoseconds(delay)
    case "channel_map":
      guard let map = UInt8(words[1]).flatMap(RoomSettings.ChannelMap.init) else { return false }
      settings.channelMap = map
    case "sound":
      guard let sound = SoundSetting(hex: words[1]) else { return false }
      settings.sound = sound
    case "device_drift":
      guard let drift = Double(words[1]).flatMap(plausible) else { return false }
      deviceDrift = drift
    case "clock_drift":
      guard words.count == 3, clockDrifts.count < 16, let sender = Identifier(hex: words[1]),
        let drift = Double(words[2]).flatMap(plausible)
      else { return false }
      clockDrifts.append(.init(sender: sender, drift: drift))
    case "term":
      guard words.count == 3, terms.count < Self.termLimit, let sender = Identifier(hex: words[1]),
        let term = Term(words[2])
      else { return false }
      terms.append(.init(sender: sender, term: term))
    default: return false
    }
    return true
  }

  /// No crystal is off by more than 500 ppm.
  private func plausible(_ drift: Double) -> Double? { abs(drift) < 5e-4 ? drift : nil }
}

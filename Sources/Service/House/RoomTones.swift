import LinuxIO

/// Three tones by which people find a silent room. They are kept in a file, for they are played as any file is.
enum RoomTones {
  static let rate = 48_000

  /// A fifth, up and down.
  private static var file: [UInt8] { file(of: [659.26, 987.77, 659.26].flatMap(tone)) }

  /// A WAV file of one channel.
  static func file(of samples: [Int16]) -> [UInt8] {
    let bytes = samples.flatMap { little(UInt32(UInt16(bitPattern: $0)), 2) }
    let format = little(1, 2) + little(1, 2) + little(UInt32(rate), 4) + little(UInt32(2 * rate), 4)
    return Array("RIFF".utf8) + little(UInt32(36 + bytes.count), 4) + Array("WAVEfmt ".utf8)
      + little(16, 4) + format + little(2, 2) + little(16, 2) + Array("data".utf8)
      + little(UInt32(bytes.count), 4) + bytes
  }

  /// 0.3 s that die away, of a pitch in Hz far below the rate.
  static func tone(_ pitch: Double) -> [Int16] {
    // Turned a little further for each sample; the first terms of the series are exact enough for so small an angle.
    let angle = 2 * .pi * pitch / Double(rate)
    let square = angle * angle
    let cosine = 1 - square / 2 * (1 - square / 12 * (1 - square / 30))
    let sine = angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)))
    var (x, y) = (1.0, 0.0)
    return (0..<rate * 3 / 10).map { index in
      (x, y) = ((x * cosine - y * sine) * 0.9998, (x * sine + y * cosine) * 0.9998)
      return Int16(9_000 * min(1, Double(index) / 480) * y)
    }
  }

  private static func little(_ number: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// - Parameter path: of the household's tables.
  static func path(beside path: String) -> String { path + ".tones.wav" }

  /// Writes the file unless it is there. At the start, when waiting for the disk does no harm.
  static func keep(beside path: String) throws(IOError) {
    try keep(file, at: Self.path(beside: path))
  }

  static func keep(_ bytes: [UInt8], at path: String) throws(IOError) {
    let file = StateFile(path: path)
    guard (try? file.read(limit: 1 << 20)) != bytes else { return }
    try file.write(bytes)
  }
}

/// The sound of an alarm that has no music, or whose music cannot be had: three tones, twice, and as long a rest.
enum AlarmTone {
  private static var file: [UInt8] {
    let bar = [523.25, 659.26, 783.99].flatMap(RoomTones.tone)
    let rest = [Int16](repeating: 0, count: RoomTones.rate * 3 / 5)
    return RoomTones.file(of: bar + rest + bar + rest + rest + rest)
  }

  /// - Parameter path: of the household's tables.
  static func path(beside path: String) -> String { path + ".alarm.wav" }

  static func keep(beside path: String) throws(IOError) {
    try RoomTones.keep(file, at: Self.path(beside: path))
  }
}

extension House {
  func keepTones() {
    do throws(IOError) {
      try RoomTones.keep(beside: settings.path)
    } catch {
      listener.warning("silent rooms cannot play the sound that identifies them: \(error)")
    }
  }

  func keepAlarmTone() {
    do throws(IOError) {
      try AlarmTone.keep(beside: settings.path)
    } catch {
      listener.warning("alarms have no sound but music: \(error)")
    }
  }
}

import Audio

/// Layout: docs/protocol/control-messages.md. All values travel as whole numbers of their steps, so that each side has the
/// same.
extension SoundSetting {
  private static let onFlag: UInt8 = 1
  private static let loudnessFlag: UInt8 = 2
  private static let crossfeedFlag: UInt8 = 4
  private static let usesFIRFlag: UInt8 = 8
  /// From a receiver only.
  static let hasFIRFlag: UInt8 = 16

  init(decoding reader: inout ByteReader) throws(DecodeError) {
    var hasFIR = false
    try self.init(decoding: &reader, hasFIR: &hasFIR)
  }

  init(decoding reader: inout ByteReader, hasFIR: inout Bool) throws(DecodeError) {
    self.init()
    let flags = try reader.uint8("sound flags")
    isOn = flags & Self.onFlag != 0
    hasLoudness = flags & Self.loudnessFlag != 0
    hasCrossfeed = flags & Self.crossfeedFlag != 0
    usesFIR = flags & Self.usesFIRFlag != 0
    hasFIR = flags & Self.hasFIRFlag != 0
    crossover = try reader.crossover()
    bass = try reader.steps(Self.toneRange, per: 100, "bass")
    treble = try reader.steps(Self.toneRange, per: 100, "treble")
    balance = try reader.steps(Self.balanceRange, per: 1, "balance")
    distance = try reader.steps(Self.distanceRange, per: 1_000, "distance")
    let count = try reader.uint8("band count")
    guard count <= Self.mostBands else {
      throw .outOfRange(field: "band count", value: Int64(count))
    }
    for _ in 0..<count { bands.append(try reader.band()) }
  }

  func encode(to writer: inout ByteWriter, hasFIR: Bool = false) {
    var flags = isOn ? Self.onFlag : 0
    if hasLoudness { flags |= Self.loudnessFlag }
    if hasCrossfeed { flags |= Self.crossfeedFlag }
    if usesFIR { flags |= Self.usesFIRFlag }
    if hasFIR { flags |= Self.hasFIRFlag }
    writer.uint8(flags)
    writer.uint8(crossover?.part.rawValue ?? 0)
    writer.uint16(crossover.map { UInt16(clamping: Int(($0.frequency * 10).rounded())) } ?? 0)
    writer.steps(bass, Self.toneRange, per: 100)
    writer.steps(treble, Self.toneRange, per: 100)
    writer.steps(balance, Self.balanceRange, per: 1)
    writer.steps(distance, Self.distanceRange, per: 1_000)
    let bands = bands.prefix(Self.mostBands)
    writer.uint8(UInt8(bands.count))
    for band in bands {
      writer.uint8(band.kind.rawValue)
      writer.uint32(UInt32(clamping: Int((band.frequency * 10).rounded())))
      writer.steps(band.gain, SoundBand.gainRange, per: 100)
      writer.steps(band.q, SoundBand.qRange, per: 100)
    }
  }
}

extension SoundSetting {
  /// The bytes of its message in hexadecimal digits, as receivers keep it.
  package var hex: String {
    var bytes: [UInt8] = []
    ByteWriter.message(MessageType.sound, appendingTo: &bytes) { encode(to: &$0) }
    return bytes.dropFirst(MessageFramer.headerByteCount)
      .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Nil if it is none, or a value is out of range.
  package init?(hex: String) {
    let digits = Array(hex.utf8)
    guard digits.count.isMultiple(of: 2), digits.count <= 2 * Self.mostEncodedBytes else {
      return nil
    }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[index...(index + 1)], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    var reader = ByteReader(bytes[...])
    guard let setting = try? SoundSetting(decoding: &reader) else { return nil }
    self = setting
  }

  private static let mostEncodedBytes = 256
}

extension ByteReader {
  /// Reads a signed number of steps within a range.
  fileprivate mutating func steps(
    _ range: ClosedRange<Double>, per unit: Double, _ field: String
  ) throws(DecodeError) -> Double {
    let steps = Int16(bitPattern: try uint16(field))
    let value = Double(steps) / unit
    guard range.contains(value) else { throw .outOfRange(field: field, value: Int64(steps)) }
    return value
  }

  fileprivate mutating func crossover() throws(DecodeError) -> Crossover? {
    let number = try uint8("crossover part")
    let tenths = try uint16("crossover frequency")
    guard number != 0 else { return nil }
    guard let part = Crossover.Part(rawValue: number) else {
      throw .outOfRange(field: "crossover part", value: Int64(number))
    }
    guard Crossover.frequencyRange.contains(Double(tenths) / 10) else {
      throw .outOfRange(field: "crossover frequency", value: Int64(tenths))
    }
    return Crossover(part, frequency: Double(tenths) / 10)
  }

  fileprivate mutating func band() throws(DecodeError) -> SoundBand {
    let number = try uint8("band kind")
    guard let kind = SoundBand.Kind(rawValue: number) else {
      throw .outOfRange(field: "band kind", value: Int64(number))
    }
    let tenths = try uint32("band frequency")
    guard SoundBand.frequencyRange.contains(Double(tenths) / 10) else {
      throw .outOfRange(field: "band frequency", value: Int64(tenths))
    }
    return SoundBand(
      kind, frequency: Double(tenths) / 10,
      gain: try steps(SoundBand.gainRange, per: 100, "band gain"),
      q: try steps(SoundBand.qRange, per: 100, "band q"))
  }
}

extension ByteWriter {
  fileprivate mutating func steps(
    _ value: Double, _ range: ClosedRange<Double>, per unit: Double
  ) {
    let limited = min(max(value, range.lowerBound), range.upperBound)
    uint16(UInt16(bitPattern: Int16((limited * unit).rounded())))
  }
}

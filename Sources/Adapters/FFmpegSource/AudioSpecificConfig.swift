/// The configuration of an AAC decoder (ISO 14496-3, 1.6), as far as pass-through needs it.
struct AudioSpecificConfig: Equatable {
  static let rates = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
    7_350,
  ]
  private static let lowComplexity = 2
  private static let bandReplication = 5
  private static let parametricStereo = 29

  let bytes: [UInt8]
  /// Sample rate of the core coder in Hz; with SBR, the frames have twice that rate.
  let coreRate: Int
  let coreChannelCount: Int
  /// True if the configuration itself declares SBR.
  let signalsBandReplication: Bool
  /// Frames of the core coder in one packet: 1024, or 960.
  let coreFrameCount: Int

  /// Returns nil for bytes that are no configuration, or one of another object type than AAC-LC, with or
  /// without SBR and PS.
  init?(_ bytes: [UInt8]) {
    var reader = BitReader(bytes)
    var type = Self.objectType(&reader)
    guard let rate = Self.rate(&reader) else { return nil }
    let channels = reader.read(4)
    var hasReplication = false
    if type == Self.bandReplication || type == Self.parametricStereo {
      hasReplication = true
      guard Self.rate(&reader) != nil else { return nil }
      type = Self.objectType(&reader)
    }
    let isShort = reader.read(1) == 1
    let dependsOnCore = reader.read(1) == 1
    let isExtended = reader.read(1) == 1
    // Without a channel configuration, the packets themselves would define the channels.
    guard type == Self.lowComplexity, (1...7).contains(channels), !dependsOnCore, !isExtended,
      !reader.isPastEnd
    else { return nil }
    self.bytes = bytes
    coreRate = rate
    coreChannelCount = channels == 7 ? 8 : channels
    coreFrameCount = isShort ? 960 : 1_024
    signalsBandReplication = hasReplication || Self.extensionSignals(&reader)
  }

  /// Reads an extension that older decoders take for padding: a mark, the object type, and a bit for SBR.
  private static func extensionSignals(_ reader: inout BitReader) -> Bool {
    guard reader.bitsLeft >= 17, reader.read(11) == 0x2b7 else { return false }
    return reader.read(5) == bandReplication && reader.read(1) == 1
  }

  private static func objectType(_ reader: inout BitReader) -> Int {
    let type = reader.read(5)
    return type == 31 ? 32 + reader.read(6) : type
  }

  private static func rate(_ reader: inout BitReader) -> Int? {
    let index = reader.read(4)
    if index == 15 { return reader.read(24) }
    return index < rates.count ? rates[index] : nil
  }

  /// Makes the configuration that an ADTS header describes.
  init?(_ header: ADTSHeader) {
    self.init(
      Self.pack([
        (Self.lowComplexity, 5), (header.rateIndex, 4), (header.channelConfiguration, 4), (0, 3),
      ]))
  }

  /// Returns the same stream with explicit SBR, and with PS if one channel becomes two. Nil if this
  /// configuration cannot yield such frames.
  func signalling(rate: Int, channelCount: Int) -> AudioSpecificConfig? {
    let isStereo = coreChannelCount == 1 && channelCount == 2
    guard isStereo || channelCount == coreChannelCount else { return nil }
    if rate == coreRate { return isStereo ? nil : self }
    guard rate == 2 * coreRate else { return nil }
    if signalsBandReplication { return self }
    guard let core = Self.rates.firstIndex(of: coreRate),
      let output = Self.rates.firstIndex(of: rate), coreChannelCount < 8
    else { return nil }
    return AudioSpecificConfig(
      Self.pack([
        (isStereo ? Self.parametricStereo : Self.bandReplication, 5), (core, 4),
        (coreChannelCount, 4), (output, 4), (Self.lowComplexity, 5),
        (coreFrameCount == 960 ? 1 : 0, 1), (0, 2),
      ]))
  }

  private static func pack(_ fields: [(value: Int, bits: Int)]) -> [UInt8] {
    var bytes: [UInt8] = []
    var used = 0
    for field in fields {
      for bit in (0..<field.bits).reversed() {
        if used % 8 == 0 { bytes.append(0) }
        bytes[used / 8] |= UInt8(field.value >> bit & 1) << UInt8(7 - used % 8)
        used += 1
      }
    }
    return bytes
  }
}

/// The header before each AAC packet in a stream without a container (ISO 13818-7, 6.2).
struct ADTSHeader: Equatable {
  let rateIndex: Int
  let channelConfiguration: Int
  /// Size of the header, including its checksum.
  let byteCount: Int

  /// Returns nil if there is no header, if it is not of AAC-LC, or if more than one packet follows it.
  init?(_ packet: [UInt8]) {
    var reader = BitReader(packet.prefix(7))
    guard packet.count > 7, reader.read(12) == 0xfff else { return nil }
    _ = reader.read(1)
    guard reader.read(2) == 0 else { return nil }
    byteCount = reader.read(1) == 1 ? 7 : 9
    guard reader.read(2) == 1 else { return nil }
    rateIndex = reader.read(4)
    _ = reader.read(1)
    channelConfiguration = reader.read(3)
    _ = reader.read(4)
    guard reader.read(13) == packet.count else { return nil }
    _ = reader.read(11)
    guard reader.read(2) == 0, packet.count > byteCount else { return nil }
  }
}

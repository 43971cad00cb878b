import Clock

/// The header of a packet of MPEG audio, AAC, AC-3 or E-AC-3, in streams that consist only of such packets.
struct PacketHeader {
  /// Size of the whole packet.
  let byteCount: Int
  /// The header's fields that are equal in all packets of a stream.
  let shape: Int
  /// Nil for AC-3 and E-AC-3.
  let duration: MediaDuration?

  /// Reads the header at `place`; nil if there is none.
  init?(_ bytes: [UInt8], at place: Int) {
    guard place >= 0, place + 7 <= bytes.count else { return nil }
    let head = bytes[place..<place + 7].map(Int.init)
    let header: (Int, Int, MediaDuration?)? =
      switch (head[0], head[1]) {
      case (0xff, let next): next & 0xf6 == 0xf0 ? Self.adts(head) : Self.mpeg(head)
      case (0x0b, 0x77): head[5] >> 3 > 10 ? Self.enhancedDolby(head) : Self.dolby(head)
      default: nil
      }
    guard let header else { return nil }
    (byteCount, shape, duration) = header
  }

  /// ISO 11172-3, 2.4.1.3, and 13818-3 for the lower rates.
  private static func mpeg(_ head: [Int]) -> (Int, Int, MediaDuration?)? {
    let (version, layer) = (head[1] >> 3 & 3, 4 - (head[1] >> 1 & 3))
    let (rateIndex, baseIndex) = (head[2] >> 4, head[2] >> 2 & 3)
    guard head[1] & 0xe0 == 0xe0, version != 1, layer != 4, (1...14).contains(rateIndex),
      baseIndex < 3
    else { return nil }
    let isLow = version != 3
    let kilobits = bitRates[isLow ? (layer == 1 ? 3 : 4) : layer - 1][rateIndex - 1]
    let rate = [44_100, 48_000, 32_000][baseIndex] >> [2: 1, 0: 2, 3: 0][version, default: 0]
    let padding = head[2] >> 1 & 1
    let shape = (head[1] & 0xfe) << 8 | head[2] & 0x0c
    if layer == 1 {
      return (
        (12_000 * kilobits / rate + padding) * 4, shape, MediaDuration(frames: 384, at: rate)
      )
    }
    let frames = layer == 3 && isLow ? 576 : 1_152
    return (
      frames / 8 * 1_000 * kilobits / rate + padding, shape,
      MediaDuration(frames: Int64(frames), at: rate)
    )
  }

  /// ISO 13818-7, 6.2.
  private static func adts(_ head: [Int]) -> (Int, Int, MediaDuration?)? {
    let byteCount = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
    let rateIndex = head[2] >> 2 & 15
    guard byteCount > 7, rateIndex < adtsRates.count else { return nil }
    let frames = Int64(1_024 * (1 + (head[6] & 3)))
    return (
      byteCount, (head[1] & 0xfe) << 16 | (head[2] & 0xfd) << 8 | head[3] & 0xc0,
      MediaDuration(frames: frames, at: adtsRates[rateIndex])
    )
  }

  /// A/52, 5.3 and table 5.18. At 44.1 kHz, where packets differ in size, places are not computed.
  private static func dolby(_ head: [Int]) -> (Int, Int, MediaDuration?)? {
    let (rateCode, sizeCode, version) = (head[4] >> 6, head[4] & 0x3f, head[5] >> 3)
    guard rateCode == 0 || rateCode == 2, sizeCode / 2 < dolbyBitRates.count, version <= 8 else {
      return nil
    }
    let bytesPerKilobit = rateCode == 0 ? 4 : 6
    return (dolbyBitRates[sizeCode / 2] * bytesPerKilobit, head[4] << 8 | version, nil)
  }

  /// A/52, E.1.2. Accepts only packets of one substream and six blocks: in other streams, several form one
  /// access unit.
  private static func enhancedDolby(_ head: [Int]) -> (Int, Int, MediaDuration?)? {
    let (type, substream) = (head[2] >> 6, head[2] >> 3 & 7)
    let (rateCode, blockCode, version) = (head[4] >> 6, head[4] >> 4 & 3, head[5] >> 3)
    let byteCount = 2 * ((head[2] & 7) << 8 | head[3] + 1)
    guard type != 1, type != 3, substream == 0, rateCode != 3, blockCode == 3, version <= 16,
      byteCount > 7
    else { return nil }
    return (byteCount, (head[4] & 0xf0) << 4 | version, nil)
  }

  /// ISO 14496-3, table 1.18.
  private static let adtsRates = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
    7_350,
  ]

  /// Frames of six blocks.
  static let dolbyFrameCount: Int64 = 1_536

  /// In kbit/s.
  private static let dolbyBitRates = [
    32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
  ]

  /// In kbit/s: for layers 1, 2 and 3, then for layer 1 and the others at the lower sample rates.
  static let bitRates = [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ]

  /// Returns the first index in `bytes`, from `start` on, at which three consecutive packets begin.
  static func firstPacket(in bytes: [UInt8], from start: Int) -> Int? {
    var place = max(0, start)
    while place + 7 <= bytes.count {
      if bytes[place] == 0xff || bytes[place] == 0x0b, beginsRow(bytes, at: place) { return place }
      place += 1
    }
    return nil
  }

  private static func beginsRow(_ bytes: [UInt8], at start: Int) -> Bool {
    guard let first = PacketHeader(bytes, at: start) else { return false }
    var place = start + first.byteCount
    for _ in 0..<2 {
      guard let next = PacketHeader(bytes, at: place), next.shape == first.shape else {
        return false
      }
      place += next.byteCount
    }
    return true
  }
}

/// The first frame of an MP3 stream, in which encoders record delay and padding. FFmpeg applies them but does
/// not report them, and the stream's length depends on them.
enum MP3Tag {
  /// In bytes: an MPEG audio frame is never longer.
  static let frameLimit = 1_441
  /// The decoder's own delay in frames, which the padding must cover.
  private static let decoderDelay: Int64 = 529

  /// Returns the number of decoded frames at the end that are not part of the recording. Nil if there is no
  /// such tag.
  static func endPadding(of file: MediaFile?, before offset: Int64?) -> Int64? {
    guard let file, let offset, offset > 0 else { return nil }
    let start = max(0, Int(offset) - frameLimit)
    var bytes = [UInt8](repeating: 0, count: Int(offset) - start)
    guard file.read(into: &bytes, count: bytes.count, from: Int64(start)) == bytes.count else {
      return nil
    }
    return endPadding(in: bytes)
  }

  static func endPadding(in bytes: [UInt8]) -> Int64? {
    guard let tag = lastPlace(of: ["Xing", "Info"], in: bytes) else { return nil }
    // The flags tell which of frame count, byte count, table of contents and quality precede the rest.
    let flags = bytes[tag + 7]
    let sizes = [4, 4, 100, 4].enumerated().map { flags >> $0 & 1 == 1 ? $1 : 0 }
    let encoder = tag + 8 + sizes.reduce(0, +)
    guard bytes.count >= encoder + 24 else { return 0 }
    let encoders = ["LAME", "Lavf", "Lavc"].map { Array($0.utf8) }
    guard encoders.contains(Array(bytes[encoder..<encoder + 4])) else { return 0 }
    let padding = Int64(bytes[encoder + 22] & 0x0F) << 8 | Int64(bytes[encoder + 23])
    return max(0, padding - decoderDelay)
  }

  /// Returns the last index of one of the names that has at least eight bytes from there on.
  fileprivate static func lastPlace(of names: [String], in bytes: [UInt8]) -> Int? {
    let names = names.map { Array($0.utf8) }
    return bytes.indices.dropLast(8).last { names.contains(Array(bytes[$0..<$0 + 4])) }
  }
}

/// The distribution of an MP3 stream's bytes over its time, from the encoder's tag; exact to about 1/256 of the
/// whole.
struct MP3Table {
  /// The share of bytes up to equidistant times, from 0 to 1.
  private let shares: [Double]

  /// Returns nil if there is no table.
  init?(_ tag: [UInt8]) {
    guard let shares = Self.xing(tag) ?? Self.vbri(tag), shares.count > 2,
      zip(shares, shares.dropFirst()).allSatisfy({ $0 <= $1 })
    else { return nil }
    self.shares = shares
  }

  /// Returns the share of bytes before `time`.
  ///
  /// - Parameter time: share of the whole time.
  func share(at time: Double) -> Double {
    let place = min(max(0, time), 1) * Double(shares.count - 1)
    let index = min(Int(place), shares.count - 2)
    return shares[index] + (shares[index + 1] - shares[index]) * (place - Double(index))
  }

  /// Reads a table of a hundred bytes, each in 256ths of the whole.
  private static func xing(_ bytes: [UInt8]) -> [Double]? {
    guard let tag = MP3Tag.lastPlace(of: ["Xing", "Info"], in: bytes) else { return nil }
    let flags = bytes[tag + 7]
    let start = tag + 8 + Int(flags & 1) * 4 + Int(flags >> 1 & 1) * 4
    guard flags & 4 != 0, bytes.count >= start + 100 else { return nil }
    return bytes[start..<start + 100].map { Double($0) / 256 } + [1]
  }

  /// Reads a table of the sizes of equal stretches of time.
  private static func vbri(_ bytes: [UInt8]) -> [Double]? {
    guard let tag = MP3Tag.lastPlace(of: ["VBRI"], in: bytes), bytes.count >= tag + 26 else {
      return nil
    }
    func number(_ place: Int, _ count: Int) -> Int {
      bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }
    let (count, width) = (number(tag + 18, 2), number(tag + 22, 2))
    guard (1...4).contains(width), bytes.count >= tag + 26 + count * width else { return nil }
    var sums = [0]
    for index in 0..<count { sums.append(sums[index] + number(tag + 26 + index * width, width)) }
    guard let whole = sums.last, whole > 0 else { return nil }
    return sums.map { Double($0) / Double(whole) }
  }
}

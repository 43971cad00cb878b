/// Reads the bits of a header, the highest first. Beyond the end it reads zeros, and `isPastEnd` is
/// true.
struct BitReader {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  var isPastEnd: Bool { position > bytes.count * 8 }
  var bitsLeft: Int { bytes.count * 8 - position }

  /// - Parameter count: at most 32.
  mutating func read(_ count: Int) -> Int {
    var value = 0
    for _ in 0..<count {
      let byte = position / 8 < bytes.count ? bytes[position / 8] : 0
      value = value << 1 | Int(byte >> UInt8(7 - position % 8) & 1)
      position += 1
    }
    return value
  }
}

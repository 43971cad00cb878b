import Foundation

/// A DSF file of one bit a sample in two channels, at 2.8224 MHz.
enum DSDFile {
  private static let rate = 2_822_400
  /// Bytes of one channel before those of the other.
  private static let block = 4_096

  /// Writes a sine at half of full scale.
  static func writeSine(_ frequency: Double, seconds: Int, to path: String) throws {
    try Data(sine(frequency, seconds: seconds)).write(to: URL(fileURLWithPath: path))
  }

  /// Makes the sine with a second-order modulator.
  private static func sine(_ frequency: Double, seconds: Int) -> [UInt8] {
    let blocks = seconds * rate / 8 / block
    var bits: [UInt8] = []
    var (first, second, output) = (0.0, 0.0, 0.0)
    for byte in 0..<blocks * block {
      var value: UInt8 = 0
      for bit in 0..<8 {
        let input = 0.5 * sin(2 * .pi * frequency * Double(byte * 8 + bit) / Double(rate))
        first += input - output
        second += first - 2 * output
        output = second >= 0 ? 1 : -1
        if output > 0 { value |= 1 << UInt8(bit) }
      }
      bits.append(value)
    }
    return file(bits, blocks: blocks)
  }

  private static func file(_ bits: [UInt8], blocks: Int) -> [UInt8] {
    let size = 2 * bits.count
    var bytes = Array("DSD ".utf8) + number(28, 8) + number(28 + 52 + 12 + size, 8) + number(0, 8)
    bytes += Array("fmt ".utf8) + number(52, 8) + number(1, 4) + number(0, 4) + number(2, 4)
    bytes += number(2, 4) + number(rate, 4) + number(1, 4) + number(bits.count * 8, 8)
    bytes += number(block, 4) + number(0, 4) + Array("data".utf8) + number(12 + size, 8)
    for place in 0..<blocks {
      let part = bits[place * block..<(place + 1) * block]
      bytes += part + part
    }
    return bytes
  }

  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

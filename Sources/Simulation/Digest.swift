/// A hash, similar to FNV-1a, of all actions of the programs under test, in order: equal seeds give
/// equal hashes.
package struct Digest: Hashable, Sendable {
  package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  mutating func add(_ number: UInt64) {
    value = (value ^ number) &* 0x0000_0100_0000_01b3
    value ^= value >> 29
  }

  mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }
  mutating func add(_ number: Int) { add(Int64(number)) }
  mutating func add(_ number: Double) { add(number.bitPattern) }

  mutating func add(_ bytes: [UInt8]) {
    add(bytes.count)
    var word: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      word = word << 8 | UInt64(byte)
      if index % 8 == 7 {
        add(word)
        word = 0
      }
    }
    add(word)
  }
}

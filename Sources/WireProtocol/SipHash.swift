/// The key of the clock's packets. It belongs to one control connection, and is the same at both ends.
package struct ClockKey: Hashable, Sendable {
  fileprivate let low: UInt64
  fileprivate let high: UInt64

  /// Takes sixteen bytes; those that are missing count as 0.
  package init(_ bytes: [UInt8]) {
    low = bytes.prefix(8).littleEndianInteger
    high = bytes.dropFirst(8).prefix(8).littleEndianInteger
  }
}

/// SipHash-2-4 by Aumasson and Bernstein: a keyed hash that is fast for short messages. Its 64 bits show whether
/// somebody who has the key made a packet.
package enum SipHash {
  package static func hash(_ message: ArraySlice<UInt8>, key: ClockKey) -> UInt64 {
    var state = State(key)
    var rest = message
    while rest.count >= 8 {
      state.compress(rest.prefix(8).littleEndianInteger)
      rest = rest.dropFirst(8)
    }
    state.compress(rest.littleEndianInteger | UInt64(truncatingIfNeeded: message.count) << 56)
    return state.finish()
  }

  private struct State {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ key: ClockKey) {
      v0 = key.low ^ 0x736f_6d65_7073_6575
      v1 = key.high ^ 0x646f_7261_6e64_6f6d
      v2 = key.low ^ 0x6c79_6765_6e65_7261
      v3 = key.high ^ 0x7465_6462_7974_6573
    }

    mutating func compress(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func finish() -> UInt64 {
      v2 ^= 0xff
      for _ in 0..<4 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
      v0 &+= v1
      v2 &+= v3
      v1 = v1.turned(13) ^ v0
      v3 = v3.turned(16) ^ v2
      v0 = v0.turned(32)
      v2 &+= v1
      v0 &+= v3
      v1 = v1.turned(17) ^ v2
      v3 = v3.turned(21) ^ v0
      v2 = v2.turned(32)
    }
  }
}

extension UInt64 {
  fileprivate func turned(_ bits: UInt64) -> UInt64 { self << bits | self >> (64 - bits) }
}

extension ArraySlice<UInt8> {
  /// The integer of at most eight bytes, the first one least.
  fileprivate var littleEndianInteger: UInt64 { reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}

package import Clock
import WireProtocol

/// A live item.
package struct SimulatedLive: Sendable {
  /// Index in the list.
  package var item: Int
  package var latency: Nanoseconds
  /// True if it moves to another latency when told to, as fast as real sources do while there is sound.
  package var adapts: Bool

  package init(item: Int = 0, latency: Nanoseconds, adapts: Bool = false) {
    self.adapts = adapts
    self.item = item
    self.latency = latency
  }

  static let location = "live"
  static let port: UInt16 = 4001
  static let key = [UInt8](repeating: 7, count: LiveStream.keyByteCount)
}

/// Hides nothing, but detects each change, as a cipher does.
package struct SimulatedCipher: DatagramCipher {
  package init() {}

  package func seal(_ plain: [UInt8], header: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    plain + tag(header[...], plain[...], key, nonce)
  }

  package func open(
    _ sealed: ArraySlice<UInt8>, header: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8]
  ) -> [UInt8]? {
    guard sealed.count >= LiveDatagram.tagByteCount else { return nil }
    let plain = sealed.dropLast(LiveDatagram.tagByteCount)
    guard tag(header, plain, key, nonce) == Array(sealed.suffix(LiveDatagram.tagByteCount)) else {
      return nil
    }
    return Array(plain)
  }

  private func tag(
    _ header: ArraySlice<UInt8>, _ plain: ArraySlice<UInt8>, _ key: [UInt8], _ nonce: [UInt8]
  ) -> [UInt8] {
    let covered = header + nonce + plain
    let half = TimePacket.tag(of: covered, key: ClockKey(key))
    return half + TimePacket.tag(of: covered, key: ClockKey(Array(key.suffix(16)) + half))
  }
}

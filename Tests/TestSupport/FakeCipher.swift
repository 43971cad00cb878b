import WireProtocol

/// Hides nothing, but notices each change, like a real cipher.
package struct FakeCipher: DatagramCipher {
  package init() {}

  package func seal(_ plain: [UInt8], header: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    plain + tag(header[...], plain[...], key, nonce)
  }

  package func open(
    _ sealed: ArraySlice<UInt8>, header: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8]
  ) -> [UInt8]? {
    guard sealed.count >= 16 else { return nil }
    let plain = sealed.dropLast(16)
    return tag(header, plain, key, nonce) == Array(sealed.suffix(16)) ? Array(plain) : nil
  }

  private func tag(
    _ header: ArraySlice<UInt8>, _ plain: ArraySlice<UInt8>, _ key: [UInt8], _ nonce: [UInt8]
  ) -> [UInt8] {
    let half = TimePacket.tag(of: header + nonce + plain, key: ClockKey(key))
    return half + half
  }
}

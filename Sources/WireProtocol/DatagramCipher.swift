/// Seals datagrams once for all who have the key: an AEAD with a tag of 16 bytes. docs/protocol/live.md says which.
package protocol DatagramCipher: Sendable {
  /// Returns the sealed bytes, with the tag behind them. Nobody calls it twice with one key and one nonce for
  /// different bytes.
  ///
  /// - Parameters:
  ///   - header: covered by the tag, and not part of the result.
  ///   - key: 32 bytes.
  ///   - nonce: 12 bytes.
  func seal(_ plain: [UInt8], header: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]

  /// Returns nil unless all of it is as it was sealed.
  func open(
    _ sealed: ArraySlice<UInt8>, header: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8]
  ) -> [UInt8]?
}

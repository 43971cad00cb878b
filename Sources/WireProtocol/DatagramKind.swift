/// The kinds of datagrams: docs/protocol. A byte of each tells its kind.
package enum DatagramKind: UInt8 {
  case timeRequest = 1
  case timeAnswer = 2
  case ask = 3
  case audio = 4

  /// Place of the byte, behind the magic number and the version.
  private static let offset = 5

  /// Returns nil if the datagram is too short or of no known kind. The rest of it may still be wrong.
  package init?(of datagram: [UInt8]) {
    guard datagram.count > Self.offset else { return nil }
    self.init(rawValue: datagram[Self.offset])
  }
}

/// The versions of the protocol that this program speaks, and the rule by which two sides settle on one. Version 1 was
/// not encrypted, and nothing speaks it any more.
package enum ProtocolVersion {
  package static let oldest: UInt16 = 2
  package static let newest: UInt16 = 2

  /// Begins the first message of each connection and every time packet: "TUTI".
  package static let magic: UInt32 = 0x5455_5449

  /// Returns the version to speak with a sender whose newest is `theirs`; nil if there is none in common.
  package static func common(withNewest theirs: UInt16) -> UInt16? {
    let version = min(newest, theirs)
    return isSpoken(version) ? version : nil
  }

  /// For people: the versions that this program speaks.
  package static var spoken: String {
    oldest == newest ? "\(newest)" : "\(oldest) to \(newest)"
  }

  package static func isSpoken(_ version: UInt16) -> Bool { (oldest...newest).contains(version) }
}

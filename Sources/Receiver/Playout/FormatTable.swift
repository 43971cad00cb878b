import Audio

/// What a format identifier has meant, shared by all packets of that meaning. Session thread only.
final class HeldFormat {
  /// What one takes besides its configuration, in bytes.
  private static let overhead = 256

  let meaning: StreamFormat
  /// Packets of it that are held.
  var packetCount = 0
  /// Identifiers that mean it now.
  var identifierCount = 0

  init(_ meaning: StreamFormat) { self.meaning = meaning }

  /// Bytes that the first packet takes besides its own, and the last gives back. Of formats without a configuration there
  /// are so few that they need not be counted.
  var costOfOneMore: UInt64 {
    guard packetCount == 0, !meaning.configuration.isEmpty else { return 0 }
    return UInt64(meaning.configuration.count + Self.overhead)
  }
}

/// The formats of a media connection by their identifiers, and those of packets that are held. Formats that are alike are
/// one. Its size is bounded: 256 identifiers, and what held packets pay for.
struct FormatTable {
  private var named: [UInt16: HeldFormat] = [:]
  /// Looked up, never walked through.
  private var known: [StreamFormat: HeldFormat] = [:]

  subscript(id: UInt16) -> HeldFormat? { named[id] }

  mutating func define(_ format: StreamFormat, id: UInt16) {
    if named[id]?.meaning == format { return }
    let meaning = known[format] ?? HeldFormat(format)
    known[format] = meaning
    meaning.identifierCount += 1
    if let old = named.updateValue(meaning, forKey: id) { unnamed(old) }
  }

  mutating func forgetIdentifiers() {
    for id in named.keys.sorted() {
      if let old = named.removeValue(forKey: id) { unnamed(old) }
    }
  }

  /// No packet of it is held any more.
  mutating func released(_ format: HeldFormat) {
    if format.identifierCount == 0 { known[format.meaning] = nil }
  }

  private mutating func unnamed(_ format: HeldFormat) {
    format.identifierCount -= 1
    if format.identifierCount == 0, format.packetCount == 0 { known[format.meaning] = nil }
  }

  /// Formats that are kept.
  var count: Int { known.count }
}

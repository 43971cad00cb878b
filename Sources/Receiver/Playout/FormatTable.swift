import Audio

/// A stream format, shared by all packets and identifiers that mean it. Session thread only.
final class HeldFormat {
  /// Memory of one format besides its configuration, in bytes.
  private static let overhead = 256

  let meaning: StreamFormat
  /// Number of held packets in this format.
  var packetCount = 0
  /// Number of identifiers that currently mean this format.
  var identifierCount = 0

  init(_ meaning: StreamFormat) { self.meaning = meaning }

  /// Bytes charged to the first held packet of this format, and returned with the last. Formats without a configuration
  /// are free: there are only a few of them.
  var costOfOneMore: UInt64 {
    guard packetCount == 0, !meaning.configuration.isEmpty else { return 0 }
    return UInt64(meaning.configuration.count + Self.overhead)
  }
}

/// The formats of a media connection by identifier, and those of held packets. Equal formats share one entry. The size
/// is bounded: 256 identifiers, and formats that held packets pay for.
struct FormatTable {
  private var named: [UInt16: HeldFormat] = [:]
  /// Only looked up, never iterated.
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

  /// Drops a format of which no packet is held any more, unless an identifier means it.
  mutating func released(_ format: HeldFormat) {
    if format.identifierCount == 0 { known[format.meaning] = nil }
  }

  private mutating func unnamed(_ format: HeldFormat) {
    format.identifierCount -= 1
    if format.identifierCount == 0, format.packetCount == 0 { known[format.meaning] = nil }
  }

  /// Number of stored formats.
  var count: Int { known.count }
}

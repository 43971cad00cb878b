package import Audio

/// The text record with which a receiver announces itself on the local network. See docs/protocol/README.md.
package struct ReceiverAdvertisement: Hashable, Sendable {
  package static let serviceType = "_tutti._tcp"

  package enum State: String, CaseIterable, Sendable {
    case free
    case busy
  }

  package enum Access: String, CaseIterable, Sendable {
    case paired
    case open
  }
  package var id: Identifier
  package var name: String
  package var model: String
  /// The newest protocol version that the receiver speaks.
  package var version: UInt16
  package var codecs: [Codec]
  package var state: State
  /// Says who may play there; nil if the record does not say.
  package var access: Access?

  package init(
    id: Identifier, name: String, model: String, version: UInt16, codecs: [Codec], state: State,
    access: Access? = nil
  ) {
    self.id = id
    self.name = name
    self.model = model
    self.version = version
    self.codecs = codecs
    self.state = state
    self.access = access
  }
}

extension ReceiverAdvertisement {
  /// The entries, in the order in which the record lists them.
  package var textRecord: [(key: String, value: String)] {
    [
      ("id", id.hex),
      ("name", name.plain(atMost: ProtocolLimits.name)),
      ("model", model.plain(atMost: ProtocolLimits.name)),
      ("version", String(version)),
      ("codecs", codecs.map(\.name).joined(separator: ",")),
      ("state", state.rawValue),
    ] + (access.map { [("access", $0.rawValue)] } ?? [])
  }

  /// Ignores unknown keys, codecs, states and ways of access; a receiver whose state is unknown counts as busy.
  ///
  /// - Throws: `missing` for a key without which a receiver cannot be used, `malformedText` and `tooLong` for
  ///   values that no receiver announces.
  package init(textRecord: [String: String]) throws(DecodeError) {
    guard let hex = textRecord["id"] else { throw .missing(key: "id") }
    guard let id = Identifier(hex: hex) else { throw .malformedText(field: "id") }
    guard let number = textRecord["version"] else { throw .missing(key: "version") }
    guard let version = UInt16(number) else { throw .malformedText(field: "version") }
    let names = (textRecord["codecs"] ?? "").split(separator: ",").prefix(ProtocolLimits.codecs)
    self.init(
      id: id,
      name: try Self.text("name", of: textRecord) ?? id.hex,
      model: try Self.text("model", of: textRecord) ?? "",
      version: version,
      codecs: names.compactMap { name in Codec.allCases.first { $0.name == name } },
      state: textRecord["state"].flatMap(State.init) ?? .busy,
      access: textRecord["access"].flatMap(Access.init))
  }

  private static func text(_ key: String, of record: [String: String]) throws(DecodeError)
    -> String?
  {
    guard let text = record[key] else { return nil }
    let count = text.utf8.count
    guard count <= ProtocolLimits.name else {
      throw .tooLong(field: key, byteCount: count, limit: ProtocolLimits.name)
    }
    guard text.isPlain else { throw .malformedText(field: key) }
    return text
  }
}

extension Codec {
  /// The name in service records, in configuration and on screens.
  package var name: String {
    switch self {
    case .pcm: "pcm"
    case .flac: "flac"
    case .opus: "opus"
    case .mp3: "mp3"
    case .aac: "aac"
    case .alac: "alac"
    case .vorbis: "vorbis"
    case .ac3: "ac3"
    case .eac3: "eac3"
    }
  }
}

extension Identifier {
  /// 32 lower-case hexadecimal digits.
  package var hex: String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  /// Nil unless `hex` is 32 hexadecimal digits of either case.
  package init?(hex: String) {
    let digits = Array(hex.utf8)
    guard digits.count == 2 * Self.byteCount else { return nil }
    var bytes: [UInt8] = []
    for i in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(ofDigit: digits[i]), let low = Self.value(ofDigit: digits[i + 1])
      else { return nil }
      bytes.append(high << 4 | low)
    }
    self.init(bytes)
  }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }
}

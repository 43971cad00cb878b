internal import Audio
internal import Clock
internal import Driver
internal import Sender

extension Media: Hashable {
  public static func == (one: Media, other: Media) -> Bool { one.id == other.id }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The form in which media are stored. Audio that the program makes itself has none: encoding it throws `EncodingError`.
extension Media: Codable {
  private enum Key: String, CodingKey {
    case id, entry, card, pipe, rate, channels, bits, latency
  }

  private enum StoredLatency: String {
    case automatic, deep
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    let id = try values.decode(ID.self, forKey: .id)
    let kind: Kind
    if let entry = try values.decodeIfPresent(PlaylistEntry.self, forKey: .entry) {
      kind = .entry(entry)
    } else if let card = try values.decodeIfPresent(String.self, forKey: .card) {
      kind = try Media.capture(device: card, latency: Self.latency(values)).kind
    } else {
      let format = try PCMFormat(
        sampleRate: values.decode(Int.self, forKey: .rate),
        channelCount: values.decode(Int.self, forKey: .channels),
        resolution: values.decode(Int.self, forKey: .bits) > 16 ? .int24 : .int16)
      kind = try Media.pipe(
        values.decode(String.self, forKey: .pipe), format: format, latency: Self.latency(values)
      ).kind
    }
    self.init(kind: kind, id: id)
  }

  private static func latency(_ values: KeyedDecodingContainer<Key>) throws -> Latency {
    if let nanoseconds = try? values.decode(Int64.self, forKey: .latency) {
      return .fixed(.nanoseconds(nanoseconds))
    }
    switch StoredLatency(rawValue: try values.decode(String.self, forKey: .latency)) {
    case .deep: return .deep
    case .automatic, nil: return .automatic
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(id, forKey: .id)
    switch kind {
    case .entry(let entry): try values.encode(entry, forKey: .entry)
    case .live(let origin): try Self.encode(origin, to: &values)
    case .custom, .feed, .input:
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: encoder.codingPath,
          debugDescription: "the program makes the audio of “\(name)”, which cannot be stored"))
    }
  }

  private static func encode(
    _ origin: LiveOrigin, to values: inout KeyedEncodingContainer<Key>
  ) throws {
    switch origin.location {
    case .card(let card): try values.encode(card, forKey: .card)
    case .pipe(let path): try values.encode(path, forKey: .pipe)
    case .standardInput, .input: break
    }
    if let raw = origin.raw {
      try values.encode(raw.audio.sampleRate, forKey: .rate)
      try values.encode(raw.audio.channelCount, forKey: .channels)
      try values.encode(raw.sampleType == .int16 ? 16 : 24, forKey: .bits)
    }
    guard let latency = origin.latency else {
      return try values.encode(StoredLatency.deep.rawValue, forKey: .latency)
    }
    if latency.isChosen {
      try values.encode(StoredLatency.automatic.rawValue, forKey: .latency)
    } else {
      try values.encode(latency.start.count, forKey: .latency)
    }
  }
}

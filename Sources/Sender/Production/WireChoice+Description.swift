package import Audio

extension Codec {
  /// The name that people write.
  package var title: String {
    switch self {
    case .pcm: "PCM"
    case .flac: "FLAC"
    case .opus: "Opus"
    case .mp3: "MP3"
    case .aac: "AAC"
    case .alac: "ALAC"
    case .vorbis: "Vorbis"
    case .ac3: "AC-3"
    case .eac3: "E-AC-3"
    }
  }
}

extension WireChoice: CustomStringConvertible {
  /// True if the rooms get the item's own packets.
  package var isUnchanged: Bool { reason == .passedOn }

  /// The reason for people, without the codec; nil if there is nothing to explain.
  package var sentence: String? {
    switch reason {
    case .passedOn: "as it is"
    case .asked: nil
    case .roomsLack(let own): "not every room decodes \(own.title)"
    case .obstacle(let obstacle): obstacle.sentence
    }
  }

  /// The codec and the reason for it, for people.
  package var description: String {
    sentence.map { "\(codec.title)\(isUnchanged ? "" : ":") \($0)" } ?? codec.title
  }
}

extension PassObstacle {
  /// The reason in words.
  package var reason: String {
    if case .notPassable(let codec) = self { return "\(codec) goes in no packets of its own" }
    return sentence ?? ""
  }

  /// Nil if nobody would have expected anything else.
  fileprivate var sentence: String? {
    switch self {
    case .soundIsChanged: "effects change the sound"
    case .isFaded: "songs fade into each other"
    case .isMixed(let channels): "\(channels) channels are mixed"
    case .isResampled(let rate): "\(rate) Hz is converted"
    case .isLive: "it is live"
    case .isPiped: "it comes through a pipe"
    case .roomsLack(let codec): "not every room decodes \(codec.title)"
    case .notPassable: nil
    case .unreadable(let error): error.description
    }
  }
}

package import Audio

extension Codec {
  /// As people write it.
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
  /// Whether the rooms get the packets of the item itself.
  package var isUnchanged: Bool { reason == .passedOn }

  /// For people, without the codec; nil where there is nothing to explain.
  package var sentence: String? {
    switch reason {
    case .passedOn: "as it is"
    case .asked: nil
    case .roomsLack(let own): "not every room decodes \(own.title)"
    case .obstacle(let obstacle): obstacle.sentence
    }
  }

  /// For people: the codec, and why it is this one.
  package var description: String {
    sentence.map { "\(codec.title)\(isUnchanged ? "" : ":") \($0)" } ?? codec.title
  }
}

extension PassObstacle {
  /// Nil where nobody would have expected anything else.
  fileprivate var sentence: String? {
    switch self {
    case .soundIsChanged: "effects change the sound"
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

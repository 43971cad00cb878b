import Audio

/// The encodings of one media time: usually there is one. While a link of the group is weak, there is a small one beside
/// it.
package enum PacketForm: Hashable, Sendable {
  /// There is no other.
  case only
  /// The one that the rooms get; there is a small one beside it.
  case whole
  /// The one for rooms with weak links.
  case small
}

extension Codec {
  /// Number of packets before a place in the middle of a run that a decoder needs for that place to be exact. FLAC, ALAC and
  /// PCM need none. Opus converges within 80 ms, and MP3 keeps at most nine packets in its reservoir.
  var packetsToPrepare: Int {
    switch self {
    case .pcm, .flac, .alac: 0
    case .opus: 6
    case .mp3: 10
    case .aac, .vorbis, .ac3, .eac3: 2
    }
  }
}

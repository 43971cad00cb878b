import Audio

/// The codecs that a room says it decodes. It drops one for which no decoder can be made.
struct CodecList {
  private var codecs: [Codec]
  /// Codecs of the list that the present sender's streams cannot use, because a decoder for them could not be made.
  private var withdrawn = CodecSet([])
  /// Returns the codecs still available: the loss of one decoder may be the loss of a library.
  private let remaining: @Sendable () -> [Codec]

  init(_ codecs: [Codec], remaining: @escaping @Sendable () -> [Codec]) {
    self.codecs = codecs
    self.remaining = remaining
  }

  /// PCM stays listed, because it needs no decoder that could be missing.
  var listed: [Codec] { codecs.filter { $0 == .pcm || !withdrawn.contains($0) } }

  mutating func senderChanged() { withdrawn = CodecSet([]) }

  /// Withdraws a codec. Returns true if it is lost for good: a configuration that a decoder refuses is a property of
  /// this sender, a missing decoder one of this room.
  mutating func withdraw(_ codec: Codec, because error: CodecError) -> Bool {
    withdrawn.insert(codec)
    if case .malformed = error { return false }
    let remaining = CodecSet(remaining())
    codecs.removeAll { $0 != .pcm && ($0 == codec || !remaining.contains($0)) }
    return true
  }
}

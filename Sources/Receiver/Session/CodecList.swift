import Audio

/// What a room says it decodes: less, once a decoder turns out not to be had.
struct CodecList {
  private var codecs: [Codec]
  /// Of these, what the streams of this sender need another decoder for than there is.
  private var withdrawn = CodecSet([])
  /// Which are still to be had: with one decoder, a library may be lost.
  private let remaining: @Sendable () -> [Codec]

  init(_ codecs: [Codec], remaining: @escaping @Sendable () -> [Codec]) {
    self.codecs = codecs
    self.remaining = remaining
  }

  /// PCM needs no decoder that could be missing.
  var listed: [Codec] { codecs.filter { $0 == .pcm || !withdrawn.contains($0) } }

  mutating func senderChanged() { withdrawn = CodecSet([]) }

  /// True where it is for good: a configuration that a decoder refuses says something of this sender, a decoder that
  /// is not there something of this room.
  mutating func withdraw(_ codec: Codec, because error: CodecError) -> Bool {
    withdrawn.insert(codec)
    if case .malformed = error { return false }
    let remaining = CodecSet(remaining())
    codecs.removeAll { $0 != .pcm && ($0 == codec || !remaining.contains($0)) }
    return true
  }
}

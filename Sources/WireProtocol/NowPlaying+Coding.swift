import Clock

/// Layouts: docs/protocol/control-messages.md and media.md.
extension NowPlaying {
  /// Nil if it is about another stream.
  init?(decoding reader: inout ByteReader) throws(DecodeError) {
    guard try reader.uint32("stream") == 0 else { return nil }
    let generation = try reader.uint32(in: ProtocolLimits.generation, "generation")
    let from = try reader.mediaTime("from")
    let duration = try reader.int64(in: ProtocolLimits.mediaTime, "duration")
    let artwork = try reader.uint32("artwork")
    let track = try reader.uint16("track")
    let flags = try reader.uint8("flags")
    try reader.skip(1, "reserved")
    let item = ItemDescription(
      title: try reader.text(atMost: ProtocolLimits.itemText, "title"),
      artist: try reader.text(atMost: ProtocolLimits.itemText, "artist"),
      album: try reader.text(atMost: ProtocolLimits.itemText, "album"), track: track,
      duration: MediaDuration(flicks: duration), artwork: artwork)
    self.init(generation: generation, from: from, item: flags & 1 == 0 ? item : nil)
  }

  func encode(to writer: inout ByteWriter) {
    let shown = item ?? ItemDescription()
    writer.uint32(0)
    writer.uint32(generation)
    writer.mediaTime(from)
    writer.int64(shown.duration.flicks, clampedTo: ProtocolLimits.mediaTime)
    writer.uint32(shown.artwork)
    writer.uint16(shown.track)
    writer.uint8(item == nil ? 1 : 0)
    writer.zeros(1)
    for text in [shown.title, shown.artist, shown.album] {
      writer.text(text, atMost: ProtocolLimits.itemText)
    }
  }
}

extension ArtworkPiece {
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let number = try reader.uint32(in: 1...UInt32.max, "number")
    let size = Int(try reader.uint32(in: 1...UInt32(ProtocolLimits.artwork), "size"))
    let offset = Int(try reader.uint32(in: 0...UInt32(ProtocolLimits.artwork), "offset"))
    let mimeType = try reader.text(atMost: ProtocolLimits.name, "type")
    let longest = UInt16(ProtocolLimits.artworkPiece)
    let count = Int(try reader.uint16(in: 1...longest, "piece length"))
    guard offset + count <= size else {
      throw .outOfRange(field: "offset", value: Int64(offset))
    }
    let bytes = Array(try reader.bytes(count, "piece"))
    self.init(number: number, size: size, offset: offset, mimeType: mimeType, bytes: bytes)
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint32(number)
    writer.uint32(UInt32(clamping: size))
    writer.uint32(UInt32(clamping: offset))
    writer.text(mimeType, atMost: ProtocolLimits.name)
    writer.uint16(UInt16(clamping: bytes.count))
    writer.bytes(bytes)
  }
}

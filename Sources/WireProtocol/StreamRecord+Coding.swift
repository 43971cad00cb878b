import Clock

/// Layouts: docs/protocol/coming-back.md.
extension StreamJournal {
  private static let magic: UInt32 = 0x5455_544a
  private static let version: UInt16 = 1
  private static let tagByteCount = 8
  /// The tag finds torn and damaged files; it keeps nobody out.
  private static let key = ClockKey([])

  package init(decoding bytes: [UInt8]) throws(DecodeError) {
    guard bytes.count >= Self.tagByteCount else { throw .truncated(field: "tag") }
    let content = bytes.dropLast(Self.tagByteCount)
    var reader = ByteReader(bytes[...])
    guard try reader.uint32("magic") == Self.magic else { throw .notThisProtocol }
    let version = try reader.uint16("version")
    guard version == Self.version else { throw .unsupportedVersion(version) }
    guard bytes.suffix(Self.tagByteCount) == Self.tag(of: content)[...] else {
      throw .notAuthentic
    }
    reader = ByteReader(content.dropFirst(6))
    let count = Int(try reader.uint16(in: 0...UInt16(Self.streamLimit), "stream count"))
    self.init(
      boot: try reader.identifier("boot"), senderID: try reader.identifier("sender id"),
      slept: Nanoseconds(try reader.int64(in: ProtocolLimits.span, "slept")), streams: [])
    for _ in 0..<count {
      streams.append(
        Stream(
          group: try reader.text(atMost: ProtocolLimits.name, "group"),
          record: try StreamRecord(decoding: &reader)))
    }
    guard reader.remaining == 0 else { throw .badLength(bytes.count, limit: Self.byteLimit) }
  }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.uint32(Self.magic)
    writer.uint16(Self.version)
    let kept = streams.prefix(Self.streamLimit)
    writer.uint16(UInt16(clamping: kept.count))
    writer.bytes(boot.bytes)
    writer.bytes(senderID.bytes)
    writer.int64(slept.count, clampedTo: ProtocolLimits.span)
    for stream in kept {
      writer.text(stream.group, atMost: ProtocolLimits.name)
      stream.record.encode(to: &writer)
    }
    return writer.bytes + Self.tag(of: writer.bytes[...])
  }

  private static func tag(of content: ArraySlice<UInt8>) -> [UInt8] {
    let hash = SipHash.hash(content, key: key)
    return (0..<tagByteCount).map { UInt8(truncatingIfNeeded: hash >> (8 * UInt64($0))) }
  }
}

extension StreamRecord {
  private static let endFlag: UInt8 = 1
  private static let beginningFlag: UInt8 = 2
  /// Only together with `beginningFlag`.
  private static let resumingFlag: UInt8 = 4

  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let state = try reader.uint8("state")
    guard let known = State(rawValue: state) else {
      throw .outOfRange(field: "state", value: Int64(state))
    }
    let flags = try reader.uint8("flags")
    let assigned = Self.endFlag | Self.beginningFlag | Self.resumingFlag
    guard flags & ~assigned == 0, flags & Self.resumingFlag == 0 || flags & Self.beginningFlag != 0
    else {
      throw .outOfRange(field: "flags", value: Int64(flags))
    }
    let counts = try (reader.uint8("anchors"), reader.uint8("cuts"), reader.uint8("segments"))
    guard (1...UInt8(Anchors.limit)).contains(counts.0) else {
      throw .outOfRange(field: "anchors", value: Int64(counts.0))
    }
    guard counts.1 <= Self.cutLimit else {
      throw .outOfRange(field: "cuts", value: Int64(counts.1))
    }
    guard (1...UInt8(Self.segmentLimit)).contains(counts.2) else {
      throw .outOfRange(field: "segments", value: Int64(counts.2))
    }
    self.init(
      state: known, clockID: try reader.uint64("clock id"),
      clockLead: Nanoseconds(try reader.int64(in: ProtocolLimits.clockTime, "clock lead")),
      generation: try reader.uint32(in: ProtocolLimits.generation, "generation"),
      nextSequence: try reader.uint64(in: ProtocolLimits.count, "next sequence"),
      lastArtwork: try reader.uint32("last artwork"),
      heldByAll: try reader.mediaTime("held by all"),
      heldByOne: try reader.mediaTime("held by one"),
      anchors: [], segments: [])
    if flags & Self.endFlag != 0 { end = try reader.mediaTime("end") }
    if flags & Self.beginningFlag != 0 { beginning = try Beginning(decoding: &reader) }
    beginning?.resumes = flags & Self.resumingFlag != 0
    for _ in 0..<counts.0 { anchors.append(try Anchor(kept: &reader)) }
    for _ in 0..<counts.1 { cuts.append(try Cut(decoding: &reader)) }
    for _ in 0..<counts.2 { segments.append(try Segment(decoding: &reader)) }
    try checkOrder()
  }

  /// Throws unless everything stands in the order in which a timeline has it.
  private func checkOrder() throws(DecodeError) {
    for (one, next) in zip(anchors, anchors.dropFirst()) where next.groupTime <= one.groupTime {
      throw .outOfRange(field: "anchor", value: next.groupTime.nanoseconds)
    }
    for (one, next) in zip(cuts, cuts.dropFirst())
    where next.generation <= one.generation || next.from <= one.from {
      throw .outOfRange(field: "cut", value: Int64(next.generation))
    }
    if let last = cuts.last, last.generation > generation {
      throw .outOfRange(field: "cut", value: Int64(last.generation))
    }
    for (one, next) in zip(segments, segments.dropFirst()) where next.start < one.start {
      throw .outOfRange(field: "segment", value: next.start.flicks)
    }
  }

  func encode(to writer: inout ByteWriter) {
    let (anchors, cuts) = (anchors.suffix(Anchors.limit), cuts.suffix(Self.cutLimit))
    let segments = segments.prefix(Self.segmentLimit)
    writer.uint8(state.rawValue)
    writer.uint8(
      (end == nil ? 0 : Self.endFlag) | (beginning == nil ? 0 : Self.beginningFlag)
        | (beginning?.resumes ?? false ? Self.resumingFlag : 0))
    for count in [anchors.count, cuts.count, segments.count] {
      writer.uint8(UInt8(clamping: count))
    }
    writer.uint64(clockID)
    writer.int64(clockLead.count, clampedTo: ProtocolLimits.clockTime)
    writer.uint32(generation)
    writer.uint64(nextSequence, clampedTo: ProtocolLimits.count)
    writer.uint32(lastArtwork)
    writer.mediaTime(heldByAll)
    writer.mediaTime(heldByOne)
    if let end { writer.mediaTime(end) }
    beginning?.encode(to: &writer)
    for anchor in anchors { anchor.keep(in: &writer) }
    for cut in cuts { cut.encode(to: &writer) }
    for segment in segments { segment.encode(to: &writer) }
  }
}

extension StreamRecord.Beginning {
  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    self.init(
      entry: try reader.uint64(in: ProtocolLimits.count, "entry"),
      position: MediaDuration(flicks: try reader.int64(in: ProtocolLimits.mediaTime, "position")),
      start: try reader.mediaTime("start"))
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint64(entry, clampedTo: ProtocolLimits.count)
    writer.int64(position.flicks, clampedTo: ProtocolLimits.mediaTime)
    writer.mediaTime(start)
  }
}

extension Anchor {
  fileprivate init(kept reader: inout ByteReader) throws(DecodeError) {
    let rate = try reader.uint8("rate")
    guard rate <= 1 else { throw .outOfRange(field: "rate", value: Int64(rate)) }
    self.init(
      mediaTime: try reader.mediaTime("media time"), groupTime: try reader.groupTime("group time"),
      rate: rate == 1 ? .playing : .paused)
  }

  fileprivate func keep(in writer: inout ByteWriter) {
    writer.uint8(rate == .playing ? 1 : 0)
    writer.mediaTime(mediaTime)
    writer.groupTime(groupTime)
  }
}

extension StreamRecord.Cut {
  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    let generation = try reader.uint32(in: ProtocolLimits.generation, "generation")
    let from = try reader.mediaTime("from")
    let flags = try reader.uint8("flags")
    guard flags <= 1 else { throw .outOfRange(field: "flags", value: Int64(flags)) }
    self.init(generation: generation, from: from, isRamped: flags == 1)
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint32(generation)
    writer.mediaTime(from)
    writer.uint8(isRamped ? 1 : 0)
  }
}

extension StreamRecord.Segment {
  private static let seekableFlag: UInt8 = 1
  private static let chosenFlag: UInt8 = 2
  private static let continuesFlag: UInt8 = 4

  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    let start = try reader.mediaTime("start")
    let entry = try reader.uint64(in: ProtocolLimits.count, "entry")
    let position = try reader.int64(in: ProtocolLimits.mediaTime, "position")
    let rate = Double(bitPattern: try reader.uint64("rate"))
    guard StreamRecord.rates.contains(rate) else { throw .outOfRange(field: "rate", value: 0) }
    let flags = try reader.uint8("flags")
    guard flags < 8 else { throw .outOfRange(field: "flags", value: Int64(flags)) }
    let description = ItemDescription(
      title: try reader.text(atMost: ProtocolLimits.itemText, "title"),
      artist: try reader.text(atMost: ProtocolLimits.itemText, "artist"),
      album: try reader.text(atMost: ProtocolLimits.itemText, "album"),
      track: try reader.uint16("track"),
      duration: MediaDuration(flicks: try reader.int64(in: ProtocolLimits.mediaTime, "duration")),
      artwork: try reader.uint32("artwork"))
    self.init(
      start: start, entry: entry, position: MediaDuration(flicks: position), rate: rate,
      isSeekable: flags & Self.seekableFlag != 0, isChosen: flags & Self.chosenFlag != 0,
      continuesItem: flags & Self.continuesFlag != 0, description: description)
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.mediaTime(start)
    writer.uint64(entry, clampedTo: ProtocolLimits.count)
    writer.int64(position.flicks, clampedTo: ProtocolLimits.mediaTime)
    writer.uint64(rate.bitPattern)
    writer.uint8(
      (isSeekable ? Self.seekableFlag : 0) | (isChosen ? Self.chosenFlag : 0)
        | (continuesItem ? Self.continuesFlag : 0))
    for text in [description.title, description.artist, description.album] {
      writer.text(text, atMost: ProtocolLimits.itemText)
    }
    writer.uint16(description.track)
    writer.int64(description.duration.flicks, clampedTo: ProtocolLimits.mediaTime)
    writer.uint32(description.artwork)
  }
}

package import Audio
import Clock
package import WireProtocol

// Messages between a program and the one that demuxes and decodes for it. Nothing that comes from there is trusted:
// each field has its range, and each message its length.

/// Limits of these messages.
package enum DecoderMessage {
  /// Bytes of one message: a picture, and little beside it.
  package static let limit = 4_224 << 10
  /// Frames of one read.
  package static let frameLimit = 8_192
  /// Bytes of a source in one answer.
  package static let byteLimit = 64 << 10
  static let textLimit = 8 << 10
  /// Frames that a source may have: 180 years.
  static let frameNumbers: ClosedRange<Int64> = 0...(1 << 50)
  static let packetLimit = 512 << 10
  static let packetFrames: ClosedRange<UInt32> = 0...65_536
  static let configurationLimit = 8 << 10
  /// Keyed by their numbers.
  static let supplies: [Supply] = [.stored, .fetched, .live, .piped]
}

/// A request to the program that decodes.
package enum MediaRequest: Hashable, Sendable {
  /// Opens a file whose descriptor comes with the request. Its name tells FFmpeg what it may be.
  case openFile(name: String)
  case openAddress(String)
  /// Opens what comes through a pipe of the player's. Without a format, a header tells it.
  case openStream(RawFormat?)
  case read(count: Int)
  case seek(frame: Int64)
  case packets
  case nextPacket
  case seekPackets(frame: Int64)
  /// Decodes packets from now on, which come with the requests.
  case openDecoder(StreamFormat)
  case decode(ArraySlice<UInt8>)

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .openFile(let name): writer.kind(1, name)
    case .openAddress(let url): writer.kind(2, url)
    case .openStream(let raw): writer.stream(raw)
    case .read(let count): writer.kind(3, Int64(count))
    case .seek(let frame): writer.kind(4, frame)
    case .packets: writer.uint8(5)
    case .nextPacket: writer.uint8(6)
    case .seekPackets(let frame): writer.kind(7, frame)
    case .openDecoder(let format):
      writer.uint8(9)
      writer.format(format)
    case .decode(let payload):
      writer.uint8(10)
      writer.uint32(UInt32(clamping: payload.count))
      writer.bytes(Array(payload))
    }
    return writer.bytes
  }

  package init(_ bytes: ArraySlice<UInt8>) throws(DecodeError) {
    var reader = ByteReader(bytes)
    switch try reader.uint8("kind") {
    case 1: self = .openFile(name: try reader.text(atMost: DecoderMessage.textLimit, "name"))
    case 2: self = .openAddress(try reader.text(atMost: DecoderMessage.textLimit, "address"))
    case 8: self = .openStream(try reader.raw())
    case 3: self = .read(count: Int(clamping: try reader.int64("count")))
    case 4: self = .seek(frame: try reader.int64("frame"))
    case 5: self = .packets
    case 6: self = .nextPacket
    case 7: self = .seekPackets(frame: try reader.int64("frame"))
    case 9: self = .openDecoder(try reader.format())
    case 10:
      let limit = UInt32(DecoderMessage.packetLimit)
      let count = Int(try reader.uint32(in: 0...limit, "bytes of a packet"))
      self = .decode(try reader.bytes(count, "packet"))
    case let kind: throw .outOfRange(field: "kind", value: Int64(kind))
    }
  }
}

/// The properties of an item that do not change while it is open.
package struct MediaInfo: Hashable, Sendable {
  package var format: AudioFormat
  package var sampleType: SampleType
  package var isLossless: Bool
  package var frameCount: Int64?
  package var isSeekable: Bool
  package var supply: Supply

  package init(_ source: any MediaSource) {
    format = source.format
    sampleType = source.sampleType
    isLossless = source.isLossless
    frameCount = source.frameCount
    isSeekable = source.isSeekable
    supply = source.supply
  }
}

/// The properties of an item that may change with each request.
package struct MediaState: Hashable, Sendable {
  package var estimatedFrameCount: Int64?
  package var isReusable: Bool
  /// Nil if it has not changed.
  package var metadata: ItemMetadata?

  package init(estimatedFrameCount: Int64?, isReusable: Bool, metadata: ItemMetadata?) {
    self.estimatedFrameCount = estimatedFrameCount
    self.isReusable = isReusable
    self.metadata = metadata
  }
}

/// The final answer of the program that decodes.
package enum MediaAnswer: Hashable, Sendable {
  case opened(MediaInfo, MediaState)
  /// Interleaved frames as bytes, and the failure that followed them.
  case frames(ArraySlice<UInt8>, MediaFailure?, MediaState)
  case done(MediaState)
  case packets(StreamFormat, position: Int64)
  /// The packet is nil at the end.
  case packet(EncodedPacket?, position: Int64)
  case failed(MediaFailure)
  case obstacle(MediaObstacle)
}

/// A `MediaError` without its path if that is the item's own, because names may hold what a message cannot.
package struct MediaFailure: Hashable, Sendable {
  fileprivate var kind: UInt8
  /// Nil for the item's own path.
  fileprivate var path: String?
  fileprivate var reason = ""
  fileprivate var seconds: [Int64] = [0, 0]

  fileprivate init(kind: UInt8) { self.kind = kind }

  package init(_ error: MediaError, of location: String) {
    let named: String
    switch error {
    case .notFound(let path): (kind, named) = (1, path)
    case .unreadable(let path, let text): (kind, named, reason) = (2, path, text)
    case .notAudio(let path, let text): (kind, named, reason) = (3, path, text)
    case .unsupported(let path, let text): (kind, named, reason) = (4, path, text)
    case .broken(let path, let text): (kind, named, reason) = (5, path, text)
    case .endsEarly(let path, let after, let length):
      (kind, named, seconds) = (6, path, [after, length])
    case .notSeekable(let path): (kind, named) = (7, path)
    }
    path = named == location ? nil : named
  }

  package func error(of location: String) -> MediaError {
    let path = path?.shownPlainly ?? location
    let reason = reason.shownPlainly
    return switch kind {
    case 1: .notFound(path: path)
    case 2: .unreadable(path: path, reason: reason)
    case 3: .notAudio(path: path, reason: reason)
    case 4: .unsupported(path: path, reason: reason)
    case 6: .endsEarly(path: path, after: seconds[0], of: seconds[1])
    case 7: .notSeekable(path: path)
    default: .broken(path: path, reason: reason)
    }
  }
}

// MARK: - Coding

extension MediaAnswer {
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .opened(let info, let state):
      writer.uint8(1)
      writer.info(info)
      writer.state(state)
    case .frames(let frames, let failure, let state):
      writer.uint8(2)
      writer.failure(failure)
      writer.state(state)
      writer.uint32(UInt32(clamping: frames.count))
      writer.bytes(Array(frames))
    case .done(let state):
      writer.uint8(3)
      writer.state(state)
    case .packets(let format, let position):
      writer.uint8(4)
      writer.format(format)
      writer.int64(position, clampedTo: DecoderMessage.frameNumbers)
    case .packet(let packet, let position):
      writer.uint8(5)
      writer.int64(position, clampedTo: DecoderMessage.frameNumbers)
      writer.packet(packet)
    case .failed(let failure):
      writer.uint8(6)
      writer.failure(failure)
    case .obstacle(let obstacle):
      writer.uint8(7)
      writer.uint8(obstacle.kind)
      writer.int64(obstacle.number)
      writer.text(obstacle.codec, atMost: DecoderMessage.textLimit)
      writer.failure(obstacle.failure)
    }
    return writer.bytes
  }

  package init(_ bytes: ArraySlice<UInt8>) throws(DecodeError) {
    var reader = ByteReader(bytes)
    switch try reader.uint8("kind") {
    case 1: self = .opened(try reader.info(), try reader.state())
    case 2:
      let (failure, state) = (try reader.failure(), try reader.state())
      let count = Int(try reader.uint32("bytes of frames"))
      self = .frames(try reader.bytes(count, "frames"), failure, state)
    case 3: self = .done(try reader.state())
    case 4:
      self = .packets(
        try reader.format(), position: try reader.int64(in: DecoderMessage.frameNumbers, "position")
      )
    case 5:
      let position = try reader.int64(in: DecoderMessage.frameNumbers, "position")
      self = .packet(try reader.packet(), position: position)
    case 6: self = .failed(try reader.failure() ?? MediaFailure(kind: 5))
    case 7:
      var obstacle = MediaObstacle(kind: try reader.uint8("obstacle"))
      obstacle.number = try reader.int64("number")
      obstacle.codec = try reader.text(atMost: DecoderMessage.textLimit, "codec")
      obstacle.failure = try reader.failure()
      self = .obstacle(obstacle)
    case let kind: throw .outOfRange(field: "kind", value: Int64(kind))
    }
  }
}

extension ByteWriter {
  fileprivate mutating func kind(_ kind: UInt8, _ text: String) {
    uint8(kind)
    self.text(text, atMost: DecoderMessage.textLimit)
  }

  fileprivate mutating func kind(_ kind: UInt8, _ number: Int64) {
    uint8(kind)
    int64(number)
  }

  fileprivate mutating func stream(_ raw: RawFormat?) {
    uint8(8)
    uint8(raw == nil ? 0 : 1)
    if let raw { audio(raw.audio, raw.sampleType) }
  }

  /// Writes -1 for nil.
  private mutating func number(_ value: Int64?) {
    int64(value.map { min(max($0, 0), DecoderMessage.frameNumbers.upperBound) } ?? -1)
  }

  private mutating func audio(_ format: AudioFormat, _ type: SampleType) {
    uint32(UInt32(clamping: format.sampleRate))
    uint8(UInt8(clamping: format.channelCount))
    uint8(type.rawValue)
  }

  fileprivate mutating func info(_ info: MediaInfo) {
    audio(info.format, info.sampleType)
    uint8(info.isLossless ? 1 : 0)
    number(info.frameCount)
    uint8(info.isSeekable ? 1 : 0)
    uint8(UInt8(clamping: DecoderMessage.supplies.firstIndex(of: info.supply) ?? 0))
  }

  fileprivate mutating func state(_ state: MediaState) {
    number(state.estimatedFrameCount)
    uint8(state.isReusable ? 1 : 0)
    uint8(state.metadata == nil ? 0 : 1)
    if let metadata = state.metadata { self.metadata(metadata) }
  }

  private mutating func metadata(_ metadata: ItemMetadata) {
    for text in [
      metadata.title, metadata.artist, metadata.album, metadata.albumArtist, metadata.date,
    ] {
      uint8(text == nil ? 0 : 1)
      self.text(text ?? "", atMost: DecoderMessage.textLimit)
    }
    for number in [metadata.track, metadata.disc] { int64(number.map { Int64($0) } ?? -1) }
    for number in [metadata.loudness, metadata.peak] { uint64((number ?? .nan).bitPattern) }
    text(metadata.artwork?.mimeType ?? "", atMost: 64)
    uint32(UInt32(clamping: metadata.artwork?.bytes.count ?? 0))
    bytes(metadata.artwork?.bytes ?? [])
    uint8(metadata.hasVideo ? 1 : 0)
    chapters(metadata.chapters.prefix(ItemChapter.limit))
  }

  private mutating func chapters(_ chapters: ArraySlice<ItemChapter>) {
    uint16(UInt16(clamping: chapters.count))
    for chapter in chapters {
      int64(chapter.start.flicks, clampedTo: ItemChapter.starts)
      uint8(chapter.title == nil ? 0 : 1)
      text(chapter.title ?? "", atMost: ItemChapter.titleLimit)
    }
  }

  fileprivate mutating func failure(_ failure: MediaFailure?) {
    uint8(failure?.kind ?? 0)
    guard let failure else { return }
    uint8(failure.path == nil ? 0 : 1)
    text(failure.path ?? "", atMost: DecoderMessage.textLimit)
    text(failure.reason, atMost: DecoderMessage.textLimit)
    for seconds in failure.seconds { int64(seconds) }
  }

  fileprivate mutating func format(_ format: StreamFormat) {
    uint16(format.codec.rawValue)
    audio(format.audio, format.sampleType)
    uint16(UInt16(clamping: format.configuration.count))
    bytes(format.configuration)
  }

  fileprivate mutating func packet(_ packet: EncodedPacket?) {
    uint8(packet == nil ? 0 : 1)
    guard let packet else { return }
    uint32(UInt32(clamping: packet.skippedFrames))
    uint32(UInt32(clamping: packet.frameCount))
    uint32(UInt32(clamping: packet.payload.count))
    bytes(packet.payload)
  }
}

extension ByteReader {
  private mutating func flag(_ field: String) throws(DecodeError) -> Bool {
    switch try uint8(field) {
    case 0: false
    case 1: true
    case let value: throw .outOfRange(field: field, value: Int64(value))
    }
  }

  private mutating func number(_ field: String) throws(DecodeError) -> Int64? {
    let value = try int64(in: -1...DecoderMessage.frameNumbers.upperBound, field)
    return value < 0 ? nil : value
  }

  private mutating func audio() throws(DecodeError) -> (AudioFormat, SampleType) {
    let rate = try uint32("rate")
    let format = AudioFormat(sampleRate: Int(rate), channelCount: Int(try uint8("channels")))
    guard format.isSupported else { throw .outOfRange(field: "rate", value: Int64(rate)) }
    let number = try uint8("sample type")
    guard let type = SampleType(rawValue: number) else {
      throw .outOfRange(field: "sample type", value: Int64(number))
    }
    return (format, type)
  }

  fileprivate mutating func raw() throws(DecodeError) -> RawFormat? {
    guard try flag("has a format") else { return nil }
    let (audio, type) = try audio()
    return RawFormat(audio: audio, sampleType: type)
  }

  fileprivate mutating func info() throws(DecodeError) -> MediaInfo {
    let (format, type) = try audio()
    let isLossless = try flag("lossless")
    let frameCount = try number("frames")
    let isSeekable = try flag("seekable")
    let supplies = DecoderMessage.supplies
    let supply = try uint8("supply")
    guard supply < supplies.count else { throw .outOfRange(field: "supply", value: Int64(supply)) }
    return MediaInfo(
      format: format, sampleType: type, isLossless: isLossless, frameCount: frameCount,
      isSeekable: isSeekable, supply: supplies[Int(supply)])
  }

  fileprivate mutating func state() throws(DecodeError) -> MediaState {
    let count = try number("estimated frames")
    let isReusable = try flag("reusable")
    let metadata = try flag("has metadata") ? try self.metadata() : nil
    return MediaState(estimatedFrameCount: count, isReusable: isReusable, metadata: metadata)
  }

  private mutating func metadata() throws(DecodeError) -> ItemMetadata {
    var texts: [String?] = []
    for field in ["title", "artist", "album", "album artist", "date"] {
      let isThere = try flag(field)
      let text = try text(atMost: DecoderMessage.textLimit, field)
      texts.append(isThere ? ItemMetadata.shown(text) : nil)
    }
    var metadata = ItemMetadata(title: texts[0], artist: texts[1], album: texts[2])
    (metadata.albumArtist, metadata.date) = (texts[3], texts[4])
    let (track, disc) = (try int64("track"), try int64("disc"))
    metadata.track = track < 0 ? nil : Int(clamping: track)
    metadata.disc = disc < 0 ? nil : Int(clamping: disc)
    metadata.loudness = try fraction("loudness")
    metadata.peak = try fraction("peak")
    let type = try text(atMost: 64, "type of a picture")
    let count = Int(try uint32(in: 0...UInt32(Artwork.sizeLimit), "bytes of a picture"))
    metadata.artwork = Artwork(bytes: Array(try bytes(count, "picture")), mimeType: type)
    metadata.hasVideo = try flag("has pictures")
    metadata.chapters = try chapters()
    return metadata
  }

  private mutating func chapters() throws(DecodeError) -> [ItemChapter] {
    var chapters: [ItemChapter] = []
    for _ in 0..<(try uint16(in: 0...UInt16(ItemChapter.limit), "chapters")) {
      let start = try int64(in: ItemChapter.starts, "start of a chapter")
      let isNamed = try flag("named chapter")
      let title = try text(atMost: ItemChapter.titleLimit, "title of a chapter")
      chapters.append(
        ItemChapter(title: isNamed ? title : nil, start: MediaDuration(flicks: start)))
    }
    return chapters
  }

  private mutating func fraction(_ field: String) throws(DecodeError) -> Double? {
    let value = Double(bitPattern: try uint64(field))
    return value.isFinite ? value : nil
  }

  fileprivate mutating func failure() throws(DecodeError) -> MediaFailure? {
    let kind = try uint8("failure")
    guard kind > 0 else { return nil }
    var failure = MediaFailure(kind: kind)
    let hasPath = try flag("has a path")
    let path = try text(atMost: DecoderMessage.textLimit, "path")
    failure.path = hasPath ? path : nil
    failure.reason = try text(atMost: DecoderMessage.textLimit, "reason")
    failure.seconds = [
      try int64(in: DecoderMessage.frameNumbers, "seconds"),
      try int64(in: DecoderMessage.frameNumbers, "seconds"),
    ]
    return failure
  }

  fileprivate mutating func format() throws(DecodeError) -> StreamFormat {
    let number = try uint16("codec")
    guard let codec = Codec(rawValue: number) else {
      throw .outOfRange(field: "codec", value: Int64(number))
    }
    let (audio, type) = try audio()
    let count = Int(
      try uint16(in: 0...UInt16(DecoderMessage.configurationLimit), "bytes of the configuration"))
    return StreamFormat(
      codec: codec, audio: audio, sampleType: type,
      configuration: Array(try bytes(count, "configuration")))
  }

  fileprivate mutating func packet() throws(DecodeError) -> EncodedPacket? {
    guard try flag("has a packet") else { return nil }
    let skipped = Int(try uint32(in: DecoderMessage.packetFrames, "skipped frames"))
    let frames = Int(try uint32(in: DecoderMessage.packetFrames, "frames"))
    let count = Int(try uint32(in: 0...UInt32(DecoderMessage.packetLimit), "bytes of a packet"))
    return EncodedPacket(
      payload: Array(try bytes(count, "packet")), skippedFrames: skipped, frameCount: frames)
  }
}

extension MediaInfo {
  fileprivate init(
    format: AudioFormat, sampleType: SampleType, isLossless: Bool, frameCount: Int64?,
    isSeekable: Bool, supply: Supply
  ) {
    self.format = format
    self.sampleType = sampleType
    self.isLossless = isLossless
    self.frameCount = frameCount
    self.isSeekable = isSeekable
    self.supply = supply
  }
}

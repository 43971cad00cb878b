import Audio
import Clock

/// Layouts: docs/protocol/control-messages.md.
extension ControlMessage {
  /// Returns nil for messages that this version does not know: another type, or another stream. Such messages are
  /// skipped and counted.
  package static func decode(_ message: RawMessage) throws(DecodeError) -> ControlMessage? {
    var reader = ByteReader(message.payload)
    switch message.type {
    case MessageType.hello: return .hello(try Hello(decoding: message.payload))
    case MessageType.prove: return .prove(try reader.proof())
    case MessageType.anchor: return try Anchor(decoding: &reader).map(ControlMessage.anchor)
    case MessageType.flush: return try Flush(decoding: &reader).map(ControlMessage.flush)
    case MessageType.settings: return .settings(try RoomSettings(decodingMessage: &reader))
    case MessageType.sound: return .sound(try SoundSetting(decoding: &reader))
    case MessageType.streamVolume:
      return try StreamVolume(decoding: &reader).map(ControlMessage.streamVolume)
    case MessageType.keepAlive: return .keepAlive
    case MessageType.nowPlaying:
      return try NowPlaying(decoding: &reader).map(ControlMessage.nowPlaying)
    case MessageType.welcome: return .welcome(try Welcome(decoding: &reader))
    case MessageType.refuse: return .refuse(try Refusal(decoding: &reader))
    case MessageType.credit: return .credit(try Credit(decoding: &reader))
    case MessageType.flushed: return try Flushed(decoding: &reader).map(ControlMessage.flushed)
    case MessageType.flushedAutomatically:
      return try Flushed(decoding: &reader).map(ControlMessage.flushedAutomatically)
    case MessageType.status: return .status(try RoomStatus(decoding: &reader))
    case MessageType.live: return try reader.liveStream().map(ControlMessage.live)
    case MessageType.liveReport:
      return try LiveReport(decoding: &reader).map(ControlMessage.liveReport)
    case MessageType.clip: return .clip(try ClipOffer(decoding: &reader))
    case MessageType.clipPiece: return .clipPiece(try ClipPiece(decoding: &reader))
    case MessageType.clipTime: return .clipTime(try ClipTime(decoding: &reader))
    case MessageType.clipState: return .clipState(try ClipState(decoding: &reader))
    case MessageType.codecs: return .codecs(try reader.codecs())
    case MessageType.goodbye: return .goodbye(try Goodbye(decoding: &reader))
    default: return nil
    }
  }

  /// Appends the message with its framing.
  package func encode(appendingTo bytes: inout [UInt8]) {
    ByteWriter.message(type, appendingTo: &bytes) { writer in
      switch self {
      case .hello(let hello): hello.encode(to: &writer)
      case .prove(let proof): writer.bytes(proof)
      case .anchor(let anchor): anchor.encode(to: &writer)
      case .flush(let flush): flush.encode(to: &writer)
      case .settings(let settings):
        settings.encode(to: &writer)
        settings.encodeLimit(to: &writer)
      case .sound(let sound): sound.encode(to: &writer)
      case .streamVolume(let volume): volume.encode(to: &writer)
      case .nowPlaying(let announcement): announcement.encode(to: &writer)
      case .live(let stream): writer.liveStream(stream)
      case .liveReport(let report): report.encode(to: &writer)
      case .clip(let offer): offer.encode(to: &writer)
      case .clipPiece(let piece): piece.encode(to: &writer)
      case .clipTime(let time): time.encode(to: &writer)
      case .clipState(let state): state.encode(to: &writer)
      case .keepAlive: break
      case .welcome(let welcome): welcome.encode(to: &writer)
      case .refuse(let refusal): refusal.encode(to: &writer)
      case .credit(let credit): credit.encode(to: &writer)
      case .flushed(let flushed), .flushedAutomatically(let flushed): flushed.encode(to: &writer)
      case .status(let status): status.encode(to: &writer)
      case .codecs(let codecs): writer.codecs(codecs)
      case .goodbye(let goodbye): goodbye.encode(to: &writer)
      }
    }
  }

  private var type: UInt16 {
    switch self {
    case .hello: MessageType.hello
    case .prove: MessageType.prove
    case .anchor: MessageType.anchor
    case .flush: MessageType.flush
    case .settings: MessageType.settings
    case .sound: MessageType.sound
    case .streamVolume: MessageType.streamVolume
    case .nowPlaying: MessageType.nowPlaying
    case .live: MessageType.live
    case .liveReport: MessageType.liveReport
    case .clip: MessageType.clip
    case .clipPiece: MessageType.clipPiece
    case .clipTime: MessageType.clipTime
    case .clipState: MessageType.clipState
    case .keepAlive: MessageType.keepAlive
    case .welcome: MessageType.welcome
    case .refuse: MessageType.refuse
    case .credit: MessageType.credit
    case .flushed: MessageType.flushed
    case .flushedAutomatically: MessageType.flushedAutomatically
    case .status: MessageType.status
    case .codecs: MessageType.codecs
    case .goodbye: MessageType.goodbye
    }
  }
}

extension Anchor {
  private static let playingRate: UInt32 = 1 << 16

  /// Nil if it is about another stream.
  fileprivate init?(decoding reader: inout ByteReader) throws(DecodeError) {
    guard try reader.uint32("stream") == 0 else { return nil }
    let rate: Rate
    switch try reader.uint32("rate") {
    case 0: rate = .paused
    case Self.playingRate: rate = .playing
    case let other: throw .outOfRange(field: "rate", value: Int64(other))
    }
    let mediaTime = try reader.mediaTime("media time")
    self.init(mediaTime: mediaTime, groupTime: try reader.groupTime("group time"), rate: rate)
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint32(0)
    switch rate {
    case .paused: writer.uint32(0)
    case .playing: writer.uint32(Self.playingRate)
    }
    writer.mediaTime(mediaTime)
    writer.groupTime(groupTime)
  }
}

extension Flush {
  fileprivate init?(decoding reader: inout ByteReader) throws(DecodeError) {
    guard try reader.uint32("stream") == 0 else { return nil }
    let generation = try reader.uint32(in: ProtocolLimits.generation, "generation")
    let from = try reader.mediaTime("from")
    let flags = try reader.uint8("flags")
    try reader.skip(3, "reserved")
    self.init(
      from: from, generation: generation, isRamped: flags & 1 != 0, isCrossed: flags & 2 != 0)
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint32(0)
    writer.uint32(generation)
    writer.mediaTime(from)
    writer.uint8((isRamped ? 1 : 0) | (isCrossed ? 2 : 0))
    writer.zeros(3)
  }
}

extension Flushed {
  fileprivate init?(decoding reader: inout ByteReader) throws(DecodeError) {
    guard try reader.uint32("stream") == 0 else { return nil }
    let generation = try reader.uint32(in: ProtocolLimits.generation, "generation")
    self.init(generation: generation, from: try reader.mediaTime("from"))
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint32(0)
    writer.uint32(generation)
    writer.mediaTime(from)
  }
}

extension Credit {
  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    let limit = try reader.uint64(in: ProtocolLimits.count, "limit")
    let bufferedUntil = try reader.mediaTime("buffered until")
    let heldBytes = try reader.uint64(in: ProtocolLimits.count, "held bytes")
    self.init(limit: limit, bufferedUntil: bufferedUntil, heldBytes: heldBytes)
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint64(limit, clampedTo: ProtocolLimits.count)
    writer.mediaTime(bufferedUntil)
    writer.uint64(heldBytes, clampedTo: ProtocolLimits.count)
  }
}

extension StreamVolume {
  /// Nil if it is about another stream.
  fileprivate init?(decoding reader: inout ByteReader) throws(DecodeError) {
    guard try reader.uint32("stream") == 0 else { return nil }
    let volume = try reader.uint16(in: ProtocolLimits.volume, "volume")
    let flags = try reader.uint8("flags")
    try reader.skip(1, "reserved")
    self.init(volume: volume, isMuted: flags & 1 != 0)
    guard flags & 2 != 0 else { return }
    rise = Rise(
      begin: try reader.groupTime("begin"),
      span: Nanoseconds(try reader.int64(in: ProtocolLimits.rise, "span")))
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint32(0)
    writer.uint16(min(volume, ProtocolLimits.volume.upperBound))
    writer.uint8((isMuted ? 1 : 0) | (rise == nil ? 0 : 2))
    writer.zeros(1)
    guard let rise else { return }
    writer.groupTime(rise.begin)
    writer.int64(rise.span.count, clampedTo: ProtocolLimits.rise)
  }
}

extension RoomSettings {
  private static let mutedFlag: UInt8 = 1
  private static let limitFlag: UInt8 = 2
  private static let fixedFlag: UInt8 = 4

  fileprivate init(decodingMessage reader: inout ByteReader) throws(DecodeError) {
    try self.init(decoding: &reader)
    try decodeLimit(&reader)
  }

  /// Reads all but the value of the limit, which stands at the end of its message: `decodeLimit` reads it.
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let volume = try reader.uint16(in: ProtocolLimits.volume, "volume")
    let flags = try reader.uint8("flags")
    let map = try reader.uint8("channel map")
    guard let channelMap = ChannelMap(rawValue: map) else {
      throw .outOfRange(field: "channel map", value: Int64(map))
    }
    let delay = Nanoseconds(try reader.int64(in: ProtocolLimits.roomDelay, "delay"))
    self.init(
      volume: volume, isMuted: flags & Self.mutedFlag != 0, delay: delay, channelMap: channelMap)
    guard flags & Self.limitFlag != 0 else { return }
    volumeLimit = .full
    volumeLimit?.isFixed = flags & Self.fixedFlag != 0
  }

  mutating func decodeLimit(_ reader: inout ByteReader) throws(DecodeError) {
    guard volumeLimit != nil else { return }
    volumeLimit?.volume = try reader.uint16(in: ProtocolLimits.volumeLimit, "volume limit")
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint16(min(volume, ProtocolLimits.volume.upperBound))
    var flags: UInt8 = isMuted ? Self.mutedFlag : 0
    if let volumeLimit { flags |= Self.limitFlag | (volumeLimit.isFixed ? Self.fixedFlag : 0) }
    writer.uint8(flags)
    writer.uint8(channelMap.rawValue)
    writer.int64(delay.count, clampedTo: ProtocolLimits.roomDelay)
  }

  func encodeLimit(to writer: inout ByteWriter) {
    guard let limit = volumeLimit?.volume else { return }
    let range = ProtocolLimits.volumeLimit
    writer.uint16(min(max(limit, range.lowerBound), range.upperBound))
  }
}

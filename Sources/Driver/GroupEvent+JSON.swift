import Audio
import Clock
import FFmpegSource
import Sender
import WireProtocol

/// The form for programs: one flat object, whose field `event` determines the others.
extension GroupEvent: Encodable {
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Field.self)
    if revision > 0 { try fields.encode(revision, forKey: .revision) }
    try change.encode(into: &fields)
  }
}

private enum Field: String, CodingKey {
  case event, revision, room, roomId, state, reason, item, itemId, title, artist, album, durationS
  case seekable, codec, positionS, buffering, silenceS, blockMs, latencyMs, status, events
  case positions
}

private typealias Fields = KeyedEncodingContainer<Field>

extension Fields {
  fileprivate mutating func name(_ event: String, because reason: String? = nil) throws {
    try encode(event, forKey: .event)
    try encodeIfPresent(reason, forKey: .reason)
  }

  fileprivate mutating func add(_ item: PlayItem) throws {
    try encode(item.location, forKey: .item)
    try encode(item.id, forKey: .itemId)
  }
}

extension GroupEvent.Change {
  fileprivate func encode(into fields: inout Fields) throws {
    switch self {
    case .group(let event): try event.encode(into: &fields)
    case .source(let notice): try notice.encode(into: &fields)
    case .status(let status):
      try fields.name("status")
      try fields.encode(status, forKey: .status)
    case .waiting(let reason): try fields.name("waiting", because: reason)
    case .leftOut(let events, let positions):
      try fields.name("leftOut")
      try fields.encode(events, forKey: .events)
      try fields.encode(positions, forKey: .positions)
    }
  }
}

extension SenderEvent {
  fileprivate func encode(into fields: inout Fields) throws {
    switch self {
    case .room(let room, let change):
      try fields.encode(room.name, forKey: .room)
      try fields.encode(room.id.number, forKey: .roomId)
      try change.encode(into: &fields)
    case .started: try fields.name("started")
    case .paused: try fields.name("paused")
    case .resumed: try fields.name("resumed")
    case .buffering(let buffering):
      try fields.name("buffering")
      try fields.add(buffering.item)
      try fields.encode(BufferingReport(buffering), forKey: .buffering)
    case .buffered(let silence):
      try fields.name("buffered")
      try fields.encode(silence.seconds.rounded(to: 9), forKey: .silenceS)
    case .itemStarted(let item):
      try fields.name("itemStarted")
      try item.encode(into: &fields)
    case .itemDescribed(let item):
      try fields.name("itemDescribed")
      try item.encode(into: &fields)
    case .itemEnded(let item):
      try fields.name("itemEnded")
      try fields.add(item)
    case .itemFailed(let item, let error):
      try fields.name(
        error.hasSounded ? "itemCutShort" : "itemFailed", because: error.description)
      try fields.add(item)
    case .playlistChanged: try fields.name("playlistChanged")
    case .position(let item, let position):
      try fields.name("position")
      try fields.add(item)
      try fields.encode(position.seconds.rounded(to: 9), forKey: .positionS)
    case .stopped: try fields.name("stopped")
    case .finished: try fields.name("finished")
    }
  }
}

extension SenderEvent.RoomChange {
  fileprivate func encode(into fields: inout Fields) throws {
    switch self {
    case .connected: try fields.name("roomConnected")
    case .gone(let reason): try fields.name("roomGone", because: reason)
    case .unreachable(let reason): try fields.name("roomUnreachable", because: reason)
    case .refused(let reason): try fields.name("roomRefused", because: reason)
    case .notPaired(let advice): try fields.name("roomNotPaired", because: advice)
    case .replaced(let reason): try fields.name("roomReplaced", because: reason)
    case .namedTwice: try fields.name("roomNamedTwice")
    case .state(let state, let detail):
      try fields.name("roomState", because: detail.isEmpty ? nil : detail)
      try fields.encode("\(state)", forKey: .state)
    case .flushed: try fields.name("roomFlushed")
    case .recoded(let codec):
      try fields.name("recoded")
      try fields.encode(codec.name, forKey: .codec)
    case .weak(let codec):
      try fields.name("roomWeak")
      try fields.encode(codec.name, forKey: .codec)
    case .recovered: try fields.name("roomRecovered")
    case .choseLatency(let latency):
      try fields.name("latencyChosen")
      try fields.encode(latency.count / 1_000_000, forKey: .latencyMs)
    }
  }
}

extension OpenedItem {
  fileprivate func encode(into fields: inout Fields) throws {
    try fields.add(item)
    try fields.encodeIfPresent(metadata.title, forKey: .title)
    try fields.encodeIfPresent(metadata.artist, forKey: .artist)
    try fields.encodeIfPresent(metadata.album, forKey: .album)
    try fields.encodeIfPresent(duration?.seconds.rounded(to: 9), forKey: .durationS)
    try fields.encode(isSeekable, forKey: .seekable)
    try fields.encodeIfPresent(wire?.codec.name, forKey: .codec)
    try fields.encodeIfPresent(wire?.description, forKey: .reason)
  }
}

extension SourceNotice {
  fileprivate func encode(into fields: inout Fields) throws {
    switch self {
    case .stalled: try fields.name("sourceStalled")
    case .resumed(_, let seconds):
      try fields.name("sourceResumed")
      try fields.encode(seconds, forKey: .silenceS)
    case .reconnecting(_, let reason): try fields.name("sourceReconnecting", because: reason)
    case .away(_, let reason): try fields.name("sourceAway", because: reason)
    case .back: try fields.name("sourceBack")
    case .longBlocks(_, let milliseconds, let latency):
      try fields.name("sourceLongBlocks")
      try fields.encode(milliseconds, forKey: .blockMs)
      try fields.encode(latency, forKey: .latencyMs)
    // The driver keeps it for itself.
    case .kept: break
    case .withoutEffects(_, let reason):
      try fields.name("sourceWithoutEffects", because: reason)
    }
    try fields.encode(location, forKey: .item)
  }
}

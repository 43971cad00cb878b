import Audio
import Clock
import FFmpegSource
import Sender
import WireProtocol

/// The form for programs: one flat object, whose field `event` determines the others.
extension GroupEvent: Codable {
  package func encode(to encoder: any Encoder) throws {
    var fields = Fields(change)
    fields.revision = revision > 0 ? revision : nil
    try fields.encode(to: encoder)
  }

  package init(from decoder: any Decoder) throws {
    let fields = try Fields(from: decoder)
    guard let change = fields.change else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(fields.event) lacks a field"))
    }
    self.init(revision: fields.revision ?? 0, change)
  }
}

private struct Fields: Codable {
  enum Name: String, Codable {
    case roomConnected = "room_connected"
    case roomGone = "room_gone"
    case roomUnreachable = "room_unreachable"
    case roomRefused = "room_refused"
    case roomNotPaired = "room_not_paired"
    case roomReplaced = "room_replaced"
    case roomNamedTwice = "room_named_twice"
    case roomState = "room_state"
    case roomFlushed = "room_flushed"
    case itemStarted = "item_started"
    case itemDescribed = "item_described"
    case itemEnded = "item_ended"
    case itemFailed = "item_failed"
    case itemCutShort = "item_cut_short"
    case playlistChanged = "playlist_changed"
    case sourceStalled = "source_stalled"
    case sourceResumed = "source_resumed"
    case sourceReconnecting = "source_reconnecting"
    case sourceAway = "source_away"
    case sourceBack = "source_back"
    case sourceLongBlocks = "source_long_blocks"
    case sourceWithoutEffects = "source_without_effects"
    case leftOut = "left_out"
    case latencyChosen = "latency_chosen"
    case recoded, started, paused, resumed, buffering, buffered, position, stopped, finished
    case status, waiting
  }

  var event: Name
  var revision: UInt64?
  var room: String?
  var roomId: Int?
  var state: String?
  var reason: String?
  var item: String?
  var itemId: Int?
  var title: String?
  var artist: String?
  var album: String?
  var durationS: Double?
  var seekable: Bool?
  var codec: String?
  var positionS: Double?
  var buffering: BufferingReport?
  var silenceS: Double?
  var blockMs: Int?
  var latencyMs: Int?
  var status: StatusReport?
  var events: Int?
  var positions: Int?
}

// MARK: - To JSON

extension Fields {
  init(_ change: GroupEvent.Change) {
    switch change {
    case .room(let room, let change): self.init(room, change)
    case .started: self.init(event: .started)
    case .paused: self.init(event: .paused)
    case .resumed: self.init(event: .resumed)
    case .buffering(let buffering):
      self.init(.buffering, buffering.item)
      self.buffering = BufferingReport(buffering)
    case .buffered(let silence):
      self.init(event: .buffered, silenceS: silence.seconds.rounded(to: 9))
    case .itemStarted(let item): self.init(.itemStarted, item)
    case .itemDescribed(let item): self.init(.itemDescribed, item)
    case .itemEnded(let item): self.init(.itemEnded, item)
    case .itemFailed(let item, let reason, let hasSounded):
      self.init(hasSounded ? .itemCutShort : .itemFailed, item)
      self.reason = reason
    case .playlistChanged: self.init(event: .playlistChanged)
    case .position(let item, let position):
      self.init(.position, item)
      positionS = position.seconds.rounded(to: 9)
    case .stopped: self.init(event: .stopped)
    case .finished: self.init(event: .finished)
    case .source(.stalled(let location)): self.init(event: .sourceStalled, item: location)
    case .source(.resumed(let location, let seconds)):
      self.init(event: .sourceResumed, item: location, silenceS: Double(seconds))
    case .source(.reconnecting(let location, let reason)):
      self.init(event: .sourceReconnecting, reason: reason, item: location)
    case .source(.away(let location, let reason)):
      self.init(event: .sourceAway, reason: reason, item: location)
    case .source(.back(let location)): self.init(event: .sourceBack, item: location)
    case .source(.longBlocks(let location, let milliseconds, let latency)):
      self.init(
        event: .sourceLongBlocks, item: location, blockMs: milliseconds, latencyMs: latency)
    case .source(.withoutEffects(let location, let reason)):
      self.init(event: .sourceWithoutEffects, reason: reason, item: location)
    case .status(let status): self.init(event: .status, status: status)
    case .waiting(let reason): self.init(event: .waiting, reason: reason)
    case .leftOut(let events, let positions):
      self.init(event: .leftOut, events: events, positions: positions)
    }
  }

  private init(_ room: GroupEvent.Room, _ change: GroupEvent.RoomChange) {
    switch change {
    case .connected: self.init(event: .roomConnected)
    case .gone(let reason): self.init(event: .roomGone, reason: reason)
    case .unreachable(let reason): self.init(event: .roomUnreachable, reason: reason)
    case .refused(let reason): self.init(event: .roomRefused, reason: reason)
    case .notPaired(let advice): self.init(event: .roomNotPaired, reason: advice)
    case .replaced(let reason): self.init(event: .roomReplaced, reason: reason)
    case .namedTwice: self.init(event: .roomNamedTwice)
    case .state(let state, let detail):
      self.init(event: .roomState, state: "\(state)", reason: detail.isEmpty ? nil : detail)
    case .flushed: self.init(event: .roomFlushed)
    case .recoded(let codec): self.init(event: .recoded, codec: codec.name)
    case .choseLatency(let latency):
      self.init(event: .latencyChosen, latencyMs: Int(latency.count / 1_000_000))
    }
    (self.room, roomId) = (room.name, room.id.number)
  }

  private init(_ name: Name, _ item: PlayItem) {
    self.init(event: name, item: item.location, itemId: item.id)
  }

  private init(_ name: Name, _ item: GroupEvent.Item) {
    self.init(name, item.item)
    (title, artist, album) = (item.title, item.artist, item.album)
    durationS = item.duration?.seconds.rounded(to: 9)
    (seekable, codec, reason) = (item.isSeekable, item.codec?.name, item.codecReason)
  }
}

// MARK: - From JSON

extension Fields {
  /// Nil if a field is missing.
  var change: GroupEvent.Change? {
    switch event {
    case .roomConnected, .roomGone, .roomUnreachable, .roomRefused, .roomNotPaired, .roomReplaced,
      .roomNamedTwice, .roomState, .roomFlushed, .recoded, .latencyChosen:
      guard let room, let roomId, let change = roomChange else { return nil }
      return .room(.init(id: RoomID(roomId), name: room), change)
    case .started: return .started
    case .paused: return .paused
    case .resumed: return .resumed
    case .buffering:
      guard let playItem, let buffering else { return nil }
      return .buffering(buffering.typed(playItem))
    case .buffered:
      return silenceS.map { .buffered(after: Nanoseconds(MediaDuration(seconds: $0))) }
    case .itemStarted: return described.map { .itemStarted($0) }
    case .itemDescribed: return described.map { .itemDescribed($0) }
    case .itemEnded: return playItem.map { .itemEnded($0) }
    case .itemFailed, .itemCutShort:
      return playItem.map {
        .itemFailed($0, reason: reason ?? "", hasSounded: event == .itemCutShort)
      }
    case .playlistChanged: return .playlistChanged
    case .position:
      guard let playItem, let positionS else { return nil }
      return .position(playItem, MediaDuration(seconds: positionS))
    case .stopped: return .stopped
    case .finished: return .finished
    case .sourceStalled: return item.map { .source(.stalled(location: $0)) }
    case .sourceResumed:
      return item.map {
        .source(.resumed(location: $0, afterSeconds: Int(exactly: silenceS ?? 0) ?? 0))
      }
    case .sourceReconnecting:
      return item.map { .source(.reconnecting(location: $0, reason: reason ?? "")) }
    case .sourceAway: return item.map { .source(.away(location: $0, reason: reason ?? "")) }
    case .sourceBack: return item.map { .source(.back(location: $0)) }
    case .sourceLongBlocks:
      return item.map {
        .source(
          .longBlocks(location: $0, milliseconds: blockMs ?? 0, latency: latencyMs ?? 0))
      }
    case .sourceWithoutEffects:
      return item.map { .source(.withoutEffects(location: $0, reason: reason ?? "")) }
    case .status: return status.map { .status($0) }
    case .waiting: return reason.map { .waiting(reason: $0) }
    case .leftOut: return .leftOut(events: events ?? 0, positions: positions ?? 0)
    }
  }

  private var roomChange: GroupEvent.RoomChange? {
    let reason = reason ?? ""
    switch event {
    case .roomConnected: return .connected
    case .roomGone: return .gone(reason: reason)
    case .roomUnreachable: return .unreachable(reason: reason)
    case .roomRefused: return .refused(reason: reason)
    case .roomNotPaired: return .notPaired(advice: reason)
    case .roomReplaced: return .replaced(reason: reason)
    case .roomNamedTwice: return .namedTwice
    case .roomState:
      return RoomStatus.State.allCases.first { "\($0)" == state }.map { .state($0, detail: reason) }
    case .roomFlushed: return .flushed
    case .recoded: return namedCodec.map { .recoded(from: $0) }
    case .latencyChosen: return latencyMs.map { .choseLatency(.milliseconds(Int64($0))) }
    default: return nil
    }
  }

  private var playItem: PlayItem? {
    guard let item, let itemId else { return nil }
    return PlayItem(id: itemId, location: item)
  }

  private var described: GroupEvent.Item? {
    playItem.map {
      .init(
        item: $0, title: title, artist: artist, album: album,
        duration: durationS.map { MediaDuration(seconds: $0) }, isSeekable: seekable ?? true,
        codec: namedCodec, codecReason: reason)
    }
  }

  private var namedCodec: Codec? { Codec.allCases.first { $0.name == codec } }
}

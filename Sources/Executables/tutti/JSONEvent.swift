import Clock
import FFmpegSource
import LinuxIO
import Sender
import WireProtocol

/// One event for programs.
struct JSONEvent: Encodable {
  var event: String
  var room: String?
  var state: String?
  var reason: String?
  var item: String?
  var title: String?
  var positionS: Double?
  /// On the wire.
  var codec: String?
  var buffering: BufferingReport?
  var silenceS: Double?
  var status: StatusReport?
  /// Of events that nobody read in time and that were left out.
  var events: Int?
  var positions: Int?

  init(event: String, reason: String? = nil, status: StatusReport? = nil) {
    self.event = event
    self.reason = reason
    self.status = status
  }

  init(dropped: OutputWriter.Dropped) {
    (event, events, positions) = ("left_out", dropped.lasting, dropped.passing)
  }

  init(_ notice: SourceNotice) {
    switch notice {
    case .stalled(let location): (event, item) = ("source_stalled", location)
    case .resumed(let location, _): (event, item) = ("source_resumed", location)
    case .reconnecting(let location, let reason):
      (event, item, self.reason) = ("source_reconnecting", location, reason)
    }
  }

  init(_ event: SenderEvent, names: (RoomID) -> String) {
    switch event {
    case .roomConnected(let id): (self.event, room) = ("room_connected", names(id))
    case .roomGone(let id, let why): (self.event, room, reason) = ("room_gone", names(id), why)
    case .roomUnreachable(let id, let why):
      (self.event, room, reason) = ("room_unreachable", names(id), why)
    case .roomRefused(let id, let why):
      (self.event, room, reason) = ("room_refused", names(id), why)
    case .roomReplaced(let id, let why):
      (self.event, room, reason) = ("room_replaced", names(id), why)
    case .roomIsTwin(_, let id): (self.event, room) = ("room_named_twice", names(id))
    case .roomState(let id, let state, let detail):
      (self.event, room, self.state) = ("room_state", names(id), "\(state)")
      reason = detail.isEmpty ? nil : detail
    case .started: self.event = "started"
    case .paused: self.event = "paused"
    case .resumed: self.event = "resumed"
    case .itemStarted(let opened):
      (self.event, item, title) = ("item_started", opened.item.location, opened.metadata.title)
      (self.codec, reason) = (opened.wire?.codec.name, opened.wire?.sentence)
    case .itemDescribed(let opened):
      (self.event, item, title) = ("item_described", opened.item.location, opened.metadata.title)
    case .itemFailed(let failed, let error):
      self.event = error.hasSounded ? "item_cut_short" : "item_failed"
      (item, reason) = (failed.location, "\(error)")
    case .itemEnded(let ended): (self.event, item) = ("item_ended", ended.location)
    case .playlistChanged: self.event = "playlist_changed"
    case .roomFlushed(let id): (self.event, room) = ("room_flushed", names(id))
    case .recoded(let id, let codec):
      (self.event, room, self.codec) = ("recoded", names(id), codec.name)
    case .position(let playing, let position):
      (self.event, item, positionS) = (
        "position", playing.location, position.seconds.rounded(to: 9)
      )
    case .buffering(let buffering):
      self.event = "buffering"
      (item, self.buffering) = (buffering.item.location, BufferingReport(buffering))
    case .buffered(let silence):
      (self.event, silenceS) = ("buffered", silence.seconds.rounded(to: 9))
    case .stopped: self.event = "stopped"
    case .finished: self.event = "finished"
    }
  }
}

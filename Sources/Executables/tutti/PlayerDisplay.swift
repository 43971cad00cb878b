import Clock
import FFmpegSource
import Foundation
import LinuxIO
import Sender
import WireProtocol

/// Shows a player at work: a line that is written over on a terminal, lines that stay otherwise, JSON for programs.
final class PlayerDisplay {
  private static let interval = Nanoseconds.milliseconds(200)
  /// Between lines that stay.
  private static let logInterval = Nanoseconds.seconds(5)
  private static let seekStep = MediaDuration.seconds(10)

  private let player: PlayerService
  private let isJSON: Bool
  private let terminal = Terminal()
  private var keyboard: DescriptorID?
  private var nextLine = HostClock.now
  private var isPaused = false

  init(_ player: PlayerService, isJSON: Bool) throws {
    self.player = player
    self.isJSON = isJSON
    if !terminal.isInteractive, !isJSON { nextLine = nextLine + Self.logInterval }
  }

  func run() throws {
    defer { terminal.restore() }
    player.onEvent = { [unowned self] in show($0) }
    player.onNotice = { [unowned self] in show($0) }
    if terminal.isInteractive, !isJSON { keyboard = try player.reactor.watch(descriptor: 0) }
    try player.run(observer: self)
  }

  /// When the display wants to be updated next.
  var nextDeadline: LocalTime { nextLine }

  func advance(to now: LocalTime) {
    guard nextLine <= now else { return }
    let status = player.statusReport
    if isJSON {
      nextLine = now + .seconds(1)
      printJSON(JSONEvent(event: "status", status: status))
    } else {
      nextLine = now + (terminal.isInteractive ? Self.interval : Self.logInterval)
      terminal.isInteractive
        ? terminal.show(Self.line(status)) : terminal.print(Self.line(status))
    }
  }

  /// True if the event was a key.
  func handle(_ event: ReactorEvent) -> Bool {
    guard case .readable(let id) = event, id == keyboard else { return false }
    for key in terminal.keys() { press(key) }
    nextLine = HostClock.now
    return true
  }

  private func press(_ key: Key) {
    let command: PlayerCommand? =
      switch key {
      case .character(" "): isPaused ? .resume : .pause
      case .left: .seekBy(MediaDuration(flicks: -Self.seekStep.flicks))
      case .right: .seekBy(Self.seekStep)
      case .up, .character("+"): .volumeBy(.all, 50)
      case .down, .character("-"): .volumeBy(.all, -50)
      case .character("n"): .next
      case .character("p"): .previous
      case .character("q"): .stop
      case .character("["): changed { $0.rate = Self.step($0.rate, by: -1) }
      case .character("]"): changed { $0.rate = Self.step($0.rate, by: 1) }
      case .character("{"): changed { $0.pitch = max(Effects.pitches.lowerBound, $0.pitch - 1) }
      case .character("}"): changed { $0.pitch = min(Effects.pitches.upperBound, $0.pitch + 1) }
      case .character("0"): changed { ($0.rate, $0.pitch) = (1, 0) }
      case .character: nil
      }
    if let command { try? player.carryOut(command) }
  }

  /// Nil where that changes nothing, or where they cannot be had here.
  private func changed(_ change: (inout Effects) -> Void) -> PlayerCommand? {
    let before = player.status.effects
    var effects = before
    change(&effects)
    guard effects != before else { return nil }
    do {
      try effects.check()
    } catch {
      terminal.print("\(error)")
      return nil
    }
    return .effects(effects)
  }

  /// To the next multiple of 0.05.
  private static func step(_ rate: Double, by steps: Double) -> Double {
    let stepped = ((rate * 20).rounded() + steps) / 20
    return min(max(stepped, Effects.rates.lowerBound), Effects.rates.upperBound)
  }

  private func show(_ event: SenderEvent) {
    if case .paused = event { isPaused = true }
    if case .resumed = event { isPaused = false }
    if isJSON {
      printJSON(JSONEvent(event, names: roomName))
    } else if let line = sentence(event) {
      terminal.print(line)
    }
  }

  private func show(_ notice: SourceNotice) {
    if isJSON {
      printJSON(JSONEvent(notice))
    } else {
      terminal.print("\(notice)")
    }
  }

  private func roomName(_ id: RoomID) -> String {
    player.status.rooms.first { $0.id == id }?.name
      ?? "room \(id.number)"
  }

  private func sentence(_ event: SenderEvent) -> String? {
    switch event {
    case .roomConnected(let id): "\(roomName(id)): connected"
    case .roomGone(let id, let reason): "\(roomName(id)): gone (\(reason)); trying again"
    case .roomUnreachable(let id, let reason):
      "\(roomName(id)): cannot be reached (\(reason)); trying again"
    case .roomRefused(let id, let reason), .roomReplaced(let id, let reason):
      "\(roomName(id)): \(reason)"
    case .roomIsTwin(_, let id): "\(roomName(id)) was named twice, and plays once"
    case .roomState(let id, .noDevice, let detail): "\(roomName(id)): no sound device: \(detail)"
    case .roomState(let id, .starved, _):
      "\(roomName(id)): nothing to play; its network is too slow"
    case .roomState, .roomFlushed, .started, .paused, .resumed, .itemEnded, .playlistChanged,
      .position, .renewed:
      nil
    case .itemStarted(let opened), .itemDescribed(let opened): Self.name(opened)
    case .itemFailed(_, let error): error.hasSounded ? "\(error)" : "skipped: \(error)"
    case .refused(let refusal): refusal.sentence
    case .recoded(let id, let codec):
      "\(roomName(id)) does not decode \(codec.title): encoded anew for all rooms"
    case .buffering(let buffering): "\(buffering)"
    case .buffered(let silence): "goes on after \(Int(silence.seconds.rounded(.up))) s of silence"
    case .stopped: "the list is at its end; go on with: tutti add FILE"
    case .finished: "finished"
    }
  }

  private static func name(_ opened: OpenedItem) -> String {
    let title =
      opened.metadata.title ?? (opened.item.location as NSString).lastPathComponent
    let artist = opened.metadata.artist.map { "\($0) – " } ?? ""
    let duration = opened.duration.map { " (\(TimeText.format($0.seconds)))" } ?? ""
    let wire = opened.wire.map { ", \($0.sentence)" } ?? ""
    return artist + title + duration + wire
  }

  static func line(_ status: StatusReport) -> String {
    let symbol =
      ["playing": "▶", "paused": "‖", "starting": "…", "buffering": "…"][status.state] ?? "■"
    let rooms = status.rooms.map { room in
      guard room.state == "playing", let error = room.syncErrorUs else {
        return "\(room.name) \(room.state)"
      }
      return String(
        format: "%@ %.0f µs +%@", room.name, error, TimeText.format(room.bufferedS ?? 0))
    }
    return "\(symbol) \(StatusText.progress(status))  " + rooms.joined(separator: "  ")
  }
}

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

  init(event: String, status: StatusReport) {
    self.event = event
    self.status = status
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
    case .renewed(let renewed, let position):
      (self.event, item, positionS) = ("renewed", renewed.location, position.seconds)
    case .roomFlushed(let id): (self.event, room) = ("room_flushed", names(id))
    case .recoded(let id, let codec):
      (self.event, room, self.codec) = ("recoded", names(id), codec.name)
    case .position(let playing, let position):
      (self.event, item, positionS) = ("position", playing.location, position.seconds)
    case .refused(let refusal): (self.event, reason) = ("refused", refusal.sentence)
    case .buffering(let buffering):
      self.event = "buffering"
      (item, self.buffering) = (buffering.item.location, BufferingReport(buffering))
    case .buffered(let silence): (self.event, silenceS) = ("buffered", silence.seconds)
    case .stopped: self.event = "stopped"
    case .finished: self.event = "finished"
    }
  }
}

extension CommandRefusal {
  var sentence: String {
    switch self {
    case .notSeekable(let item): "\(item.location): cannot be sought; it plays on"
    case .noSuchItem: "that item is not in the list any more; see: tutti queue"
    case .playlistIsFull: "the list is full: \(Playlist.limit) items"
    }
  }
}

package import House
import Sender

/// A group as the desktop sees it, and as the desktop steers it: it turns the group's state into the properties of MPRIS 2.2, and its
/// calls into orders. It has no state besides the properties that were told last.
package struct MediaPlayer: Hashable, Sendable {
  /// A group, and what else is shown of it.
  package struct Shown: Hashable, Sendable {
    /// Letters and figures with dashes; nil for a player that is no group of a household.
    package var slug: String?
    /// As people call it.
    package var name: String
    package var group: HouseState.Group
    /// The address of the item's picture.
    package var art: String?

    package init(slug: String?, name: String, group: HouseState.Group, art: String? = nil) {
      (self.slug, self.name, self.group, self.art) = (slug, name, group, art)
    }
  }

  /// Properties that have changed, and where the music goes on if it has leapt, in microseconds.
  package struct News: Hashable, Sendable {
    package var changed: [PlayerProperty]
    package var seekedUs: Int64?

    package init(changed: [PlayerProperty], seekedUs: Int64? = nil) {
      (self.changed, self.seekedUs) = (changed, seekedUs)
    }
  }

  /// Whoever turns a knob changes a property a hundred times a second: others are told at this interval at most, in milliseconds.
  package static let newsIntervalMs = 100.0
  /// An item that begins later than this was not begun by itself, in seconds.
  private static let usualBeginning = 1.0
  /// Addresses that can be opened are as long at most, in bytes.
  package static let addressLimit = 4_000

  package private(set) var shown: Shown
  /// The values that were told last, in the order of `PlayerProperty`.
  private var told: [BusValue] = []
  private var hasLeapt = false
  private var isChanged = false
  private var nextNewsMs = -Double.infinity

  package init(_ shown: Shown, at nowMs: Double) {
    self.shown = shown
    told = values(at: nowMs)
  }

  var group: HouseState.Group { shown.group }

  // MARK: - News

  package mutating func show(_ next: Shown, at nowMs: Double) {
    let isSame = next.group.item?.entryId == group.item?.entryId
    if isSame
      ? next.group.hasLeapt(since: group)
      : next.group.elapsed(at: nowMs) > Self.usualBeginning
    {
      hasLeapt = true
    }
    isChanged = isChanged || hasLeapt || next != shown
    shown = next
  }

  /// When there are news; nil if nothing has changed.
  package var nextDeadlineMs: Double? { isChanged ? nextNewsMs : nil }

  /// Nil if nothing is to be told by now.
  package mutating func nextNews(at nowMs: Double) -> News? {
    guard isChanged, nextNewsMs <= nowMs else { return nil }
    let values = values(at: nowMs)
    let changed = zip(PlayerProperty.allCases, zip(told, values))
      .filter { $0.news != nil && $1.0 != $1.1 }.map(\.0)
    let seeked = hasLeapt ? position(at: nowMs) : nil
    (told, isChanged, hasLeapt) = (values, false, false)
    guard !changed.isEmpty || seeked != nil else { return nil }
    nextNewsMs = nowMs + Self.newsIntervalMs
    return News(changed: changed, seekedUs: seeked)
  }

  /// Nothing that has changed before is told, as everybody asks anew.
  package mutating func begin(at nowMs: Double) {
    (told, isChanged, hasLeapt) = (values(at: nowMs), false, false)
  }

  private func values(at nowMs: Double) -> [BusValue] {
    PlayerProperty.allCases.map { value(of: $0, at: nowMs) }
  }

  // MARK: - Properties

  package func value(of property: PlayerProperty, at nowMs: Double) -> BusValue {
    switch property {
    case .canQuit, .canRaise, .hasTrackList: .flag(false)
    case .identity: .text(BusText.clean(shown.name))
    case .desktopEntry: .text("tutti")
    case .schemes: .texts(["http", "https"])
    case .types: .texts(Self.types)
    case .status: .text(status)
    case .loop: .text(Self.loop(group.repeat))
    case .rate: .number(group.rate)
    case .shuffle: .flag(group.queue.isShuffled)
    case .metadata: .fields(metadata)
    case .volume: .number(min(max(group.volume / 100, 0), 1))
    case .position: .span(position(at: nowMs))
    case .leastRate: .number(Effects.rates.lowerBound)
    case .mostRate: .number(Effects.rates.upperBound)
    case .canGoNext: .flag(canGoNext)
    case .canGoPrevious: .flag(group.item != nil)
    case .canPlay: .flag(canPlay)
    case .canPause: .flag(group.item != nil)
    case .canSeek: .flag(canSeek)
    case .canControl: .flag(true)
    }
  }

  /// Formats that others may hand over; the address is opened whatever it holds.
  private static let types = [
    "audio/mpeg", "audio/flac", "audio/x-flac", "audio/ogg", "audio/opus", "audio/aac", "audio/mp4",
    "audio/wav", "audio/x-wav", "audio/mpegurl", "audio/x-mpegurl", "audio/x-scpls",
    "application/ogg", "application/vnd.apple.mpegurl", "application/xspf+xml",
  ]

  var isPlaying: Bool {
    switch group.state {
    case .starting, .playing, .buffering: true
    case .stopped, .paused: false
    }
  }

  private var status: String {
    switch group.state {
    case .starting, .playing, .buffering: "Playing"
    case .paused: "Paused"
    case .stopped: "Stopped"
    }
  }

  var canPlay: Bool { group.queue.count > 0 }
  var canSeek: Bool { group.item?.isSeekable ?? false }

  var canGoNext: Bool {
    guard let index = group.queue.index else { return false }
    return group.repeat != .off || index + 1 < group.queue.count
  }

  func position(at nowMs: Double) -> Int64 {
    Self.microseconds(max(0, group.elapsed(at: nowMs)))
  }

  static func microseconds(_ seconds: Double) -> Int64 {
    guard seconds.isFinite else { return 0 }
    // A century.
    return Int64((min(max(seconds, -3.2e9), 3.2e9) * 1e6).rounded())
  }

  // MARK: - The track

  static func path(ofTrack entry: Int) -> String { "/org/tutti/entry/\(entry.magnitude)" }

  private var metadata: [BusValue.Field] {
    guard let item = group.item else { return [] }
    var fields = [BusValue.Field("mpris:trackid", .path(Self.path(ofTrack: item.entryId)))]
    if let length = item.durationS {
      fields.append(.init("mpris:length", .span(Self.microseconds(max(0, length)))))
    }
    if let art = shown.art {
      fields.append(.init("mpris:artUrl", .text(BusText.clean(art, limit: Self.addressLimit))))
    }
    fields.append(.init("xesam:title", .text(BusText.clean(item.title))))
    if let artist = item.artist {
      fields.append(.init("xesam:artist", .texts([BusText.clean(artist)])))
    }
    if let album = item.album { fields.append(.init("xesam:album", .text(BusText.clean(album)))) }
    return fields
  }
}

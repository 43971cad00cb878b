internal import Clock
internal import Driver
internal import FFmpegSource
internal import Sender
internal import WireProtocol

/// An event of a player.
public enum PlayerEvent: Hashable, Sendable, RoomTelling {
  /// The rooms are together, and the first frame is about to sound.
  case started
  case paused
  /// After `paused`; a player that begins has `started`.
  case resumed
  /// All rooms stand still at one frame, because the source of the item delivers later than it is to sound. They go on
  /// from the same frame once so much of it is there as `needed` says; `arrived` of that is there already.
  case buffering(Player.Item.ID, arrived: Duration, needed: Duration)
  /// They go on, after this long a silence.
  case buffered(after: Duration)
  /// The item's first frame sounds now: it is the current one from here on.
  case itemStarted(Player.CurrentItem)
  /// The current item says something else of itself from here on, as a radio station does.
  case itemDescribed(Player.CurrentItem)
  /// The item's last frame has sounded. Not said of one that was skipped.
  case itemEnded(Player.Item.ID)
  /// It cannot be played, or not any further; the next one is. `reason` is one line that names it.
  case itemFailed(Player.Item.ID, reason: String)
  /// The list was edited.
  case playlistChanged
  /// Everything in the list has sounded. What is appended plays on.
  case stopped
  case room(RoomEvent)
  /// A network source waits, or goes on; one line for people.
  case sourceNotice(String)

  var room: RoomEvent? { if case .room(let event) = self { event } else { nil } }

  /// Nil for what concerns nobody outside.
  init?(_ change: GroupEvent.Change, _ media: CustomMedia, id: (RoomID) -> Room.ID) {
    switch change {
    case .group(.room(let room, let change)):
      guard let event = RoomEvent(room, change, id: id) else { return nil }
      self = .room(event)
    case .group(let event): self.init(event, media)
    case .source(let notice): self = .sourceNotice(notice.description)
    case .status, .waiting, .leftOut: return nil
    }
  }

  private init?(_ event: SenderEvent, _ media: CustomMedia) {
    switch event {
    case .started: self = .started
    case .paused: self = .paused
    case .resumed: self = .resumed
    case .buffering(let buffering):
      self = .buffering(
        .init(buffering.item.id), arrived: Duration(buffering.arrived),
        needed: Duration(buffering.needed))
    case .buffered(let silence): self = .buffered(after: Duration(silence))
    case .itemStarted(let item): self = .itemStarted(.init(item, media))
    case .itemDescribed(let item): self = .itemDescribed(.init(item, media))
    case .itemEnded(let item): self = .itemEnded(.init(item.id))
    case .itemFailed(let item, let error):
      self = .itemFailed(.init(item.id), reason: error.description)
    case .playlistChanged: self = .playlistChanged
    case .stopped: self = .stopped
    case .room, .position, .finished: return nil
    }
  }
}

extension Player {
  /// An item of the playlist.
  public struct Item: Hashable, Sendable, Identifiable {
    /// Stays with the item however the list is edited, and is never used again.
    public struct ID: Hashable, Sendable {
      let number: Int

      init(_ number: Int) { self.number = number }
    }

    public let id: ID
    /// The path, the address, or the name of a custom item.
    public let name: String
    /// The source that it was made of, with the identity that the program knows it by. Store it, and append it again.
    public let media: Media

    init(_ item: PlayItem, media: Media) {
      id = ID(item.id)
      name = CustomMedia.name(of: item.location)
      self.media = media
    }
  }

  /// The item that sounds, and what is known of it.
  public struct CurrentItem: Hashable, Sendable {
    public let item: Item
    /// Nil where it is not known, as of a radio station.
    public let duration: Duration?
    public let isSeekable: Bool
    public let title: String?
    public let artist: String?
    public let album: String?
    /// All that the item says of itself: track, cover, chapters, and whether it has pictures.
    public let metadata: MediaMetadata
    /// The codec in which it goes to the rooms, and the reason for it, for people: `MP3 as it is`.
    public let codec: String?
    /// The position up to which the item has arrived from its source; nil in events.
    public let arrived: Duration?

    init(_ item: OpenedItem, _ media: CustomMedia, arrived: MediaDuration? = nil) {
      self.item = media.item(item.item)
      duration = item.duration.map { Duration($0) }
      isSeekable = item.isSeekable
      let said = item.metadata
      (title, artist, album) = (said.title, said.artist, said.album)
      metadata = MediaMetadata(said)
      codec = item.wire?.description
      self.arrived = arrived.map { Duration($0) }
    }
  }
}

import Clock
package import Sender
import WireProtocol

/// One player's list and rooms, and what is known of its items. Carries out orders, and says in words what was done. A
/// household's groups have further rules: see `HouseGroup`.
package final class Player {
  package let port: any GroupPlayer
  /// Facts that were given with entries when they were added, by their identities.
  package internal(set) var details: [Int: Order.NewEntry] = [:]
  /// Items that a short list remembers as opened or failed: a longer one remembers twice its own number. Beyond it, those that
  /// have left the list are forgotten.
  package static let rememberedLimit = 200
  /// Reasons why items could not be played.
  package private(set) var failedItems: [Int: MediaError] = [:]
  /// The last of them. It is forgotten when somebody chooses what plays, and with the second item that begins after it: the
  /// first one is heard in its place.
  package private(set) var lastFailed: Int?
  /// True from a failure until the next item begins.
  private var hasFailed = false
  private var openedItems: [Int: OpenedItem] = [:]
  /// The common volume of all rooms.
  private var volume = GroupVolume()
  /// Draws the orders of shuffled lists.
  var random: SplitMix64

  package init(_ port: any GroupPlayer, seed: UInt64) {
    self.port = port
    random = SplitMix64(seed: seed)
  }

  package var status: GroupStatus { port.status() }
  package var playlist: Playlist { port.session.playlist }
  package var items: [PlayItem] { playlist.items }

  package func note(_ event: SenderEvent) {
    switch event {
    case .itemStarted(let item):
      remember(item)
      // Items are read ahead of what sounds: one that ends early has failed before it begins itself.
      if hasFailed, item.item.id == lastFailed { break }
      if !hasFailed { lastFailed = nil }
      hasFailed = false
    case .itemDescribed(let item): remember(item)
    case .itemFailed(let item, let error): remember(item, failed: error)
    default: break
    }
  }

  private func remember(_ item: OpenedItem) {
    var item = item
    // Nobody asks for the picture here, and a long list has thousands.
    item.metadata.artwork = nil
    openedItems[item.item.id] = item
    guard isFull(openedItems.count) else { return }
    let present = Set(items.map(\.id))
    openedItems = openedItems.filter { present.contains($0.key) }
  }

  private func remember(_ item: PlayItem, failed error: MediaError) {
    (lastFailed, hasFailed) = (item.id, true)
    failedItems[item.id] = error
    guard isFull(failedItems.count) else { return }
    // The last one stays, as it may be all that is to be told.
    let present = Set(items.map(\.id) + [item.id])
    failedItems = failedItems.filter { present.contains($0.key) }
  }

  /// Somebody has chosen an entry, which is tried anew.
  func forgetFailure(of entry: Int) {
    (lastFailed, hasFailed) = (nil, false)
    failedItems[entry] = nil
  }

  private func isFull(_ count: Int) -> Bool { count > max(2 * items.count, Self.rememberedLimit) }

  /// The item as its source described it; nil if it was not opened yet.
  package func opened(_ item: PlayItem, _ status: GroupStatus) -> OpenedItem? {
    if let next = status.next?.opened, next.item.id == item.id { return next }
    return openedItems[item.id]
  }

  /// The item's name for people.
  package func name(of item: PlayItem) -> String {
    let opened = opened(item, status)?.metadata
    let known = details[item.id]
    return ItemName.text(
      title: known?.title ?? opened?.title ?? item.title, artist: known?.artist ?? opened?.artist,
      location: item.location)
  }

  // MARK: - Volume

  /// Volumes of the rooms that have reported theirs.
  package func volumes(_ status: GroupStatus) -> [String: Double] {
    let set = status.rooms.compactMap { room in
      room.settings.map { ("\(room.id.number)", Double($0.volume) / 10) }
    }
    return Dictionary(set, uniquingKeysWith: { $1 })
  }

  /// The highest volume that it asks of any room, 0 to 100.
  package var volumeCap = 100.0 {
    didSet { _ = port.carryOut(.volumeCap(UInt16((volumeCap * 10).rounded()))) }
  }

  private func limits(_ status: GroupStatus) -> [String: Double] {
    let set = status.rooms.compactMap { room in
      room.settings.map {
        ("\(room.id.number)", min(Double($0.volumeLimit?.volume ?? 1000) / 10, volumeCap))
      }
    }
    return Dictionary(set, uniquingKeysWith: { $1 })
  }

  package func level(of volumes: [String: Double]) -> Double { volume.level(of: volumes) }

  /// Moves the common volume to a level, or by a step. As many steps back as ahead leave each room as loud as it was.
  func setVolume(_ level: Double, isStep: Bool) throws(Refusal) {
    let (status, now) = (status, volumes(status))
    let moved = volume.move(
      to: isStep ? volume.level(of: now) + level : level, now, limits: limits(status))
    for room in status.rooms {
      guard let level = moved["\(room.id.number)"] else { continue }
      try carryOut(.volume(.room(room.id), UInt16((level * 10).rounded())))
    }
  }
}

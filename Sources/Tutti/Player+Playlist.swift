internal import Driver
internal import LinuxIO
internal import Sender

/// The playlist. Every edit may be made while music plays, and *continues*: what still matches plays on without a seam,
/// and what the rooms hold of the rest is replaced behind it. `jump` *restarts*: all that is enqueued is dropped for the
/// item asked for.
extension Player {
  /// Where an item goes.
  public enum Place: Hashable, Sendable {
    case end
    /// Before the item that stands at this index, from 0; beyond the last: at the end.
    case index(Int)
    case after(Item.ID)
    /// After the current item.
    case next

    var place: PlaylistEdit.Place {
      switch self {
      case .end: .end
      case .index(let index): .index(index)
      case .after(let id): .after(id.number)
      case .next: .next
      }
    }
  }

  public enum Repetition: Hashable, Sendable {
    case off
    /// The current item, over and over.
    case one
    /// From the last item to the first.
    case all
  }

  /// All items, in their order.
  ///
  /// - Throws: `TuttiError.closed`.
  public func items() async throws(TuttiError) -> [Item] {
    try await engine.perform { $0.driver.session.playlist.items.map(Item.init) }
  }

  /// - Returns: the identities of the new items.
  /// - Throws: `TuttiError.playlistIsFull` beyond 65 536 items; `closed`.
  @discardableResult
  public func append(_ media: [Media]) async throws(TuttiError) -> [Item.ID] {
    try await insert(media, at: .end)
  }

  /// - Returns: the identities of the new items.
  /// - Throws: `TuttiError.playlistIsFull` beyond 65 536 items; `closed`.
  @discardableResult
  public func insert(_ media: [Media], at place: Place) async throws(TuttiError) -> [Item.ID] {
    try await add(media) { .insert($0, place.place) }
  }

  /// Others take an item's place.
  ///
  /// - Returns: the identities of the new items; none where `id` is not in the list.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func replace(_ id: Item.ID, with media: [Media]) async throws(TuttiError) -> [Item.ID] {
    try await add(media) { .replace(id.number, with: $0) }
  }

  /// Items that are not in the list are passed over. Where the current one is removed, the one that follows it plays at
  /// once.
  ///
  /// - Throws: `TuttiError.closed`.
  public func remove(_ ids: [Item.ID]) async throws(TuttiError) {
    try await engine.carryOut(.edit(.remove(ids.map(\.number))))
  }

  /// - Throws: `TuttiError.closed`.
  public func move(_ id: Item.ID, to place: Place) async throws(TuttiError) {
    try await engine.carryOut(.edit(.move(id.number, place.place)))
  }

  /// Empties the list: the sound ends.
  ///
  /// - Throws: `TuttiError.closed`.
  public func clear() async throws(TuttiError) { try await engine.carryOut(.edit(.clear)) }

  /// Puts all other items behind the current one.
  ///
  /// - Parameter seed: decides the order; nil draws one.
  /// - Throws: `TuttiError.closed`; `unavailable` where the system has no random numbers.
  public func shuffle(seed: UInt64? = nil) async throws(TuttiError) {
    let drawn: UInt64
    do {
      drawn = try seed ?? SystemRandom.number()
    } catch {
      throw .unavailable("\(error)")
    }
    try await engine.carryOut(.edit(.shuffle(seed: drawn)))
  }

  /// - Throws: `TuttiError.closed`.
  public func setRepetition(_ repetition: Repetition) async throws(TuttiError) {
    let mode: Playlist.Repetition =
      switch repetition {
      case .off: .off
      case .one: .one
      case .all: .all
      }
    try await engine.carryOut(.edit(.setRepetition(mode)))
  }

  /// Restarts at an item: everything that is enqueued is dropped.
  ///
  /// - Throws: `TuttiError.noSuchItem`; `closed`.
  public func jump(to id: Item.ID, at position: PlaybackTime = .zero) async throws(TuttiError) {
    try await engine.carryOut(.jump(to: id.number, at: position.span))
  }

  private func add(
    _ media: [Media], _ edit: @escaping @Sendable ([PlaylistEntry]) -> PlaylistEdit
  ) async throws(TuttiError) -> [Item.ID] {
    let registry = self.media
    let outcome = try await engine.answer { loop in
      loop.driver.carryOut(.edit(edit(media.map(registry.entry))))
    }
    guard case .added(let ids) = outcome else { return [] }
    return ids.map(Item.ID.init)
  }
}

internal import Driver
internal import LinuxIO
internal import Sender

/// The playlist. Every edit may be made while music plays, and *continues*: audio that still matches plays on without a
/// seam, and the rest of the rooms' buffers is replaced behind it. `jump` *restarts*: all enqueued audio is dropped for
/// the requested item.
extension Player {
  /// The place at which to insert an item.
  public enum Place: Hashable, Sendable {
    case end
    /// Before the item at this index, counted from 0; beyond the last: at the end.
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
    /// All items, from the last to the first again.
    case all
  }

  /// Returns all items, in order.
  ///
  /// - Throws: `TuttiError.closed`.
  public func items() async throws(TuttiError) -> [Item] {
    try await engine.perform { [media] in $0.driver.session.playlist.items.map(media.item) }
  }

  /// Adds items at the end.
  ///
  /// - Returns: the identities of the new items.
  /// - Throws: `TuttiError.playlistIsFull` beyond 65 536 items; `closed`.
  @discardableResult
  public func append(_ media: [Media]) async throws(TuttiError) -> [Item.ID] {
    try await insert(media, at: .end)
  }

  /// Inserts items.
  ///
  /// - Returns: the identities of the new items.
  /// - Throws: `TuttiError.playlistIsFull` beyond 65 536 items; `closed`.
  @discardableResult
  public func insert(_ media: [Media], at place: Place) async throws(TuttiError) -> [Item.ID] {
    try await add(media) { .insert($0, place.place) }
  }

  /// Replaces an item by others.
  ///
  /// - Returns: the identities of the new items; none if `id` is not in the list.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func replace(_ id: Item.ID, with media: [Media]) async throws(TuttiError) -> [Item.ID] {
    try await add(media) { .replace(id.number, with: $0) }
  }

  /// Removes items, and ignores those that are not in the list. If the current one is removed, the item after it plays
  /// at once.
  ///
  /// - Throws: `TuttiError.closed`.
  public func remove(_ ids: [Item.ID]) async throws(TuttiError) {
    try await engine.carryOut(.edit(.remove(ids.map(\.number))))
  }

  /// Moves an item.
  ///
  /// - Throws: `TuttiError.closed`.
  public func move(_ id: Item.ID, to place: Place) async throws(TuttiError) {
    try await engine.carryOut(.edit(.move(id.number, place.place)))
  }

  /// Empties the list, which ends the sound.
  ///
  /// - Throws: `TuttiError.closed`.
  public func clear() async throws(TuttiError) { try await engine.carryOut(.edit(.clear)) }

  /// Shuffles all other items behind the current one.
  ///
  /// - Parameter seed: determines the order; nil draws one.
  /// - Throws: `TuttiError.closed`; `unavailable` if the system has no random numbers.
  public func shuffle(seed: UInt64? = nil) async throws(TuttiError) {
    let drawn: UInt64
    do {
      drawn = try seed ?? SystemRandom.number()
    } catch {
      throw .unavailable("\(error)")
    }
    try await engine.carryOut(.edit(.shuffle(seed: drawn)))
  }

  /// Sets the repetition.
  ///
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

  /// Restarts at an item, and drops all enqueued audio.
  ///
  /// - Returns: as `seek`.
  /// - Throws: `TuttiError.noSuchItem`; `cancelled` with the task, which takes nothing back; `closed`.
  @discardableResult
  public func jump(
    to id: Item.ID, at position: PlaybackTime = .zero, within limit: Duration = usualLimit
  ) async throws(TuttiError) -> Outcome {
    try await engine.hear(.place, within: limit) {
      $0.carryOut(.jump(to: id.number, at: position.span))
    }
  }

  private func add(
    _ media: [Media], _ edit: @escaping @Sendable ([PlaylistEntry]) -> PlaylistEdit
  ) async throws(TuttiError) -> [Item.ID] {
    let registry = self.media
    let outcome = try await engine.answer { loop in
      let reply = loop.driver.carryOut(.edit(edit(media.map(registry.entry))))
      if case .success(.added(let ids)) = reply { registry.list(media, as: ids) }
      return reply
    }
    guard case .added(let ids) = outcome else { return [] }
    return ids.map(Item.ID.init)
  }
}

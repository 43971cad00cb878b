/// Plays a list of items one after the other without gaps, and lets it be edited while it plays: what Apple's sample
/// `SampleBufferPlayer` is on a Mac.
///
/// It is written with nothing but this library's public interface, and shows how a player of your own can look: a
/// ``MediaReader`` reads each item, an ``AudioRenderer`` plays what it gives well ahead, and a ``RenderSynchronizer`` says
/// when. A ``Player`` does more with less, and is the right choice unless you want to change how items become sound.
public actor SampleQueuePlayer {
  /// One entry of the list. Two items of one file are two items.
  public struct Item: Sendable, Identifiable {
    public struct ID: Hashable, Sendable {
      private let number = UInt64.random(in: .min ... .max)
    }

    public let id = ID()
    public let media: Media

    public init(_ media: Media) { self.media = media }
  }

  public enum Event: Hashable, Sendable {
    /// The item's first frame sounds now.
    case itemStarted(Item.ID)
    /// The item cannot be played, or not any further; the next one is. One line for people.
    case itemFailed(Item.ID, reason: String)
    /// All items have sounded.
    case stopped
  }

  /// An item on the timeline. Its `offset` sounds at `start`.
  private struct Placed {
    var id: Item.ID
    var start: PlaybackTime
    var offset: PlaybackTime
    var announcer: Task<Void, Never>
  }

  public nonisolated let renderer: AudioRenderer
  public nonisolated let synchronizer = RenderSynchronizer()
  /// For one listener.
  public nonisolated let events: AsyncStream<Event>
  private nonisolated let listener: AsyncStream<Event>.Continuation
  public private(set) var items: [Item] = []
  /// In order; what lies before the sounding one is forgotten.
  private var placed: [Placed] = []
  /// Until then what was left behind sounds, on a timeline of its own.
  private var beginning = HostTime(nanoseconds: 0)
  /// Reads items, and enqueues them.
  private var filling: Task<Void, Never>?
  /// The end of what is enqueued.
  private var enqueuedEnd = PlaybackTime.zero
  /// All items are enqueued.
  private var isComplete = false
  /// The rate at which it plays, or will go on.
  private var rate = 1.0
  private var isEditing = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  public init(rooms: [Room], settings: OutputSettings = .init()) async throws(TuttiError) {
    renderer = try await AudioRenderer(rooms: rooms, settings: settings)
    (events, listener) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_024))
    try await synchronizer.add(renderer)
    let rendered = renderer.events
    Task { [weak self] in
      for await event in rendered where event == .ended { await self?.hasEnded() }
    }
  }

  public func close() async {
    await stopFilling()
    await renderer.close()
    listener.finish()
  }

  // MARK: - The list

  /// Nil while the player is stopped.
  public var currentItem: Item? {
    sounding.flatMap { sounding in items.first { $0.id == sounding.id } }
  }

  public var currentIndex: Int? {
    sounding.flatMap { sounding in items.firstIndex { $0.id == sounding.id } }
  }

  /// The position in the current item; zero if there is none.
  public var position: PlaybackTime {
    guard let sounding else { return .zero }
    return sounding.offset + (now - sounding.start)
  }

  private var now: PlaybackTime { HostTime.now < beginning ? .zero : synchronizer.currentTime }

  private var sounding: Placed? {
    let now = now
    return placed.last { $0.start <= now } ?? placed.first
  }

  /// Inserts items before the one at an index, or at the end.
  public func insert(_ new: [Item], at index: Int = .max) async throws(TuttiError) {
    try await edit { $0.insert(contentsOf: new, at: min(max(0, index), $0.count)) }
  }

  /// Removes items. If the current one is removed, the one after it plays at once.
  public func remove(_ ids: Set<Item.ID>) async throws(TuttiError) {
    try await edit { $0.removeAll { ids.contains($0.id) } }
  }

  /// Moves an item to an index of the list without it.
  public func move(_ id: Item.ID, to index: Int) async throws(TuttiError) {
    try await edit { items in
      guard let from = items.firstIndex(where: { $0.id == id }) else { return }
      let item = items.remove(at: from)
      items.insert(item, at: min(max(0, index), items.count))
    }
  }

  private func edit(_ change: @Sendable (inout [Item]) -> Void) async throws(TuttiError) {
    try await inTurn { player throws(TuttiError) in
      let before = player.currentIndex
      change(&player.items)
      guard let before, let sounding = player.sounding else { return 0 }
      if player.items.contains(where: { $0.id == sounding.id }) {
        try await player.continueWithCurrentItems()
        return 0
      }
      let rate = player.synchronizer.rate
      return try await player.restart(at: before, offset: .zero) ? rate : 0
    }
  }

  /// Carries out edits one after the other, because an actor admits others at each `await`. Then starts time at the rate
  /// that `body` returns: a start may wait long for an item, and the next edit must not.
  private func inTurn(
    _ body: (isolated SampleQueuePlayer) async throws(TuttiError) -> Double
  ) async throws(TuttiError) {
    if isEditing {
      await withCheckedContinuation { waiting.append($0) }
    } else {
      isEditing = true
    }
    let result: Result<Double, TuttiError>
    do throws(TuttiError) { result = .success(try await body(self)) } catch {
      result = .failure(error)
    }
    if waiting.isEmpty { isEditing = false } else { waiting.removeFirst().resume() }
    let rate = try result.get()
    if rate != 0 { try await synchronizer.setRate(rate) }
  }

  // MARK: - Playing

  /// Plays an item from a position on, whatever has sounded before. Without an item at this index, the sound ends.
  public func play(at index: Int, from offset: PlaybackTime = .zero) async throws(TuttiError) {
    try await inTurn { player throws(TuttiError) in
      try await player.restart(at: index, offset: offset) ? player.rate : 0
    }
  }

  /// Goes on, or begins with the first item.
  public func play() async throws(TuttiError) {
    if placed.isEmpty { return try await play(at: 0) }
    try await synchronizer.setRate(rate)
  }

  public func pause() async throws(TuttiError) { try await synchronizer.setRate(0) }

  /// Seeks in the current item.
  public func seek(to position: PlaybackTime) async throws(TuttiError) {
    try await inTurn { player throws(TuttiError) in
      let rate = player.synchronizer.rate
      guard let index = player.currentIndex else { return 0 }
      return try await player.restart(at: index, offset: position) ? rate : 0
    }
  }

  /// Plays faster or slower, from now on or when it goes on.
  ///
  /// - Parameter rate: 0.25 to 4.
  public func setRate(_ rate: Double) async throws(TuttiError) {
    if synchronizer.rate != 0 { try await synchronizer.setRate(rate) }
    self.rate = rate
  }

  // MARK: - Restart, or continue

  /// Forgets all that is enqueued, and begins with this item. What follows is a timeline of its own, from zero on. Returns false
  /// if there is no such item: then there is nothing to start.
  private func restart(at index: Int, offset: PlaybackTime) async throws(TuttiError) -> Bool {
    await stopFilling()
    forget(from: 0)
    beginning = try await synchronizer.seek(to: .zero)
    guard items.indices.contains(index) else {
      _ = listener.yield(.stopped)
      return false
    }
    await fill(from: items[index].id, offset: offset, at: .zero)
    return true
  }

  /// Keeps what still matches the list, from the sounding item on, and enqueues anew what does not.
  private func continueWithCurrentItems() async throws(TuttiError) {
    let now = now
    let first = placed.lastIndex { $0.start <= now } ?? 0
    guard placed.indices.contains(first),
      let index = items.firstIndex(where: { $0.id == placed[first].id })
    else { return }
    var kept = first
    while kept < placed.count, index + kept - first < items.count,
      placed[kept].id == items[index + kept - first].id
    {
      kept += 1
    }
    let next = index + kept - first
    // All that is enqueued matches, and whoever enqueues goes on with the list as it is then.
    if kept == placed.count, !isComplete || next == items.count { return }
    await stopFilling()
    let edge = kept < placed.count ? placed[kept].start : enqueuedEnd
    forget(from: kept)
    let start = try await renderer.flush(from: edge)
    guard next < items.count else {
      enqueuedEnd = start
      return finish()
    }
    await fill(from: items[next].id, offset: .zero, at: start)
  }

  private func forget(from index: Int) {
    for one in placed[index...] { one.announcer.cancel() }
    placed.removeSubrange(index...)
    isComplete = false
  }

  // MARK: - Enqueuing

  private func stopFilling() async {
    filling?.cancel()
    await filling?.value
    filling = nil
  }

  private func fill(from id: Item.ID, offset: PlaybackTime, at start: PlaybackTime) async {
    enqueuedEnd = start
    await place(id, offset: offset, at: start)
    filling = Task { await self.enqueue(from: id, offset: offset) }
  }

  /// Enqueues an item that has its place, and those that follow it in the list as that is by then.
  private func enqueue(from first: Item.ID, offset: PlaybackTime) async {
    var next: Item.ID? = first
    while let id = next, let item = items.first(where: { $0.id == id }) {
      let begin = enqueuedEnd
      let isFirst = placed.last?.id == id && placed.last?.start == begin
      if !isFirst { await place(id, offset: .zero, at: begin) }
      if Task.isCancelled { return }
      do {
        try await enqueue(item, offset: isFirst ? offset : .zero, at: begin)
      } catch {
        if Task.isCancelled { return }
        listener.yield(.itemFailed(id, reason: "\(error)"))
        if enqueuedEnd == begin, placed.last?.id == id { forget(from: placed.count - 1) }
      }
      if Task.isCancelled { return }
      let index = items.firstIndex { $0.id == id }
      next = index.flatMap { $0 + 1 < items.count ? items[$0 + 1].id : nil }
    }
    finish()
  }

  private func enqueue(
    _ item: Item, offset: PlaybackTime, at start: PlaybackTime
  ) async throws(TuttiError) {
    let reader = try await MediaReader(item.media)
    if offset > .zero { try await reader.seek(to: offset) }
    let shift = PlaybackTime(flicks: start.flicks - offset.flicks)
    for await _ in renderer.mediaDataRequests {
      guard let buffer = try await reader.next()?.delayed(by: shift) else { return }
      try renderer.enqueue(buffer)
      enqueuedEnd = max(enqueuedEnd, buffer.endTime)
    }
  }

  /// All items are enqueued, and what is enqueued will sound to its end.
  private func finish() {
    isComplete = true
    renderer.finish()
    if placed.isEmpty { listener.yield(.stopped) }
  }

  private func hasEnded() async {
    guard isComplete, !isEditing else { return }
    forget(from: 0)
    listener.yield(.stopped)
    _ = try? await synchronizer.setRate(0)
  }

  /// Listens for the item's beginning before anything of it is enqueued.
  private func place(_ id: Item.ID, offset: PlaybackTime, at start: PlaybackTime) async {
    let beginnings = await synchronizer.boundaries(at: [start])
    let announcer = Task { [listener] in
      for await _ in beginnings {
        listener.yield(.itemStarted(id))
        return
      }
    }
    placed.append(Placed(id: id, start: start, offset: offset, announcer: announcer))
  }
}

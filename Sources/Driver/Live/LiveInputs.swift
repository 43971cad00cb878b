import Dispatch
import FFmpegSource
import LinuxIO
package import Sender
import Synchronization

/// The live sources to which the daemon's configuration gives names. All listeners of an input share one feed, because
/// most cards can be opened only once. It is open while anybody plays it, or waits for its sound. From any thread.
package final class LiveInputs: Sendable {
  package struct Input: Hashable, Sendable {
    package var name: String
    package var location: LiveLocation
    /// Format of a pipe's samples.
    package var raw: RawFormat?
    /// Nil if rooms buffer the input as much as music.
    package var latency: LiveLatency?

    package init(
      name: String, location: LiveLocation, raw: RawFormat? = nil, latency: LiveLatency? = nil
    ) {
      (self.name, self.location, self.raw, self.latency) = (name, location, raw, latency)
    }
  }

  /// Pause before another attempt to open a card whose sound is awaited.
  private static let pause = DispatchTimeInterval.seconds(10)

  typealias Report = @Sendable (SourceNotice) -> Void
  /// Called on the feed's thread.
  package typealias OnGate = @Sendable (LevelGate.Change) -> Void

  /// One input, and its feed while it is open.
  private final class Place: Sendable {
    struct State {
      var feed: LiveFeed?
      /// The pipe while nobody plays it, once somebody has.
      var held: HeldPipe?
      /// Callbacks of the players, by number.
      var reports: [Int: Report] = [:]
      var playerCount = 0
      var onGate: OnGate?
      var isOver = false
    }

    let input: Input
    let goal: LatencyGoal?
    let state = Mutex(State())

    init(_ input: Input) {
      self.input = input
      goal = input.latency?.goal
    }
  }

  private let places: [Place]
  private let opening = DispatchQueue(label: "tutti inputs")

  package init(_ inputs: [Input]) { places = inputs.map(Place.init) }

  package var all: [Input] { places.map(\.input) }

  /// Level of the last tenth of a second, in dBFS; nil if the input is closed.
  package func level(_ name: String) -> Double? {
    place(name)?.state.withLock { $0.feed?.level.decibels }
  }

  private func place(_ name: String) -> Place? { places.first { $0.input.name == name } }

  // MARK: - Players

  /// Opens an input for a player: from two seconds ago, which rooms hold in reserve; or, with a live latency, from the
  /// next block.
  func open(
    _ name: String, wish: LatencyWish? = nil, interruption: ReadInterruption,
    report: @escaping Report
  ) throws(MediaError) -> LiveSource {
    guard let place = place(name) else {
      throw .unreadable(path: name, reason: "the daemon's configuration has no such input")
    }
    let (feed, number) = try place.state.withLock { state throws(MediaError) in
      let feed = try Self.feed(place, &state)
      state.playerCount += 1
      state.reports[state.playerCount] = report
      return (feed, state.playerCount)
    }
    do {
      if let goal = place.goal { wish?.begin(goal) }
      return try LiveSource(
        feed, title: name, fromPast: feed.latency == nil, interruption: interruption
      ) {
        Self.leave(place, number)
        if let goal = place.goal { wish?.end(goal) }
      }
    } catch {
      Self.leave(place, number)
      throw error
    }
  }

  private static func leave(_ place: Place, _ number: Int) {
    place.state.withLock { state in
      state.reports[number] = nil
      guard state.reports.isEmpty, state.onGate == nil else { return }
      // The program that writes into it does not know who listens.
      if case .pipe(let path) = place.input.location, !state.isOver {
        state.held = try? HeldPipe(path: path)
      }
      state.feed?.stop()
      state.feed = nil
    }
  }

  private static func feed(
    _ place: Place, _ state: inout Place.State
  ) throws(MediaError) -> LiveFeed {
    if let feed = state.feed { return feed }
    guard !state.isOver else {
      throw .unreadable(path: place.input.name, reason: "the daemon ends")
    }
    // No header is awaited, so nothing needs to interrupt it.
    let feed = try LiveFeed(
      place.input.location,
      .init(
        latency: place.input.latency?.start, goal: place.goal, raw: place.input.raw, gate: .init()),
      interruption: ReadInterruption(),
      report: { [weak place] notice in
        let reports = place?.state.withLock { Array($0.reports.values) } ?? []
        for report in reports { report(notice) }
      },
      onGate: { [weak place] change in place?.state.withLock { $0.onGate }?(change) })
    (state.feed, state.held) = (feed, nil)
    return feed
  }

  // MARK: - Watchers

  /// Opens an input, and keeps it open until `stop`. If its card cannot be opened yet, tries again later; `tell` gets
  /// one line about it.
  package func watch(
    _ name: String, tell: @escaping @Sendable (String) -> Void, onGate: @escaping OnGate
  ) {
    guard let place = place(name) else { return }
    place.state.withLock { $0.onGate = onGate }
    opening.async { [self] in tryToOpen(place, tell) }
  }

  private func tryToOpen(_ place: Place, _ tell: (@Sendable (String) -> Void)?) {
    do {
      try place.state.withLock { state throws(MediaError) in
        if !state.isOver { _ = try Self.feed(place, &state) }
      }
    } catch {
      tell?("\(error); trying again until it can be opened")
      opening.asyncAfter(deadline: .now() + Self.pause) { [self] in tryToOpen(place, nil) }
    }
  }

  /// Closes all inputs for good.
  package func stop() {
    for place in places {
      place.state.withLock { state in
        (state.isOver, state.onGate) = (true, nil)
        state.feed?.stop()
        (state.feed, state.held) = (nil, nil)
      }
    }
  }
}

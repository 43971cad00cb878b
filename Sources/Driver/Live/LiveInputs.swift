import Dispatch
package import FFmpegSource
import LinuxIO
package import Sender
import Synchronization

/// The live sources that a daemon's user has given names to. All who play one at a time hear the same feed, because most
/// cards can be opened only once; it is open while somebody plays it, or waits for its sound. From any thread.
package final class LiveInputs: Sendable {
  package struct Input: Hashable, Sendable {
    package var name: String
    package var location: LiveLocation
    /// The shape of a pipe's samples.
    package var raw: RawFormat?
    /// Nil where rooms buffer it as much as music.
    package var latency: LiveLatency?

    package init(
      name: String, location: LiveLocation, raw: RawFormat? = nil, latency: LiveLatency? = nil
    ) {
      (self.name, self.location, self.raw, self.latency) = (name, location, raw, latency)
    }
  }

  /// How long a card is left alone that cannot be opened, while its sound is waited for.
  private static let pause = DispatchTimeInterval.seconds(10)

  typealias Report = @Sendable (SourceNotice) -> Void
  /// Called on the feed's thread.
  package typealias OnGate = @Sendable (LevelGate.Change) -> Void

  /// One input and its feed, while it has one.
  private final class Place: Sendable {
    struct State {
      var feed: LiveFeed?
      /// Of those who play it, by their numbers.
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

  /// Of the last tenth of a second, in dBFS; nil where it is closed.
  package func level(_ name: String) -> Double? {
    place(name)?.state.withLock { $0.feed?.level.decibels }
  }

  private func place(_ name: String) -> Place? { places.first { $0.input.name == name } }

  // MARK: - Those who play

  /// Begins with what came in the last two seconds, which rooms hold in reserve; or, where it is live, with what comes next.
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
    // A header is not waited for, so that nothing interrupts it.
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
    state.feed = feed
    return feed
  }

  // MARK: - Those who wait for sound

  /// Opens it, and keeps it open until `stop`. A card that is not there yet is waited for; `tell` gets one line about it.
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
      tell?("\(error); it is tried again until it can be heard")
      opening.asyncAfter(deadline: .now() + Self.pause) { [self] in tryToOpen(place, nil) }
    }
  }

  /// Ends all of them, for good.
  package func stop() {
    for place in places {
      place.state.withLock { state in
        (state.isOver, state.onGate) = (true, nil)
        state.feed?.stop()
        state.feed = nil
      }
    }
  }
}

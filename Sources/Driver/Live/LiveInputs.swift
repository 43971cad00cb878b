import Dispatch
import FFmpegSource
import LinuxIO
package import Sender
import Synchronization

/// The place from which an input's sound comes.
package enum InputSource: Hashable, Sendable {
  case card(String)
  case pipe(String)
  case program(InputProgram.Settings)
}

/// The live sources to which the daemon's configuration gives names. All listeners of an input share one feed, because
/// most cards can be opened only once. It is open while anybody plays it, or waits for its sound. From any thread.
package final class LiveInputs: Sendable {
  package struct Input: Hashable, Sendable {
    package var name: String
    package var source: InputSource
    /// Format of a pipe's samples.
    package var raw: RawFormat?
    /// Nil if rooms buffer the input as much as music.
    package var latency: LiveLatency?

    package init(
      name: String, source: InputSource, raw: RawFormat? = nil, latency: LiveLatency? = nil
    ) {
      (self.name, self.source, self.raw, self.latency) = (name, source, raw, latency)
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
    let program: InputProgram?
    let state = Mutex(State())

    init(_ input: Input) {
      self.input = input
      goal = input.latency?.goal
      // Without a descriptor left, it is as silent as one that cannot be started.
      program =
        if case .program(let settings) = input.source {
          try? InputProgram(input.name, settings)
        } else {
          nil
        }
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

  /// The program of an input, while the daemon runs; nil if its sound comes from elsewhere.
  package func program(_ name: String) -> InputProgram? { place(name)?.program }

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
      if case .pipe(let path) = place.input.source, !state.isOver {
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
    let feed = try open(
      place,
      report: { [weak place] notice in
        let reports = place?.state.withLock { Array($0.reports.values) } ?? []
        for report in reports { report(notice) }
      },
      onGate: { [weak place] change in place?.state.withLock { $0.onGate }?(change) })
    (state.feed, state.held) = (feed, nil)
    return feed
  }

  private static func open(
    _ place: Place, report: @escaping Report, onGate: @escaping OnGate
  ) throws(MediaError) -> LiveFeed {
    let settings = LiveFeed.Settings(
      latency: place.input.latency?.start, goal: place.goal, raw: place.input.raw, gate: .init())
    // No header is awaited, so nothing needs to interrupt it.
    let interruption = try ReadInterruption()
    let location: LiveLocation
    switch place.input.source {
    case .card(let name): location = .card(name)
    case .pipe(let path): location = .pipe(path)
    case .program:
      guard let program = place.program else {
        throw .unreadable(path: place.input.name, reason: "there was no descriptor left for it")
      }
      return try LiveFeed(
        program, settings, interruption: interruption, report: report, onGate: onGate)
    }
    return try LiveFeed(
      location, settings, interruption: interruption, report: report, onGate: onGate)
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

  // MARK: - Programs

  /// Starts the programs of inputs, and keeps their feeds open: their sound is taken, though nobody plays it.
  ///
  /// - Parameters:
  ///   - tell: gets a line about a program that has failed.
  ///   - hears: gets the name of an input, and what its program tells. Both are called on a program's thread.
  package func startPrograms(
    tell: @escaping @Sendable (String) -> Void,
    hears: @escaping @Sendable (String, InputEvent) -> Void
  ) {
    for place in places {
      guard case .program = place.input.source else { continue }
      let name = place.input.name
      if place.state.withLock({ $0.onGate }) == nil { watch(name, tell: tell) { _ in } }
      do throws(IOError) {
        try place.program?.start(tell: tell) { event in hears(name, event) }
      } catch {
        tell("\(name): \(error)")
      }
    }
  }

  /// After `stop`: waits until the processes of all programs have ended, which takes no more than a few seconds.
  package func awaitEnd() {
    for place in places { place.program?.awaitEnd() }
  }

  /// Closes all inputs for good, and begins to end their programs.
  package func stop() {
    for place in places {
      place.program?.stop()
      place.state.withLock { state in
        (state.isOver, state.onGate) = (true, nil)
        state.feed?.stop()
        (state.feed, state.held) = (nil, nil)
      }
    }
  }
}

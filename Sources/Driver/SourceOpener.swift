package import FFmpegSource
package import Sender

/// Opens an item's source: a file, standard input, something on the network, or a live source.
package struct SourceOpener: Sendable {
  package var raw: RawFormat?
  /// Latency of live sources; nil if rooms buffer them as much as music.
  package var latency: LiveLatency?
  /// Learns which live source plays.
  package var wish: LatencyWish?
  /// Live sources with names; nil if there are none.
  package var inputs: LiveInputs?
  /// Items that servers of libraries give.
  package var served = ServedItems.none
  /// Filters from this program's own command line, added to the effects of all items.
  package var chain: OwnChain?
  /// Keeps the last hour of stations; nil if nobody goes back in them.
  package var keeping: StationKeeping?
  /// Nil if nobody measures.
  package var measured: MeasuredLoudness?
  package var interruption: ReadInterruption
  /// The processes that decode; without a program of theirs, this process does.
  package var workers = MediaWorkers.shared
  package var report: @Sendable (SourceNotice) -> Void
  private let feeds = DirectFeeds()

  package init(
    interruption: ReadInterruption, report: @escaping @Sendable (SourceNotice) -> Void
  ) {
    self.interruption = interruption
    self.report = report
  }

  init(
    raw: RawFormat?, latency: LiveLatency?, wish: LatencyWish, inputs: LiveInputs?,
    served: ServedItems, chain: OwnChain?, measured: MeasuredLoudness?,
    interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void
  ) {
    self.raw = raw
    self.latency = latency
    self.wish = wish
    self.inputs = inputs
    self.served = served
    self.chain = chain
    self.measured = measured
    self.interruption = interruption
    self.report = report
  }

  package func open(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    let location = item.location
    if case .input(let name) = LiveLocation(location), let inputs {
      return try inputs.open(name, wish: wish, interruption: interruption, report: report)
    }
    if let live = LiveLocation(location), live != .standardInput || latency != nil {
      return try open(live, raw: raw, latency: latency)
    }
    if location == "-" { return try openStandardInput() }
    if ServedLocation.isOne(location) { return try openServed(location) }
    return try NetworkSource.isNetwork(location) ? openAddress(item) : openFile(location)
  }

  /// Opens a live source, or listens to it as well while an item of this opener plays it.
  package func open(
    _ live: LiveLocation, raw: RawFormat?, latency: LiveLatency?
  ) throws(MediaError) -> any MediaSource {
    let wanted = DirectFeeds.Wanted(location: live, raw: raw, latency: latency)
    let shared = try feeds.feed(wanted) { () throws(MediaError) in
      let goal = latency?.goal
      return DirectFeeds.Shared(
        try LiveFeed(
          live, .init(latency: latency?.start, goal: goal, raw: raw), interruption: interruption,
          report: report), goal)
    }
    if let goal = shared.goal { wish?.begin(goal) }
    return try LiveSource(shared.feed, interruption: interruption) { [wish] in
      if let goal = shared.goal { wish?.end(goal) }
    }
  }

  /// Opens a file. A separate process decodes it if there is a program for that, because strangers may have
  /// made it.
  private func openFile(_ path: String) throws(MediaError) -> any MediaSource {
    guard workers.isStarted else { return try FileSource(path: path) }
    return try WorkerSource(path: path, workers: workers, interruption: interruption)
  }

  /// Opens standard input, whose bytes may come from anywhere.
  private func openStandardInput() throws(MediaError) -> any MediaSource {
    guard workers.isStarted else {
      return try StreamSource(descriptor: 0, rawFormat: raw, interruption: interruption)
    }
    return try WorkerSource(
      descriptor: 0, rawFormat: raw, workers: workers, interruption: interruption)
  }

  private func openAddress(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    guard workers.isStarted else {
      return try NetworkSource(
        url: item.location, reach: item.reach, interruption: interruption, report: report)
    }
    return try WorkerSource(
      url: item.location, reach: item.reach, workers: workers, keeping: keeping,
      interruption: interruption, report: report)
  }

  /// Opens an item of a server, which leads no further than whoever has chosen it may.
  private func openServed(_ location: String) throws(MediaError) -> any MediaSource {
    guard workers.isStarted else { throw .notFound(path: location) }
    let limits = served.limits(location)
    return try WorkerSource(
      url: location, reach: limits.reach, workers: workers, settings: limits.settings,
      secretAddress: { [served] () throws(MediaError) in try served.address(location) },
      interruption: interruption, report: report)
  }

  /// Opens what a program feeds, and waits until enough of it has come.
  package func open(_ bytes: FedBytes) throws(MediaError) -> any MediaSource {
    guard workers.isStarted else {
      return try NetworkSource(
        url: bytes.name, interruption: interruption,
        remote: FedGate(bytes, interruption: interruption), report: report)
    }
    return try WorkerSource(bytes, workers: workers, interruption: interruption)
  }

  /// Returns the source of an item with its effects.
  func filtered(
    _ source: any MediaSource, _ beginning: ProductionOrder.Beginning
  ) -> any MediaSource {
    Self.filtered(source, beginning, chain: chain, measured: measured, report: report)
  }

  /// Returns the source with effects; or the source itself, with a notice, if this machine lacks a library for
  /// them.
  package static func filtered(
    _ source: any MediaSource, _ beginning: ProductionOrder.Beginning, chain: OwnChain? = nil,
    measured: MeasuredLoudness? = nil, report: (SourceNotice) -> Void
  ) -> any MediaSource {
    let (location, effects) = (beginning.item.location, beginning.effects)
    let needsLevel = effects.loudness != nil && source.metadata.loudness == nil
    let level = needsLevel ? measured?.level(of: location, beside: beginning.neighbours) : nil
    do {
      return try FilteredSource(
        source, effects: effects, measured: level, chain: chain, path: location)
    } catch {
      report(.withoutEffects(location: location, reason: error.description))
      return source
    }
  }
}

extension ReadControl {
  /// Controls the reads of files, pipes and network sources.
  package init(_ interruption: ReadInterruption) {
    self.init(
      abandon: { interruption.abandonRead() }, resume: { interruption.readAgain() },
      end: { interruption.interrupt() }, isWaiting: { interruption.isWaiting },
      disown: { interruption.disown() })
  }
}

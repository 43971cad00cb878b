package import FFmpegSource
package import Sender

/// Opens what an item names: a file, standard input, something on the network, or what is heard as it happens.
package struct SourceOpener: Sendable {
  package var raw: RawFormat?
  /// Of sources that are heard as they happen; nil where rooms buffer as much as for music.
  package var latency: LiveLatency?
  /// What is to be told which of them plays.
  var wish: LatencyWish?
  /// Those that have names; nil where there are none.
  package var inputs: LiveInputs?
  /// What this program's own command line adds to the effects of all items.
  package var chain: OwnChain?
  package var interruption: ReadInterruption
  package var report: @Sendable (SourceNotice) -> Void

  package init(
    interruption: ReadInterruption, report: @escaping @Sendable (SourceNotice) -> Void
  ) {
    self.interruption = interruption
    self.report = report
  }

  init(
    raw: RawFormat?, latency: LiveLatency?, wish: LatencyWish, inputs: LiveInputs?,
    chain: OwnChain?, interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void
  ) {
    self.raw = raw
    self.latency = latency
    self.wish = wish
    self.inputs = inputs
    self.chain = chain
    self.interruption = interruption
    self.report = report
  }

  package func open(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    let location = item.location
    if case .input(let name) = LiveLocation(location), let inputs {
      return try inputs.open(name, wish: wish, interruption: interruption, report: report)
    }
    if let live = LiveLocation(location), live != .standardInput || latency != nil {
      let goal = latency?.goal
      let feed = try LiveFeed(
        live, .init(latency: latency?.start, goal: goal, raw: raw),
        interruption: interruption, report: report)
      if let goal { wish?.begin(goal) }
      return try LiveSource(feed, interruption: interruption) { [wish] in
        feed.stop()
        if let goal { wish?.end(goal) }
      }
    }
    if location == "-" {
      return try StreamSource(descriptor: 0, rawFormat: raw, interruption: interruption)
    }
    return try NetworkSource.isNetwork(location) ? openAddress(item) : openFile(location)
  }

  /// What strangers have made is decoded by a process of its own, where there is a program for it.
  private func openFile(_ path: String) throws(MediaError) -> any MediaSource {
    guard MediaWorkers.shared.isStarted else { return try FileSource(path: path) }
    return try WorkerSource(path: path, interruption: interruption)
  }

  private func openAddress(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    guard MediaWorkers.shared.isStarted else {
      return try NetworkSource(
        url: item.location, reach: item.reach, interruption: interruption, report: report)
    }
    return try WorkerSource(
      url: item.location, reach: item.reach, interruption: interruption, report: report)
  }

  /// The source of an item with its effects.
  func filtered(_ source: any MediaSource, _ effects: Effects, _ item: PlayItem) -> any MediaSource
  {
    Self.filtered(source, effects, item, chain: chain, report)
  }

  /// The item as it is, with a notice, where this machine lacks what they need.
  package static func filtered(
    _ source: any MediaSource, _ effects: Effects, _ item: PlayItem, chain: OwnChain? = nil,
    _ report: (SourceNotice) -> Void
  ) -> any MediaSource {
    do {
      return try FilteredSource(source, effects: effects, chain: chain, path: item.location)
    } catch {
      report(.withoutEffects(location: item.location, reason: error.description))
      return source
    }
  }
}

extension ReadControl {
  /// That of files, pipes and network sources.
  package init(_ interruption: ReadInterruption) {
    self.init(
      abandon: { interruption.abandonRead() }, resume: { interruption.readAgain() },
      end: { interruption.interrupt() }, isWaiting: { interruption.isWaiting },
      disown: { interruption.disown() })
  }
}

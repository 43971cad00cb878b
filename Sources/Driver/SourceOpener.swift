package import FFmpegSource
package import Sender

/// Opens what an item names: standard input, a file, or something on the network.
package struct SourceOpener: Sendable {
  package var raw: RawFormat?
  package var effects = Effects()
  package var interruption: ReadInterruption
  package var report: @Sendable (SourceNotice) -> Void

  package init(
    raw: RawFormat? = nil, effects: Effects = Effects(), interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void
  ) {
    self.raw = raw
    self.effects = effects
    self.interruption = interruption
    self.report = report
  }

  package func open(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    let source = try openPlain(item.location)
    return effects.changesNothing
      ? source : try FilteredSource(source, effects: effects, path: item.location)
  }

  private func openPlain(_ location: String) throws(MediaError) -> any MediaSource {
    if location == "-" {
      return try StreamSource(descriptor: 0, rawFormat: raw, interruption: interruption)
    }
    guard NetworkSource.isNetwork(location) else { return try FileSource(path: location) }
    return try NetworkSource(
      url: location, interruption: interruption, report: report)
  }
}

extension ReadControl {
  /// That of files, pipes and network sources.
  package init(_ interruption: ReadInterruption) {
    self.init(
      abandon: { interruption.abandonRead() }, resume: { interruption.readAgain() },
      end: { interruption.interrupt() })
  }
}

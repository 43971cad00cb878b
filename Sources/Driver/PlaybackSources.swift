package import Clock
package import FFmpegSource
package import Sender

/// What a group plays from: files, pipes and the network, with effects, compressed as was chosen.
package struct PlaybackSources {
  package let reads: ReadControl
  package let makeSerializer: GroupDriver.MakeSerializer
  private let wish = LatencyWish()

  /// - Parameters:
  ///   - raw: what standard input and pipes give, where that has no header.
  ///   - latency: of what is heard as it happens; nil where rooms buffer it as much as music.
  ///   - inputs: live sources that have names.
  ///   - chain: what this program's own command line adds to the effects.
  package init(
    _ choice: EncoderChoice, raw: RawFormat? = nil, latency: LiveLatency? = nil,
    inputs: LiveInputs? = nil, chain: OwnChain? = nil
  ) throws(MediaError) {
    let interruption = try ReadInterruption()
    reads = ReadControl(interruption)
    makeSerializer = { [wish] report in
      let opener = SourceOpener(
        raw: raw, latency: latency, wish: wish, inputs: inputs, chain: chain,
        interruption: interruption, report: report)
      return Serializer(
        passesPackets: choice.passesPackets, openSource: opener.open,
        changesAll: chain != nil, applyEffects: opener.filtered, makeEncoder: choice.makeEncoder)
    }
  }

  /// What is heard as it happens comes to this latency, if that may be chosen.
  package func hold(_ latency: Nanoseconds) { wish.hold(latency) }
}

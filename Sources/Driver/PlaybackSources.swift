package import FFmpegSource
package import Sender

/// What a group plays from: files, pipes and the network, with effects, compressed as was chosen.
package struct PlaybackSources {
  package let reads: ReadControl
  package let makeSerializer: GroupDriver.MakeSerializer

  /// - Parameters:
  ///   - raw: what standard input is, where it has no header.
  ///   - inputs: live sources that have names.
  package init(
    _ choice: EncoderChoice, raw: RawFormat? = nil, inputs: LiveInputs? = nil
  ) throws(MediaError) {
    let interruption = try ReadInterruption()
    reads = ReadControl(interruption)
    makeSerializer = { report in
      Serializer(
        passesPackets: choice.passesPackets,
        openSource: SourceOpener(
          raw: raw, inputs: inputs, interruption: interruption, report: report
        ).open,
        applyEffects: SourceOpener.filtered, makeEncoder: choice.makeEncoder)
    }
  }
}

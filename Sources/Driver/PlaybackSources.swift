package import Clock
package import FFmpegSource
import LinuxIO
package import Sender

/// The sources of a group: files, pipes and the network, with effects, and compressed with the
/// chosen codec.
package struct PlaybackSources {
  package let reads: ReadControl
  package let makeSerializer: GroupDriver.MakeSerializer
  /// The small encoding for rooms with weak links; nil if there is none.
  package let small: SmallChoice?
  private let wish = LatencyWish()

  /// - Parameters:
  ///   - raw: format of standard input and pipes without a header.
  ///   - latency: of live sources; nil if rooms buffer them as much as music.
  ///   - inputs: live sources with names.
  ///   - served: items that servers of libraries give.
  ///   - chain: filters from this program's own command line, added to the effects.
  ///   - measured: the loudness of items whose tags do not give it.
  ///   - places: where items begin whose turn it is.
  package init(
    _ choice: EncoderChoice, raw: RawFormat? = nil, latency: LiveLatency? = nil,
    inputs: LiveInputs? = nil, served: ServedItems = .none, chain: OwnChain? = nil,
    measured: MeasuredLoudness? = nil,
    places: KeptPlaces = KeptPlaces()
  ) throws(MediaError) {
    let interruption = try ReadInterruption()
    reads = ReadControl(interruption)
    small = choice.small
    makeSerializer = { [wish] report in
      var opener = SourceOpener(
        raw: raw, latency: latency, wish: wish, inputs: inputs, served: served,
        chain: chain, measured: measured, interruption: interruption, report: report)
      opener.keeping = .threads
      return Serializer(
        passesPackets: choice.passesPackets, openSource: opener.open,
        changesAll: chain != nil, applyEffects: opener.filtered, keptPlace: places.place,
        makeEncoder: choice.makeEncoder)
    }
  }

  /// Moves the live source to this latency, if its latency is adjustable.
  package func hold(_ latency: Nanoseconds) { wish.hold(latency) }
}

extension StationKeeping {
  /// Reads each station on a thread of its own.
  fileprivate static let threads = StationKeeping { body in
    guard let thread = try? RealtimeThread.start(name: "station", priority: nil, body) else {
      return false
    }
    thread.detach()
    return true
  }
}

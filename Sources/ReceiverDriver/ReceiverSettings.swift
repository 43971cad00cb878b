package import ALSAOutput
package import Audio
package import Clock
package import Output
package import Receiver
package import WireProtocol

/// The settings of a receiver: the program's options, checked and with units.
package struct ReceiverSettings: Sendable {
  package enum Output: Sendable {
    case soundCard(OutputSettings, MixerChoice)
    case sink(SinkChoice)
  }

  package var name: String
  package var model: String
  package var output: Output
  package var capacity = Capacity(bytes: 32 << 20, duration: .seconds(1800))
  /// A sound card is released after so much silence.
  package var idleTime = Nanoseconds.seconds(60)
  package var figuresInterval = Nanoseconds.seconds(600)
  package var access = AccessPolicy.paired
  package var whenBusy = BusyPolicy.refuse
  /// The filter that the receiver's own user has given it.
  package var fir: ImpulseResponse?
  /// The only profile of programs so far.
  package static let profile = LatencyProfile.deep

  package init(name: String, model: String, output: Output) {
    self.name = name
    self.model = model
    self.output = output
  }

  /// A room in its sender's process. It is open, because only that process can connect to it: see `HostedRoom`.
  package init(hosted name: String, output: Output) {
    self.init(name: name, model: "hosted", output: output)
    access = .open
  }

  package init(hosted name: String, into sink: SinkChoice) {
    self.init(hosted: name, output: .sink(sink))
  }
}

extension ReceiverSettings.Output {
  /// True for a sound card, which can be opened again; a recording must go on in its file.
  var isSoundCard: Bool { if case .soundCard = self { true } else { false } }

  /// Time before its sound at which a frame must have been decoded. Without a card, frames can be rendered again until
  /// the sink takes them.
  func writtenAhead(_ traits: CardTraits) -> Nanoseconds {
    switch self {
    case .soundCard: traits.writtenAhead
    case .sink(let choice): LatencyProfile.pacedWrittenAhead + choice.ahead
    }
  }

  /// Time of silence after which the device is released. Only sound cards are released for others; a recording goes on
  /// through silence.
  func idleTime(_ configured: Nanoseconds) -> Nanoseconds {
    isSoundCard ? configured : .seconds(1 << 30)
  }
}

package import ALSAOutput
package import Audio
package import Clock
package import Output
package import Receiver
package import WireProtocol

/// What a receiver is, with units: the program's options, checked.
package struct ReceiverSettings: Sendable {
  package enum Output: Sendable {
    case soundCard(OutputSettings, MixerChoice)
    case sink(SinkChoice)
  }

  package var name: String
  package var model: String
  package var output: Output
  package var capacity = Capacity(bytes: 32 << 20, duration: .seconds(1800))
  /// A sound card that plays nothing for as long is released.
  package var idleTime = Nanoseconds.seconds(60)
  package var figuresInterval = Nanoseconds.seconds(600)
  package var access = AccessPolicy.paired
  package var whenBusy = BusyPolicy.refuse
  /// There is one for programs so far.
  package static let profile = LatencyProfile.deep

  package init(name: String, model: String, output: Output) {
    self.name = name
    self.model = model
    self.output = output
  }

  /// A room in its sender's process. Whoever can connect to it is that process, which needs no leave: see `HostedRoom`.
  package init(hosted name: String, into sink: SinkChoice) {
    self.init(name: name, model: "hosted", output: .sink(sink))
    access = .open
  }
}

extension ReceiverSettings.Output {
  /// A recording goes on in its file.
  var isSoundCard: Bool { if case .soundCard = self { true } else { false } }

  /// How long before it is heard a frame must be there. Without a card all can be rendered again until a sink has it.
  func writtenAhead(_ traits: CardTraits) -> Nanoseconds {
    switch self {
    case .soundCard: traits.writtenAhead
    case .sink(let choice): LatencyProfile.pacedWrittenAhead + choice.ahead
    }
  }

  /// A recording goes on through silence; only a sound card is released for others.
  func idleTime(_ configured: Nanoseconds) -> Nanoseconds {
    isSoundCard ? configured : .seconds(1 << 30)
  }
}

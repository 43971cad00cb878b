internal import ALSAOutput
internal import AvahiDiscovery
internal import Clock
internal import LinuxIO
internal import Output
internal import Receiver
internal import ReceiverDriver
internal import WireProtocol

/// Audio that a room of this program sounds.
public struct HeardAudio: Hashable, Sendable {
  /// Interleaved stereo, full scale ±1.
  public let samples: [Float]
  /// In Hz.
  public let sampleRate: Int
  /// When its first frame is heard. The next frames follow at the room's rate.
  public let hostTime: HostTime
}

/// Rooms in this program: they play without a receiver, without a network, and in step with all others. A room belongs to
/// the player or renderer that it is added to, and ends with it.
extension Room {
  /// A room that records to a WAV file of stereo floats: players can be tested with it, without starting anything.
  ///
  /// The recording begins when the room is first to sound, goes on through silence, and is whole when the player is closed.
  ///
  /// Adding it to a player or renderer throws if the file cannot be written. A recording that fails later, as on a full
  /// disk, is a room whose state is `noDevice`, with the reason; what it has recorded stays.
  ///
  /// - Parameter path: a file that is there is replaced.
  public static func recording(to path: String, name: String = "Recording") -> Room {
    let check = { @Sendable () throws(SinkError) in try WaveFile.check(path: path) }
    return Room(RoomHosting(name: name, check: check) { .sink(.wave(path: path)) })
  }

  /// A room that hands over each frame that it sounds, once and in order.
  ///
  /// - Parameter hear: called on a thread of the room, which may wait there for less than a second.
  public static func listening(
    name: String = "Listener", _ hear: @escaping @Sendable (HeardAudio) -> Void
  ) -> Room {
    Room(
      RoomHosting(name: name) {
        .sink(SinkChoice(name: name) { rate in ListeningSink(rate, hear) })
      })
  }

  /// This machine's sound card.
  ///
  /// - Parameter device: ALSA's name of a card: `default`, or such as `hw:0`.
  public static func thisMachine(device: String = "default", name: String = "This machine") -> Room
  {
    Room(RoomHosting(name: name) { .soundCard(ALSAOutput.OutputSettings(device: device), .none) })
  }
}

/// How to make a receiver in this program.
final class RoomHosting: Hashable, Sendable {
  let name: String
  /// The receiver's identity.
  let hex: String
  /// Throws if the output cannot be made.
  let check: @Sendable () throws(SinkError) -> Void
  let output: @Sendable () -> ReceiverSettings.Output

  init(
    name: String, check: @escaping @Sendable () throws(SinkError) -> Void = {},
    _ output: @escaping @Sendable () -> ReceiverSettings.Output
  ) {
    self.name = name
    self.check = check
    self.output = output
    hex = (0..<Identifier.byteCount * 2).map { _ in
      String(Int.random(in: 0..<16), radix: 16)
    }.joined()
  }

  static func == (one: RoomHosting, other: RoomHosting) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A receiver of this program, on the thread of its player.
final class HostedReceiver {
  let line: HostedRoom
  let driver: ReceiverDriver

  init(_ hosting: RoomHosting, waker: Waker) throws(IOError) {
    guard let id = Identifier(hex: hosting.hex) else {
      throw IOError(call: "host a room", code: 0, text: "it has no identity")
    }
    line = HostedRoom(id: id, room: waker, sender: waker)
    var identity = ReceiverDriver.Identity(id: id)
    // Recordings are compared, so they have full volume; a room that is loud at once frightens people.
    let output = hosting.output()
    let isCompared = if case .sink = output { true } else { false }
    identity.memory.settings.volume = isCompared ? 1000 : RoomSettings.startVolume
    driver = try ReceiverDriver(
      ReceiverSettings(hosted: hosting.name, output: output), identity, lines: HostedLines(line),
      waker: waker, SilentJournal())
  }
}

private struct SilentJournal: ReceiverJournal {
  func notice(_ what: StaticString, _ detail: String) {}
  func warning(_ what: StaticString, _ detail: String) {}
  func write(_ event: ReceiverEvent) {}
  func write(_ event: ServicePublisher.Event) {}
  func twin(_ service: DiscoveredService) {}
}

private final class ListeningSink: FrameSink {
  private let rate: Int
  private let hear: @Sendable (HeardAudio) -> Void

  init(_ rate: Int, _ hear: @escaping @Sendable (HeardAudio) -> Void) {
    (self.rate, self.hear) = (rate, hear)
  }

  func take(_ frames: SoundingFrames) {
    hear(
      HeardAudio(
        samples: Array(frames.samples), sampleRate: rate, hostTime: HostTime(frames.localTime)))
  }

  func finish() {}
}

import ALSAOutput
import Audio
import Clock
import LinuxIO
import Output
import Pairing
import Receiver
import WireProtocol

/// The voice that says the PIN, as the session's thread sees it.
struct Voice {
  /// The device that was opened for it brings the length of what it says.
  typealias Handover = OutputHandover<Nanoseconds>

  /// The device must be open by then. A card that another program holds is not waited for: nobody listens any more.
  private static let openTimeout = Nanoseconds.seconds(5)
  /// The device still holds this much when all is rendered.
  private static let tail = Nanoseconds.seconds(1)

  let handover: Handover
  private(set) var endsAt: LocalTime

  init(wake: @escaping @Sendable () -> Void, at now: LocalTime) {
    handover = Handover(wake: wake)
    endsAt = now + Self.openTimeout
  }

  func stop() { handover.control.stop() }

  /// Returns the reason if it cannot be heard.
  mutating func takeTrouble(at now: LocalTime) -> String? {
    for news in handover.takeNews() {
      switch news {
      case .opened(let length): endsAt = now + length + Self.tail
      case .unavailable(let reason), .ended(let reason): return reason
      case .lost: return "the sound device went away"
      }
    }
    return nil
  }
}

extension ReceiverSettings.Output {
  /// The body of the voice's thread: opens the device, says the PIN, and goes on with silence until it is stopped.
  func say(_ pin: () -> PIN?, gain: Float, _ handover: Voice.Handover) {
    let control = handover.control
    guard let pin = pin() else { return control.postFailure("there is no PIN", .ended) }
    do throws(CodecError) {
      let spoken = try SpokenPIN(pin)
      play(spoken, gain: gain, handover)
    } catch {
      control.postFailure("\(error)", .ended)
    }
  }

  private func play(_ spoken: SpokenPIN, gain: Float, _ handover: Voice.Handover) {
    let clock: @Sendable () -> LocalTime = { HostClock.now }
    let (sound, length) = (spoken.sound, spoken.length)
    let makeSource: @Sendable (DeviceDescription) -> SpokenSource = { device in
      handover.offer(length)
      return SpokenSource(
        sound, soundRate: SpokenPIN.sampleRate, gain: gain, sampleRate: device.sampleRate)
    }
    switch self {
    case .soundCard(var settings, _):
      settings.sampleRate = SpokenPIN.sampleRate
      OutputThread<SpokenSource>(
        settings, control: handover.control, clock: clock, makeSource: makeSource
      ).run()
    case .sink(let choice):
      PacedOutput<SpokenSource>(
        choice, sampleRate: SpokenPIN.sampleRate, lead: ReceiverSettings.profile.pacedLead,
        control: handover.control, clock: clock, makeSource: makeSource
      ).run()
    }
  }
}

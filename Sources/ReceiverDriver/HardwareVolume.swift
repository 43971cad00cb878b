import ALSAOutput
import Audio
import LinuxIO
import Receiver
import Synchronization

/// The card's own volume control, if the settings ask for one. A thread of its own sets it, because a card or a sound
/// server that hangs must not hold up the session. Until it is set, the renderer applies the gain, so that nothing is
/// ever louder than it should be.
final class HardwareVolume {
  /// The gain that the thread is to set. Only the newest wish counts.
  private struct Wish: Sendable {
    var number: Int
    /// ALSA's name of the card; nil releases the control.
    var card: String?
    /// The number of the card's opening. A control from an earlier opening may belong to a card that was unplugged.
    var opening: Int
    var gain: Float
  }

  private struct Outcome {
    var number: Int
    /// Nil if the control was set, otherwise the reason. An empty reason means that the card has no control.
    var failure: String?
  }

  private final class Answer: Sendable {
    let outcome = Mutex<Outcome?>(nil)
  }

  /// Gains for the renderer, and failures for the log.
  enum News {
    case gain(Float)
    case failed(String)
  }

  private let answer = Answer()
  private let thread: NewestValueThread<Wish>
  private var wish = Wish(number: 0, card: nil, opening: 0, gain: 0)
  private var isSet = false
  /// The room's; nil until it is told.
  private var gain: Float?
  private var hasLoudness = false
  /// The renderer's part of the gain while the control is set.
  private var rendered: Float = 1

  init(_ choice: MixerChoice, wake: @escaping @Sendable () -> Void) throws(IOError) {
    thread = try NewestValueThread(name: "mixer") { [answer] in
      let control = MixerControl(choice)
      return { wish in
        let failure = control.set(wish.gain, of: wish.card, opening: wish.opening)
        answer.outcome.withLock { $0 = Outcome(number: wish.number, failure: failure) }
        wake()
      }
    }
  }

  /// Uses the card that was opened, by ALSA's name, or none once it is closed.
  func use(_ card: String?) {
    isSet = false
    guard card != nil || wish.card != nil else { return }
    wish.opening += 1
    wish.card = card
    // The gain follows soon after the card is opened, so only closing is posted here.
    if card == nil { post() }
  }

  /// Asks the control for `gain`. Returns the gain that the renderer must apply meanwhile; nil if it need not change.
  func gain(toReach gain: Float) -> Float? {
    self.gain = gain
    return wish.card == nil ? gain : share(gain)
  }

  /// Leaves the renderer the headroom that the sound needs. Returns as `gain(toReach:)`.
  func follow(_ sound: SoundProgram) -> Float? {
    guard sound.hasLoudness != hasLoudness else { return nil }
    hasLoudness = sound.hasLoudness
    guard wish.card != nil, let gain else { return nil }
    return share(gain)
  }

  private func share(_ gain: Float) -> Float? {
    let shared = SharedGain(gain, hasLoudness: hasLoudness)
    wish.gain = shared.card
    post()
    guard isSet else { return gain }
    // Until the control is set, nothing is louder than before, nor than it is to be.
    guard shared.rendered < rendered else { return nil }
    rendered = shared.rendered
    return rendered
  }

  /// Returns the gain that the renderer must apply to a clip: the card's control applies to it as well, and makes nothing
  /// louder.
  func gain(ofClip gain: Float) -> Float {
    guard isSet, wish.gain > 0 else { return gain }
    return min(SharedGain(gain, hasLoudness: hasLoudness).rendered, gain / wish.gain)
  }

  private func post() {
    wish.number += 1
    thread.post(wish)
  }

  func takeNews() -> [News] {
    guard let outcome = answer.outcome.withLock({ $0.take() }), outcome.number == wish.number,
      wish.card != nil
    else { return [] }
    guard let failure = outcome.failure else {
      isSet = true
      rendered = SharedGain(gain ?? 0, hasLoudness: hasLoudness).rendered
      return [.gain(rendered)]
    }
    let gain = gain ?? 0
    use(nil)
    return [.gain(gain)] + (failure.isEmpty ? [] : [.failed(failure)])
  }
}

/// Sets the control. Used on the mixer's thread only.
private final class MixerControl {
  private let choice: MixerChoice
  private var opening = 0
  private var mixer: Mixer?

  init(_ choice: MixerChoice) { self.choice = choice }

  /// Returns nil on success, otherwise the reason; the reason is empty if there is no control to set.
  func set(_ gain: Float, of card: String?, opening: Int) -> String? {
    do throws(ALSAError) {
      if opening != self.opening {
        self.opening = opening
        mixer = nil
        if let card { mixer = try Mixer.open(choice, card: card) }
      }
      guard mixer != nil else { return "" }
      try mixer?.set(gain: gain)
      return nil
    } catch {
      mixer = nil
      return "\(error)"
    }
  }
}

import ALSAOutput
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
    guard wish.card != nil else { return gain }
    wish.gain = gain
    post()
    return isSet ? (gain > 0 ? nil : 0) : gain
  }

  /// Returns the gain that the renderer must apply to a clip: the card's control applies to it as well, and makes nothing
  /// louder.
  func gain(ofClip gain: Float) -> Float {
    guard isSet, wish.gain > 0 else { return gain }
    return min(1, gain / wish.gain)
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
      return [.gain(wish.gain > 0 ? 1 : 0)]
    }
    let gain = wish.gain
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

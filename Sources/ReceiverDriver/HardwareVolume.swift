import ALSAOutput
import LinuxIO
import Receiver
import Synchronization

/// The card's own volume control, where one is asked for. It is set on a thread of its own, for a card or a sound
/// server that hangs must not hold up the session; until it is set, the renderer's gain stands in, so that nothing is
/// ever louder than it should be.
final class HardwareVolume {
  /// What to bring about: the newest counts.
  private struct Wish: Sendable {
    var number: Int
    /// Nil to let go of the control.
    var card: String?
    /// Which opening of the card it is: what was opened before may belong to one that was pulled.
    var opening: Int
    var gain: Float
  }

  private struct Outcome {
    var number: Int
    /// Nil where the control was set; else why not, and an empty line where there is none.
    var failure: String?
  }

  private final class Answer: Sendable {
    let outcome = Mutex<Outcome?>(nil)
  }

  /// What the renderer has to do, and what people should know.
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

  /// A card that was opened, under ALSA's name of it; nil once it is closed.
  func use(_ card: String?) {
    isSet = false
    guard card != nil || wish.card != nil else { return }
    wish.opening += 1
    wish.card = card
    // An opened card is followed by its gain.
    if card == nil { post() }
  }

  /// What the renderer's gain must be for now; nil leaves it.
  func gain(toReach gain: Float) -> Float? {
    guard wish.card != nil else { return gain }
    wish.gain = gain
    post()
    return isSet ? (gain > 0 ? nil : 0) : gain
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

/// On the mixer's thread.
private final class MixerControl {
  private let choice: MixerChoice
  private var opening = 0
  private var mixer: Mixer?

  init(_ choice: MixerChoice) { self.choice = choice }

  /// Returns why that cannot be done; an empty line where there is nothing to set.
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

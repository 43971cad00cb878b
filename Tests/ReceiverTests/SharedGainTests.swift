import Audio
import Testing

@testable import Receiver

/// The share of a room's gain that a card's own volume control gets.
@Suite struct SharedGainTests {
  private static let gains: [Float] = [1, 0.99, 0.94, 0.7, 0.3, 0.1, 0.02, 0.01, 0.001]

  private func program(_ gain: Float, clip: Float? = nil) throws -> SoundProgram {
    var setting = SoundSetting.plain
    setting.hasLoudness = true
    let sound = RenderedSound(
      setting, rate: 48_000, gain: gain, clipGain: clip, usesFIR: false, before: nil)
    let programs = sound.commands.compactMap { command in
      if case .sound(let program) = command { program } else { nil }
    }
    return try #require(programs.first)
  }

  @Test(arguments: gains)
  func `what loudness boosts is within full scale before the card, and as loud as ever`(
    gain: Float
  ) throws {
    let shared = SharedGain(gain, hasLoudness: true)
    #expect(try Double(shared.rendered) * program(gain).peakGain(rate: 48_000) <= 1.000_01)
    #expect(abs(shared.card * shared.rendered / gain - 1) < 1e-5)
    #expect(shared.card <= 1 && shared.rendered <= 1)
    // A card's control does nearly all that it can: it loses no resolution for nothing.
    #expect(try Double(shared.rendered) * program(gain).peakGain(rate: 48_000) > 0.93)
  }

  @Test(arguments: gains) func `without loudness the control has all of it`(gain: Float) {
    let shared = SharedGain(gain, hasLoudness: false)
    #expect(shared.card == gain && shared.rendered == 1)
  }

  @Test(arguments: [false, true]) func `silence is silent in both`(hasLoudness: Bool) {
    for gain: Float in [0, -1, .nan] {
      let shared = SharedGain(gain, hasLoudness: hasLoudness)
      #expect(shared.rendered == 0 && !(shared.card > 0))
    }
  }
}

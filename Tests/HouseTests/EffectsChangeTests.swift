import Foundation
import Sender
import Testing

@testable import House

/// Tests of changes by `tutti effects`, as they come over the control socket.
@Suite struct EffectsChangeTests {
  private func words(_ effects: Effects) -> [String] { effects.filters.map(\.description) }

  @Test func `filters take the place of those of their kind, in the order of a desk`() throws {
    let first = EffectsChange(
      filters: try ["treble -2", "equalizer 1000:3", "equalizer 200:1"].map { try SoundFilter($0) })
    let before = try first.applied(to: Effects())
    #expect(words(before) == ["equalizer 1000:3:1", "equalizer 200:1:1", "treble -2:3000"])
    let second = EffectsChange(
      filters: [try SoundFilter("bass 3"), try SoundFilter("equalizer 50:-6")],
      endedFilters: [.treble])
    #expect(words(try second.applied(to: before)) == ["equalizer 50:-6:1", "bass 3:100"])
    #expect(try EffectsChange(isReset: true).applied(to: before) == Effects())
  }

  @Test func `keys step the rate to twentieths, and the pitch by semitones, within their ranges`()
    throws
  {
    var effects = Effects()
    effects.rate = 1.13
    func rate(_ steps: Double) -> Double? { EffectsChange(steppingRate: steps, from: effects).rate }
    func pitch(_ semitones: Double) -> Double? {
      EffectsChange(steppingPitch: semitones, from: effects).pitch
    }
    #expect(rate(1) == 1.2 && rate(-1) == 1.1)
    effects.rate = Effects.rates.upperBound
    #expect(rate(1) == Effects.rates.upperBound && rate(-1) == 3.95)
    effects.rate = Effects.rates.lowerBound
    #expect(rate(-1) == Effects.rates.lowerBound)
    effects.pitch = 11.5
    #expect(pitch(1) == 12 && pitch(-1) == 10.5)
    effects.pitch = -12
    #expect(pitch(-1) == -12)
    #expect(try EffectsChange(steppingRate: 1, from: effects).applied(to: effects).pitch == -12)
  }

  @Test func `an order that a program has chosen stays where no filter is changed`() throws {
    var before = Effects()
    before.filters = try ["limiter -1", "bass 3"].map { try SoundFilter($0) }
    let after = try EffectsChange(rate: 1.5).applied(to: before)
    #expect(after.filters == before.filters && after.rate == 1.5)
  }

  @Test func `more filters than the limit are refused`() throws {
    let change = EffectsChange(
      filters: Array(repeating: try SoundFilter("equalizer 100:1"), count: 17))
    #expect(throws: Refusal.self) { try change.applied(to: Effects()) }
  }

  @Test(arguments: [
    #"{"filter":"bass=g=3"}"#, #"{"filters":["bass=g=3"]}"#, #"{"chain":"apad"}"#,
    #"{"filters":[{"kind":"bass","gain":3,"g":"1"}]}"#, #"{"filters":[{"kind":"amovie"}]}"#,
    #"{"filters":[{"kind":"bass","gain":25}]}"#, #"{"filters":[{"kind":"bass","gain":1e400}]}"#,
    #"{"filters":"bass"}"#, #"{"endedFilters":["apad"]}"#, #"{"rate":"1,apad"}"#,
    #"{"filters":[{"gain":3}]}"#, #"{"filters":[[]]}"#,
  ])
  func `what is no list of numbers is not understood`(json: String) {
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode(EffectsChange.self, from: Data(json.utf8))
    }
  }
}

import Clock
import Foundation
import Sender
import TestSupport
import Testing

/// Tests of the effects that anybody may ask for: numbers within ranges, from a fixed list.
@Suite struct SoundFilterTests {
  private typealias Kind = SoundFilter.Kind

  /// The smallest set of values that a kind needs.
  private static func values(_ kind: SoundFilter.Kind) -> [Double] {
    kind.parameters.map { $0.usual ?? $0.range.lowerBound }
  }

  @Test(arguments: SoundFilter.Kind.allCases)
  func `each number keeps to its range, and is no infinity and no NaN`(kind: SoundFilter.Kind)
    throws
  {
    for (index, parameter) in kind.parameters.enumerated() {
      var values = Self.values(kind)
      for value in [parameter.range.lowerBound, parameter.range.upperBound] {
        values[index] = value
        #expect(try SoundFilter(kind, values)[parameter.name] == value)
      }
      for value in [
        parameter.range.lowerBound.nextDown, parameter.range.upperBound.nextUp, .nan,
        .signalingNaN, .infinity, -.infinity, 1e308,
      ] {
        values[index] = value
        let error = #expect(throws: SoundFilter.Refusal.self) { try SoundFilter(kind, values) }
        #expect(error?.description.contains(parameter.name) ?? false)
      }
    }
  }

  @Test(arguments: SoundFilter.Kind.allCases)
  func `values that are usual may be left out, others not, and none be added`(
    kind: SoundFilter.Kind
  ) throws {
    let needed = Self.values(kind).prefix(kind.parameters.prefix { $0.usual == nil }.count)
    let filter = try SoundFilter(kind, Array(needed))
    #expect(filter.values == Self.values(kind))
    #expect(throws: SoundFilter.Refusal.self) { try SoundFilter(kind, needed.dropLast()) }
    #expect(throws: SoundFilter.Refusal.self) { try SoundFilter(kind, Self.values(kind) + [1]) }
    #expect(throws: SoundFilter.Refusal.self) { try SoundFilter(kind, ["volume": 1]) }
    #expect(throws: SoundFilter.Refusal.self) { try SoundFilter(kind, numbers: "") }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `words and JSON say just what there is`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for kind in SoundFilter.Kind.allCases {
      let filter = try SoundFilter(
        kind, kind.parameters.map { .random(in: $0.range, using: &random) })
      #expect(try SoundFilter(filter.description) == filter)
      let json = try JSONEncoder().encode(filter)
      #expect(try JSONDecoder().decode(SoundFilter.self, from: json) == filter)
    }
  }

  @Test(arguments: [
    "bass", "bass ", " bass 3", "bass 3 ", "bass  3", "bass 3:", "bass :3", "bass 3:100:1",
    "bass 3,apad",
    "bass g=3", "bass nan", "bass inf", "bass 1e400", "bass 3dB", "Bass 3", "amovie 3", "",
    "bass 3\n",
    "bass 3;4", "bass 0x1p9", "bass ３",
  ])
  func `other words are none`(text: String) {
    #expect(throws: SoundFilter.Refusal.self) { try SoundFilter(text) }
  }

  @Test func `no more filters are taken than the limit`() throws {
    var effects = Effects()
    let bass = try SoundFilter(.bass, [3])
    effects.filters = Array(repeating: bass, count: Effects.filterLimit)
    #expect(effects.problem == nil)
    effects.filters.append(bass)
    #expect(effects.problem == "there are at most 16 filters")
  }

  @Test func `effects out of range are told`() {
    var effects = Effects()
    for rate in [0.2, 4.1, .nan, .infinity] {
      effects.rate = rate
      #expect(effects.problem != nil)
    }
    effects = Effects()
    effects.pitch = .nan
    #expect(effects.problem != nil)
    effects = Effects()
    effects.loudness = -4.9
    #expect(effects.problem != nil)
  }
}

import Audio
import Clock
import Foundation
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

@Suite struct RoomSettingsRenderTests {
  @Test func `the gain rises with the volume, from silence to full`() {
    var settings = RoomSettings.default
    let gains = (0...1000).map { volume -> Float in
      settings.volume = UInt16(volume)
      return settings.gain
    }
    #expect(gains.first == 0)
    #expect(gains.last == 1)
    #expect(zip(gains, gains.dropFirst()).allSatisfy { $0 < $1 })
    settings.isMuted = true
    #expect(settings.gain == 0)
  }

  /// In dB of full volume.
  private func level(_ volume: UInt16) -> Float {
    20 * log10(perceivedGain(volume: volume, isMuted: false))
  }

  @Test func `the lowest fifth is audible, and there is no step at the bottom`() {
    #expect((-31 ... -29).contains(level(200)))
    #expect((-39 ... -36).contains(level(100)))
    #expect((-45 ... -43).contains(level(50)))
    #expect(level(1) < -75)
    // A twentieth of the range is nowhere more than people take for one step.
    let steps = stride(from: UInt16(50), to: 1000, by: 50).map { level($0 + 50) - level($0) }
    #expect(steps.allSatisfy { (1...7).contains($0) })
  }

  @Test func `the document's levels are those of the law`() throws {
    let text = try Specification.text(of: "control-messages.md")
    for volume: UInt16 in [700, 500, 300, 200, 100, 50, 10] {
      let tenths = Int((-level(volume) * 10).rounded())
      #expect(text.contains("−\(tenths / 10).\(tenths % 10) |"), "\(volume)")
    }
  }

  @Test func `a room plays what its channel map says`() {
    let mixes = RoomSettings.ChannelMap.allCases.map { map -> [Float] in
      [map.mixes.left.left, map.mixes.left.right, map.mixes.right.left, map.mixes.right.right]
    }
    #expect(mixes == [[1, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5]])
  }
}

import Audio
import Clock
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

  @Test func `a room plays what its channel map says`() {
    let mixes = RoomSettings.ChannelMap.allCases.map { map -> [Float] in
      [map.mixes.left.left, map.mixes.left.right, map.mixes.right.left, map.mixes.right.right]
    }
    #expect(mixes == [[1, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5]])
  }
}

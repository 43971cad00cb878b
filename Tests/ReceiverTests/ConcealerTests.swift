import Audio
import Testing

@testable import Receiver

@Suite struct ConcealerTests {
  private static let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
  private static let packet = 240

  /// A tone with overtones, as frames of two different channels.
  private static func tone(from first: Int, count: Int) -> [Float] {
    (first..<first + count).flatMap { frame in
      let turn = 2 * Double.pi * 220 * Double(frame) / 48_000
      let sample = 0.4 * sine(turn) + 0.2 * sine(2 * turn + 1) + 0.1 * sine(5 * turn + 2)
      return [Float(sample), Float(-0.5 * sample)]
    }
  }

  private static func sine(_ x: Double) -> Double {
    // Taylor's series around the nearest multiple of a whole turn.
    let y = x - (x / (2 * Double.pi)).rounded() * 2 * Double.pi
    var (sum, term) = (y, y)
    for n in 1...12 {
      term *= -y * y / Double(2 * n * (2 * n + 1))
      sum += term
    }
    return sum
  }

  private static func largestStep(_ samples: [Float]) -> Float {
    (2..<samples.count).map { (samples[$0] - samples[$0 - 2]).magnitude }.max() ?? 0
  }

  /// 100 ms of the tone, `lost` concealed packets, and the tone again.
  private static func sound(lost: Int) -> (heard: [Float], lostFrom: Int) {
    var concealer = Concealer(format)
    var heard: [Float] = []
    var frame = 0
    for place in 0..<40 {
      if (20..<20 + lost).contains(place) {
        heard += concealer.makeUp(packet)
      } else {
        var samples = tone(from: frame, count: packet)
        concealer.goOn(&samples)
        heard += samples
      }
      frame += packet
    }
    return (heard, 20 * packet * 2)
  }

  @Test func `no packet that is missing makes a click`() {
    let step = Self.largestStep(Self.tone(from: 0, count: 4_800))
    for lost in 1...12 {
      let (heard, _) = Self.sound(lost: lost)
      #expect(Self.largestStep(heard) < 1.6 * step, "\(lost) packets")
    }
  }

  @Test(arguments: [Float(3e38), .infinity, .nan])
  func `sound that cannot be compared with itself becomes silence`(sample: Float) {
    var concealer = Concealer(Self.format)
    var samples = (0..<9_600).map { $0 % 4 < 2 ? sample : -sample }
    concealer.goOn(&samples)
    #expect(concealer.makeUp(Self.packet) == [Float](repeating: 0, count: 2 * Self.packet))
  }

  @Test func `a tone goes on for 10 ms as if nothing were missing`() {
    let (heard, start) = Self.sound(lost: 2)
    let real = Self.tone(from: 0, count: 40 * Self.packet)
    let worst =
      (start..<start + 2 * 2 * Self.packet)
      .map { (heard[$0] - real[$0]).magnitude }.max() ?? 1
    #expect(worst < 0.1, "\(worst)")
  }

  @Test func `after 40 ms there is silence`() {
    let (heard, start) = Self.sound(lost: 12)
    let silent = heard[(start + 8 * 2 * Self.packet)..<(start + 12 * 2 * Self.packet)]
    #expect(silent.allSatisfy { $0 == 0 })
    #expect(heard[start..<start + 2 * Self.packet].contains { $0.magnitude > 0.2 })
  }

  @Test func `what comes first is faded in`() {
    var concealer = Concealer(Self.format)
    var samples = [Float](repeating: 1, count: 2 * Self.packet)
    concealer.goOn(&samples)
    #expect(samples[0] < 0.01 && samples[2 * Self.packet - 1] == 1)
  }

  @Test func `without anything to repeat there is silence`() {
    var concealer = Concealer(Self.format)
    var samples = [Float](repeating: 1, count: 20)
    concealer.goOn(&samples)
    #expect(concealer.makeUp(Self.packet).allSatisfy { $0 == 0 })
  }
}

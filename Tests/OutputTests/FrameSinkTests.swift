import Clock
import OutputTestSupport
import Testing

@testable import Output

/// Records the number of each frame, and the time at which it is heard.
private final class ListSink: FrameSink {
  private(set) var frames: [Int] = []
  private(set) var times: [LocalTime] = []
  private(set) var groupTimes: [GroupTime?] = []

  func take(_ sound: SoundingFrames) {
    for index in 0..<(sound.samples.count / 2) {
      frames.append(Int(sound.samples[2 * index] * 0x1p23))
      let later = Nanoseconds(Int64(index) * 1_000_000_000 / 48_000)
      times.append(sound.localTime + later)
      groupTimes.append(sound.groupTime.map { $0 + later })
    }
  }

  func finish() {}
}

@Suite struct FrameSinkTests {
  private static let start = LocalTime(nanoseconds: 5_000_000_000)
  private let sink = ListSink()
  private let script = RampScript()

  private func device(ahead: Nanoseconds) -> PacedDevice {
    PacedDevice(sink, sampleRate: 48_000, leadFrames: 4_800, ahead: ahead, start: Self.start)
  }

  private func expectEachFrameInItsPlace() {
    #expect(sink.frames.elementsEqual(0..<sink.frames.count))
    for (frame, (time, group)) in zip(sink.times, sink.groupTimes).enumerated() {
      let due = Self.start + Nanoseconds(Int64(frame) * 1_000_000_000 / 48_000)
      #expect(abs((time - due).count) <= 1)
      // The sender's clock of the source is a microsecond ahead.
      #expect(group == GroupTime(nanoseconds: time.nanoseconds + 1_000))
    }
  }

  @Test func `a sink gets each frame when it is heard, with its times`() throws {
    var device = self.device(ahead: .zero)
    var source = RampSource(script)
    for step in [0, 10, 25, 35] {
      try device.advance(&source, now: Self.start + .milliseconds(Int64(step)))
      #expect(sink.frames.count == step * 48)
    }
    // The machine stalls for longer than the time written ahead.
    try device.advance(&source, now: Self.start + .milliseconds(900))
    #expect(sink.frames.count == 43_200)
    expectEachFrameInItsPlace()
  }

  @Test func `a sink that sends on gets frames ahead, and they are not taken back`() throws {
    var device = self.device(ahead: .milliseconds(50))
    var source = RampSource(script)
    try device.advance(&source, now: Self.start)
    #expect(sink.frames.count == 2_400)
    script.renderAgain(from: 0)
    try device.advance(&source, now: Self.start + .milliseconds(10))
    #expect(script.rewound == 2_400)
    #expect(sink.frames.count == 2_880)
    expectEachFrameInItsPlace()
    #expect(script.observations.map(\.frame.index) == [0, 480])
  }

  @Test func `nothing is handed over earlier than there is decoded audio for`() {
    let choice = SinkChoice(name: "far", ahead: .seconds(60)) { _ in nil }
    #expect(choice.ahead == SinkChoice.longestAhead)
    #expect(SinkChoice(name: "past", ahead: .seconds(-1)) { _ in nil }.ahead == .zero)
  }
}

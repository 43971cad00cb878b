import Audio
import Clock
import Receiver
import Testing

/// Tests of commands that wait for a render thread that does not run.
@Suite struct RenderBacklogTests {
  private var backlog = RenderBacklog()

  private func anchor(_ second: Int64) -> RenderCommand {
    .anchor(
      Anchor(
        mediaTime: .zero, groupTime: GroupTime(nanoseconds: second * 1_000_000_000), rate: .playing)
    )
  }

  private func clock(_ drift: Double, isStep: Bool) -> RenderCommand {
    .clock(
      ClockEstimate(
        local: LocalTime(nanoseconds: 0), group: GroupTime(nanoseconds: 0), drift: drift,
        errorBound: .zero), isStep: isStep)
  }

  private mutating func drain(room: Int = .max) -> [String] {
    var taken: [String] = []
    backlog.drain { command in
      guard taken.count < room else { return false }
      taken.append(Self.word(for: command))
      return true
    }
    return taken
  }

  private static func word(for command: RenderCommand) -> String {
    switch command {
    case .anchor(let anchor): "anchor \(anchor.groupTime.nanoseconds / 1_000_000_000)"
    case .forgetSchedule: "forget"
    case .clock(let estimate, let isStep): "clock \(estimate.drift)\(isStep ? " step" : "")"
    case .cut(_, let generation, _, _): "cut \(generation)"
    case .end(let time): "end \(time.flicks)"
    case .gain(let gain): "gain \(gain)"
    case .delay(let delay): "delay \(delay.count)"
    case .channelMap(let left, _): "map \(left.left)"
    case .sound(let program): "sound \(program.rightGain)"
    case .useFIR(let isUsed): "filter \(isUsed)"
    case .clip(let clip): "clip \(clip.number)"
    case .endClip(let number): "end of clip \(number)"
    }
  }

  @Test mutating func `the latest of each setting is kept, once`() {
    for turn in 1...100_000 {
      backlog.append(.gain(Float(turn)))
      backlog.append(.delay(Nanoseconds(Int64(turn))))
      backlog.append(
        .channelMap(left: .init(left: Float(turn), right: 0), right: .init(left: 0, right: 1)))
      var setting = SoundSetting()
      setting.balance = Double(turn % 4 - 3)
      backlog.append(.sound(SoundProgram(setting, rate: 48_000, attenuation: 0)))
      backlog.append(.useFIR(turn % 2 == 0))
      backlog.append(clock(Double(turn), isStep: turn == 7))
      backlog.append(.end(at: MediaTime(flicks: Int64(turn))))
    }
    #expect(
      drain() == [
        "gain 100000.0", "delay 100000", "map 100000.0", "sound 0.97", "filter true",
        "clock 100000.0 step", "end 100000",
      ])
    backlog.append(clock(1, isStep: false))
    #expect(drain() == ["clock 1.0"])
  }

  @Test mutating func `an anchor replaces those from its time on, and five are kept`() {
    for second in [1, 2, 3, 4, 5, 6, 7] { backlog.append(anchor(Int64(second))) }
    #expect(drain() == ["anchor 3", "anchor 4", "anchor 5", "anchor 6", "anchor 7"])
    for second in [1, 4, 5, 3] { backlog.append(anchor(Int64(second))) }
    #expect(drain() == ["anchor 1", "anchor 3"])
  }

  @Test mutating func `a schedule is forgotten with the anchors and the clock that wait`() {
    for second in [1, 2] { backlog.append(anchor(Int64(second))) }
    backlog.append(clock(1, isStep: true))
    backlog.append(.gain(1))
    backlog.append(.forgetSchedule)
    backlog.append(.forgetSchedule)
    backlog.append(anchor(3))
    #expect(drain() == ["gain 1.0", "forget", "anchor 3"])
  }

  @Test mutating func `of cuts the newest four are kept, in their order`() {
    for generation in 1...9 as ClosedRange<UInt32> {
      backlog.append(.cut(from: .zero, generation: generation, isRamped: true))
      backlog.append(anchor(Int64(generation)))
    }
    #expect(
      drain() == [
        "anchor 5", "cut 6", "anchor 6", "cut 7", "anchor 7", "cut 8", "anchor 8", "cut 9",
        "anchor 9",
      ])
  }

  @Test mutating func `the newest clip is kept, and the ends of four`() {
    for number: UInt32 in 1...6 {
      backlog.append(.clip(TestRoom.clip(number, frames: 1, atDevice: 0)))
      if number < 6 { backlog.append(.endClip(number)) }
    }
    #expect(
      drain() == [
        "end of clip 2", "end of clip 3", "end of clip 4", "end of clip 5", "clip 6",
      ])
  }

  @Test mutating func `what finds no room is handed over later, in order`() {
    backlog.append(.gain(1))
    backlog.append(anchor(1))
    backlog.append(.delay(.zero))
    #expect(drain(room: 1) == ["gain 1.0"])
    #expect(drain(room: 0) == [])
    #expect(drain() == ["anchor 1", "delay 0"])
    #expect(backlog.count == 0)
  }

  @Test mutating func `it never holds more than its limit`() {
    for turn in 0..<1000 {
      for command in [
        anchor(Int64(turn)), .forgetSchedule, anchor(Int64(turn)), .end(at: .zero), .gain(1),
        .delay(.zero), clock(0, isStep: false), .cut(from: .zero, generation: 1, isRamped: false),
        .channelMap(left: .init(left: 1, right: 0), right: .init(left: 0, right: 1)),
        .clip(TestRoom.clip(UInt32(turn), frames: 1, atDevice: 0)), .endClip(UInt32(turn)),
        .clip(TestRoom.clip(UInt32(turn), frames: 1, atDevice: 0)),
      ] {
        backlog.append(command)
        #expect(backlog.count <= RenderBacklog.limit)
      }
    }
  }
}

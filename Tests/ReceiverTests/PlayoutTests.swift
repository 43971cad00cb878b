import Audio
import Clock
import Testing
import WireProtocol

@testable import Receiver

/// Tests of the deep buffer, its decoding and the device, without a protocol.
@Suite struct PlayoutTests {
  private static let start = LocalTime(nanoseconds: 1_000_000_000)
  private static let clock = ClockEstimate(
    local: start, group: GroupTime(nanoseconds: 0), drift: 0, errorBound: .zero)

  private static func playout(packets: Int, endsStream: Bool = false) -> Playout {
    var playout = Playout(
      capacity: Capacity(bytes: 1 << 20, duration: .seconds(600)),
      makeDecoder: { (format) throws(CodecError) in try PCMDecoder(format: format) },
      idleTime: .seconds(5))
    playout.define(TestReceiver.format, id: 0)
    for number in 0..<packets {
      _ = playout.insert(
        TestReceiver.packet(
          number, startsRun: number == 0, endsStream: endsStream && number == packets - 1))
    }
    return playout
  }

  private static func advance(
    _ playout: inout Playout, to milliseconds: Int64, hasSession: Bool = true,
    clock: ClockEstimate? = clock
  ) -> [Playout.Step] {
    playout.advance(
      to: start + .milliseconds(milliseconds), clock: clock, hasSession: hasSession,
      mayDecode: true)
  }

  private static func open(_ playout: inout Playout) {
    let format = AudioFormat(sampleRate: TestReceiver.rate, channelCount: 2)
    playout.opened(
      OutputDevice(format: format, commitHorizon: .milliseconds(70)),
      ring: FrameRing(minimumCapacity: 2 * TestReceiver.rate, channelCount: 2))
  }

  @Test func `the device is opened for the first packet's rate, once`() {
    var playout = Self.playout(packets: 10)
    var rates: [Int] = []
    for step in Self.advance(&playout, to: 0) + Self.advance(&playout, to: 1) {
      if case .openDevice(let rate, _) = step { rates.append(rate) }
    }
    #expect(rates == [48_000])
    #expect(playout.commitHorizon == .milliseconds(40))
    Self.open(&playout)
    #expect(playout.commitHorizon == .milliseconds(70))
  }

  @Test func `while the start waits for the card's clock, its progress is looked at often`() {
    var playout = Self.playout(packets: 3)
    _ = Self.advance(&playout, to: 0)
    Self.open(&playout)
    _ = Self.advance(&playout, to: 0)
    var report = RenderReport()
    func wait(for activity: RenderReport.Activity) -> Nanoseconds? {
      report.activity = activity
      _ = playout.rendered(report)
      return playout.nextDeadline.map { $0 - Self.start }
    }
    #expect(playout.nextDeadline == Self.start + Playout.settlingInterval)
    #expect(wait(for: .settling) == Playout.settlingInterval)
    #expect(wait(for: .waiting) == RoomSchedule.clockInterval)
  }

  @Test func `decoding comes in slices and stops where it is far enough ahead`() {
    var playout = Self.playout(packets: 200)
    _ = Self.advance(&playout, to: 0)
    Self.open(&playout)
    var wakes = 0
    repeat {
      _ = Self.advance(&playout, to: 1)
      wakes += 1
    } while playout.nextDeadline == Self.start + .milliseconds(1) && wakes < 100
    // A second and a half has 75 packets.
    #expect((75 / Playout.decodeSlice...75 / Playout.decodeSlice + 2).contains(wakes))
    #expect(playout.state(isClockLocked: true, hasSession: true) == .priming)
    playout.report(.waiting)
    #expect(playout.state(isClockLocked: true, hasSession: true) == .ready)
    #expect(playout.state(isClockLocked: false, hasSession: true) == .priming)
  }

  @Test func `decoding waits while the render thread has not heard of a cut`() {
    var playout = Self.playout(packets: 10)
    _ = Self.advance(&playout, to: 0)
    Self.open(&playout)
    _ = playout.advance(
      to: Self.start + .milliseconds(1), clock: nil, hasSession: true, mayDecode: false)
    #expect(playout.nextDeadline == Self.start + .milliseconds(1))
    playout.report(.waiting)
    #expect(playout.state(isClockLocked: true, hasSession: true) == .priming)
  }

  @Test func `the end is announced once, and again after it moved`() {
    var playout = Self.playout(packets: 10, endsStream: true)
    #expect(Self.ends(Self.advance(&playout, to: 0)) == [TestReceiver.time(10)])
    #expect(Self.ends(Self.advance(&playout, to: 1)).isEmpty)
    _ = playout.flush(from: TestReceiver.time(5), generation: 1)
    #expect(Self.ends(Self.advance(&playout, to: 2)).isEmpty)
    _ = playout.insert(
      TestReceiver.packet(
        10, generation: 1, at: TestReceiver.time(5), startsRun: true, endsStream: true))
    #expect(Self.ends(Self.advance(&playout, to: 3)) == [TestReceiver.time(6)])
  }

  @Test func `a device that comes later is told all that holds`() {
    var playout = Self.playout(packets: 10, endsStream: true)
    _ = playout.flush(from: TestReceiver.time(50), generation: 1)
    _ = playout.insert(
      TestReceiver.packet(10, generation: 2, at: TestReceiver.time(60), startsRun: true))
    playout.anchor(
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 0), rate: .playing),
      at: LocalTime(nanoseconds: 0))
    let kinds = playout.commandsForNewDevice().map { command -> String in
      switch command {
      case .cut(_, let generation, _, _): "cut \(generation)"
      case .anchor: "anchor"
      default: "other"
      }
    }
    #expect(kinds == ["cut 1", "cut 2", "anchor"])
  }

  @Test func `a quiet device is let go after its idle time`() {
    var playout = Self.playout(packets: 10)
    _ = Self.advance(&playout, to: 0)
    Self.open(&playout)
    _ = playout.removeAll()
    _ = Self.advance(&playout, to: 100)
    let early = Self.advance(&playout, to: 5099)
    let late = Self.advance(&playout, to: 5100)
    #expect(Self.closes(early) == 0)
    #expect(Self.closes(late) == 1)
    #expect(playout.nextDeadline == nil)
  }

  @Test func `underruns count until the stream ends, whatever becomes of the device`() {
    var playout = Self.playout(packets: 10)
    _ = Self.advance(&playout, to: 0)
    Self.open(&playout)
    playout.report(underruns: 2)
    #expect(Self.closes(Self.advance(&playout, to: 100, hasSession: false)) == 0)
    #expect(Self.closes(Self.advance(&playout, to: 5100, hasSession: false)) == 1)
    #expect(Self.underruns(playout) == 2)
    _ = Self.advance(&playout, to: 5200)
    Self.open(&playout)
    playout.report(underruns: 1)
    #expect(Self.underruns(playout) == 3)
    _ = playout.removeAll()
    #expect(Self.underruns(playout) == 0)
  }

  private static func underruns(_ playout: Playout) -> UInt32 {
    playout.status(
      state: .idle, at: start, clockErrorBound: .zero, clockDrift: 0, roundTrip: .zero
    ).underruns
  }

  @Test func `what has sounded is released, and lateness is counted once per look`() {
    var playout = Self.playout(packets: 100)
    _ = Self.advance(&playout, to: 0)
    Self.open(&playout)
    playout.anchor(
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 0), rate: .playing),
      at: LocalTime(nanoseconds: 0))
    for time in Int64(0)..<20 { _ = Self.advance(&playout, to: 100 * time) }
    let held = playout.heldBytes
    #expect(held < 60 * 2016)
    playout.report(.playing)
    _ = Self.advance(&playout, to: 2500)
    _ = playout.insert(TestReceiver.packet(100))
    let late = Self.advance(&playout, to: 2500).filter {
      if case .late = $0 { true } else { false }
    }
    #expect(late.count == 1)
    #expect(
      Self.advance(&playout, to: 2501).allSatisfy { if case .late = $0 { false } else { true } })
  }

  private static func ends(_ steps: [Playout.Step]) -> [MediaTime] {
    steps.compactMap { if case .render(.end(let time)) = $0 { time } else { nil } }
  }

  private static func closes(_ steps: [Playout.Step]) -> Int {
    steps.filter { if case .closeDevice = $0 { true } else { false } }.count
  }
}

extension Playout {
  fileprivate mutating func report(
    _ activity: RenderReport.Activity = .waiting, underruns: UInt32 = 0
  ) {
    var report = RenderReport()
    report.activity = activity
    report.underruns = underruns
    _ = rendered(report)
  }
}

import Audio
import Clock
import Testing

@testable import Receiver

/// Tests of clips that are mixed over the music, to the frame.
@Suite struct ClipTrackTests {
  private static let rate = TestRoom.rate
  private static let ramp = rate / 5
  private static let begin = 24_000
  private static let length = 48_000

  /// Music that plays from device frame 9600 on.
  private static func playing() -> TestRoom {
    let room = TestRoom()
    room.feed(0..<480_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    return room
  }

  private static func curve(_ frame: Int, begin: Int = begin, length: Int = length) -> Double {
    let lowered = Double(frame - begin) / Double(ramp)
    let raised = Double(frame - begin - length) / Double(ramp)
    return 1 - 0.75 * Double(fadeIn(at: min(lowered, 1 - raised)))
  }

  @Test func `a clip sounds at its time, over music that becomes quieter along the curve`() {
    let room = Self.playing()
    room.feedClip(1, frames: Int64(Self.length))
    room.send(.clip(TestRoom.clip(1, frames: Int64(Self.length), atDevice: Self.begin)))
    room.run(toDevice: 120_000)
    #expect(room.heardClip(Self.begin - 1).magnitude < 1e-4)
    for frame in Self.begin + 240..<Self.begin + Self.length - 240 {
      #expect((room.heardClip(frame) - 1).magnitude < 1e-3, "frame \(frame)")
    }
    #expect(room.heardClip(Self.begin + Self.length).magnitude < 1e-4)
    for frame in stride(from: 10_000, to: 110_000, by: 7) {
      #expect((room.heard(frame).gain - Self.curve(frame)).magnitude < 1e-5, "frame \(frame)")
      #expect((room.heard(frame).position - Double(frame - 9600)).magnitude < 0.1)
    }
  }

  @Test func `outside a clip and its ramps the music is the same, bit for bit`() {
    let (with, without) = (Self.playing(), Self.playing())
    with.feedClip(1, frames: Int64(Self.length))
    for room in [with, without] { room.run(toDevice: 20_000) }
    with.send(.clip(TestRoom.clip(1, frames: Int64(Self.length), atDevice: Self.begin)))
    for room in [with, without] { room.run(toDevice: 120_000) }
    let end = Self.begin + Self.length + Self.ramp + 1
    for part in [10_000..<Self.begin, end..<119_000] {
      #expect(with.samples(part) == without.samples(part))
    }
    #expect(with.rewindCount > 0)
  }

  @Test(arguments: [false, true]) func `where nothing plays, the clip is alone`(isPaused: Bool) {
    let room = TestRoom()
    if isPaused {
      room.feed(0..<48_000)
      room.sendAnchor(.paused, frame: 0, atDevice: 4800)
    }
    room.feedClip(1, frames: Int64(Self.length))
    room.send(.clip(TestRoom.clip(1, frames: Int64(Self.length), atDevice: Self.begin)))
    room.run(toDevice: 110_000)
    for frame in Self.begin + 240..<Self.begin + Self.length - 240 {
      #expect((room.heardClip(frame) - 1).magnitude < 1e-3, "frame \(frame)")
    }
    #expect(room.isSilent(0..<110_000))
    #expect(room.heardClip(Self.begin + Self.length + 1) == 0)
    #expect(room.lastReport.starvations == 0)
  }

  @Test func `a clip that comes too late joins in step, and lowers the music from then on`() {
    let room = Self.playing()
    room.feedClip(1, frames: Int64(Self.length))
    room.run(toDevice: Self.begin + 9600)
    room.send(.clip(TestRoom.clip(1, frames: Int64(Self.length), atDevice: Self.begin)))
    room.run(toDevice: 120_000)
    let joined = (Self.begin..<60_000).first { room.heardClip($0) > 0.01 } ?? 0
    #expect((Self.begin + 9600...Self.begin + 12_000).contains(joined))
    #expect((room.heardClip(joined + 240) - 1).magnitude < 1e-3)
    #expect(room.heardClip(Self.begin + Self.length).magnitude < 1e-4)
    // The steepest part of the curve.
    #expect(room.largestGainStep(20_000..<110_000) < 1.01 * 0.75 * .pi / 2 / Double(Self.ramp))
    #expect(room.heard(110_000).gain == 1)
  }

  @Test func `a clip whose time is over is not heard, and lowers nothing`() {
    let room = Self.playing()
    room.feedClip(1, frames: 4800)
    room.run(toDevice: Self.begin + 9600)
    room.send(.clip(TestRoom.clip(1, frames: 4800, atDevice: Self.begin)))
    room.run(toDevice: 120_000)
    for frame in 10_000..<110_000 { #expect(room.heard(frame).gain == 1, "frame \(frame)") }
    #expect((10_000..<110_000).allSatisfy { room.heardClip($0).magnitude < 1e-4 })
  }

  @Test func `a withdrawn clip fades out, and the music comes back along its ramp`() {
    let room = Self.playing()
    room.feedClip(1, frames: 10 * 48_000)
    room.send(.clip(TestRoom.clip(1, frames: 10 * 48_000, atDevice: Self.begin)))
    room.run(toDevice: 60_000)
    room.send(.endClip(1))
    room.run(toDevice: 120_000)
    #expect((room.heardClip(60_000) - 1).magnitude < 1e-3)
    #expect(room.heardClip(61_000).magnitude < 1e-4)
    #expect(room.largestGainStep(20_000..<110_000) < 1.01 * 0.75 * .pi / 2 / Double(Self.ramp))
    #expect(room.heard(61_000 + Self.ramp).gain == 1)
  }

  @Test func `a clip that was rendered and not heard yet can be withdrawn`() {
    let room = Self.playing()
    room.feedClip(1, frames: 48_000)
    room.send(.clip(TestRoom.clip(1, frames: 48_000, atDevice: Self.begin)))
    room.run(toDevice: Self.begin - 1920)
    room.send(.endClip(1))
    room.run(toDevice: 120_000)
    for frame in 10_000..<110_000 { #expect(room.heard(frame).gain == 1, "frame \(frame)") }
    #expect((10_000..<110_000).allSatisfy { room.heardClip($0).magnitude < 1e-4 })
  }

  @Test func `the next clip ends the one before, without a click`() {
    let room = Self.playing()
    for number: UInt32 in [1, 2] { room.feedClip(number, frames: 96_000) }
    room.send(.clip(TestRoom.clip(1, frames: 96_000, atDevice: Self.begin)))
    room.run(toDevice: 60_000)
    room.send(.clip(TestRoom.clip(2, frames: 96_000, atDevice: 72_000)))
    room.run(toDevice: 240_000)
    #expect((room.heardClip(60_000) - 1).magnitude < 1e-3)
    #expect(room.heardClip(63_000).magnitude < 1e-4)
    #expect((room.heardClip(72_300) - 2).magnitude < 1e-3)
    #expect((room.heardClip(160_000) - 2).magnitude < 1e-3)
    #expect(room.heardClip(168_001).magnitude < 1e-4)
    #expect(room.largestGainStep(20_000..<230_000) < 1.01 * 0.75 * .pi / 2 / Double(Self.ramp))
    #expect(room.heard(200_000).gain == 1)
  }

  @Test func `the ring has space again for each clip, also after those that were dropped`() {
    let room = TestRoom()
    for number: UInt32 in 1...8 {
      room.feedClip(number, frames: 96_000)
      let begin = Int(number) * 120_000
      room.run(toDevice: begin - 4800)
      if number % 2 == 0 {
        // Never told its time.
        room.send(.endClip(number))
        room.run(toDevice: begin)
        room.feedClip(100 + number, frames: 0)
      } else {
        room.send(.clip(TestRoom.clip(number, frames: 96_000, atDevice: begin)))
        room.run(toDevice: begin + 48_000)
        #expect((room.heardClip(begin + 40_000) - Double(number)).magnitude < 1e-2)
        room.run(toDevice: begin + 97_000)
        #expect(room.waitingClipFrames == 0)
      }
    }
  }

  @Test func `a room that has lost its clock falls silent, and hears the next clip`() {
    let room = TestRoom()
    room.feedClip(1, frames: 96_000)
    room.send(.clip(TestRoom.clip(1, frames: 96_000, atDevice: Self.begin)))
    room.run(toDevice: 48_000)
    room.send(.forgetSchedule)
    room.send(.endClip(1))
    room.run(toDevice: 72_000)
    #expect(room.heardClip(50_000).magnitude < 1e-4)
    room.send(.clock(TestRoom.estimate(), isStep: true))
    room.feedClip(2, frames: 48_000)
    room.send(.clip(TestRoom.clip(2, frames: 48_000, atDevice: 96_000)))
    room.run(toDevice: 150_000)
    #expect((room.heardClip(100_000) - 2).magnitude < 1e-3)
  }
}

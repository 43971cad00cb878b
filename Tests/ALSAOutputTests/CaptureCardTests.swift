import ALSAOutput
import Audio
import Clock
import Glibc
import Output
import TestSupport
import Testing

/// Tests with the virtual input, each frame of which contains its own number.
@Suite(.serialized) struct CaptureCardTests {
  private static let clock: @Sendable () -> LocalTime = {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_RAW, &time)
    return LocalTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  private static func number(_ frames: [Float], _ index: Int) -> Int64 {
    Int64(frames[2 * index] * 32_768) + Int64(frames[2 * index + 1] * 32_768) << 15
  }

  @Test func `it gives all frames in their order, and says when the card took them`() throws {
    let input = try VirtualInput()
    var card = try CaptureCard(opening: input.device, clock: Self.clock)
    #expect(card.format.sampleRate == 48_000)
    var render = RenderClock(sampleRate: 48_000, device: card.clockClass, storedDrift: nil)
    var next: Int64?
    var last: (frame: Int64, at: LocalTime)?
    var count = 0
    while count < 48_000 {
      let look = try card.next()
      #expect(!look.wasRestarted)
      for index in 0..<(look.frames.count / 2) {
        let number = Self.number(look.frames, index)
        #expect(number == next ?? number)
        next = number + 1
      }
      count += look.frames.count / 2
      if let position = look.position {
        last = (position.frame, position.at)
        _ = render.observe(
          DeviceFrame(position.frame), at: position.at, uncertainty: position.uncertainty)
      }
    }
    #expect(render.isSettled)
    // The card has delivered all frames except the few that still wait.
    let seen = try #require(last)
    #expect(abs(render.frame(at: seen.at) - Double(seen.frame)) < 100)
    #expect(seen.frame >= Int64(count) - 4_800)
  }

  @Test func `frames that nobody reads in time are lost, and it goes on`() throws {
    let input = try VirtualInput()
    var card = try CaptureCard(opening: input.device, clock: Self.clock)
    _ = try card.next()
    try input.set(.overrun)
    var restarts = 0
    var after = 0
    while after < 4800 {
      let look = try card.next()
      if look.wasRestarted { restarts += 1 }
      if restarts > 0 { after += look.frames.count / 2 }
    }
    #expect(restarts == 1)
  }

  @Test func `a card that is gone is an error that says so`() throws {
    let input = try VirtualInput()
    var card = try CaptureCard(opening: input.device, clock: Self.clock)
    try input.set(.vanish)
    let error = #expect(throws: ALSAError.self) {
      while true { _ = try card.next() }
    }
    #expect(
      error?.description
        == "there is no sound device \"\(input.device)\"; `aplay -L` lists those of this machine")
    #expect(throws: ALSAError.self) {
      _ = try CaptureCard(opening: input.device, clock: Self.clock)
    }
  }
}

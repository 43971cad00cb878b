import Clock
import Sender
import Testing

@Suite struct PipePacingTests {
  private static func time(_ milliseconds: Int) -> LocalTime {
    LocalTime(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  @Test func `a pipe that is always full and ahead of time is paced`() {
    var pacing = PipePacing(sampleRate: 48_000)
    var reads = 0
    // 64 KiB of 16-bit stereo, refilled within a millisecond.
    while !pacing.read(16_384, available: 65_536, of: 65_536, at: Self.time(reads)) {
      reads += 1
      #expect(reads < 10)
    }
  }

  @Test func `a program without a clock that is slower than its reader is paced`() {
    var pacing = PipePacing(sampleRate: 48_000)
    var reads = 0
    while !pacing.read(4_800, available: 19_200, of: 65_536, at: Self.time(reads)) {
      reads += 1
      #expect(reads < 40)
    }
    #expect(reads > 20)
  }

  @Test func `blocks of half a second that fill the pipe are no such thing`() {
    var pacing = PipePacing(sampleRate: 48_000)
    for block in 0..<100 {
      for part in 0..<3 {
        let full = part < 2
        let isPaced = pacing.read(
          8_000, available: full ? 4096 : 100, of: 4096, at: Self.time(block * 500 + part))
        #expect(!isPaced)
      }
    }
  }

  @Test func `a reader that was held up for a while finds a full pipe, and paces nothing`() {
    var pacing = PipePacing(sampleRate: 48_000)
    for read in 0..<100 {
      #expect(pacing.read(480, available: 1920, of: 65_536, at: Self.time(read * 10)) == false)
    }
    for read in 0..<6 {
      #expect(
        pacing.read(16_384, available: 65_536, of: 65_536, at: Self.time(4000 + read)) == false)
    }
  }

  @Test func `blocks longer than the latency are told once`() {
    var watch = BurstWatch()
    var told: [Nanoseconds] = []
    for block in 0..<50 {
      let length = watch.read(at: Self.time(block * 500), allowance: .milliseconds(100))
      if let length { told.append(length) }
    }
    #expect(told == [.milliseconds(500)])
    var short = BurstWatch()
    for block in 0..<50 {
      #expect(short.read(at: Self.time(block * 20), allowance: .milliseconds(100)) == nil)
    }
  }
}

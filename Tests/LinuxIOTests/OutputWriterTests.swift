import Clock
import Glibc
import Testing

@testable import LinuxIO

/// Tests of writing to a reader that does not read, or that has gone.
struct OutputWriterTests {
  /// Both ends of a pipe.
  private final class Pipe: Sendable {
    let reading: Int32
    let writing: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      (reading, writing) = (ends[0], ends[1])
    }

    deinit {
      close(reading)
      close(writing)
    }

    /// Reads exactly this many bytes.
    func read(_ count: Int) -> [UInt8] {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while bytes.count < count {
        let got = Glibc.read(reading, &buffer, min(buffer.count, count - bytes.count))
        guard got > 0 else { break }
        bytes += buffer.prefix(got)
      }
      return bytes
    }

    /// Writes until the pipe is full. Returns the number of bytes.
    func fill() throws -> Int {
      let flags = fcntl(writing, F_GETFL)
      try #require(fcntl(writing, F_SETFL, flags | O_NONBLOCK) == 0)
      var count = 0
      let bytes = [UInt8](repeating: UInt8(ascii: "."), count: 4_096)
      while case let done = Glibc.write(writing, bytes, bytes.count), done > 0 { count += done }
      try #require(fcntl(writing, F_SETFL, flags) == 0)
      return count
    }
  }

  private func line(_ dropped: OutputWriter.Dropped) -> [UInt8] {
    Array("[\(dropped.lasting) \(dropped.passing)]".utf8)
  }

  @Test func `what is posted is written in its order`() throws {
    let pipe = try Pipe()
    let writer = try OutputWriter(descriptor: pipe.writing, describe: line)
    writer.post(Array("one ".utf8))
    writer.post(Array("two ".utf8), .passing)
    writer.post(Array("three".utf8))
    writer.finish(within: .seconds(60))
    #expect(String(decoding: pipe.read(13), as: UTF8.self) == "one two three")
    #expect(writer.isIdle && writer.failure == nil)
  }

  @Test func `where nobody reads, what passes is dropped first, and how much is told`() throws {
    let pipe = try Pipe()
    let full = try pipe.fill()
    let writer = try OutputWriter(descriptor: pipe.writing, limit: 8, describe: line)
    // The thread takes the first output and blocks; later output has to wait.
    writer.post(Array("A".utf8))
    while writer.waitingBytes > 0 { sched_yield() }
    for _ in 0..<4 { writer.post(Array("pp".utf8), .passing) }
    writer.post(Array("BBBB".utf8))
    writer.post(Array("CCCCC".utf8))
    writer.post(Array("D".utf8))
    _ = pipe.read(full)
    writer.finish(within: .seconds(60))
    #expect(String(decoding: pipe.read(15), as: UTF8.self) == "A[0 4]BBBB[2 0]")
  }

  @Test func `the end waits no longer than it was told for a reader that does not read`() throws {
    let pipe = try Pipe()
    let full = try pipe.fill()
    let writer = try OutputWriter(descriptor: pipe.writing, describe: line)
    writer.post([1])
    writer.finish(within: .milliseconds(1))
    #expect(!writer.isIdle)
    // Release the thread before the pipe.
    #expect(pipe.read(full + 1).last == 1)
  }

  @Test func `a reader that is gone and a full disk are errors, and nobody dies of them`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let gone = ends[1]
    close(ends[0])
    let full = open("/dev/full", O_WRONLY)
    defer { for descriptor in [full, gone] { close(descriptor) } }
    for (descriptor, code) in [(gone, EPIPE), (full, ENOSPC)] {
      let writer = try OutputWriter(descriptor: descriptor, describe: line)
      writer.post([1])
      writer.finish(within: .seconds(60))
      #expect(writer.failure?.code == code)
      writer.post([2])
      #expect(writer.isIdle)
    }
  }

  @Test func `an error wakes the thread that is to give the display up`() throws {
    let reactor = try Reactor()
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    let writer = try OutputWriter(descriptor: full, waker: reactor.waker, describe: line)
    writer.post([1])
    #expect(try reactor.wait(until: HostClock.now + .seconds(60)) == [.woken])
    #expect(writer.failure?.code == ENOSPC)
  }
}

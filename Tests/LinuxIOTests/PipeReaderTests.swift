import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite struct PipeReaderTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("sound.fifo")
    #expect(mkfifo(path, 0o600) == 0)
  }

  private func openWriter() -> Int32 { open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) }

  private func read(_ reader: PipeReader, atMost limit: Int = 1 << 20) throws -> (
    PipeReader.Answer, [UInt8]
  ) {
    var bytes: [UInt8] = []
    let answer = try reader.read(atMost: limit, appendingTo: &bytes)
    return (answer, bytes)
  }

  @Test func `a named pipe without a writer, and one that says nothing, have nothing`() throws {
    let reader = try PipeReader(path: path, capacity: 4096)
    #expect(try read(reader).0 == .nothing)
    let writer = openWriter()
    defer { close(writer) }
    #expect(try read(reader).0 == .nothing)
  }

  @Test func `it gives what is there, says how much that was, and holds as much as was asked for`()
    throws
  {
    let reader = try PipeReader(path: path, capacity: 5000)
    #expect(reader.capacity == 8192)
    let writer = openWriter()
    defer { close(writer) }
    #expect(write(writer, [UInt8](1...100), 100) == 100)
    let (answer, bytes) = try read(reader, atMost: 60)
    #expect(answer == .read(60, waiting: 100))
    #expect(bytes == [UInt8](1...60))
    #expect(try read(reader).1 == [UInt8](61...100))
  }

  @Test func `programs may come and leave`() throws {
    let reader = try PipeReader(path: path, capacity: 4096)
    for round in 1...3 as ClosedRange<UInt8> {
      let writer = openWriter()
      #expect(write(writer, [round], 1) == 1)
      close(writer)
      #expect(try read(reader).1 == [round])
      #expect(try read(reader).0 == .ended)
      // The end is reported once, and after that only data ends a wait.
      #expect(try read(reader).0 == .nothing)
      var waiting = pollfd(fd: reader.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&waiting, 1, 0) == 0)
    }
  }

  @Test func `what is no named pipe is refused with advice`() throws {
    let file = folder.file("file")
    close(creat(file, 0o600))
    let error = #expect(throws: IOError.self) { try PipeReader(path: file, capacity: 4096) }
    #expect(error?.description == "\(file) is no named pipe; make one with: mkfifo \(file)")
    #expect(throws: IOError.self) { try PipeReader(path: file + "x", capacity: 4096) }
  }

  @Test func `a pipe that was handed over waits again for others afterwards`() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    do {
      let reader = PipeReader(descriptor: ends[0], capacity: 4096)
      #expect(try read(reader).0 == .nothing)
      #expect(fcntl(ends[0], F_GETFL) & O_NONBLOCK != 0)
    }
    #expect(fcntl(ends[0], F_GETFL) & O_NONBLOCK == 0)
  }
}

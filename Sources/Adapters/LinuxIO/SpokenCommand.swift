internal import CSys
internal import Clock
internal import Glibc

/// A command of the user's that turns text into sound: it gets the text on its standard input, and writes to its standard
/// output. It runs in a process group of its own, which is gone when the call returns. No shell takes part, and the text is
/// on no command line.
package enum SpokenCommand {
  package enum Failure: Error, Hashable, Sendable {
    /// There is no such program, or it cannot be started.
    case notStarted(String)
    /// It took too long, and was ended.
    case tooSlow
    /// It wrote more than is taken, and was ended.
    case tooLong
  }

  /// Longest text, in bytes: a pipe takes it at once, so nothing waits for a program that does not read.
  package static let textLimit = 4_096

  /// Blocks until the command has closed its output, or the time is over.
  ///
  /// - Parameters:
  ///   - command: a program's path, or its name if it is in one of the folders of `PATH`, and its arguments.
  ///   - limit: of what it writes, in bytes.
  ///   - narrowed: returns a smaller limit for what begins so; nil while it cannot be told.
  package static func run(
    _ command: [String], text: String, limit: Int, within milliseconds: Int64,
    narrowed: ([UInt8]) -> Int? = { _ in nil }
  ) throws(Failure) -> [UInt8] {
    let text = Array(text.utf8.prefix(textLimit))
    let input = try Pipe()
    let output = try Pipe()
    _ = text.withUnsafeBytes { Glibc.write(input.writing.number, $0.baseAddress, $0.count) }
    let process = spawn(command, input.reading.number, output.writing.number)
    guard process > 0 else { throw .notStarted(String(cString: strerror(-process))) }
    defer { end(process) }
    // The program has its own ends of both pipes now, and finds the end behind the text.
    input.close()
    return try read(
      output.onlyReading(), limit: limit, by: HostClock.now + .milliseconds(milliseconds), narrowed)
  }

  private struct Pipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws(Failure) {
      var ends: [Int32] = [-1, -1]
      guard csys_pipe(&ends) == 0 else { throw .notStarted("no pipe can be made") }
      reading = FileDescriptor(ends[0])
      writing = FileDescriptor(ends[1])
    }

    consuming func close() {}

    consuming func onlyReading() -> FileDescriptor { reading }
  }

  private static func spawn(_ command: [String], _ input: Int32, _ output: Int32) -> pid_t {
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    return csys_spawn_command(&arguments, input, output)
  }

  private static func end(_ process: pid_t) {
    // Programs that it has started are in its group.
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  private static func read(
    _ stream: borrowing FileDescriptor, limit: Int, by deadline: LocalTime,
    _ narrowed: ([UInt8]) -> Int?
  ) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var found: Int?
    var block = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let left = (deadline - HostClock.now).count / 1_000_000
      var event = pollfd(fd: stream.number, events: Int16(POLLIN), revents: 0)
      guard left > 0 else { throw .tooSlow }
      guard poll(&event, 1, Int32(clamping: left)) > 0 else { continue }
      let count = Glibc.read(stream.number, &block, block.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return bytes }
      bytes += block.prefix(count)
      found = found ?? narrowed(bytes)
      guard bytes.count <= min(limit, found ?? limit) else { throw .tooLong }
    }
  }
}

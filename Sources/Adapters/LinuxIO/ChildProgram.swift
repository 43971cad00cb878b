internal import CSys
internal import Glibc
internal import Synchronization

/// A program of ours that this process has started. Its standard input and output are the other end of a socket. It
/// ends with its owner, and at the latest with the thread that has started it.
final class ChildProgram: Sendable {
  /// Our end of the socket, which reports the end when the program ends.
  let stream: FileDescriptor
  /// Nil once the process has been waited for.
  private let process: Mutex<pid_t?>

  /// - Parameter command: the path of the program, and its arguments.
  init(_ command: [String]) throws(IOError) {
    var ends: [Int32] = [-1, -1]
    try IOError.check("socketpair", csys_pair(&ends), command.first ?? "")
    stream = FileDescriptor(ends[0])
    let other = FileDescriptor(ends[1])
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    let result = csys_spawn(&arguments, other.number)
    for argument in arguments { free(argument) }
    process = Mutex(result > 0 ? result : nil)
    try IOError.check("posix_spawn", result, command.first ?? "")
  }

  deinit {
    process.withLock { process in
      guard let number = process else { return }
      kill(number, SIGKILL)
      process = nil
      for _ in 0..<100 {
        var status: Int32 = 0
        if waitpid(number, &status, WNOHANG) != 0 { return }
        usleep(1_000)
      }
      // On a busy machine even a killed process lives on for a while. Its owner does not wait; this thread does, so that
      // nothing is left of it.
      _ = try? RealtimeThread.start(name: "child's end", priority: nil) {
        var status: Int32 = 0
        while waitpid(number, &status, 0) < 0, errno == EINTR {}
      }
    }
  }

  /// The process's number; nil once it has ended.
  var number: Int32? {
    process.withLock { process in
      guard let number = process else { return nil }
      var status: Int32 = 0
      if waitpid(number, &status, WNOHANG) != 0 { process = nil }
      return process
    }
  }

  /// Ends the program at once. From any thread.
  func end() {
    process.withLock { process in
      if let process { kill(process, SIGKILL) }
    }
  }
}

/// The framing of messages between two processes: a message follows its length, which has four bytes in little-endian
/// order.
enum MessageFrame {
  static let headerSize = 4

  static func header(of count: Int) -> [UInt8] {
    (0..<headerSize).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
  }

  static func count(in header: [UInt8]) -> Int {
    header.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

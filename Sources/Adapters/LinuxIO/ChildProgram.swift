internal import CSys
internal import Glibc
internal import Synchronization

/// A program of ours that this process has started, whose standard input and output are the other end of a socket. Ends
/// with its owner, and with the thread that has started it at the latest.
final class ChildProgram: Sendable {
  /// Our end of the socket. It closes when the program ends.
  let stream: FileDescriptor
  /// Nil once it was waited for.
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
    // A process that hangs in the kernel is left behind rather than waited for.
    process.withLock { process in
      guard let number = process else { return }
      kill(number, SIGKILL)
      var status: Int32 = 0
      for _ in 0..<100 where waitpid(number, &status, WNOHANG) == 0 { usleep(1_000) }
      process = nil
    }
  }

  /// Its number; nil once it has ended.
  var number: Int32? {
    process.withLock { process in
      guard let number = process else { return nil }
      var status: Int32 = 0
      if waitpid(number, &status, WNOHANG) != 0 { process = nil }
      return process
    }
  }

  /// Ends it at once. From any thread.
  func end() {
    process.withLock { process in
      if let process { kill(process, SIGKILL) }
    }
  }
}

/// Each message between two processes has its length before it: four bytes, the lowest first.
enum MessageFrame {
  static let headerSize = 4

  static func header(of count: Int) -> [UInt8] {
    (0..<headerSize).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
  }

  static func count(in header: [UInt8]) -> Int {
    header.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

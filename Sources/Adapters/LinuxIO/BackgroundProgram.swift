internal import CSys
internal import Clock
internal import Glibc

/// A program of ours that runs beside this one and answers one request after the other, so that a broken file can
/// crash or block only that program. It ends with its owner, and when this process ends.
package final class BackgroundProgram: Sendable {
  package enum Failure: Error, Hashable, Sendable {
    /// The program has ended: by itself, by a fault, or because `end` was called.
    case ended
    /// The program did not answer in time, and was ended.
    case silent
  }

  /// Largest size of a request or an answer, in bytes.
  package static let messageLimit = 1 << 20

  private let program: ChildProgram

  /// - Parameter command: the path of the program, and its arguments.
  package init(_ command: [String]) throws(IOError) { program = try ChildProgram(command) }

  /// Ends the program, and every wait for its answer. From any thread.
  package func end() { program.end() }

  /// Sends a request, which the program begins at once. For one thread at a time; after a failure there are no more
  /// answers.
  package func ask(_ request: [UInt8]) throws(Failure) {
    try send(MessageFrame.header(of: request.count) + request)
  }

  /// Returns the answer to the oldest request that has none.
  package func answer(within milliseconds: Int32) throws(Failure) -> [UInt8] {
    let deadline = HostClock.now.nanoseconds + Int64(milliseconds) * 1_000_000
    let count = MessageFrame.count(in: try receive(MessageFrame.headerSize, by: deadline))
    guard count <= Self.messageLimit else { throw fail(.ended) }
    return try receive(count, by: deadline)
  }

  private func send(_ bytes: [UInt8]) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let stream = program.stream.number
      let count = rest.withUnsafeBytes { csys_send(stream, $0.baseAddress, $0.count) }
      guard count > 0 else { throw fail(.ended) }
      rest = rest.dropFirst(count)
    }
  }

  private func receive(_ count: Int, by deadline: Int64) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: count)
    while bytes.count < count {
      let left = (deadline - HostClock.now.nanoseconds) / 1_000_000
      var event = pollfd(fd: program.stream.number, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&event, 1, Int32(clamping: left)) != 0 else { throw fail(.silent) }
      let more = csys_receive(program.stream.number, &block, count - bytes.count)
      if more == -Int(EINTR) { continue }
      guard more > 0 else { throw fail(.ended) }
      bytes += block.prefix(more)
    }
    return bytes
  }

  private func fail(_ failure: Failure) -> Failure {
    end()
    return failure
  }
}

/// The other side of a `BackgroundProgram`: answers requests from standard input.
package enum BackgroundService {
  /// Largest amount of memory that the process may use, in bytes.
  private static let memoryLimit: UInt64 = 2 << 30

  /// Answers requests until the program that asks has gone, which ends it in the middle of an answer, too. An answer that takes longer than `seconds` ends the
  /// process. The process has the lowest priority; if a person waits for its answers (`isAwaited`), it yields only to
  /// the music.
  package static func run(
    seconds: UInt32, isAwaited: Bool, _ answer: ([UInt8]) -> [UInt8]
  ) {
    csys_end_with_peer()
    if isAwaited { csys_give_way() } else { csys_background() }
    _ = csys_limit_memory(memoryLimit)
    while let header = read(MessageFrame.headerSize) {
      let count = MessageFrame.count(in: header)
      guard count <= BackgroundProgram.messageLimit, let request = read(count) else { return }
      alarm(seconds)
      let reply = answer(request)
      alarm(0)
      guard write(MessageFrame.header(of: reply.count) + reply) else { return }
    }
  }

  private static func read(_ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: count)
    while bytes.count < count {
      let more = Glibc.read(STDIN_FILENO, &block, count - bytes.count)
      if more < 0, errno == EINTR { continue }
      guard more > 0 else { return nil }
      bytes += block.prefix(more)
    }
    return bytes
  }

  private static func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}

/// Gives the calling thread the lowest priority for processor and disk from now on.
package func yieldToOthers() { csys_background() }

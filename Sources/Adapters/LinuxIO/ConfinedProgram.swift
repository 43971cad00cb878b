internal import CSys
internal import Glibc

/// A program of ours that decodes files from strangers, at the other end of a socket. It may crash, hang, or send
/// any bytes at all.
package final class ConfinedProgram: Sendable {
  /// Seconds. A program that accepts or sends nothing for so long counts as hung.
  private static let timeout = 5

  private let program: ChildProgram

  /// Our end of the socket, which reports the end when the program ends.
  package var stream: Int32 { program.stream.number }

  /// Starts the program. It ends at the latest with the calling thread.
  ///
  /// - Parameter command: the path of the program, and its arguments.
  package init(_ command: [String]) throws(IOError) {
    program = try ChildProgram(command)
    var limit = timeval(tv_sec: Self.timeout, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(stream, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    setsockopt(stream, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
  }

  /// The process's number; nil once it has ended.
  package var number: Int32? { program.number }

  /// Ends the program at once. From any thread.
  package func end() { program.end() }

  /// Returns false if the program does not accept the message.
  package func send(_ message: [UInt8], descriptor: Int32? = nil) -> Bool {
    MediaPipe.send(message, descriptor: descriptor, to: stream)
  }

  /// Returns the program's next message. Returns nil if the program has ended, if the message is longer than
  /// `limit`, or if `waits` returns false.
  package func receive(limit: Int, _ waits: () -> Bool) -> [UInt8]? {
    MediaPipe.receive(from: stream, limit: limit, waits)
  }
}

/// The other side of a `ConfinedProgram`.
package enum ConfinedService {
  /// Largest amount of memory beside the program's own, in bytes: the largest files need some 100 MiB.
  package static let memoryLimit: UInt64 = 512 << 20

  /// Closes everything except the socket. Call this first.
  package static func begin() { csys_release() }

  /// Confines the process: from now on it can open, start and connect to nothing. Call this once everything is
  /// loaded. Returns nil on success, otherwise the reason.
  package static func confine() -> String? {
    let code = csys_confine(memoryLimit)
    return code < 0 ? IOError.reason(-code) : nil
  }

  /// Returns the next message, and a descriptor if one came with it. Returns nil once nobody asks any more.
  package static func receive(limit: Int) -> (message: [UInt8], descriptor: Int32?)? {
    var descriptor: Int32 = -1
    var header = [UInt8](repeating: 0, count: MessageFrame.headerSize)
    guard csys_receive_descriptor(STDIN_FILENO, &header, header.count, &descriptor) == header.count,
      let count = MediaPipe.count(in: header, limit: limit),
      let message = MediaPipe.gather(count, from: STDIN_FILENO, { true })
    else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    return (message, descriptor >= 0 ? descriptor : nil)
  }

  package static func send(_ message: [UInt8]) -> Bool {
    MediaPipe.send(message, descriptor: nil, to: STDIN_FILENO)
  }
}

/// Messages on a socket, each with or without a descriptor.
private enum MediaPipe {
  static func send(_ message: [UInt8], descriptor: Int32?, to stream: Int32) -> Bool {
    let header = MessageFrame.header(of: message.count)
    guard let descriptor else { return send(header + message, to: stream) }
    guard csys_send_descriptor(stream, header, header.count, descriptor) == header.count else {
      return false
    }
    return send(message, to: stream)
  }

  private static func send(_ bytes: [UInt8], to stream: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        csys_send(stream, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
      }
      if count == -Int(EINTR) { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  static func receive(from stream: Int32, limit: Int, _ waits: () -> Bool) -> [UInt8]? {
    guard let header = gather(MessageFrame.headerSize, from: stream, waits) else { return nil }
    guard let count = count(in: header, limit: limit) else { return nil }
    return gather(count, from: stream, waits)
  }

  static func count(in header: [UInt8], limit: Int) -> Int? {
    let count = MessageFrame.count(in: header)
    return (1...limit).contains(count) ? count : nil
  }

  static func gather(_ count: Int, from stream: Int32, _ waits: () -> Bool) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var got = 0
    while got < count {
      guard waits() else { return nil }
      let more = bytes.withUnsafeMutableBytes { buffer in
        csys_receive(stream, buffer.baseAddress?.advanced(by: got), count - got)
      }
      if more == -Int(EINTR) { continue }
      guard more > 0 else { return nil }
      got += more
    }
    return bytes
  }
}
